"""Tests the Python package without machine code (py3-none-any) with a CPython for Windows, under Wine. psutil reads
the tree, and a thread takes the samples. Wine returns the CPU time of the caller for that of another process, so the
CPU time of a command is not asserted."""

import json
import os

import pytest
from conftest import windows_path

WORK = """
import subprocess, sys, time
def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
CHILD = "import time\\nheld = bytearray(b'1') * (60 << 20)\\nwhile time.process_time() < 1: pass"
"""
TRACKED = WORK + """
from resource_tracker import ResourceTracker
tracker = ResourceTracker(interval=0.1, schema="0.5", job="nächtlich")
with tracker.phase("train"):
    burn(0.5)
    subprocess.run([sys.executable, "-c", CHILD], check=True)
tracker.wait_for_samples(4, timeout=60)
tracker.stop()
"""


@pytest.fixture
def python(pure_python, tmp_path):
    """run(text, **variables): stdout of a script."""
    return lambda text, **variables: pure_python.run(tmp_path, text, **variables)


def document(text):
    """The JSON that a script printed last."""
    return json.loads(text.splitlines()[-1])


def test_the_wheel_is_for_every_system_and_brings_psutil(pure_python):
    (metadata,) = pure_python.site.glob("*.dist-info/METADATA")
    assert 'Requires-Dist: psutil; sys_platform != "linux"' in metadata.read_text(encoding="utf-8")
    assert not (pure_python.site / "resource_tracker/native").exists()


def test_it_knows_its_system_wherever_it_is(python):
    """Wine shows /proc of Linux on its drive Z."""
    text = """
        import os
        from resource_tracker import _engine, _platform, server_info
        for folder in ("Z:\\\\", "C:\\\\"):
            os.chdir(folder)
            print(_platform.system(), _platform.is_procfs_available(), _platform.process_exists(os.getpid()),
                  _platform.process_exists(999999), _engine._core)
        info = server_info.get_server_info()
        print(info["os"], info["vcpus"] == os.cpu_count(), info["memory_mib"] > 100, info["gpu_count"])
        """
    assert python(text) == "windows False True False None\n" * 2 + "Windows True True None\n"


def test_a_tracker_tells_what_its_process_and_a_child_used(python):
    told = document(python(TRACKED + """
import json
rows = tracker.process_metrics
print(json.dumps({
    "own_s": time.process_time(), "totals": tracker.totals(), "stats": tracker.stats(), "children": max(rows["children"]),
    "memory": max(rows["memory_mib"]), "cpu": sum(rows["utime"]) + sum(rows["stime"]),
    "disk": [rows["disk_read_bytes"][-1], rows["disk_write_bytes"][-1]], "gpu": rows["gpu_usage"][-1],
    "machine": {name: tracker.system_metrics[name][-1] for name in tracker.system_metrics.columns},
    "phases": tracker.phases().to_dict(), "rows": tracker.n_samples, "shown": repr(tracker)}))
"""))
    totals = told["totals"]
    assert 1.2 <= totals["cpu_s"]["value"] <= told["own_s"] + 2 and totals["cpu_s"]["quality"] == "estimated"
    assert "short processes are missing" in totals["cpu_s"]["reason"]
    assert told["cpu"] == pytest.approx(totals["cpu_s"]["value"], abs=0.3)
    assert told["children"] == 1 and totals["peak_processes"]["value"] == 2
    assert 60 <= told["memory"] <= totals["peak_memory_mib"]["value"] + 0.01
    # Wine does not tell the private part of a working set.
    assert (totals["peak_memory_mib"]["quality"], totals["peak_memory_mib"]["source"]) == (
        "estimated", "sum of resident memory: shared pages count in each process")
    # What Windows does not tell is unknown, with a reason, and never 0.
    for name in ("disk_read_bytes", "disk_write_bytes"):
        assert totals[name]["value"] is None and totals[name]["quality"] == "unknown"
        assert "does not report" in totals[name]["reason"]
    assert told["disk"] == [None, None] and told["gpu"] is None
    machine = told["machine"]
    assert machine["processes"] > 1 and machine["memory_used_mib"] > 100 and machine["memory_free_mib"] > 100
    assert machine["memory_buffers_mib"] is None and machine["disk_space_total_gb"] > 1
    (phase,) = told["phases"]
    assert phase["phase"] == "train" and phase["duration"] >= 1.4
    assert told["stats"]["process_memory_mib"]["max"] == pytest.approx(told["memory"], abs=0.01)
    assert f"stopped, {told['rows']} samples" in told["shown"]


def test_advice_report_and_snapshots(python, tmp_path):
    told = document(python(TRACKED + """
import json, pathlib
try:
    tracker.recommend_server()
except LookupError as error:
    said = str(error)
tracker.report().save("Bericht ä.html")
tracker.dump("Übung.json.gz")
tracker.dump("plain.json")
loaded = ResourceTracker.load("Übung.json.gz")
same = [getattr(loaded, name).to_dict() == getattr(tracker, name).to_dict() for name in
        ("process_metrics", "system_metrics")]
again = ResourceTracker.loads(pathlib.Path("plain.json").read_text(encoding="utf-8"))
print(json.dumps({"request": tracker.recommend_resources(), "server": said, "same": same, "job": again.job,
                  "totals": again.totals() == tracker.totals(),
                  "implementation": tracker.snapshot()["metadata"]["resource_tracker"]["implementation"]}))
"""))
    assert told["request"]["cpu"] == 1 and told["request"]["memory"] >= 128 and told["request"]["gpu"] == 0
    assert told["server"] == "no server can be named: the C library is not in this package"
    assert told["same"] == [True, True] and told["totals"] is True
    assert told["job"] == "nächtlich" and told["implementation"] == "psutil"
    page = (tmp_path / "Bericht ä.html").read_bytes()
    assert b"\r" not in page and "Request for the next run" in page.decode() and "<svg" in page.decode()


def test_another_process_is_tracked_until_its_end(python):
    told = document(python(WORK + """
import json
from resource_tracker import ResourceTracker
child = subprocess.Popen([sys.executable, "-c", CHILD + "\\nimport sys; sys.stdin.read()"], stdin=subprocess.PIPE)
tracker = ResourceTracker(pid=child.pid, interval=0.1, track_system=False, schema="0.5")
while tracker.totals().get("cpu_s", {}).get("value", 0) < 0.8:
    time.sleep(0.1)
child.communicate(b"")
while tracker.running:
    time.sleep(0.1)
tracker.stop()
try:
    ResourceTracker(pid=999999)
except ProcessLookupError as error:
    missing = str(error)
print(json.dumps({"totals": tracker.totals(), "memory": tracker.process_metrics["memory_mib"], "missing": missing}))
"""))
    assert 0.8 <= told["totals"]["cpu_s"]["value"] <= 1.5
    assert max(told["memory"]) > 60 and 0 not in told["memory"]
    assert "999999" in told["missing"]


def test_readings_of_this_moment(python):
    told = document(python(WORK + """
import json, os
from resource_tracker import tracker_procfs, tracker_psutil
from resource_tracker.helpers import get_tracker_implementation, get_zfs_pools_space
child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
before = tracker_psutil.get_process_stats(os.getpid(), schema="0.5")
burn(0.3)
now = tracker_psutil.get_process_stats(os.getpid(), schema="0.5")
def refused(function, *arguments):
    try:
        return function(*arguments)
    except OSError as error:
        return str(error)
told = {
    "cpu": now["utime"] + now["stime"] - before["utime"] - before["stime"],
    "memory": now["memory_mib"], "disk": now["disk_read_bytes"], "children": now["children"],
    "own": child.pid in tracker_procfs.get_process_children(os.getpid()),
    "none": [sorted(tracker_procfs.get_process_children(999999)), tracker_procfs.get_process_rss(999999)],
    "rss": tracker_procfs.get_process_rss(os.getpid()),
    "refused": [refused(getattr(tracker_procfs, name), os.getpid()) for name in
                ("get_process_pss_rollup", "get_process_proc_times", "get_process_proc_io")],
    "machine": tracker_psutil.get_system_stats(schema="0.5")["memory_used_mib"],
    "module": get_tracker_implementation()[0].__module__, "zfs": get_zfs_pools_space()}
child.communicate(b"")
print(json.dumps(told))
"""))
    assert 0.2 <= told["cpu"] <= 1 and told["memory"] > 1 and told["disk"] is None and told["children"] >= 1
    assert told["own"] is True and told["none"] == [[], 0] and told["rss"] > 1000
    assert all("which this system does not have" in text for text in told["refused"])
    assert told["machine"] > 100 and told["module"] == "resource_tracker.tracker_psutil" and told["zfs"] == {}


def test_rows_of_csv(python, tmp_path):
    python(WORK + """
from resource_tracker import ProcessTracker, SystemTracker
child = subprocess.Popen([sys.executable, "-c", CHILD])
ProcessTracker(child.pid, interval=0.2, output_file="process.csv", schema="0.5")
tracker = SystemTracker(autostart=False, interval=0.1, schema="0.5")
row = tracker.diff_stats()
assert row["memory_used_mib"] > 100 and row["disk_space_total_gb"] > 1, row
""")
    rows = (tmp_path / "process.csv").read_bytes().split(b"\n")
    assert rows[0].startswith(b'"timestamp","pid","children","utime"') and len(rows) >= 4
    assert b"\r" not in rows[0]
    columns = rows[0].decode().split(",")
    memory, read = (columns.index(f'"{name}"') for name in ("memory_mib", "disk_read_bytes"))
    assert float(rows[2].split(b",")[memory]) > 1 and rows[2].split(b",")[read] == b'""'


def test_a_function_is_tracked(python, tmp_path):
    told = python(WORK + """
import asyncio
from resource_tracker import mark, track
@track(interval=0.05, report="page.html", on_end=lambda tracker: print("ended", tracker.exit_code))
def work():
    burn(0.3)
    return 5
@track(interval=0.05)
async def fails():
    raise ValueError("no")
print(work(), mark("outside of a run"))
try:
    asyncio.run(fails())
except ValueError:
    print(fails.tracker.exit_code, work.tracker.totals()["cpu_s"]["value"] > 0.2)
""")
    assert told == "ended 0\n5 False\n1 True\n"
    assert (tmp_path / "page.html").stat().st_size > 1000


def test_the_configuration_is_where_windows_has_it(python, tmp_path):
    """%APPDATA%\\resource-tracker\\config.toml, which the program reads as well."""
    config = tmp_path / "config" / "resource-tracker" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[python]\nschema = "0.5"\n')
    text = "from resource_tracker import default_schema\nprint(default_schema())"
    # Wine replaces the variable that it is started with.
    set_ = f"import os\nos.environ['APPDATA'] = {windows_path(tmp_path / 'config')!r}\n"
    assert python(set_ + text) == "0.5\n"
    assert python(set_ + text, XDG_CONFIG_HOME=windows_path(tmp_path)) == "0.4\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
def test_a_configuration_of_another_user_is_ignored(pure_python, tmp_path):
    """Wine takes the owner of a file from Linux: another uid is another user."""
    config = tmp_path / "resource-tracker" / "config.toml"
    config.parent.mkdir()
    config.write_text('[python]\nschema = "0.5"\n')
    os.chown(config, 65534, 65534)
    script = pure_python.script(tmp_path, "from resource_tracker import default_schema\nprint(default_schema())")
    done = pure_python.call(script, folder=tmp_path, XDG_CONFIG_HOME=windows_path(tmp_path))
    assert (done.rc, done.stdout) == (0, b"0.4\n")
    assert "it belongs to another user: the configuration is ignored" in done.stderr and done.stderr.count("\n") == 1


def test_no_program_of_the_working_directory_is_started(python, job_program, tmp_path):
    """CreateProcess would find nvidia-smi.exe there, and shutil.which() resource-tracker-program.exe."""
    for name in ("nvidia-smi.exe", "zpool.exe", "resource-tracker-program.exe"):
        (tmp_path / name).write_bytes(job_program.read_bytes())
    told = python("""
        from resource_tracker import _engine, helpers, nvidia, server_info
        print(nvidia.start_nvidia_smi(), server_info.get_gpu_info()["gpu_count"], repr(_engine.program()),
              helpers.get_zfs_pools_space())
        """)
    assert told == "None None '' {}\n"


def test_without_the_program_other_verbs_say_so(pure_python):
    done = pure_python.call("-m", "resource_tracker", "show")
    assert done.rc == 127 and done.stdout == b""
    assert done.stderr == ("resource-tracker: the program is not in this package, which tracks commands only: "
                           "python -m resource_tracker run -- CMD\n")


def test_a_command_is_run_and_its_snapshot_kept(pure_python, job_program, programs, tmp_path):
    """The native program imports the snapshot."""
    (tmp_path / "job.exe").write_bytes(job_program.read_bytes())
    done = pure_python.call("-m", "resource_tracker", "run", "-i", "0.1", "--job", "größe", "--", ".\\job.exe", "burn", "1500",
                            folder=tmp_path, RESOURCE_TRACKER_DIR=windows_path(tmp_path / "state"))
    (snapshot,) = (tmp_path / "state" / "snapshots").iterdir()
    assert (done.rc, done.stdout) == (0, b"")
    assert done.stderr == f"resource-tracker: kept in {windows_path(snapshot)}: resource-tracker import reads it\n"
    assert programs.native("import", snapshot).rc == 0
    (shown,) = [run for run in json.loads(programs.native("history", "--json").stdout)["runs"] if run["job"] == "größe"]
    assert shown["cpu_s"] > 0
