"""Tests jobs that change their control group, and limits that change, during the run."""

from conftest import MIB


def test_a_kill_in_a_group_that_the_job_entered(guest):
    assert guest.exit("late")["verdict"] == "out_of_memory"
    assert "control group /moves/small" in guest.exit("late")["evidence"]
    assert guest.limit("late", "memory_mib")["value"] == 100


def test_a_kill_in_a_group_that_a_part_of_the_job_entered(guest):
    assert guest.exit("part")["code"] == 7
    assert guest.exit("part")["verdict"] == "out_of_memory"
    assert "control group /moves/small" in guest.exit("part")["evidence"]


def test_the_limit_is_that_of_the_group_where_the_job_is(guest):
    limit = guest.limit("stays", "memory_mib")
    assert limit["value"] == guest.number("stays.memory.max") / MIB == 100
    assert limit["source"] == "cgroup v2 memory.max of /moves/small"
    assert "changed during the run" in limit["reason"]


def test_a_limit_that_was_raised_is_what_the_use_is_compared_with(guest):
    limit = guest.limit("raised", "memory_mib")
    assert limit["value"] == guest.number("raised.memory.max") / MIB == 300
    assert "100 MiB until" in limit["reason"]
    assert guest.total("raised", "peak_memory_mib") > 195
