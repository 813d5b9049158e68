"""Tests ProcessTracker and SystemTracker, with CSV to a file and to stdout."""

import inspect
import os
import subprocess
import sys
import time

import pytest

from resource_tracker import ProcessTracker, SystemTracker
from resource_tracker.tiny_data_frame import TinyDataFrame
from resource_tracker.tracker import PidTracker

PROCESS = ("timestamp,pid,children,utime,stime,cpu_usage,memory,read_bytes,write_bytes,gpu_usage,"
           "gpu_vram,gpu_utilized").split(",")
SYSTEM = ("timestamp,processes,utime,stime,cpu_usage,memory_free,memory_used,memory_buffers,"
          "memory_cached,memory_active,memory_inactive,disk_read_bytes,disk_write_bytes,"
          "disk_space_total_gb,disk_space_used_gb,disk_space_free_gb,net_recv_bytes,"
          "net_sent_bytes,gpu_usage,gpu_vram,gpu_utilized").split(",")


def parameters(function):
    return {name: p.default for name, p in inspect.signature(function).parameters.items()}


def test_parameters():
    assert parameters(ProcessTracker) == {
        "pid": None, "start_time": None, "interval": 1, "children": True, "autostart": True,
        "output_file": None, "schema": None}
    assert parameters(SystemTracker) == {
        "start_time": None, "interval": 1, "autostart": True, "output_file": None,
        "schema": None}
    assert parameters(ProcessTracker.start_tracking) == {
        "self": inspect.Parameter.empty, "output_file": None, "print_header": True}


def test_a_process_to_a_file_until_its_end(tmp_path):
    path = tmp_path / "out.csv"
    child = subprocess.Popen([sys.executable, "-c",
                              "import time\nwhile time.process_time() < 0.5: pass"])
    reaper = subprocess.Popen(["sh", "-c", "exit 0"])
    tracker = ProcessTracker(pid=child.pid, interval=0.1, autostart=False)
    assert tracker.status == "running" and tracker.pid == child.pid and tracker() is None
    import threading

    threading.Thread(target=child.wait, daemon=True).start()
    tracker.start_tracking(str(path))
    reaper.wait()
    assert tracker.status == "exited"
    text = path.read_text(encoding="utf-8")
    assert text.splitlines()[0] == ",".join(f'"{name}"' for name in PROCESS)
    frame = TinyDataFrame(csv_file_path=str(path))
    assert frame.columns == PROCESS and len(frame) >= 2
    assert max(frame["cpu_usage"]) > 0.02 and max(frame["cpu_usage"]) < 1.5
    assert set(frame["pid"]) == {child.pid} and set(frame["children"]) == {0}
    assert "\r" not in text


def test_to_stdout_with_autostart(script):
    process = script.start("""
        from resource_tracker import ProcessTracker
        ProcessTracker(interval=0.05)
    """)
    lines = [process.stdout.readline() for _ in range(4)]
    process.terminate()
    process.communicate()
    assert lines[0].startswith('"timestamp","pid"')
    assert int(lines[1].split(",")[1]) == process.pid


def test_without_header(tmp_path, script):
    process = script.start("""
        from resource_tracker import SystemTracker
        SystemTracker(interval=0.05, autostart=False).start_tracking(print_header=False)
    """)
    line = process.stdout.readline()
    process.terminate()
    process.communicate()
    assert len(line.split(",")) == len(SYSTEM) and '"timestamp"' not in line


def test_rows_of_the_machine():
    tracker = SystemTracker(interval=1, autostart=False)
    time.sleep(0.1)
    row = tracker.diff_stats()
    assert list(row) == SYSTEM
    assert 0 <= row["cpu_usage"] <= os.cpu_count() * 1.5
    assert row["disk_space_total_gb"] >= row["disk_space_used_gb"] >= 0
    new = SystemTracker(autostart=False, schema="0.5").diff_stats()
    assert new["memory_used_mib"] * 1024 == pytest.approx(row["memory_used"], rel=0.2)
    assert new["disk_space_total_gb"] == pytest.approx(row["disk_space_total_gb"] * 2**30 / 1e9,
                                                       abs=0.02)


def test_rows_of_a_process():
    tracker = ProcessTracker(autostart=False)
    end = time.process_time() + 0.2
    while time.process_time() < end:
        pass
    row = tracker.diff_stats()
    assert list(row) == PROCESS and row["pid"] == os.getpid()
    assert 0.19 < row["utime"] + row["stime"] < 5
    assert ProcessTracker(autostart=False, children=False).diff_stats()["children"] is None
    assert "memory_mib" in ProcessTracker(autostart=False, schema="0.5").diff_stats()


def test_the_default_pid_is_that_of_the_caller_not_of_the_importer():
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(write, str(ProcessTracker(autostart=False).pid == os.getpid()).encode())
        os._exit(0)
    os.waitpid(pid, 0)
    os.close(write)
    assert os.read(read, 10) == b"True"
    os.close(read)


def test_old_start_time_gives_no_burst(tmp_path):
    path = tmp_path / "o.csv"
    child = subprocess.Popen(["sleep", "1"])
    import threading

    tracker = ProcessTracker(pid=child.pid, start_time=time.time() - 1000, interval=0.2,
                             autostart=False)
    threading.Thread(target=child.wait, daemon=True).start()
    tracker.start_tracking(str(path))
    assert len(path.read_text().splitlines()) <= 100  # not 5,000


@pytest.mark.parametrize("interval, error", [(0, ValueError), (-1, ValueError), (4000, ValueError),
                                             ("1", TypeError), (None, TypeError)])
def test_intervals_that_are_none(interval, error):
    with pytest.raises(error, match="interval must be"):
        ProcessTracker(interval=interval, autostart=False)
    with pytest.raises(error, match="interval must be"):
        SystemTracker(interval=interval, autostart=False)


def test_an_unwritable_file_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        ProcessTracker(output_file=str(tmp_path / "none" / "x.csv"))


def test_the_deprecated_name():
    with pytest.warns(DeprecationWarning, match="PidTracker is deprecated and will be removed in a "
                                                "future release. Please use ProcessTracker "
                                                "instead."):
        assert isinstance(PidTracker(autostart=False), ProcessTracker)


def test_rows_and_files_answer_to_the_names_of_the_other_version(tmp_path):
    job = subprocess.Popen(["sleep", "1"])
    path = tmp_path / "job.csv"
    ProcessTracker(pid=job.pid, interval=0.2, output_file=str(path))
    job.wait()
    frame = TinyDataFrame(csv_file_path=str(path))
    assert "memory" in frame.columns and "memory_mib" not in frame.columns
    assert frame["memory_mib"] == [value / 1024 for value in frame["memory"]]
    assert frame.head(1)["disk_read_bytes"] == frame.head(1)["read_bytes"]
    row = SystemTracker(autostart=False).diff_stats()
    assert "memory_used_mib" not in list(row) and "memory_used_mib" in row
    assert row["memory_used_mib"] == row["memory_used"] / 1024
    with pytest.raises(KeyError):
        row["nothing"]
    frame.to_csv(str(tmp_path / "more.csv"))
    assert TinyDataFrame(csv_file_path=str(tmp_path / "more.csv"))["memory_mib"]
    (tmp_path / "other.csv").write_text("memory\n5\n")
    with pytest.raises(KeyError):
        TinyDataFrame(csv_file_path=str(tmp_path / "other.csv"))["memory_mib"]
