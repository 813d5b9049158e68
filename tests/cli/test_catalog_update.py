"""Tests `catalog update` and --online with a local server that implements the Keeper API."""

import contextlib
import http.server
import json
import os
import pathlib
import pty
import subprocess
import threading
import time
import urllib.parse

import pytest

HCLOUD = {"hetzner": "hcloud"}
REGIONS = [
    {"vendor_id": "aws", "region_id": "us-east-1", "api_reference": "us-east-1", "name": "Virginia"},
    {"vendor_id": "gcp", "region_id": "1000", "api_reference": "us-central1", "name": "Iowa"},
]


class Keeper(http.server.BaseHTTPRequestHandler):
    """Answers GET /servers and /table/region as the API documents it; `broken` may change it."""

    items, asked, headers_seen, broken = [], [], [], None

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        query = urllib.parse.parse_qs(url.query)
        type(self).asked.append((url.path, query))
        type(self).headers_seen.append(dict(self.headers))
        if type(self).broken:
            type(self).broken(self)
            return
        if url.path == "/table/region":
            self.reply(REGIONS)
        elif url.path == "/servers":
            self.reply(self.select(query))
        else:
            self.send_error(404)

    def select(self, query):
        def number(name, default):
            return float(query.get(name, [default])[0])

        limit = int(number("limit", 25))
        found = [i for i in self.items
                 if i["vcpus"] >= number("vcpus_min", 1)
                 and i["memory_amount"] >= number("memory_min", 0) * 1024
                 and i["gpu_count"] >= number("gpu_min", 0)
                 and i["vendor_id"] in query.get("vendor", [i["vendor_id"]])
                 and i["cpu_architecture"] in query.get("architecture", [i["cpu_architecture"]])]
        if "vendor_regions" in query:  # another price there
            found = [dict(i, min_price_ondemand=i["min_price_ondemand"] * 1.1,
                          min_price_spot=i["min_price_ondemand"] * 0.55) for i in found]
        found.sort(key=lambda i: i["min_price_ondemand"])
        return found if limit < 0 else found[:limit]

    def reply(self, document, status=200):
        body = document if isinstance(document, bytes) else json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


def known_servers(rt):
    """The catalogue's own, in the Keeper's words."""
    listed = rt.run("servers", "--json", "-n", "0", "--arch", "any", "--prices", "none").json()
    items = []
    for s in listed["servers"]:
        items.append({
            "vendor_id": HCLOUD.get(s["vendor_id"], s["vendor_id"]), "server_id": s["api_reference"],
            "api_reference": s["api_reference"], "display_name": s["display_name"],
            "vcpus": s["vcpus"], "memory_amount": s["memory_amount"], "status": "active",
            "cpu_architecture": s["cpu_architecture"], "gpu_count": s["gpu_count"],
            "cpu_allocation": s["cpu_allocation"].capitalize(), "gpu_model": s["gpu_model"],
            "min_price": s["min_price_ondemand"], "min_price_spot": None,
            "min_price_ondemand": s["min_price_ondemand"], "unknown_field": {"x": [1]},
        })
    return items


@pytest.fixture
def keeper(rt, tmp_path):
    """A server; `.url`, `.handler`, and the program's environment with a cache of its own."""
    handler = type("Handler", (Keeper,), {"items": known_servers(rt), "asked": [],
                                          "headers_seen": []})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.url = f"http://127.0.0.1:{server.server_port}"
    server.handler = handler
    server.env = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "no_proxy": "*"}
    server.kept = tmp_path / "cache" / "resource-tracker" / "update.tsv"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def update(rt, keeper, *flags):
    return rt.run("catalog", "update", "--url", keeper.url, *flags, env=keeper.env)


def lowest(rt, keeper, vendor, name, *flags):
    result = rt.run("servers", "--json", "-n", "0", "--arch", "any", "--vendor", vendor, *flags,
                    env=keeper.env)
    return [s for s in result.json()["servers"] if s["api_reference"] == name][0]


def test_an_update_is_one_call_with_the_programs_name(rt, keeper):
    result = update(rt, keeper)
    assert result.rc == 0, result.stderr
    assert [path for path, _ in keeper.handler.asked] == ["/servers"]
    assert keeper.handler.asked[0][1] == {"limit": ["-1"], "only_active": ["true"]}
    assert keeper.handler.headers_seen[0]["X-Application-ID"] == "resource-tracker"
    assert result.stderr == f"{len(keeper.handler.items)} prices are now in {keeper.kept}\n" and result.stdout == ""
    assert keeper.kept.stat().st_mode & 0o777 == 0o600
    assert list(keeper.kept.parent.iterdir()) == [keeper.kept]  # no temporary file is left


def test_new_prices_and_types_are_seen_by_every_verb(rt, keeper):
    items = keeper.handler.items
    m5 = next(i for i in items if i["api_reference"] == "m5.large")
    m5["min_price_ondemand"] = round(m5["min_price_ondemand"] * 0.8, 5)
    items.append(dict(m5, api_reference="z9.mega", vcpus=12, memory_amount=65536,
                      min_price_ondemand=0.01, gpu_count=2, gpu_memory_min=16384, gpu_model="T4"))
    assert update(rt, keeper).rc == 0
    told = lowest(rt, keeper, "aws", "m5.large")
    assert told["min_price_ondemand"] == pytest.approx(m5["min_price_ondemand"], abs=1e-5)
    assert (told["region_id"], told["price_source"]) == ("anywhere", "keeper")
    new = lowest(rt, keeper, "aws", "z9.mega")
    assert (new["vcpus"], new["memory_amount"], new["gpu_count"], new["gpu_model"]) == (
        12, 65536, 2, "T4")
    info = rt.run("catalog", "info", "--json", env=keeper.env).json()
    assert info["update_file"] == str(keeper.kept)
    assert "keeper" in {s["id"] for s in info["sources"]}
    # A region's own price is still the table's.
    there = lowest(rt, keeper, "aws", "m5.large", "--region", "us-east-1")
    assert there["min_price_ondemand"] == 0.096


def test_prices_of_named_regions_are_fetched_by_the_keepers_names(rt, keeper):
    result = update(rt, keeper, "--region", "gcp/us-central1,aws/us-east-1")
    assert result.rc == 0, result.stderr
    asked = keeper.handler.asked
    assert [path for path, _ in asked] == ["/servers", "/table/region", "/servers", "/servers"]
    assert asked[2][1]["vendor_regions"] == ["gcp~1000"]  # a number there
    assert asked[3][1]["vendor_regions"] == ["aws~us-east-1"]
    item = next(i for i in keeper.handler.items if i["api_reference"] == "n2-standard-8")
    told = lowest(rt, keeper, "gcp", "n2-standard-8", "--region", "us-central1")
    assert told["min_price_ondemand"] == pytest.approx(item["min_price_ondemand"] * 1.1, abs=1e-5)
    assert told["price_source"] == "keeper"
    assert told["spot_saving_percent"] == 50


@pytest.mark.parametrize("spoil,words", [
    (lambda items: [i for k, i in enumerate(items) if i["vendor_id"] != "gcp" or k % 5 == 0],
     "gcp (anywhere) has"),
    (lambda items: [dict(i, min_price_ondemand=i["min_price_ondemand"]
                         * (1.4 if i["vendor_id"] == "azure" else 1)) for i in items],
     "median price of azure"),
    (lambda items: [dict(i, min_price_ondemand=i["min_price_ondemand"]
                         * (0.6 if i["vendor_id"] == "hcloud" else 1)) for i in items],
     "median price of hetzner"),
])
def test_an_answer_that_lost_or_moved_too_much_needs_force(rt, keeper, spoil, words):
    good = keeper.handler.items
    assert update(rt, keeper).rc == 0
    before = keeper.kept.read_bytes()
    keeper.handler.items = spoil(good)
    for kept in (True, False):  # against the last update, and against the table itself
        if not kept:
            keeper.kept.unlink()
        result = update(rt, keeper)
        assert result.rc == 1
        assert words in result.stderr and "--force" in result.stderr
        assert result.stderr.count("\n") == 1
        assert not kept or keeper.kept.read_bytes() == before
    assert update(rt, keeper, "--force").rc == 0
    assert keeper.kept.read_bytes() != before


def test_a_vendor_that_is_gone_since_the_last_update_is_a_loss(rt, keeper):
    assert update(rt, keeper).rc == 0
    keeper.handler.items = [i for i in keeper.handler.items if i["vendor_id"] != "ovh"]
    result = update(rt, keeper)
    assert result.rc == 1 and "ovh (anywhere) has 0 prices" in result.stderr
    assert update(rt, keeper, "--force").rc == 0
    # A vendor that was never there is none: the Keeper has no Scaleway.
    keeper.kept.unlink()
    keeper.handler.items = [i for i in keeper.handler.items if i["vendor_id"] != "scaleway"]
    assert update(rt, keeper).rc == 0


def replies(document, status=200):
    return lambda handler: handler.reply(document, status)


@pytest.mark.parametrize("broken,words", [
    (replies(b"<html>Sign in</html>"), "no JSON value (line 1, column 1)"),
    (replies(b'[{"vendor_id": "aws"'), "is missing"),
    (replies({"detail": "x"}), "not a list of servers"),
    (replies([]), "no server with a price"),
    (replies([1, None, [], {"vendor_id": 7, "api_reference": {}, "min_price_ondemand": "1"}]),
     "no server with a price"),
    (replies(b"", 500), "answered 500"),
    (replies(b"", 302), "answered 302"),
    (lambda handler: handler.connection.close(), "nothing was changed"),
])
def test_a_wrong_answer_changes_nothing(rt, keeper, broken, words):
    keeper.handler.broken = broken
    result = update(rt, keeper)
    assert result.rc == 1
    assert words in result.stderr and "nothing was changed" in result.stderr
    assert result.stderr.count("\n") == 1
    assert not keeper.kept.exists()


def test_a_keeper_that_is_busy_is_asked_again(rt, keeper):
    left = [2]

    def at_first(handler):
        left[0] -= 1
        if left[0] < 0:
            keeper.handler.broken = None
        handler.reply({"detail": "slow down"}, 429)

    keeper.handler.broken = at_first
    result = update(rt, keeper)
    assert result.rc == 0, result.stderr
    assert result.stderr.count("busy, next try in a minute") == 3
    keeper.handler.broken = replies({"detail": "slow down"}, 429)  # for good
    before = keeper.kept.read_bytes()
    result = update(rt, keeper)
    assert result.rc == 1 and "busy (429)" in result.stderr and "nothing was changed" in result.stderr
    assert keeper.kept.read_bytes() == before


def test_prices_of_nothing_and_names_with_tabs_are_left_out(rt, keeper):
    m5 = next(i for i in keeper.handler.items if i["api_reference"] == "m5.large")
    keeper.handler.items += [
        dict(m5, api_reference="free.large", min_price_ondemand=0),
        dict(m5, api_reference="m5.large\t0.001"),
        dict(m5, api_reference="old.large", status="inactive"),
        dict(m5, api_reference="huge.large", vcpus=1e9),
        dict(m5, vendor_id="acme"),
    ]
    result = update(rt, keeper)
    assert result.rc == 0 and "5 rows left out" in result.stderr
    text = keeper.kept.read_text()
    assert "free.large" not in text and "old.large" not in text and "huge" not in text


def test_addresses_of_others_want_https(rt, keeper):
    for url in ("http://192.0.2.1/", "file:///etc/passwd", "http://127.0.0.1@192.0.2.1/",
                "http://127.evil.example/", "x"):
        result = rt.run("catalog", "update", "--url", url, env=keeper.env)
        assert result.rc == 1 and "not an address" in result.stderr


def test_wrong_regions_are_told(rt, keeper):
    assert update(rt, keeper, "--region", "us-east-1").rc == 2
    assert update(rt, keeper, "--region", "aws/nowhere").rc == 2
    result = update(rt, keeper, "--region", "aws/eu-west-1")
    assert result.rc == 1 and "the Keeper has no region eu-west-1 of aws" in result.stderr


# ---- online ----

def test_servers_online_asks_for_the_needs(rt, keeper):
    result = rt.run("servers", "--online", "--url", keeper.url, "--vcpus", "4", "--memory", "16GiB",
                    "--arch", "x86_64", "--vendor", "aws,hetzner", "--json", env=keeper.env)
    assert result.rc == 0, result.stderr
    path, query = keeper.handler.asked[0]
    assert path == "/servers"
    assert query["vcpus_min"] == ["4"] and query["memory_min"] == ["16.000"]
    assert query["architecture"] == ["x86_64"] and query["vendor"] == ["aws", "hcloud"]
    assert query["order_by"] == ["min_price_ondemand"]
    found = result.json()["servers"]
    assert found and {s["price_source"] for s in found} == {"keeper"}
    assert all(s["vcpus"] >= 4 and s["memory_usable"] >= 16384 for s in found)


def test_servers_online_in_one_region_has_its_price(rt, keeper):
    result = rt.run("servers", "--online", "--url", keeper.url, "--vendor", "gcp", "--region",
                    "us-central1", "--vcpus", "8", "--json", env=keeper.env)
    assert keeper.handler.asked[1][1]["vendor_regions"] == ["gcp~1000"]
    found = result.json()["servers"]
    assert found and {s["region_id"] for s in found} == {"us-central1"}


def test_the_table_stands_in_where_the_keeper_does_not_answer(rt, keeper):
    keeper.handler.broken = replies(b"", 503)
    result = rt.run("servers", "--online", "--url", keeper.url, "--vcpus", "4", "--json",
                    env=keeper.env)
    assert result.rc == 0
    assert "busy (503)" in result.stderr and "prices of the catalogue" in result.stderr
    assert "keeper" not in {s["price_source"] for s in result.json()["servers"]}


def test_recommend_online(rt, keeper):
    rt.track("sh", "-c", "i=0; while [ $i -lt 60 ]; do i=$((i+1)); sleep 0.01; done",
             flags=["-n", "job"])
    result = rt.run("recommend", "--online", "--url", keeper.url, "--json", "job", env=keeper.env)
    assert result.rc == 0, result.stderr
    assert {s["price_source"] for s in result.json()["servers"]} == {"keeper"}


def test_nothing_else_ever_loads_the_library(rt, keeper, tmp_path):
    """curl is loaded by update and --online alone: a run maps no such file."""
    result = rt.run("run", "--no-discovery", "-q", "--", "sh", "-c",
                    "cat /proc/$PPID/maps > maps", cwd=tmp_path)
    assert result.rc == 0
    maps = pathlib.Path(tmp_path / "maps").read_text()
    assert os.path.basename(rt.path) in maps and "curl" not in maps


# ---- progress ----

class Slow(http.server.BaseHTTPRequestHandler):
    """Sends until its reader has seen what it waits for."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "100000000")
        self.end_headers()
        with contextlib.suppress(OSError):
            while not self.server.seen.is_set():
                self.wfile.write(b" " * 10000)
                time.sleep(0.05)

    def log_message(self, *words):
        pass


def test_a_slow_answer_shows_its_progress_on_a_terminal(rt):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    server.seen = threading.Event()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    ours, theirs = pty.openpty()
    command = [rt.path, "catalog", "update", "--url", f"http://127.0.0.1:{server.server_port}"]
    text = ""
    with subprocess.Popen(command, env={**rt.env, "TERM": "xterm", "no_proxy": "*"}, cwd=rt.home,
                          stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        with contextlib.suppress(OSError):  # EIO: the other end is closed
            while data := os.read(ours, 4096):
                text += data.decode()
                if " % of 100.0 MB" in text:
                    server.seen.set()
    os.close(ours)
    server.shutdown()
    server.server_close()
    lines = text.split("\r")
    assert server.seen.is_set() and process.returncode == 1
    assert lines[-2].startswith("\x1b[Kresource-tracker: catalog: ")  # the line was cleared


def test_there_is_no_progress_in_a_log(rt, keeper):
    result = update(rt, keeper)
    assert result.rc == 0 and "\r" not in result.stdout + result.stderr
