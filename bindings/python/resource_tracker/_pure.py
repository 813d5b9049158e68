"""Counters and a tracker in plain Python that read /proc. They are used if neither the extension module nor
the program can be loaded (another libc, another architecture).

They are slower and less exact than the library: a child that starts and ends between two samples is counted when
its parent waits for it, and the CPU time of orphans is lost. The results have the same shapes as those of _core.
"""

from __future__ import annotations

import os
import threading
import time
from typing import Any, Dict, List, Optional, Tuple

TICK_S = 1 / (os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100)
PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
MIB = 1024 * 1024
SECTOR = 512  # bytes of a sector in /proc/diskstats, independent of the disk's sector size
NO_SPACE = {"proc", "sysfs", "tmpfs", "devtmpfs", "squashfs", "overlay", "iso9660", "erofs",
            "cgroup", "cgroup2", "nfs", "nfs4", "cifs", "autofs"}


def _read(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def read_stat(pid: int) -> List[str]:
    """The fields of /proc/PID/stat from the state (field 3) on. The name before it may contain any character, so the
    text is split after the last ")"."""
    text = _read(f"/proc/{pid}/stat")
    return text[text.rindex(")") + 2:].split()


def descendants(pid: int) -> List[int]:
    """Pids of all descendants of a process, from the parent pids in /proc."""
    children: Dict[int, List[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                children.setdefault(int(read_stat(int(name))[1]), []).append(int(name))
            except (OSError, ValueError, IndexError):
                continue
    found: List[int] = []
    queue = [pid]
    while queue:
        queue = [child for parent in queue for child in children.get(parent, ())]
        found += queue
    return found


def memory_bytes(pid: int) -> int:
    """PSS of a process in bytes; RSS if smaps_rollup cannot be read; 0 if the process has ended."""
    try:
        for line in _read(f"/proc/{pid}/smaps_rollup").splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    try:
        return int(_read(f"/proc/{pid}/statm").split()[1]) * PAGE
    except (OSError, ValueError, IndexError):
        return 0


def io_bytes(pid: int) -> Optional[Tuple[int, int]]:
    """(bytes read from storage, bytes written to storage); None if /proc/PID/io cannot be read."""
    try:
        fields = dict(line.split(": ") for line in _read(f"/proc/{pid}/io").splitlines())
        return int(fields["read_bytes"]), int(fields["write_bytes"])
    except (OSError, ValueError, KeyError):
        return None


def queue_s(pid: int) -> float:
    """Time in s that the runnable threads of a process waited for a CPU; 0 if it cannot be read."""
    waited = 0
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            waited += int(_read(f"/proc/{pid}/task/{thread}/schedstat").split()[1])
    except (OSError, ValueError, IndexError):
        pass
    return waited / 1e9


def limit_cpus() -> Optional[float]:
    """CPUs that the quota of this process's control group and of its ancestors allows; None without a quota."""
    if not os.path.exists("/proc/self/cgroup"):  # not Linux, or /proc/self is hidden
        return None
    found = []
    for line in _read("/proc/self/cgroup").splitlines():
        _, names, path = line.split(":", 2)
        folders = ["/sys/fs/cgroup"] if not names else (
            ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"] if "cpu" in names.split(",") else [])
        for folder in folders:
            parts = path.strip("/").split("/")
            for n in range(len(parts) + 1):  # ancestors limit as well; a container may show only its own group
                found.append(_quota("/".join([folder, *parts[:n]])))
    return min((quota for quota in found if quota is not None), default=None)


def _quota(folder: str) -> Optional[float]:
    try:
        if os.path.exists(folder + "/cpu.max"):
            quota, period = _read(folder + "/cpu.max").split()
        else:
            quota, period = (_read(f"{folder}/cpu.cfs_{name}_us") for name in ("quota", "period"))
        return int(quota) / int(period) if int(quota) > 0 else None
    except (OSError, ValueError, ZeroDivisionError):  # "max", or no such files
        return None


class Counters:
    """Same interface as _core.Counters. In addition queue_s: time in s that the live threads waited for a CPU."""

    def __init__(self, pid: int = 0, children: bool = True):
        self._pid = pid
        self._children = children
        self._last = [0.0, 0.0, 0.0, 0.0]
        self.queue_s = 0.0
        if pid and not os.path.isdir(f"/proc/{pid}"):
            raise ProcessLookupError(3, "No such process")

    def process(self) -> Tuple[Any, ...]:
        now = [0.0, 0.0, 0.0, 0.0]
        memory = processes = 0
        queued = 0.0
        gone = True
        has_io = False
        for pid in [self._pid] + (descendants(self._pid) if self._children else []):
            try:
                fields = read_stat(pid)
            except (OSError, ValueError):
                continue
            if fields[0] in "ZX":
                continue
            gone = gone and pid != self._pid
            processes += 1
            memory += memory_bytes(pid)
            queued += queue_s(pid)
            last = 15 if self._children else 13
            now[0] += sum(map(int, fields[11:last:2])) * TICK_S
            now[1] += sum(map(int, fields[12:last:2])) * TICK_S
            transferred = io_bytes(pid)
            if transferred:
                has_io = True
                now[2] += transferred[0]
                now[3] += transferred[1]
        # The figures of a process that ended without being waited for disappear. The totals never decrease.
        self._last = [max(a, b) for a, b in zip(now, self._last)]
        user, system, read, written = self._last
        self.queue_s = max(self.queue_s, queued)
        return (user, system, memory / MIB, read if has_io or gone else None,
                written if has_io or gone else None, processes, int(gone))

    def machine(self, in_kib: bool) -> Tuple[Any, ...]:
        processes = sum(name.isdigit() for name in os.listdir("/proc"))
        cpu = [int(field) for field in _read("/proc/stat").split("\n", 1)[0].split()[1:]]
        memory = _meminfo()
        received = sent = 0
        for line in _read("/proc/net/dev").splitlines()[2:]:
            name, _, rest = line.partition(":")
            if name.strip() != "lo" and _counts(name.strip()):
                fields = rest.split()
                received += int(fields[0])
                sent += int(fields[8])
        cached = memory["Cached"] + memory.get("SReclaimable", 0)
        available = memory.get("MemAvailable", memory["MemFree"] + memory["Buffers"] + cached)
        mib = (memory["MemFree"], max(0.0, memory["MemTotal"] - available), memory["Buffers"],
               cached, memory["Active"], memory["Inactive"])
        return (processes, (cpu[0] + cpu[1]) * TICK_S, sum(cpu[i] for i in (2, 5, 6)) * TICK_S,
                *(int(value * 1024) if in_kib else value for value in mib),
                _disks(), _mounts(), received, sent)


def _counts(interface: str) -> bool:
    """Whether the traffic of this interface is counted: physical interfaces only, if the machine has any."""
    base = "/sys/class/net"
    try:
        physical = [n for n in os.listdir(base) if os.path.exists(f"{base}/{n}/device")]
    except OSError:
        return True
    return not physical or interface in physical


def _meminfo() -> Dict[str, float]:
    """{name: value in MiB} of /proc/meminfo."""
    result = {}
    for line in _read("/proc/meminfo").splitlines():
        name, _, rest = line.partition(":")
        result[name] = int(rest.split()[0]) / 1024
    return result


def _disks() -> Dict[str, Dict[str, int]]:
    result = {}
    for line in _read("/proc/diskstats").splitlines():
        fields = line.split()
        # Only whole devices that are not built on other devices (no partitions, LVM, RAID or loop devices).
        if len(fields) < 14 or not os.path.exists(f"/sys/block/{fields[2]}/device"):
            continue
        result[fields[2]] = {"read_bytes": int(fields[5]) * SECTOR,
                             "write_bytes": int(fields[9]) * SECTOR}
    return result


def _mounts() -> Dict[str, Dict[str, int]]:
    found = {}
    seen = set()
    for line in _read("/proc/self/mountinfo").splitlines():
        fields, _, rest = line.partition(" - ")
        words = fields.split()
        kind = rest.split()[0]
        if kind in NO_SPACE or words[2] in seen or kind.startswith("fuse"):
            continue
        point = words[4].encode().decode("unicode_escape")
        try:
            st = os.statvfs(point)
        except OSError:
            continue
        if st.f_blocks == 0:
            continue
        seen.add(words[2])
        found[point] = {"total": st.f_blocks * st.f_frsize,
                        "used": (st.f_blocks - st.f_bfree) * st.f_frsize,
                        "free": st.f_bavail * st.f_frsize}
    return found


def _before_start(now: Tuple[Any, ...]) -> Tuple[Any, ...]:
    """What a process had used when it started. What is unknown stays so."""
    return (0.0, 0.0, now[2], *(None if amount is None else 0 for amount in now[3:5]), *now[5:])


class Tracker:
    """Same interface as _core.Tracker; a thread of this process takes the samples."""

    recording = ""

    def __init__(self, *, pid: int = 0, interval: float = 1, children: bool = True,
                 processes: bool = True, system: bool = True, started: Optional[float] = None, **ignored: Any):
        """started: time.monotonic() when the caller started the process, whose use then counts from its start on."""
        self._interval = interval
        self._children = children
        self._process = self._counters_of(pid or os.getpid(), children) if processes else None
        self._machine = self._counters_of() if system else None
        self._pid = pid or os.getpid()
        self._owner = os.getpid()
        self._rows: List[Dict[str, Any]] = []
        self._marks: List[Tuple[str, float]] = []
        self._end = threading.Event()
        self._error = ""
        self._start = self._last_s = time.monotonic() if started is None else started
        self._first = self._last = self._read()
        if started is not None:
            self._first = self._last = _before_start(self._first[0]), self._first[1]
        self._queue_s = self._process.queue_s if self._process else 0.0
        self._thread = threading.Thread(target=self._run, name="resource-tracker", daemon=True)
        self._thread.start()

    def _counters_of(self, pid: int = 0, children: bool = True) -> Any:
        return Counters(pid, children)

    def _read(self) -> Tuple[Any, ...]:
        return (self._process.process() if self._process else None,
                self._machine.machine(False) if self._machine else None)

    def _run(self) -> None:
        n = 1
        try:
            while not self._end.wait(max(0.0, self._start + n * self._interval - time.monotonic())):
                if not self._sample():
                    return
                n = max(n + 1, int((time.monotonic() - self._start) / self._interval) + 1)
            self._sample()
        except Exception as error:
            self._error = f"{type(error).__name__}: {error}"

    def _sample(self) -> bool:
        now_s = time.monotonic()
        over_s = now_s - self._last_s
        process, machine = now = self._read()
        row: Dict[str, Any] = {"timestamp": time.time(), "interval_s": over_s}
        if process:
            row.update(self._process_row(process, over_s))
            assert self._process is not None
            queued = self._process.queue_s
            if queued is not None:
                row["process_cpu_queue"], self._queue_s = queued - self._queue_s, queued
        if machine:
            row.update(self._machine_row(machine, over_s))
        self._last_s = now_s
        self._last = now
        self._rows.append(row)
        return not (process and process[6])

    def _process_row(self, now: Tuple[Any, ...], over_s: float) -> Dict[str, Any]:
        last = self._last[0]
        user, system = (max(0.0, now[i] - last[i]) for i in (0, 1))
        read, written = (
            None if now[i] is None or last[i] is None else max(0, now[i] - last[i])
            for i in (3, 4))
        return {
            "process_pid": self._pid,
            "process_children": max(0, now[5] - (not now[6])) if self._children else None,
            "process_utime": user,
            "process_stime": system,
            "process_cpu_usage": (user + system) / over_s if over_s else None,
            "process_memory_mib": now[2] if now[5] else None,
            "process_disk_read_bytes": read,
            "process_disk_write_bytes": written,
        }

    def _machine_row(self, now: Tuple[Any, ...], over_s: float) -> Dict[str, Any]:
        last = self._last[1]
        user, system, received, sent = (
            None if now[i] is None or last[i] is None else max(0, now[i] - last[i])
            for i in (1, 2, 11, 12))
        row = {
            "system_processes": now[0],
            "system_utime": user,
            "system_stime": system,
            "system_cpu_usage": (user + system) / over_s
            if over_s and user is not None and system is not None else None,
            "system_net_recv_bytes": received,
            "system_net_sent_bytes": sent,
        }
        for i, kind in enumerate(("free", "used", "buffers", "cached", "active", "inactive")):
            row[f"system_memory_{kind}_mib"] = now[3 + i]
        for kind in ("read_bytes", "write_bytes"):
            if now[9] is None or last[9] is None:
                continue
            row[f"system_disk_{kind}"] = sum(max(0, disk[kind] - last[9][name][kind])
                                             for name, disk in now[9].items() if name in last[9])
        for kind in ("total", "used", "free"):
            row[f"system_disk_space_{kind}_gb"] = sum(
                space[kind] for space in now[10].values()) / 1e9
        return row

    # ---- the interface of _core.Tracker ----

    @property
    def error(self) -> str:
        return self._error

    def running(self) -> bool:
        return self._owner == os.getpid() and self._thread.is_alive()

    def samples(self) -> int:
        return len(self._rows)

    def wait(self, n: int, timeout: float) -> bool:
        end = time.monotonic() + timeout
        while len(self._rows) < n and self.running() and time.monotonic() < end:
            time.sleep(min(0.05, self._interval / 10))
        return len(self._rows) >= n

    def mark(self, name: str) -> None:
        if not self.running():
            raise BrokenPipeError(32, "the tracker has stopped")
        self._marks.append((name, time.monotonic() - self._start))

    def marks(self) -> List[Tuple[str, float]]:
        return list(self._marks)

    def stop(self, exit_code: int = -1) -> None:
        if self._owner == os.getpid():
            self._end.set()
            self._thread.join(5)

    def close(self) -> None:
        self.stop()

    def columns(self) -> Dict[str, List[Any]]:
        rows = list(self._rows)
        names = {name: None for row in rows for name in row}
        return {name: [row.get(name) for row in rows] for name in names}
