"""GPUs, against a stand-in for NVIDIA's library (tests/gpu/standin.c) that plays a script."""

import csv
import json
import os
import signal
import time

import pytest

GIB = 1 << 30
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


def test_server_info_lists_them_now_and_of_a_run(rt, gpus):
    gpus.play(DEVICES)
    told = rt.run("server-info", "--json", "--ask-gpus", env=gpus.env).json()
    assert told["gpu_count"] == 2 and told["gpu_names"] == ["NVIDIA H100"] * 2
    assert told["gpu_name"] == "NVIDIA H100" and told["gpu_memory_mib"] == 2 * 81920
    server = gpus.track("sleep", "0.5").summary["server"]
    assert server["gpu_count"] == 2 and server["gpu_memory_mb"] == 2 * 81920
    assert rt.run("server-info", "--json", "@").json()["gpu_names"] == ["NVIDIA H100"] * 2
    assert "GPUs            2  (NVIDIA H100" in rt.run("server-info", "@").stdout


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
    ("error nvmlInit_v2 18\n", "of different versions"),
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
    gpus.play(DEVICES + "slow nvmlInit_v2 3000\n")
    mark = rt.home / "started"
    with rt.start("run", "--gpu", "always", "-q", "--", "sh", "-c", f"echo >{mark}; sleep 30",
                  env=gpus.env) as process:
        opened = time.monotonic()
        while not mark.exists():
            assert process.poll() is None
            time.sleep(0.005)
        assert time.monotonic() - opened < 2.5  # before the driver has come up


def test_without_a_sign_of_a_gpu_there_is_no_thread_and_no_library(rt, gpus):
    gpus.play(DEVICES)
    if any(os.path.exists(p) for p in ("/dev/nvidiactl", "/dev/dxg", "/proc/driver/nvidia/version",
                                       "/sys/class/drm")):
        return
    job = "cat /proc/$PPID/status; cat /proc/$PPID/maps"
    for flags in ((), ("--gpu", "never")):
        result = rt.run("run", "-q", *flags, "--", "sh", "-c", job, env=gpus.env)
        assert "Threads:\t1\n" in result.stdout
        assert "nvidia" not in result.stdout
    result = rt.run("run", "-q", "--gpu", "always", "--", "sh", "-c", "sleep 0.5; " + job,
                    env=gpus.env)
    assert "Threads:\t2\n" in result.stdout and "libnvidia-ml" in result.stdout


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
    assert "of 160" in result.stderr


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
    assert "1 of 2 GPUs lay idle" in verdict["reasons"]
    assert "1 GPU next time" in result.stderr
    said = rt.run("recommend", "@").stdout
    assert "gpu      1, video memory " in said
    assert "gpu      1, video memory 2 GiB" in rt.run(
        "recommend", "--method", "original", "@").stdout


def test_doctor_says_whether_there_is_a_gpu(rt):
    checks = {c["what"]: c for c in rt.run("doctor", "--json").json()["checks"]}
    assert checks["GPUs"]["source"]
    if not os.path.exists("/dev/nvidiactl") and not os.path.exists("/sys/class/drm"):
        assert checks["GPUs"]["available"] == "no"
        assert "amdgpu" in checks["GPUs"]["hint"]
