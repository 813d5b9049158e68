"""Access to the files that the guest has left, for the tests that examine them.

KERNEL_OUT is the folder that tests/kernel/boot.sh has filled (tools/test.sh kernel sets it). A test of the topic `oom`
is in test_oom.py and reads from OUT/oom:

    def test_names_the_kill(guest):
        assert guest.exit("job")["verdict"] == "out_of_memory"
"""

import json
import os
import pathlib
import re

import pytest

MIB = 1 << 20


class Guest:
    """The files of one topic."""

    def __init__(self, folder):
        self.folder = folder

    def text(self, name):
        return (self.folder / name).read_text(errors="replace")

    def number(self, name):
        return int(self.text(name))

    def keyed(self, name, key):
        """A value of a file with lines "key value"."""
        return int(re.search(rf"^{re.escape(key)} (\d+)$", self.text(name), re.MULTILINE)[1])

    def summary(self, name):
        return json.loads(self.text(f"{name}.json"))

    def exit(self, name):
        return self.summary(name)["run"]["exit"]

    def total(self, name, key):
        return self.summary(name)["totals"][key]["value"]

    def limit(self, name, key):
        return self.summary(name)["limits"][key]

    def disk_bytes(self, name, key):
        """The sum over the disks of io.stat."""
        return sum(int(n) for n in re.findall(rf"\b{key}=(\d+)", self.text(name)))


@pytest.fixture
def guest(request):
    topic = request.path.stem.removeprefix("test_")
    return Guest(pathlib.Path(os.environ["KERNEL_OUT"]) / topic)
