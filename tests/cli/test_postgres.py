"""Tests the history of a team in a real PostgreSQL server that the tests start."""

import contextlib
import glob
import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import urllib.request

import pytest

from conftest import TIMEOUT_S

pytestmark = pytest.mark.native


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    """A cluster of its own; as root it runs as the user that the package makes."""

    def __init__(self):
        programs = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
        assert programs, "PostgreSQL is not installed"
        self.bin = pathlib.Path(programs[-1]).parent
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="trk-pg-"))
        self.port = free_port()
        self.url = f"postgresql://tracker@127.0.0.1:{self.port}/postgres"
        self.user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] \
            if os.geteuid() == 0 else []
        if self.user:
            shutil.chown(self.dir, "postgres", "postgres")
        self.call("initdb", "-D", self.dir / "data", "-A", "trust", "-U", "tracker", "-E", "UTF8")
        self.start()

    def call(self, program, *args, **options):
        return subprocess.run([*self.user, self.bin / program, *map(str, args)], check=True,
                              cwd=self.dir, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, encoding="utf-8", env={"LC_ALL": "C",
                              "PATH": os.environ["PATH"]}, **options)

    def start(self):
        self.call("pg_ctl", "-D", self.dir / "data", "-w", "-l", self.dir / "log", "-o",
                  f"-p {self.port} -h 127.0.0.1 -k {self.dir} -F", "start")

    def stop(self):
        self.call("pg_ctl", "-D", self.dir / "data", "-m", "immediate", "stop")

    def sql(self, text):
        return self.call("psql", self.url, "-tAc", text).stdout.strip()


@pytest.fixture(scope="module")
def server():
    s = Server()
    try:
        yield s
    finally:
        s.stop()
        shutil.rmtree(s.dir)


@pytest.fixture
def team(rt, server):
    server.sql("DROP SCHEMA IF EXISTS resource_tracker CASCADE")
    rt.env["RESOURCE_TRACKER_HISTORY"] = server.url
    return rt


def wait_for(what, seconds=TIMEOUT_S):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if what():
            return True
        time.sleep(0.1)
    return False


def rows(server, where="true"):
    if server.sql("SELECT to_regclass('resource_tracker.run') IS NULL") == "t":
        return 0
    return int(server.sql(f"SELECT count(*) FROM resource_tracker.run WHERE {where}"))


def test_a_run_arrives_by_itself_with_its_figures(team, server):
    summary = team.track("/usr/bin/python3", "-c", "x = bytearray(30 << 20)",
                         flags=["-n", "it's a \"job\" äß 🙂"]).summary
    assert wait_for(lambda: rows(server, "ended") == 1)
    job, duration, peak = server.sql(
        "SELECT job, duration_s, peak_memory_mib FROM resource_tracker.run").split("|")
    assert job == "it's a \"job\" äß 🙂"
    assert float(duration) == pytest.approx(summary["run"]["duration_s"])
    assert float(peak) == pytest.approx(summary["totals"]["peak_memory_mib"]["value"])


def test_the_verbs_see_the_runs_of_all_machines(team, server, tmp_path):
    other = {"RESOURCE_TRACKER_DIR": str(tmp_path / "elsewhere")}
    for i in range(5):
        assert team.track("sleep", "0.3", flags=["-n", "shared"],
                          env=other if i % 2 else None).rc == 0
    assert team.run("history", "shared").stdout.count("exit 0") == 5
    assert rows(server) == 5
    listed = team.run("history", "--json", "shared", env=other).json()["runs"]
    assert [r["job"] for r in listed] == ["shared"] * 5
    assert [r["start_time"] for r in listed] == sorted((r["start_time"] for r in listed), reverse=True)
    advice = team.run("recommend", "--json", "shared").json()["advice"]
    assert advice["runs"] == 5
    assert team.run("show", "--json", "shared@").json()["change"]["runs"] == 4


def test_what_a_server_that_was_down_has_missed_is_sent_later(team, server):
    server.stop()
    result = team.track("sleep", "0.3", flags=["-n", "spooled"])
    assert result.rc == 0 and not result.stderr.count("PostgreSQL")
    listed = team.run("history", "spooled")
    assert listed.rc == 0 and listed.stdout.count("spooled") == 1  # from this machine
    assert "only the runs of this machine follow" in listed.stderr and listed.stderr.count("\n") == 1
    server.start()
    assert team.run("history", "spooled").stdout.count("spooled") == 1
    assert server.sql("SELECT count(*) FROM resource_tracker.run WHERE job = 'spooled'") == "1"


def test_many_trackers_at_once_make_one_table(team, server):
    jobs = [subprocess.Popen([team.path, "run", "-q", "--no-discovery", "-n", "many", "--", "sleep",
                              "0.3"], env=team.env, stdin=subprocess.DEVNULL) for _ in range(8)]
    assert [j.wait(240) for j in jobs] == [0] * 8
    assert wait_for(lambda: rows(server) == 8)
    again = [team.run("history", "many").stdout.count("exit 0") for _ in range(2)]
    assert again == [8, 8] and rows(server) == 8


def test_who_may_only_read_is_told_and_reads(team, server):
    assert team.track("sleep", "0.3", flags=["-n", "first"]).rc == 0
    assert wait_for(lambda: rows(server) == 1)
    server.sql("DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA "
               "resource_tracker TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA "
               "resource_tracker TO reader")
    reader = {"RESOURCE_TRACKER_HISTORY": server.url.replace("tracker@", "reader@")}
    assert team.track("sleep", "0.3", flags=["-n", "second"], env={
        "RESOURCE_TRACKER_HISTORY": None}).rc == 0
    listed = team.run("history", env=reader)
    assert listed.rc == 0 and "first" in listed.stdout
    assert "not updated" in listed.stderr and "permission denied" in listed.stderr


def test_a_newer_schema_and_a_wrong_url_are_told(team, server):
    assert team.track("sleep", "0.3").rc == 0
    assert wait_for(lambda: rows(server) == 1)
    server.sql("UPDATE resource_tracker.state SET value = '99' WHERE key = 'version'")
    newer = team.run("history")
    assert newer.rc == 0 and "newer version" in newer.stderr
    wrong = team.run("history", env={"RESOURCE_TRACKER_HISTORY": "mysql://x"})
    assert wrong.rc == 0 and "not a URL of PostgreSQL" in wrong.stderr


def is_open(connection):
    """Whether the peer still waits for an answer."""
    with connection:
        connection.setblocking(False)
        try:
            while connection.recv(4096):
                pass
        except BlockingIOError:
            return True
    return False


def test_a_server_that_does_not_answer_holds_nothing_up(team):
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        mute.listen(8)
        url = f"postgresql://x@127.0.0.1:{mute.getsockname()[1]}/x"
        result = team.track("sleep", "0.3", env={"RESOURCE_TRACKER_HISTORY": f"{url}?connect_timeout={TIMEOUT_S}"})
        assert result.rc == 0
        mute.settimeout(TIMEOUT_S)
        while not is_open(mute.accept()[0]):  # until the tracker has closed its connection of the end of the run
            pass
        listed = team.run("history", env={"RESOURCE_TRACKER_HISTORY": url})
        assert listed.rc == 0 and "timeout expired" in listed.stderr


def test_a_name_that_is_no_text_is_sent_all_the_same(team, server):
    done = subprocess.run([team.path, "run", "-q", "--no-discovery", "-n", b"bad\xffname", "--",
                           "sleep", "0.3"], env=team.env, check=False, stdin=subprocess.DEVNULL)
    assert done.returncode == 0
    assert wait_for(lambda: rows(server) == 1)
    assert server.sql("SELECT job FROM resource_tracker.run") == "bad?name"


def test_a_schema_from_before_the_first_release_is_told_in_one_line(team, server):
    assert team.track("sleep", "0.3").rc == 0
    assert wait_for(lambda: rows(server) == 1)
    server.sql("UPDATE resource_tracker.state SET value = '3' WHERE key = 'version'")
    older = team.run("history")
    assert older.rc == 0 and older.stderr.count("\n") == 1
    assert ": made by a version of resource-tracker before 1.0.0. Try: move it away" in older.stderr
    assert server.sql("SELECT value FROM resource_tracker.state WHERE key = 'version'") == "3"


def test_who_may_read_the_runs_alone_reads_them(team, server):
    """The version is in another table; a role without the right to create needs none where the columns are there."""
    assert team.track("sleep", "0.3", flags=["-n", "train"]).rc == 0
    assert wait_for(lambda: rows(server) == 1)
    server.sql("DROP ROLE IF EXISTS guest; CREATE ROLE guest LOGIN; GRANT USAGE ON SCHEMA resource_tracker TO guest; "
               "GRANT SELECT ON resource_tracker.run TO guest")
    url = server.url.replace("tracker@", "guest@")
    listed = team.run("history", "--json", "train", env={"RESOURCE_TRACKER_HISTORY": url})
    assert listed.rc == 0 and len(listed.json()["runs"]) == 1


def test_jobs_of_one_name_are_told_apart_and_older_runs_are_of_both(team, server):
    folders = [team.home / name for name in "ab"]
    for folder in folders:
        folder.mkdir()
        assert team.track("sleep", "1", cwd=folder).rc == 0
    assert team.run("history", "sleep").stdout.count("exit 0") == 2
    server.sql("UPDATE resource_tracker.run SET scope = NULL, tags = NULL")  # as older ones left it
    assert len(team.run("history", "--json", f"sleep in {folders[0]}").stdout) == 0
    assert len(team.run("history", "--json", "sleep").json()["runs"]) == 2
    for folder in folders:
        assert team.track("sleep", "1", flags=["--tag", "kind=a"], cwd=folder).rc == 0
    both = team.run("history", "--json", "sleep")
    assert [run["scope"] for run in both.json()["runs"]] == [
        str(folders[1]), str(folders[0]), None, None]
    assert [run["tags"] for run in both.json()["runs"]] == [{"kind": "a"}] * 2 + [{}] * 2
    assert "2 jobs are called sleep" in both.stderr
    one = team.run("history", "--json", f"sleep in {folders[0]}").json()["runs"]
    assert [run["scope"] for run in one] == [str(folders[0]), None, None]


@contextlib.contextmanager
def stalling(port, word):
    """A way to the server that falls silent, both directions, with the first request that has `word`."""
    def pump(source, target, stalled):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if word in data:
                    stalled.set()
                if stalled.is_set():
                    return
                target.sendall(data)

    def serve(way, kept):
        with contextlib.suppress(OSError):
            while True:
                near, _ = way.accept()
                far = socket.create_connection(("127.0.0.1", port))
                stalled = threading.Event()
                kept += [near, far]
                for ends in ((near, far), (far, near)):
                    threading.Thread(target=pump, args=(*ends, stalled), daemon=True).start()

    kept = []
    with socket.socket() as way:
        way.bind(("127.0.0.1", 0))
        way.listen(8)
        threading.Thread(target=serve, args=(way, kept), daemon=True).start()
        yield way.getsockname()[1]
        way.shutdown(socket.SHUT_RDWR)
    for end in kept:
        end.close()


@pytest.mark.parametrize("word", [b"SELECT file", b"SELECT id"])
def test_a_server_that_falls_silent_is_given_up(team, server, word):
    assert team.track("sleep", "0.3", flags=["-n", "here"]).rc == 0
    assert wait_for(lambda: rows(server) == 1)
    with stalling(server.port, word) as port:
        env = {"RESOURCE_TRACKER_HISTORY": server.url.replace(str(server.port), str(port))}
        listed = team.run("history", "here", env=env)
    assert "the server does not answer" in listed.stderr
    if word == b"SELECT file":  # told at once: what is here is shown
        assert listed.rc == 0 and listed.stdout.count("here") == 1


def test_a_table_that_somebody_has_locked_is_not_waited_for(team, server):
    assert team.track("sleep", "0.3", flags=["-n", "here"]).rc == 0
    assert wait_for(lambda: rows(server) == 1)
    with subprocess.Popen([*server.user, server.bin / "psql", server.url], cwd=server.dir, text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        holder.stdin.write("BEGIN; LOCK TABLE resource_tracker.run; SELECT 'held';\n")
        holder.stdin.flush()
        assert any("held" in line for line in iter(holder.stdout.readline, ""))
        listed = team.run("history", "here")
        holder.stdin.close()
    assert listed.rc == 0 and listed.stdout.count("here") == 1
    assert "timeout" in listed.stderr and "only the runs of this machine follow" in listed.stderr


def test_the_fleet_and_the_dashboard_show_the_runs_of_all_machines(team, server, tmp_path):
    other = {"RESOURCE_TRACKER_DIR": str(tmp_path / "elsewhere")}
    for i in range(4):
        assert team.track("sh", "-c", f"exit {i % 2 * 3}", flags=["-n", "shared", "--tag", f"team=t{i % 2}"],
                          env=other if i % 2 else None).rc == i % 2 * 3
    assert wait_for(lambda: rows(server) == 4) or team.run("history").rc == 0
    here, there = (team.run("fleet", "--json", env=env).json()["overview"] for env in (None, other))
    for overview in (here, there):
        assert overview["sum"]["runs"] == 4 and overview["sum"]["failed"] == 2
        assert {g["name"]: g["runs"] for g in overview["by"]["team"]} == {"t0": 2, "t1": 2}
    runs = team.run("fleet", "--json", "--what", "runs").json()["runs"]
    assert runs["matched"] == 4 and [r["end"] for r in runs["runs"]].count("failed") == 2
    with team.start("dashboard", "--no-open") as process:
        address = process.stdout.readline().strip()
        with urllib.request.urlopen(address + "json/runs", timeout=120) as answer:
            served = json.load(answer)["runs"]
        assert served == runs
        # The server goes away: what was read stays, also when the page is to be read again; the command
        # falls back to this machine's runs.
        server.stop()
        time.sleep(5.5)
        try:
            with urllib.request.urlopen(address + "json/runs", timeout=120) as answer:
                assert json.load(answer)["runs"]["matched"] == 4
            alone = team.run("fleet", "--json")
            assert alone.json()["overview"]["sum"]["runs"] == 2 and "only the runs of this machine" in alone.stderr
        finally:
            server.start()


def test_alerts_are_judged_on_the_runs_of_all_machines(team, server, tmp_path):
    """Three failures in a row, of which no machine has seen all."""
    other = {"RESOURCE_TRACKER_DIR": str(tmp_path / "elsewhere")}
    for env in (None, other, None):
        assert team.track("sh", "-c", "exit 3", flags=["-n", "shared"], env=env).rc == 3
    assert wait_for(lambda: rows(server) == 3) or team.run("history").rc == 0
    for env in (None, other):
        done = team.run("alerts", "check", env=env)
        assert done.stdout.startswith("[critical] failing-again: shared: the newest 3 runs failed"), done.stderr
        digest = team.run("digest", "--json", env=env).json()
        assert [(a["rule"], a["job"]) for a in digest["alerts"]] == [("failing-again", "shared")]
