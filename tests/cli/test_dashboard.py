"""Tests the local dashboard: which requests it answers, with what content, and how it ends; and the page as a folder
with reports.

The history is synthetic (tests/unit/fleet_synthetic.h), unless a test says otherwise.
"""

import http.client
import json
import os
import pathlib
import re
import select
import signal
import socket
import subprocess

import pytest
import strangers

AS_OF = 1795334400  # 22 Nov 2026, 08:00 UTC
WAIT_S = 120  # a bound for a server that hangs
SCHEMA = "resource-tracker.fleet/1"


@pytest.fixture(scope="module")
def history(tmp_path_factory):
    program = pathlib.Path(os.environ.get("RESOURCE_TRACKER_BIN", "build/resource-tracker"))
    maker = program.resolve().parent / "tests/e2e/make_history"
    if not maker.exists():
        pytest.skip("make_history is not built")
    folder = tmp_path_factory.mktemp("fleet") / "state"
    subprocess.run([maker, folder, "1", "1.1"], check=True, stdout=subprocess.DEVNULL)
    return folder


class Board:
    """A dashboard that runs: its address, and requests to it."""

    def __init__(self, process):
        self.process = process
        ready, _, _ = select.select([process.stdout], [], [], WAIT_S)
        self.address = process.stdout.readline().strip() if ready else ""
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([A-Za-z0-9_-]{43})/", self.address)
        assert found, self.address or process.stderr.read()
        self.port, self.token = int(found[1]), found[2]

    def ask(self, path="", method="GET", token=None, **headers):
        """(status, headers, body); header names are written with _ for -."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT_S)
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.putrequest(method, f"/{self.token if token is None else token}/{path}",
                              skip_host="Host" in headers)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode()

    def json(self, view, query=""):
        status, headers, body = self.ask(f"json/{view}?{query}")
        assert status == 200, body
        assert headers["Content-Type"] == "application/json"
        document = json.loads(body)
        assert document["schema"] == SCHEMA and document["what"] == view
        return document[view]

    def end(self, number=signal.SIGINT):
        self.process.send_signal(number)
        return self.process.wait(WAIT_S)


@pytest.fixture(scope="module")
def board_program(history, tmp_path_factory):
    """One server for all tests that only ask."""
    program = os.environ.get("RESOURCE_TRACKER_BIN", "build/resource-tracker")
    home = tmp_path_factory.mktemp("home")
    env = {"HOME": str(home), "PATH": "/usr/bin:/bin", "TZ": "UTC", "LC_ALL": "C.UTF-8"}
    command = [program, "dashboard", "--recording", history, "--as-of", str(AS_OF), "--no-open"]
    with subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, encoding="utf-8") as process:
        try:
            yield Board(process)
        finally:
            process.kill()


@pytest.fixture
def board(board_program):
    return board_program


def fleet_json(rt, history, *args):
    """A view as the command prints it; history None: of the runs of this test, now."""
    of = ("--recording", history, "--as-of", AS_OF) if history else ()
    done = rt.run("fleet", *of, "--json", *args, env={"TZ": "UTC"})
    assert done.rc == 0, done.stderr
    document = json.loads(done.stdout)
    return document[document["what"]]


# ---- who is answered ----

def test_the_page_is_served_with_a_strict_policy(board):
    status, headers, body = board.ask()
    assert status == 200 and body.startswith("<!doctype html>") and 'data-kind="served"' in body
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'") and "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy and "connect-src 'self'" in policy
    assert headers["X-Content-Type-Options"] == "nosniff" and headers["Cache-Control"] == "no-store"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "Access-Control-Allow-Origin" not in headers
    assert board.ask(method="HEAD")[0] == 200


@pytest.mark.parametrize("token", ["", "x", "A" * 43, "../x", "%2e%2e"])
def test_without_the_secret_nothing_is_answered(board, token):
    for path in ("", "json/overview", "run/r-00478e"):
        status, _, body = board.ask(path, token=token)
        assert status == 404 and "Open the address" in body
    almost = board.token[:-1] + ("A" if board.token[-1] != "A" else "B")
    assert board.ask(token=almost)[0] == 404
    assert board.ask(token=board.token + "x")[0] == 404


def test_another_host_name_is_refused(board):
    """A page whose name begins to point to 127.0.0.1 (DNS rebinding) sends its own name."""
    for host in ("evil.example", f"evil.example:{board.port}", "127.0.0.1", f"127.0.0.1:{board.port + 1}",
                 f"127.0.0.1:{board.port}.evil.example", f"[::1]:{board.port}", ""):
        assert board.ask(Host=host)[0] in (400, 421), host
    assert board.ask(Host=f"localhost:{board.port}")[0] == 200
    with socket.create_connection(("127.0.0.1", board.port), timeout=WAIT_S) as s:
        s.sendall(f"GET /{board.token}/ HTTP/1.1\r\nHost: 127.0.0.1:{board.port}\r\n"
                  "Host: evil.example\r\nConnection: close\r\n\r\n".encode())
        answer = b"".join(iter(lambda: s.recv(65536), b""))
    assert answer.split()[1] in (b"421", b"400"), answer[:100]


def test_requests_of_other_sites_are_refused(board):
    own = f"http://127.0.0.1:{board.port}"
    for site in ("cross-site", "same-site"):
        assert board.ask("json/overview", Sec_Fetch_Site=site, Sec_Fetch_Mode="no-cors")[0] == 403
        assert board.ask(Sec_Fetch_Site=site, Sec_Fetch_Mode="navigate", Sec_Fetch_Dest="iframe")[0] == 403
    for origin in ("http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1"):
        assert board.ask("json/overview", Origin=origin)[0] == 403, origin
    assert board.ask("json/overview", Origin=own, Sec_Fetch_Site="same-origin")[0] == 200
    # The address bar, and a tab that a file or a mail opens.
    assert board.ask(Sec_Fetch_Site="none", Sec_Fetch_Mode="navigate", Sec_Fetch_Dest="document")[0] == 200
    assert board.ask(Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="navigate", Sec_Fetch_Dest="document")[0] == 200


@pytest.mark.parametrize("rest, header, body, status", [
    ("json/overview", "Content-Length: 5", "hello", 400),
    ("json/overview", "Content-Length: 5", "", 400),  # promised and not sent
    ("json/overview", "Transfer-Encoding: chunked", "5\r\nhello\r\n0\r\n\r\n", 400),
    ("json/overview", "Content-Length: 0\r\nContent-Length: 5", "hello", 400),
    ("json/overview", "Content-Length: x", "", 400),
    ("json/overview", "Content-Length: 0", "", 200),
    ("json/overview", "X: " + "x" * 8192, "", 200),
    ("json/overview", "X: " + "x" * 40000, "", 431),
    ("json/overview", "X: y\r\n" * 1000 + "X: y", "", 431),
    ("json/overview", "Cookie: " + "a=1;" * 1500, "", 431),
    ("json/overview?" + "&".join(f"a{i}=1" for i in range(500)), "X: y", "", 414),
    ("json/overview?" + "&".join(f"a{i}=1" for i in range(31)) + "x" * 31000, "X: y", "", 414),
    ("json/overview?" + "&".join(f"a{i}=1" for i in range(32)), "X: y", "", 200),
    ("x" * 1000000, "X: y", "", 414),
    ("json/overview?days=1e999&max=nan", "X: y", "", 400),
], ids=lambda value: str(value)[:24])
def test_what_no_browser_sends_is_answered_at_once(board, rest, header, body, status):
    with socket.create_connection(("127.0.0.1", board.port), timeout=20) as peer:  # less than the idle time
        try:
            peer.sendall(f"GET /{board.token}/{rest} HTTP/1.1\r\nHost: 127.0.0.1:{board.port}\r\n"
                         f"{header}\r\n\r\n{body}".encode())
        except ConnectionError:
            pass  # refused before all of it was sent
        assert peer.recv(12).decode() == f"HTTP/1.1 {status}"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_only_reading_is_answered(board, method):
    status, headers, _ = board.ask(method=method)
    assert status == 405 and headers["Allow"] == "GET, HEAD"


def test_it_listens_on_the_loopback_address_alone(board):
    with open("/proc/net/tcp", encoding="ascii") as table:
        bound = [line.split()[1] for line in table if line.split()[3] == "0A"]
    assert f"0100007F:{board.port:04X}" in bound
    assert f"00000000:{board.port:04X}" not in bound


def test_another_user_of_the_machine_is_refused(rt, tmp_path):
    """With the right address: it may have been seen on a screen."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to become two users")
    assert rt.track("true").rc == 0
    script = ("import http.client, sys, urllib.parse as p\n"
              "u = p.urlparse(sys.argv[1])\n"
              "c = http.client.HTTPConnection(u.hostname, u.port, timeout=100)\n"
              "try:\n c.request('GET', u.path); print(c.getresponse().status)\n"
              "except (OSError, http.client.HTTPException): print('refused')\n")
    # The server of a user who is not root: what root asks is answered.
    state = tmp_path / "state"
    os.chmod(tmp_path, 0o755)
    state.mkdir()
    os.chown(state, strangers.VICTIM, strangers.VICTIM)
    for folder in tmp_path.parents:
        if folder.stat().st_mode & 0o005 != 0o005:
            folder.chmod(folder.stat().st_mode | 0o005)
    with rt.start("dashboard", "--no-open", "--recording", state, user=strangers.VICTIM,
                  group=strangers.VICTIM, extra_groups=[], cwd="/") as process:
        board = Board(process)

        def ask(uid):
            return subprocess.run(["/usr/bin/python3", "-c", script, board.address], user=uid, group=uid,
                                  extra_groups=[], cwd="/", capture_output=True, encoding="utf-8",
                                  timeout=WAIT_S, check=True).stdout.strip()

        assert ask(strangers.STRANGER) == "refused"
        assert ask(strangers.VICTIM) == "200"


# ---- with what ----

def test_its_views_are_those_of_the_command(rt, history, board):
    for view, query, args in (
            ("overview", "days=30", ()), ("overview", "days=7", ("--since", "7d")),
            ("overview", "days=45", ("--since", "45d")), ("jobs", "days=90", ("--what", "jobs", "--since", "90d")),
            ("machines", "", ("--what", "machines")), ("job", "job=job-001", ("--job", "job-001")),
            ("runs", "", ("--what", "runs")), ("runs", "job=job-001", ("--what", "runs", "--job", "job-001")),
            ("alerts", "", ("--what", "alerts"))):
        assert board.json(view, query) == fleet_json(rt, history, *args), view


def test_runs_come_in_pages_without_gaps(rt, history, board):
    seen, query = [], "end=failed&max=70"
    while True:
        page = board.json("runs", query)
        assert all(r["end"] == "failed" for r in page["runs"])
        seen += page["runs"]
        if not page["older"]:
            break
        query = f"end=failed&max=70&before={page['older']['before']}&before_id={page['older']['id']}"
    assert len(seen) == page["matched"] == len({r["id"] for r in seen}) > 70
    assert [r["start"] for r in seen] == sorted((r["start"] for r in seen), reverse=True)
    job = board.json("job", "job=job-001")
    for run in job["runs"]:
        [listed] = board.json("runs", f"id={run['id']}")["runs"]
        assert {key: listed[key] for key in run} == run and listed["job"] == "job-001"


def test_a_run_is_between_its_neighbours(board):
    runs = board.json("runs", "job=job-001&max=3")["runs"]
    one = board.json("run", f"id={runs[1]['id']}")
    assert one["run"] == runs[1]
    assert (one["next"], one["previous"]) == (runs[0]["id"], runs[2]["id"])
    assert board.json("run", f"id={runs[0]['id']}")["next"] is None
    assert one["usual"] == board.json("job", "job=job-001")["usual"]


@pytest.mark.parametrize("path, status", [
    ("json/overview?days=0", 400), ("json/overview?days=1e9", 400), ("json/overview?days=nan", 400),
    ("json/nothing", 400), ("json/runs?end=lost", 400), ("json/runs?max=0", 400), ("json/runs?before=x", 400),
    ("json/job", 404), ("json/job?job=none", 404), ("json/run?id=r-", 404), ("run/r-none", 404),
    ("run/../../etc/passwd", 404), ("run/%2e%2e%2fhistory.sqlite", 404), ("nothing", 404),
])
def test_what_is_not_there_is_said(board, path, status):
    assert board.ask(path)[0] == status
    assert board.ask()[0] == 200


def test_a_real_run_is_there_with_its_report(rt):
    assert rt.track("sh", "-c", "exit 3", flags=("-n", "real")).rc == 3
    with rt.start("dashboard", "--no-open") as process:
        board = Board(process)
        [run] = board.json("runs")["runs"]
        assert (run["job"], run["end"]) == ("real", "failed")
        status, headers, body = board.ask(f"run/{run['id']}")
        assert status == 200 and "sandbox allow-scripts" in headers["Content-Security-Policy"]
        assert "allow-same-origin" not in headers["Content-Security-Policy"]
        assert body == rt.run("report", run["id"], "--output", "-").stdout
        status, headers, body = board.ask(f"run/{run['id']}?download=1")
        assert headers["Content-Disposition"] == f'attachment; filename="{run["id"]}.html"'
        # Without its recording the run is known, and the frame says why there is no report.
        assert rt.run("prune", "--keep", "0").rc == 0
        status, _, body = board.ask(f"run/{run['id']}")
        assert status == 404 and "not on this machine" in body


def test_runs_that_end_while_it_serves_are_shown(rt):
    with rt.start("dashboard", "--no-open") as process:
        board = Board(process)
        assert "No runs yet" in board.ask()[2] or board.json("overview")["sum"]["runs"] == 0
        assert rt.track("true", flags=("-n", "later")).rc == 0
        for _ in range(600):
            if board.json("runs")["runs"]:
                break
            select.select([], [], [], 0.1)
        assert [r["job"] for r in board.json("runs")["runs"]] == ["later"]


def alerts_file(state, text):
    path = pathlib.Path(state) / "alerts.json"
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)


def test_alerts_are_those_of_the_file(rt):
    assert rt.track("true", flags=("-n", "job")).rc == 0
    alerts_file(rt.state, json.dumps({
        "schema": "resource-tracker.alerts/1",
        "alerts": [{"id": "a1", "rule": "oom-risk", "severity": "critical", "job": "job", "scope": None,
                    "text": "<b>at its limit", "fix": "ask for 96 GiB", "run": None, "state": "firing",
                    "opened": 1e9, "new": 1e9, "ended": None, "acked": None, "held": None, "secret": "x"}, 7],
        "silences": [{"id": "s1", "rule": "slower", "job": None, "until": 2e9, "made": 1e9, "reason": 5}]}))
    alerts = fleet_json(rt, None, "--what", "alerts")
    assert alerts["alerts"] == [{"id": "a1", "rule": "oom-risk", "severity": "critical", "job": "job",
                                 "scope": None, "run": None, "text": "<b>at its limit", "fix": "ask for 96 GiB",
                                 "state": "firing", "opened": 1e9, "ended": None, "acked": None}]
    assert alerts["silences"] == [{"id": "s1", "rule": "slower", "job": None, "reason": None, "until": 2e9}]
    assert alerts["rules"] == json.loads(rt.run("alerts", "rules", "--json").stdout)
    assert {r["rule"]: (r["evaluated"], r["window_s"]) for r in alerts["rules"]}.items() >= {
        "oom-risk": ("while_running", 10), "slower": ("after_run", None), "budget": ("by_check", None)}.items()
    with rt.start("dashboard", "--no-open") as process:
        assert Board(process).json("alerts") == alerts


ALERTS_FILE = '{"schema": "resource-tracker.alerts/1", "alerts": %s}'


@pytest.mark.parametrize("text,lines", [("{", 1), ("", 1), ('{"alerts": []}', 1), (ALERTS_FILE % "7", 0),
                                        (ALERTS_FILE % '[null, [], {"id": {}}]', 0)])
def test_a_damaged_file_of_alerts_is_told_and_hides_no_page(rt, text, lines):
    assert rt.track("true", flags=("-n", "job")).rc == 0
    alerts_file(rt.state, text)
    done = rt.run("fleet", "--json", "--what", "alerts")
    assert done.rc == 0 and done.stderr.count("\n") == lines and done.stderr.count("alerts.json") == lines
    assert json.loads(done.stdout)["alerts"]["alerts"] == []


# ---- how it begins and ends ----

@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_ends_on_signals_and_leaves_nothing(rt, number):
    assert rt.track("true").rc == 0
    with rt.start("dashboard", "--no-open") as process:
        board = Board(process)
        assert board.ask()[0] == 200
        assert board.end(number) == 0
        with pytest.raises(OSError):
            board.ask()
    assert not list(rt.state.glob("dashboard-*"))


def test_the_secret_is_new_each_time_and_in_no_arguments(rt):
    tokens = set()
    opener = rt.home / "bin"
    opener.mkdir()
    script = opener / "xdg-open"
    script.write_text(f'#!/bin/sh\nprintf "%s\\n" "$*" >>{rt.home}/arguments\ncat "$1" >{rt.home}/page\n')
    script.chmod(0o755)
    for _ in range(2):
        with rt.start("dashboard", env={"DISPLAY": ":9", "PATH": f"{opener}:/usr/bin:/bin"}) as process:
            board = Board(process)
            tokens.add(board.token)
            page = rt.home / "page"
            for _ in range(600):
                if page.exists() and board.address in page.read_text():
                    break
                select.select([], [], [], 0.1)
            assert f"url={board.address}" in page.read_text()
            [leader] = rt.state.glob("dashboard-*.html")
            assert leader.stat().st_mode & 0o777 == 0o600
            assert board.end() == 0
        assert not list(rt.state.glob("dashboard-*"))
    assert len(tokens) == 2
    arguments = (rt.home / "arguments").read_text()
    assert arguments.count("dashboard-") == 2 and not any(token in arguments for token in tokens)


def test_a_port_that_is_taken_is_told_in_one_line(rt):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = rt.run("dashboard", "--no-open", "--port", port)
    assert done.rc == 1 and done.stdout == ""
    strangers.one_line(done.stderr, f"127.0.0.1:{port}", "in use")
    for wrong in ("x", "65536", "-1"):
        done = rt.run("dashboard", f"--port={wrong}")
        assert done.rc == 2
        strangers.one_line(done.stderr, "--port", wrong)


@pytest.mark.native
def test_without_the_library_one_line_says_what_to_do(rt, tmp_path):
    source = ("#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <string.h>\n"
              "void *dlopen(const char *p, int f) {\n"
              "\tvoid *(*real)(const char *, int) = (void *(*)(const char *, int)) dlsym(RTLD_NEXT, \"dlopen\");\n"
              "\treturn p && strstr(p, \"microhttpd\") ? 0 : real(p, f); }\n")
    preload = tmp_path / "no-http.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-o", preload, "-", "-ldl"], input=source,
                   encoding="utf-8", check=True)
    done = rt.run("dashboard", "--no-open", env={"LD_PRELOAD": preload})
    assert done.rc == 1 and done.stdout == ""
    strangers.one_line(done.stderr, "libmicrohttpd12", "--static")


def test_operands_are_told_in_one_line(rt):
    for args in (("x",), ("--static=",), ("--static", "x.html", "--json")):
        done = rt.run("dashboard", *args)
        assert done.rc == 2
        strangers.one_line(done.stderr, "dashboard")
    strangers.one_line(rt.run("dashboard", "--number", "x").stderr, "--number x: not a whole number")


# ---- files ----

def test_a_folder_has_the_page_and_the_reports(rt):
    for code in (0, 3, 0):
        rt.track("sh", "-c", f"exit {code}", flags=("-n", "job"))
    folder = rt.home / "site"
    done = rt.run("dashboard", "--static", folder, "--reports", "2")
    assert done.rc == 0 and "and 2 reports" in done.stderr, done.stderr
    newest = [r["id"] for r in fleet_json(rt, None, "--what", "runs")["runs"]]
    assert sorted(p.name for p in (folder / "runs").iterdir()) == sorted(f"{i}.html" for i in newest[:2])
    text = (folder / "index.html").read_text()
    assert 'data-kind="folder"' in text and "frame-src 'self' file:" in text
    done = rt.run("dashboard", "--static", folder)
    assert done.rc == 0 and len(list((folder / "runs").iterdir())) == 3
    done = rt.run("dashboard", "--static", rt.home / "no" / "site")
    assert done.rc == 1
    strangers.one_line(done.stderr, "no/site")


def test_its_data_are_the_views_of_the_command(rt, history):
    done = rt.run("dashboard", "--recording", history, "--as-of", AS_OF, "--json", env={"TZ": "UTC"})
    assert done.rc == 0, done.stderr
    data = json.loads(done.stdout)
    assert data["schema"] == "resource-tracker.dashboard/1"

    def same(a, b):
        """Equal but for digits that no text shows."""
        if isinstance(a, dict):
            return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
        if isinstance(a, list):
            return len(a) == len(b) and all(map(same, a, b))
        return a == (pytest.approx(b, rel=1e-4) if isinstance(b, float) else b)

    for i, days in enumerate((7, 30, 90)):
        since = ("--since", f"{days}d")
        assert same(data["overview"][i], fleet_json(rt, history, *since))
        assert same(data["machines"][i], fleet_json(rt, history, "--what", "machines", *since))
    jobs = fleet_json(rt, history, "--what", "jobs")["jobs"]
    assert [j["job"] for j in data["jobs"]] == [j["job"] for j in jobs]
    for mine, theirs in zip(data["jobs"], jobs):
        assert all(same(mine[key], theirs[key]) for key in mine.keys() & theirs.keys()), theirs["job"]
    runs = fleet_json(rt, history, "--what", "runs")["runs"]
    for mine, theirs in zip(data["newest"]["runs"], runs):
        assert same(mine, theirs), theirs["id"]
