"""The use of NVIDIA GPUs, read from the output of nvidia-smi. Columns are found by their names, because their
order differs between drivers."""

from __future__ import annotations

import subprocess
from subprocess import PIPE
from typing import Any, Dict, List, Optional, Set

from ._platform import system_program

TIMEOUT_S = 0.5


def _start(arguments: List[str]) -> Optional[subprocess.Popen[str]]:
    program = system_program("nvidia-smi")
    if program is None:
        return None
    try:
        return subprocess.Popen([program, *arguments], stdin=subprocess.DEVNULL, stdout=PIPE,
                                stderr=subprocess.DEVNULL, encoding="utf-8", errors="replace")
    except OSError:
        return None


def start_nvidia_smi() -> Optional[subprocess.Popen[str]]:
    """Start nvidia-smi for the use of all GPUs. Returns the process, or None if there is no nvidia-smi."""
    return _start(["--query-gpu=utilization.gpu,memory.used", "--format=csv"])


def start_nvidia_smi_pmon() -> Optional[subprocess.Popen[str]]:
    """Start nvidia-smi for the use per process. Returns the process, or None if there is no nvidia-smi."""
    return _start(["pmon", "-c", "1", "-s", "um", "-d", "1"])


def _answer(process: Optional[subprocess.Popen[str]]) -> List[str]:
    if process is None:
        return []
    try:
        return process.communicate(timeout=TIMEOUT_S)[0].splitlines()
    except subprocess.TimeoutExpired:
        process.kill()
        if process.stdout:  # a child of its own may hold the other end for ever
            process.stdout.close()
        process.wait()
        return []


def _number(text: str) -> float:
    """The number in a cell; 0 for an unknown value: "-", "[N/A]"."""
    digits = text.strip().split(" ")[0]
    try:
        return float(digits)
    except ValueError:
        return 0.0


def process_nvidia_smi(nvidia_process: Optional[subprocess.Popen[str]]) -> Dict[str, Any]:
    """Read the output of start_nvidia_smi(): {"gpu_usage": GPUs in use (0.5: half of one), "gpu_vram_mib": MiB,
    "gpu_utilized": number of GPUs that are busy}."""
    usage = vram = 0.0
    utilized = 0
    for line in _answer(nvidia_process)[1:]:
        cells = line.split(",")
        if len(cells) < 2:
            continue
        share = _number(cells[0]) / 100
        usage += share
        vram += _number(cells[1])
        utilized += share > 0
    return {"gpu_usage": usage, "gpu_vram_mib": vram, "gpu_utilized": utilized}


def process_nvidia_smi_pmon(nvidia_process: Optional[subprocess.Popen[str]],
                            pids: Optional[Set[int]] = None) -> Dict[str, Any]:
    """As process_nvidia_smi(), for some processes, from the output of start_nvidia_smi_pmon(); also returns
    gpu_utilized_indexes."""
    lines = _answer(nvidia_process)
    usage = vram = 0.0
    indexes: Set[int] = set()
    names = lines[0].lstrip("#").split() if lines else []
    for line in lines:
        cells = line.split()
        if line.startswith("#") or len(cells) < len(names) - 1:
            continue
        row = dict(zip(names, cells))
        if not row.get("pid", "").isdigit() or (pids is not None and int(row["pid"]) not in pids):
            continue
        usage += _number(row.get("sm", "-")) / 100
        vram += _number(row.get("fb", "-"))
        if row.get("sm", "-") != "-" and row.get("gpu", "").isdigit():
            indexes.add(int(row["gpu"]))
    return {"gpu_usage": usage, "gpu_vram_mib": vram, "gpu_utilized": len(indexes),
            "gpu_utilized_indexes": indexes}
