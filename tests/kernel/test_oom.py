"""Tests which jobs are reported as killed by the kernel because they ran out of memory."""

import pytest


@pytest.mark.parametrize("name", ["job", "child_bad", "shell", "above", "attach200ms", "attach60s"])
def test_a_kill_by_the_kernel(guest, name):
    end = guest.exit(name)
    assert end["verdict"] == "out_of_memory"
    assert "oom_kill" in end["evidence"]


def test_the_kernel_counted_the_kills(guest):
    counts = [guest.keyed(f"{n}.memory.events", "oom_kill") for n in ("job", "before_kill", "above")]
    assert 1 <= counts[0] < counts[1] < counts[2]


def test_a_job_that_survives_the_kill_of_a_child(guest):
    end = guest.exit("child_good")
    assert end["verdict"] == "exited"
    assert end["code"] == 0
    assert "oom_kill" in end["evidence"]


def test_a_kill_by_somebody_else(guest):
    end = guest.exit("kill")
    assert guest.text("kill.memory.events") == guest.text("before_kill.memory.events")
    assert end["verdict"] == "signalled"
    assert end["signal"] == 9
    assert "no out-of-memory kill" in end["evidence"]


def test_a_neighbour_in_the_same_group(guest):
    before = guest.keyed("kill.memory.events", "oom_kill")
    end = guest.exit("neighbour")
    assert guest.keyed("neighbour.memory.events", "oom_kill") > before
    assert (end["verdict"], end["code"]) == ("exited", 1)
    assert "another process in the job's control group" in end["evidence"]
    assert guest.total("neighbour", "peak_memory_mib") < 20


def test_a_neighbour_in_a_group_beside(guest):
    end = guest.exit("beside")
    assert guest.keyed("beside.memory.events", "oom_kill") == 1
    assert (end["verdict"], end["code"]) == ("exited", 1)
    assert "another group below /oom" in end["evidence"]


def test_the_history_has_no_kill_of_a_neighbour(guest):
    lines = guest.text("history.txt").splitlines()
    for name in ("neighbour", "beside"):
        line, = (line for line in lines if f" {name} " in line)
        assert "exit 1" in line
    killed = {line.split()[3] for line in lines if "out of memory" in line}
    assert killed == {"job", "child_bad", "shell", "above"}


def test_a_tracker_that_is_killed_with_the_job(guest):
    assert guest.text("together.rc") == "137\n"
    assert guest.keyed("together.memory.events", "oom_kill") > 1
    end = guest.exit("together")
    assert end["verdict"] == "out_of_memory"
    assert "of the job's control group has risen by" in end["evidence"]
    assert "likely killed by the kernel: out of memory" in guest.text("together.show")
    assert "likely" not in guest.text("job.txt")
    assert "risen by" in " ".join(guest.text("together.show").split())
    assert "most likely the kernel killed the job" in guest.text("together.md")
    assert "384 MiB" in guest.text("together.recommend") or "256 MiB" in guest.text(
        "together.recommend")
    line, = (line for line in guest.text("history.after").splitlines() if " together " in line)
    assert "out of memory" in line


def test_a_tracker_that_was_killed_in_a_group_that_has_gone(guest):
    end = guest.exit("gone")
    assert end["verdict"] == "tracker_died"
    assert "likely out of memory: oom_kill of /oom, above the job's group" in end["evidence"]
