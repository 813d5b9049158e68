#!/usr/bin/env python3
"""Kills, stops, continues and starves the tracker and the job at random moments. The job's result must not change.

    storm.py PROGRAM [--seconds 300] [--seed 1] [--only PART-OF-A-NAME] [--list]

Each round starts one job under `run`, or with `attach`, applies one or two disturbances, and then checks these
promises: the job wrote its whole output and ended with its own exit code; the tracker passed the code on, unless it
was killed; every complete record that the recording contained at the disturbance is still there; records are damaged
only at the end of the recording of a killed tracker; the program shows as many rows as there are. The program prints
how often each disturbance was applied, and which of them this machine does not permit (without root: mounts, control
groups, another user). It exits with 1 if a promise is broken.
"""

import argparse
import collections
import contextlib
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

# One process that needs nothing more from the kernel once it runs: a limit of the tracker's, which
# it inherits, does not change its result.
JOB = ("$| = 1; for (0 .. 3) { print \"$_\\n\"; select(undef, undef, undef, 0.05) } "
       "open(F, '>', 'DONE') or exit 8; exit 7")
WHOLE = "0\n1\n2\n3\n"
WAIT_S = 240  # a bound for what hangs, not a measure
NOBODY = 65534
SIGNATURE, SYNC = b"RTRK\x01\r\n\x1a", b"\xb5rtk"
ROW, MERGED = 2, 3


class Broken(Exception):
    """A promise was not kept."""


# ---- recordings ----


def crc_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


CRC = crc_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ CRC[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def records_of(data):
    """Types of the whole records at the start of a file, and where they end."""
    at, types = len(SIGNATURE), []
    while data[at:at + 4] == SYNC and len(data) >= at + 14:
        end = at + 14 + int.from_bytes(data[at + 6:at + 10], "little")
        checked = data[at + 4:at + 10] + data[at + 14:end]
        if end > len(data) or crc32c(checked) != int.from_bytes(data[at + 10:at + 14], "little"):
            break
        types.append(data[at + 4])
        at = end
    return types, at


def whole_part(path):
    try:
        data = path.read_bytes()
    except OSError:
        return b""
    return data[:records_of(data)[1]] if data.startswith(SIGNATURE) else b""


# ---- one round ----


class Round:
    """A job, its tracker, and the places that they use."""

    def __init__(self, program, folder, verb):
        self.program, self.folder, self.verb = program, folder, verb
        self.state = folder / "state"
        self.env = {**os.environ, "RESOURCE_TRACKER_DIR": str(self.state), "HOME": str(folder),
                    "TRACKER_NO_DISCOVERY": "1"}
        self.env.pop("RESOURCE_TRACKER_RUN", None)
        self.before = []    # commands that the tracker is started through
        self.preexec = []   # what the tracker does to itself first
        self.cleanup = []
        self.tracker_killed = self.job_killed = self.removed = False
        self.may_lack_recording = False
        self.tracker = self.job = None
        self.kept = {}

    def preexec_all(self):
        for act in self.preexec:
            act()

    def start(self):
        job = ["perl", "-e", JOB]
        with open(self.folder / "out", "w", encoding="ascii") as out:
            options = {"cwd": self.folder, "env": self.env, "stdin": subprocess.DEVNULL,
                       "stdout": out, "stderr": subprocess.DEVNULL}
            if self.verb == "attach":
                self.job = subprocess.Popen(job, **options)
                words = [self.program, "attach", "-q", "-i", "20ms", str(self.job.pid)]
            else:
                words = [self.program, "run", "-q", "-i", "20ms", "--", *job]
            self.tracker = subprocess.Popen([*self.before, *words], preexec_fn=self.preexec_all,
                                            **options)

    def job_pid(self):
        """Of the job; None when it has not started or is over."""
        if self.job:
            return self.job.pid if self.job.poll() is None else None
        with contextlib.suppress(OSError):
            children = pathlib.Path(f"/proc/{self.tracker.pid}/task/{self.tracker.pid}/children")
            for pid in children.read_text(encoding="ascii").split():
                if os.path.basename(os.readlink(f"/proc/{pid}/exe")).startswith("perl"):
                    return int(pid)
        return None

    def has_row(self):
        return any(kind in (ROW, MERGED) for path in self.recordings() for kind in records_of(path.read_bytes())[0])

    def await_begin(self):
        """Wait until the tracker does not load itself, set itself up or start the job any more."""
        end = time.monotonic() + WAIT_S
        while self.tracker.poll() is None and time.monotonic() < end and not (
                self.has_row() if self.verb == "attach" else self.output()):
            time.sleep(0.005)

    def is_in_place(self):
        """Has the job taken the tracker's place, because no process could be made for it? What is
        done to the tracker would then be done to the job."""
        with contextlib.suppress(OSError):
            return "perl" in os.readlink(f"/proc/{self.tracker.pid}/exe")
        return False

    def recordings(self):
        return list(self.state.rglob("*.rtrk"))

    def output(self):
        return (self.folder / "out").read_text(encoding="ascii")

    def keep(self):
        """Remember the whole records that are there."""
        self.kept = {path: whole_part(path) for path in self.recordings()}

    def await_job(self):
        """The job goes on when its tracker does not."""
        end = time.monotonic() + WAIT_S
        while not (self.folder / "DONE").exists() and time.monotonic() < end:
            time.sleep(0.01)

    # What must hold at the end.

    def job_codes(self):
        """How the job may have ended. A kill that comes as it ends finds it, or a zombie."""
        if not self.job_killed:
            return {7}
        return {-signal.SIGKILL, 7} if (self.folder / "DONE").exists() else {-signal.SIGKILL}

    def check_results(self):
        code = self.tracker.wait(timeout=WAIT_S)
        begun = self.output() != ""
        if code == -signal.SIGKILL and not (self.tracker_killed or self.job_killed):
            raise Broken("the tracker was killed by nobody")
        if self.verb == "attach":
            if code not in (0, 1, 4) and not self.tracker_killed:
                raise Broken(f"attach ended with {code}")
            self.may_lack_recording |= code != 0  # the job was over before it could begin
            if self.job.wait(timeout=WAIT_S) not in self.job_codes():
                raise Broken(f"the job beside attach ended with {self.job.returncode}")
        elif not self.tracker_killed and code not in self.job_codes():
            raise Broken(f"exit code {code}")
        elif self.tracker_killed and begun and not self.job_killed:
            self.await_job()
        if self.job_killed:
            if not WHOLE.startswith(self.output()):
                raise Broken(f"the job's output was changed: {self.output()!r}")
        elif (begun or not self.tracker_killed) and self.output() != WHOLE:
            raise Broken(f"the job's output was cut: {self.output()!r}")

    def check_recordings(self):
        there = self.recordings()
        for path, kept in self.kept.items():
            if kept and path not in there and not self.removed:
                raise Broken("a recording vanished")
        for path in there:
            data = path.read_bytes()
            types, end = records_of(data)
            if not data.startswith(self.kept.get(path, b"")):
                raise Broken("a record that was whole has changed")
            if end < len(data) and data.startswith(SIGNATURE) and not self.tracker_killed:
                raise Broken(f"half a record at {end} of {len(data)}")
            self.check_reading(path, types)
        if not there and not (self.removed or self.tracker_killed or self.may_lack_recording):
            raise Broken("there is no recording")

    def check_reading(self, path, types):
        rows = sum(kind in (ROW, MERGED) for kind in types)
        shown = self.ask("show", "--json", path)
        if shown.returncode != 0:
            if types:
                raise Broken(f"show: {shown.returncode} {shown.stderr}")
            return
        if MERGED not in types and json.loads(shown.stdout)["tracker"]["samples"] != rows:
            raise Broken(f"of {rows} rows not all are shown")
        exported = self.ask("export", "--format", "jsonl", path)
        if exported.returncode not in (0, 4):
            raise Broken(f"export: {exported.returncode} {exported.stderr}")
        elapsed = [json.loads(line)["elapsed_s"] for line in exported.stdout.splitlines()]
        if elapsed != sorted(elapsed) or len(elapsed) != rows:
            raise Broken(f"{len(elapsed)} rows exported of {rows}, elapsed {elapsed}")

    def ask(self, *words):
        return subprocess.run([self.program, *map(str, words)], env=self.env, timeout=WAIT_S,
                              capture_output=True, check=False)

    def end(self):
        for process in (self.tracker, self.job):
            if process:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                process.wait()
        for act in reversed(self.cleanup):
            act()


# ---- what is done to a round: at the start, or in its midst ----


def nothing(_round):
    pass


def limit(which, value):
    """Lower one soft limit of the tracker once its job runs, so that the job keeps its own."""
    def act(r):
        r.may_lack_recording |= not r.kept  # it may hit before there is one
        r.await_begin()
        if r.is_in_place():
            return
        # Gone, or another user's (who may not be limited without CAP_SYS_RESOURCE).
        with contextlib.suppress(ProcessLookupError, PermissionError):
            hard = resource.prlimit(r.tracker.pid, which)[1]
            low = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.prlimit(r.tracker.pid, which, (low, hard))
    return act


def limit_from_the_start(which, value):
    def act(r):
        r.may_lack_recording = True
        r.preexec.append(lambda: resource.setrlimit(which, (value, value)))
    return act


def to_tracker(*signals):
    def act(r):
        r.tracker_killed |= signal.SIGKILL in signals
        for signo in signals:
            r.tracker.send_signal(signo)
            time.sleep(0.05)
    return act


def to_job(*signals):
    def act(r):
        pid = r.job_pid()
        if pid is None or r.output() == "":
            return
        r.job_killed |= signal.SIGKILL in signals
        for signo in signals:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signo)
            time.sleep(0.05)
    return act


def both_stopped(r):
    pid = r.job_pid()
    pids = [r.tracker.pid, *([pid] if pid else [])]
    for signo in (signal.SIGSTOP, signal.SIGCONT):
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signo)
        time.sleep(0.1)


def remove_state(r):
    r.removed = True
    with contextlib.suppress(OSError):  # on what has become read-only
        for path in r.recordings():
            path.unlink(missing_ok=True)


def directory_read_only(r):
    r.state.mkdir()
    r.state.chmod(0o555)
    r.may_lack_recording = True


def mounted(*options):
    """The state directory is a file system of its own."""
    def act(r):
        r.state.mkdir()
        r.may_lack_recording = True
        subprocess.run(["mount", "-t", "tmpfs", "-o", ",".join(options), "storm", r.state],
                       check=True)
        r.cleanup.append(lambda: subprocess.run(["umount", "-l", r.state], check=True))
    return act


def disk_fills(r):
    """And, for half of them, is emptied again while the run goes on."""
    if not os.path.ismount(r.state):
        return
    with contextlib.suppress(OSError), open(r.state / "filler", "wb", buffering=0) as file:
        while True:
            file.write(bytes(1024))
    if r.tracker.pid % 2:
        time.sleep(0.06)
        with contextlib.suppress(OSError):
            (r.state / "filler").unlink()


def becomes_read_only(r):
    if os.path.ismount(r.state):  # refused while the recording is open for writing: then a no-op
        subprocess.run(["mount", "-o", "remount,ro", r.state], check=False, capture_output=True)


GROUPS = [pathlib.Path("/sys/fs/cgroup/pids"), pathlib.Path("/sys/fs/cgroup")]


def few_processes(count):
    """A control group that has room for so many. Later the tracker's is full."""
    def act(r):
        top = next(g for g in GROUPS if may_make_group(g))
        group = top / f"storm-{os.getpid()}-{id(r):x}"
        group.mkdir()
        r.cleanup.append(lambda: remove_group(group))
        (group / "pids.max").write_text(str(count))
        r.may_lack_recording = True
        r.preexec.append(lambda: (group / "cgroup.procs").write_text(str(os.getpid())))
    return act


def remove_group(group):
    for _ in range(100):
        with contextlib.suppress(OSError):
            group.rmdir()
            return
        time.sleep(0.02)


def as_nobody(r):
    """Whose limit of processes is reached with the tracker itself."""
    os.chown(r.folder, NOBODY, NOBODY)
    r.may_lack_recording = True
    r.before = ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups",
                "prlimit", "--nproc=1:1"]


# ---- what is permitted here ----


def may_make_group(top):
    try:
        group = top / f"storm-{os.getpid()}"
        group.mkdir()
        room = (group / "pids.max").exists()
        group.rmdir()
        return room
    except OSError:
        return False


def has_groups():
    return any(map(may_make_group, GROUPS))


def is_root():
    return os.geteuid() == 0


def may_mount():
    return is_root() and os.environ.get("STORM_NAMESPACE") == "1"


AT_START = {
    "8 descriptors from the start": (limit_from_the_start(resource.RLIMIT_NOFILE, 8), None),
    "16 descriptors from the start": (limit_from_the_start(resource.RLIMIT_NOFILE, 16), None),
    "24 descriptors from the start": (limit_from_the_start(resource.RLIMIT_NOFILE, 24), None),
    "12 MiB of addresses from the start":
        (limit_from_the_start(resource.RLIMIT_AS, 12 << 20), None),
    "files of 2000 bytes from the start":
        (limit_from_the_start(resource.RLIMIT_FSIZE, 2000), None),
    "no process of its own (RLIMIT_NPROC)": (as_nobody, is_root),
    "no process of its own (pids.max 1)": (few_processes(1), has_groups),
    "one process of its own (pids.max 2)": (few_processes(2), has_groups),
    "read-only directory": (directory_read_only, None),
    "read-only file system": (mounted("ro"), may_mount),
    "full disk from the start": (mounted("size=4k"), may_mount),
    "no i-nodes": (mounted("nr_inodes=1"), may_mount),
}
MIDST = {
    "nothing": (nothing, None),
    "kill the tracker": (to_tracker(signal.SIGKILL), None),
    "stop and kill the tracker": (to_tracker(signal.SIGSTOP, signal.SIGKILL), None),
    "stop and continue the tracker": (to_tracker(signal.SIGSTOP, signal.SIGCONT), None),
    "many continues": (to_tracker(*[signal.SIGCONT] * 3), None),
    "kill the job": (to_job(signal.SIGKILL), None),
    "stop and continue the job": (to_job(signal.SIGSTOP, signal.SIGCONT), None),
    "stop and kill the job": (to_job(signal.SIGSTOP, signal.SIGKILL), None),
    "stop and continue both": (both_stopped, None),
    "no descriptors": (limit(resource.RLIMIT_NOFILE, 3), None),
    "few descriptors": (limit(resource.RLIMIT_NOFILE, 12), None),
    "no memory": (limit(resource.RLIMIT_AS, 1 << 20), None),
    "no more file": (limit(resource.RLIMIT_FSIZE, 3000), None),
    "recording removed": (remove_state, None),
    "disk fills": (disk_fills, may_mount),
    "becomes read-only": (becomes_read_only, may_mount),
}
ON_A_DISK = {"disk fills", "becomes read-only"}


def permitted(table):
    return {name: act for name, (act, may) in table.items() if may is None or may()}


def one_round(program, rng, start, midst, verb):
    """Do it; returns what was broken, or None."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o711)
        r = Round(program, pathlib.Path(folder), verb)
        try:
            if midst & ON_A_DISK:
                mounted("size=256k")(r)
            if start:
                AT_START[start][0](r)
            r.start()
            time.sleep(rng.uniform(0.02, 0.25))
            r.keep()
            for name in sorted(midst) if not r.is_in_place() else ():
                MIDST[name][0](r)
            r.check_results()
            r.check_recordings()
        except Broken as trouble:
            return str(trouble)
        except subprocess.TimeoutExpired as trouble:
            return f"hangs: {trouble}"
        finally:
            r.end()
    return None


def choose(rng, done, only, begins, acts):
    """What the next round is about: first each thing once, alone, then pairs."""
    rest = [name for name in [*begins, *acts] if not done[name] and only in name]
    if rest:
        name = rng.choice(rest)
        return (name, {"nothing"}) if name in begins else (None, {name})
    chosen = [name for name in [*begins, *acts] if only in name]
    name = rng.choice(chosen)
    start = name if name in begins else None
    midst = set() if start else {name}
    if not start and not midst & ON_A_DISK and rng.random() < 0.2:
        start = rng.choice(list(begins))
    if start or rng.random() < 0.5:
        midst.add(rng.choice([act for act in acts if not (start and act in ON_A_DISK)]))
    return start, midst


def storm(program, args):
    rng = random.Random(args.seed)
    done, broken = collections.Counter(), 0
    begins, acts = permitted(AT_START), permitted(MIDST)
    wanted = sum(args.only in name for name in [*begins, *acts])
    end, rounds = time.monotonic() + args.seconds, 0
    while time.monotonic() < end or sum(args.only in name for name in done) < wanted:
        start, midst = choose(rng, done, args.only, begins, acts)
        # With a limit from the start it is `run` that matters: the job inherits it.
        verb = "attach" if not start and rng.random() < 0.25 else "run"
        rounds += 1
        done.update([*midst, *([start] if start else [])])
        trouble = one_round(program, rng, start, midst, verb)
        if trouble:
            broken += 1
            print(f"storm: round {rounds}, {verb}, {start or 'plain'}, then {sorted(midst)}: "
                  f"{trouble}", flush=True)
    for name, n in sorted(done.items()):
        print(f"{n:6} {name}")
    for name in sorted({*AT_START, *MIDST} - {*begins, *acts}):
        print(f"     - {name}: not permitted here")
    print(f"storm: {rounds} rounds, seed {args.seed}, {broken} broken promises")
    return 1 if broken else 0


# ---- hostile members: every time limit and SIGTERM is obeyed within a second ----

HERE = pathlib.Path(__file__).resolve().parent
OBEYED_S = 1.0
GRACE_S = 0.5
NAME = "rtstorm"  # of all programs of a job: the kernel shows it without reading their memory

HOSTILE = {
    "memory that never comes": "{stuck} absent &",
    "a locked memory map": "{stuck} hold {dead} &",
    "code objects that change": "{codes} &",
    "a stopped member": "{sleep} 600 & kill -STOP $!",
    "a daemon": "(setsid {sleep} 600 &)",
    "a daemon that forked twice": "((setsid sh -c 'trap \"\" HUP TERM; {sleep} 600' &) &)",
    "deaf to SIGTERM": "(trap '' TERM; exec {sleep} 600) &",
}


def members():
    """Live processes of a job, by their names."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            text = path.read_text(encoding="ascii", errors="replace")
            name, rest = text[text.index("(") + 1:text.rindex(")")], text[text.rindex(")") + 2:]
            if name.startswith(NAME) and rest[0] not in "ZX":
                found.append((int(path.parent.name), name, rest[:8]))
    return found


def hostile_round(program, rng, kinds, how, places):
    """Returns the seconds beyond the time that was due, or raises Broken."""
    job = "\n".join([HOSTILE[kind] for kind in kinds] + ["wait", "exec {sleep} 600"]).format(**places)
    limit_s = rng.uniform(0.5, 1.5)
    flags = ["--timeout", f"{limit_s:.2f}s", "--grace", f"{GRACE_S}s"] if how == "timeout" else []
    start = time.monotonic()
    with subprocess.Popen([program, "run", "--no-discovery", "--no-history", "-q", "-i", "100ms", *flags, "--",
                           "sh", "-c", job], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as tracker:
        due = start + limit_s + (GRACE_S if how == "timeout" else 0)
        if how == "SIGTERM":
            time.sleep(limit_s)
            due = time.monotonic()
            tracker.terminate()
        try:
            tracker.wait(timeout=60)
        except subprocess.TimeoutExpired:
            tracker.kill()
            raise Broken("the tracker does not end") from None
        late = time.monotonic() - due
        left = members() if how == "timeout" else []
    for pid, _, _ in members():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    if left:
        raise Broken(f"{len(left)} processes are left after the time limit: {left}, exit code {tracker.returncode}")
    if tracker.returncode != (124 if how == "timeout" else -signal.SIGTERM):
        raise Broken(f"exit code {tracker.returncode}")
    return late


def hostile(program, args):
    rng = random.Random(args.seed)
    folder = pathlib.Path(program).parent
    places = {"stuck": folder / f"{NAME}-c", "sleep": folder / f"{NAME}-s", "dead": folder / "dead",
              "codes": folder / f"{NAME}-p"}
    subprocess.run(["cc", "-O1", "-rdynamic", "-pthread", "-o", places["stuck"], HERE / "stuck.c"], check=True)
    subprocess.run(["cc", "-O1", "-w", "-rdynamic", "-DENDLESS=1", "-DTABLE=100", "-DSECONDS=0", "-o", places["codes"],
                    HERE / "changing.c"], check=True)
    shutil.copy("/bin/sleep", places["sleep"])
    places["dead"].mkdir()
    rounds = broken = 0
    latest = 0.0
    end = time.monotonic() + args.seconds
    server_program = shutil.copy(places["stuck"], folder / "server")  # is no member
    with subprocess.Popen([server_program, "serve", places["dead"]], stdout=subprocess.PIPE) as server:
        server.stdout.readline()
        while time.monotonic() < end:
            kinds = rng.sample(sorted(HOSTILE), rng.randint(1, 3))
            how = rng.choice(["timeout", "SIGTERM"])
            rounds += 1
            try:
                late = hostile_round(program, rng, kinds, how, places)
                latest = max(latest, late)
                if late > OBEYED_S:
                    raise Broken(f"obeyed {late:.2f} s late")
            except Broken as trouble:
                broken += 1
                print(f"storm: round {rounds}, {how}, {kinds}: {trouble}", flush=True)
        server.kill()
    subprocess.run(["umount", "-l", places["dead"]], check=True)
    print(f"storm: {rounds} rounds with hostile members, at most {latest:.2f} s late, seed {args.seed}, "
          f"{broken} broken promises")
    return 1 if broken else 0


def enter_namespace():
    """Mounts of the storm are nobody else's: it runs again in a mount namespace of its own."""
    if not is_root() or "STORM_NAMESPACE" in os.environ or not shutil.which("unshare"):
        return
    works = subprocess.run(["unshare", "-m", "--propagation", "private", "true"], check=False,
                           capture_output=True).returncode == 0
    os.environ["STORM_NAMESPACE"] = "1" if works else "0"
    if works:
        os.execvp("unshare", ["unshare", "-m", "--propagation", "private", sys.executable,
                              *sys.argv])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="things with this in their name")
    parser.add_argument("--hostile", action="store_true",
                        help="members that block, change and hide: are they ended in time? Needs root")
    parser.add_argument("--list", action="store_true", help="say what there is and end")
    args = parser.parse_args()
    enter_namespace()
    if args.list:
        print("\n".join([*permitted(AT_START), *permitted(MIDST)]))
        return 0
    with tempfile.TemporaryDirectory() as folder:  # where another user may execute it, too
        os.chmod(folder, 0o755)
        program = shutil.copy(args.program, folder)
        os.chmod(program, 0o755)
        return (hostile if args.hostile else storm)(program, args)


if __name__ == "__main__":
    sys.exit(main())
