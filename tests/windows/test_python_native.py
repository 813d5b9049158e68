"""Tests the Python wheel for Windows (win_amd64) with a CPython for Windows, under Wine. It contains the extension
module of the limited API and the program. The command and the package must give the same answers."""

import json
import subprocess

import pytest
from conftest import ENVIRONMENT, PYTHON, TIMEOUT_S, WINE, newest, windows_path
from test_library import kill_once_it_records
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


def test_the_program_samples_and_command_and_package_agree(python, command, tmp_path):
    told = document(python(TRACKED + """
import json
from resource_tracker import recording
path = tracker._tracker.recording
tracker.report().save("python.html")
print(json.dumps({
    "own_s": time.process_time(), "path": path, "totals": tracker.totals(), "summary": recording.summary(path), "advice": recording.recommend(path),
    "programs": list(tracker.programs["program"]), "processes": list(tracker.processes["program"]),
    "lines": len(tracker.lines()), "rows": tracker.n_samples, "memory": max(tracker.process_metrics["memory_mib"]),
    "machine": tracker.system_metrics["memory_used_mib"][-1], "server": tracker.recommend_server(),
    "request": tracker.recommend_resources()}))
import shutil
shutil.copy(path, "kept.rtrk")
"""))
    totals = told["totals"]
    assert 1.2 <= totals["cpu_s"]["value"] <= told["own_s"] + 2 and totals["cpu_s"]["quality"] == "at_least"
    assert totals["peak_memory_mib"]["value"] >= 60 and totals["peak_processes"]["value"] == 2
    assert totals["disk_read_bytes"]["value"] is None and totals["disk_read_bytes"]["reason"]
    assert told["lines"] == 0 and told["rows"] >= 4 and told["memory"] >= 60 and told["machine"] > 100
    assert "python" in told["processes"] and told["server"]["vcpus"] >= 1 and told["request"]["cpu"] >= 1
    run = told["summary"]["run"]
    assert (run["job"], run["exit"]["code"]) == ("nächtlich", 0)
    assert [mark["name"] for mark in told["summary"]["marks"]] == ["train", "end of train"]
    shown = json.loads(command("show", "--json", "kept.rtrk").stdout)
    assert told["summary"] == {key: shown[key] for key in shown if key not in ("advice", "change")}
    assert told["advice"] == json.loads(command("recommend", "--json", "kept.rtrk").stdout)
    assert command("report", "-o", "command.html", "kept.rtrk").rc == 0
    assert (tmp_path / "python.html").read_bytes() == (tmp_path / "command.html").read_bytes()
    # The folder of the recording is gone with the interpreter.
    assert run["id"] in told["path"]


def test_a_job_in_python_is_run_by_the_command(command, native_python, tmp_path):
    script = native_python.script(tmp_path, WORK + r"""
from resource_tracker import mark
burn(0.4)
print("marked", mark("späť"))
sys.exit(5)
""")
    result = command("run", "--no-discovery", "--quiet", "--interval", "0.1s", "--", windows_path(PYTHON / "python.exe"), script)
    assert (result.rc, result.stdout, result.stderr) == (5, b"marked True\n", "")
    shown = json.loads(command("show", "--json").stdout)
    assert [mark["name"] for mark in shown["marks"]] == ["späť"] and shown["run"]["exit"]["code"] == 5
    assert shown["run"]["job"].endswith("script.py")
    assert newest(tmp_path / "state").is_file()


def test_an_exit_code_keeps_its_32_bits(native_python, job_program, tmp_path):
    (tmp_path / "job.exe").write_bytes(job_program.read_bytes())
    done = subprocess.run([WINE, tmp_path / "job.exe", "code", windows_path(PYTHON / "python.exe"), "-m", "resource_tracker",
                           "run", "--no-discovery", "--quiet", "--no-recording", "--", ".\\job.exe", "exit", "0xC0000135"],
                          cwd=tmp_path, env={**ENVIRONMENT, **native_python.variables()}, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=TIMEOUT_S, check=False)
    assert done.stdout.split() == b"exit code 3221225781".split(), done.stderr


def test_earlier_runs_of_this_user_count(python, command):
    """The library finds them where the program keeps them."""
    for _ in range(2):
        assert command("run", "--no-discovery", "--quiet", "--job", "nächtlich", "--", ".\\job.exe", "burn", "300").rc == 0
    told = document(python(TRACKED + """
import json
from resource_tracker import alerts, recording
print(json.dumps({"runs": recording.recommend(tracker._tracker.recording)["advice"]["runs"], "alerts": alerts()}))
"""))
    assert told == {"runs": 3, "alerts": []}


def test_where_the_program_cannot_be_started_python_samples(native_python, tmp_path):
    script = native_python.script(tmp_path, """
        import json, logging
        from resource_tracker import ResourceTracker
        logging.basicConfig()
        tracker = ResourceTracker(interval=0.1)
        tracker.wait_for_samples(2, timeout=60)
        tracker.stop()
        print(json.dumps([tracker.totals()["cpu_s"], tracker.recommend_server()["vcpus"]]))
        """)
    done = native_python.call(script, folder=tmp_path, RESOURCE_TRACKER_BIN="C:\\nothing.exe")
    cpu, vcpus = json.loads(done.stdout)
    assert done.rc == 0 and cpu["source"] == "psutil" and vcpus >= 1
    assert "C:\\nothing.exe: No such file or directory" in done.stderr


def test_a_killed_interpreter_leaves_nothing(native_python, tmp_path):
    script = native_python.script(tmp_path, """
        import time
        from resource_tracker import ResourceTracker
        tracker = ResourceTracker(interval=0.1)
        tracker.wait_for_samples(2, timeout=60)
        print(tracker._tracker.recording, flush=True)
        time.sleep(600)
        """)
    kill_once_it_records([PYTHON / "python.exe", script], tmp_path, native_python.variables())
