"""Tests lines(): the package and the command agree; decorators and magics accept the option."""

import json
import os
import subprocess
import time

import pytest

from resource_tracker import ResourceTracker, track
from resource_tracker import _engine
from resource_tracker._lines import _file_name, option, table

pytestmark = pytest.mark.skipif(_engine._core is None, reason="needs the library")


def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def sampled(tracker):
    """Burn until stacks are in the recording; what the machine gives decides when."""
    for _ in range(60):
        burn(0.5)
        if len(tracker.lines()):
            return
    raise AssertionError("no stack was sampled")


def functions(tracker):
    return {row["function"]: row for row in map(dict, rows(tracker.lines("function")))}


def rows(frame):
    return [frame[i] for i in range(len(frame))]


def test_lines_name_the_function_that_ran():
    with ResourceTracker(interval=0.2, lines=200) as tracker:
        sampled(tracker)
    found = functions(tracker)
    assert found["burn"]["cpu_s"] > 0
    assert found["burn"]["file"] == __file__
    assert found["sampled"]["cpu_with_callees_s"] >= found["burn"]["cpu_s"] * 0.5
    best = tracker.lines()[0]
    assert best["line"] > 0 and 0 < best["cpu_share"] <= 1
    tracker.cleanup()


def test_package_and_command_agree():
    with ResourceTracker(interval=0.2, lines=200) as tracker:
        sampled(tracker)
    path = tracker._tracker.recording
    for by in ("line", "function", "file", "thread", "process", "phase"):
        done = subprocess.run([_engine.program() or "resource-tracker", "lines", "--json", "--by", by,
                               "--top", "100000", path], capture_output=True, text=True, check=True)
        theirs, ours = json.loads(done.stdout)["rows"], rows(tracker.lines(by))
        assert len(theirs) == len(ours) > 0
        assert list(ours[0]) == table(None, by).columns
        for a, b in zip(theirs, ours):
            assert (a["cpu_s"], a["wall_s"], a["growth_mib"], a["samples"]) == (
                b["cpu_s"], b["wall_s"], b["growth_mib"], b["samples"])
            assert a.get("function") == b.get("function") and a.get("pid") == b.get("pid")
    late = tracker.lines(since=1e6)
    assert len(late) == 0
    tracker.cleanup()


def test_a_tracked_function_has_lines():
    @track(interval=0.2, lines=200)
    def work():
        burn(1)

    for _ in range(20):  # a busy machine may leave no time for a look
        work()
        if len(work.tracker.lines()):
            break
    assert {"work", "burn"} & set(functions(work.tracker))


CLOSED = """
    import ctypes, os, time
    if os.geteuid() == 0:
        os.setgroups([])
        os.setuid(65534)
    ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE: no other process of this user may read it
    from resource_tracker import ResourceTracker

    def burn():
        end = time.process_time() + 0.5
        while time.process_time() < end:
            pass

    with ResourceTracker(interval=0.2{lines}) as tracker:
        for _ in range({bursts}):
            burn()
            if len(tracker.lines()):
                break
    print([row["function"] for row in tracker.lines("function").to_dict()])
"""


@pytest.mark.parametrize("asked, environment", [(", lines=200", {}), ("", {"TRACKER_LINES": "200"})])
def test_a_process_that_no_other_may_read_samples_its_own_lines(script, tmp_path, asked, environment):
    out = script.output(CLOSED.format(lines=asked, bursts=60), env={**os.environ, "HOME": "/nowhere", **environment})
    assert "'burn'" in out


def test_without_a_program_a_thread_samples_lines(monkeypatch):
    monkeypatch.setenv("RESOURCE_TRACKER_BIN", "/nowhere/program")
    with ResourceTracker(interval=0.2, lines=200) as tracker:
        sampled(tracker)
    assert "burn" in functions(tracker)


def test_lines_that_are_not_asked_for_start_no_thread(script):
    out = script.output(CLOSED.format(lines="", bursts=3), env={**os.environ, "HOME": "/nowhere"})
    assert out.startswith("[]")


def test_without_the_option_there_are_none():
    with ResourceTracker(interval=0.2, lines=False) as tracker:
        burn(0.3)
    for by in ("line", "function", "file", "thread", "process", "phase"):
        assert len(tracker.lines(by)) == 0
    assert len(tracker.lines()[["file", "line", "cpu_s"]]) == 0  # the columns are there
    assert tracker.lines("process").columns[:3] == ["process", "pid", "cpu_s"]
    tracker.cleanup()


@pytest.mark.parametrize("wrong", [0, -1, 1e9, float("nan"), "often", [1]])
def test_refuses_a_rate_that_is_none(wrong):
    with pytest.raises(ValueError, match="lines must be"):
        ResourceTracker(autostart=False, lines=wrong)


def test_refuses_a_table_that_there_is_not():
    with ResourceTracker(interval=0.2) as tracker:
        with pytest.raises(ValueError, match="by must be"):
            tracker.lines("column")
    tracker.cleanup()


def test_words_of_the_option():
    assert option(None) == []
    assert option(True) == [b"--lines=auto"] and option(False) == [b"--lines=off"]
    assert option(50) == [b"--lines=50"] and option(0.5) == [b"--lines=0.5"]


def test_cells_have_their_numbers():
    assert _file_name("<ipython-input-3-0a1b2c>", {}) == "In [3]"
    assert _file_name("/tmp/ipykernel_7/1.py", {"/tmp/ipykernel_7/1.py": 12}) == "In [12]"
    assert _file_name("/home/u/a.py", {}) == "/home/u/a.py"
    assert _file_name(None, {}) is None


def test_the_magic_takes_lines():
    shell_module = pytest.importorskip("IPython.core.interactiveshell")
    shell = shell_module.InteractiveShell.instance()
    shell.run_line_magic("load_ext", "resource_tracker")
    cell = ("import time\nend = time.process_time() + 1.5\n"
            "while time.process_time() < end:\n    pass\n")
    for _ in range(20):
        shell.run_cell_magic("track_resources", "--lines --interval 0.2", cell)
        found = rows(shell.user_ns["_resources"].lines())
        if found:
            break
    assert any((row["file"] or "").startswith("In [") for row in found), found
    shell_module.InteractiveShell.clear_instance()
