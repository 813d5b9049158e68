"""Compares huge pages of hugetlbfs with what the jobs hold."""

import pytest


@pytest.mark.parametrize("kind", ["anon", "memfd", "sysv"])
def test_huge_pages_count_once(guest, kind):
    """The memfd is mapped by two processes."""
    totals = guest.summary(f"huge-{kind}")["totals"]
    assert totals["peak_huge_pages_mib"]["value"] == 60
    assert totals["peak_memory_mib"]["value"] < 20
    assert totals["peak_memory_mib"]["quality"] != "exact"
    assert 60 < totals["peak_needed_mib"]["value"] < 80


def test_a_limit_counts_huge_pages(guest):
    assert guest.exit("huge-limit")["verdict"] == "memory_limit"
    assert "huge pages count as memory: up to 60 MiB" in guest.text("huge.recommend")
