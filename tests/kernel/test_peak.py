"""Compares memory peaks with memory.peak (Linux 5.19 or later), which includes the tracker."""

import pytest
from conftest import MIB


def group_peak_mib(guest, name):
    """None without the file: the program's figure is then the largest row, an estimate."""
    if not guest.text(f"{name}.memory.peak"):
        return None
    return guest.number(f"{name}.memory.peak") / MIB


@pytest.mark.parametrize("name", ["anon", "short", "both"])
def test_the_peak_of_what_processes_map(guest, name):
    kernel = group_peak_mib(guest, name)
    if kernel is None:
        assert 149 <= guest.total(name, "peak_memory_mib") <= 165  # the job takes 150
        return
    tracker = guest.summary(name)["tracker"]["peak_rss_mib"]
    assert kernel > 150
    assert kernel - tracker - 4 <= guest.total(name, "peak_memory_mib") <= kernel + 1


def test_the_upper_bound(guest):
    for name in ("anon", "both"):
        if group_peak_mib(guest, name) is None and guest.total(name, "peak_memory_at_most_mib") is None:
            continue  # an estimate without a bound
        assert guest.total(name, "peak_memory_at_most_mib") >= guest.total(name, "peak_memory_mib")


@pytest.mark.parametrize("name, mib", [("memfd", 150), ("files", 150), ("sockets", 60)])
def test_memory_that_no_process_maps(guest, name, mib):
    summary = guest.summary(name)
    row = summary["stats"]["process_memory_mib"]["max"]
    kernel = group_peak_mib(guest, name)
    if kernel is None and name == "sockets":
        return  # before 5.18 memory.stat leaves out the buffers of UNIX sockets (docs/platforms.md)
    if kernel is None:
        assert 0.9 * mib <= row <= guest.total(name, "peak_memory_mib") + 1
        assert summary["advice"]["memory"]["request_mib"] >= mib
        return
    assert mib <= guest.total(name, "peak_memory_mib") <= kernel + 1
    # The rows are samples, and the kernel brings memory.stat up to date every two seconds.
    assert 0.8 * mib <= row <= kernel + 1
    assert summary["advice"]["memory"]["request_mib"] >= mib


def test_the_request_for_memory_that_no_process_maps(guest):
    assert "largest peak so far (15" in guest.text("recommend.txt")


def test_a_full_group_of_memory_that_no_process_maps(guest):
    for name in ("full", "full_files"):
        assert guest.exit(name)["verdict"] == "out_of_memory"
        assert guest.total(name, "peak_memory_mib") > 60  # of 100; sampled, as the tracker shares the group
    assert guest.keyed("full.memory.events", "oom_kill") >= 1


def test_the_job_is_killed_before_the_tracker(guest):
    assert guest.text("adjustment.txt").splitlines()[:2] == ["0", "-999"]
