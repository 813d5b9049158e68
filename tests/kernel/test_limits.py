"""Compares limits with the files of the control group."""

from conftest import MIB


def test_the_limit_of_the_group_itself(guest):
    limit = guest.limit("leaf", "memory_mib")
    assert limit["value"] == guest.number("leaf.memory.max") / MIB == 200
    assert limit["source"] == "cgroup v2 memory.max of /limits/leaf"


def test_a_tighter_limit_above_the_group(guest):
    limit = guest.limit("above", "memory_mib")
    assert limit["value"] == guest.number("above.memory.max") / MIB == 150
    assert limit["source"] == "cgroup v2 memory.max of /limits"


def test_the_cpus_of_the_group(guest):
    limit = guest.limit("cpuset", "cpu")
    assert guest.text("cpuset.cpuset.cpus.effective") == "0\n"
    assert limit["value"] == 1
    assert guest.summary("leaf")["limits"]["cpu"]["value"] == 2


def test_the_number_of_processes_that_the_group_may_have(guest):
    limit = guest.limit("pids", "pids")
    assert limit["value"] == guest.number("pids.pids.max") == 12
    assert limit["source"] == "cgroup v2 pids.max of /limits"
    assert guest.total("pids", "peak_processes") < 12


def test_forks_that_the_limit_refused(guest):
    assert guest.total("pids", "forks_refused") == 1
    assert "1 fork refused by the limit of processes (pids.max 12)" in guest.text("pids.txt")
