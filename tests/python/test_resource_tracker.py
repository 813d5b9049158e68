"""Tests ResourceTracker: samples, statistics, recommendations, errors."""

import inspect
import json
import os
import re
import subprocess
import sys
import time

import pytest

from resource_tracker import ResourceTracker, StatSpec, _engine
from resource_tracker.column_maps import SCHEMAS
from resource_tracker.tracker_procfs import get_process_children


def test_parameters():
    signature = inspect.signature(ResourceTracker)
    assert {name: p.default for name, p in signature.parameters.items()} == {
        "pid": None, "children": True, "interval": 1, "method": None, "autostart": True,
        "track_processes": True, "track_system": True, "discover_server": True,
        "discover_cloud": True, "on_alert": None, "sentinel_token": None, "upload_interval": 60,
        "streaming_metadata": None, "schema": None, "job": None, "lines": None}


def test_the_quick_start():
    tracker = ResourceTracker()
    assert tracker.running and tracker.pid == os.getpid()
    tracker.stop()
    assert not tracker.running
    assert tracker.n_samples == 1  # shorter than an interval, and measured all the same
    assert tracker.stop_time >= tracker.start_time


def test_samples_come_at_the_interval(finished):
    stamps = finished.process_metrics["timestamp"]
    assert len(stamps) == finished.n_samples >= 4
    steps = sorted(b - a for a, b in zip(stamps, stamps[1:]))
    assert 0.03 < steps[len(steps) // 2] < 0.3
    assert stamps == finished.system_metrics["timestamp"]


def test_columns_of_both_schemas(finished):
    assert finished.process_metrics.columns == [c.name for c in SCHEMAS["0.4"].process]
    assert finished.system_metrics.columns == [c.name for c in SCHEMAS["0.4"].system]
    assert all(isinstance(v, int) for v in finished.process_metrics["memory"])
    with ResourceTracker(schema="0.5", interval=0.05) as tracker:
        tracker.wait_for_samples(2, timeout=120)
    assert tracker.process_metrics.columns == [c.name for c in SCHEMAS["0.5"].process]
    assert tracker.process_metrics["memory"][0] == pytest.approx(
        tracker.process_metrics["memory_mib"][0] * 1024)


def test_combined_metrics(finished):
    frame = finished.get_combined_metrics()
    assert len(frame) == finished.n_samples and len(frame.columns) == 32
    assert frame.columns[:2] == ["timestamp", "system_processes"]
    assert frame.columns[21:23] == ["process_pid", "process_children"]
    assert frame["system_memory_used"] == finished.system_metrics["memory_used"]
    assert frame["process_memory_mib"][0] == frame["process_memory"][0] / 1024
    in_bytes = finished.get_combined_metrics(bytes=True)
    assert in_bytes["process_memory"][0] == frame["process_memory"][0] * 1024
    assert in_bytes["system_disk_space_total_gb"][0] == pytest.approx(
        frame["system_disk_space_total_gb"][0] * 2**30)
    human = finished.get_combined_metrics(human_names=True).columns
    assert human[0] == "Timestamp" and "Process memory usage" in human
    assert "System inbound network traffic" in human and "Process PID" in human
    named = finished.get_combined_metrics(system_prefix="s.", process_prefix="p.").columns
    assert "s.cpu_usage" in named and "p.cpu_usage" in named
    assert len(finished.get_combined_metrics(offset=2)) == finished.n_samples - 2
    assert finished.get_combined_metrics(offset=10**6).columns == []
    assert len(finished.get_combined_metrics(offset=-3)) == finished.n_samples


def test_amounts_add_up_to_what_was_used():
    with ResourceTracker(interval=0.1) as tracker:
        end = time.process_time() + 0.6
        while time.process_time() < end:
            pass
    frame = tracker.process_metrics
    used = sum(frame["utime"]) + sum(frame["stime"])
    assert 0.55 < used < 1.5
    assert max(frame["cpu_usage"]) <= 2
    total = tracker.totals()["cpu_s"]
    assert total["value"] == pytest.approx(used, abs=0.05)
    assert total["quality"] in ("exact", "at_least")


def test_a_job_shorter_than_a_tick_has_its_totals():
    with ResourceTracker() as tracker:
        end = time.process_time() + 0.05
        while time.process_time() < end:
            pass
    assert tracker.n_samples == 1
    used = sum(tracker.process_metrics["utime"] + tracker.process_metrics["stime"])
    assert 0.05 <= used < 1  # all of it: counting begins before start() returns
    assert 0 < tracker.stats()["process_cpu_usage"]["max"] <= 1.1
    assert tracker.recommend_resources()["cpu"] == 1


def test_another_process(burner):
    with ResourceTracker(pid=burner.pid, interval=0.1, track_system=False) as tracker:
        tracker.wait_for_samples(5, timeout=120)
    frame = tracker.process_metrics
    assert set(frame["pid"]) == {burner.pid} and set(frame["children"]) == {0}
    assert max(frame["cpu_usage"]) > 0.02
    assert tracker.stats()["process_cpu_usage"]["max"] == round(max(frame["cpu_usage"]), 2)


def test_children_count_or_not():
    before = len(get_process_children(os.getpid()))
    child = subprocess.Popen([sys.executable, "-c",
                              "x = bytearray(80 << 20)\nprint(1, flush=True)\n"
                              "import time\ntime.sleep(60)"], stdout=subprocess.PIPE)
    child.stdout.readline()
    try:
        with ResourceTracker(interval=0.05) as tree, ResourceTracker(
                interval=0.05, children=False) as alone:
            tree.wait_for_samples(3, timeout=120)
            alone.wait_for_samples(3, timeout=120)
    finally:
        child.kill()
        child.wait()
    assert tree.process_metrics["memory"][-1] > alone.process_metrics["memory"][-1] + 75 * 1024
    assert tree.process_metrics["children"][-1] == before + 1
    assert set(alone.process_metrics["children"]) == {None}


@pytest.mark.parametrize("level", ["process", "system"])
def test_one_side_alone(level):
    with ResourceTracker(interval=0.05, track_processes=level == "process",
                         track_system=level == "system") as tracker:
        tracker.wait_for_samples(2, timeout=120)
    assert tracker.trackers == [f"{level}_tracker"]
    assert tracker.n_samples >= 2
    frame = tracker.get_combined_metrics()
    assert all(c == "timestamp" or c.startswith(level) for c in frame.columns)
    assert "timestamp" in tracker.stats()
    again = ResourceTracker.loads(tracker.dumps())
    assert again.n_samples == tracker.n_samples
    assert tracker.report()
    assert tracker.recommend_resources()["cpu"] >= 1


# ---- statistics and advice ----

def test_default_statistics(finished):
    stats = finished.stats()
    assert {c: sorted(v) for c, v in stats.items()} == {
        "process_cpu_usage": ["max", "mean"], "process_memory": ["max", "mean"],
        "process_gpu_usage": ["max", "mean"], "process_gpu_vram": ["max", "mean"],
        "process_gpu_utilized": ["max", "mean"], "system_disk_space_used_gb": ["max"],
        "system_net_recv_bytes": ["sum"], "system_net_sent_bytes": ["sum"],
        "timestamp": ["duration"]}
    assert stats["process_memory"]["max"] == max(finished.process_metrics["memory"])
    assert stats["process_memory_mib"]["max"] == stats["process_memory"]["max"] / 1024
    times = finished.system_metrics["timestamp"]
    assert stats["timestamp"]["duration"] == pytest.approx(times[-1] - times[0] + finished.interval)


def test_statistics_of_ones_own(finished):
    stats = finished.stats([StatSpec("process_memory", max, "most", 0),
                            StatSpec("system_cpu_usage", min)])
    assert stats["process_memory"]["most"] == max(finished.process_metrics["memory"])
    assert set(stats["system_cpu_usage"]) == {"min"}


def snapshot_with(cpu, memory_mib, gpu=0.0, vram=0.0):
    """A tracker whose process tree used so much."""
    process = {"timestamp": 1.0, "pid": 1, "children": 0, "utime": 1, "stime": 0,
               "cpu_usage": cpu, "memory_mib": memory_mib, "disk_read_bytes": 0,
               "disk_write_bytes": 0, "gpu_usage": gpu, "gpu_vram_mib": vram, "gpu_utilized": 0}
    system = {c.name: 1.0 for c in SCHEMAS["0.5"].system}
    metadata = {"version": 1, "resource_tracker": {"version": "0.5.0", "implementation": "procfs"},
                "pid": 1, "children": True, "interval": 1, "method": None, "autostart": False,
                "track_processes": True, "track_system": True, "discover_server": True,
                "discover_cloud": True, "start_time": 0.0, "stop_time": 1.0, "duration": 2.0}
    return ResourceTracker.from_snapshot({
        "metadata": metadata, "server_info": None, "cloud_info": None,
        "process_metrics": [process], "system_metrics": [system]})


@pytest.mark.parametrize("cpu, memory, gpu, vram, want", [
    (0.1, 10, 0, 0, {"cpu": 1, "memory": 128, "gpu": 0, "vram": 0}),
    (2.5, 300, 0, 0, {"cpu": 2, "memory": 512, "gpu": 0, "vram": 0}),
    (3.6, 1000, 0.2, 100, {"cpu": 4, "memory": 2048, "gpu": 1, "vram": 128}),
    (1, 4124, 1.7, 20000, {"cpu": 1, "memory": 5120, "gpu": 2, "vram": 24576}),
    (1, 100000, 0, 0, {"cpu": 1, "memory": 120832, "gpu": 0, "vram": 0})])
def test_what_to_request_by_the_original_rule(cpu, memory, gpu, vram, want, monkeypatch):
    tracker = snapshot_with(cpu, memory, gpu, vram)
    assert tracker.recommend_resources(method="original") == want
    # It holds as well where the library cannot be loaded.
    monkeypatch.setattr(_engine, "_core", None)
    assert tracker.recommend_resources() == want


@pytest.mark.parametrize("cpu, memory, gpu, vram", [
    (0.1, 10, 0, 0), (2.5, 300, 0, 0), (3.6, 1000, 0.2, 100), (1, 4124, 1.7, 20000)])
def test_what_to_request(cpu, memory, gpu, vram):
    request = snapshot_with(cpu, memory, gpu, vram).recommend_resources()
    assert request["cpu"] >= 1 and request["memory"] > memory
    assert (request["gpu"] >= 1) == (gpu > 0) and request["vram"] * max(request["gpu"], 1) >= vram
    with pytest.raises(ValueError, match="method must be"):
        snapshot_with(1, 300).recommend_resources(method="best")


def test_history_counts():
    tracker = snapshot_with(1.0, 300)
    new = [{"process_cpu_usage": {"mean": 5.0, "max": 6.0}, "process_memory_mib": {"max": 4124.0}}]
    old = [{"process_cpu_usage": {"mean": 5.0, "max": 6.0},
            "process_memory": {"max": 4124.0 * 1024}}]
    assert tracker.recommend_resources(new, "original") == tracker.recommend_resources(
        old, "original") == {"cpu": 3, "memory": 5120, "gpu": 0, "vram": 0}
    assert tracker.recommend_resources(new) == tracker.recommend_resources(old)
    assert tracker.recommend_resources(new)["memory"] > 4124
    assert tracker.recommend_resources(historical_stats=[tracker.stats()])["memory"] < 4124


def test_tracker_snapshot_and_report_name_one_request_and_one_server(tmp_path):
    with ResourceTracker(interval=0.1) as tracker:
        block = bytearray(200 << 20)
        for i in range(0, len(block), 4096):
            block[i] = 1
        end = time.monotonic() + 1
        while time.monotonic() < end:
            pass
    del block
    tracker.dump(str(tmp_path / "snapshot.json"))
    loaded = ResourceTracker.load(str(tmp_path / "snapshot.json"))
    request, server = tracker.recommend_resources(), tracker.recommend_server()
    assert request["memory"] > 200
    assert loaded.recommend_resources() == request
    same = loaded.recommend_server()
    for key in "vendor_id", "region_id", "api_reference", "billed_seconds", "run_cost":
        assert same[key] == server[key], key
    for page in tracker.report(), loaded.report():
        assert f"cpu={request['cpu']}, memory={request['memory']})" in page or (
            f"{request['memory']} MiB" in page)
        assert server["api_reference"] in page


def spin(job):
    """A stopped tracker of half a second, as a job of that name."""
    with ResourceTracker(interval=0.1, job=job, discover_cloud=False) as tracker:
        end = time.monotonic() + 0.5
        while time.monotonic() < end:
            pass
    return tracker


def test_tracker_snapshot_and_command_look_at_the_same_earlier_runs(tmp_path, monkeypatch, command):
    """An earlier run of the job needed more."""
    monkeypatch.setenv("RESOURCE_TRACKER_DIR", str(tmp_path))
    code = "import time; b = bytearray(1500 << 20)\nb[::4096] = b'1' * len(b[::4096])\ntime.sleep(0.3)"
    command("run", "--quiet", "--no-discovery", "-n", "nightly", "--", sys.executable, "-c", code)
    tracker = spin("nightly")
    tracker.dump(str(tmp_path / "snapshot.json"))
    loaded = ResourceTracker.load(str(tmp_path / "snapshot.json"))
    request, server = tracker.recommend_resources(), tracker.recommend_server()
    assert request["memory"] > 1500
    for one in loaded, ResourceTracker.loads(loaded.dumps()):
        assert one.recommend_resources() == request
        same = one.recommend_server()
        for key in "api_reference", "min_price_ondemand", "run_cost":
            assert same[key] == server[key], key
        assert server["api_reference"] in one.report()
    told = json.loads(command("recommend", "--json", tracker._tracker.recording))
    assert told["servers"][0]["api_reference"] == server["api_reference"]
    assert round(told["advice"]["memory"]["request_mib"]) == request["memory"]


def test_a_snapshot_that_does_not_know_its_job_stands_alone(tmp_path, monkeypatch, command):
    monkeypatch.setenv("RESOURCE_TRACKER_DIR", str(tmp_path))
    text = "b = bytearray(1500 << 20); b[::4096] = b'1' * len(b[::4096])"
    command("run", "--quiet", "--no-discovery", "-n", "job", "--", sys.executable, "-c", text)
    snapshot = json.loads(spin("job").dumps())
    del snapshot["metadata"]["job"], snapshot["metadata"]["scope"]
    assert ResourceTracker.loads(json.dumps(snapshot)).recommend_resources()["memory"] < 1500


def test_what_server_to_take():
    needs = snapshot_with(3.6, 6000).recommend_resources()
    server = snapshot_with(3.6, 6000).recommend_server()
    assert server["vcpus"] >= needs["cpu"] and server["memory_usable"] >= needs["memory"]
    assert server["min_price_ondemand"] > 0
    aws = snapshot_with(3.6, 6000).recommend_server(vendor_id="aws", region_id="eu-west-1")
    assert aws["vendor_id"] == "aws" and aws["region_id"] == "eu-west-1"
    assert aws["run_cost"] > 0
    with pytest.raises(TypeError, match="unknown limit on servers 'colour'"):
        snapshot_with(1, 300).recommend_server(colour="red")
    with pytest.raises(ValueError, match="memory must be a number, got 'much'"):
        snapshot_with(1, 300).recommend_server(memory="much")
    with pytest.raises(ValueError, match="unknown vendor nobody"):
        snapshot_with(1, 300).recommend_server(vendor_id="nobody")
    with pytest.raises(LookupError, match="the binding need is memory"):
        snapshot_with(1, 1e8).recommend_server()
    large = snapshot_with(3.6, 6000).recommend_server(cpu=16, memory=100000)
    assert large["vcpus"] >= 16 and large["memory_usable"] >= 100000
    earlier = {"architecture": "x86_64", "vendor_id": "aws", "region_id": "us-east-1"}
    assert not snapshot_with(1, 300).recommend_server(**earlier)["previous_generation"]
    assert snapshot_with(1, 300).recommend_server(
        previous_generation=True, **earlier)["previous_generation"]


# ---- life ----

def test_start_and_stop_again():
    tracker = ResourceTracker(autostart=False)
    assert not tracker.running and tracker.n_samples == 0
    tracker.stop()  # harmless
    tracker.start()
    with pytest.raises(RuntimeError,
                       match="Resource tracker already running, cannot start again."):
        tracker.start()
    tracker.stop()
    tracker.stop()
    with pytest.raises(RuntimeError, match="Resource tracker already stopped. Create a new "
                                           "instance instead of trying to restart it."):
        tracker.start()
    with pytest.raises(RuntimeError, match="already stopped"):
        with tracker:
            pass


def test_start_after_autostart_begins_anew():
    tracker = ResourceTracker(interval=0.05)
    tracker.wait_for_samples(3, timeout=120)
    first = tracker.start_time
    tracker.start()
    assert tracker.start_time > first
    assert all(t >= tracker.start_time for t in tracker.process_metrics["timestamp"])
    with pytest.raises(RuntimeError, match="already running"):
        tracker.start()
    tracker.stop()


def test_context_manager_never_swallows():
    with pytest.raises(KeyError):
        with ResourceTracker(interval=0.05) as tracker:
            assert tracker.running
            raise KeyError("x")
    assert not tracker.running
    assert (tracker.exit_code, tracker.run_status) == (1, "failed")
    with ResourceTracker(interval=0.05) as tracker:
        pass
    assert (tracker.exit_code, tracker.run_status) == (0, "finished")


def test_cleanup_keeps_what_was_measured():
    tracker = ResourceTracker(interval=0.05)
    tracker.wait_for_samples(2, timeout=120)
    recording = tracker._tracker.recording
    assert os.path.exists(recording)
    tracker.cleanup()
    tracker.cleanup()
    assert not os.path.exists(os.path.dirname(os.path.dirname(recording)))
    assert tracker.n_samples >= 2 and not tracker.running
    assert tracker.server_info["vcpus"] == os.cpu_count()


def test_nothing_is_left_when_it_is_collected():
    import gc

    tracker = ResourceTracker(interval=0.05)
    recording = tracker._tracker.recording
    del tracker
    gc.collect()
    assert not os.path.exists(recording)


def test_waiting():
    tracker = ResourceTracker(interval=0.05)
    assert tracker.wait_for_samples(n=3, timeout=120) is None
    assert tracker.n_samples >= 3
    with pytest.raises(RuntimeError, match="Timed out waiting for resource tracker to collect "
                                           "100000 samples"):
        tracker.wait_for_samples(100000, timeout=0.1)
    tracker.stop()
    with pytest.raises(RuntimeError, match=r"Resource tracker has been already stopped with \d+ "
                                           r"sample\(s\), cannot wait to collect the requested "
                                           r"100000 sample\(s\)."):
        tracker.wait_for_samples(100000, timeout=120)


def test_before_any_sample():
    tracker = ResourceTracker(autostart=False)
    assert len(tracker.get_combined_metrics()) == 0
    assert tracker.get_combined_metrics().columns == []
    assert len(tracker.process_metrics) == len(tracker.system_metrics) == 0
    for call in (tracker.stats, tracker.recommend_resources, tracker.report,
                 tracker.recommend_server):
        with pytest.raises(RuntimeError, match=r"No metrics collected \(yet\)"):
            call()
    assert tracker.snapshot()["process_metrics"] == []
    assert tracker.server_info["allocation"] is None


@pytest.mark.parametrize("options, error, message", [
    ({"interval": 0}, ValueError, "interval must be from 0.01 to 3600 seconds, got 0"),
    ({"interval": -1}, ValueError, "interval must be"),
    ({"interval": float("nan")}, ValueError, "interval must be"),
    ({"interval": "1"}, TypeError, "interval must be a number of seconds, got str"),
    ({"pid": 0}, ValueError, "pid must be above 0, got 0"),
    ({"pid": "1"}, TypeError, "pid must be a number"),
    ({"method": "thread"}, ValueError, "cannot find context for 'thread'"),
    ({"track_processes": False, "track_system": False}, ValueError, "nothing to track"),
    ({"schema": "9"}, ValueError, "unknown schema '9'"),
])
def test_options_that_make_no_sense(options, error, message):
    with pytest.raises(error, match=message):
        ResourceTracker(**options)


def test_a_process_that_is_not_there():
    process = subprocess.Popen(["true"])
    process.wait()
    with pytest.raises(ProcessLookupError, match=f"No such process: {process.pid}"):
        ResourceTracker(pid=process.pid)


def test_the_id_of_a_thread_stands_for_its_process():
    code = "import sys, threading; t = threading.Thread(target=sys.stdin.read); t.start(); " \
           "print(t.native_id, flush=True)"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        thread = int(process.stdout.readline())
        with pytest.warns(RuntimeWarning, match=f"pid {thread}: a thread of process {process.pid}, which is tracked"):
            tracker = ResourceTracker(pid=thread, interval=0.05)
        tracker.wait_for_samples(2, 120)
        tracker.stop()
    assert tracker.processes["pid"] == [process.pid]


def test_a_process_that_ends():
    process = subprocess.Popen(["sleep", "0.3"])
    tracker = ResourceTracker(pid=process.pid, interval=0.05)
    process.wait()
    end = time.monotonic() + 120
    while tracker.running and time.monotonic() < end:
        time.sleep(0.02)
    assert not tracker.running
    tracker.stop()
    assert tracker.n_samples >= 1
    assert None not in tracker.process_metrics["memory"]


def test_phases():
    with ResourceTracker(interval=0.05) as tracker:
        with tracker.phase("idle"):
            time.sleep(0.3)
        with tracker.phase("busy"):
            end = time.process_time() + 0.4
            while time.process_time() < end:
                pass
    frame = tracker.phases()
    assert frame["phase"] == ["idle", "busy"]
    assert frame["duration"][0] >= 0.3 and frame["duration"][1] >= 0.39
    assert frame["cpu_usage_mean"][1] > 2 * frame["cpu_usage_mean"][0]
    from resource_tracker import _core

    names = [name for name, _ in _core.Recording(tracker._tracker.recording).marks()]
    assert names == ["idle", "end of idle", "busy", "end of busy"]
    assert ResourceTracker.loads(tracker.dumps()).phases()["phase"] == ["idle", "busy"]


def test_where_it_runs(finished):
    info = finished.server_info
    assert info["os"] == "Linux" and info["vcpus"] == os.cpu_count()
    assert info["memory_mib"] == info["memory_mb"] == pytest.approx(
        os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**20, abs=1)
    assert info["allocation"] in ("shared", "dedicated")
    assert set(finished.cloud_info) >= {"vendor", "instance_type", "region", "discovery_time"}
    none = ResourceTracker(autostart=False, discover_server=False, discover_cloud=False)
    assert none.server_info is None and none.cloud_info is None
    assert none.sentinel_result is None


def test_allocation():
    def of(process, system):
        tracker = snapshot_with(process, 100.0)
        tracker._server_info = {}
        tracker._frozen["system"]["cpu_usage"] = [system]
        tracker._frozen["system"]["memory_used_mib"] = [100.0]
        tracker._frozen["system"]["gpu_usage"] = [0.0]
        tracker._frozen["system"]["gpu_vram_mib"] = [0.0]
        return tracker.server_info["allocation"]

    assert of(1.0, 1.2) == "dedicated"
    assert of(1.0, 1.3) == "shared"


def test_shown(finished):
    assert repr(finished).startswith(f"<ResourceTracker of pid {os.getpid()}, stopped, ")
    html = finished._repr_html_()
    assert "<table>" in html and "<svg" in html and "http" not in html
    (style,) = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    assert all(rule.strip().startswith(".resource-tracker ")
               for rule in re.findall(r"([^{}]+)\{", style))
    assert "No samples" in ResourceTracker(autostart=False)._repr_html_()


def test_report(finished, tmp_path, monkeypatch):
    report = finished.report()
    assert isinstance(report, str) and report.lower().startswith("<!doctype html>")
    path = tmp_path / "r.html"
    assert report.save(str(path)) is report
    assert path.read_text(encoding="utf-8") == report
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    assert report.browse() is report
    assert opened[0].startswith("file:///")
    os.unlink(opened[0][len("file://"):])
    meta = finished.report(integration="Metaflow", historical_stats=[finished.stats()],
                           status_failed=True)
    assert "@resources(cpu=" in meta and "failed" in meta and "from <code>Metaflow</code>" in meta
    assert " src=" not in meta and "://" not in meta


def test_report_escapes_what_others_say():
    tracker = snapshot_with(1.0, 100.0)
    tracker._cloud_info = {"vendor": "<script>alert(1)</script>", "region": "r",
                           "instance_type": "t"}
    assert "<script>alert" not in tracker.report(integration="R")


def test_a_late_first_sample_has_a_rate():
    from resource_tracker import _engine

    table = {"interval_s": [0.2, 0.1, 0.1], "process_utime": [0.1, 0.05, 0.1],
             "process_stime": [0.0, 0.0, 0.0], "process_cpu_usage": [None, 0.5, None],
             "process_memory_mib": [1, 1, 1]}
    assert _engine.settle(table, 0.1)["process_cpu_usage"] == [0.5, 0.5, 1.0]
    table["process_utime"][0], table["process_cpu_usage"][0] = None, None
    assert _engine.settle(table, 0.1)["process_cpu_usage"] == [None, 0.5, 1.0]
    alone = {"interval_s": [0.02], "process_utime": [0.01], "process_stime": [0.01],
             "process_cpu_usage": [None]}
    assert _engine.settle(alone, 0.1)["process_cpu_usage"] == [1.0]
