"""Local HTTP servers that replace the hosts of public price lists, the tool that reads them (tools/catalog_build), and
functions that read the resulting table."""

import contextlib
import http.server
import io
import json
import sys
import threading
import types
import urllib.parse
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/catalog_build"))
import prices  # noqa: E402


class Host(http.server.BaseHTTPRequestHandler):
    """Stands in for every host: the first part of the path is its name."""

    documents, asked = {}, []

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        type(self).asked.append(urllib.parse.unquote(self.path))
        body = self.documents.get(urllib.parse.unquote(url.path))
        if callable(body):
            body = body(urllib.parse.parse_qs(url.query))
        if body is None or isinstance(body, int):
            self.send_error(body or 404)
            return
        if not isinstance(body, bytes):
            body = (body if isinstance(body, str) else json.dumps(body)).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def hosts(rt, tmp_path):
    handler = type("Handler", (Host,), {"documents": {}, "asked": []})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.documents, server.asked = handler.documents, handler.asked
    server.env = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "no_proxy": "*"}
    server.url = f"http://127.0.0.1:{server.server_port}"
    server.cache = tmp_path / "cache" / "resource-tracker"
    server.built = tmp_path / "built.tsv"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def build(path, *flags):
    """What `catalog_build prices` does, in this process: to start and import takes longer than most of its work."""
    out, err = io.StringIO(), io.StringIO()
    rc = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            prices.main([str(path), *map(str, flags)])
        except SystemExit as end:
            rc = end.code if isinstance(end.code, int) else 1
            if isinstance(end.code, str):
                print(end.code, file=sys.stderr)
    return types.SimpleNamespace(rc=rc, stdout=out.getvalue(), stderr=err.getvalue())


def update(rt, hosts, *flags):
    """Build a file from the lists of the local server and, if that succeeds, give it to `catalog update`."""
    built = build(hosts.built, "--mirror", hosts.url, *flags)
    if built.rc == 0:
        result = rt.run("catalog", "update", "--from", hosts.built, env=hosts.env)
        assert result.rc == 0, result.stderr
    return built


def own_prices(rt, path, *flags, env=None):
    """Give a site's own prices (CSV) to the program."""
    built = rt.home / "own-prices.tsv"
    result = build(built, "--csv", path, *flags)
    assert result.rc == 0, result.stderr
    result = rt.run("catalog", "update", "--from", built, env=env)
    assert result.rc == 0, result.stderr
    return result


def table(rt, vendor, region):
    """What the program knows without any update: type -> price on demand."""
    listed = rt.run("servers", "--json", "-n", "0", "--arch", "any", "--previous-generation",
                    "--vendor", vendor, "--region", region, "--gpu-shares").json()["servers"]
    return {s["api_reference"]: s["min_price_ondemand"] for s in listed}


def offer(rt, hosts, vendor, region, name):
    listed = rt.run("servers", "--json", "-n", "0", "--arch", "any", "--previous-generation",
                    "--vendor", vendor, "--region", region, env=hosts.env).json()["servers"]
    return next(s for s in listed if s["api_reference"] == name)
