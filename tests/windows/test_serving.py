"""Tests the dashboard server of the program for Windows, under Wine, with the cases of tests/cli/test_dashboard.py,
and its HTTP.

The clients are Python on Linux and a CPython for Windows. Wine has only one user, so the refusal of another user is
not tested.
"""

import os
import pathlib
import socket
import subprocess
import sys
import time
import types

import pytest
from conftest import ENVIRONMENT, NATIVE, PROGRAM, PYTHON, ROOT, TIMEOUT_S, WINE, run, windows_path
from test_tracking import QUIET, read_until, tracker  # noqa: F401  # pylint: disable=unused-import

sys.path.insert(0, str(ROOT / "tests/cli"))
import test_dashboard  # noqa: E402  # pylint: disable=wrong-import-position
from test_dashboard import (  # noqa: E402,F401  # pylint: disable=wrong-import-position,unused-import
    test_a_run_is_between_its_neighbours, test_another_host_name_is_refused, test_it_listens_on_the_loopback_address_alone,
    test_its_views_are_those_of_the_command, test_only_reading_is_answered, test_requests_of_other_sites_are_refused,
    test_runs_come_in_pages_without_gaps, test_the_page_is_served_with_a_strict_policy, test_what_is_not_there_is_said,
    test_without_the_secret_nothing_is_answered)

HEAD_MAX = 32768


@pytest.fixture(scope="module")
def history(tmp_path_factory):
    """The made-up history, which the native program has packed."""
    folder = tmp_path_factory.mktemp("fleet") / "state"
    subprocess.run([NATIVE.parent / "tests/e2e/make_history", folder, "1", "1.1"], check=True, stdout=subprocess.DEVNULL)
    return folder


@pytest.fixture(scope="module")
def board(prefix, history, tmp_path_factory):
    """One server for all tests that only ask."""
    command = [WINE, PROGRAM, "dashboard", "--recording", windows_path(history), "--as-of", str(test_dashboard.AS_OF), "--no-open"]
    with subprocess.Popen(command, env=ENVIRONMENT, cwd=tmp_path_factory.mktemp("serving"), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8") as process:
        try:
            yield test_dashboard.Board(process)
        finally:
            process.kill()


@pytest.fixture
def rt(tmp_path):
    """The native program, as the tests of the native dashboard call it."""
    def call(*arguments, env=None):
        done = run([NATIVE, *arguments], tmp_path, env or {})
        return types.SimpleNamespace(rc=done.rc, stdout=done.stdout.decode(), stderr=done.stderr)
    return types.SimpleNamespace(run=call)


def exchange(board, data):
    """What the server sends for these bytes, until it ends the connection."""
    with socket.create_connection(("127.0.0.1", board.port), timeout=TIMEOUT_S) as s:
        s.sendall(data)
        answer = b""
        while True:
            try:
                more = s.recv(65536)
            except ConnectionResetError:
                return answer
            if not more:
                return answer
            answer += more


def request(board, line, *headers):
    return "\r\n".join([line, f"Host: 127.0.0.1:{board.port}", *headers, "", ""]).encode()


# ---- HTTP ----

@pytest.mark.parametrize("line", [
    "", "GET", "GET /", "GET / HTTP/2.0", "GET / HTTP/1.10", "GET  / HTTP/1.1", "GET x HTTP/1.1", "GET http://127.0.0.1/ HTTP/1.1",
    "G(T / HTTP/1.1", " GET / HTTP/1.1", "GET /%00 HTTP/1.1", "GET /%4 HTTP/1.1", "GET /\x7f HTTP/1.1", "GET /?%zz HTTP/1.1",
])
def test_what_is_no_request_is_refused(board, line):
    assert exchange(board, request(board, line)).startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize("header", ["no colon", "Name : x", ": x", " Folded: x", "X: a\0b"])
def test_what_is_no_header_is_refused(board, header):
    assert exchange(board, request(board, f"GET /{board.token}/ HTTP/1.1", header)).startswith(b"HTTP/1.1 400 ")


def test_a_head_that_is_too_large_is_refused(board):
    assert exchange(board, b"GET /" + b"x" * HEAD_MAX).startswith(b"HTTP/1.1 431 ")
    assert exchange(board, request(board, "GET / HTTP/1.1", *["X: 1"] * 64)).startswith(b"HTTP/1.1 400 ")
    assert board.ask()[0] == 200


def test_requests_follow_each_other_on_a_connection(board):
    one = request(board, f"GET /{board.token}/json/overview HTTP/1.1")
    head = request(board, f"HEAD /{board.token}/ HTTP/1.1")
    last = request(board, f"GET /{board.token}/nothing HTTP/1.1", "Connection: Close")
    answer = exchange(board, one + head + last + one)
    assert [part.split(b" ", 1)[0] for part in answer.split(b"HTTP/1.1 ")[1:]] == [b"200", b"200", b"404"]
    assert answer.endswith(b"There is no such page.\n")
    assert exchange(board, one.replace(b"/1.1", b"/1.0")).count(b"HTTP/1.1 ") == 1


@pytest.mark.parametrize("header", ["Content-Length: 30", "Transfer-Encoding: chunked"])
def test_a_body_is_not_taken_for_a_request(board, header):
    hidden = request(board, f"GET /{board.token}/ HTTP/1.1")
    answer = exchange(board, request(board, f"POST /{board.token}/ HTTP/1.1", header) + hidden)
    assert answer.startswith(b"HTTP/1.1 405 ") and answer.count(b"HTTP/1.1 ") == 1


def test_silent_connections_hold_nobody_up(board):
    """Browsers open connections before they need them. From 64 on they are closed at once."""
    silent = [socket.create_connection(("127.0.0.1", board.port), timeout=TIMEOUT_S) for _ in range(40)]
    silent[0].sendall(b"GET /")
    assert board.ask()[0] == 200
    silent += [socket.create_connection(("127.0.0.1", board.port), timeout=TIMEOUT_S) for _ in range(40)]
    assert silent[-1].recv(1) == b""
    for connection in silent:
        connection.close()
    until = time.monotonic() + TIMEOUT_S
    while True:  # the server sees their end a moment later
        try:
            assert board.ask()[0] == 200
            return
        except (OSError, test_dashboard.http.client.HTTPException):
            assert time.monotonic() < until


def test_a_client_for_windows_is_answered(board, tmp_path):
    script = "import sys, urllib.request as r; print(r.urlopen(sys.argv[1]).status)"
    done = run([WINE, PYTHON / "python.exe", "-c", script, board.address], tmp_path,
               {"PYTHONHOME": windows_path(PYTHON), "PYTHONUTF8": "1"})
    assert done.stdout == b"200\n", done.stderr


# ---- how it begins and ends ----

def test_it_shows_a_run_and_ends_with_ctrl_c(tracker):  # noqa: F811
    assert tracker("run", *QUIET, "--job", "real", "--", ".\\job.exe", "exit", "3").rc == 3
    (tracker.folder / "explorer.cmd").write_text("@copy %1 page.html > nul\r\n@echo %1> opened.txt\r\n")
    process, terminal = tracker.in_terminal("dashboard", WINEPATH=windows_path(tracker.folder))
    shown = read_until(terminal, b"until Ctrl-C").decode()
    address = next(word for word in shown.split() if word.startswith("http://"))
    port = int(address.split(":")[2].split("/")[0])
    asked = types.SimpleNamespace(port=port, token=address.split("/")[3])
    [overview] = [test_dashboard.Board.json(types.SimpleNamespace(
        ask=lambda path: test_dashboard.Board.ask(asked, path)), "runs")["runs"]]
    assert [(one["job"], one["end"]) for one in overview] == [("real", "failed")]
    status, _, body = test_dashboard.Board.ask(asked, f"run/{overview[0]['id']}")
    assert (status, body) == (200, tracker("report", overview[0]["id"], "--output", "-").stdout.decode())
    # The browser is led to the address by a file, which goes with the server.
    opened = tracker.folder / "opened.txt"
    until = time.monotonic() + TIMEOUT_S
    while not (opened.is_file() and opened.read_text()):
        assert time.monotonic() < until
        time.sleep(0.1)
    leader = pathlib.PureWindowsPath(opened.read_text().strip().strip('"'))
    assert (leader.parent.name, leader.suffix) == ("state", ".html")
    assert f"url={address}" in (tracker.folder / "page.html").read_text()
    os.write(terminal, b"\x03")
    assert process.wait(TIMEOUT_S) == 0
    os.close(terminal)
    assert not list((tracker.folder / "state").glob("dashboard-*"))
    with pytest.raises(OSError):
        test_dashboard.Board.ask(asked)


def test_a_port_that_is_taken(tracker):  # noqa: F811
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = tracker("dashboard", "--no-open", "--port", str(port))
    assert (done.rc, done.stdout, done.stderr.count("\n")) == (1, b"", 1)
    assert f"127.0.0.1:{port}: " in done.stderr and "in use" in done.stderr
