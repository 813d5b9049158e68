"""Each system call and each allocation of the tracker fails once, and then for good: the job must not
notice, and what was recorded must be readable."""

import errno
import pathlib
import re
import subprocess

import pytest

from test_cloud_info import aws, serving

pytestmark = pytest.mark.native

SOURCE = pathlib.Path(__file__).resolve().parents[1] / "fault/inject.c"
JOB = "echo out; echo err >&2; touch started; sleep 0.25; exit 7"
STEPS = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 18, 22, 27, 33, 40, 48, 60, 75, 100, 150, 250]
FUNCTIONS = [("open", errno.EMFILE), ("read", errno.EIO), ("pread", errno.EIO),
             ("write", errno.ENOSPC), ("fork", errno.EAGAIN), ("malloc", errno.ENOMEM),
             ("poll", errno.ENOMEM), ("socket", errno.EMFILE), ("pipe", errno.EMFILE),
             ("timerfd_create", errno.EMFILE), ("timerfd_settime", errno.EINVAL)]


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
    result = rt.run("run", "-i", "0.1", *flags, "--", "sh", "-c", JOB, timeout=30,
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


@pytest.mark.parametrize(("function", "error"), FUNCTIONS, ids=[name for name, _ in FUNCTIONS])
def test_no_single_failure_reaches_the_job(rt, library, function, error):
    struck = 0
    for number in STEPS:
        order = f"{function}:{number}:{error}"
        if not strike(rt, library, order):
            break
        struck += 1
        check_recordings(rt, order)
    assert struck >= 1, f"{function} is never called"


@pytest.mark.parametrize(("function", "error"), [f for f in FUNCTIONS if f[0] != "poll"],
                         ids=[name for name, _ in FUNCTIONS if name != "poll"])
def test_no_lasting_failure_reaches_the_job(rt, library, function, error):
    for number in (1, 2, 5, 10, 20, 40):
        order = f"{function}:{number}+:{error}"
        if not strike(rt, library, order):
            break
        check_recordings(rt, order)


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


@pytest.mark.parametrize("function", ["malloc", "open", "read"])
def test_no_failure_of_working_out_the_cost_reaches_the_job(rt, library, function):
    error = errno.ENOMEM if function == "malloc" else errno.EIO
    for number in (*range(100, 420, 12), "100+", "200+", "300+"):
        order = f"{function}:{number}:{error}"
        if not strike(rt, library, order, flags=("--instance", "aws/us-east-1/m5.large")):
            break
        check_recordings(rt, order)
