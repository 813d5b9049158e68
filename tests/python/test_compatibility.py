"""Tests that every public name of the original package exists, with its parameters and defaults.
docs/compatibility-python.md lists the differences."""

import importlib
import inspect
import json
import pathlib
import re

import pytest

import resource_tracker

ROOT = pathlib.Path(__file__).resolve().parents[2]

#: Public names of the original, made by introspection: "module.name versions" -> parameters with their defaults,
#: None of what cannot be called; and the names that its modules import from one another.
ORIGINAL = json.loads((pathlib.Path(__file__).parent / "users/names.json").read_text(encoding="utf-8"))

#: Name, or name and parameter, that differs -> words of docs/compatibility-python.md that say so
DIFFERENT = {
    "cloud_info.METADATA_REQUEST_TIMEOUT": "`cloud_info.METADATA_REQUEST_TIMEOUT`",
    "tiny_bars.DOUBLE_RE": "`DOUBLE_RE`",
    "tiny_bars.EACH_RE": "`EACH_RE`",
    "tiny_bars.FILTER_PARAM_RE": "`FILTER_PARAM_RE`",
    "tiny_bars.FILTER_RE": "`FILTER_RE`",
    "tiny_bars.TRIPLE_RE": "`TRIPLE_RE`",
    "tiny_data_frame.TinyDataFrame.columns": "`TinyDataFrame.columns` of the class",
    "tracker.ProcessTracker pid": "`pid` and `start_time` default to those of the import",
    "tracker.ProcessTracker start_time": "`pid` and `start_time` default to those of the import",
    "tracker.SystemTracker start_time": "`pid` and `start_time` default to those of the import",
    "tracker.ResourceTracker pid": "`pid` and `start_time` default to those of the import",
    "tracker.ResourceTracker autostart": "| `autostart` | `True` | `False` |",
    "tracker.ResourceTracker.stats specs": "`specs` of `stats` is the list of 14 statistics",
    "tracker.ResourceTracker.stop run_status": "`run_status` of `stop` is `RunStatus.finished`",
    "keeper.keeper_request endpoint": "`endpoint` of `keeper_request` is an address",
    "report.round_memory mb": "`round_memory` (`mib=` and `mb=`)",
}

PROPERTIES = ["n_samples", "process_metrics", "system_metrics", "server_info", "cloud_info",
              "running", "sentinel_result"]
ATTRIBUTES = ["pid", "children", "interval", "method", "autostart", "trackers", "discover_server",
              "discover_cloud", "start_time", "stop_time"]


def find(path):
    """The value at a dotted path below the package."""
    found = resource_tracker
    for name in path.split("."):
        try:
            found = inspect.getattr_static(found, name) if inspect.isclass(found) else getattr(found, name)
        except AttributeError:
            found = importlib.import_module(f"resource_tracker.{name}")
    return found


def parameters_of(value):
    """Parameters with their defaults, in their order; "required" where there is none."""
    value = getattr(value, "__func__", value)  # of a class method
    prefix = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    return {prefix.get(p.kind, "") + name: "required" if p.default is p.empty else
            [] if p.default == () else p.default
            for name, p in inspect.signature(value).parameters.items()}


def differences(path, theirs):
    """What is not here as there: the name, or the name and a parameter."""
    try:
        value = find(path)
    except (AttributeError, ImportError):
        return [path]
    if theirs is None or path == "report.Report":  # built as any str is
        return []
    ours = parameters_of(value)
    found = [f"{path} {name}" for (name, default), mine in zip(theirs.items(), list(ours.items()))
             if mine[0] != name or (default != "required" and mine[1] != default)]
    assert len(ours) >= len(theirs), path
    # What is new stands behind, and has a default.
    new = list(ours.items())[len(theirs):]
    assert all(default != "required" or name[0] == "*" for name, default in new), path
    return found


def test_every_name_is_here_or_the_page_says_why():
    found = {name for path, theirs in ORIGINAL["names"].items() for name in differences(path.split()[0], theirs)}
    assert found == set(DIFFERENT)
    page = (ROOT / "docs/compatibility-python.md").read_text(encoding="utf-8")
    assert [words for words in DIFFERENT.values() if words not in page] == []


def test_what_a_module_imported_there_is_in_its_own_module_here():
    assert [home for home in ORIGINAL["imported"].values() if not callable(find(home)) and home != "logger"] == []


def test_the_deprecated_name_is_a_class():
    from resource_tracker.tracker import PidTracker, ProcessTracker

    class Mine(PidTracker):
        pass

    with pytest.warns(DeprecationWarning, match="PidTracker is deprecated"):
        tracker = Mine(autostart=False)
    assert isinstance(tracker, ProcessTracker) and tracker.status == "running"


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
        tracker.wait_for_samples(n=3, timeout=120)
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
        tracker.wait_for_samples(n=3, timeout=120)
        tracker.stop(exit_code=0)
        frame = tracker.get_combined_metrics()
        assert 1 < max(frame["process_memory_mib"]) < 500
        assert frame["process_disk_read_bytes"] and tracker.server_info["memory_mib"] > 0
        assert 1 < tracker.stats()["process_memory_mib"]["max"] < 500
        with ResourceTracker(interval=0.05) as other:
            other.wait_for_samples(n=2, timeout=120)
        assert other.process_metrics["memory_mib"][0] < 500
        print("good")
    """) == "good\n"
