"""Tests that a job under `run` has the same environment and the same end as without it. Each case runs both."""

import contextlib
import ctypes
import fcntl
import json
import os
import resource
import signal
import subprocess
import time

import pytest

from conftest import TIMEOUT_S

PYTHON = "/usr/bin/python3"
NOT_DEADLY = {signal.SIGCHLD, signal.SIGCONT, signal.SIGURG, signal.SIGWINCH, signal.SIGSTOP,
              signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU}
DEADLY = sorted(set(signal.valid_signals()) - NOT_DEADLY)


@pytest.fixture(autouse=True, scope="module")
def default_signals():
    """A shell starts what runs in its background with these ignored; the cases want them."""
    numbers = [signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM]
    before = [signal.getsignal(n) for n in numbers]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in numbers[1:]:
        signal.signal(number, signal.SIG_DFL)
    yield
    for number, handler in zip(numbers, before):
        signal.signal(number, handler)


def both(rt, *command, **options):
    """How a command ends bare and tracked: exit code, stdout, stderr of each."""
    return [ended([*before, *command], rt, **options)
            for before in ([], [rt.path, "run", "-q", "--"])]


def ended(command, rt, env=None, **options):
    options = {"stdin": subprocess.DEVNULL, "timeout": TIMEOUT_S, "cwd": rt.home, **options}
    if "input" in options:
        del options["stdin"]
    if "stdout" not in options and "stderr" not in options:
        options["capture_output"] = True
    done = subprocess.run([str(c) for c in command], env={**rt.env, **(env or {})}, check=False,
                          **options)
    return done.returncode, done.stdout, done.stderr


def await_text(path, text, times=1):
    for _ in range(20 * TIMEOUT_S):
        if path.exists() and path.read_text().count(text) >= times:
            return
        time.sleep(0.05)
    pytest.fail(f"{text!r} did not appear in {path.name}")


def await_state(pid, states):
    """Wait until a process is in one of these states (letters of PID/stat)."""
    for _ in range(20 * TIMEOUT_S):
        if state_of(pid) in states:
            return
        time.sleep(0.05)
    pytest.fail(f"process {pid} is {state_of(pid)}, not {states}")


def state_of(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0]
    except OSError:
        return "gone"


# ---- how it ends ----


@pytest.mark.parametrize("code", [0, 7, 255])
def test_exit_codes(rt, code):
    bare, tracked = both(rt, "sh", "-c", f"exit {code}")
    assert bare == tracked == (code, b"", b"")


@pytest.mark.parametrize("signo", DEADLY, ids=lambda n: f"signal{int(n)}")
def test_deaths_by_signals(rt, signo):
    bare, tracked = both(rt, "sh", "-c", f"ulimit -c 0; kill -{int(signo)} $$")
    assert bare == tracked == (-signo, b"", b"")


@pytest.mark.parametrize("command,code", [
    ("no-such-command", 127), ("./not-there", 127), ("", 127), ("/etc/passwd", 126), ("/etc", 126),
    ("/etc/passwd/x", 126)])
@pytest.mark.parametrize("nested", [False, True])
def test_commands_that_cannot_be_executed(rt, command, code, nested):
    env = {"RESOURCE_TRACKER_RUN": "r-00000000:1"} if nested else {}
    rc, out, err = ended([rt.path, "run", "--", command], rt, env=env)
    assert (rc, out, err.count(b"\n")) == (code, b"", 1)


def test_a_script_without_its_interpreter_line_is_run_by_the_shell(rt):
    script = rt.home / "script"
    script.write_text("echo $1; exit 4\n")
    script.chmod(0o755)
    assert ended([rt.path, "run", "-q", "--", script, "x"], rt) == (4, b"x\n", b"")


# ---- streams ----


def test_stdin_through_a_pipe(rt):
    data = os.urandom(1 << 20)
    bare, tracked = both(rt, "cat", input=data)
    assert bare == tracked == (0, data, b"")


def test_large_outputs_on_both_streams(rt):
    script = "import os\nfor i in range(200): os.write(1, b'o' * 65536); os.write(2, b'e' * 6553)"
    bare, tracked = both(rt, PYTHON, "-c", script)
    assert bare == tracked
    assert (len(tracked[1]), len(tracked[2])) == (200 * 65536, 200 * 6553)


@pytest.mark.parametrize("fds", [{0}, {1}, {2}, {0, 1}, {0, 1, 2}], ids=str)
def test_closed_streams_stay_closed(rt, fds):
    """The numbers are free in the job: what it opens lands there, and no file of ours does."""
    def close():
        for fd in fds:
            with contextlib.suppress(OSError):
                os.close(fd)
    script = "ls /proc/$$/fd >listing; readlink /proc/$$/fd/[012] >>listing; exit 5"
    seen = []
    for before in ([], [rt.path, "run", "-q", "--"]):
        rc = subprocess.run([*before, "bash", "-c", script], env=rt.env, cwd=rt.home, check=False,
                            preexec_fn=close, stdin=subprocess.DEVNULL).returncode
        seen.append((rc, (rt.home / "listing").read_text()))
    assert seen[0] == seen[1] and seen[1][0] == 5


def test_a_broken_stdout_kills_the_job_and_not_us_alone(rt):
    for program in ("yes", f"'{rt.path}' run -q -- yes"):
        rc, out, _ = ended(["bash", "-c", f"{program} | head -c 4 >/dev/null; echo ${{PIPESTATUS[0]}}"],
                           rt)
        assert (rc, out) == (0, b"141\n")


def test_a_job_that_closes_its_input_ends_the_writer(rt):
    """The writer gets SIGPIPE while the job is alive, which only then goes on."""
    job = ("exec <&-; i=0; while [ ! -s writer ] && [ $((i += 1)) -lt 300 ]; do sleep 0.05; done; "
           "[ $i -lt 300 ] && exit 5")
    for program in ("", f"'{rt.path}' run -q -- "):
        (rt.home / "writer").unlink(missing_ok=True)
        script = (f"{{ yes; echo $? >writer; }} | {program}sh -c '{job}'; echo ${{PIPESTATUS[1]}}")
        rc, out, _ = ended(["bash", "-c", script], rt)
        assert (rc, out, (rt.home / "writer").read_text()) == (0, b"5\n", "141\n")


def test_a_job_that_closes_its_output_ends_the_reader(rt):
    job = ("exec >&-; i=0; while [ ! -s reader ] && [ $((i += 1)) -lt 300 ]; do sleep 0.05; done; "
           "[ $i -lt 300 ] && exit 5")
    for program in ("", f"'{rt.path}' run -q -- "):
        (rt.home / "reader").unlink(missing_ok=True)
        script = (f"{program}sh -c '{job}' | {{ cat; echo end >reader; }}; "
                  "echo ${PIPESTATUS[0]}")
        assert ended(["bash", "-c", script], rt)[:2] == (0, b"5\n")


@pytest.mark.parametrize("where", ["-", "fd:1", "/dev/stdout"])
def test_the_summary_can_go_to_the_jobs_output(rt, where):
    out = ended([rt.path, "run", "-q", "--summary-json", where, "--", "echo", "first"], rt)[1]
    first, _, rest = out.partition(b"\n")
    assert first == b"first" and json.loads(rest)["run"]["exit"]["code"] == 0


@pytest.mark.parametrize("flags", [[], ["-f", "csv", "-i", "0.1"], ["--summary-json", "fd:2"]],
                         ids=["summary", "samples", "json"])
def test_a_broken_stderr_does_not_change_the_result(rt, flags):
    reading, writing = os.pipe()
    os.close(reading)
    try:
        rc = ended([rt.path, "run", *flags, "--", "sh", "-c", "sleep 0.5; exit 3"], rt,
                   stdout=subprocess.DEVNULL, stderr=writing)[0]
    finally:
        os.close(writing)
    assert rc == 3


# ---- what the job inherits ----


def with_limit(which, value):
    return lambda: resource.setrlimit(which, (value, value))


def ignoring(*signals):
    return lambda: [signal.signal(s, signal.SIG_IGN) for s in signals]


def blocking(*signals):
    return lambda: signal.pthread_sigmask(signal.SIG_BLOCK, signals)


def adjust_oom():
    with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write("345")


# Applied in the child before it becomes the program (or the tracker).
SETTINGS = {
    "plain": None,
    "umask": lambda: os.umask(0o027),
    "cwd": lambda: os.chdir("/usr"),
    "ignored": ignoring(signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM,
                        signal.SIGUSR1, signal.SIGALRM, signal.SIGCONT, signal.SIGTSTP,
                        signal.SIGWINCH),
    "chld-ignored": ignoring(signal.SIGCHLD),
    "pipe-ignored": ignoring(signal.SIGPIPE, signal.SIGXFSZ),
    "blocked": blocking(signal.SIGTERM, signal.SIGUSR1, signal.SIGCHLD, signal.SIGINT,
                        signal.SIGTSTP, signal.SIGXCPU, signal.SIGRTMIN),
    "file-size": with_limit(resource.RLIMIT_FSIZE, 0),
    "files": with_limit(resource.RLIMIT_NOFILE, 200),
    "stack": with_limit(resource.RLIMIT_STACK, 1 << 20),
    "core": with_limit(resource.RLIMIT_CORE, 0),
    "cpu": with_limit(resource.RLIMIT_CPU, 100),
    "nice": lambda: os.nice(5),
    "oom": adjust_oom,
    "affinity": lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}),
    "session": os.setsid,
    "group": lambda: os.setpgid(0, 0),
}
PROBES = {
    "status": ["grep", "-E", "^(SigBlk|SigIgn|SigCgt|SigPnd|ShdPnd|Umask|NoNewPrivs|Cap|Cpus_al)",
               "/proc/self/status"],
    "limits": ["cat", "/proc/self/limits"],
    "oom": ["cat", "/proc/self/oom_score_adj"],
    "nice": ["nice"],
    "cwd": ["pwd"],
    "descriptors": ["ls", "/proc/self/fd"],
}


@pytest.mark.parametrize("probe", PROBES)
@pytest.mark.parametrize("setting", SETTINGS)
def test_what_the_job_inherits(rt, setting, probe):
    bare, tracked = both(rt, *PROBES[probe], preexec_fn=SETTINGS[setting])
    assert bare[:2] == tracked[:2]
    assert tracked[0] == 0 and tracked[1]
    if setting != "file-size":  # where the recording cannot be written, that is said
        assert tracked[2] == b""


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_result_comes_through_whatever_is_inherited(rt, setting):
    bare, tracked = both(rt, "sh", "-c", "(exit 1); exit 3", preexec_fn=SETTINGS[setting])
    assert bare[:2] == tracked[:2] == (3, b"")


def test_descriptors_beyond_the_standard_ones_are_the_same(rt):
    with open("/etc/passwd", encoding="utf-8") as a, open("/dev/null", "w", encoding="utf-8") as b:
        far = fcntl.fcntl(a.fileno(), fcntl.F_DUPFD, 77)
        try:
            script = "cd /proc/$$/fd; for f in *; do [ $f -gt 2 ] && echo $f $(readlink $f | sed 's/\\[.*//'); done; :"
            bare, tracked = both(rt, "bash", "-c", script,
                                 pass_fds=(a.fileno(), b.fileno(), far))
        finally:
            os.close(far)
    assert bare == tracked
    assert f"{far} /etc/passwd".encode() in tracked[1]


def test_the_environment_gains_one_variable_and_keeps_its_order(rt):
    env = {"ODD": "a\nb=c", "EMPTY": "", "TRACKER_TEAM": "blue", "LANG": "C"}
    bare, tracked = both(rt, "env", "-0", env=env)
    gained = [v for v in tracked[1].split(b"\0") if v.startswith(b"RESOURCE_TRACKER_RUN=")]
    rest = [v for v in tracked[1].split(b"\0") if not v.startswith(b"RESOURCE_TRACKER_RUN=")]
    assert len(gained) == 1 and rest == bare[1].split(b"\0")


def test_process_group_and_session_are_the_callers(rt):
    for group in (None, 0):
        script = "import os; print(os.getpgrp(), os.getsid(0))"
        process = subprocess.Popen(
            [rt.path, "run", "-q", "--", PYTHON, "-c", script], env=rt.env, cwd=rt.home,
            stdout=subprocess.PIPE, process_group=group)
        out = process.communicate(timeout=TIMEOUT_S)[0]
        want = process.pid if group == 0 else os.getpgrp()
        assert list(map(int, out.split())) == [want, os.getsid(0)]


def test_a_timer_set_before_the_start_ends_the_job(rt):
    """perl -e 'alarm 5; exec @ARGV' is an old way to bound a command's time."""
    bare, tracked = both(rt, "sleep", "60", preexec_fn=lambda: signal.setitimer(
        signal.ITIMER_REAL, 0.5))
    assert bare == tracked == (-signal.SIGALRM, b"", b"")


@pytest.mark.parametrize("which", ["ITIMER_REAL", "ITIMER_VIRTUAL", "ITIMER_PROF"])
def test_a_timer_set_before_the_start_is_the_jobs_own(rt, which):
    """An exec keeps interval timers, and a fork does not. The kernel rounds up by a tick when a timer
    of CPU time is set, so what is left can exceed what was set."""
    number = getattr(signal, which)
    script = f"import signal; left, every = signal.getitimer(signal.{which}); " \
             "print(50 < left < 101, every)"
    bare, tracked = both(rt, PYTHON, "-c", script,
                         preexec_fn=lambda: signal.setitimer(number, 100, 7))
    assert bare == tracked == (0, b"True 7.0\n", b"")


PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER, PR_GET_CHILD_SUBREAPER = 1, 36, 37


def prctl(*arguments):
    assert ctypes.CDLL(None).prctl(*arguments, 0, 0, 0) == 0


def test_a_job_that_is_to_adopt_orphans_adopts_them(rt):
    script = "import ctypes\nflag = ctypes.c_int()\n" \
             f"ctypes.CDLL(None).prctl({PR_GET_CHILD_SUBREAPER}, ctypes.byref(flag), 0, 0, 0)\n" \
             "print(flag.value)"
    for flag in (0, 1):
        bare, tracked = both(rt, PYTHON, "-c", script,
                             preexec_fn=lambda: prctl(PR_SET_CHILD_SUBREAPER, flag))
        assert bare == tracked == (0, b"%d\n" % flag, b"")


@pytest.mark.parametrize("signo", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_job_that_is_to_die_with_its_parent_does(rt, tmp_path, signo):
    pid_file = tmp_path / "pid"
    parent = "import ctypes, subprocess, sys, time\n" \
             f"subprocess.Popen(sys.argv[1:], preexec_fn=lambda: ctypes.CDLL(None).prctl(" \
             f"{PR_SET_PDEATHSIG}, {int(signo)}, 0, 0, 0))\n" \
             "time.sleep(60)"
    job = ["sh", "-c", f"echo $$ >{pid_file}.new; mv {pid_file}.new {pid_file}; exec sleep 60"]
    starter = subprocess.Popen([PYTHON, "-c", parent, rt.path, "run", "-q", "--", *job],
                               env=rt.env, cwd=rt.home)
    await_text(pid_file, "\n")
    pid = int(pid_file.read_text())
    starter.kill()
    starter.wait()
    try:
        await_state(pid, {"gone", "Z"})
    except pytest.fail.Exception:
        os.kill(pid, signal.SIGKILL)
        raise


def test_a_limit_of_the_jobs_file_size_is_the_jobs_matter(rt):
    script = "import os, signal, sys\nsignal.signal(signal.SIGXFSZ, signal.SIG_DFL)\n" \
             "os.write(os.open('f', os.O_CREAT | os.O_WRONLY), b'x' * 5000)\n" \
             "os.write(os.open('g', os.O_CREAT | os.O_WRONLY), b'x' * 50000)\n" \
             "os.write(3 + 1, b'x' * 50000)"
    bare, tracked = both(rt, PYTHON, "-c", script, preexec_fn=with_limit(
        resource.RLIMIT_FSIZE, 20000))
    assert bare[0] == tracked[0] == -signal.SIGXFSZ


@pytest.mark.parametrize("files", [5, 8, 12, 16, 20, 21, 22, 23, 24, 26, 28, 32])
def test_a_tight_limit_of_descriptors_does_not_change_the_result(rt, files):
    bare, tracked = both(rt, "sh", "-c", "echo out; exit 3",
                         preexec_fn=with_limit(resource.RLIMIT_NOFILE, files))
    assert bare[:2] == tracked[:2] == (3, b"out\n")


def test_strict_refuses_to_run_what_it_cannot_track(rt):
    rc, out, err = ended([rt.path, "run", "--strict", "--", "echo", "ran"], rt,
                         preexec_fn=with_limit(resource.RLIMIT_NOFILE, 8))
    assert (rc, out, err.count(b"\n")) == (125, b"", 1)


# ---- signals ----

LOGGER = """
import os, signal, sys, time
log = os.open("log", os.O_CREAT | os.O_APPEND | os.O_WRONLY)
for name in sys.argv[1].split(","):
    signal.signal(getattr(signal, name),
                  lambda n, f: os.write(log, signal.Signals(n).name.encode() + b"\\n"))
print(os.getpid(), file=open("pid", "w"), flush=True)
os.write(log, b"ready\\n")
while not os.path.exists("end"):
    time.sleep(0.02)
sys.exit(9)
"""


@contextlib.contextmanager
def logging_job(rt, tracked, names, **options):
    """A job that logs these signals and exits with 9 when finish() is called."""
    before = ["run", "-q", "--"] if tracked else []
    program = rt.path if tracked else PYTHON
    command = [*before, *([PYTHON] if tracked else []), "-c", LOGGER, names]
    for name in ("log", "pid", "end"):
        (rt.home / name).unlink(missing_ok=True)
    process = subprocess.Popen([program, *command], env=rt.env, cwd=rt.home, process_group=0,
                               stdin=subprocess.DEVNULL, **options)
    try:
        await_text(rt.home / "log", "ready")
        yield process, int((rt.home / "pid").read_text())
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def finish(rt, process):
    """Give stray signals time to arrive, end the job, and return what it logged."""
    time.sleep(0.3)
    (rt.home / "end").touch()
    assert process.wait(TIMEOUT_S) == 9
    return (rt.home / "log").read_text().split()[1:]


FORWARDED = ["SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGCONT",
             "SIGWINCH", "SIGXCPU", "SIGIO", "SIGPROF", "SIGVTALRM", "SIGPWR", "SIGRTMIN"]


@pytest.mark.parametrize("name", FORWARDED)
def test_a_signal_to_whoever_the_caller_knows_reaches_the_job_once(rt, name):
    for tracked in (False, True):
        with logging_job(rt, tracked, name) as (process, _):
            process.send_signal(getattr(signal, name))
            await_text(rt.home / "log", name)
            assert finish(rt, process) == [name]


def test_a_signal_to_the_job_reaches_it_once(rt):
    with logging_job(rt, True, "SIGTERM,SIGUSR1") as (process, pid):
        os.kill(pid, signal.SIGTERM)
        await_text(rt.home / "log", "SIGTERM")
        os.kill(pid, signal.SIGUSR1)
        await_text(rt.home / "log", "SIGUSR1")
        assert finish(rt, process) == ["SIGTERM", "SIGUSR1"]


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP", "SIGUSR1", "SIGKILL", "SIGXCPU",
                                  "SIGALRM", "SIGRTMIN"])
def test_a_signal_to_the_group_ends_both(rt, name):
    for tracked in (False, True):
        with logging_job(rt, tracked, "SIGCHLD") as (process, pid):
            os.killpg(process.pid, getattr(signal, name))
            assert process.wait(TIMEOUT_S) == (-getattr(signal, name))
            await_state(pid, {"gone", "Z"})


def test_a_signal_to_the_group_that_the_job_handles_does_not_end_us(rt):
    with logging_job(rt, True, "SIGTERM,SIGXCPU,SIGRTMIN") as (process, _):
        for name in ("SIGTERM", "SIGXCPU", "SIGRTMIN"):
            os.killpg(process.pid, getattr(signal, name))
            await_text(rt.home / "log", name)
        assert set(finish(rt, process)) == {"SIGTERM", "SIGXCPU", "SIGRTMIN"}


def test_signals_are_forwarded_when_nothing_can_be_sampled(rt):
    """With one number of descriptors the job runs and the tree cannot be opened; it depends on the
    machine's control groups. With fewer the job takes the tracker's place."""
    seen = False
    for files in range(12, 48):
        with logging_job(rt, True, "SIGTERM", stderr=subprocess.PIPE, preexec_fn=with_limit(
                resource.RLIMIT_NOFILE, files)) as (process, _):
            process.send_signal(signal.SIGTERM)
            await_text(rt.home / "log", "SIGTERM")
            assert finish(rt, process) == ["SIGTERM"]
            seen = b"not sampled" in process.communicate()[1]
        if seen:
            break
    assert seen or os.environ.get("RESOURCE_TRACKER_BIN", "").count("asan")


def test_a_timeout_ends_the_job_when_nothing_can_be_sampled(rt):
    """With all its processes: those that are left would hold stdout."""
    job = "setsid sleep 60 & sleep 60"
    for files in range(18, 30):
        rc = ended([rt.path, "run", "-q", "--timeout", "0.3", "--", "sh", "-c", job], rt,
                   preexec_fn=with_limit(resource.RLIMIT_NOFILE, files))[0]
        assert rc in (124, 125)


def test_the_death_of_the_tracker_leaves_the_job(rt):
    with logging_job(rt, True, "SIGTERM") as (process, pid):
        process.kill()
        assert process.wait(TIMEOUT_S) == -signal.SIGKILL
        os.kill(pid, signal.SIGTERM)
        await_text(rt.home / "log", "SIGTERM")
        assert state_of(pid) in "SR"
        (rt.home / "end").touch()
        await_state(pid, {"gone", "Z"})


def test_the_death_of_the_parent_leaves_the_job(rt):
    script = f"'{rt.path}' run -q -- sh -c 'echo ready >log; sleep 1; echo end >>log' & kill -9 $$"
    assert ended(["bash", "-c", script], rt, stdout=subprocess.DEVNULL,
                 stderr=subprocess.DEVNULL)[0] == -signal.SIGKILL
    await_text(rt.home / "log", "end")


def test_nohup_protects_the_job(rt):
    for before in ("", f"'{rt.path}' run -q -- "):
        script = f"nohup {before}sh -c 'kill -HUP $$ $PPID; exit 6'"
        # The parent of the job is the tracker, or this shell, which exits when it is hit.
        rc = ended(["bash", "-c", f"trap '' HUP; {script}; exit $?"], rt)[0]
        assert rc == 6


# ---- stopped and continued ----


@pytest.mark.parametrize("name", ["SIGSTOP", "SIGTSTP"])
def test_a_stopped_job_goes_on_when_the_group_is_continued(rt, name):
    for tracked in (False, True):
        with logging_job(rt, tracked, "SIGCONT") as (process, pid):
            os.kill(pid, getattr(signal, name))
            await_state(pid, "T")
            time.sleep(0.2)
            os.killpg(process.pid, signal.SIGCONT)
            await_state(pid, "SR")
            await_state(process.pid, "SR")
            finish(rt, process)


@pytest.mark.parametrize("signo", [signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU])
def test_the_caller_sees_the_stop_and_its_signal(rt, signo):
    for tracked in (False, True):
        with logging_job(rt, tracked, "SIGUSR1") as (process, pid):
            os.kill(pid, signo)
            _, status = os.waitpid(process.pid, os.WUNTRACED)
            assert os.WIFSTOPPED(status) and os.WSTOPSIG(status) == signo
            os.kill(process.pid, signal.SIGCONT)
            await_state(pid, "SR")
            finish(rt, process)


def test_a_continued_group_tells_the_job_once(rt):
    """After a stop the group's SIGCONT has reached the job already."""
    counts = []
    for tracked in (False, True):
        with logging_job(rt, tracked, "SIGCONT") as (process, pid):
            os.kill(pid, signal.SIGTSTP)
            os.waitpid(process.pid, os.WUNTRACED)
            os.kill(process.pid, signal.SIGCONT)
            await_text(rt.home / "log", "SIGCONT")
            counts.append(finish(rt, process))
    assert counts[0] == counts[1] == ["SIGCONT"]


# ---- namespaces ----

NAMESPACE = ["unshare", "-pf", "--mount-proc"]


def may_unshare():
    with contextlib.suppress(OSError):
        return subprocess.run([*NAMESPACE, "true"], capture_output=True, check=False).returncode == 0
    return False


needs_namespaces = pytest.mark.skipif(not may_unshare(), reason="needs pid namespaces (root)")


@needs_namespaces
@pytest.mark.parametrize("script,code", [("exit 3", 3), ("exit 0", 0), ("kill -9 $$", 137),
                                         ("kill -15 $$", 143), ("kill -34 $$", 162)])
def test_as_pid_1_of_a_namespace_the_code_says_the_signal(rt, script, code):
    for options in ([*NAMESPACE], ["unshare", "-pf"]):
        rc = ended([*options, rt.path, "run", "-q", "--", "sh", "-c", script], rt)[0]
        assert rc == code


@needs_namespaces
def test_another_process_of_the_same_number_is_not_taken_for_the_job(rt):
    """Without --mount-proc, /proc is the outer namespace's."""
    rc, out, _ = ended(["unshare", "-pf", rt.path, "run", "-q", "--summary-json", "-", "--", "sh",
                        "-c", "sleep 0.5; exit 3"], rt)
    summary = json.loads(out)
    assert rc == summary["run"]["exit"]["code"] == 3
    assert summary["top_processes"] == [] and summary["stats"]["process_memory_mib"]["max"] is None


@needs_namespaces
def test_as_pid_1_of_a_namespace_signals_reach_the_job(rt):
    job = ("trap 'echo TERM >log; exit 9' TERM; echo ready >log; "
           "while :; do sleep 0.05; done")
    command = [*NAMESPACE, "--kill-child", rt.path, "run", "-q", "--", "sh", "-c", job]
    with subprocess.Popen(command, env=rt.env, cwd=rt.home) as process:
        await_text(rt.home / "log", "ready")
        children = f"/proc/{process.pid}/task/{process.pid}/children"
        with open(children, encoding="ascii") as file:
            os.kill(int(file.read().split()[0]), signal.SIGTERM)
        assert process.wait(TIMEOUT_S) == 9
    assert (rt.home / "log").read_text() == "TERM\n"
