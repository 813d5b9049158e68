"""Compares pages of mapped files with the file, and runs the job within the memory that is advised."""

import json

import pytest


def test_pages_of_a_mapped_file_are_named(guest):
    assert guest.exit("free")["verdict"] == "exited"
    assert guest.total("free", "peak_file_pages_mib") == pytest.approx(120, abs=4)
    assert guest.total("free", "peak_memory_mib") >= 119
    advised = json.loads(guest.text("recommend.json"))["advice"]["memory"]
    assert advised["file_pages_mib"] == pytest.approx(120, abs=4)


def test_the_job_runs_as_well_within_the_advised_memory(guest):
    assert guest.number("request.txt") >= 120
    assert guest.exit("advised")["verdict"] == "exited" and guest.exit("advised")["code"] == 0
    assert guest.keyed("advised.memory.events", "oom_kill") == 0
    # No page was dropped and read again.
    read = guest.total("advised", "disk_read_bytes")
    assert read <= 1.1 * guest.total("free", "disk_read_bytes")
