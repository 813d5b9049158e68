"""Local HTTP servers that replace the hosts of public price lists, and functions that read the resulting table."""

import http.server
import json
import threading
import urllib.parse

import pytest


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
    server.env = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "no_proxy": "*",
                  "RESOURCE_TRACKER_FEEDS": f"http://127.0.0.1:{server.server_port}"}
    server.cache = tmp_path / "cache" / "resource-tracker"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def update(rt, hosts, *flags):
    return rt.run("catalog", "update", *flags, env=hosts.env)


def table(rt, vendor, region):
    """What the program knows without any update: type -> price on demand."""
    listed = rt.run("servers", "--json", "-n", "0", "--arch", "any", "--previous-generation",
                    "--vendor", vendor, "--region", region, "--gpu-shares").json()["servers"]
    return {s["api_reference"]: s["min_price_ondemand"] for s in listed}


def offer(rt, hosts, vendor, region, name):
    listed = rt.run("servers", "--json", "-n", "0", "--arch", "any", "--previous-generation",
                    "--vendor", vendor, "--region", region, env=hosts.env).json()["servers"]
    return next(s for s in listed if s["api_reference"] == name)
