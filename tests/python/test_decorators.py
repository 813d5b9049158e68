"""Tests @track, mark(), the Jupyter extension, and the pytest plugin."""

import asyncio
import inspect
import subprocess
import sys
import textwrap
import time

import pytest

from resource_tracker import mark, track


def burn(seconds=0.1):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def cpu_of(function):
    return function.tracker.totals()["cpu_s"]["value"]


def test_a_function():
    @track
    def work(a, b=2):
        """Doc."""
        burn()
        return a + b

    assert work.tracker is None and work.__name__ == "work" and work.__doc__ == "Doc."
    assert work(1) == 3
    assert not work.tracker.running and work.tracker.run_status == "finished"
    assert 0.09 < cpu_of(work) < 5
    first = work.tracker
    assert work(1, b=5) == 6 and work.tracker is not first


def test_options_reports_and_ends(tmp_path):
    ends = []

    @track(interval=0.05, schema="0.5", label="mine", report=str(tmp_path / "r.html"),
           on_end=ends.append)
    def work():
        burn(0.2)

    work()
    assert ends == [work.tracker]
    assert work.tracker.interval == 0.05 and work.tracker.job == "mine"
    assert "memory_mib" in work.tracker.process_metrics.columns
    assert (tmp_path / "r.html").read_text().lower().startswith("<!doctype html>")


def test_options_that_the_decorator_sets_itself():
    @track(job="named", autostart=True)
    def work():
        return 1

    assert work() == 1 and work.tracker.job == "named"


def test_an_exception_passes_through(tmp_path):
    @track(report=str(tmp_path / "none" / "r.html"))
    def work():
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        work()
    assert work.tracker.run_status == "failed" and work.tracker.exit_code == 1


@pytest.mark.parametrize("error, code", [(SystemExit(3), 3), (SystemExit(), 0), (KeyboardInterrupt(), 130)])
def test_the_exit_code_of_a_function_that_ends_the_program(error, code):
    @track
    def work():
        raise error

    with pytest.raises(type(error)):
        work()
    assert work.tracker.exit_code == code
    assert work.tracker.run_status == ("failed" if code else "finished")


def test_a_coroutine():
    @track
    async def work(n):
        await asyncio.sleep(0.01)
        burn()
        return n

    assert inspect.iscoroutinefunction(work)
    assert asyncio.run(work(5)) == 5
    assert cpu_of(work) > 0.09


def test_a_generator():
    @track
    def work(n):
        got = []
        for i in range(n):
            burn(0.03)
            got.append((yield i))
        return got

    assert inspect.isgeneratorfunction(work)
    assert list(work(3)) == [0, 1, 2]
    assert cpu_of(work) > 0.08
    generator = work(2)
    next(generator)
    generator.send("x")
    with pytest.raises(StopIteration) as end:
        generator.send("y")
    assert end.value.value == ["x", "y"]
    generator = work(5)
    next(generator)
    generator.close()
    assert work.tracker.run_status == "finished"


def test_an_async_generator():
    closed = []

    @track
    async def work(n):
        try:
            for i in range(n):
                burn(0.03)
                try:
                    yield i
                except KeyError:
                    yield "caught"
        finally:
            closed.append(True)

    async def consume():
        assert [x async for x in work(3)] == [0, 1, 2]
        generator = work(3)
        assert await generator.asend(None) == 0
        assert await generator.athrow(KeyError()) == "caught"
        await generator.aclose()

    assert inspect.isasyncgenfunction(work)
    asyncio.run(consume())
    assert closed == [True, True] and not work.tracker.running


def test_calls_at_once_have_a_tracker_each():
    seen = []

    @track(on_end=seen.append, interval=0.05)
    async def work():
        await asyncio.sleep(0.1)

    async def all_of_them():
        await asyncio.gather(work(), work(), work())

    asyncio.run(all_of_them())
    assert len(set(map(id, seen))) == 3


def test_a_tracker_that_cannot_start_does_not_stop_the_work(caplog):
    @track(pid=2**22 - 3)
    def work():
        return 7

    assert work() == 7 and work.tracker is None
    assert "is not tracked" in caplog.text


def test_what_is_no_function():
    with pytest.raises(TypeError, match="@track needs a function, got int"):
        track(5)


def test_mark_in_and_outside_of_a_run(tmp_path, monkeypatch):
    assert mark("x") is False
    from resource_tracker import _engine

    out = subprocess.run(
        [_engine.program(), "run", "--quiet", "--recording", tmp_path, "--", sys.executable, "-c",
         "from resource_tracker import mark; print(mark('half'))"],
        capture_output=True, text=True, timeout=120, check=True)
    assert out.stdout == "True\n"
    recording = _engine._core.Recording(str(next((tmp_path / "runs").glob("*.rtrk"))))
    assert [name for name, _ in recording.marks()] == ["half"]


# ---- Jupyter ----

@pytest.fixture
def shell():
    interactive = pytest.importorskip("IPython.core.interactiveshell")
    shell = interactive.InteractiveShell.instance()
    shell.run_line_magic("load_ext", "resource_tracker")
    yield shell
    shell.run_line_magic("track_resources", "off")
    interactive.InteractiveShell.clear_instance()


def test_a_cell(shell, capsys):
    shell.run_cell_magic("track_resources", "--interval 0.05 --label mine",
                         "import time\nx = bytearray(50 << 20)\ny = 6 * 7\ntime.sleep(0.3)")
    out = capsys.readouterr().out
    assert shell.user_ns["y"] == 42
    assert "mine" in out and "peak_mib" in out
    row = dict(zip(*[[cell.strip() for cell in line.split("|")]
                     for line in out.splitlines() if "|" in line]))
    assert 45 < float(row["retained_mib"]) < 60 and 0.3 <= float(row["seconds"]) < 30
    with pytest.raises(ValueError, match="unknown option '--colour'"):
        from resource_tracker.ipython import track_cell

        track_cell(shell, "--colour red", "1")


def test_a_cell_that_fails_is_no_success(shell):
    with pytest.raises(ZeroDivisionError):
        shell.run_cell_magic("track_resources", "", "1 / 0")
    tracker = shell.user_ns["_resources"]
    assert (tracker.exit_code, tracker.run_status) == (1, "failed")


def test_every_cell(shell, capsys):
    shell.run_line_magic("track_resources", "on")
    shell.run_cell("z = sum(range(100000))")
    shell.run_cell("import time; time.sleep(0.05)")
    frame = shell.run_line_magic("track_resources", "table")
    assert len(frame) == 2 and frame["cpu_s"][0] is not None
    assert all(seconds > 0 for seconds in frame["seconds"])
    shell.run_line_magic("track_resources", "off")
    shell.run_cell("z += 1")
    assert len(shell.run_line_magic("track_resources", "table")) == 0


# ---- pytest ----

SUITE = """
    import pytest, time

    def test_small():
        time.sleep(0.1)

    def test_large():
        x = bytearray(60 << 20)
        time.sleep(0.3)

    @pytest.mark.max_memory("20 MiB")
    def test_too_large():
        x = bytearray(60 << 20)
        time.sleep(0.3)

    @pytest.mark.max_memory("200 MB")
    def test_large_enough():
        x = bytearray(60 << 20)
        time.sleep(0.3)
"""


def run_pytest(folder, *arguments):
    (folder / "test_suite.py").write_text(textwrap.dedent(SUITE))
    return subprocess.run([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments,
                           "test_suite.py"],
                          cwd=folder, capture_output=True, text=True, timeout=120, check=False)


def test_the_plugin_fails_what_uses_too_much(tmp_path):
    out = run_pytest(tmp_path).stdout
    assert "1 failed, 3 passed" in out
    assert "more than 20 MiB" in out and "heaviest" not in out


def test_the_plugin_lists_the_heaviest(tmp_path):
    import json

    done = run_pytest(tmp_path, "--track-resources", "--track-resources-json", "out.json")
    assert "resources: heaviest tests" in done.stdout
    rows = {row["test"].split("::")[1]: row for row in json.loads(
        (tmp_path / "out.json").read_text())}
    assert set(rows) == {"test_small", "test_large", "test_too_large", "test_large_enough"}
    assert rows["test_large"]["added_mib"] > 55 > rows["test_small"]["added_mib"]


@pytest.mark.parametrize("text, mib", [("500 MiB", 500), ("1GiB", 1024), ("1048576", 1),
                                       ("1.5 MB", 1.5e6 / 2**20), (2**20, 1)])
def test_sizes(text, mib):
    from resource_tracker.pytest_plugin import parse_size

    assert parse_size(text) == pytest.approx(mib)
    with pytest.raises(ValueError):
        parse_size("5 parsecs")
