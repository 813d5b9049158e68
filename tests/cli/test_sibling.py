"""Compatibility with the Rust program of the same name: JSON Lines, CSV, flags, variables."""

import csv
import json
import re
import signal
import subprocess
import time

import pytest

NUMBER = (int, float)
# Field -> types; None stands for unknown. Keys of every object come in alphabetical order.
TOP = {"actual_interval_ms": (int,), "cpu": (dict,), "disk": (list,), "gpu": (list,),
       "job_name": (str, None), "memory": (dict,), "network": (list,),
       "resource-tracker-version": (str,), "timestamp_secs": (int,), "tracked_pid": (int, None)}
CPU = {
    "cgroup_usage_secs": (*NUMBER, None), "cgroup_utilization_pct": (*NUMBER, None),
    "per_core_pct": (list,), "process_child_count": (int, None),
    "process_cores_used": (*NUMBER, None), "process_count": (int, None),
    "process_disk_read_bytes": (int, None), "process_disk_write_bytes": (int, None),
    "process_gpu_usage": (None,), "process_gpu_utilized": (None,), "process_gpu_vram_mib": (None,),
    "process_pss_mib": (int, None), "process_rss_mib": (int, None),
    "process_stime_secs": (*NUMBER, None), "process_utime_secs": (*NUMBER, None),
    "stime_secs": (*NUMBER, None), "utilization_pct": (*NUMBER, None),
    "utime_secs": (*NUMBER, None)}
MEMORY = {
    "active_mib": (int,), "available_mib": (int, None), "buffers_mib": (int,),
    "cached_mib": (int,), "free_mib": (int,), "inactive_mib": (int,), "swap_total_mib": (int,),
    "swap_used_mib": (int,), "swap_used_pct": (*NUMBER, None), "total_mib": (int,),
    "used_mib": (int,), "used_pct": NUMBER}
NETWORK = {
    "driver": (str, None), "interface": (str,), "mac_address": (str, None), "mtu": (int, None),
    "operstate": (str, None), "rx_bytes_per_sec": (*NUMBER, None), "rx_bytes_total": (int,),
    "speed_mbps": (int, None), "tx_bytes_per_sec": (*NUMBER, None), "tx_bytes_total": (int,)}
DISK = {
    "capacity_bytes": (int, None), "device": (str,), "device_type": (str, None),
    "model": (str, None), "mounts": (list,), "read_bytes_per_sec": (*NUMBER, None),
    "read_bytes_total": (int,), "serial": (str, None), "vendor": (str, None),
    "write_bytes_per_sec": (*NUMBER, None), "write_bytes_total": (int,)}
MOUNT = {"available_bytes": (int,), "filesystem": (str,), "mount_point": (str,),
         "total_bytes": (int,), "used_bytes": (int,), "used_pct": NUMBER}

# Column -> decimals, in order.
COLUMNS = {
    "timestamp": 3, "system_processes": 0, "system_utime": 3, "system_stime": 3,
    "system_cpu_usage": 4, "system_memory_free_mib": 0, "system_memory_used_mib": 0,
    "system_memory_buffers_mib": 0, "system_memory_cached_mib": 0, "system_memory_active_mib": 0,
    "system_memory_inactive_mib": 0, "system_disk_read_bytes": 0, "system_disk_write_bytes": 0,
    "system_disk_space_total_gb": 6, "system_disk_space_used_gb": 6,
    "system_disk_space_free_gb": 6, "system_net_recv_bytes": 0, "system_net_sent_bytes": 0,
    "system_gpu_usage": 4, "system_gpu_vram_mib": 4, "system_gpu_utilized": 0, "process_pid": 0,
    "process_children": 0, "process_utime": 4, "process_stime": 4, "process_cpu_usage": 4,
    "process_memory_mib": 0, "process_disk_read_bytes": 0, "process_disk_write_bytes": 0,
    "process_gpu_usage": 4, "process_gpu_vram_mib": 4, "process_gpu_utilized": 0}

BUSY = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; sleep 0.6"


def in_order(pairs):
    keys = [key for key, _ in pairs]
    assert keys == sorted(set(keys)), keys
    return dict(pairs)


def read(path):
    return [json.loads(line, object_pairs_hook=in_order)
            for line in path.read_text(encoding="utf-8").splitlines()]


def check(thing, table, absent=()):
    assert set(thing) == set(table) - set(absent)
    for key, types in table.items():
        if key in absent:
            continue
        value = thing[key]
        assert not isinstance(value, bool)
        assert (value is None and None in types) or (
            value is not None and isinstance(value, tuple(t for t in types if t))), (key, value)


@pytest.fixture
def samples(rt):
    out = rt.home / "out.json"
    assert rt.run("run", "--gpu", "never", "-i", "0.2", "-f", "json", "-o", out, "-n", "tidy", "--", "sh", "-c",
                  BUSY).rc == 0
    return read(out)


def test_every_line_has_the_siblings_fields(samples):
    assert len(samples) >= 3
    for number, line in enumerate(samples):
        check(line, TOP, absent=[] if number else ["actual_interval_ms"])
        check(line["cpu"], CPU)
        check(line["memory"], MEMORY)
        for item in line["network"]:
            check(item, NETWORK)
        for item in line["disk"]:
            check(item, DISK)
            assert item["device_type"] in ("nvme", "ssd", "hdd", None)
            for mount in item["mounts"]:
                check(mount, MOUNT)
        assert line["gpu"] == []
        assert line["job_name"] == "tidy"


def test_values_stand_in_the_siblings_units(rt, samples):
    version = rt.run("version").stdout.split()[1]
    used = sum(s["cpu"]["process_utime_secs"] + s["cpu"]["process_stime_secs"] for s in samples)
    truth = rt.run("show", "--json", "@").json()["totals"]["cpu_s"]["value"]
    assert used == pytest.approx(truth, abs=0.03)
    for s in samples:
        assert s["resource-tracker-version"] == version
        assert abs(s["timestamp_secs"] - time.time()) < 600
        assert all(p is None or 0 <= p <= 100 for p in s["cpu"]["per_core_pct"])
        assert s["memory"]["used_mib"] <= s["memory"]["total_mib"]
    total = int(re.search(r"MemTotal:\s+(\d+)", open("/proc/meminfo").read())[1])
    assert samples[0]["memory"]["total_mib"] == pytest.approx(total / 1024, abs=1)


def test_the_first_sample_knows_no_rate(samples):
    for item in samples[0]["network"]:
        assert item["rx_bytes_per_sec"] is None
    for item in samples[0]["disk"]:
        assert item["read_bytes_per_sec"] is None
    assert all(p is None for p in samples[0]["cpu"]["per_core_pct"])


def test_without_the_system_its_fields_are_unknown(rt):
    out = rt.home / "out.json"
    rt.run("run", "--no-system", "-f", "json", "-o", out, "--", "sleep", "0.3")
    for line in read(out):
        assert (line["disk"], line["network"], line["cpu"]["per_core_pct"]) == ([], [], [])
        assert set(line["memory"].values()) == {None}
        assert line["cpu"]["utilization_pct"] is None


def test_jsonl_is_all_our_columns(rt):
    out = rt.home / "out.jsonl"
    rt.run("run", "-f", "jsonl", "-o", out, "--", "sleep", "0.3")
    assert out.read_text() == rt.run("export", "--format", "jsonl", "@").stdout


def test_csv_has_the_siblings_columns_and_decimals(rt):
    out = rt.home / "out.csv"
    rt.run("run", "--gpu", "never", "-f", "csv", "-o", out, "--", "sh", "-c", BUSY)
    text = out.read_text()
    assert '"' not in text and " " not in text
    assert text.splitlines()[0] == ",".join(COLUMNS)
    rows = list(csv.DictReader(text.splitlines()))
    assert rows
    for row in rows:
        for name, decimals in COLUMNS.items():
            pattern = r"-?\d+" + (rf"\.\d{{{decimals}}}" if decimals else "")
            assert row[name] == "" or re.fullmatch(pattern, row[name]), (name, row[name])
        assert row["process_gpu_usage"] == row["system_gpu_utilized"] == ""
        assert row["system_cpu_usage"] and row["process_pid"]


def test_csv_of_the_system_leaves_the_process_empty(rt):
    out = rt.home / "out.csv"
    rt.run("system", "-q", "--duration", "0.5", "-i", "0.2", "-f", "csv", "-o", out)
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert rows and all(r["process_pid"] == r["process_utime"] == "" for r in rows)


# ---- flags and variables ----

def kind_of(rt):
    lines = rt.run("export", "--columns", "0.5", "@").stdout.splitlines()
    return [row["process_pid"] for row in csv.DictReader(lines)]


@pytest.mark.parametrize("args,env", [
    (["--pid", "{pid}"], {}), (["attach", "--pid", "{pid}"], {}), (["attach"], {"TRACKER_PID": ""}),
    (["--interval", "0.1"], {"TRACKER_PID": ""})])
def test_a_pid_by_flag_or_variable_is_attached_to(rt, args, env):
    with subprocess.Popen(["sleep", "0.8"]) as process:
        args = [a.format(pid=process.pid) for a in args]
        result = rt.run(*args, env={k: process.pid for k in env})
    assert result.rc == 0, result
    assert set(kind_of(rt)) == {str(process.pid)}


def test_a_command_goes_before_the_variable(rt):
    assert rt.run("run", "-q", "--", "sh", "-c", "exit 4", env={"TRACKER_PID": 1}).rc == 4


def test_options_alone_track_the_machine_until_ctrl_c(rt):
    out = rt.home / "out.json"
    with rt.start("--interval", "0.1", "--format", "json", "--output", out) as process:
        end = time.monotonic() + 30
        while time.monotonic() < end and not (out.exists() and out.read_bytes().count(b"\n") > 1):
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
    lines = read(out)
    assert len(lines) > 1
    assert {line["tracked_pid"] for line in lines} == {None}


@pytest.mark.parametrize("value", ["0", "x", "-3", "99999999999"])
def test_a_wrong_pid_is_refused(rt, value):
    result = rt.run("attach", "--pid", value)
    assert (result.rc, result.stderr.count("\n")) == (2, 1)


def test_variables_give_defaults_and_flags_win(rt):
    env = {"TRACKER_INTERVAL": "3", "TRACKER_FORMAT": "json", "TRACKER_QUIET": "yes",
           "TRACKER_OUTPUT": rt.home / "by-variable"}
    assert rt.track("true", env=env).summary["run"]["interval_s"] == 3
    assert "memory" in read(rt.home / "by-variable")[0]
    result = rt.track("true", env=env, flags=["-i", "2", "-f", "csv"])
    assert result.summary["run"]["interval_s"] == 2
    assert (rt.home / "by-variable").read_text().startswith("timestamp,")


@pytest.mark.parametrize("value", ["1", "true", "yes", "TRUE"])
def test_quiet_takes_every_word_for_yes(rt, value):
    result = rt.run("run", "--", "true", env={"TRACKER_QUIET": value})
    assert (result.rc, result.stderr) == (0, "")


@pytest.mark.parametrize("name,value", [("TRACKER_INTERVAL", "soon"), ("TRACKER_FORMAT", "xml"),
                                        ("TRACKER_PID", "none")])
def test_a_wrong_variable_is_told_and_the_job_runs(rt, name, value):
    result = rt.run("run", "-q", "--", "echo", "ran", env={name: value})
    assert (result.rc, result.stdout, result.stderr.count("\n")) == (0, "ran\n", 1)
    assert name in result.stderr and value in result.stderr


@pytest.mark.parametrize("flags,env", [
    (["--streaming"], {}), (["--sentinel-token", "t0p"], {}), (["--upload-interval", "60"], {}),
    ([], {"SENTINEL_API_TOKEN": "t0p"})])
def test_streaming_is_accepted_and_says_that_nothing_is_sent(rt, flags, env):
    result = rt.run("run", "--summary", "never", *flags, "--", "echo", "ran", env=env)
    assert (result.rc, result.stdout) == (0, "ran\n")
    assert result.stderr.count("\n") == 1 and "later version" in result.stderr
    assert "t0p" not in result.stderr


METADATA = ["project_name", "stage_name", "task_name", "team", "env", "language", "orchestrator",
            "executor", "external_run_id", "container_image"]


@pytest.mark.parametrize("name", METADATA)
def test_metadata_by_flag_and_by_variable_is_kept(rt, name):
    def kept():
        data = max(rt.state.glob("runs/*.rtrk")).read_bytes()
        return f"{name}=value-7".encode() in data
    assert rt.run("run", "-q", "--" + name.replace("_", "-"), "value-7", "--", "true").rc == 0
    assert kept()
    rt.run("run", "-q", "--", "true", env={"TRACKER_" + name.upper(): "value-7"})
    assert len(list(rt.state.glob("runs/*.rtrk"))) == 2
    assert kept()


def test_metadata_by_flag_goes_before_the_variable(rt):
    rt.run("run", "-q", "--env", "by-flag", "--tag", "environment=kept", "--team", "blue", "--",
           "true", env={"TRACKER_ENV": "by-variable", "TRACKER_TEAM": "red"})
    [data] = [p.read_bytes() for p in rt.state.glob("runs/*.rtrk")]
    assert b"env=by-flag" in data and b"team=blue" in data and b"environment=kept" in data
    assert b"by-variable" not in data and b"team=red" not in data
