"""Tests both schemas: rows, frames, statistics and snapshots accept the names of the other schema, and one setting
selects the names of all of them."""

import copy
import json
import math
import os
import pickle

import pytest

import resource_tracker
from resource_tracker import ResourceTracker, TinyDataFrame, set_schema
from resource_tracker._figures import _space_used
from resource_tracker.column_maps import SCHEMAS, default_schema
from resource_tracker.tracker_procfs import get_system_stats

from test_snapshots import NEW, OLD


@pytest.fixture(autouse=True)
def nothing_chosen(monkeypatch, tmp_path):
    """No setting of the machine, and none that is left behind."""
    from resource_tracker import column_maps

    monkeypatch.delenv("RESOURCE_TRACKER_SCHEMA", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(column_maps, "_configured", None)
    yield
    set_schema(None)


def configure(tmp_path, text, mode=0o600):
    path = tmp_path / "config" / "resource-tracker" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    path.chmod(mode)
    return path


# ---- rows ----

@pytest.fixture(params=["0.4", "0.5"])
def frames(request):
    """Of a snapshot of each schema: the tree, the machine, both."""
    tracker = ResourceTracker.from_snapshot(OLD if request.param == "0.4" else NEW)
    return tracker.process_metrics, tracker.system_metrics, tracker.get_combined_metrics()


def test_a_row_answers_to_both_schemas(frames):
    process, system, both = frames
    for row in (process[0], next(iter(process)), process.to_dict()[0], process[:1][0],
                process.head(1)[0], process[["memory", "timestamp"]][0]):
        assert row["memory_mib"] == 300 and row["memory"] == 307200
        assert row.get("memory_mib") == 300 and row.get("nothing", 7) == 7
        assert "memory" in row and "memory_mib" in row and "nothing" not in row
        with pytest.raises(KeyError):
            row["nothing"]
    assert system[0]["memory_used"] == 2048 and system[0]["memory_used_mib"] == 2
    assert both[0]["process_memory_mib"] == 300 and both[-1]["system_memory_used"] == 2048
    assert process[0]["read_bytes"] == process[0]["disk_read_bytes"] == 10
    for name in ("memory", "memory_mib", "read_bytes", "disk_read_bytes"):
        assert name in process
    assert "nothing" not in process and 5 not in process


def test_a_row_holds_the_names_of_its_own_schema_only(frames):
    row = frames[0][0]
    assert set(row) == set(row.keys()) == set(json.loads(json.dumps(row))) in (
        set(PROCESS) for PROCESS in ([c.name for c in s.process] for s in SCHEMAS.values()))
    assert dict(row) == row and {**row} == row
    for again in (pickle.loads(pickle.dumps(row)), copy.copy(row), copy.deepcopy(row), row.copy()):
        assert again == row and again["memory_mib"] == 300 and again["memory"] == 307200


def test_bytes_answer_to_both_names():
    for snapshot in (OLD, NEW):
        frame = ResourceTracker.from_snapshot(snapshot).get_combined_metrics(bytes=True)
        assert frame[0]["process_memory"] == frame[0]["process_memory_mib"] == 300 * 2**20


def test_renaming_by_either_name(frames):
    process = frames[0]
    process.rename({"memory_mib": "mib", "timestamp": "time"})
    assert process["mib"] == [300, 300] and process.columns[0] == "time"
    assert "memory" not in process and "memory_mib" not in process and len(process.columns) == 12
    with pytest.raises(KeyError, match="Column 'memory_mib' not found in dataframe"):
        process.rename({"memory_mib": "x"})


def test_statistics_answer_by_get(frames):
    tracker = ResourceTracker.from_snapshot(OLD)
    stats = tracker.stats()
    assert stats.get("process_memory_mib") == {"mean": 300, "max": 300}
    assert stats.get("process_memory")["max"] == 307200
    assert stats.get("nothing") is None and "process_memory_mib" in stats
    assert "process_memory_mib" not in list(stats)
    assert json.loads(json.dumps(stats)) == dict(stats)


def test_rows_that_went_through_json_or_csv_answer_as_well(frames, tmp_path):
    for frame in frames:
        again = TinyDataFrame(json.loads(json.dumps(frame.to_dict())))
        assert again.columns == frame.columns
        frame.to_csv(str(tmp_path / "f.csv"))
        for copied in (again, TinyDataFrame(csv_file_path=str(tmp_path / "f.csv"))):
            for name in ("memory", "memory_mib", "memory_used", "process_memory_mib",
                         "system_memory_used_mib"):
                if name in frame:
                    assert copied[name] == frame[name] and copied[0][name] == frame[0][name]
    assert "memory_mib" not in TinyDataFrame({"memory": [1], "timestamp": [2]})


def test_another_schemas_columns_for_other_libraries(frames):
    pandas = pytest.importorskip("pandas")
    for frame, level in zip(frames, ("process", "system", None)):
        for schema in SCHEMAS:
            other = frame.to_schema(schema)
            if level:
                assert other.columns == [c.name for c in SCHEMAS[schema].columns(level)]
            table = pandas.DataFrame(other.to_dict())
            assert list(table.columns) == list(pandas.DataFrame(other).columns) == other.columns
            assert list(other.to_pandas().columns) == other.columns
    process = frames[0].to_schema("0.5")
    for names in (["timestamp", "memory"], ["timestamp", "memory_mib"]):
        assert frames[0][names].to_schema("0.5").columns == ["timestamp", "memory_mib"]
        assert frames[0][names].to_schema("0.4")["memory"] == [307200, 307200]
    assert process["memory_mib"] == [300, 300] and process.to_schema("0.4")["memory"] == [307200] * 2
    picked = pandas.DataFrame(frames[0][["timestamp", "memory_mib", "memory"]].to_dict())
    assert list(picked["memory_mib"] * 1024) == list(picked["memory"]) == [307200, 307200]
    with pytest.raises(ValueError, match="unknown schema '7', there are: 0.4, 0.5"):
        frames[0].to_schema("7")


def test_pandas_and_polars_have_the_columns_of_one_schema(frames):
    """That of the frame, as iteration, to_dict() and JSON have; another one where it is named."""
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    for made in (pandas.DataFrame(frames[0]), pandas.DataFrame(frames[0].to_dict()),
                 pandas.DataFrame(list(frames[0])), frames[0].to_pandas(), polars.DataFrame(frames[0]),
                 frames[0].to_polars()):
        assert list(made.columns) == frames[0].columns
    for name, memory in ("0.4", ("memory", 307200)), ("0.5", ("memory_mib", 300)):
        for made in (frames[0].to_pandas(name), pandas.DataFrame(frames[0].to_schema(name)),
                     frames[0].to_polars(name)):
            assert list(made.columns) == [c.name for c in SCHEMAS[name].process]
            assert list(made[memory[0]]) == [memory[1]] * 2
    with pytest.raises(ValueError, match="unknown schema '7'"):
        frames[0].to_pandas("7")


def test_disk_space_is_converted(frames):
    gib = frames[1].to_schema("0.4")["disk_space_total_gb"][0]
    gb = frames[1].to_schema("0.5")["disk_space_total_gb"][0]
    assert gb == pytest.approx(gib * 2**30 / 1e9, abs=0.02)


def types_of(frame):
    """Types of the columns for pandas, for polars, and through Arrow for both, by the names of polars."""
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    names = {"float64": "Float64", "int64": "Int64", "bool": "Boolean", "str": "String", "object": "String"}
    found = [{name: names[str(kind)] for name, kind in frame.to_pandas().dtypes.items()}]
    found += [dict(zip(made.columns, map(str, made.dtypes)))
              for made in (frame.to_polars(), polars.DataFrame(frame))]
    made = pandas.DataFrame.from_arrow(frame) if hasattr(pandas.DataFrame, "from_arrow") else frame.to_pandas()
    found += [{name: names[str(kind)] for name, kind in made.dtypes.items()}]
    return found


def test_a_column_has_one_type_whatever_is_known(frames):
    """Of whole numbers, of fractions, of nothing and without rows."""
    wanted = [{name: "Int64" if name.endswith("pid") else "Float64" for name in frame.columns} for frame in frames]
    assert "Int64" in wanted[0].values() and "Int64" in wanted[2].values()
    for frame, want in zip(frames, wanted):
        unknown = {name: [None, *values[1:]] if kind == "Float64" else values
                   for (name, values), kind in zip(frame._data.items(), want.values())}
        empty = {name: [None] * len(frame) if kind == "Float64" else values
                 for (name, values), kind in zip(frame._data.items(), want.values())}
        for same in (frame, frame[:0], frame[:1], frame.to_schema("0.4").to_schema(frame._layout.schema),
                         frame._like(unknown), frame._like(empty)):
            assert types_of(same) == [want] * 4
    assert math.isnan(frames[0]._like({"children": [None]}).to_pandas()["children"][0])
    renamed = frames[0].head().rename({"pid": "process"})
    assert types_of(renamed)[0]["process"] == "Int64"
    renamed["memory"] = ["a"] * len(renamed)
    assert types_of(renamed)[0]["memory"] == "String"


def test_other_tables_have_one_type_a_column_too(finished):
    from resource_tracker import recording

    tracker = ResourceTracker(autostart=False)
    texts = {"file", "function", "below", "program", "command", "phase"}
    whole = {"samples", "pid", "processes"}
    for full, empty in ((finished.lines(), tracker.lines()), (finished.programs, tracker.programs),
                        (finished.processes, tracker.processes)):
        want = {name: "String" if name in texts else "Int64" if name in whole else
                "Boolean" if name == "ended" else "Float64" for name in full.columns}
        assert types_of(full) == types_of(empty) == [want] * 4
    assert recording.PROCESSES[4] == "ended" and len(finished.processes)
    with ResourceTracker(interval=0.05) as short:
        with short.phase("a"):
            short.wait_for_samples(3, timeout=120)
    assert types_of(short.phases())[0] == {name: "String" if name == "phase" else "Float64"
                                           for name in short.phases().columns}


def test_frames_of_a_user_have_the_types_of_their_values():
    frame = TinyDataFrame({"a": [1, 2], "b": [1, 2.5], "c": ["x", None], "d": [True, False], "e": [1, None]})
    assert types_of(frame)[2] == {"a": "Int64", "b": "Float64", "c": "String", "d": "Boolean", "e": "Int64"}
    assert types_of(frame)[0] == {"a": "Int64", "b": "Float64", "c": "String", "d": "Boolean", "e": "Float64"}


@pytest.mark.parametrize("schema", ["0.4", "0.5"])
def test_used_space_is_total_less_free_as_in_the_original(schema):
    """What only root may fill counts as used: `statvfs` of this machine's file systems tells how much that is."""
    with ResourceTracker(interval=0.05, schema=schema) as tracker:
        tracker.wait_for_samples(2, timeout=120)
    row = tracker.system_metrics[-1]
    assert row["disk_space_used_gb"] == pytest.approx(
        row["disk_space_total_gb"] - row["disk_space_free_gb"], abs=0.02)
    spaces = get_system_stats(schema=schema)["disk_spaces"]
    for point, space in spaces.items():
        found = os.statvfs(point)
        assert space["used"] == space["total"] - space["free"]
        assert space["total"] == found.f_blocks * found.f_frsize
    unit = 2**30 if schema == "0.4" else 1e9
    assert row["disk_space_used_gb"] * unit == pytest.approx(
        sum(space["used"] for space in spaces.values()), rel=0.02)
    # Where root has a reserve and where nothing is known, whatever this machine has.
    names = [f"system_disk_space_{kind}_gb" for kind in ("total", "used", "free")]
    assert _space_used(dict(zip(names, ([10, 10, None], [3, 3, None], [5, None, 5])))) == [5, 3, None]


def test_a_snapshot_answers_and_is_written_in_its_own_schema():
    for snapshot in (OLD, NEW):
        tracker = ResourceTracker.from_snapshot(snapshot)
        taken = tracker.snapshot()
        assert taken["process_metrics"][0]["memory_mib"] == 300
        assert taken["process_metrics"][0]["memory"] == 307200
        written = json.loads(tracker.dumps())
        assert list(written["process_metrics"][0]) == list(snapshot["process_metrics"][0])
        assert written["metadata"]["schema"] == tracker.schema


# ---- one setting ----

def test_the_default_is_the_older_schema():
    assert default_schema() == resource_tracker.default_schema() == "0.4"


SETTINGS = """
from resource_tracker import ResourceTracker, SystemTracker
from resource_tracker.tracker_procfs import get_process_stats, get_system_stats
import os, resource_tracker, sys
{before}
with ResourceTracker(interval=0.05, discover_cloud=False) as tracker:
    tracker.wait_for_samples(2, timeout=120)
again = ResourceTracker.loads(tracker.dumps())
print(tracker.schema, again.schema, "memory_mib" in tracker.process_metrics.columns,
      "system_memory_used_mib" in tracker.get_combined_metrics().columns,
      "process_memory_mib" in list(tracker.stats()), tracker.snapshot()["metadata"]["schema"],
      "memory_mib" in list(get_process_stats(os.getpid())),
      "memory_used_mib" in list(get_system_stats()),
      "memory_used_mib" in list(SystemTracker(autostart=False).diff_stats()))
"""
NEWER = "0.5 0.5 True True True 0.5 True True True\n"
OLDER = "0.4 0.4 False False False 0.4 False False False\n"


@pytest.mark.parametrize("before, variable, file, want", [
    ("resource_tracker.set_schema('0.5')", None, None, NEWER),
    ("", "0.5", None, NEWER),
    ("", None, "[python]\nschema = '0.5'  # as before\n", NEWER),
    ("", None, "schema = '0.5'\n[job]\nschema = '0.5'\n", OLDER),
    ("", "0.4", '[ python ]\nschema="0.5"\n', OLDER),
    ("resource_tracker.set_schema('0.4')", "0.5", None, OLDER),
    ("resource_tracker.set_schema('0.5'); resource_tracker.set_schema(None)", None, None, OLDER),
])
def test_one_setting_is_for_everything(script, tmp_path, before, variable, file, want):
    if file:
        configure(tmp_path, file)
    env = {**os.environ, **({"RESOURCE_TRACKER_SCHEMA": variable} if variable else {})}
    assert script.output(SETTINGS.format(before=before), env=env) == want


def test_a_named_configuration_counts(tmp_path, monkeypatch):
    path = tmp_path / "mine.toml"
    path.write_text("[python]\nschema = \"0.5\"\n")
    monkeypatch.setenv("RESOURCE_TRACKER_CONFIG", str(path))
    assert default_schema() == "0.5"


@pytest.mark.parametrize("spoil", ["mode", "link", "pipe"])
def test_a_configuration_that_others_may_have_written_is_left_alone(tmp_path, spoil):
    path = configure(tmp_path, "[python]\nschema = '0.5'\n")
    if spoil == "mode":
        path.chmod(0o666)
    elif spoil == "link":
        path.rename(tmp_path / "elsewhere")
        path.symlink_to(tmp_path / "elsewhere")
    else:
        path.unlink()
        os.mkfifo(path)
    assert default_schema() == "0.4"


def test_a_schema_that_is_none_is_said_with_its_place(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="^unknown schema '0.6', there are: 0.4, 0.5$"):
        set_schema("0.6")
    path = configure(tmp_path, "# mine\n[python]\nschema = 5\n")
    with pytest.raises(ValueError, match=f"^{path}:3: unknown schema '5', there are: 0.4, 0.5$"):
        ResourceTracker(autostart=False)
    monkeypatch.setenv("RESOURCE_TRACKER_SCHEMA", "v5")
    with pytest.raises(ValueError, match="^RESOURCE_TRACKER_SCHEMA: unknown schema 'v5'"):
        ResourceTracker(autostart=False)


def test_what_is_loaded_has_the_chosen_schema():
    for chosen, snapshot in (("0.5", OLD), ("0.4", NEW)):
        set_schema(chosen)
        tracker = ResourceTracker.loads(json.dumps(snapshot))
        assert tracker.schema == chosen
        assert tracker.process_metrics.columns == [c.name for c in SCHEMAS[chosen].process]
        assert tracker.process_metrics["memory_mib"] == [300, 300]
        assert tracker.system_metrics["memory_used"] == [2048, 2048]
        gb = 100.0 if chosen == ("0.4" if snapshot is OLD else "0.5") else None
        if gb is None:
            gb = 100 * 2**30 / 1e9 if snapshot is OLD else 100 * 1e9 / 2**30
        assert tracker.system_metrics["disk_space_total_gb"][0] == pytest.approx(gb, abs=0.01)


def test_statistics_of_either_schema_are_one_history():
    old, new = (ResourceTracker.from_snapshot(s) for s in (OLD, NEW))
    assert old.recommend_resources([new.stats()]) == new.recommend_resources([old.stats()])
    from resource_tracker._figures import statistics_in

    there = statistics_in("0.5", old.stats())
    assert there["process_memory_mib"]["max"] == 300 and there.get("process_memory")["max"] == 307200
    assert there["system_disk_space_used_gb"]["max"] == pytest.approx(50 * 2**30 / 1e9)
    back = statistics_in("0.4", there)
    assert list(back) == list(old.stats())
    for name, values in old.stats().items():
        assert back[name] == pytest.approx(values)
