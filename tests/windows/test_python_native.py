"""Tests the Python wheel for Windows (win_amd64) with a CPython for Windows, under Wine. It contains the extension
module of the limited API and the program, which read recordings; psutil samples. The command and the package must give
the same answers."""

import json
import subprocess

import pytest
from conftest import ENVIRONMENT, PYTHON, TIMEOUT_S, WINE, newest, windows_path
from test_python import TRACKED, WORK, document


@pytest.fixture
def python(native_python, tmp_path):
    """run(text, **variables): stdout of a script, which keeps its runs in a folder of its own."""
    def run(text, **variables):
        return native_python.run(tmp_path, text, RESOURCE_TRACKER_DIR=windows_path(tmp_path / "state"), **variables)
    return run


@pytest.fixture
def command(native_python, tmp_path, job_program):
    """python -m resource_tracker, with job.exe in the working directory."""
    (tmp_path / "job.exe").write_bytes(job_program.read_bytes())

    def call(*arguments, **variables):
        return native_python.call("-m", "resource_tracker", *arguments, folder=tmp_path,
                                  RESOURCE_TRACKER_DIR=windows_path(tmp_path / "state"), **variables)
    return call


def test_the_module_is_that_of_the_limited_api(python, native_python):
    wheel = (native_python.site / "resource_tracker-1.0.0.dist-info/WHEEL").read_text(encoding="utf-8")
    assert "Tag: cp39-abi3-win_amd64" in wheel and "Root-Is-Purelib: false" in wheel
    told = python("""
        import os
        from resource_tracker import _core, _engine
        print(os.path.basename(_core.__file__), _core.version(), len(_core.columns()) > 50,
              os.path.basename(_engine.program()))
        """)
    assert told == "_core.pyd 1.0.0 True resource-tracker-program.exe\n"


def test_report_and_advice_of_a_tracker_are_those_of_the_library(python):
    told = document(python(TRACKED + """
import json
tracker.report().save("python.html")
tracker.dump("kept.json")
print(json.dumps({
    "own_s": time.process_time(), "totals": tracker.totals(), "rows": tracker.n_samples,
    "memory": max(tracker.process_metrics["memory_mib"]), "machine": tracker.system_metrics["memory_used_mib"][-1],
    "server": tracker.recommend_server(), "request": tracker.recommend_resources(),
    "report": "<svg" in tracker.report() and "nächtlich" in tracker.report()}))
"""))
    totals = told["totals"]
    assert 1.2 <= totals["cpu_s"]["value"] <= told["own_s"] + 2 and totals["cpu_s"]["quality"] == "estimated"
    assert totals["peak_memory_mib"]["value"] >= 60 and totals["peak_processes"]["value"] == 2
    assert totals["disk_read_bytes"]["value"] is None and totals["disk_read_bytes"]["reason"]
    assert told["rows"] >= 4 and told["memory"] >= 60 and told["machine"] > 100
    assert told["server"]["vcpus"] >= 1 and told["request"]["cpu"] >= 1 and told["report"]


def test_a_command_has_a_recording_history_report_and_advice(command, native_python, programs, tmp_path):
    script = native_python.script(tmp_path, WORK + r"""
burn(0.7)
print("größe", sys.stdin.read())
sys.exit(5)
""")
    for _ in range(2):
        result = command("run", "--interval", "0.1s", "--", windows_path(PYTHON / "python.exe"), script)
        assert (result.rc, result.stdout.decode()) == (5, "größe \n")
        assert "exit 5" in result.stderr.splitlines()[0] and "about" in result.stderr
    shown = json.loads(command("show", "--json").stdout)
    assert (shown["run"]["job"], shown["run"]["exit"]["code"]) == ("python.exe script.py", 5)
    assert 0 < shown["totals"]["cpu_s"]["value"] < 20 and shown["totals"]["cpu_s"]["quality"] == "estimated"
    assert len(json.loads(command("history", "--json").stdout)["runs"]) == 2
    assert json.loads(command("recommend", "--json").stdout)["advice"]["runs"] >= 1
    assert command("report", "-o", "page.html").rc == 0 and b"<svg" in (tmp_path / "page.html").read_bytes()
    # The native program reads it as this one does.
    kept = newest(tmp_path / "state")
    assert programs.native("stats", kept).stdout == command("stats", windows_path(kept)).stdout


def test_an_exit_code_keeps_its_32_bits(native_python, job_program, tmp_path):
    (tmp_path / "job.exe").write_bytes(job_program.read_bytes())
    done = subprocess.run([WINE, tmp_path / "job.exe", "code", windows_path(PYTHON / "python.exe"), "-m", "resource_tracker",
                           "run", "--quiet", "--no-recording", "--", ".\\job.exe", "exit", "0xC0000135"],
                          cwd=tmp_path, env={**ENVIRONMENT, **native_python.variables()}, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=TIMEOUT_S, check=False)
    assert done.stdout.split() == b"exit code 3221225781".split(), done.stderr


def test_streams_pass_through(native_python, job_program, tmp_path):
    (tmp_path / "job.exe").write_bytes(job_program.read_bytes())
    done = subprocess.run([WINE, PYTHON / "python.exe", "-m", "resource_tracker", "run", "-q", "--no-recording", "--", ".\\job.exe",
                           "echo"], cwd=tmp_path, env={**ENVIRONMENT, **native_python.variables()}, input=b"first\nlast",
                          capture_output=True, timeout=TIMEOUT_S, check=False)
    assert done.returncode == 0 and done.stdout.replace(b"\r\n", b"\n") == b"first\nlast", done.stderr


def test_earlier_runs_of_this_user_count(python, command):
    """The library finds them where the program keeps them."""
    for _ in range(2):
        assert command("run", "--quiet", "-i", "0.1", "--job", "nächtlich", "--", ".\\job.exe", "burn", "800").rc == 0
    told = document(python(TRACKED + """
import json
from resource_tracker import _advice, alerts
print(json.dumps({"runs": _advice.ask(tracker, None)["advice"]["runs"], "alerts": alerts()}))
"""))
    assert told == {"runs": 3, "alerts": []}
