"""Tests that programs and processes of a recording in Python are equal to the rows of `resource-tracker export`."""

import csv
import io
import subprocess
import sys

import pytest

from resource_tracker import ResourceTracker
from resource_tracker.recording import processes, programs


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    folder = tmp_path_factory.mktemp("state")
    program = [sys.executable, "-m", "resource_tracker"]
    subprocess.run(
        program + ["run", "--recording", str(folder), "-q", "-i", "0.1", "--no-discovery", "--", "sh", "-c",
                   # Both live for many samples, however fast sort is.
                   "(head -c 60000000 /dev/zero; sleep 1.3) | sort -S 1M | tail -c 1"],
        check=True, stdout=subprocess.DEVNULL)
    (found,) = (folder / "runs").iterdir()
    return str(found)


def exported(path, what):
    text = subprocess.run([sys.executable, "-m", "resource_tracker", "export", "--what", what, path],
                          stdout=subprocess.PIPE, check=True, universal_newlines=True).stdout
    return list(csv.DictReader(io.StringIO(text)))


def same(frame, rows, texts):
    assert len(frame) == len(rows) > 0
    for at, row in enumerate(rows):
        assert frame.columns == list(row)
        for name, cell in row.items():
            value = frame[name][at]
            if cell == "":
                assert value is None, (at, name)
            elif name in texts:
                assert value == cell, (at, name)
            else:
                assert float(value) == pytest.approx(float(cell), abs=0.00051), (at, name)


def test_programs_are_the_rows_of_export(recording):
    frame = programs(recording)
    same(frame, exported(recording, "programs"), {"program"})
    assert "sort" in frame["program"]


def test_processes_are_the_rows_of_export(recording):
    frame = processes(recording)
    same(frame, exported(recording, "processes"), {"program", "command"})
    assert {"sleep", "sort"} <= set(frame["program"])


def test_a_tracker_gives_its_own():
    with ResourceTracker(interval=0.1) as tracker:
        subprocess.run(["sleep", "1.2"], check=True)
    assert tracker.programs.columns[:4] == ["timestamp", "elapsed_s", "interval_s", "program"]
    assert sum(tracker.programs["cpu_s"]) >= 0
    assert "sleep" in tracker.processes["program"]


def test_the_module_is_there_after_a_plain_import(recording):
    code = "import resource_tracker, sys; print(len(resource_tracker.recording.programs(sys.argv[1])))"
    done = subprocess.run([sys.executable, "-c", code, recording], stdout=subprocess.PIPE, check=True)
    assert int(done.stdout) == len(programs(recording)) > 0


@pytest.mark.parametrize("read", [programs, processes])
def test_an_error_names_the_file(read, tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        read(tmp_path / "gone")
    assert str(caught.value).endswith(f"{str(tmp_path / 'gone')!r}")
    (tmp_path / "text").write_text("no recording")
    with pytest.raises(RuntimeError, match=f"^{tmp_path}/text: not a resource-tracker recording"):
        read(str(tmp_path / "text"))
