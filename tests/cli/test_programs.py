"""Tests programs and processes in a recording, with jobs whose use is known."""
import collections
import csv
import io
import json
import os
import signal
import struct
import time

import pytest

SIGNATURE, FRAME, PROGRAMS, ROW = 8, 14, 16, 2
BUDGET, START, LAST = 60, 4096, 32768  # recording/program_record.h


def rows(rt, what, *args):
    done = rt.run("export", "--what", what, *args)
    assert done.rc == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout)))


def by_program(lines, column):
    total = collections.Counter()
    for line in lines:
        total[line["program"]] += float(line[column] or 0)
    return total


def sizes(rt):
    """Bytes and number of the records of each type."""
    (path,) = (rt.state / "runs").glob("*.rtrk")
    data, at, found = path.read_bytes(), SIGNATURE, collections.Counter()
    while at < len(data):
        (length,) = struct.unpack("<I", data[at + 6:at + 10])
        found[data[at + 4]] += length + FRAME
        found[data[at + 4], "count"] += 1
        at += length + FRAME
    return found


@pytest.fixture
def named(burn, tmp_path):
    """The program `burn` under names of its own."""
    def make(name):
        (tmp_path / name).symlink_to(burn)
        return tmp_path / name
    return make


@pytest.mark.native  # its lines of src are those of other tests
def test_each_program_has_the_cpu_time_that_it_used(rt, named):
    one, two = named("one"), named("two")
    done = rt.track("sh", "-c", f"{one} 0.4; {two} 1.2 & {two} 0.8 & wait")
    used = by_program(rows(rt, "programs"), "cpu_s")
    # What is used after the last look is the parent's "short processes": none here is so short.
    assert used["one"] == pytest.approx(0.4, abs=0.15)
    assert used["two"] == pytest.approx(2.0, abs=0.3)
    assert sum(used.values()) == pytest.approx(done.summary["totals"]["cpu_s"]["value"], abs=0.02)


def test_the_processes_have_their_start_their_end_and_their_use(rt, named):
    rt.track("sh", "-c", f"{named('first')} 0.6; {named('second')} 1.4")
    found = {line["program"]: line for line in rows(rt, "processes")}
    first, second = found["first"], found["second"]
    assert first["ended"] == second["ended"] == "1"
    assert float(first["cpu_s"]) == pytest.approx(0.6, abs=0.2)
    assert float(second["cpu_s"]) == pytest.approx(1.4, abs=0.3)
    assert float(first["start_s"]) < float(first["end_s"])
    assert float(second["start_s"]) > float(first["start_s"]) + 0.5
    assert second["command"].endswith("second 1.4")


def test_memory_belongs_to_the_program_that_holds_it(rt, tmp_path):
    script = tmp_path / "hold.py"
    script.write_text("import time\nx = bytearray(b'x') * (200 << 20)\ntime.sleep(1.5)\n")
    rt.track("sh", "-c", f"/usr/bin/python3 {script} & sleep 2; wait")
    every = rows(rt, "programs")
    unknown = {line["elapsed_s"] for line in every if not line["memory_mib"]}
    lines = [line for line in every if line["elapsed_s"] not in unknown]
    largest = max(float(line["memory_mib"]) for line in lines if line["program"] == "hold.py")
    assert 195 < largest < 260
    assert max(float(line["memory_mib"]) for line in lines if line["program"] == "sleep") < 10
    # In each row the programs add up to the job.
    total, sample = collections.Counter(), {}
    for line in lines:
        total[line["elapsed_s"]] += float(line["memory_mib"])
    for line in rows(rt, "samples"):
        sample[f"{float(line['elapsed_s']):.3f}"] = line["process_memory_mib"]
    compared = [(total[at], float(value)) for at, value in sample.items() if value and at in total]
    assert compared
    for programs, job in compared:
        assert programs == pytest.approx(job, rel=0.02, abs=1)


@pytest.mark.native  # its lines of src are those of other tests
def test_workers_are_apart_from_the_program_that_forked_them(rt, tmp_path):
    script = tmp_path / "pool.py"
    script.write_text(
        "import os, time\n"
        "def spin(s):\n    end = time.process_time() + s\n    while time.process_time() < end: pass\n"
        "for _ in range(2):\n    if os.fork() == 0:\n        spin(1.5); os._exit(0)\n"
        "os.wait(); os.wait()\n")
    rt.track("/usr/bin/python3", str(script))
    used = by_program(rows(rt, "programs"), "cpu_s")
    assert used["pool.py worker"] > 2
    assert used["pool.py"] < 0.8
    workers = [line for line in rows(rt, "processes") if line["program"] == "pool.py worker"]
    assert len(workers) == 2


def test_short_processes_are_counted_for_their_parent(rt, burn):
    """200 that live a few ms each: most are seen by nobody."""
    done = rt.track("bash", "-c", f"for i in {{1..200}}; do {burn} 0.005; done")
    used = by_program(rows(rt, "programs"), "cpu_s")
    short = sum(value for name, value in used.items() if name != "bash -c")
    assert short > 0.8
    assert used["short processes of bash -c"] > 0.2  # more where looks are fewer
    # One that was seen by chance is not charged with what its siblings used.
    seen = [line for line in rows(rt, "processes") if line["program"] == "burn"]
    assert all(float(line["cpu_s"]) < 0.05 for line in seen), seen
    assert sum(used.values()) == pytest.approx(done.summary["totals"]["cpu_s"]["value"], abs=0.02)


def test_a_killed_tracker_leaves_what_was_seen(rt, named):
    with rt.start("run", "--no-discovery", "-q", "--", "sh", "-c",
                  f"{named('early')} 0.7; {named('late')} 60") as tracker:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            done = rt.run("export", "--what", "processes")
            if any(line.startswith('"late"') for line in done.stdout.splitlines()):
                break
            time.sleep(0.1)
        os.kill(tracker.pid, signal.SIGKILL)
        tracker.wait()
        found = {line["program"]: line for line in rows(rt, "processes")}
    assert found["early"]["ended"] == "1"
    assert found["late"]["ended"] == "0" and found["late"]["end_s"] == ""
    assert by_program(rows(rt, "programs"), "cpu_s")["late"] > 0.02


def test_the_recording_grows_by_no_more_than_its_budget(rt, named):
    """Programs come and go in each of many ticks."""
    names = " ".join(str(named(f"n{i}")) for i in range(12))
    rt.track("bash", "-c", f"for k in 1 2 3; do for p in {names}; do $p 0.02 & done; wait; done",
             flags=("-i", "20ms"))
    found = sizes(rt)
    assert found[PROGRAMS] > 0
    assert found[PROGRAMS] <= START + BUDGET * found[ROW, "count"] + LAST


def test_an_idle_job_adds_next_to_nothing(rt):
    rt.track("sleep", "3", flags=("-i", "50ms"))
    found = sizes(rt)
    assert found[ROW, "count"] > 10
    assert found[PROGRAMS] <= 10 * found[ROW, "count"] + 400


def test_json_lines_hold_the_same(rt, named):
    rt.track(str(named("one")), "0.3")
    done = rt.run("export", "--what", "processes", "--format", "jsonl")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["program"] for line in lines] == [line["program"] for line in rows(rt, "processes")]
    done = rt.run("export", "--what", "programs", "--format", "jsonl")
    assert {json.loads(line)["program"] for line in done.stdout.splitlines()} == {
        line["program"] for line in rows(rt, "programs")}


def test_nothing_is_told_where_nothing_was_recorded(rt):
    rt.run("system", "--no-discovery", "--duration", "1s", "-q")
    done = rt.run("export", "--what", "programs")
    assert done.rc == 0 and "has no programs" in done.stderr
    assert rt.run("export", "--what", "people").rc == 2
    assert rt.run("export", "--what", "programs", "--format", "snapshot").rc == 2


def test_secrets_stay_out_of_the_command_lines(rt, named):
    rt.track(str(named("one")), "--password", "hunter2", "1.3")
    done = rt.run("export", "--what", "processes")
    assert "hunter2" not in done.stdout and "--password" in done.stdout
