"""Compares disk bytes with io.stat."""

from conftest import MIB


def check(guest, name, total, key, job_bytes):
    kernel = guest.disk_bytes(f"{name}.io.stat", key)
    ours = guest.total(name, total)
    # The group holds the file system's own blocks as well.
    assert kernel >= job_bytes
    assert job_bytes <= ours <= 1.1 * kernel


def test_bytes_written(guest):
    check(guest, "write", "disk_write_bytes", "wbytes", 64 * MIB)


def test_bytes_read(guest):
    check(guest, "read", "disk_read_bytes", "rbytes", 64 * MIB)


def test_bytes_of_children_and_daemons(guest):
    check(guest, "children", "disk_write_bytes", "wbytes", 32 * MIB)


def test_what_was_removed_before_the_disk_saw_it_is_not_written(guest):
    total = guest.summary("removed")["totals"]["disk_write_bytes"]
    assert total["quality"] == "estimated"
    assert "removed before they reached a disk" in total["reason"]
    assert total["value"] <= guest.disk_bytes("removed.io.stat", "wbytes") + 4 * MIB < 32 * MIB
