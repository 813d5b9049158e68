"""Tests get_process_stats and get_system_stats of both modules."""

import os
import subprocess
import sys
import threading
import time

import pytest

from resource_tracker import tracker_procfs, tracker_psutil

MODULES = [tracker_procfs, tracker_psutil]
OLD = ["timestamp", "pid", "children", "utime", "stime", "memory", "read_bytes", "write_bytes",
       "gpu_usage", "gpu_vram", "gpu_utilized", "gpu_utilized_indexes"]
NEW = ["timestamp", "pid", "children", "utime", "stime", "memory_mib", "disk_read_bytes",
       "disk_write_bytes", "gpu_usage", "gpu_vram_mib", "gpu_utilized", "gpu_utilized_indexes"]


@pytest.fixture
def family():
    """A shell with two children that sleep; its pid."""
    process = subprocess.Popen(["sh", "-c", "sleep 60 & sleep 60 & echo ready; wait"],
                               stdout=subprocess.PIPE, start_new_session=True)
    process.stdout.readline()
    names = []
    while names != ["sleep", "sleep"]:  # until they are what they shall be
        names = []
        for pid in tracker_procfs.get_process_children(process.pid):
            with open(f"/proc/{pid}/comm") as file:
                names.append(file.read().strip())
    yield process
    os.killpg(process.pid, 9)
    process.wait()


@pytest.mark.parametrize("module", MODULES)
def test_keys_and_units(module):
    old = module.get_process_stats(os.getpid())
    new = module.get_process_stats(os.getpid(), True, schema="0.5")
    assert list(old) == OLD and list(new) == NEW
    assert old["timestamp"] == pytest.approx(time.time(), abs=60)
    assert old["memory"] == pytest.approx(new["memory_mib"] * 1024, rel=0.2)
    assert isinstance(old["memory"], int) and isinstance(new["memory_mib"], float)
    times = os.times()
    assert old["utime"] + old["stime"] == pytest.approx(
        times.user + times.system + times.children_user + times.children_system, abs=1)


def test_each_answers_to_the_others_names():
    old = tracker_procfs.get_process_stats(os.getpid())
    assert old["memory_mib"] == old["memory"] / 1024
    assert old["disk_read_bytes"] == old["read_bytes"]
    new = tracker_procfs.get_system_stats(schema="0.5")
    assert new["memory_used"] == pytest.approx(new["memory_used_mib"] * 1024)
    with pytest.raises(KeyError):
        new["nothing"]


@pytest.mark.parametrize("module", MODULES)
def test_children_count_or_not(module, family):
    tree = module.get_process_stats(family.pid)
    alone = module.get_process_stats(family.pid, children=False)
    assert tree["children"] == 2 and alone["children"] is None
    assert tree["memory"] > alone["memory"] > 0


def test_totals_hold_what_was_used_before_and_never_step_back():
    burn = "import time\nwhile time.process_time() < 0.3: pass\nprint('done', flush=True)\nwhile 1: time.sleep(1)"
    process = subprocess.Popen([sys.executable, "-c", burn], stdout=subprocess.PIPE)
    try:
        process.stdout.readline()
        first = tracker_procfs.get_process_stats(process.pid)
        again = tracker_procfs.get_process_stats(process.pid)
    finally:
        process.kill()
        process.wait()
    assert 0.29 <= first["utime"] + first["stime"] < 30
    assert again["utime"] >= first["utime"] and again["stime"] >= first["stime"]


def test_children_of_a_thread_are_seen():
    children = []

    def spawn():
        children.append(subprocess.Popen([sys.executable, "-c",
                                          "x = bytearray(64 << 20)\nprint(1, flush=True)\n"
                                          "import time\ntime.sleep(60)"],
                                         stdout=subprocess.PIPE))
        children[0].stdout.readline()

    thread = threading.Thread(target=spawn)
    before = tracker_procfs.get_process_stats(os.getpid(), schema="0.5")
    thread.start()
    thread.join()
    try:
        after = tracker_procfs.get_process_stats(os.getpid(), schema="0.5")
    finally:
        children[0].kill()
        children[0].wait()
    assert after["children"] == before["children"] + 1
    assert after["memory_mib"] > before["memory_mib"] + 60


def test_a_process_that_is_gone():
    process = subprocess.Popen(["true"])
    process.wait()
    stats = tracker_procfs.get_process_stats(process.pid)
    assert list(stats) == OLD
    assert [stats[k] for k in ("utime", "stime", "memory", "read_bytes", "gpu_usage")] == [0] * 5
    try:
        from psutil import NoSuchProcess as error
    except ImportError:
        error = ProcessLookupError
    with pytest.raises(error):
        tracker_psutil.get_process_stats(process.pid)


def test_a_pid_that_none_can_have_is_of_a_process_that_is_gone():
    for pid in (-1, 0, 1 << 40):
        stats = tracker_procfs.get_process_stats(pid)
        assert stats["pid"] == pid and stats["memory"] == stats["utime"] == 0


def test_a_process_that_ends_between_two_calls(burner):
    child = subprocess.Popen(["sleep", "60"])
    assert tracker_procfs.get_process_stats(child.pid)["memory"] > 0
    child.kill()
    child.wait()
    assert tracker_procfs.get_process_stats(child.pid)["memory"] == 0


def test_after_a_fork_the_child_reads_its_own():
    tracker_procfs.get_process_stats(os.getpid())
    tracker_procfs.get_system_stats()
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        stats = tracker_procfs.get_process_stats(os.getpid(), children=False)
        machine = tracker_procfs.get_system_stats()
        os.write(write, f"{stats['pid'] == os.getpid()} {stats['memory'] > 0} "
                        f"{machine['processes'] > 0}".encode())
        os._exit(0)
    os.close(write)
    os.waitpid(pid, 0)
    assert os.read(read, 100) == b"True True True"
    os.close(read)


@pytest.mark.parametrize("module", MODULES)
def test_the_machine(module):
    stats = module.get_system_stats()
    assert list(stats) == [
        "timestamp", "processes", "utime", "stime", "memory_free", "memory_used",
        "memory_buffers", "memory_cached", "memory_active", "memory_inactive", "disk_stats",
        "disk_spaces", "net_recv_bytes", "net_sent_bytes", "gpu_usage", "gpu_vram",
        "gpu_utilized"]
    total_kib = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1024
    assert 0 < stats["memory_free"] + stats["memory_used"] <= total_kib
    assert stats["processes"] > 1 and stats["utime"] > 0
    for disk in stats["disk_stats"].values():
        assert set(disk) == {"read_bytes", "write_bytes"}
    for space in stats["disk_spaces"].values():
        assert space["used"] + space["free"] == space["total"]
    new = module.get_system_stats(schema="0.5")
    assert new["memory_used_mib"] == pytest.approx(stats["memory_used"] / 1024, rel=0.2)


def test_space_is_what_df_says():
    spaces = tracker_procfs.get_system_stats()["disk_spaces"]
    for point, space in spaces.items():
        out = subprocess.run(["df", "-B1", "--output=size", point], capture_output=True,
                             text=True, check=True).stdout
        assert space["total"] == int(out.split()[1])


def test_single_figures(family):
    children = tracker_procfs.get_process_children(family.pid)
    assert len(children) == 2
    assert tracker_procfs.get_process_rss(family.pid) > 100
    assert 0 < tracker_procfs.get_process_pss_rollup(family.pid) <= (
        tracker_procfs.get_process_rss(family.pid) + 100)
    assert set(tracker_procfs.get_process_proc_times(os.getpid())) == {"utime", "stime"}
    assert set(tracker_procfs.get_process_proc_io(os.getpid())) == {"read_bytes", "write_bytes"}
    gone = 2**22 - 3
    assert tracker_procfs.get_process_rss(gone) == 0
    assert tracker_procfs.get_process_pss_rollup(gone) == 0
    assert tracker_procfs.get_process_proc_times(gone) == {"utime": 0, "stime": 0}
    assert tracker_procfs.get_process_proc_io(gone) == {"read_bytes": 0, "write_bytes": 0}
    assert all(size >= 512 for size in tracker_procfs.get_sector_sizes().values())


def test_plain_python_gives_the_same(family):
    """The fallback's figures are the library's."""
    from resource_tracker import _core, _pure

    ours, plain = _core.Counters(pid=family.pid).process(), _pure.Counters(family.pid).process()
    assert plain[5] == ours[5] == 3
    assert plain[0] + plain[1] == pytest.approx(ours[0] + ours[1], abs=0.1)
    assert plain[2] == pytest.approx(ours[2], rel=0.3)
    assert plain[3:5] == pytest.approx(ours[3:5], abs=1 << 20)
    ours, plain = _core.Counters().machine(False), _pure.Counters().machine(False)
    assert plain[0] == pytest.approx(ours[0], abs=10)
    for i in range(1, 9):
        assert plain[i] == pytest.approx(ours[i], rel=0.1, abs=50)
    assert {name: set(disk) for name, disk in plain[9].items()} == {
        name: set(disk) for name, disk in ours[9].items()}
    assert {point: space["total"] for point, space in plain[10].items()} == {
        point: space["total"] for point, space in ours[10].items()}
    in_kib = _core.Counters().machine(True)[3:9], _pure.Counters().machine(True)[3:9]
    for kib, other, mib in zip(*in_kib, ours[3:9]):
        assert isinstance(kib, int) and isinstance(other, int)
        assert kib == pytest.approx(mib * 1024, rel=0.1, abs=50 << 10)
