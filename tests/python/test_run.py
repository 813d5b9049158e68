"""Tests `python -m resource_tracker run -- CMD` as on macOS and Windows, where psutil samples the command. On Linux
RESOURCE_TRACKER_ENGINE=psutil selects it."""

import json
import os
import signal
import subprocess
import sys

import pytest

pytest.importorskip("psutil")

TIMEOUT_S = 120
WORK = """
import subprocess, sys, time
held = bytearray(b"1") * (60 << 20)
def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end: pass
burn(0.5)
subprocess.run([sys.executable, "-c", "import time\\nwhile time.process_time() < 0.5: pass"], check=True)
"""


@pytest.fixture
def environment(tmp_path):
    return {**os.environ, "RESOURCE_TRACKER_ENGINE": "psutil", "RESOURCE_TRACKER_DIR": str(tmp_path / "state")}


@pytest.fixture
def run(environment, tmp_path):
    """run(*words, **options): `python -m resource_tracker run`, to its end."""
    def run_(*words, env=None, **options):
        return subprocess.run([sys.executable, "-m", "resource_tracker", "run", *words], cwd=tmp_path,
                              env={**environment, **(env or {})}, timeout=TIMEOUT_S, check=False,
                              **{"capture_output": True, "stdin": subprocess.DEVNULL, **options})
    return run_


@pytest.fixture
def answer(environment, tmp_path):
    """answer(*words): stdout of a verb of the program, which reads the recordings."""
    from resource_tracker._engine import program

    def answer_(*words):
        done = subprocess.run([program(), *words], cwd=tmp_path, env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout
    return answer_


def test_a_run_has_a_recording_history_advice_and_a_report(run, answer, tmp_path):
    script = tmp_path / "train.py"
    script.write_text(WORK)
    for _ in range(2):
        done = run("-i", "0.1", "--", sys.executable, "train.py")
        assert (done.returncode, done.stdout) == (0, b"")
    lines = done.stderr.decode().splitlines()
    assert "train.py" in lines[0] and any("about" in line and "of CPU" in line for line in lines)
    shown = json.loads(answer("show", "--json"))
    totals = shown["totals"]
    assert totals["cpu_s"]["quality"] == totals["peak_memory_mib"]["quality"] == "estimated"
    assert 1.0 <= totals["cpu_s"]["value"] < 20 and totals["peak_memory_mib"]["value"] >= 60
    assert totals["peak_processes"]["value"] == 2
    job = f"{os.path.basename(sys.executable)} train.py"
    assert (shown["run"]["job"], shown["run"]["exit"]["code"]) == (job, 0)
    assert [entry["job"] for entry in json.loads(answer("history", "--json"))["runs"]] == [job, job]
    assert json.loads(answer("recommend", "--json"))["advice"]["runs"] == 2
    assert "<svg" in answer("report", "--output", "-")
    assert json.loads(answer("compare", "--json"))
    assert answer("export", "--format", "csv").count("\n") > 3


def test_streams_and_environment_are_those_of_the_command(run):
    text = "import os, sys; data = sys.stdin.buffer.read(); sys.stdout.buffer.write(data[::-1]); sys.stderr.write(os.environ['ß'])"
    done = run("--quiet", "--", sys.executable, "-c", text, stdin=None, input=bytes(range(256)), env={"ß": "größe"})
    assert (done.returncode, done.stdout, done.stderr.decode()) == (0, bytes(range(256))[::-1], "größe")


@pytest.mark.parametrize("code", [0, 1, 7, 255])
def test_the_exit_code_is_that_of_the_command(run, answer, code):
    assert run("-q", "--", "sh", "-c", f"exit {code}").returncode == code
    assert json.loads(answer("show", "--json"))["run"]["exit"]["code"] == code


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_a_command_that_a_signal_ends_ends_the_wrapper_so(run, number):
    assert run("-q", "--", "sh", "-c", f"kill -{int(number)} $$").returncode == -number


def test_words_after_the_command_are_its_own(run):
    done = run("-q", "--", "printf", "%s|", "--job", "-q", "a b", "", "--")
    assert done.stdout == b"--job|-q|a b||--|"
    assert run("-q", "printf", "%s|", "-i").stdout == b"-i|"


@pytest.mark.parametrize("words, code, said", [
    (["--", "nothing-there"], 127, "nothing-there: No such file or directory"),
    (["--", "/"], 126, "/: Permission denied"),
    (["--limit", "time=1s", "--", "true"], 125,
     "run: --limit: not available on this system. Try: python -m resource_tracker run --help"),
    (["--job"], 125, "run: --job: a value is missing"),
    (["-i", "soon", "--", "true"], 125, "run: --interval soon: not a duration from 10ms to 1h"),
    (["-i", "0", "--", "true"], 125, "run: --interval 0: not a duration from 10ms to 1h"),
    ([], 125, "run: no command. Try: python -m resource_tracker run -- CMD"),
])
def test_what_cannot_be_run_is_said_in_one_line(run, tmp_path, words, code, said):
    done = run(*words)
    assert (done.returncode, done.stdout, done.stderr.decode()) == (code, b"", f"resource-tracker: {said}\n")
    assert not (tmp_path / "state").exists()


def test_options(run, answer, tmp_path):
    done = run("--quiet", "--job", "größe", "--interval=200ms", "--report", "page.html", "--recording", "other", "sleep", "4")
    assert (done.returncode, done.stderr) == (0, b"")
    shown = json.loads(answer("show", "--recording", "other", "--json"))
    assert shown["run"]["job"] == "größe"
    rows = answer("export", "--recording", "other", "--format", "csv").count("\n") - 1
    assert rows > 5  # of 20; with an interval of a second there would be 5 at most
    assert "größe" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert run("--no-recording", "--", "true").stderr == b"" and not (tmp_path / "state").exists()
    assert run("--help").stdout.startswith(b"usage: python -m resource_tracker run ")


def started(environment, folder, *words):
    process = subprocess.Popen([sys.executable, "-m", "resource_tracker", "run", "-q", "--", *words], cwd=folder,
                               env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout.readline() == b"ready\n"
    return process


def test_a_signal_is_passed_on(environment, answer, tmp_path):
    process = started(environment, tmp_path, "sh", "-c", "trap 'echo got; exit 3' TERM; echo ready; while :; do sleep 0.1; done")
    process.terminate()
    assert process.communicate(timeout=TIMEOUT_S)[0] == b"got\n" and process.returncode == 3
    assert json.loads(answer("show", "--json"))["run"]["exit"]["code"] == 3


def test_a_signal_is_passed_on_that_comes_while_the_command_is_started(environment, tmp_path):
    script = """
import os, signal, subprocess
from resource_tracker import _run
real = subprocess.Popen
def popen(command):
    child = real(command, stdout=subprocess.PIPE)
    child.stdout.readline()
    os.kill(os.getpid(), signal.SIGTERM)
    return child
subprocess.Popen = popen
print(_run._start(["sh", "-c", "trap 'exit 3' TERM; echo ready; while :; do sleep 0.1; done"]).wait())
"""
    done = subprocess.run([sys.executable, "-c", script], env=environment, cwd=tmp_path, stdout=subprocess.PIPE,
                          timeout=TIMEOUT_S, check=True)
    assert done.stdout == b"3\n"


def test_a_key_of_the_terminal_reaches_the_command_once(environment, answer, tmp_path):
    text = ("import signal, time\nseen = []\nsignal.signal(signal.SIGINT, lambda *_: seen.append(1))\nprint('ready', flush=True)\n"
            "end = time.monotonic() + 60\nwhile not seen and time.monotonic() < end: time.sleep(0.01)\ntime.sleep(0.5)\nprint(seen)")
    process = started(environment, tmp_path, sys.executable, "-c", text)
    os.killpg(process.pid, signal.SIGINT)
    assert process.communicate(timeout=TIMEOUT_S)[0] == b"[1]\n" and process.returncode == 0
    assert json.loads(answer("show", "--json"))["run"]["exit"]["code"] == 0


def test_a_command_that_ends_at_once_is_recorded(run, answer):
    done = run("--", "true")
    assert done.returncode == 0 and b"exit 0" in done.stderr
    shown = json.loads(answer("show", "--json"))
    assert (shown["run"]["job"], shown["run"]["exit"]["code"]) == ("true", 0)


def test_a_run_that_cannot_be_kept_changes_no_exit_code(run, tmp_path):
    (tmp_path / "file").write_text("")
    done = run("--recording", "file", "--", "sh", "-c", "exit 5")
    assert done.returncode == 5
    assert done.stderr.startswith(b"resource-tracker: the run is not kept: ") and done.stderr.count(b"\n") == 1


def test_without_the_library_a_snapshot_is_kept(script, environment, answer, tmp_path):
    """As with the wheel without machine code; the program of another machine reads it."""
    code, _, err = script.run("""
        import sys
        sys.modules["resource_tracker._core"] = None
        from resource_tracker import _engine, __main__
        _engine.program = lambda: ""
        sys.argv = ["resource-tracker", "run", "-i", "0.1", "--", sys.executable, "-c", "import time; time.sleep(0.5)"]
        sys.exit(__main__.main())
    """, env=environment)
    (snapshot,) = (tmp_path / "state" / "snapshots").iterdir()
    assert (code, err) == (0, f"resource-tracker: kept in {snapshot}: resource-tracker import reads it\n")
    answer("import", str(snapshot))
    assert json.loads(answer("show", "--json"))["run"]["exit"]["code"] == 0


def test_without_the_program_the_other_verbs_say_so(script, environment):
    code, out, err = script.run("""
        import sys
        sys.modules["resource_tracker._core"] = None
        from resource_tracker import _engine, __main__
        _engine.program = lambda: ""
        sys.argv = ["resource-tracker", "show"]
        sys.exit(__main__.main())
    """, env=environment)
    assert (code, out) == (127, "")
    assert err == ("resource-tracker: the program is not in this package, which tracks commands only: "
                   "python -m resource_tracker run -- CMD\n")
