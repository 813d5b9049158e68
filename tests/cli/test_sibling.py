"""Tests the compatibility with the Rust program of the same name: JSON Lines, CSV, options, environment variables."""

import csv
import json
import os
import pathlib
import re
import signal
import subprocess
import time

import pytest

from conftest import TIMEOUT_S

NUMBER = (int, float)
# Field -> types; None stands for unknown. Keys of every object come in alphabetical order.
TOP = {"actual_interval_ms": (int,), "cpu": (dict,), "disk": (list,), "gpu": (list,),
       "job_name": (str, None), "memory": (dict,), "network": (list,),
       "resource-tracker-version": (str,), "timestamp_secs": (int,), "tracked_pid": (int, None)}
CPU = {
    "cgroup_usage_secs": (*NUMBER, None), "cgroup_utilization_pct": (*NUMBER, None),
    "per_core_pct": (list,), "per_core_steal_time_pct": (list,), "process_child_count": (int, None),
    "process_cores_used": (*NUMBER, None), "process_count": (int, None),
    "process_disk_read_bytes": (int, None), "process_disk_write_bytes": (int, None),
    "process_gpu_usage": (None,), "process_gpu_utilized": (None,), "process_gpu_vram_mib": (None,),
    "process_pss_mib": (int, None), "process_rss_mib": (int, None),
    "process_stime_secs": (*NUMBER, None), "process_utime_secs": (*NUMBER, None),
    "steal_time_pct": NUMBER, "steal_time_secs": NUMBER,
    "stime_secs": (*NUMBER, None), "utilization_pct": (*NUMBER, None),
    "utime_secs": (*NUMBER, None)}
MEMORY = {
    "active_mib": (int,), "available_mib": (int, None), "buffers_mib": (int,),
    "cached_mib": (int,), "free_mib": (int,), "inactive_mib": (int,), "swap_total_mib": (int,),
    "swap_used_mib": (int,), "swap_used_pct": NUMBER, "total_mib": (int,),
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
    "process_gpu_usage": 4, "process_gpu_vram_mib": 4, "process_gpu_utilized": 0,
    "system_steal_time": 3}

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


def test_the_first_sample_knows_its_rates(samples):
    assert samples[0]["network"] or samples[0]["disk"]
    for item in samples[0]["network"]:
        assert item["rx_bytes_per_sec"] >= 0
    for item in samples[0]["disk"]:
        assert item["read_bytes_per_sec"] >= 0
    assert samples[0]["cpu"]["per_core_pct"]
    assert all(0 <= p <= 100 for p in samples[0]["cpu"]["per_core_pct"])
    assert samples[0]["cpu"]["utilization_pct"] is not None
    assert samples[0]["cpu"]["process_cores_used"] is not None


@pytest.mark.parametrize("verb", [["attach", str(os.getpid())], ["system"]])
def test_the_first_sample_of_what_runs_already_knows_its_rates(rt, verb):
    out = rt.home / "out.json"
    rt.run(verb[0], "-q", "-i", "0.2", "--duration", "0.5", "-o", out, *verb[1:])
    first = read(out)[0]
    assert first["cpu"]["utilization_pct"] is not None and "actual_interval_ms" not in first
    assert (first["cpu"]["process_cores_used"] is None) == (verb == ["system"])
    assert all(p is not None for p in first["cpu"]["per_core_pct"])


def test_a_job_shorter_than_an_interval_has_one_row_in_each_format(rt, clock):
    rows = {}
    for form in ("csv", "json"):
        out = rt.home / f"out.{form}"
        assert rt.run("run", "-q", "-f", form, "-o", out, "--", "true",
                      env={"LD_PRELOAD": clock, "TRK_CLOCK": "0:0:0:0.01"}).rc == 0
        rows[form] = out.read_text()
    head, row = rows["csv"].splitlines()
    assert head == ",".join(COLUMNS)
    row = dict(zip(head.split(","), row.split(",")))
    assert row["process_pid"] and float(row["process_utime"]) + float(row["process_stime"]) >= 0
    assert row["system_cpu_usage"] == ""  # over two milliseconds nothing is known
    [line] = rows["json"].splitlines()
    check(json.loads(line), TOP, absent=["actual_interval_ms"])
    exported = rt.run("export", "--columns", "0.5", "@").stdout.splitlines()
    assert len(exported) == 2


def test_rows_add_up_to_what_the_run_used(rt):
    out = rt.home / "out.csv"
    result = rt.track("sh", "-c", BUSY, flags=["-f", "csv", "-o", out])
    rows = list(csv.DictReader(out.read_text().splitlines()))
    used = sum(float(r["process_utime"]) + float(r["process_stime"]) for r in rows)
    assert used == pytest.approx(result.summary["totals"]["cpu_s"]["value"], abs=0.005)


def test_steal_of_each_core_is_given_on_request(rt):
    def lines(*flags, env=None):
        out = rt.home / "out.json"
        assert rt.run("run", "-q", "-o", out, *flags, "--", "sleep", "0.3", env=env or {}).rc == 0
        return [line["cpu"] for line in read(out)]
    cores = len(lines()[0]["per_core_pct"])
    assert all(cpu["per_core_steal_time_pct"] == [] for cpu in lines())
    for flags, env in ((["--aggregate-cpu-steal", "false"], None), ([], {"TRACKER_AGGREGATE_CPU_STEAL": "false"})):
        for cpu in lines(*flags, env=env):
            assert len(cpu["per_core_steal_time_pct"]) == cores
            assert all(0 <= p <= 100 for p in cpu["per_core_steal_time_pct"])
    (rt.home / "resource-tracker.toml").write_text("[tracker]\naggregate_cpu_steal = false\n")
    assert all(cpu["per_core_steal_time_pct"] for cpu in lines())
    assert not any(cpu["per_core_steal_time_pct"] for cpu in lines("--aggregate-cpu-steal", "true"))
    wrong = rt.run("run", "--aggregate-cpu-steal", "some", "--", "true")
    assert (wrong.rc, wrong.stderr.count("\n")) == (125, 1)


def test_the_name_of_the_job_is_null_unless_it_was_given(rt):
    def names(*args, env=None):
        out = rt.home / "out.json"
        assert rt.run(*args[:1], "-q", "-o", out, *args[1:], env=env or {}).rc == 0
        return {line["job_name"] for line in read(out)}
    assert names("run", "--", "sleep", "0.3") == {None}
    assert rt.run("show", "--json", "@").json()["run"]["job"] == "sleep 0.3"
    assert names("system", "--duration", "0.3") == {None}
    assert names("run", "-n", "tidy", "--", "sleep", "0.3") == {"tidy"}
    assert names("run", "--", "sleep", "0.3", env={"TRACKER_JOB_NAME": "v"}) == {"v"}


def test_used_space_is_what_is_not_free_in_the_siblings_formats(rt):
    out = rt.home / "out.csv"
    rt.run("run", "-q", "-f", "csv", "-o", out, "--", "sleep", "0.3")

    def spaces(text):
        row = list(csv.DictReader(text.splitlines()))[-1]
        return [float(row[f"system_disk_space_{kind}_gb"]) for kind in ("total", "used", "free")]
    for text, digit in ((out.read_text(), 1e-6), (rt.run("export", "--columns", "0.5", "@").stdout, 0.01)):
        total, used, free = spaces(text)
        assert total > 0 and used == pytest.approx(total - free, abs=1.5 * digit)


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


def test_csv_of_the_processes_alone_leaves_the_system_empty(rt):
    out = rt.home / "out.csv"
    rt.run("run", "--no-system", "-q", "-f", "csv", "-o", out, "--", "sleep", "0.5")
    for text in (out.read_text(), rt.run("export", "--columns", "0.5", "@").stdout):
        rows = list(csv.DictReader(text.splitlines()))
        assert rows and all(r["system_cpu_usage"] == "" and r["process_cpu_usage"] for r in rows)


def test_csv_of_the_system_leaves_the_process_empty(rt):
    out = rt.home / "out.csv"
    rt.run("system", "-q", "--duration", "0.5", "-i", "0.2", "-f", "csv", "-o", out)
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert rows and all(r["process_pid"] == r["process_utime"] == "" for r in rows)


def lines_of(text):
    """Lines of stderr that are samples, and the others."""
    samples = [line for line in text.splitlines() if line.startswith(("{", "timestamp,")) or line[:1].isdigit()]
    return samples, [line for line in text.splitlines() if line not in samples]


def test_a_file_without_a_format_is_json_lines(rt):
    out = rt.home / "out"
    assert rt.run("run", "-q", "-o", out, "--", "sleep", "0.3").rc == 0
    assert "cpu" in read(out)[0]
    assert rt.run("run", "-q", "--", "sleep", "0.3", env={"TRACKER_OUTPUT": out}).rc == 0
    assert "cpu" in read(out)[0]


@pytest.mark.parametrize("form", ["json", "csv", "jsonl"])
def test_samples_on_stderr_are_alone_there(rt, form):
    result = rt.run("run", "-f", form, "--report=page.html", "--", "sleep", "0.3")
    assert (rt.home / "page.html").exists()
    samples, words = lines_of(result.stderr)
    assert len(samples) > 1 and words == []
    # In a file they leave stderr to the summary.
    assert "sleep" in rt.run("run", "-f", form, "-o", rt.home / "out", "--", "sleep", "0.3").stderr


@pytest.mark.parametrize(("flags", "env"), [(["--quiet"], {}), ([], {"TRACKER_QUIET": "true"})])
def test_quiet_silences_samples_on_stderr_but_not_a_file(rt, flags, env):
    result = rt.run("run", *flags, "-f", "json", "--", "sleep", "0.3", env=env)
    assert (result.rc, result.stderr) == (0, "")
    out = rt.home / "out.json"
    result = rt.run("run", *flags, "-o", out, "--", "sleep", "0.3", env=env)
    assert (result.rc, result.stderr) == (0, "") and read(out)


@pytest.mark.parametrize("how", ["machine", "process"])
def test_options_without_a_command_print_samples_to_stderr(rt, how):
    flags = ["--pid", str(os.getpid())] if how == "process" else []
    with rt.start("--interval", "0.1", *flags, stderr=subprocess.PIPE) as process:
        lines = [json.loads(process.stderr.readline()) for _ in range(3)]
        process.send_signal(signal.SIGTERM)
        rest = process.stderr.read()
        assert process.wait(TIMEOUT_S) == 0
    assert {line["tracked_pid"] for line in lines} == {os.getpid() if flags else None}
    assert all(json.loads(line) for line in rest.splitlines())  # no summary behind them


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
        end = time.monotonic() + TIMEOUT_S
        while time.monotonic() < end and not (out.exists() and out.read_bytes().count(b"\n") > 1):
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.wait(TIMEOUT_S) == 0
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


def test_a_token_for_streaming_says_that_nothing_is_sent(rt):
    env = {"SENTINEL_API_TOKEN": "t0p", "SENTINEL_API_URL": "http://127.0.0.1:9", "TRACKER_UPLOAD_INTERVAL": "x"}
    result = rt.run("run", "--summary", "never", "--", "echo", "ran", env=env)
    assert (result.rc, result.stdout) == (0, "ran\n")
    assert result.stderr.count("\n") == 1 and "does not stream" in result.stderr
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


# ---- commands, priority, exit codes ----

def test_a_command_needs_neither_flags_nor_dashes(rt):
    result = rt.run("sh", "-c", "echo \"$1\"; exit 3", "x", "--out", "-i")
    assert (result.rc, result.stdout) == (3, "--out\n")
    assert rt.run("show", "--json", "@").json()["run"]["command"][:2] == ["sh", "-c"]
    script = rt.home / "job"
    script.write_text("#!/bin/sh\nexit 4\n")
    assert rt.run("./job").rc == 126
    script.chmod(0o755)
    assert rt.run("./job").rc == 4
    assert rt.run("./gone").rc == 127


def test_a_verb_goes_before_a_program_and_a_misspelt_one_is_not_run(rt):
    programs = rt.home / "bin"
    programs.mkdir()
    for name in ("history", "histroy"):
        (programs / name).write_text(f"#!/bin/sh\necho ran {name}\n")
        (programs / name).chmod(0o755)
    path = {"PATH": f"{programs}:{rt.env['PATH']}"}
    assert "ran" not in rt.run("history", env=path).stdout
    assert rt.run("--", "history", env=path).stdout == "ran history\n"
    # What is no program is a mistake, and what is one was meant.
    wrong = rt.run("histroy")
    assert wrong.rc == 2 and wrong.stderr.endswith("Did you mean: resource-tracker history\n")
    assert rt.run("histroy", env=path).stdout == "ran histroy\n"
    assert rt.run("no-such-program", "x").rc == 2
    assert rt.run("", "x").rc == 2
    (programs / "histroy").chmod(0o644)
    assert rt.run("histroy", env=path).rc == 2


def nice_of(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
        return int(f.read().rsplit(")", 1)[1].split()[16])


@pytest.mark.parametrize(("flags", "env", "nice"), [
    (["-r"], {}, 19), (["--renice"], {}, 19), (["-r", "7"], {}, 7), (["-r7"], {}, 7),
    (["--renice=7"], {}, 7), (["--renice", "7"], {}, 7), ([], {"TRACKER_RENICE": "7"}, 7),
    (["-r", "3"], {"TRACKER_RENICE": "7"}, 3), (["-r", "-5"], {}, -5)])
def test_the_tracker_and_not_the_job_takes_the_nice_value(rt, flags, env, nice):
    if nice < 0 and os.geteuid() != 0:
        return  # see the case without the permission
    own = nice_of(os.getpid())
    with rt.start("run", "-q", *flags, "--", "sleep", "1000", env=env) as process:
        end, job = time.monotonic() + TIMEOUT_S, []
        while time.monotonic() < end and not (job and nice_of(process.pid) == nice):
            time.sleep(0.05)
            children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            job = [pid for pid in children  # without workers of the tracker
                   if pathlib.Path(f"/proc/{pid}/comm").read_text() == "sleep\n"]
        assert nice_of(process.pid) == nice and nice_of(*job) == own
        process.terminate()


def test_a_key_gives_the_nice_value(rt):
    (rt.home / "resource-tracker.toml").write_text("[tracker]\nrenice = 5\n")
    assert 'renice = "5"' in rt.run("config").stdout


def test_a_priority_that_may_not_be_had_is_a_warning(rt):
    user = ["setpriv", "--reuid", "65534", "--clear-groups", "--bounding-set", "-all"]
    done = subprocess.run(
        [*(user if os.geteuid() == 0 else []), rt.path, "run", "--no-recording", "--no-discovery",
         "--summary", "never", "-r", "-5", "--", "sh", "-c", "exit 3"],
        capture_output=True, text=True, check=False, env={"PATH": rt.env["PATH"]}, cwd="/")
    assert done.returncode == 3
    assert done.stderr.startswith("resource-tracker: --renice -5: ") and done.stderr.count("\n") == 1


@pytest.mark.parametrize("value", ["20", "-21", "99999999999999999999"])
def test_a_nice_value_out_of_range_is_refused(rt, value):
    result = rt.run("run", "-r", value, "--", "true")
    assert (result.rc, result.stderr.count("\n")) == (125, 1)
    assert "from -20 to 19" in result.stderr
    job = rt.run("run", "-q", "--", "echo", "ran", env={"TRACKER_RENICE": value})
    assert (job.rc, job.stdout) == (0, "ran\n") and "TRACKER_RENICE" in job.stderr


def test_what_follows_renice_and_is_no_number_is_the_command(rt):
    assert rt.run("run", "-q", "-r", "echo", "5").stdout == "5\n"
    assert rt.run("run", "-q", "-r", "--", "echo", "5").stdout == "5\n"


@pytest.mark.parametrize("flags", [["-c", "own.toml"], ["-cown.toml"], ["-qc", "own.toml"], ["--config", "own.toml"]])
def test_a_configuration_can_be_named_by_a_letter(rt, flags):
    (rt.home / "own.toml").write_text('team = "blue"\n')
    assert rt.track("true", flags=["-q", *flags]).summary["run"]["tags"] == {"team": "blue"}
    missing = rt.run("run", "-c", "nowhere.toml", "--", "true")
    assert missing.rc == 125 and "nowhere.toml: cannot read" in missing.stderr
    # The job's own -c is the job's.
    assert rt.run("run", "-q", "sh", "-c", "exit 6").rc == 6


def test_a_tag_needs_no_value(rt):
    tags = rt.track("true", flags=["-q", "--tag", "foo", "--tag", "a=b", "--tag", "c="]).summary["run"]["tags"]
    assert tags == {"foo": "", "a": "b", "c": ""}
    assert rt.run("run", "--tag", "=x", "--", "true").rc == 125


def test_exit_codes_are_those_of_the_page(rt):
    gone = subprocess.Popen(["true"])
    gone.wait()
    assert rt.run("run", "--", "no-such-program").rc == 127
    assert rt.run("run", "--", "/etc/passwd").rc == 126
    assert rt.run("--pid", gone.pid).rc == 4
    assert rt.run("run", "-o", "/nowhere/x", "--", "true").rc == 125
    assert rt.run("system", "-o", "/nowhere/x", "--duration", "0.1").rc == 1
    assert rt.run("run", "--interval", "0", "--", "true").rc == 125


def test_the_page_names_every_variable_of_our_own():
    root = pathlib.Path(__file__).resolve().parents[2]
    page = (root / "docs/compatibility.md").read_text()
    read = {name for path in (root / "src").rglob("*.[ch]") if path.name != "gone.c"
            for name in re.findall(r'"(RESOURCE_TRACKER_[A-Z_]+)[="]', path.read_text())}
    assert "RESOURCE_TRACKER_DIR" in read
    assert {name for name in read if f"`{name}" not in page} == set()
