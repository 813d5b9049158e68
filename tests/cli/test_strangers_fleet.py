"""Tests that two users of a machine do not see each other's runs in the views over all jobs, the live view and over
HTTP."""

import contextlib
import json
import re
import socket
import subprocess

import pytest
from strangers import HANGS_S, VICTIM

NAME = "the-victims-job"
# Every verb that names the job to its user; and those that may.
LISTS = [["fleet", "--what", "jobs"], ["fleet", "--what", "runs", "--json"], ["fleet", "--job", NAME], ["dashboard", "--json"],
         ["top", "--once"], ["top", "--json"], ["digest"], ["digest", "--json"], ["alerts"], ["alerts", "list", "--json"],
         ["history"], ["ls"]]
SUMS = [["fleet"], ["fleet", "--json"], ["alerts", "check"]]


@contextlib.contextmanager
def a_run_that_goes_on(user):
    script = "touch started; while [ ! -e done ]; do sleep 0.05; done"
    with subprocess.Popen([user.world.program, "run", "-q", "-n", NAME, "--", "sh", "-c", script], user=user.uid,
                          group=user.gid, extra_groups=[], cwd=user.home, env=user.env, stdin=subprocess.DEVNULL) as process:
        try:
            while not (user.home / "started").exists():
                assert process.poll() is None
            yield process
        finally:
            (user.home / "done").touch()
            process.wait(HANGS_S)


@pytest.fixture
def failing(victim):
    """Runs of the victim in the history, one that runs, and an alert about them."""
    for _ in range(3):
        assert victim.track("-n", NAME, command=("sh", "-c", "exit 3")).returncode == 3
    assert "failing-again" in victim.rt("alerts", "check").stdout
    with a_run_that_goes_on(victim) as process:
        yield process


def told(user, verb):
    """What it prints, without the name that its own arguments hold."""
    done = user.rt(*verb)
    return done.stdout + ("" if NAME in verb else done.stderr)


def test_no_view_of_another_user_holds_the_victims_runs(victim, stranger, failing):
    assert stranger.track("-n", "of-the-stranger").returncode == 7
    for verb in LISTS:
        assert NAME in victim.rt(*verb).stdout, verb
    for verb in LISTS + SUMS:
        assert NAME not in told(stranger, verb), verb
    # Nor when the stranger names the victim's directory, a run, or the process.
    for folder in (victim.home, victim.state, victim.runs):
        folder.chmod(0o755)
    run = json.loads(victim.rt("fleet", "--what", "runs", "--json").stdout)["runs"]["runs"][0]["id"]
    for verb in [*LISTS, *SUMS, ["top", "--once", run], ["show", run], ["top", "--once", "@"]]:
        text = told(stranger, [*verb, "--recording", victim.state])
        assert NAME not in text and (run in verb or run not in text), verb
    done = stranger.rt("top", "--once", failing.pid)
    assert done.returncode != 0 and NAME not in done.stdout + done.stderr


def test_no_byte_of_the_dashboard_reaches_another_user(victim, stranger, failing):
    """The stranger has the whole address, as it may have been seen on a screen."""
    with subprocess.Popen([victim.world.program, "dashboard", "--no-open"], user=VICTIM, group=VICTIM, extra_groups=[],
                          cwd=victim.home, env=victim.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          encoding="utf-8") as process:
        try:
            address = process.stdout.readline().strip()
            port, path = re.fullmatch(r"http://127\.0\.0\.1:(\d+)(/.+/)", address).groups()
            ask = ("import socket,sys\ns = socket.create_connection(('127.0.0.1', int(sys.argv[1])), 30)\ngot = b''\n"
                   "try:\n s.sendall(('GET %s HTTP/1.1\\r\\nHost: 127.0.0.1:%s\\r\\nConnection: close\\r\\n\\r\\n' % "
                   "(sys.argv[2], sys.argv[1])).encode())\n"
                   " while True:\n  b = s.recv(65536)\n  if not b: break\n  got += b\n"
                   "except OSError: pass\nsys.stdout.write(got.decode())\n")
            for page in (path, f"{path}json/runs", f"{path}json/overview", "/", "/favicon.ico"):
                done = stranger.execute("/usr/bin/python3", "-c", ask, port, page)
                assert (done.returncode, done.stdout) == (0, ""), (page, done)
            done = victim.execute("/usr/bin/python3", "-c", ask, port, f"{path}json/runs")
            assert done.stdout.startswith("HTTP/1.1 200") and NAME in done.stdout
            # The address is in no argument that the stranger can see, and in no file.
            token = path.strip("/")
            assert token not in stranger.sh(f"tr '\\0' ' ' </proc/{process.pid}/cmdline").stdout
            assert stranger.execute("cat", f"/proc/{process.pid}/environ").returncode != 0
            assert stranger.execute("grep", "-rl", token, victim.world.base).stdout == ""
        finally:
            process.terminate()
            process.wait(HANGS_S)
    with socket.socket() as s:
        assert s.connect_ex(("127.0.0.1", int(port))) != 0


HOLD = """
import fcntl, os, sys
os.umask(0)
lock = os.open(sys.argv[1], os.O_CREAT | os.O_RDWR, 0o666)
fcntl.flock(lock, fcntl.LOCK_EX)
print("held", flush=True)
input()
"""
SAID = "a\u009b31m\u202eb\u2066c\u061cd\x1b[31me"
FORGED = {"schema": "resource-tracker.alerts/1", "digests": [],
          "alerts": [{"id": "x1", "rule": "oom-killed", "severity": "critical", "state": "firing", "job": SAID, "text": SAID,
                      "fix": SAID, "opened": 1, "new": 1}],
          "silences": [{"id": "s" + SAID[:4], "rule": "", "job": "", "until": 9e9, "made": 1, "reason": SAID}]}


def test_a_stranger_in_a_shared_folder_does_not_hold_up_alerts(world, victim, stranger):
    shared, env = world.shared, {"RESOURCE_TRACKER_DIR": world.shared}
    assert stranger.track(command=("sh", "-c", "exit 3"), env=env).returncode == 3
    (shared / "runs").chmod(0o777)
    stranger.sh(f"mkdir {shared}/.alerts.json.part")  # the temporary name of earlier versions
    with subprocess.Popen(["/usr/bin/python3", "-c", HOLD, f"alerts-{VICTIM}.lock"], user=stranger.uid, group=stranger.gid, extra_groups=[], cwd=shared,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout.readline() == b"held\n"
        verbs = [["alerts", "check"], ["alerts", "silence", "--rule", "slower", "--for", "1d"], ["alerts", "ack", "x1"]]
        waiting = [subprocess.Popen([world.program, *verb], user=victim.uid, group=victim.gid, extra_groups=[], cwd=victim.home,
                                    env={**victim.env, **{k: str(v) for k, v in env.items()}}, stdin=subprocess.DEVNULL,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8") for verb in verbs]
        for process in waiting:
            out, err = process.communicate(timeout=HANGS_S)
            assert process.returncode == 1 and out == ""
            [line] = err.splitlines()
            assert f"{shared}/alerts-{VICTIM}.json: alerts-{VICTIM}.lock is locked by " in line, line
            assert line.endswith((f" process {holder.pid}", " another process"))
        holder.communicate(b"\n")
    assert victim.rt("alerts", "silence", "--rule", "slower", "--for", "1d", env=env).returncode == 0
    assert "silence" in victim.rt("alerts", env=env).stdout


@pytest.mark.parametrize("mode", [0o1777, 0o777], ids=["sticky", "not sticky"])
@pytest.mark.parametrize("text", [json.dumps(FORGED), '{"schema": "of another program"}', "{"], ids=["forged", "schema", "damaged"])
def test_in_a_shared_folder_each_user_has_alerts(world, victim, stranger, text, mode):
    shared, env = world.shared, {"RESOURCE_TRACKER_DIR": world.shared}
    shared.chmod(mode)
    stranger.put(shared / "alerts.json", text)
    stranger.put(shared / "alerts.lock", "", 0o600)
    stranger.folder(shared / "outbox", 0o700)
    for _ in range(3):
        assert victim.track("-n", NAME, command=("sh", "-c", "exit 3"), env=env).returncode == 3
    checked = victim.rt("alerts", "check", env=env)
    assert "failing-again" in checked.stdout and NAME in checked.stdout, checked
    for verb in (["list"], ["list", "--json"], ["silence", "--job", NAME, "--for", "1d"], ["ack", f"failing-again:{NAME}"]):
        done = victim.rt("alerts", *verb, env=env)
        assert (done.returncode, done.stderr) == (0, ""), done
    listed = victim.rt("alerts", env=env).stdout
    assert f"failing-again: {NAME}" in listed and "acknowledged; silenced" in listed and "of all rules" not in listed
    assert "oom-killed" not in listed
    # A file in the place of the victim's is ignored.
    (shared / f"alerts-{VICTIM}.json").unlink()
    stranger.put(shared / f"alerts-{VICTIM}.json", text)
    for verb in (["alerts"], ["dashboard", "--json"]):
        done = victim.rt(*verb, env=env)
        assert done.returncode == 0 and "oom-killed" not in done.stdout.split('"rules"')[0]
        assert done.stderr.count("alerts-") == 2, done.stderr
        assert f"alerts-{VICTIM}.json belongs to another user (uid {stranger.uid}); ignored\n" in done.stderr


def test_no_text_of_an_alert_puts_controls_on_a_terminal(world, victim, stranger):
    victim.put(world.shared / f"alerts-{VICTIM}.json", json.dumps(FORGED))
    (stranger.folder(world.shared / "runs"))
    for verb in (["alerts"], ["alerts", "--json"], ["digest"], ["dashboard", "--json"]):
        done = victim.rt(*verb, env={"RESOURCE_TRACKER_DIR": world.shared})
        for character in SAID:
            assert character.isprintable() or character not in done.stdout + done.stderr, (verb, done)
