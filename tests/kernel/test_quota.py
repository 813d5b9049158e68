"""Compares quotas and throttling with cpu.stat."""

import re


def throttled_s(guest, before, after):
    return (
        guest.keyed(f"{after}.cpu.stat", "throttled_usec")
        - guest.keyed(f"{before}.cpu.stat", "throttled_usec")
    ) / 1e6


def test_the_quota_of_the_group_itself(guest):
    limit = guest.limit("leaf", "cpu")
    assert limit["value"] == 0.5
    assert limit["source"] == "cgroup v2 cpu.max of /quota/leaf"


def test_throttling_as_the_kernel_counted_it(guest):
    kernel = throttled_s(guest, "before", "leaf")
    assert kernel > 5
    # The tracker was throttled as well, before its first and after its last reading.
    assert 0.5 * kernel <= guest.summary("leaf")["stats"]["cgroup_throttled"]["sum"] <= kernel


def test_cpu_time_within_the_quota(guest):
    kernel = (
        guest.keyed("leaf.cpu.stat", "usage_usec") - guest.keyed("before.cpu.stat", "usage_usec")
    ) / 1e6
    job = float(re.search(r"^used ([\d.]+) s$", guest.text("leaf.txt"), re.M)[1])
    # The control group also counts the CPU time of the tracker, and of the shell that started it.
    assert job - 0.01 <= guest.total("leaf", "cpu_s") <= kernel


def test_the_quota_of_a_group_above(guest):
    limit = guest.limit("above", "cpu")
    assert limit["value"] == 0.5
    assert limit["source"] == "cgroup v2 cpu.max of /quota"
    kernel = throttled_s(guest, "above_before", "above")
    assert kernel > 5
    assert 0.5 * kernel <= guest.summary("above")["stats"]["cgroup_throttled"]["sum"] <= kernel


def test_a_job_is_held_back_for_a_part_of_its_time(guest):
    text = guest.text("above.recommend")
    share = int(re.search(r"throttled by the CPU limit (\d+) % of the time", text)[1])
    assert text.startswith("above: under-provisioned")
    assert 40 <= share <= 100


def test_a_quota_that_changes_is_named_and_never_exceeded(guest):
    limit = guest.limit("tightened", "cpu")
    assert limit["value"] == 2
    assert "2 cores until" in limit["reason"] and "0.3 cores at the end" in limit["reason"]
    assert guest.summary("tightened")["stats"]["cgroup_throttled"]["sum"] > 1
