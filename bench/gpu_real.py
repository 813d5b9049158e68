#!/usr/bin/env python3
"""Compares the tracker's figures of an NVIDIA GPU with those of the driver, on a machine that has one.

    python3 bench/gpu_real.py build/resource-tracker FOLDER [PEER]

A job of several phases runs under the tracker, while another process reads the same figures from NVML ten times a
second. The table has, for each phase and figure, the value that the tracker recorded and the value of NVML. FOLDER
receives the recording, both series and the report of the run. PEER is a folder with the `resource_tracker` package of
Spare Cores; its trackers then track the same job and machine in the same run, in separate processes. Needs PyTorch with
CUDA, and pynvml (the module of nvidia-ml-py).
"""

import csv
import json
import multiprocessing
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import time

GIB = 1 << 30
PHASE_S = 6
CHILD_GIB = 5


def work_of_the_job(log):
    """The phases of the job: idle, memory, full load, half load, copies over PCIe, and a child process that allocates
    memory."""
    import torch

    device = torch.device("cuda")
    a = torch.randn(8192, 8192, device=device, dtype=torch.bfloat16)
    host = torch.empty(GIB // 4, dtype=torch.float32, pin_memory=True)
    on_device = torch.empty(GIB // 4, dtype=torch.float32, device=device)
    torch.cuda.synchronize()

    with open(log.name + ".pid", "w", encoding="utf-8") as file:
        file.write(str(os.getpid()))

    def phase(name, act, seconds=PHASE_S):
        start = time.time()
        while time.time() < start + seconds:
            act()
        torch.cuda.synchronize()
        log.write(f"{name},{start:.3f},{time.time():.3f}\n")
        log.flush()

    def multiply(times):
        for _ in range(times):
            torch.mm(a, a)
        torch.cuda.synchronize()

    def half():
        start = time.time()
        while time.time() < start + 0.05:
            multiply(1)
        time.sleep(0.05)

    def copy():
        on_device.copy_(host)
        host.copy_(on_device)
        torch.cuda.synchronize()

    phase("idle", lambda: time.sleep(0.05))
    held = torch.empty(20 * GIB, dtype=torch.uint8, device=device)
    phase("20 GiB more", lambda: time.sleep(0.05))
    del held
    torch.cuda.empty_cache()
    phase("full load", lambda: multiply(20))
    phase("half load", half)
    phase("copies", copy)
    child = subprocess.Popen([sys.executable, __file__, "--child"])
    phase("child with memory", lambda: time.sleep(0.05), 2 * PHASE_S)
    child.wait()
    multiply(1)


def work_of_the_child():
    import torch

    held = torch.ones(CHILD_GIB * GIB, dtype=torch.uint8, device="cuda")
    time.sleep(1.5 * PHASE_S)
    del held


def ask_nvml(path, stop, pids):
    """Record the reference: one row every 0.1 s. `pids` is the number of processes that the driver lists."""
    import pynvml as nvml

    nvml.nvmlInit()
    gpu = nvml.nvmlDeviceGetHandleByIndex(0)
    with open(path, "w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["time", "utilization_share", "memory_used_bytes", "power_w", "energy_j", "temperature_c",
                       "clock_hz", "process_memory_bytes", "sm_activity_share"])
        older = nvml.nvmlGpmSampleAlloc()
        newer = nvml.nvmlGpmSampleAlloc()
        nvml.nvmlGpmSampleGet(gpu, older)
        while not stop.is_set():
            stop.wait(0.1)
            nvml.nvmlGpmSampleGet(gpu, newer)
            get = nvml.c_nvmlGpmMetricsGet_t()
            get.version = nvml.NVML_GPM_METRICS_GET_VERSION
            get.numMetrics = 1
            get.sample1, get.sample2 = older, newer
            get.metrics[0].metricId = nvml.NVML_GPM_METRIC_SM_UTIL
            nvml.nvmlGpmMetricsGet(get)
            activity = get.metrics[0].value / 100
            older, newer = newer, older
            listed = nvml.nvmlDeviceGetComputeRunningProcesses(gpu)
            pids.value = max(pids.value, len(listed))
            rows.writerow([
                f"{time.time():.3f}", nvml.nvmlDeviceGetUtilizationRates(gpu).gpu / 100,
                nvml.nvmlDeviceGetMemoryInfo(gpu, version=nvml.nvmlMemory_v2).used, nvml.nvmlDeviceGetPowerUsage(gpu) / 1000,
                nvml.nvmlDeviceGetTotalEnergyConsumption(gpu) / 1000,
                nvml.nvmlDeviceGetTemperature(gpu, nvml.NVML_TEMPERATURE_GPU),
                nvml.nvmlDeviceGetClockInfo(gpu, nvml.NVML_CLOCK_SM) * 1e6,
                sum(p.usedGpuMemory or 0 for p in listed), activity])
            file.flush()


def start_peer(peer, folder, kind, **of):
    code = f"import resource_tracker; resource_tracker.{kind}(interval=1, output_file='peer-{kind}.csv', **{of!r})"
    return subprocess.Popen([sys.executable, "-c", code], cwd=folder, env={**os.environ, "PYTHONPATH": str(peer)})


def watch_by_peer(peer, folder):
    """Start the trackers of the peer as soon as the job has written its pid."""
    path = folder / "phases.csv.pid"
    while not path.exists() or not path.read_text(encoding="utf-8"):
        time.sleep(0.01)
    pid = int(path.read_text(encoding="utf-8"))
    return [start_peer(peer, folder, "SystemTracker"), start_peer(peer, folder, "ProcessTracker", pid=pid)]


def rows_between(rows, name, start, end):
    values = [float(row[name]) for row in rows
              if start + 1 < float(row["time"]) < end and row[name] not in ("", None)]
    return statistics.mean(values) if values else None


FIGURES = ["utilization_share", "sm_activity_share", "memory_used_bytes", "process_memory_bytes", "power_w",
           "temperature_c", "clock_hz"]


def compare(ours, theirs, phases, figures):
    for name, start, end in phases:
        for figure in figures:
            told, true = (rows_between(rows, figure, float(start), float(end)) for rows in (ours, theirs))
            ratio = "" if not told or not true else f"{told / true:.3f}"
            print(f"{name:18} {figure:22} told {told if told is None else round(told, 3)!s:>16}"
                  f"  NVML {true if true is None else round(true, 3)!s:>16}  {ratio}")


def read_peer(folder):
    """Convert the peer's figures to the names and units of the reference."""
    rows = []
    for kind, memory in (("SystemTracker", "memory_used_bytes"), ("ProcessTracker", "process_memory_bytes")):
        with open(folder / f"peer-{kind}.csv", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                rows.append({"time": row["timestamp"], memory: float(row["gpu_vram_mib"]) * (1 << 20)})
                if kind == "SystemTracker":
                    rows[-1]["utilization_share"] = row["gpu_usage"]
    names = {name for row in rows for name in row}
    return [{name: row.get(name) for name in names} for row in rows]


def main():
    if sys.argv[1] == "--child":
        return work_of_the_child()
    if sys.argv[1] == "--job":
        with open(sys.argv[2], "w", encoding="utf-8") as log:
            return work_of_the_job(log)
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    stop, pids = multiprocessing.Event(), multiprocessing.Value("i", 0)
    reference = multiprocessing.Process(target=ask_nvml, args=(folder / "nvml.csv", stop, pids))
    reference.daemon = True
    reference.start()
    environment = {**os.environ, "HOME": str(folder)}
    (folder / "phases.csv.pid").unlink(missing_ok=True)
    job = subprocess.Popen([program, "run", "--no-discovery", "-i", "0.5", "--recording", folder / "recording",
                            "--summary-json", folder / "summary.json", f"--report={folder / 'report.html'}", "--",
                            sys.executable, __file__, "--job", folder / "phases.csv"], env=environment)
    peers = watch_by_peer(pathlib.Path(sys.argv[3]).resolve(), folder) if len(sys.argv) > 3 else []
    if job.wait() != 0:
        return job.returncode
    for peer in peers:
        os.kill(peer.pid, signal.SIGTERM)  # Popen.send_signal() would reap a process that has ended
        _, _, usage = os.wait4(peer.pid, 0)
        print(f"CPU time of {peer.args[2].split('.')[1].split('(')[0]}, its helpers included, s:",
              round(usage.ru_utime + usage.ru_stime, 2))
    stop.set()
    reference.join()
    recording = max((folder / "recording" / "runs").iterdir(), key=lambda path: path.stat().st_mtime)
    text = subprocess.run([program, "export", "--gpus", recording], env=environment, check=True,
                          capture_output=True, text=True).stdout
    (folder / "gpus.csv").write_text(text, encoding="utf-8")
    ours = [{**row, "time": row["timestamp"]} for row in csv.DictReader(text.splitlines())]
    with open(folder / "nvml.csv", encoding="utf-8") as file:
        theirs = list(csv.DictReader(file))
    with open(folder / "phases.csv", encoding="utf-8") as file:
        phases = list(csv.reader(file))
    compare(ours, theirs, phases, FIGURES)
    if peers:
        print("the peer's:")
        compare(read_peer(folder), theirs, phases, ["utilization_share", "memory_used_bytes", "process_memory_bytes"])
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    first, last = (min(theirs, key=lambda row, at=at: abs(float(row["time"]) - at))
                   for at in (float(ours[0]["time"]), float(ours[-1]["time"])))
    print("energy of the run, J: told", summary["totals"]["gpu_energy_j"]["value"], "NVML",
          round(float(last["energy_j"]) - float(first["energy_j"])))
    print("processes on the GPU at once, by NVML:", pids.value)
    print("source:", summary["tracker"]["sources"]["gpu"], "attribution:", summary["gpus"][0]["attribution"])
    print("tracker's CPU time, s:", summary["tracker"]["cpu_s"], "in", summary["run"]["duration_s"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
