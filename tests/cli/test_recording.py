"""Tests recordings that are complete, truncated, damaged, or disabled."""

import resource
import stat

import forging
import pytest


def record(rt, script="sleep 0.7"):
    rt.track("sh", "-c", script)
    files = [p for p in rt.state.rglob("*") if p.is_file()]
    return max(files, key=lambda p: p.stat().st_size)


def readable_or_one_line(result):
    if result.rc:
        assert result.rc in (1, 4), result
        assert len(result.stderr.splitlines()) == 1, result


def test_a_cut_recording_is_shown_or_refused_in_one_line(rt):
    data = record(rt).read_bytes()
    cut = rt.home / "cut"
    step = max(37, len(data) // 150 | 1)
    for size in [*range(0, len(data), step), *range(max(0, len(data) - 60), len(data))]:
        cut.write_bytes(data[:size])
        readable_or_one_line(rt.run("show", cut))


def test_a_flipped_bit_never_crashes_a_reader(rt):
    data = record(rt).read_bytes()
    bad = rt.home / "bad"
    for at in range(0, len(data), max(1, len(data) // 100)):
        bad.write_bytes(data[:at] + bytes([data[at] ^ 4]) + data[at + 1:])
        readable_or_one_line(rt.run("export", bad))


def test_a_recording_is_private(rt):
    path = record(rt, "true")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_no_recording_leaves_nothing(rt):
    assert rt.track("true", flags=["--no-recording"]).rc == 0
    assert not [p for p in rt.state.rglob("*") if p.is_file()]


def test_finds_runs_by_their_references(rt):
    ids = [rt.track("true", flags=["--job", job]).summary["run"]["id"] for job in ("one", "two")]
    for ref, run in [("@", ids[1]), ("@2", ids[0]), ("one@-1", ids[0]), (ids[0], ids[0])]:
        shown = rt.run("show", "--json", ref)
        assert (ref, shown.json()["run"]["id"] if shown.rc == 0 else shown.stderr) == (ref, run)


@pytest.mark.native
def test_a_recording_can_be_read_while_it_is_written(rt):
    script = f"sleep 1; {rt.path} show --json @"
    result = rt.track("sh", "-c", script)
    assert result.rc == 0
    assert '"running"' in result.stdout


# ---- what reading costs ----

MANY = 4_000_000


def of_gpus(devices):
    """Descriptions of so many GPUs, and a row in which none of them has a value."""
    one = b"".join(forging.text(word) for word in ("nvidia", "A100", "GPU-1", "0000:07", "1")) + b"\1\0\0\0"
    return ((forging.GPUS, forging.varint(devices) + one * devices),
            (forging.GPU_ROW, b"\2\2" + forging.varint(devices) + bytes(devices)))


@pytest.mark.native
@pytest.mark.parametrize("verb", [["show"], ["report", "--format", "md", "-o", "-"], ["top", "--json"]], ids=" ".join)
def test_the_cost_of_a_recording_is_that_of_its_size(rt, verb):
    """Rows that all cover the whole run, and rows of many GPUs that take one byte each, against as many bytes of rows from
    which `show` adds up."""
    rt.run("run", "-q", "--", "sleep", "0.3")
    [recording] = rt.state.glob("runs/*.rtrk")
    data = recording.read_bytes()
    row = [record for record in forging.frames(data) if record[0] == forging.SAMPLE][-1]
    gpus, gpu_row = of_gpus(32)

    def cpu_s(words, records, repeated):
        whole = forging.with_records(data, [*records, (0, b"")])
        many = forging.frame(*repeated) * (MANY // len(forging.frame(*repeated)))
        recording.write_bytes(whole.replace(forging.frame(0, b""), many))
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        assert rt.run(words[0], "@", *words[1:]).rc == 0
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before

    plain = cpu_s(["show"], [], row)
    used = cpu_s(verb, [], row), cpu_s(verb, [gpus], gpu_row)
    assert max(used) < 4 * plain, (used, plain)
