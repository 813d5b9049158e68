"""Tests failing system calls and allocations. Each call of the tracker fails once, or from then on always. The job
must not be affected, and the recording must be readable. The same holds for `attach`, `system` and the C API, which
may also refuse with one sentence, but must not hang or crash.

FAULTS=all lets every call fail instead of a selection, and reports all failures; that takes one or two hours."""

import errno
import os
import pathlib
import re
import subprocess

import pytest

from conftest import TIMEOUT_S
from test_cloud_info import aws, serving

pytestmark = pytest.mark.native

SOURCE = pathlib.Path(__file__).resolve().parents[1] / "fault/inject.c"
JOB = "echo out; echo err >&2; touch started; sleep 0.15; exit 7"
ALL = [*range(1, 2000), *(f"{n}+" for n in range(1, 2000, 7))] if os.environ.get("FAULTS") else None
STEPS = ALL or [1, 2, 3, 4, 5, 6, 8, 10, 15, 22, 33, 60, 100, 250]
FUNCTIONS = [("open", errno.EMFILE), ("read", errno.EIO), ("pread", errno.EIO),
             ("write", errno.ENOSPC), ("fork", errno.EAGAIN), ("malloc", errno.ENOMEM),
             ("poll", errno.ENOMEM), ("socket", errno.EMFILE), ("pipe", errno.EMFILE),
             ("timerfd_create", errno.EMFILE), ("timerfd_settime", errno.EINVAL)]
# Waiting for a child: broken off, and answered as where somebody else has taken its result.
WAITS = [("waitid", errno.EINTR), ("waitid", errno.ECHILD),
         ("wait4", errno.EINTR), ("wait4", errno.ECHILD)]
# Called a few times a run, or for one purpose.
RARE = [("signalfd", errno.EMFILE), ("bind", errno.EADDRINUSE), ("mkdir", errno.EROFS),
        ("flock", errno.ENOLCK), ("stat", errno.EACCES), ("readlink", errno.EACCES),
        ("fdopendir", errno.ENOMEM), ("syscall", errno.ENOSYS), ("recv", errno.ECONNRESET),
        ("mmap", errno.ENOMEM), ("fsync", errno.EIO), ("pthread_create", errno.EAGAIN)]
FUNCTIONS += WAITS
# No wait is broken off for ever, and a poll that never works is not to be survived.
LASTING = [f for f in FUNCTIONS if f[0] != "poll" and f[1] != errno.EINTR]
NEVER = {"mmap", "fsync"}  # not by `run`, without a GPU


def names(faults):
    """What pytest calls each of them."""
    return [f"{name}-{errno.errorcode[error]}" if name.startswith("wait") else name
            for name, error in faults]


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    path = tmp_path_factory.mktemp("fault") / "inject.so"
    subprocess.run(["cc", "-std=gnu11", "-O1", "-Wall", "-Werror", "-shared", "-fPIC", SOURCE,
                    "-o", path], check=True)
    return path


def strike(rt, library, order, flags=("--no-discovery",), env=None):
    """One run with this order. Returns whether the fault struck."""
    mark = rt.home / "mark"
    mark.unlink(missing_ok=True)
    (rt.home / "started").unlink(missing_ok=True)
    result = rt.run("run", "-i", "0.1", *flags, "--", "sh", "-c", JOB, timeout=TIMEOUT_S,
                    env={"LD_PRELOAD": library, "TRK_FAULT": order, "TRK_FAULT_MARK": mark,
                         **(env or {})})
    if result.rc == 125:  # before the job: then it must not have run, and one line says why
        assert not (rt.home / "started").exists(), order
        assert re.fullmatch(r"resource-tracker: [^\n]+\n", result.stderr), (order, result.stderr)
    else:
        assert (result.rc, result.stdout) == (7, "out\n"), (order, result)
        assert result.stderr.count("err\n") == 1, (order, result.stderr)
    return mark.exists()


def check_recordings(rt, order):
    """Every recording that has its first record can be read, whole or up to where it broke."""
    for path in (rt.state / "runs").glob("*.rtrk"):
        shown = rt.run("show", "--json", path)
        if shown.rc != 0:
            assert "damaged" in shown.stderr or "not a resource-tracker" in shown.stderr, (
                order, shown.stderr)
        path.unlink()


def each(rt, steps, function, error, attempt):
    """Call attempt(order) for these numbers; those beyond the last call are left out. Returns how
    often it struck."""
    struck, beyond, broken = 0, 1 << 30, []
    for number in steps:
        first = int(str(number).rstrip("+"))
        if first >= beyond or (error == errno.EINTR and str(number).endswith("+")):
            continue  # no wait is broken off for ever
        order = f"{function}:{number}:{error}"
        try:
            hit = attempt(order)
            check_recordings(rt, order)
        except (AssertionError, subprocess.TimeoutExpired) as trouble:
            if not ALL:
                raise
            broken.append(f"{order}: {trouble}")
            continue
        struck += hit
        if not hit:
            beyond = first
    assert not broken, "\n\n".join(broken)
    return struck


@pytest.mark.parametrize(("function", "error"), FUNCTIONS, ids=names(FUNCTIONS))
def test_no_single_failure_reaches_the_job(rt, library, function, error):
    struck = each(rt, STEPS, function, error, lambda order: strike(rt, library, order))
    assert struck >= 1, f"{function} is never called"


@pytest.mark.parametrize(("function", "error"), RARE, ids=names(RARE))
def test_no_failure_of_a_rare_call_reaches_the_job(rt, library, function, error):
    struck = each(rt, ALL or (1, 2, "1+"), function, error,
                  lambda order: strike(rt, library, order))
    assert (struck == 0) == (function in NEVER)


@pytest.mark.parametrize(("function", "error"), LASTING, ids=names(LASTING))
def test_no_lasting_failure_reaches_the_job(rt, library, function, error):
    struck = each(rt, [f"{n}+" for n in (1, 2, 5, 10, 20, 40)], function, error,
                  lambda order: strike(rt, library, order))
    assert struck >= 1, f"{function} is never called"


# Waits for every child of the process that it is loaded into, and is always first.
THIEF = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/wait.h>

__attribute__((constructor)) static void begin(void)
{
	unsetenv("LD_PRELOAD");
}

int waitid(idtype_t of, id_t id, siginfo_t *ret, int options)
{
	int (*real)(idtype_t, id_t, siginfo_t *, int) = dlsym(RTLD_NEXT, "waitid");

	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	return real(of, id, ret, options);
}
"""
# As a library does that sets SIGCHLD to be ignored, later than we set it.
IGNORER = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>

__attribute__((constructor)) static void begin(void)
{
	unsetenv("LD_PRELOAD");
}

int timerfd_settime(int fd, int flags, const void *to, void *old)
{
	int (*real)(int, int, const void *, void *) = dlsym(RTLD_NEXT, "timerfd_settime");

	signal(SIGCHLD, SIG_IGN);
	return real(fd, flags, to, old);
}
"""


@pytest.mark.parametrize("source", [THIEF, IGNORER], ids=["waited for", "SIGCHLD ignored"])
@pytest.mark.parametrize("orphan", ["", "(sleep 2 &); "], ids=["alone", "with an orphan"])
def test_a_result_that_somebody_else_took_ends_the_run_in_a_sentence(rt, tmp_path, source, orphan):
    (tmp_path / "l.c").write_text(source, encoding="ascii")
    subprocess.run(["cc", "-shared", "-fPIC", tmp_path / "l.c", "-o", tmp_path / "l.so"],
                   check=True)
    result = rt.track("sh", "-c", f"{orphan}echo out; sleep 0.5; exit 7", flags=["-q"], timeout=TIMEOUT_S,
                      env={"LD_PRELOAD": tmp_path / "l.so"})
    assert (result.rc, result.stdout) == (125, "out\n")
    assert result.stderr == ("resource-tracker: run: the job has ended, and another part of the tracker's process took its exit code\n")
    ended = result.summary["run"]["exit"]
    assert (ended["code"], ended["verdict"]) == (None, "vanished")
    assert result.summary["totals"]["cpu_s"]["value"] > 0


@pytest.mark.parametrize(("function", "error"), [
    ("socket", errno.EMFILE), ("connect", errno.ENETUNREACH), ("epoll_create1", errno.EMFILE),
    ("epoll_ctl", errno.ENOSPC), ("send", errno.EPIPE), ("recv", errno.ECONNRESET),
    ("timerfd_create", errno.EMFILE)])
def test_no_failure_of_a_question_about_the_cloud_reaches_the_job(rt, library, function, error):
    struck = 0
    with serving(aws(2)) as (address, _):
        env = {"RESOURCE_TRACKER_METADATA": address, "TRACKER_NO_DISCOVERY": None}
        for number in ("1", "2", "3", "5", "9", "1+", "3+", "9+"):
            order = f"{function}:{number}:{error}"
            struck += strike(rt, library, order, flags=(), env=env)
            check_recordings(rt, order)
            (rt.state / "cloud").unlink(missing_ok=True)  # so that it is asked again
    assert struck >= 1, f"{function} is never called"


@pytest.mark.parametrize(("function", "first"), [("malloc", 100), ("open", 100), ("read", 1)])
def test_no_failure_of_working_out_the_cost_reaches_the_job(rt, library, function, first):
    error = errno.ENOMEM if function == "malloc" else errno.EIO
    struck = 0
    for number in (f"{first}+", *range(first, first + 320, 12), f"{first + 100}+", f"{first + 200}+"):
        order = f"{function}:{number}:{error}"
        if not strike(rt, library, order, flags=("--instance", "aws/us-east-1/m5.large")):
            break
        struck += 1
        check_recordings(rt, order)
    assert struck >= 1, f"{function} is called fewer than {first} times"


# ---- what runs beside the job ----

# What a tracker without a job of its own never calls.
NEVER_BESIDE = {"waitid", "wait4", "fork", "pipe", *NEVER}
CASES_BESIDE = [(verb, function, error) for function, error in [*FUNCTIONS, *RARE]
                for verb in ("attach", "system")
                if function not in NEVER_BESIDE and (verb, function) not in {("system", "syscall"), ("system", "recv")}]
BESIDE = ALL or [1, 2, 5, 13, 34, 89, "1+", "20+"]


@pytest.mark.parametrize(("verb", "function", "error"), CASES_BESIDE)
def test_no_failure_makes_a_tracker_beside_the_job_crash_or_hang(rt, library, verb, function, error):
    with subprocess.Popen(["sleep", "3600"]) as process:
        try:
            struck = each(rt, BESIDE, function, error,
                          lambda order: strike_beside(rt, library, order, verb, process.pid))
            assert process.poll() is None
        finally:
            process.kill()
    assert struck >= 1, f"{verb} never calls {function}"


def strike_beside(rt, library, order, verb, pid):
    mark = rt.home / "mark"
    mark.unlink(missing_ok=True)
    target = [pid] if verb == "attach" else []
    result = rt.run(verb, "--duration", "0.15", "-i", "0.05", *target, timeout=TIMEOUT_S,
                    env={"LD_PRELOAD": library, "TRK_FAULT": order, "TRK_FAULT_MARK": mark})
    assert 0 <= result.rc <= 5 and result.stdout == "", (order, result)
    if result.rc:  # in one line, before or after the summary
        assert result.stderr.count("resource-tracker: ") == 1, (order, result.stderr)
    return mark.exists()


# ---- a program that uses the C API ----

API_STEPS = ALL or [1, 2, 3, 5, 10, 20, 45, 110, "1+", "10+"]
CALLERS = [f for f in FUNCTIONS if f[0] not in ("timerfd_create", "timerfd_settime")] + [
    ("waitpid", errno.EINTR), ("waitpid", errno.ECHILD), ("posix_spawn", errno.EAGAIN),
    ("pthread_create", errno.EAGAIN), ("mkdir", errno.EROFS),
    ("fcntl", errno.EMFILE), ("timerfd_create", errno.EMFILE), ("timerfd_settime", errno.EINVAL)]


# What the library calls in its user's process; the helper process, or the thread, does the rest.
CALLED_IN = {
    "process": {"open", "pread", "malloc", "poll", "socket", "fcntl", "waitpid", "posix_spawn"},
    "thread": {"open", "read", "pread", "write", "malloc", "poll", "socket", "pthread_create",
               "mkdir", "fcntl", "timerfd_create", "timerfd_settime"},
    "command": {"open", "pread", "malloc", "poll", "socket", "fcntl", "waitpid", "posix_spawn",
                "waitid"},
}
CASES_OF_CALLERS = [(mode, function, error) for function, error in CALLERS
                    for mode, called in CALLED_IN.items() if function in called]


def use_api(rt, mode, order, env):
    """One tracker of the C API under this order. Returns whether the fault struck."""
    mark, user = rt.home / "mark", pathlib.Path(rt.path).parent / "tests/fault/api_user"
    mark.unlink(missing_ok=True)
    names = ("HELPER_FAULT", "HELPER_FAULT_MARK") if "HELPER_PRELOAD" in env else (
        "TRK_FAULT", "TRK_FAULT_MARK")
    robbed = {"ROBBED": "1"} if re.match(f"waitpid:1[+]?:{errno.ECHILD}", order) else {}
    result = rt.run(mode, rt.path, rt.state, program=user, timeout=TIMEOUT_S,
                    env={**env, **robbed, names[0]: order, names[1]: mark})
    assert result.rc in (0, 3), (mode, order, result)
    if result.rc == 3:
        assert result.stdout.strip(), (mode, order)
    return mark.exists()


@pytest.mark.parametrize(("mode", "function", "error"), CASES_OF_CALLERS)
def test_no_failure_in_a_caller_of_the_api_makes_it_crash_or_hang(rt, library, mode, function,
                                                                  error):
    struck = each(rt, API_STEPS, function, error,
                  lambda order: use_api(rt, mode, order, {"LD_PRELOAD": library}))
    assert struck >= 1, f"the {mode} mode never calls {function}"


@pytest.mark.parametrize("mode", ["process", "command"])
@pytest.mark.parametrize(("function", "error"), FUNCTIONS, ids=names(FUNCTIONS))
def test_no_failure_in_the_process_that_samples_hangs_the_caller(rt, library, mode, function,
                                                                 error):
    env = {"HELPER_PRELOAD": library}
    if mode == "process":  # it goes into the background
        env["HELPER_FAULT_FORKS"] = "1"
    struck = each(rt, API_STEPS, function, error, lambda order: use_api(rt, mode, order, env))
    assert struck >= 1 or (function in ("pipe", "waitid", "wait4") and mode == "process")  # no job
