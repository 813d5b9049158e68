"""docs/recording-format.md says all that a reader needs: this one follows its blocks alone, without the library."""

import json
import math
import os
import pathlib
import re
import signal
import struct
import sys

import pytest

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/recording-format.md"
SIGNATURE = bytes.fromhex("5254524b010d0a1a")
SYNC = bytes.fromhex("b572746b")
JOB = """
import subprocess, sys, time
def work(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        sum(i * i for i in range(20_000))
block = bytearray(b"x") * (40 << 20)
work(1.2)
subprocess.run([sys.executable, "-c", "import time; time.sleep(0.3)"])
"""


def blocks():
    """The records by their number, and all blocks by their name: lists of (field, type, condition)."""
    records, parts = {}, {}
    for kind, words, body in re.findall(r"^```(record|part) (.*?)\n(.*?)^```", PAGE.read_text("utf-8"), re.M | re.S):
        name, *number = words.split()
        parts[name] = [re.fullmatch(r"(\w+) +(.*?)(?: if (.+))?", line).groups() for line in body.splitlines()]
        if kind == "record":
            records[int(number[0])] = name
    return records, parts


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


class Payload:
    """One payload, read by the types of the page."""

    def __init__(self, data, parts, columns):
        self.data, self.at, self.parts, self.columns = data, 0, parts, columns

    def take(self, n):
        assert self.at + n <= len(self.data), "the payload is too short for the page"
        self.at += n
        return self.data[self.at - n:self.at]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def signed(self):
        v = self.varint()
        return -(v + 1) // 2 if v & 1 else v // 2

    def double(self):
        return struct.unpack("<d", struct.pack("<Q", self.varint()))[0]

    def byte(self):
        return self.take(1)[0]

    def bytes(self):
        return bytes(self.take(self.varint()))

    def text(self):
        return self.bytes().decode()

    def list(self, of):
        return [self.read(of) for _ in range(self.varint())]

    def marked(self, of):
        found = []
        while marker := self.varint():
            found.append({"marker": marker, **self.read(of)})
        return found

    def rest(self, of):
        found = []
        while self.at < len(self.data):
            found.append(self.read(of))
        return found

    def row(self):
        known = self.varint()
        if len(self.columns) > 64:
            known |= self.varint() << 64
        return {c["name"]: self.signed() / c["divisor"] for n, c in enumerate(self.columns) if known >> n & 1}

    def read(self, type_, got=None):
        word, *rest = type_.split()
        if word == "bits":
            return {n: self.read(rest[0]) for n in range(64) if got[rest[1]] >> n & 1}
        if word in self.parts and word not in ("row",):
            return self.part(word)
        return getattr(self, word)(*([" ".join(rest)] if rest else []))

    def part(self, name):
        got = {}
        for field, type_, condition in self.parts[name]:
            if condition == "more":
                if self.at == len(self.data):
                    break
            elif condition and not eval(condition, {}, got):  # pylint: disable=eval-used
                continue
            got[field] = self.read(type_, got)
        return got


def decode(path):
    """All records as (name, fields)."""
    records, parts = blocks()
    data, at, found, columns = path.read_bytes(), 8, [], []
    assert data[:8] == SIGNATURE
    while at < len(data):
        assert data[at:at + 4] == SYNC
        if at + 14 > len(data) or at + 14 + struct.unpack("<I", data[at + 6:at + 10])[0] > len(data):
            break  # its end was not written
        kind, flags, length, check = struct.unpack("<BBII", data[at + 4:at + 14])
        payload = data[at + 14:at + 14 + length]
        assert flags == 0 and crc32c(data[at + 4:at + 10] + payload) == check
        reader = Payload(payload, parts, columns)
        got = reader.part(records[kind])
        assert reader.at == len(payload), f"{records[kind]}: the page leaves {len(payload) - reader.at} bytes"
        columns = got["columns"] if kind == 1 else columns
        found.append((records[kind], got))
        at += 14 + length
    return found


def of(records, name):
    return [got for kind, got in records if kind == name]


def listed(after):
    """The names that the page lists after these words."""
    text = PAGE.read_text("utf-8").split(after, 1)[1]
    return re.findall(r"`(\w+)`", re.split(r"[.;]\s", text, maxsplit=1)[0])


def same(value, told):
    return told is None if math.isnan(value) else math.isclose(value, told, rel_tol=1e-9)


def check_quantities(list_, names, told):
    qualities = ["unknown", "exact", "at_least", "at_most", "estimated"]
    assert len(list_) == len(names)
    for q, name in zip(list_, names):
        assert same(q["value"], told[name]["value"]) and qualities[q["quality"]] == told[name]["quality"], name
        assert (q["source"] or None, q["reason"] or None) == (told[name]["source"], told[name]["reason"]), name


def lines_of(records):
    """CPU time in us by (file, function) of the innermost frames."""
    functions, nodes, sums = {}, {}, {}
    for got in of(records, "line_names"):
        last = ""
        for n, f in enumerate(got["functions"], got["functions_from"]):
            if f["back"]:
                file = functions[n - f["back"]][0]
            else:
                file = last = last[:f["shared"]] + f["file"]
            functions[n] = (file, f["name"])
        nodes.update(enumerate(got["nodes"], got["nodes_from"]))
    for got in of(records, "line_counts"):
        for count in got["counts"]:
            if count["node"]:
                key = functions[nodes[count["node"]]["function"]]
                sums[key] = sums.get(key, 0) + count["amounts"].get(1, 0)
    return sums


def test_a_recording_is_read_by_its_page_alone(rt, tmp_path):
    (tmp_path / "job.py").write_text(JOB)
    tracked = rt.run("run", "--no-discovery", "-i", "0.2", "--job", "page", "--tag", "kind=test", "--request", "cpu=2,mem=1GiB",
                     "--instance", "aws/us-east-1/m5.large", "--summary", "never", "--", "sh", "-c",
                     f"'{rt.path}' mark first; sleep 1000 >/dev/null 2>&1 & echo $!; exec '{sys.executable}' job.py", cwd=tmp_path)
    os.kill(int(tracked.stdout), signal.SIGKILL)
    assert tracked.rc == 0, tracked.stderr
    path, = (rt.state / "runs").glob("*.rtrk")
    records = decode(path)
    told = rt.run("show", "--json", path).json()

    assert records[0][0] == "start" and [kind for kind, _ in records].count("start") == 1
    start, end = records[0][1], of(records, "end")[-1]["outcome"]
    assert (start["id"], start["job"], start["kind"]) == (told["run"]["id"], "page", "run")
    assert [a.decode() for a in start["command"].split(b"\0")[:-1]] == told["run"]["command"]
    assert start["tags"] == b"kind=test\0" and start["pid"] == told["run"]["pid"]
    assert (of(records, "limits") or [start])[-1]["limits"][0]["value"] == told["limits"]["cpu"]["value"]
    newest = (of(records, "limits") or [start])[-1]
    check_quantities(newest["limits"], listed("The limits are, in this order:"), told["limits"])
    check_quantities(newest["requests"], listed("the requests"), told["request"])
    check_quantities(end["totals"], listed("The totals are, in this order:"), told["totals"])
    assert (end["verdict"], end["code"], end["signal"]) == (1, 0, 0)
    assert math.isclose(end["duration_ns"] / 1e9, told["run"]["duration_s"], abs_tol=1e-6)
    assert {s["name"]: s["text"] for s in end["sources"]} == told["tracker"]["sources"]
    assert [p["pid"] for p in end["processes"]] == [p["pid"] for p in told["top_processes"]]
    assert (end["left_behind"], end["missed"], end["late"]) == (
        1, told["tracker"]["missed"], told["tracker"]["late"]) and told["run"]["left_behind"] == 1
    assert end["tracker_cpu_ns"] / 1e9 == told["tracker"]["cpu_s"]
    assert [m["name"] for m in of(records, "mark")] == [m["name"] for m in told["marks"]] == ["first"]

    rows = [json.loads(line) for line in rt.run("export", "--format", "jsonl", path).stdout.splitlines()]
    samples = [got["row"] for got in of(records, "sample")]
    assert len(samples) == len(rows) >= 5
    for sample, row in zip(samples, rows):
        for name, value in row.items():
            if name in sample:
                assert math.isclose(sample[name], value, rel_tol=1e-6, abs_tol=0.0051), name
            else:
                assert value is None or name not in [c["name"] for c in start["columns"]], name

    numbers = listed("double of eight bytes,\nlittle-endian:")
    for part, key in enumerate(("server", "cloud", "cost")):
        fields = {}
        for got in of(records, "place"):
            if got["part"] == part:
                fields.update((f["key"], struct.unpack("<d", f["value"])[0] if f["key"] in numbers else f["value"].decode())
                              for f in got["fields"])
        assert fields, key
        for name, value in fields.items():
            assert told[key][name] == value or math.isclose(told[key][name], value, rel_tol=1e-6, abs_tol=0.0051), name

    names = {n["index"]: n["name"] for got in of(records, "programs") for n in got["names"]}
    assert "job.py" in names.values(), names
    used_ms = sum(u["cpu_ms"] for got in of(records, "programs") for u in got["uses"])
    assert used_ms / 1000 <= told["totals"]["cpu_s"]["value"] * 1.05 and used_ms >= 1000
    spans = [s for got in of(records, "programs") for s in got["spans"]]
    assert {s["pid"] for s in spans} >= {told["run"]["pid"]}

    sums = lines_of(records)
    assert max(sums, key=sums.get)[0].endswith("job.py"), sums
    assert of(records, "line_state")[-1]["samples"] > 20


def test_every_type_of_record_is_on_the_page():
    source = (PAGE.parents[1] / "src/recording/format.h").read_text()
    body = re.search(r"enum trk_record_type \{(.*?)\};", source, re.S)[1]
    number, found = 0, {}
    for name, value in re.findall(r"TRK_RECORD_(\w+)(?: = (\d+))?,", body):
        number = int(value) if value else number + 1
        found[number] = name.lower()
    assert found == blocks()[0]


@pytest.mark.parametrize("path", sorted(PAGE.parents[1].glob("tests/recordings/*/*.rtrk")), ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_recordings_of_released_versions_are_read_by_the_page_alone(path):
    records = decode(path)
    told = json.loads(path.with_suffix(".json").read_text())
    assert records[0][1]["id"] == told["run"]["id"]
    if of(records, "end"):
        totals = of(records, "end")[0]["outcome"]["totals"]
        assert same(totals[0]["value"], told["totals"]["cpu_s"]["value"])


def test_gpus_are_read_by_the_page_alone():
    """A payload that is written here by the page."""
    records, parts = blocks()
    device = ["nvidia", "A name", "", "", "", -1, 0, 0]
    payload = bytearray([1])
    for value in device:
        if isinstance(value, str):
            payload += bytes([len(value)]) + value.encode()
        else:
            payload.append(1 if value == -1 else value)
    payload += bytes([3, 0, 1, 0])
    got = Payload(bytes(payload), parts, []).part(records[9])
    assert got["devices"][0]["parent"] == -1 and got["devices"][0]["why"] == [0, 1, 0]
    row = Payload(bytes([2, 4, 1, 5, 8, 10]), parts, []).part(records[10])
    assert row == {"elapsed_us": 1, "interval_us": 2, "values": [{"known": 5, "values": {0: 4, 2: 5}}]}
