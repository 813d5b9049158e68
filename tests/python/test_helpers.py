"""Tests helpers, tiny_bars, column_maps, dummy_workloads and nvidia."""

import inspect
import os
import stat
import time

import pytest

from resource_tracker import column_maps, dummy_workloads, helpers, nvidia
from resource_tracker.tiny_bars import render_template
from resource_tracker.tiny_data_frame import TinyDataFrame


def test_rows_of_csv():
    assert helpers.render_csv_row(["a", 1, 2.5, None]) == b'"a",1,2.5,""\n'
    assert helpers.render_csv_row(['say "x"', "ä"]) == '"say ""x""","ä"\n'.encode()
    assert helpers.render_csv_row(["a", 1], quoting=0) == b"a,1\n"


@pytest.mark.parametrize("mib, rounded", [
    (0, 128), (128, 128), (128.1, 256), (300 * 1.2, 512), (1000 * 1.2, 2048), (2048, 2048),
    (2049, 3072), (4124 * 1.2, 5120), (5120, 5120), (16000 * 1.2, 19456), (100000 * 1.2, 120832)])
def test_memory_is_rounded_up(mib, rounded):
    assert helpers.round_memory(mib) == rounded
    assert helpers.round_memory(mb=mib) == rounded
    assert isinstance(helpers.round_memory(mib), int)


def test_stats_of_several_runs():
    runs = [{"a": {"mean": 1, "max": 5, "sum": 3}, "t": {"duration": 10}},
            {"a": {"mean": 3, "max": 4, "sum": 9}, "t": {"duration": 20}}]
    assert helpers.aggregate_stats(runs) == {
        "a": {"mean": 2.0, "max": 5, "sum": 9}, "t": {"duration": 15.0}}
    assert helpers.aggregate_stats([{"a": {"max": None}}, {"a": {"max": 2}}]) == {"a": {"max": 2}}
    with pytest.raises(ValueError, match="Unsupported aggregation type: median"):
        helpers.aggregate_stats([{"a": {"median": 1}}])


def test_cleanup_of_files_and_processes(tmp_path):
    import multiprocessing

    path = tmp_path / "x"
    path.write_text("")
    helpers.cleanup_files([str(path), str(tmp_path / "none"), None])
    assert not path.exists()
    process = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(60,))
    process.start()
    helpers.cleanup_processes([process, None])
    with pytest.raises(ValueError):
        process.is_alive()  # closed


def test_implementation_and_devices():
    process, system = helpers.get_tracker_implementation()
    assert process.__module__ == system.__module__ == "resource_tracker.tracker_procfs"
    assert helpers.is_procfs_available() is True
    assert helpers.is_partition("no-such-device") is False
    for name in os.listdir("/sys/class/block"):
        assert helpers.is_partition(name) == os.path.exists(f"/sys/class/block/{name}/partition")


def test_no_implementation_is_an_error(monkeypatch):
    monkeypatch.setattr(helpers, "is_procfs_available", lambda: False)
    monkeypatch.setattr(helpers, "is_psutil_available", lambda: False)
    with pytest.raises(ImportError, match="No tracker implementation available - install psutil "
                                          "or use a Linux system with procfs."):
        helpers.get_tracker_implementation()


def test_zfs_pools(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert helpers.get_zfs_pools_space() == {}
    tool = tmp_path / "zpool"
    tool.write_text("#!/bin/sh\nprintf 'tank\\t100\\t30\\t70\\n'\n")
    tool.chmod(0o755)
    assert helpers.get_zfs_pools_space() == {"zfs:tank": {"total": 100, "used": 30, "free": 70}}


# ---- templates ----

CONTEXT = {"a": 1234.5, "s": "<b>\"&'", "l": [1, 2], "d": {"x": 5, "none": None}, "zero": 0,
           "f": TinyDataFrame({"c": [7, 8]}), "e": []}


@pytest.mark.parametrize("template, text", [
    ("{{s}}", "&lt;b&gt;&quot;&amp;&#x27;"),
    ("{{{ s }}}", "<b>\"&'"),
    ("{{ d.x }}", "5"),
    ("{{f.c | index:1}}", "8"),
    ("{{#if d.x}}yes{{#else}}no{{/if}}", "yes"),
    ("{{ #if d.none }}yes{{#else}}no{{/if}}", "no"),
    ("{{#if zero}}yes{{/if}}", ""),
    ("{{#if e}}yes{{/if}}", ""),
    ("{{#if nothing}}yes{{#else}}no{{/if}}", "no"),
    ("{{#each l as x}}<{{x}}>{{/each}}", "<1><2>"),
    ("{{#each l as x}}{{#each l as y}}{{x}}{{y}} {{/each}}{{/each}}", "11 12 21 22 "),
    ("{{#if a}}{{#if zero}}1{{#else}}2{{/if}}{{#else}}3{{/if}}", "2"),
    ("{{#each d as x}}{{/each}}", "[Error: d is not a list]"),
    ("{{a | pretty_number:2}}", "1,234.5"),
    ("{{a | pretty_number}}", "1,234"),
    ("{{s | pretty_number}}", "&lt;b&gt;&quot;&amp;&#x27;"),
    ("{{a | divide:2 | round:1}}", "617.2"),
    ("{{a | round}}", "1234.0"),
    ("{{a | shout}}", "[Error: a | shout - Unknown filter: shout]"),
    ("{{a | divide:0}}", "[Error: a | divide:0 - Division by zero: 1234.5 / 0]"),
    ("{{a | divide:x}}", "[Error: a | divide:x - Invalid divisor: x should be a number]"),
    ("{{s | divide:2}}", "[Error: s | divide:2 - Invalid value: &lt;b&gt;\"&amp;' should be a "
                         "number]"),
    ("{{l | index:9}}", "[Error: l | index:9 - Invalid index: 9 for [1, 2]]"),
    ("{{#each nothing as x}}{{/each}}", "[Error: nothing - 'nothing not found in nothing']"),
    ("{{a | round_memory}}", "2048"),
    ("{{nothing.x}}", "[Error: nothing.x - 'nothing not found in nothing.x']"),
    ("{{d.none}}", "[Error: d.none - 'none not found in d.none']"),
    ("plain { } }}", "plain { } }}"),
])
def test_templates(template, text):
    assert render_template(template, CONTEXT) == text


def test_template_time():
    text = render_template("{{t | unix_timestamp_to_local_tz_string}}", {"t": 0})
    assert text.startswith(("1970-01-01 ", "1969-12-31 "))


@pytest.mark.parametrize("template, message", [
    ("{{#if a}}x", "Unclosed #if tag"),
    ("{{#each l as x}}x", "Unclosed tag: #each"),
])
def test_template_errors(template, message):
    with pytest.raises(ValueError, match=message):
        render_template(template, CONTEXT)


# ---- columns ----

def test_the_two_schemas():
    old, new = column_maps.SCHEMAS["0.4"], column_maps.SCHEMAS["0.5"]
    assert [c.name for c in old.process] == [
        "timestamp", "pid", "children", "utime", "stime", "cpu_usage", "memory", "read_bytes",
        "write_bytes", "gpu_usage", "gpu_vram", "gpu_utilized"]
    assert [c.name for c in new.process] == [
        "timestamp", "pid", "children", "utime", "stime", "cpu_usage", "memory_mib",
        "disk_read_bytes", "disk_write_bytes", "gpu_usage", "gpu_vram_mib", "gpu_utilized"]
    assert [c.name for c in new.system] == [
        "timestamp", "processes", "utime", "stime", "cpu_usage", "memory_free_mib",
        "memory_used_mib", "memory_buffers_mib", "memory_cached_mib", "memory_active_mib",
        "memory_inactive_mib", "disk_read_bytes", "disk_write_bytes", "disk_space_total_gb",
        "disk_space_used_gb", "disk_space_free_gb", "net_recv_bytes", "net_sent_bytes",
        "gpu_usage", "gpu_vram_mib", "gpu_utilized"]
    assert [c.source for c in old.system] == [c.source for c in new.system]
    assert new.byte_mapping["memory_mib"] == 1048576
    assert new.byte_mapping["disk_space_used_gb"] == 10**9
    assert old.byte_mapping["memory"] == 1024
    assert old.byte_mapping["disk_space_used_gb"] == 2**30
    with pytest.raises(ValueError, match="unknown schema '0.3', there are: 0.4, 0.5"):
        column_maps.get_schema("0.3")


def test_the_tables_of_the_original():
    names = column_maps.HUMAN_NAMES_MAPPING
    assert names["memory_mib"] == names["memory"] == "memory usage"
    assert names["net_recv_bytes"] == "inbound network traffic"
    assert names["gpu_vram_mib"] == names["gpu_vram"] == "VRAM used"
    assert names["timestamp"] == "Timestamp" and names["pid"] == "PID"
    assert column_maps.REPORT_CSV_MAPPING["disk"] == [
        "Timestamp", "Process disk read", "System disk read", "Process disk write",
        "System disk write"]
    assert column_maps.BYTE_MAPPING["gpu_vram_mib"] == 1048576
    assert [c["percent"] for c in column_maps.SERVER_ALLOCATION_CHECKS] == [1.25, 1.5, 1.25, 1.25]


def test_every_schema_shows_columns_of_the_engine():
    from resource_tracker import _core

    known = {name for name, _, _ in _core.columns()}
    for schema in column_maps.SCHEMAS.values():
        assert {c.source for c in schema.process + schema.system} <= known


# ---- workloads ----

def test_workloads():
    assert str(inspect.signature(dummy_workloads.cpu_single)).startswith("(duration: 'float' = 1)")
    start = time.process_time()
    assert dummy_workloads.cpu_single(0.1) is None
    assert time.process_time() - start > 0.001  # of a machine that may be busy elsewhere
    before = os.times().children_user
    assert dummy_workloads.cpu_multi(duration=0.5, ncores=2) >= 0.5
    assert os.times().children_user - before > 0.02


# ---- nvidia ----

PMON = """# gpu         pid   type     sm    mem    enc    dec     fb   ccpm    command
# Idx           #    C/G      %      %      %      %     MB     MB    name
    0          -     -      -      -      -      -      -      -    -
    1       4242     C     50     10      -      -   1024      0    python
    1       4243     C      -      -      -      -    512      0    python
    2          7     C     90     10      -      -   4096      0    other
"""


@pytest.fixture
def smi(tmp_path, monkeypatch):
    def install(text, sleep=0):
        tool = tmp_path / "nvidia-smi"
        (tmp_path / "answer").write_text(text)
        hang = f"exec sleep {sleep}\n" if sleep else ""
        tool.write_text(f"#!/bin/sh\n{hang}while read -r l; do echo \"$l\"; done <"
                        f"{tmp_path}/answer\n")
        tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    return install


def test_gpus_by_nvidia_smi(smi):
    smi("utilization.gpu [%], memory.used [MiB]\n50 %, 1000 MiB\n[N/A], 24 MiB\n0 %, 0 MiB\n")
    assert nvidia.process_nvidia_smi(nvidia.start_nvidia_smi()) == {
        "gpu_usage": 0.5, "gpu_vram_mib": 1024.0, "gpu_utilized": 1}
    smi(PMON)
    assert nvidia.process_nvidia_smi_pmon(nvidia.start_nvidia_smi_pmon(), {4242, 4243}) == {
        "gpu_usage": 0.5, "gpu_vram_mib": 1536.0, "gpu_utilized": 1, "gpu_utilized_indexes": {1}}
    assert nvidia.process_nvidia_smi_pmon(nvidia.start_nvidia_smi_pmon())["gpu_usage"] == 1.4


def test_a_hung_nvidia_smi_is_given_up(smi):
    smi("x", sleep=1000)
    assert nvidia.process_nvidia_smi(nvidia.start_nvidia_smi())["gpu_usage"] == 0


def test_without_nvidia_smi(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert nvidia.start_nvidia_smi() is None
    assert nvidia.process_nvidia_smi(None)["gpu_usage"] == 0
    assert nvidia.process_nvidia_smi_pmon(None)["gpu_utilized_indexes"] == set()
