"""Compares figures of memory.high and of swap with what the jobs hold and with the kernel's files."""

import csv
import re


def test_memory_high_is_the_limit(guest):
    limit = guest.limit("still", "memory_mib")
    assert limit["value"] == guest.limit("still", "memory_high_mib")["value"] == 100
    assert limit["source"] == "cgroup v2 memory.high of /high/still"
    assert guest.limit("still", "swap_mib")["value"] == 0


def test_stalls_above_memory_high_are_told(guest):
    assert guest.keyed("still.memory.events", "high") > 0
    stalled = int(re.search(r"^full .*total=(\d+)", guest.text("still.memory.pressure"), re.M)[1])
    told = guest.summary("still")["stats"]["process_memory_wait"]["sum"]
    assert stalled > 1e6
    assert 0.5 * stalled / 1e6 <= told <= 1.1 * stalled / 1e6


def test_what_was_swapped_out_counts(guest):
    swap = guest.summary("swaps")["totals"]["peak_swap_mib"]
    # The job holds 250 MiB, of which the group keeps 150.
    assert 80 <= swap["value"] <= 256
    assert swap["quality"] in ("at_least", "at_most")
    text = guest.text("swaps.recommend")
    assert "what was swapped out counts as memory" in text
    assert float(re.search(r"^Memory +(\d+) MiB", text, re.M)[1]) >= 250
    # Together they are what the job holds, in the totals as well as in the last rows.
    assert 250 <= guest.total("swaps", "peak_needed_mib") <= 265
    rows = list(csv.DictReader(guest.text("swaps.csv").splitlines()))
    held = [float(row["process_memory_mib"]) + float(row["process_swap_mib"]) for row in rows
            if row["process_memory_mib"]]
    assert any(250 <= mib <= 265 for mib in held), held


def test_swap_of_processes_counts_beside_other_jobs(guest):
    totals = guest.summary("forks")["totals"]
    assert totals["peak_swap_mib"]["source"] == "VmSwap of the processes"
    # The budget allows few readings on a busy emulated machine.
    assert 0 < totals["peak_swap_mib"]["value"] <= 256
    assert totals["peak_memory_mib"]["value"] < totals["peak_needed_mib"]["value"] <= 265
    assert totals["peak_memory_mib"]["quality"] != "exact"
