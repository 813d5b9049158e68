"""Every public name of the original, with its parameters and defaults, is here: docs/compatibility-python.md
says which differ."""

import importlib
import inspect
import pathlib
import re

import pytest

import resource_tracker

NONE = inspect.Parameter.empty
ROOT = pathlib.Path(__file__).resolve().parents[2]

#: "module.name" -> its parameters with their defaults, as in 0.5 (autostart as in 0.4)
FUNCTIONS = {
    "tracker.ProcessTracker": {"pid": None, "start_time": None, "interval": 1, "children": True,
                               "autostart": True, "output_file": None},
    "tracker.ProcessTracker.diff_stats": {"self": NONE},
    "tracker.ProcessTracker.start_tracking": {"self": NONE, "output_file": None,
                                              "print_header": True},
    "tracker.SystemTracker": {"start_time": None, "interval": 1, "autostart": True,
                              "output_file": None},
    "tracker.SystemTracker.diff_stats": {"self": NONE},
    "tracker.SystemTracker.start_tracking": {"self": NONE, "output_file": None,
                                             "print_header": True},
    "tracker.PidTracker": {"args": NONE, "kwargs": NONE},
    "tracker.ResourceTracker": {
        "pid": None, "children": True, "interval": 1, "method": None, "autostart": True,
        "track_processes": True, "track_system": True, "discover_server": True,
        "discover_cloud": True, "sentinel_token": None, "upload_interval": 60,
        "streaming_metadata": None},
    "tracker.ResourceTracker.start": {"self": NONE},
    "tracker.ResourceTracker.stop": {"self": NONE, "exit_code": 0, "run_status": "finished"},
    "tracker.ResourceTracker.cleanup": {"self": NONE},
    "tracker.ResourceTracker.wait_for_samples": {"self": NONE, "n": 1, "timeout": 5},
    "tracker.ResourceTracker.get_combined_metrics": {
        "self": NONE, "bytes": False, "human_names": False, "system_prefix": None,
        "process_prefix": None, "offset": None},
    "tracker.ResourceTracker.stats": {"self": NONE, "specs": None},
    "tracker.ResourceTracker.recommend_resources": {"self": NONE, "historical_stats": ()},
    "tracker.ResourceTracker.recommend_server": {"self": NONE, "kwargs": NONE},
    "tracker.ResourceTracker.report": {"self": NONE, "integration": "standalone",
                                       "historical_stats": (), "status_failed": False,
                                       "integration_version": None},
    "tracker.ResourceTracker.snapshot": {"self": NONE},
    "tracker.ResourceTracker.from_snapshot": {"snapshot": NONE},
    "tracker.ResourceTracker.dumps": {"self": NONE},
    "tracker.ResourceTracker.loads": {"s": NONE},
    "tracker.ResourceTracker.dump": {"self": NONE, "file": NONE},
    "tracker.ResourceTracker.load": {"file": NONE},
    "tracker_procfs.get_process_stats": {"pid": NONE, "children": True},
    "tracker_procfs.get_system_stats": {},
    "tracker_procfs.get_process_children": {"pid": NONE},
    "tracker_procfs.get_process_proc_io": {"pid": NONE},
    "tracker_procfs.get_process_proc_times": {"pid": NONE, "children": True},
    "tracker_procfs.get_process_pss_rollup": {"pid": NONE},
    "tracker_procfs.get_process_rss": {"pid": NONE},
    "tracker_procfs.get_sector_sizes": {},
    "tracker_psutil.get_process_stats": {"pid": NONE, "children": True},
    "tracker_psutil.get_system_stats": {},
    "nvidia.start_nvidia_smi": {},
    "nvidia.start_nvidia_smi_pmon": {},
    "nvidia.process_nvidia_smi": {"nvidia_process": NONE},
    "nvidia.process_nvidia_smi_pmon": {"nvidia_process": NONE, "pids": None},
    "server_info.get_server_info": {},
    "server_info.get_gpu_info": {},
    "server_info.get_total_memory_mib": {},
    "server_info.get_total_memory_mb": {},
    "cloud_info.get_cloud_info": {},
    "keeper.get_instance_price": {"vendor_id": NONE, "region_id": NONE, "instance_type": NONE},
    "keeper.get_recommended_cloud_servers": {"cpu": NONE, "memory": NONE, "gpu": None,
                                             "vram": None, "n": 10, "filters": NONE},
    "report.Report.save": {"self": NONE, "filepath": NONE},
    "report.Report.browse": {"self": NONE},
    "report.round_memory": {"mib": None},
    "helpers.round_memory": {"mib": None},
    "tiny_bars.render_template": {"template": NONE, "context": NONE},
    "tiny_data_frame.TinyDataFrame": {"data": None, "csv_file_path": None, "retries": 0,
                                      "retry_delay": 0.1},
    "tiny_data_frame.TinyDataFrame.head": {"self": NONE, "n": 5},
    "tiny_data_frame.TinyDataFrame.tail": {"self": NONE, "n": 5},
    "tiny_data_frame.TinyDataFrame.rename": {"self": NONE, "columns": NONE},
    "tiny_data_frame.TinyDataFrame.stats": {"self": NONE, "specs": NONE},
    "tiny_data_frame.TinyDataFrame.to_csv": {"self": NONE, "csv_file_path": None,
                                             "quote_strings": True},
    "tiny_data_frame.TinyDataFrame.to_dict": {"self": NONE},
    "tiny_data_frame.StatSpec": {"column": NONE, "agg": NONE, "agg_name": None, "round": None},
    "helpers.aggregate_stats": {"stats": NONE},
    "helpers.cleanup_files": {"files": NONE},
    "helpers.cleanup_processes": {"processes": NONE},
    "helpers.get_tracker_implementation": {},
    "helpers.get_zfs_pools_space": {},
    "helpers.is_partition": {"disk_name": NONE},
    "helpers.is_procfs_available": {},
    "helpers.is_psutil_available": {},
    "helpers.render_csv_row": {"row": NONE, "quoting": 2},
    "dummy_workloads.cpu_single": {"duration": 1},
    "dummy_workloads.cpu_multi": {"duration": 1, "ncores": 2},
}

PROPERTIES = ["n_samples", "process_metrics", "system_metrics", "server_info", "cloud_info",
              "running", "sentinel_result"]
ATTRIBUTES = ["pid", "children", "interval", "method", "autostart", "trackers", "discover_server",
              "discover_cloud", "start_time", "stop_time"]


def find(path):
    module, *names = path.split(".")
    found = importlib.import_module(f"resource_tracker.{module}")
    for name in names:
        found = getattr(found, name)
    return found


@pytest.mark.parametrize("path", FUNCTIONS)
def test_parameters_in_their_order(path):
    ours = {name: p.default for name, p in inspect.signature(find(path)).parameters.items()}
    theirs = FUNCTIONS[path]
    # What is new stands behind, and has a default.
    assert dict(list(ours.items())[:len(theirs)]) == theirs
    assert list(ours)[:len(theirs)] == list(theirs)
    assert all(default is not NONE for default in list(ours.values())[len(theirs):])


def test_names_of_the_package():
    assert resource_tracker.__all__[:5] == [
        "ProcessTracker", "SystemTracker", "ResourceTracker", "get_cloud_info", "get_server_info"]
    for name in resource_tracker.__all__:
        assert callable(getattr(resource_tracker, name))
    handlers = [type(h).__name__ for h in resource_tracker.logger.handlers]
    assert "NullHandler" in handlers


def test_attributes_of_a_tracker(finished):
    for name in PROPERTIES:
        assert isinstance(inspect.getattr_static(type(finished), name), property)
    for name in ATTRIBUTES:
        assert hasattr(finished, name)
    assert finished.trackers == ["process_tracker", "system_tracker"]


def test_constants():
    from resource_tracker.tracker import (BYTE_MAPPING, HUMAN_NAMES_MAPPING, REPORT_CSV_MAPPING,
                                          SERVER_ALLOCATION_CHECKS)

    assert BYTE_MAPPING and HUMAN_NAMES_MAPPING and SERVER_ALLOCATION_CHECKS
    assert set(REPORT_CSV_MAPPING) == {"cpu", "mem", "disk", "disk_space", "net", "gpu_usage",
                                       "gpu_utilized", "gpu_vram", "gpu_vram_mib"}


def test_absent_modules_are_those_that_the_page_tells():
    page = (ROOT / "docs/compatibility-python.md").read_text(encoding="utf-8")
    (line,) = [line for line in page.splitlines() if line.startswith("| modules `streaming`")]
    for name in re.findall(r"`(\w+)`", line):
        with pytest.raises(ImportError):
            importlib.import_module(f"resource_tracker.{name}")


def test_a_script_of_the_older_version(script):
    assert script.output("""
        from resource_tracker import ResourceTracker
        tracker = ResourceTracker(interval=0.05)
        tracker.wait_for_samples(n=3)
        tracker.stop()
        frame = tracker.get_combined_metrics()
        assert max(frame["process_memory"]) > 1000 and max(frame["system_memory_used"]) > 1000
        assert frame["process_read_bytes"] and tracker.server_info["memory_mb"] > 0
        assert tracker.stats()["process_memory"]["max"] > 1000
        print("good")
    """) == "good\n"


def test_a_script_of_the_newer_version(script):
    assert script.output("""
        from resource_tracker import ResourceTracker
        tracker = ResourceTracker(interval=0.05)
        tracker.start()
        tracker.wait_for_samples(n=3)
        tracker.stop(exit_code=0)
        frame = tracker.get_combined_metrics()
        assert 1 < max(frame["process_memory_mib"]) < 500
        assert frame["process_disk_read_bytes"] and tracker.server_info["memory_mib"] > 0
        assert 1 < tracker.stats()["process_memory_mib"]["max"] < 500
        with ResourceTracker(interval=0.05) as other:
            other.wait_for_samples(n=2)
        assert other.process_metrics["memory_mib"][0] < 500
        print("good")
    """) == "good\n"
