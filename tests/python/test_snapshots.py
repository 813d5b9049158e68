"""Tests snapshots of this version and of two versions of the original package, and data that is not a snapshot."""

import copy
import gzip
import json
import os
import random

import pytest

from resource_tracker import ResourceTracker
from resource_tracker.tracker import SnapshotError

METADATA = {"version": 1, "resource_tracker": {"version": "0.4.2", "implementation": "procfs"},
            "pid": 7, "children": True, "interval": 1, "method": None, "autostart": True,
            "track_processes": True, "track_system": True, "discover_server": True,
            "discover_cloud": True, "start_time": 1000.0, "stop_time": 1003.0, "duration": 4.0}
PROCESS_04 = {"timestamp": 1001.0, "pid": 7, "children": 1, "utime": 0.5, "stime": 0.1,
              "cpu_usage": 0.6, "memory": 307200, "read_bytes": 10, "write_bytes": 20,
              "gpu_usage": 0, "gpu_vram": 0, "gpu_utilized": 0}
SYSTEM_04 = {"timestamp": 1001.0, "processes": 90, "utime": 1.0, "stime": 0.2, "cpu_usage": 1.2,
             "memory_free": 1024, "memory_used": 2048, "memory_buffers": 1, "memory_cached": 2,
             "memory_active": 3, "memory_inactive": 4, "disk_read_bytes": 5,
             "disk_write_bytes": 6, "disk_space_total_gb": 100.0, "disk_space_used_gb": 50.0,
             "disk_space_free_gb": 50.0, "net_recv_bytes": 7, "net_sent_bytes": 8, "gpu_usage": 0,
             "gpu_vram": 0, "gpu_utilized": 0}
RENAMED = {"memory": ("memory_mib", 1024), "read_bytes": ("disk_read_bytes", 1),
           "write_bytes": ("disk_write_bytes", 1), "gpu_vram": ("gpu_vram_mib", 1),
           **{f"memory_{k}": (f"memory_{k}_mib", 1024)
              for k in ("free", "used", "buffers", "cached", "active", "inactive")}}


def newer(row):
    return {RENAMED.get(k, (k, 1))[0]: v / RENAMED[k][1] if k in RENAMED else v
            for k, v in row.items()}


def document(process, system, **metadata):
    return {"metadata": {**METADATA, **metadata},
            "server_info": {"os": "Linux", "vcpus": 4, "memory_mb": 8000.0, "gpu_count": 0},
            "cloud_info": {"vendor": "aws", "instance_type": "c5.large", "region": "r"},
            "process_metrics": process, "system_metrics": system}


OLD = document([PROCESS_04, {**PROCESS_04, "timestamp": 1002.0, "cpu_usage": 1.0, "children": ""}],
               [SYSTEM_04, {**SYSTEM_04, "timestamp": 1002.0}])
NEW = document([newer(row) for row in OLD["process_metrics"]],
               [newer(row) for row in OLD["system_metrics"]],
               resource_tracker={"version": "0.5.0", "implementation": "psutil"})


@pytest.mark.parametrize("usage", [0.02, 0.5, 1.6])
def test_the_gpus_of_a_snapshot_are_requested_as_those_of_its_run(usage):
    """0.02: used so briefly that the sum of all GPUs alone would not show it."""
    gpus = {"gpu_usage": usage, "gpu_vram": 3000.0, "gpu_utilized": 2 if usage > 1 else 1}
    snapshot = document([{**row, **gpus} for row in OLD["process_metrics"]],
                        [{**row, **gpus} for row in OLD["system_metrics"]])
    snapshot["server_info"]["gpu_count"] = 2
    request = ResourceTracker.from_snapshot(snapshot).recommend_resources()
    assert request["gpu"] == (2 if usage > 1 else 1) and request["vram"] * request["gpu"] > 3000
    assert ResourceTracker.from_snapshot(OLD).recommend_resources()["gpu"] == 0


@pytest.mark.parametrize("kind", ["fifo", "/dev/zero"])
def test_what_is_no_file_is_refused_at_once(tmp_path, kind):
    """A FIFO without a writer would be waited for, and a device read for ever."""
    from resource_tracker import _core

    os.mkfifo(tmp_path / "fifo")
    path = str(tmp_path / kind)
    with pytest.raises(ValueError, match="not a regular file"):
        ResourceTracker.load(path)
    with pytest.raises(RuntimeError, match="not a regular file"):
        _core.Recording(path)


@pytest.mark.parametrize("snapshot, schema", [(OLD, "0.4"), (NEW, "0.5")])
def test_both_versions_load(snapshot, schema):
    tracker = ResourceTracker.loads(json.dumps(snapshot))
    assert tracker.schema == schema and not tracker.running and tracker.n_samples == 2
    assert (tracker.pid, tracker.start_time, tracker.stop_time) == (7, 1000.0, 1003.0)
    assert tracker.recommend_resources(method="original") == {
        "cpu": 1, "memory": 512, "gpu": 0, "vram": 0}
    # The largest is 300 MiB: the advice of the report.
    assert tracker.recommend_resources() == {"cpu": 1, "memory": 384, "gpu": 0, "vram": 0}
    stats = tracker.stats()
    assert stats["process_memory_mib"]["max"] == 300
    assert stats["process_memory"]["max"] == 307200
    assert stats["timestamp"]["duration"] == 2
    assert tracker.process_metrics["children"][1] is None
    assert tracker.server_info["vcpus"] == 4 and tracker.server_info["allocation"] == "shared"
    assert tracker.cloud_info["vendor"] == "aws"
    assert "c5.large" in tracker.report()


def test_round_trip(finished, tmp_path):
    for again in (ResourceTracker.loads(finished.dumps()),
                  ResourceTracker.from_snapshot(finished.snapshot())):
        assert again.process_metrics.to_dict() == finished.process_metrics.to_dict()
        assert again.system_metrics.to_dict() == finished.system_metrics.to_dict()
        assert again.stats() == finished.stats()
        assert (again.start_time, again.stop_time) == (finished.start_time, finished.stop_time)
        again.stop()
        with pytest.raises(RuntimeError, match="already stopped"):
            again.start()


@pytest.mark.parametrize("name, compressed", [("a.json.gz", True), ("a.json", False), ("a", True)])
def test_files(finished, tmp_path, name, compressed):
    path = tmp_path / name
    finished.dump(str(path))
    data = path.read_bytes()
    assert (data[:2] == b"\x1f\x8b") is compressed
    json.loads(gzip.decompress(data) if compressed else data)
    assert ResourceTracker.load(str(path)).n_samples == finished.n_samples


def test_metadata(finished):
    snapshot = finished.snapshot()
    assert list(snapshot) == ["metadata", "server_info", "cloud_info", "process_metrics",
                              "system_metrics", "phases", "totals", "top_processes"]
    metadata = snapshot["metadata"]
    assert set(METADATA) <= set(metadata)
    assert metadata["version"] == 1 and metadata["schema"] == "0.4"
    assert metadata["duration"] == round(
        metadata["stop_time"] - metadata["start_time"] + metadata["interval"], 2)


def test_while_it_runs_a_snapshot_is_of_now():
    tracker = ResourceTracker(interval=0.05)
    tracker.wait_for_samples(2, timeout=120)
    assert ResourceTracker.loads(tracker.dumps()).n_samples >= 2
    assert tracker.running
    tracker.stop()


@pytest.mark.parametrize("snapshot", [
    {}, [], None, 5, {"metadata": {}}, {**OLD, "metadata": None}, {**OLD, "process_metrics": 5},
    {**OLD, "process_metrics": [{"cpu_usage": 1}]}, {**OLD, "process_metrics": [[1]]},
    {**OLD, "metadata": {**METADATA, "interval": "x"}},
    {**OLD, "metadata": {**METADATA, "interval": 0}},
    {k: v for k, v in OLD.items() if k != "system_metrics"}])
def test_what_is_no_snapshot(snapshot):
    for kind in (ValueError, KeyError):  # scripts catch the one or the other
        with pytest.raises(kind):
            ResourceTracker.from_snapshot(snapshot)


def test_damaged_files(finished, tmp_path):
    path = tmp_path / "a.json.gz"
    finished.dump(str(path))
    data = path.read_bytes()
    for damaged in (data[:len(data) // 2], data[:20], b"\x1f\x8b", b"", b"{", b"\xff\xfe",
                    data[:50] + b"x" * 50 + data[100:]):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match="a.json.gz: "):
            ResourceTracker.load(str(path))
    with pytest.raises(FileNotFoundError):
        ResourceTracker.load(str(tmp_path / "none"))
    with pytest.raises(ValueError):
        ResourceTracker.loads("garbage")


FULL = {**NEW, "phases": [{"name": "a", "start": 1000.0, "end": 1001.0}],
        "totals": {"cpu_s": {"value": 1.5, "quality": "exact", "source": "x"}},
        "top_processes": [{"pid": 1, "name": "x", "cpu_s": 1.0}]}
HOSTILE = [None, True, 0, -1, 2**64, 10**400, -10**400, 1e308, 1e400, float("nan"), 5e-324, "", "x", "\ud800", "\0",
           "1e999", [], {}, [[]], [{}], {"": None}, {"timestamp": None}, {1: 2}, "0.4", "../x"]


def places(value, path=()):
    """Each place in nested lists and dicts."""
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield (*path, key)
        yield from places(value[key], (*path, key))


def spoilt(document, rng):
    """A copy of the document with a hostile value, or without a key, in one to three places."""
    document = copy.deepcopy(document)
    for path in rng.sample(list(places(document)), rng.choice([1, 1, 1, 2, 3])):
        try:
            at = document
            for key in path[:-1]:
                at = at[key]
            if rng.random() < 0.1:
                del at[path[-1]]
            else:
                at[path[-1]] = copy.deepcopy(rng.choice(HOSTILE))
        except (KeyError, IndexError, TypeError):
            pass  # within what was spoilt before
    return document


@pytest.mark.parametrize("document", [OLD, NEW, FULL], ids=["old", "new", "full"])
def test_a_hostile_snapshot_is_refused_or_can_be_used(document):
    for seed in range(60):
        try:
            tracker = ResourceTracker.from_snapshot(spoilt(document, random.Random(seed)))
        except SnapshotError:
            continue
        for use in (tracker.stats, tracker.recommend_resources, tracker.report, tracker.dumps, tracker._repr_html_,
                    lambda: tracker.recommend_resources(method="original")):
            try:
                use()
            except RuntimeError as error:
                assert type(error) is RuntimeError and "No metrics" in str(error), seed


def test_a_snapshot_that_is_nested_too_deep():
    for text in ("[" * 100000, json.dumps(OLD)[:-1] + ', "x": ' + "[" * 50 + "]" * 50 + "}"):
        with pytest.raises(SnapshotError if text[-1] == "}" else ValueError):
            ResourceTracker.loads(text)


@pytest.mark.parametrize("kind", ["sparse", "holes", "bomb"])
def test_a_file_that_is_refused_takes_no_memory(script, tmp_path, kind):
    path = tmp_path / "large.json"
    # Members of a gzip file follow one another: 520 MiB in 1 MB.
    path.write_bytes(gzip.compress(b" " * 1000000, mtime=0) * 546 if kind == "bomb" else b"")
    if kind != "bomb":
        os.truncate(path, (10 << 30) if kind == "sparse" else (400 << 20))
    print(script.output(f"""
        import resource
        from resource_tracker import ResourceTracker
        resource.setrlimit(resource.RLIMIT_AS, (300 << 20, 300 << 20))
        try:
            ResourceTracker.load({str(path)!r})
        except ValueError as error:
            assert "too large" in str(error) or "not a text" in str(error), error
        else:
            raise AssertionError
    """))
