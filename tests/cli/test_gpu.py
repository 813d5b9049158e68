"""Tests GPUs with a simulated NVIDIA library (tests/gpu/standin.c), which plays a script."""

import csv
import json
import os
import re
import signal
import time

import pytest

from conftest import ROOT
from report_page import Page

GIB = 1 << 30
MIB = 1 << 20
DEVICES = (
    "driver 550.54.15\n"
    "device name=NVIDIA_H100 uuid=GPU-a bus=00000000:01:00.0 minor=0 total=85899345920"
    " used=2147483648 util=75 temp=61 power=300000 energy=5000 burn=300000 clock=1980 sm=40\n"
    "device name=NVIDIA_H100 uuid=GPU-b bus=00000000:02:00.0 minor=1 total=85899345920"
    " used=1073741824 util=0 temp=40 power=70000 energy=9000 burn=70000 clock=210 sm=0\n")

# The job tells the script who it is: the driver lists it on the first device.
JOB = ('echo "process device=0 pid=$$ memory=1073741824 lists=cg\n'
       'sample device=0 pid=$$ sm=50 age_ms=100" >>$TRK_STANDIN_NVML; sleep 1.4')


class Gpus:
    """The program with the stand-in in its library path."""

    def __init__(self, rt, path):
        self.rt = rt
        self.script = rt.home / "nvml.script"
        self.env = {"LD_LIBRARY_PATH": path, "TRK_STANDIN_NVML": self.script}

    def play(self, text):
        self.script.write_text(text, encoding="utf-8")

    def run(self, *args, **options):
        return self.rt.run("run", "--gpu", "always", "-i", "0.2", *args, env=self.env, **options)

    def track(self, *command, flags=()):
        return self.rt.track(*command, flags=("--gpu", "always", "-i", "0.2", *flags),
                             env=self.env)


@pytest.fixture
def gpus(rt, rt_path):
    path = rt_path.parent / "tests/gpu"
    assert (path / "libnvidia-ml.so.1").is_file(), "the stand-in is not built"
    return Gpus(rt, path)


def rows_of(rt, *args):
    text = rt.run("export", "-f", "csv", *args).stdout
    return list(csv.DictReader(text.splitlines()))


def known(rows, name):
    return [float(r[name]) for r in rows if r[name] != ""]


def test_columns_of_the_machine_and_of_the_tree(rt, gpus):
    gpus.play(DEVICES)
    result = gpus.track("sh", "-c", JOB)
    assert result.rc == 0
    rows = rows_of(rt)
    assert set(known(rows, "system_gpu_usage")) == {0.75}
    assert set(known(rows, "system_gpu_vram_mib")) == {3072.0}
    assert set(known(rows, "system_gpu_utilized")) == {1}
    assert set(known(rows, "system_gpu_power_w")) == {370.0}
    assert set(known(rows, "system_gpu_temperature_c")) == {61}
    assert set(known(rows, "system_gpu_sm_activity")) == {0.4}
    assert 0.5 in known(rows, "process_gpu_usage")
    assert max(known(rows, "process_gpu_vram_mib")) == 1024.0
    assert max(known(rows, "process_gpu_utilized")) == 1
    joules = sum(known(rows, "system_gpu_energy_j"))
    assert 370 * 0.5 < joules < 370 * (result.summary["run"]["duration_s"] + 0.1)
    stats = result.summary["stats"]
    assert stats["process_gpu_usage"]["max"] == 0.5
    assert result.summary["tracker"]["sources"]["gpu"].startswith("NVML")


def test_server_info_lists_those_of_a_run(rt, gpus):
    gpus.play(DEVICES)
    server = gpus.track("sleep", "0.5").summary["server"]
    assert server["gpu_count"] == 2 and server["gpu_memory_mb"] == 2 * 81920
    told = rt.run("server-info", "--json", "@").json()
    assert told["gpu_count"] == 2 and told["gpu_names"] == ["NVIDIA H100"] * 2
    assert told["gpu_name"] == "NVIDIA H100" and told["gpu_memory_mib"] == 2 * 81920
    assert "GPUs            2  (NVIDIA H100" in rt.run("server-info", "@").stdout


def test_a_gpu_without_memory_of_its_own_leaves_that_of_the_others(rt, gpus):
    gpus.play(DEVICES + "device name=GB10 uuid=GPU-c total=0 used=0 util=1\n")
    result = gpus.track("sleep", "0.7")
    told = rt.run("server-info", "--json", "@").json()
    assert told["gpu_count"] == 3 and told["gpu_memory_mib"] == 2 * 81920
    assert result.summary["gpu_sums"]["system_gpu_vram_mib"] == {
        "of": [0, 1], "missing": [], "bound": None}
    assert "of 160" in result.stderr
    gpus.play("device name=GB10 uuid=GPU-c total=0 used=0 util=1\n")
    assert gpus.track("sleep", "0.5").rc == 0
    told = rt.run("server-info", "--json", "@").json()
    assert told["gpu_count"] == 1 and told["gpu_memory_mib"] is None


def test_json_lines_have_a_gpu_as_the_sibling_has_it(rt, gpus):
    gpus.play(DEVICES)
    out = rt.home / "out.jsonl"
    assert gpus.run("-f", "json", "-o", out, "--", "sh", "-c", JOB).rc == 0
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    with_gpus = [line for line in lines if line["gpu"]]
    assert with_gpus
    first, second = with_gpus[-1]["gpu"]
    assert list(first) == sorted(first)
    assert first == {
        "core_count": None, "detail": {"driver_version": "550.54.15",
                                       "pci_bus_id": "00000000:01:00.0"},
        "device_type": "GPU", "frequency_mhz": 1980, "host_id": "0", "name": "NVIDIA H100",
        "power_watts": 300, "temperature_celsius": 61, "utilization_pct": 75, "uuid": "GPU-a",
        "vram_total_bytes": 80 * GIB, "vram_used_bytes": 2 * GIB, "vram_used_pct": 2.5}
    assert second["utilization_pct"] == 0 and second["host_id"] == "1"
    assert any(line["cpu"]["process_gpu_vram_mib"] == 1024 for line in with_gpus)


def test_an_error_is_an_empty_cell_and_not_zero(rt, gpus):
    gpus.play(DEVICES + "error nvmlDeviceGetUtilizationRates 3\n"
                        "error nvmlDeviceGetTotalEnergyConsumption 4\n")
    assert gpus.track("sh", "-c", JOB).rc == 0
    rows = rows_of(rt)
    assert known(rows, "system_gpu_vram_mib")
    for name in ("system_gpu_usage", "system_gpu_utilized", "system_gpu_energy_j"):
        assert known(rows, name) == []


@pytest.mark.parametrize("script, text", [
    ("error nvmlInit_v2 9\n", "the driver is not loaded"),
    ("error nvmlInit_v2 18\n", "have different versions"),
    ("driver 1\n", "no device"),
])
def test_a_library_without_a_gpu_says_why(gpus, script, text):
    gpus.play(script)
    result = gpus.track("sleep", "0.5")
    assert result.rc == 0
    assert text in result.summary["tracker"]["sources"]["gpu"]
    assert result.summary["stats"]["system_gpu_usage"]["mean"] is None


@pytest.mark.parametrize("function", ["nvmlInit_v2", "nvmlDeviceGetPowerUsage", "nvmlShutdown"])
def test_a_driver_that_hangs_holds_nothing_up(rt, gpus, function):
    gpus.play(DEVICES + f"hang {function}\n")
    result = gpus.track("sh", "-c", "exit 3")
    assert result.rc == 3
    result = gpus.track("sleep", "1.1")
    assert result.rc == 0
    rows = rows_of(rt)
    assert len(rows) >= 5  # the samples of everything else came
    assert all(r["system_cpu_usage"] for r in rows[1:-1])
    if function != "nvmlShutdown":
        assert known(rows, "system_gpu_usage") == []
        assert "not answer" in result.summary["tracker"]["sources"]["gpu"]


def test_a_signal_of_the_job_is_passed_on_though_the_driver_hangs(gpus):
    gpus.play(DEVICES + "hang nvmlDeviceGetCount_v2\n")
    assert gpus.run("--", "sh", "-c", "kill -TERM $$").rc == -signal.SIGTERM


def test_a_slow_start_of_the_driver_does_not_delay_the_job(rt, gpus):
    gpus.play(DEVICES + "slow nvmlInit_v2 200000\n")
    mark = rt.home / "started"
    with rt.start("run", "--gpu", "always", "-q", "--", "sh", "-c", f"echo >{mark}; sleep 30",
                  env=gpus.env) as process:
        end = time.monotonic() + 150  # before the driver has come up
        while not mark.exists():
            assert process.poll() is None and time.monotonic() < end
            time.sleep(0.005)


def until(condition):
    """Shell: wait until the condition is true, 30 s at most."""
    return f"n=0; until {condition} || [ $n -ge 600 ]; do n=$((n + 1)); sleep 0.05; done 2>&-; "


# Writes what the kernel says about the tracker; sets `helper`, the folder in /proc of its helper.
TRACKER = "cat /proc/$PPID/status; cat /proc/$PPID/maps; "
HELPER = ("find_helper() { for p in $(cat /proc/$PPID/task/*/children); do "
          "if grep -q libnvidia-ml /proc/$p/maps; then helper=/proc/$p; return 0; fi; done; return 1; }; "
          + until("find_helper"))


def test_without_a_sign_of_a_gpu_there_is_no_process_and_no_library(rt, gpus):
    gpus.play(DEVICES)
    if any(os.path.exists(p) for p in ("/dev/nvidiactl", "/dev/dxg", "/proc/driver/nvidia/version",
                                       "/sys/class/drm")):
        pytest.skip("this machine has a sign of a GPU")
    for flags in ((), ("--gpu", "never")):
        result = rt.run("run", "-q", *flags, "--", "sh", "-c",
                        TRACKER + "for p in $(cat /proc/$PPID/task/*/children); do cat /proc/$p/comm; done",
                        env=gpus.env)
        assert re.search("^Threads:\t[12]$", result.stdout, re.MULTILINE)  # the second one may start later
        assert "nvidia" not in result.stdout
        assert "rt-gpu" not in result.stdout


def test_the_library_is_in_a_process_of_its_own(rt, gpus):
    gpus.play(DEVICES)
    result = rt.run("run", "-q", "--gpu", "always", "--", "sh", "-c",
                    HELPER + TRACKER + "cat $helper/comm; ls -l $helper/fd | sed 's/.* -> //' >&2", env=gpus.env)
    assert "Threads:\t2\n" in result.stdout and "nvidia" not in result.stdout  # the loop and its guard
    assert result.stdout.endswith("rt-gpu\n")
    # Nothing of the job or of the terminal.
    kinds = {line.split(":")[0] for line in result.stderr.splitlines() if line.startswith(("/", "socket"))}
    assert kinds - {"/dev/null", "socket"} <= {"/proc", "/sys", "/sys/fs/cgroup"}


@pytest.mark.parametrize("rule, text", [
    ("crash nvmlDeviceGetPowerUsage 9", "crashed (SIGSEGV)"),
    ("exit nvmlDeviceGetPowerUsage 9", "ended the process with exit code 9"),
])
def test_a_library_that_ends_its_process_does_not_end_the_run(rt, gpus, rule, text):
    gpus.play(DEVICES)
    ends = f"{gpus.script}.ends"
    result = gpus.track("sh", "-c", f"sleep 0.6; echo '{rule}' >>{gpus.script}; "
                        + until(f"test $(wc -l <{ends}) -ge 2") + "sleep 0.6; exit 3")
    assert result.rc == 3
    assert result.summary["tracker"]["sources"]["gpu"] == "the driver's library " + text
    rows = rows_of(rt)
    assert rows[1]["system_gpu_power_w"] == "370"
    assert all(r["system_cpu_usage"] for r in whole_intervals(rows))
    assert rows[-1]["system_gpu_power_w"] == rows[-1]["system_gpu_usage"] == ""
    power = result.summary["gpus"][0]["power"]
    assert power["mean"] == pytest.approx(300)
    assert power["reason"] == "the driver's library crashed or ended its process"
    assert result.summary["totals"]["gpu_energy_j"]["quality"] == "estimated"
    assert power["reason"] in " ".join(result.stderr.split())
    assert len(open(ends).readlines()) == 2  # it is started again, once


def test_a_library_that_crashes_at_the_start_leaves_the_gpus_unknown(rt, gpus):
    gpus.play(DEVICES + "crash nvmlInit_v2 9\n")
    ends = f"{gpus.script}.ends"
    result = gpus.track("sh", "-c", until(f"test $(wc -l <{ends}) -ge 2") + "sleep 0.6; exit 3")
    assert result.rc == 3 and result.summary["gpus"] == []
    assert result.summary["tracker"]["sources"]["gpu"] == "the driver's library crashed (SIGSEGV)"


def test_after_one_crash_the_figures_go_on(rt, gpus):
    gpus.play(DEVICES)
    ends = f"{gpus.script}.ends"
    result = gpus.track("sh", "-c", f"sleep 0.6; echo 'crash nvmlDeviceGetPowerUsage 1' >>{gpus.script}; "
                        + until(f"test -s {ends}") + "sleep 1.5")
    assert result.rc == 0
    assert result.summary["tracker"]["sources"]["gpu"] == (
        "NVML, started again: the driver's library crashed (SIGSEGV)")
    rows = rows_of(rt)
    assert rows[1]["system_gpu_power_w"] == rows[-1]["system_gpu_power_w"] == "370"
    assert result.summary["gpus"][0]["power"]["reason"] is None


def test_an_unknown_choice_is_refused(rt):
    result = rt.run("run", "--gpu", "maybe", "--", "true")
    assert result.rc == 125
    assert "auto always never" in result.stderr


def test_the_summary_and_the_recording_know_each_gpu(rt, gpus):
    gpus.play(DEVICES)
    result = gpus.track("sh", "-c", JOB)
    shown = rt.run("show", "--json", "@").json()
    assert shown["gpus"] == result.summary["gpus"]  # the reader counts as the tracker did
    first, second = shown["gpus"]
    assert (first["name"], first["uuid"], first["driver"]) == ("NVIDIA H100", "GPU-a", "550.54.15")
    assert first["used_by_job"] and not second["used_by_job"]
    assert first["attribution"] == "by pid"
    assert first["utilization"]["mean"] == pytest.approx(0.75)
    assert first["process_memory"]["max"] == GIB
    assert first["power"]["max"] == 300
    assert first["pcie_rx"]["mean"] is None and first["pcie_rx"]["reason"]
    # 300 W of the one that was used; the other's are not the job's.
    energy = shown["totals"]["gpu_energy_j"]
    assert energy["quality"] == "at_most"
    assert energy["value"] == pytest.approx(first["energy_j"], rel=1e-9)
    assert 300 * 0.5 < energy["value"] < 300 * (shown["run"]["duration_s"] + 0.1)
    assert "GPU" in result.stderr and "VRAM" in result.stderr and "of 2" in result.stderr
    assert f"GPUs at most {energy['value']:.0f} J" in result.stderr
    assert "of 160" in result.stderr


def test_the_summary_leaves_out_the_energy_of_gpus_that_others_used(rt, gpus):
    others = "process device=0 pid=1 memory=1073741824 lists=cg\nsample device=0 pid=1 sm=50 age_ms=100\n"
    gpus.play(DEVICES + others)
    result = gpus.track("sleep", "1")
    assert result.summary["totals"]["gpu_energy_j"]["value"] > 0
    assert "no use of a GPU by the job" in result.summary["totals"]["gpu_energy_j"]["reason"]
    assert "Total" in result.stderr and "GPUs at most" not in result.stderr


def test_the_report_has_a_row_a_gpu(rt, gpus):
    gpus.play(DEVICES.replace("sm=40", "sm=40 throttle=68"))
    result = gpus.track("sh", "-c", JOB)
    assert [g["slowed_by"] for g in result.summary["gpus"]] == ["power limit, heat", None]
    page = Page(rt, "@")
    first, second = page.rows("GPUs")
    assert first["GPU"] == "NVIDIA H100" and first["Slowed by"] == "power limit, heat"
    assert first["Use, mean"] == "75 %" and first["Memory, peak"].startswith("2 GiB")
    assert first["of it by the job"].startswith("1 GiB") and first["Power, mean"] == "300 W"
    assert first["Hottest"].startswith("61") and first["Energy"].endswith("J")
    assert second["Use, mean"] == "0 %"
    assert "Energy of GPUs" in page.markdown
    table = rt.run("report", "-o", "-", "@").stdout.split('<section id="gpus">')[1].split("</table>")[0]
    assert table.count("<tr>") == 3 and "Slowed by" in table


def test_the_series_of_each_gpu_is_exported(rt, gpus):
    gpus.play(DEVICES)
    gpus.track("sh", "-c", JOB)
    rows = rows_of(rt, "--gpus")
    assert {r["gpu"] for r in rows} == {"0", "1"}
    assert {r["utilization_share"] for r in rows if r["gpu"] == "0"} == {"0.75"}
    assert {r["temperature_c"] for r in rows if r["gpu"] == "1"} == {"40"}
    assert all(r["pcie_rx_bytes_per_s"] == "" for r in rows)
    joules = [float(r["energy_j"]) for r in rows if r["gpu"] == "0"]
    assert joules == sorted(joules) and joules[-1] > joules[0] > 0
    stamps = set(known(rows_of(rt), "timestamp"))
    assert set(known(rows, "timestamp")) <= stamps
    text = rt.run("export", "--gpus", "-f", "jsonl").stdout
    lines = [json.loads(line) for line in text.splitlines()]
    assert len(lines) == len(rows)
    assert lines[0]["name"] == "NVIDIA H100" and lines[0]["parent"] is None


def test_a_gpu_that_falls_off_the_bus_is_lost_from_then_on(rt, gpus):
    gpus.play(DEVICES)
    functions = ("UtilizationRates", "MemoryInfo", "MemoryInfo_v2", "TotalEnergyConsumption",
                 "ComputeRunningProcesses_v2", "PowerUsage")
    lost = "".join(f"error@0 nvmlDeviceGet{f} 15\\n" for f in functions)
    result = gpus.track("sh", "-c", f"sleep 0.7; printf '{lost}' >>$TRK_STANDIN_NVML; sleep 1")
    assert result.rc == 0
    first, second = result.summary["gpus"]
    assert first["utilization"]["mean"] == pytest.approx(0.75)  # while it was there
    assert first["utilization"]["reason"] == "the device is gone"
    assert second["utilization"]["reason"] is None
    assert result.summary["totals"]["gpu_energy_j"]["quality"] == "estimated"
    assert rt.run("show", "--json", "@").json()["gpus"] == result.summary["gpus"]
    usage = [r["system_gpu_usage"] for r in rows_of(rt)]
    assert "0.75" in usage and usage[-1] == "0"  # of the one that is left
    part = result.summary["gpu_sums"]["system_gpu_usage"]
    assert part == {"of": [0, 1], "bound": "lower",
                    "missing": [{"index": 0, "reason": "the device is gone"}]}


def test_one_gpu_does_not_empty_the_sums_of_the_others(rt, gpus):
    """The second has neither a counter of energy nor a figure of its use; the job is on both."""
    gpus.play(DEVICES.replace("energy=9000 ", "") + "error@1 nvmlDeviceGetUtilizationRates 3\n"
              "error@1 nvmlDeviceGetProcessUtilization 3\n")
    both = 'echo "process device=1 pid=$$ memory=536870912 lists=c" >>$TRK_STANDIN_NVML; ' + JOB
    result = gpus.track("sh", "-c", both, flags=("--request", "gpu=2"))
    summary = result.summary
    first, second = summary["gpus"]
    energy = summary["totals"]["gpu_energy_j"]
    assert energy["value"] == pytest.approx(first["energy_j"], rel=1e-9) and first["energy_j"] > 0
    assert energy["quality"] == "estimated" and "no energy counter" in json.dumps(energy)
    joules = known(rows_of(rt), "system_gpu_energy_j")
    assert sum(joules) == pytest.approx(first["energy_j"], rel=0.5) and min(joules) >= 0
    assert set(known(rows_of(rt), "system_gpu_usage")) == {0.75}
    sums = summary["gpu_sums"]
    missing = [{"index": 1, "reason": "not supported by this device or driver"}]
    for name in ("system_gpu_usage", "system_gpu_energy_j", "process_gpu_usage"):
        assert sums[name] == {"of": [0], "missing": missing, "bound": "lower"}
    assert sums["system_gpu_vram_mib"] == {"of": [0, 1], "missing": [], "bound": None}
    assert "without the use of NVIDIA H100: not supported" in result.stderr
    # Report and export say the same.
    bound = ("process_gpu_usage, process_gpu_utilized: a lower bound, of GPU 0 without GPU 1 "
             "(not supported by this device or driver)")
    assert f"{bound}." in Page(rt, "@").sections["GPUs"].text
    for kind in ("html", "md"):
        text = rt.run("report", "--format", kind, "-o", "-", "@").stdout
        assert "a lower bound, of GPU 0 without GPU 1" in text
    for form in ("csv", "jsonl", "snapshot"):
        assert rt.run("export", "-f", form).stderr.count(f"export: {bound}\n") == 1
    assert rt.run("export", "--gpus").stderr == ""
    # Which GPUs lay idle cannot be said.
    assert not any("idle" in r or "would do" in r for r in summary["advice"]["verdict"]["reasons"])
    assert max(known(rows_of(rt), "process_gpu_vram_mib")) == 1536
    assert second["energy_j"] is None


def test_energy_goes_on_when_a_counter_comes_back(rt, gpus):
    """What the counter showed before counts as nothing, however much that is."""
    hidden = DEVICES.replace("energy=9000 ", "")
    gpus.play(hidden)
    shown = DEVICES.replace("energy=9000", "energy=900000000").replace("\n", "\\n")
    result = gpus.track("sh", "-c", f"sleep 0.7; printf '{shown}' >$TRK_STANDIN_NVML; sleep 1")
    assert result.rc == 0
    joules = known(rows_of(rt), "system_gpu_energy_j")
    assert joules and max(joules) < 1e5
    assert result.summary["gpus"][1]["energy_j"] < 1e5


def test_mig_instances_have_memory_and_a_reason(rt, gpus):
    gpus.play("device name=A100 uuid=GPU-m mig=1 total=1000 used=300 util=90\n"
              "instance device=0 name=A100_1g uuid=MIG-a total=500 used=200\n")
    result = gpus.track("sleep", "0.9")
    gpu, instance = result.summary["gpus"]
    assert gpu["mig"] and instance["parent"] == 0
    assert instance["memory_used"]["max"] == 200
    assert gpu["utilization"]["mean"] is None
    assert "MIG" in gpu["utilization"]["reason"]
    assert result.summary["stats"]["system_gpu_usage"]["mean"] is None
    assert result.summary["stats"]["system_gpu_vram_mib"]["max"] is not None


def test_advice_counts_gpus_and_their_memory(rt, gpus):
    gpus.play(DEVICES)
    job = JOB.replace("sleep 1.4", "sleep 11")
    result = gpus.track("sh", "-c", job, flags=("--request", "gpu=2"))
    verdict = result.summary["advice"]["verdict"]
    assert verdict["sizing"] == "over-provisioned"
    assert "1 of 2 GPUs were idle" in verdict["reasons"]
    assert "1 GPU next time" in result.stderr
    said = rt.run("recommend", "@").stdout
    assert "GPU      1, video memory " in said
    assert "GPU      1, video memory 2 GiB" in rt.run(
        "recommend", "--method", "original", "@").stdout


def test_doctor_says_whether_there_is_a_gpu(rt):
    checks = {c["what"]: c for c in rt.run("doctor", "--json").json()["checks"]}
    assert checks["GPUs"]["source"]
    if not os.path.exists("/dev/nvidiactl") and not os.path.exists("/sys/class/drm"):
        assert checks["GPUs"]["available"] == "no"
        assert "amdgpu" in checks["GPUs"]["hint"]


# ---- nvidia-smi, where the library cannot be loaded ----

SMI_TABLE = """\
index, uuid, pci.bus_id, driver_version, memory.total [MiB], memory.used [MiB], utilization.gpu [%], \
temperature.gpu, power.draw [W], clocks.current.sm [MHz], ecc.errors.corrected.volatile.total, \
ecc.errors.uncorrected.volatile.total, name
0, GPU-a, 00000000:01:00.0, 550.54.15, 81559, 1100, 75, 61, 300.00, 1980, 0, 0, NVIDIA H100, 80GB
1, GPU-b, 00000000:02:00.0, 550.54.15, 81559, 0, 0, 30, [N/A], 210, 0, 0, NVIDIA H100, 80GB
"""
SMI_PMON = "# gpu pid type sm mem enc dec fb command\n# Idx # C/G % % % % MB name\n"


class Smi:
    """A program of the name nvidia-smi; it cannot see our environment, so it knows its folder."""

    def __init__(self, rt):
        self.rt = rt
        self.folder = rt.home / "smi"
        self.folder.mkdir()
        (self.folder / "table").write_text(SMI_TABLE)
        self.env = {"PATH": f"{self.folder}:{os.environ['PATH']}"}

    def play(self, body):
        path = self.folder / "nvidia-smi"
        path.write_text(f"#!/bin/sh\ncd {self.folder}\necho $$ >>pids\n{body}\n")
        path.chmod(0o755)

    def track(self, *command, flags=()):
        return self.rt.track(*command, flags=("--gpu", "always", "-i", "0.2", *flags),
                             env=self.env)

    def left(self):
        """Which of those that were started are still there."""
        pids = [int(p) for p in (self.folder / "pids").read_text().split()]
        return [p for p in pids if os.path.exists(f"/proc/{p}")]


@pytest.fixture
def smi(rt):
    return Smi(rt)


# The job leaves its pid in `job`, and the program lists it.
SMI_BODY = f"""case "$*" in
--query-gpu=*) cat table;;
--query-compute-apps=*) echo 'gpu_uuid, pid, used_gpu_memory [MiB]'
  test -f job && echo "GPU-a, $(cat job), 1024";;
pmon*) printf '{SMI_PMON.replace("%", "%%")}'
  test -f job && echo "0 $(cat job) C 50 - - - 1024 python"
  echo "1 - - - - - - - -";;
esac"""


def spin(seconds):
    """Shell that uses so much CPU."""
    return ("python3 -c 'import time\n"
            f"while time.process_time() < {seconds}: pass'")


def whole_intervals(rows):
    """Rows without the first and the last one, and without those that a busy machine has put so close
    to the one before that no rate can be told."""
    return [row for row in rows[1:-1] if float(row["interval_s"]) >= 0.1]


def until_started(smi, count=2, more="true"):
    """Shell that waits until so many of the programs have been started."""
    return (f"until test $(wc -l <{smi.folder}/pids) -ge {count} && {more}; do sleep 0.3; done "
            "2>&-")


def test_nvidia_smi_stands_in_for_the_library(rt, smi):
    smi.play(SMI_BODY)
    mark = smi.folder / "job"
    # A round is three programs.
    result = smi.track("sh", "-c", f"echo $$ >{mark}; {until_started(smi, 3)}; sleep 0.7")
    assert result.rc == 0
    assert result.summary["tracker"]["sources"]["gpu"] == "nvidia-smi"
    first, second = result.summary["gpus"]
    assert first["name"] == "NVIDIA H100, 80GB" and first["bus"] == "00000000:01:00.0"
    assert first["utilization"]["max"] == 0.75 and first["temperature"]["max"] == 61
    assert first["used_by_job"] and not second["used_by_job"]
    assert first["process_memory"]["max"] == GIB and first["process_share"]["max"] == 0.5
    assert second["power"]["max"] is None and second["power"]["reason"]
    assert first["sm_activity"]["reason"] == "this source does not provide it"
    assert result.summary["totals"]["gpu_energy_j"]["value"] is None
    assert set(known(rows_of(rt), "system_gpu_usage")) == {0.75}
    assert max(known(rows_of(rt), "process_gpu_vram_mib")) == 1024
    assert smi.left() == []


FORMS = ROOT / "tests/fixtures/nvidia-smi"


def replay(smi, query, apps="apps-empty.txt", pmon="pmon-590-mig.txt"):
    """The forms of a machine; of their two processes the first is the job, where the job has left its pid."""
    job = 'sed "s/4711/$(cat job 2>&- || echo 4711)/"'
    smi.play(f"""case "$*" in
--query-gpu=*) cat {FORMS / query};;
--query-compute-apps=*) {job} {FORMS / apps};;
pmon*) {job} {FORMS / pmon};;
esac""")
    mark = smi.folder / "job"
    return smi.track("sh", "-c", f"echo $$ >{mark}; {until_started(smi, 3)}; sleep 0.7").summary


def test_sixteen_gpus_by_nvidia_smi(rt, smi):
    summary = replay(smi, "query-590-sixteen.txt")
    assert [gpu["power"]["max"] for gpu in summary["gpus"]] == [300.5 + i for i in range(16)]
    assert summary["gpus"][15]["ecc_corrected_errors"]["max"] == 15
    assert known(rows_of(rt), "system_gpu_usage")[-1] == pytest.approx(sum(range(0, 80, 5)) / 100)


def test_decimal_commas_by_nvidia_smi(smi):
    first, second = replay(smi, "query-470-comma.txt")["gpus"]
    assert (first["power"]["max"], second["power"]["max"]) == (120.5, 39.7)
    assert first["name"] == "Tesla V100-SXM2-16GB" and first["clock"]["max"] == 1530e6


def test_mig_by_nvidia_smi(smi):
    """Drivers list the processes with the UUID of the GPU, and no use of any. Instances are not listed."""
    gpu, = replay(smi, "query-590-mig.txt", "apps-590-mig.txt")["gpus"]
    assert gpu["utilization"]["max"] is None and gpu["process_share"]["max"] is None
    assert gpu["process_memory"]["max"] == 2194 * MIB and gpu["used_by_job"]


def test_the_programs_that_are_started_are_none_of_the_jobs(rt, smi):
    smi.play(f"{spin(0.4)}; {SMI_BODY}\necho 1<>ended")
    os.mkfifo(smi.folder / "ended")
    # The job waits in the kernel, which costs no CPU time however long it takes.
    result = smi.track("sh", "-c", f"exec 3<>{smi.folder}/ended; read a <&3; read a <&3; read a <&3; sleep 1")
    totals = result.summary["totals"]
    assert totals["peak_processes"]["value"] <= 3
    assert totals["peak_memory_mib"]["value"] < 8
    assert {p["name"] for p in result.summary["top_processes"]} <= {"sh", "sleep"}
    # What they use is the tracker's: 0.4 s each, and the job waits for three of them.
    assert result.summary["tracker"]["cpu_s"] > 2 * 0.4
    assert totals["cpu_s"]["value"] < result.summary["tracker"]["cpu_s"] / 2
    assert max(known(rows_of(rt), "process_children")) <= 2


def test_a_job_that_nobody_waits_for_is_counted_beside_nvidia_smi(smi):
    smi.play(f"{spin(0.2)}; {SMI_BODY}")
    done = smi.folder / "done"
    result = smi.track("sh", "-c", f"trap '' CHLD; ({spin(0.6)}; echo >{done}) & "
                       + until_started(smi, 2, f"test -f {done}"))
    # Its own 0.6 s, and none of the 0.2 s of each nvidia-smi.
    started = len((smi.folder / "pids").read_text().split())
    assert 0.55 < result.summary["totals"]["cpu_s"]["value"] < 0.6 + 0.2 * started


@pytest.mark.parametrize("body, text", [
    ("sleep 1000 & sleep 1000", "has not answered yet"),
    ("echo 'NVIDIA-SMI has failed because it could not'; exit 9",
     "exit code 9: NVIDIA-SMI has failed because"),
    ("head -c 30000 /dev/urandom", "exit code 0: "),
    ("yes | head -c 9000000", "exit code 0: "),
    ("echo No devices were found; exit 6", "exit code 6: No devices were found"),
    ("kill -9 $$", "exit code 137: "),
])
def test_nvidia_smi_that_fails_says_why_and_delays_nothing(rt, smi, body, text):
    smi.play(body)
    result = smi.track("sh", "-c", f"{until_started(smi, 1 if 'not answered' in text else 3)}; sleep 1")
    assert result.rc == 0
    assert text in result.summary["tracker"]["sources"]["gpu"]
    assert result.summary["gpus"] == []
    rows = rows_of(rt)
    assert len(rows) >= 3 and all(r["system_cpu_usage"] for r in whole_intervals(rows))
    assert known(rows, "system_gpu_usage") == []
    # Nothing of what nvidia-smi and the tracker use; the job itself looks at a file now and then.
    assert {p["name"] for p in result.summary["top_processes"]} <= {"sh", "sleep", "wc"}
    deadline = time.monotonic() + 120
    while smi.left() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert smi.left() == []


def test_a_slow_nvidia_smi_answers_late_and_delays_nothing(rt, smi):
    smi.play("sleep 0.4; " + SMI_BODY)
    result = smi.track("sh", "-c", f"{until_started(smi, 3)}; sleep 0.5")
    assert result.summary["gpus"][0]["temperature"]["max"] == 61
    rows = rows_of(rt)
    usage = [r["system_gpu_usage"] for r in rows]
    assert usage[0] == "" and usage[-1] == "0.75"  # unknown until the first answer
    assert all(r["system_cpu_usage"] for r in whole_intervals(rows))


def test_nvidia_smi_gets_a_clean_environment_and_no_descriptor(rt, smi):
    smi.play("env >environment; ls /proc/self/fd >descriptors; cat /proc/$$/stat >stat")
    read, write = os.pipe()
    os.set_inheritable(write, True)
    with rt.start("run", "-q", "--gpu", "always", "--", "sh", "-c",
                  f"until test -s {smi.folder}/stat; do sleep 0.1; done", pass_fds=(write,),
                  env={**smi.env, "LD_LIBRARY_PATH": "/x/lib", "SECRET": "1"}) as process:
        assert process.wait() == 0
    os.close(read)
    os.close(write)
    names = {line.split("=")[0] for line in
             (smi.folder / "environment").read_text().splitlines()}
    assert names <= {"PATH", "LC_ALL", "LD_LIBRARY_PATH", "PWD", "OLDPWD", "SHLVL", "_"}
    assert (smi.folder / "descriptors").read_text().split() == ["0", "1", "2", "3"]
    fields = (smi.folder / "stat").read_text().rsplit(")", 1)[1].split()
    assert fields[2] == fields[1]  # the group of the helper that has started it, which leads it
    assert fields[2] != (smi.folder / "pids").read_text().split()[0]


def test_a_process_without_a_figure_did_nothing_where_others_have_one(rt, smi):
    """As with NVML, where it has no sample. The captures of pmon have such lines."""
    smi.play(SMI_BODY.replace("C 50 - - - 1024 python", 'C - - - - 1024 python"; '
                              'echo "0 4194300 C 99 7 - - 512 other'))
    mark = smi.folder / "job"
    first, _ = smi.track("sh", "-c", f"echo $$ >{mark}; {until_started(smi, 3)}; sleep 0.7").summary["gpus"]
    assert first["process_share"]["max"] == 0 and first["process_share"]["reason"] is None


def test_a_figure_above_100_of_nvidia_smi_is_none(rt, smi):
    smi.play(SMI_BODY.replace("C 50 -", "C 401 -"))
    mark = smi.folder / "job"
    first, _ = smi.track("sh", "-c", f"echo $$ >{mark}; {until_started(smi, 3)}; sleep 0.7").summary["gpus"]
    assert first["process_share"]["max"] is None and first["process_memory"]["max"] == GIB


def test_a_gpu_that_pmon_does_not_list_has_no_share(smi):
    """pmon lists four at most."""
    smi.play(SMI_BODY.replace('echo "1 - - - - - - - -"', "true"))
    first, second = smi.track("sh", "-c", f"{until_started(smi, 3)}; sleep 0.7").summary["gpus"]
    assert first["process_share"]["reason"] and second["process_share"]["max"] is None
    assert second["utilization"]["max"] == 0


def test_nothing_is_started_where_the_library_answers(rt, gpus, smi):
    gpus.play(DEVICES)
    smi.play(SMI_BODY)
    gpus.env.update(smi.env)
    result = gpus.track("sleep", "0.7")
    assert result.summary["tracker"]["sources"]["gpu"].startswith("NVML")
    assert not (smi.folder / "pids").exists()


def test_server_info_has_those_of_nvidia_smi_too(rt, smi):
    smi.play(SMI_BODY)
    assert smi.track("sleep", "0.5").rc == 0
    told = rt.run("server-info", "--json", "@").json()
    assert told["gpu_count"] == 2 and told["gpu_memory_mib"] == 2 * 81559
