"""Simulates a kernel with processes whose use is known. It is accessible as libproc of macOS, as a job object of
Windows, and as psutil on either system.

Processes use CPU time at a constant rate from their start to their end. A parent waits for a child, ignores it, or
leaves it as an orphan. Each call takes some time, so the tree changes while it is read.
"""

import ctypes
import dataclasses
import errno
import random
import types

HZ = 24_000_000  # of Apple silicon
MIB = 1 << 20


@dataclasses.dataclass
class Process:
    pid: int
    parent: "Process"
    born: float
    end: float
    rate: float = 1.0  # CPU seconds a second
    memory: int = 10 * MIB
    waits: bool = True  # False: ignores SIGCHLD, so that its children's time is dropped
    wait_after: float = 0.0  # seconds for which it leaves ended children as zombies
    owner: str = "me"

    def __post_init__(self):
        self.children = []
        if self.parent:
            self.parent.children.append(self)

    def own(self, now):
        return max(0.0, min(now, self.end) - self.born) * self.rate

    @property
    def reaped(self):
        """When it disappears: at its parent's wait, or at once."""
        if self.parent and self.parent.waits and self.parent.end > self.end:
            return min(self.end + self.parent.wait_after, self.parent.end)
        return self.end

    def was_received(self, now):
        """Whether its parent's child figure has its time."""
        return (self.parent is not None and self.parent.waits and self.reaped <= now
                and self.parent.end > self.end and self.reaped < self.parent.end)

    def inherited(self, now):
        return sum(child.own(child.end) + child.inherited(child.end)
                   for child in self.children if child.was_received(now))


class Kernel:
    def __init__(self, call_s=0.0):
        self.now = 0.0
        self.call_s = call_s
        self.processes = []
        self.root = self.start(None, 0.0, float("inf"), rate=0.02)
        self.job_start = 0.0
        self.job_is_dead = False

    def start(self, parent, born, end, pid=None, **more):
        process = Process(pid or len(self.processes) + 100, parent, born, end, **more)
        self.processes.append(process)
        return process

    def call(self):
        """A system call: time goes on."""
        self.now += self.call_s

    def find(self, pid):
        for process in self.processes:
            if process.pid == pid and process.born <= self.now < max(process.reaped, process.end):
                return process
        return None

    def there(self):
        return [p for p in self.processes if p.born <= self.now < max(p.reaped, p.end)]

    def is_zombie(self, process):
        return self.now >= process.end

    def parent_of(self, process):
        """0: launchd."""
        return process.parent.pid if process.parent and self.now < process.parent.end else 0

    def children_of(self, pid):
        return [p for p in self.there() if p.parent and self.parent_of(p) == pid]

    def truth(self):
        """CPU seconds of all that ever ran."""
        return sum(process.own(self.now) for process in self.processes)


def build(seed, median_s, seconds=60.0, workers=4, orphan_share=0.01, call_s=0.0, **more):
    """A build: workers start tasks one after another and wait for them; a share of the tasks leaves an
    orphan behind."""
    chance = random.Random(seed)
    kernel = Kernel(call_s)
    for _ in range(workers):
        worker = kernel.start(kernel.root, 0.0, float("inf"), rate=0.01, **more)
        at = 0.0
        while at < seconds:
            length = min(chance.lognormvariate(0, 1.2) * median_s, seconds - at)
            task = kernel.start(worker, at, at + length, rate=0.9)
            if chance.random() < orphan_share:
                kernel.start(task, at + length / 2, at + length + chance.expovariate(2.5))
            at += length + 0.002
    return kernel


# ---- macOS: libproc ----

class Libproc:
    """The functions of libSystem that _libproc.Tree calls."""

    def __init__(self, kernel, hz=HZ):
        self.kernel, self.hz = kernel, hz

    def sysctlbyname(self, name, value, size, new, new_size):
        del size, new, new_size
        assert name == b"hw.tbfrequency"
        value._obj.value = self.hz
        return 0

    def proc_pid_rusage(self, pid, flavor, usage):
        assert flavor == 4
        self.kernel.call()
        process = self.kernel.find(pid.value)
        if process is None or process.owner != "me":
            ctypes.set_errno(errno.ESRCH if process is None else errno.EPERM)
            return -1
        now, into = self.kernel.now, usage._obj
        own, inherited = (int(seconds * self.hz) for seconds in (process.own(now), process.inherited(now)))
        into.ri_user_time, into.ri_system_time = own - own // 4, own // 4
        into.ri_child_user_time, into.ri_child_system_time = inherited - inherited // 4, inherited // 4
        into.ri_phys_footprint = process.memory
        into.ri_lifetime_max_phys_footprint = process.memory * 2
        into.ri_proc_start_abstime = int(process.born * self.hz) + 1
        into.ri_proc_exit_abstime = int(process.end * self.hz) if self.kernel.is_zombie(process) else 0
        into.ri_diskio_byteswritten = int(process.own(now) * MIB)
        return 0

    def proc_listchildpids(self, pid, pids, size):
        self.kernel.call()
        found = [p.pid for p in self.kernel.children_of(pid.value)][:size // 4]
        for i, child in enumerate(found):
            pids[i] = child
        return len(found)


class Events:
    """A kernel queue, as _libproc.Events has it: an event is answered 2 ms later."""

    def __init__(self, kernel):
        self.kernel, self.since, self.told = kernel, {}, kernel.now
        self.all = sorted([(p.born, p.parent, True) for p in kernel.processes if p.parent]
                          + [(p.end, p, False) for p in kernel.processes], key=lambda event: event[0])

    def watch(self, pid):
        process = self.kernel.find(pid)
        if process:
            self.since.setdefault(id(process), self.kernel.now)

    def wait(self, seconds):
        until = self.kernel.now + seconds
        while self.all and self.all[0][0] <= until:
            at, process, forked = self.all.pop(0)
            if at > self.since.get(id(process), float("inf")):
                self.kernel.now = max(self.kernel.now, at + 0.002)
                return [(process.pid, forked, not forked)]
        self.kernel.now = until
        return []


# ---- Windows: a job object ----

class Kernel32:
    """The functions of kernel32 that _job_object.JobObject calls."""

    def __init__(self, kernel):
        self.kernel = kernel

    def CreateJobObjectW(self, security, name):
        return 7

    def GetCurrentProcess(self):
        return -1

    def AssignProcessToJobObject(self, job, process):
        assert (job, process) == (7, -1)
        return 1

    def QueryInformationJobObject(self, job, kind, into, size, length):
        assert job == 7 and size == ctypes.sizeof(into._obj)
        self.kernel.call()
        if kind == 8:
            used = 0 if self.kernel.job_is_dead else int(self.kernel.truth() / 1e-7)
            into._obj.TotalUserTime, into._obj.TotalKernelTime = used - used // 4, used // 4
            into._obj.TotalProcesses = len(self.kernel.processes)
            into._obj.ActiveProcesses = len(self.kernel.there())
        else:
            into._obj.PeakJobMemoryUsed = 0 if self.kernel.job_is_dead else 300 * MIB
        return 1


# ---- psutil ----

def psutil_of(kernel, system):
    """A module like psutil, on "macos" or "windows"."""
    module = types.ModuleType("psutil")

    class Error(Exception):
        pass

    class NoSuchProcess(Error):
        pass

    class ZombieProcess(NoSuchProcess):
        pass

    class AccessDenied(Error):
        pass

    class PsutilProcess:
        def __init__(self, pid):
            found = kernel.find(pid)
            if found is None:
                raise NoSuchProcess(pid)
            self.pid, self._found = pid, found

        def _look(self):
            kernel.call()
            if kernel.find(self.pid) is not self._found:
                raise NoSuchProcess(self.pid)
            if system == "macos" and kernel.is_zombie(self._found):
                raise ZombieProcess(self.pid)
            if kernel.is_zombie(self._found):  # Windows has none
                raise NoSuchProcess(self.pid)
            if self._found.owner != "me":
                raise AccessDenied(self.pid)

        def is_running(self):
            return kernel.find(self.pid) is self._found

        def status(self):
            return module.STATUS_ZOMBIE if kernel.is_zombie(self._found) and system == "macos" else "running"

        def create_time(self):
            return self._found.born + 1e9

        def ppid(self):
            if self._found.parent is None:
                return 1
            # Windows keeps the parent's pid when the parent has ended.
            return kernel.parent_of(self._found) if system == "macos" else self._found.parent.pid

        def children(self, recursive=False):
            assert recursive
            self.__class__(self.pid)
            found, queue = [], [self.pid]
            while queue:
                below = [p for pid in queue for p in kernel.children_of(pid)]
                found += below
                queue = [p.pid for p in below]
            return [PsutilProcess(p.pid) for p in found if kernel.find(p.pid) is p]

        def cpu_times(self):
            self._look()
            used = self._found.own(kernel.now)
            return types.SimpleNamespace(user=used * 0.75, system=used * 0.25, children_user=0.0,
                                         children_system=0.0)

        def memory_info(self):
            self._look()
            return types.SimpleNamespace(rss=self._found.memory * 3, private=self._found.memory * 2)

        def memory_full_info(self):
            if system == "macos":
                raise AccessDenied(self.pid)
            self._look()
            return types.SimpleNamespace(uss=self._found.memory)

    class WindowsProcess(PsutilProcess):
        def io_counters(self):  # files, pipes and the network alike
            return types.SimpleNamespace(read_bytes=10**9, write_bytes=10**9)

    memory = dict(total=16 << 30, available=6 << 30, free=1 << 30, used=9 << 30)
    if system == "macos":
        memory.update(active=5 << 30, inactive=4 << 30, wired=2 << 30)
    module.__dict__.update(
        Error=Error, NoSuchProcess=NoSuchProcess, ZombieProcess=ZombieProcess, AccessDenied=AccessDenied,
        STATUS_ZOMBIE="zombie", Process=WindowsProcess if system == "windows" else PsutilProcess,
        cpu_times=lambda: types.SimpleNamespace(user=kernel.truth() * 0.75, system=kernel.truth() * 0.25),
        virtual_memory=lambda: types.SimpleNamespace(**memory),
        pids=lambda: [p.pid for p in kernel.there()],
        pid_exists=lambda pid: kernel.find(pid) is not None,
        net_io_counters=lambda pernic: {
            name: types.SimpleNamespace(bytes_recv=1000, bytes_sent=10) for name in (
                ("lo0", "en0") if system == "macos" else ("Loopback Pseudo-Interface 1", "Ethernet"))},
        # None: as on Windows without counters of disks.
        disk_io_counters=lambda perdisk: None if system == "windows" else {
            "disk0": types.SimpleNamespace(read_bytes=5, write_bytes=6)},
        disk_partitions=lambda all: [
            types.SimpleNamespace(device=device, mountpoint=point, fstype=kind)
            for device, point, kind in (
                [("/dev/disk3s1s1", "/", "apfs"), ("/dev/disk3s5", "/System/Volumes/Data", "apfs"),
                 ("/dev/disk4s1", "/Volumes/Other", "hfs")] if system == "macos" else
                [("C:\\", "C:\\", "NTFS")])],
        disk_usage=lambda point: types.SimpleNamespace(total=10**12, used=4 * 10**11, free=5 * 10**11))
    return module
