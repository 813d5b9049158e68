"""Describes the machine: operating system, CPUs, memory, GPUs."""

from __future__ import annotations

import os
from typing import Any, Dict, List, Optional, Tuple

from . import _engine
from ._platform import is_psutil_available, system, system_program

GPU_TIMEOUT_S = 5


def get_total_memory_mib() -> float:
    """Memory of the machine in MiB; 0.0 if it is not known."""
    try:
        with open("/proc/meminfo", encoding="ascii", errors="replace") as file:
            for line in file:
                if line.startswith("MemTotal:"):
                    return round(int(line.split()[1]) / 1024, 2)
    except (OSError, ValueError, IndexError):
        pass
    if system() != "linux" and is_psutil_available():
        import psutil

        return float(round(psutil.virtual_memory().total / 1024 / 1024, 2))
    return 0.0


def get_total_memory_mb() -> float:
    """Older name of get_total_memory_mib(). The unit is MiB."""
    return get_total_memory_mib()


def _ask_nvidia_smi() -> Tuple[List[str], float]:
    import subprocess

    names: List[str] = []
    memory = 0.0
    program = system_program("nvidia-smi")
    if program is None:
        return names, memory
    try:
        out = subprocess.run(
            [program, "--query-gpu=gpu_name,memory.total", "--format=csv,noheader,nounits"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            timeout=GPU_TIMEOUT_S, check=True, encoding="utf-8", errors="replace").stdout
    except (OSError, subprocess.SubprocessError):
        return names, memory
    for line in out.splitlines():
        name, _, size = line.rpartition(",")
        names.append(name.strip())
        try:
            memory += float(size)
        except ValueError:  # [N/A]
            pass
    return names, memory


def _ask_program() -> Dict[str, Any]:
    """The JSON of `resource-tracker machine --json`; {} if the program cannot be started."""
    details = _engine.ask_program("server-info", "--json", timeout=GPU_TIMEOUT_S)
    return details if isinstance(details, dict) else {}


def _gpu_memory_of(details: Dict[str, Any]) -> Optional[float]:
    """Memory of all GPUs in MiB; 0.0 without a GPU; None if it is not known."""
    memory = details.get("gpu_memory_mib")
    return float(memory) if memory is not None else None if details.get("gpu_count") else 0.0


def info_of(details: Dict[str, Any]) -> Dict[str, Any]:
    """Convert the JSON of `resource-tracker machine --json` to the keys of get_server_info()."""
    memory, gpu = details.get("memory_mib"), _gpu_memory_of(details)
    return {
        "os": details.get("os"),
        "vcpus": details.get("vcpus"),
        "memory_mib": memory,
        "memory_mb": memory,
        "gpu_count": details.get("gpu_count"),
        "gpu_names": details.get("gpu_names") or [],
        "gpu_name": details.get("gpu_name") or "",
        "gpu_memory_mib": gpu,
        "gpu_memory_mb": gpu,
        "details": details,
    }


def get_gpu_info(details: Optional[Dict[str, Any]] = None) -> Dict[str, Any]:
    """The GPUs of the machine.

    The program reports the GPUs of all vendors. If it reports none although the machine may have a GPU,
    nvidia-smi is run.

    Args:
        details: the JSON of `resource-tracker machine --json`; default: run it

    Returns:
        a dict: gpu_count (int), gpu_names (list of str), gpu_name (the most common name or ""), gpu_memory_mib
        (float, sum of all GPUs; also as gpu_memory_mb). None means not known
    """
    details = _ask_program() if details is None else details
    names: List[str] = list(details.get("gpu_names") or [])
    memory: Optional[float] = _gpu_memory_of(details)
    if not names and _engine.has_gpu():
        names, memory = _ask_nvidia_smi()
        if not names and system() != "linux":
            memory = None
    return {
        # Outside of Linux, no name does not mean that there is no GPU: its vendor may not be supported there.
        "gpu_count": len(names) if names or system() == "linux" else None,
        "gpu_names": names,
        "gpu_name": max(names, key=names.count) if names else "",
        "gpu_memory_mib": memory,
        "gpu_memory_mb": memory,
    }


def get_server_info() -> Dict[str, Any]:
    """Describe the machine.

    Returns:
        a dict: os (str), vcpus (int), memory_mib (float; also as memory_mb), the keys of get_gpu_info(), and
        details (the JSON of `resource-tracker machine --json`), if the program can be started
    """
    memory = get_total_memory_mib()
    details = _ask_program()
    info = {
        "os": os.uname().sysname if hasattr(os, "uname") else "Windows",
        "vcpus": os.cpu_count(),
        "memory_mib": memory,
        "memory_mb": memory,
        **get_gpu_info(details),
    }
    if details:
        info["details"] = details
    return info
