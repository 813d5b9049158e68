"""Tests `run` in an interactive shell on a terminal: Ctrl-C, Ctrl-Z, fg, bg, window size, input.

Every case runs with and without the tracker. What is asserted of a tracked job also holds for an untracked one.
"""

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

import pytest

PYTHON = "/usr/bin/python3"
WAIT_S = 20  # a bound for a test that hangs, not a measure

JOB = """
import os, signal, sys, time
log = os.open("log", os.O_CREAT | os.O_APPEND | os.O_WRONLY)
def say(text):
    os.write(log, (text + "\\n").encode())
def place():
    return "foreground" if os.tcgetpgrp(0) == os.getpgrp() else "background"
def handle(number, frame):
    size = os.get_terminal_size(0)
    say(f"{signal.Signals(number).name} {place()} {size.columns}x{size.lines}")
for name in sys.argv[1:]:
    signal.signal(getattr(signal, name), handle)
print(os.getpid(), os.getppid(), file=open("pids", "w"), flush=True)
say("ready " + place())
while not os.path.exists("end"):
    time.sleep(0.02)
say("end " + place())
sys.exit(9)
"""


class Shell:
    """An interactive bash on a pseudo-terminal of its own, without echo and prompt."""

    def __init__(self, rt):
        self.home = rt.home
        self.seen = ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(rt.home)
            os.execve("/bin/bash", ["bash", "--noprofile", "--norc", "--noediting", "-i"],
                      {**rt.env, "PS1": "", "PS2": "", "TERM": "dumb", "HISTFILE": ""})
        self.send("stty -echo; bind 'set enable-bracketed-paste off' 2>/dev/null; echo shell-$((40 + 2))")
        self.expect("shell-42")

    def send(self, line):
        os.write(self.fd, line.encode() + b"\n")

    def key(self, name):
        os.write(self.fd, {"C": b"\x03", "Z": b"\x1a", "\\": b"\x1c"}[name])

    def expect(self, pattern):
        """Read until the pattern appears; returns the match and forgets what came before its end."""
        deadline = time.monotonic() + WAIT_S
        while True:
            match = re.search(pattern, self.seen)
            if match:
                self.seen = self.seen[match.end():]
                return match
            if time.monotonic() > deadline:
                pytest.fail(f"no {pattern!r} in {self.seen!r}")
            if select.select([self.fd], [], [], 0.1)[0]:
                try:
                    self.seen += os.read(self.fd, 65536).decode(errors="replace")
                except OSError:
                    pytest.fail(f"the terminal closed before {pattern!r}: {self.seen!r}")

    def status(self):
        """$? of the command before."""
        self.send("echo status=$?.")
        return int(self.expect(r"status=(\d+)\.").group(1))

    def log(self):
        path = self.home / "log"
        return path.read_text().splitlines() if path.exists() else []

    def await_log(self, text):
        await_true(lambda: any(line.startswith(text) for line in self.log()),
                   lambda: f"{text!r} not in {self.log()}, terminal: {self.seen!r}")

    def pids(self):
        """Of the job and its parent."""
        return list(map(int, (self.home / "pids").read_text().split()))

    def close(self):
        with contextlib.suppress(OSError, ValueError):
            os.kill(self.pids()[0], signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


def await_true(condition, complaint):
    deadline = time.monotonic() + WAIT_S
    while not condition():
        if time.monotonic() > deadline:
            pytest.fail(complaint())
        time.sleep(0.02)


def state_of(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0]
    except OSError:
        return "gone"


def await_states(pids, states):
    await_true(lambda: all(state_of(p) in states for p in pids),
               lambda: f"{[state_of(p) for p in pids]}, not {states}")


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


@pytest.fixture
def shell(rt):
    opened = Shell(rt)
    yield opened
    opened.close()


@pytest.fixture(params=["bare", "tracked"])
def prefix(request, rt):
    return "" if request.param == "bare" else f"'{rt.path}' run -q -- "


@pytest.fixture
def job(rt, prefix):
    """The command line of a job that logs these signals until it finds the file `end`."""
    (rt.home / "job.py").write_text(JOB)
    return lambda *names: f"{prefix}{PYTHON} job.py {' '.join(names)}"


def end(shell):
    """Let late signals come, then end the job."""
    time.sleep(0.3)
    (shell.home / "end").touch()


def members(shell, prefix):
    """The job, and the tracker where there is one."""
    pid, parent = shell.pids()
    return [pid, parent] if prefix else [pid]


def test_ctrl_c_ends_the_job_and_gives_130(shell, job):
    shell.send(job())
    shell.await_log("ready foreground")
    shell.key("C")
    assert shell.status() == 130


@pytest.mark.parametrize("key,name", [("C", "SIGINT"), ("\\", "SIGQUIT")])
def test_a_key_reaches_the_job_once(shell, job, key, name):
    shell.send(job(name))
    shell.await_log("ready foreground")
    shell.key(key)
    shell.await_log(name)
    end(shell)
    assert shell.status() == 9
    assert [line.split()[0] for line in shell.log()] == ["ready", name, "end"]


def test_a_second_ctrl_c_ends_the_grace_time_of_a_limit(shell, rt):
    (rt.home / "job.py").write_text(JOB)
    shell.send(f"'{rt.path}' run --no-discovery --timeout 1s --grace 1h -- {PYTHON} job.py SIGINT SIGTERM")
    shell.await_log("ready foreground")
    job, tracker = shell.pids()
    shell.await_log("SIGTERM")
    shell.key("C")
    shell.await_log("SIGINT")
    await_true(lambda: shell.key("C") or state_of(tracker) == "gone", lambda: shell.seen)
    assert state_of(job) == "gone"
    shell.expect("still running .* after TERM: sending KILL")


def test_ctrl_z_stops_both_and_fg_continues_both(shell, job, prefix):
    shell.send(job("SIGCONT"))
    shell.await_log("ready foreground")
    shell.key("Z")
    shell.expect("Stopped")
    await_states(members(shell, prefix), "T")
    assert shell.status() == 148  # SIGTSTP, not another stop
    shell.send("fg")
    shell.await_log("SIGCONT")
    await_states(members(shell, prefix), "SR")
    end(shell)
    assert shell.status() == 9
    log = shell.log()
    # The shell hands the terminal over before or after it continues the group.
    assert [line.split()[0] for line in log] == ["ready", "SIGCONT", "end"]
    assert log[-1] == "end foreground"


def test_ctrl_z_again_and_bg(shell, job, prefix):
    shell.send(job())
    shell.await_log("ready foreground")
    for _ in range(2):
        shell.key("Z")
        shell.expect("Stopped")
        await_states(members(shell, prefix), "T")
        shell.send("fg")
        await_states(members(shell, prefix), "SR")
    shell.key("Z")
    shell.expect("Stopped")
    await_states(members(shell, prefix), "T")
    shell.send("bg")
    await_states(members(shell, prefix), "SR")
    end(shell)
    shell.await_log("end background")
    shell.send("wait %1")
    assert shell.status() == 9


def test_a_stopped_job_can_be_continued_by_a_signal_to_whom_the_shell_knows(shell, job, prefix):
    shell.send(job("SIGCONT"))
    shell.await_log("ready")
    shell.key("Z")
    shell.expect("Stopped")
    await_states(members(shell, prefix), "T")
    os.kill(members(shell, prefix)[-1], signal.SIGCONT)
    shell.await_log("SIGCONT")
    await_states(members(shell, prefix), "SR")
    end(shell)
    shell.await_log("end")
    assert [line.split()[0] for line in shell.log()] == ["ready", "SIGCONT", "end"]


def test_a_change_of_the_windows_size_reaches_the_job_once(shell, job):
    fcntl.ioctl(shell.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    shell.send(job("SIGWINCH"))
    shell.await_log("ready")
    fcntl.ioctl(shell.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 132, 0, 0))
    shell.await_log("SIGWINCH")
    end(shell)
    assert shell.status() == 9
    assert shell.log() == ["ready foreground", "SIGWINCH foreground 132x50", "end foreground"]


def test_input_reaches_the_job(shell, prefix):
    shell.send(f"{prefix}sh -c 'read x; echo got-$x; [ -t 0 ] && [ -t 1 ] && [ -t 2 ] && exit 8'")
    time.sleep(0.1)
    shell.send("some words")
    shell.expect("got-some words")
    assert shell.status() == 8


def test_end_of_input_reaches_the_job(shell, prefix):
    shell.send(f"{prefix}sh -c 'echo copying; cat; echo after'")
    shell.expect("copying")
    os.write(shell.fd, b"line\n\x04")
    shell.expect("line\r?\nafter")
    assert shell.status() == 0


def test_a_background_job_that_reads_the_terminal_stops_until_fg(shell, prefix):
    shell.send(f"{prefix}sh -c 'echo $$ $PPID >pids; read x; echo got-$x; exit 8' &")
    await_true(lambda: (shell.home / "pids").exists() and len(shell.pids()) == 2,
               lambda: "the job did not start")
    await_states(members(shell, prefix), "T")
    shell.send("jobs -l")
    shell.expect(r"Stopped ?\(tty input\)")
    shell.send("fg")
    await_states(members(shell, prefix), "SR")
    shell.send("late words")
    shell.expect("got-late words")
    assert shell.status() == 8


def test_a_background_job_keeps_off_the_terminal_and_ctrl_c(shell, job):
    shell.send(f"{job('SIGINT', 'SIGHUP')} &")
    shell.await_log("ready background")
    shell.send("sh -c 'echo sleep-$((1 + 1)); exec sleep 60'")
    shell.expect("sleep-2")
    shell.key("C")
    assert shell.status() == 130
    end(shell)
    shell.send("wait %1")
    assert shell.status() == 9
    assert shell.log() == ["ready background", "end background"]


def test_ctrl_c_ends_a_whole_pipeline(shell, job):
    shell.send(f"{job()} | cat; echo codes-${{PIPESTATUS[0]}}-${{PIPESTATUS[1]}}")
    shell.await_log("ready foreground")
    shell.key("C")
    shell.send("echo alive-$((2 + 2))")
    shell.expect("alive-4")
    await_true(lambda: state_of(shell.pids()[0]) in ("gone", "Z"), lambda: "the job lives on")


def test_a_terminal_that_closes_hangs_the_job_up(shell, job):
    shell.send(f"exec {job()}")
    shell.await_log("ready foreground")
    pid = shell.pids()[0]
    os.close(shell.fd)
    shell.fd = os.open("/dev/null", os.O_RDONLY)
    await_true(lambda: state_of(pid) in ("gone", "Z"), lambda: "the job lives on")
    _, status = os.waitpid(shell.pid, 0)
    shell.pid = os.spawnlp(os.P_NOWAIT, "true", "true")  # for close() to reap
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGHUP


@pytest.mark.parametrize("verb", ["system", "attach"])
def test_ctrl_z_and_ctrl_c_work_for_the_other_verbs(shell, rt, verb):
    target = str(shell.pid) if verb == "attach" else ""
    shell.send(f"'{rt.path}' {verb} -i 0.1 -f csv {target}")
    shell.expect(r"\d+\.\d+,\d+,")
    shell.key("Z")
    shell.expect("Stopped")
    assert shell.status() == 148
    shell.seen = ""
    shell.send("fg")
    shell.expect(r"\d+\.\d+,\d+,")
    shell.key("C")
    assert shell.status() == 0


TAKES_IT = """
import os, signal, sys, termios
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
child = os.fork()
if child == 0:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpgrp())
    attributes = termios.tcgetattr(0)
    attributes[3] |= termios.TOSTOP
    termios.tcsetattr(0, termios.TCSANOW, attributes)
    os._exit(0)
os.waitpid(child, 0)
sys.exit(9)
"""


def test_a_job_that_takes_the_terminal_does_not_stop_the_tracker(shell, rt):
    """It writes its summary from the background, where the terminal stops writers."""
    (rt.home / "takes.py").write_text(TAKES_IT)
    shell.send(f"'{rt.path}' run --no-discovery -- {PYTHON} takes.py; echo status=$?.")
    assert shell.expect(r"status=(\d+)\.|Stopped").group(1) == "9"
