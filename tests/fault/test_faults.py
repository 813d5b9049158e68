"""One call of one libc function fails in the tracker: the job's result stays what it was."""

import errno

import pytest

pytestmark = pytest.mark.native

SHORT, LONG = "echo out; exit 7", "sleep 0.25; echo out; exit 7"
TICKING = {"poll", "timerfd_settime"}  # called while the job runs: it has to run for some ticks
FAULTS = [
    ("open", errno.EMFILE), ("open", errno.EACCES), ("read", errno.EIO), ("read", errno.EINTR),
    ("pread", errno.EIO), ("pread", errno.ESRCH), ("write", errno.ENOSPC), ("mmap", errno.ENOMEM),
    ("fork", errno.EAGAIN), ("malloc", errno.ENOMEM), ("calloc", errno.ENOMEM),
    ("realloc", errno.ENOMEM), ("timerfd_create", errno.EMFILE), ("timerfd_settime", errno.EINVAL),
    ("poll", errno.EINVAL), ("poll", errno.EINTR), ("socket", errno.EMFILE),
]
ALWAYS_CALLED = {"open", "read", "pread", "write", "fork", "malloc", "calloc", "timerfd_create",
                 "timerfd_settime", "poll"}


def calls():
    """Every one of the first calls, then fewer and fewer."""
    n = 1
    while n < 5000:
        yield n
        n += 1 + n // 20


def check_recordings(rt, where):
    for path in rt.state.rglob("*.rtrk"):
        shown = rt.run("show", "--json", path, timeout=30)
        if path.stat().st_size > 2000:
            assert shown.rc == 0, (where, shown)
        assert shown.rc in (0, 1, 4), (where, shown)
        path.unlink()


@pytest.mark.parametrize("name,code", FAULTS, ids=lambda v: errno.errorcode.get(v, v))
def test_the_jobs_result_survives_a_failing(rt, rt_path, name, code):
    library = rt_path.parent / "tests/fault/fault.so"
    assert library.is_file()
    hit = rt.home / "hit"
    job = LONG if name in TICKING else SHORT
    struck = 0
    for n in calls():
        hit.unlink(missing_ok=True)
        done = rt.run("run", "--", "sh", "-c", job, timeout=30, env={
            "LD_PRELOAD": library, "TRK_FAULT": f"{name}:{n}:{code}", "TRK_FAULT_HIT": hit})
        where = (name, n, done.rc, done.stdout, done.stderr)
        when = hit.read_text(encoding="ascii") if hit.exists() else None
        if (done.rc, done.stdout) != (7, "out\n"):
            assert when == "before" and (done.rc, done.stdout) == (125, ""), where
            assert len(done.stderr.splitlines()) == 1, where
        check_recordings(rt, where)
        if when is None:
            break
        struck += 1
    assert struck or name not in ALWAYS_CALLED


@pytest.mark.parametrize("name", sorted(TICKING))
def test_ticks_go_on_after_a_failing(rt, rt_path, name):
    done = rt.track("sleep", "1.5", env={
        "LD_PRELOAD": rt_path.parent / "tests/fault/fault.so",
        "TRK_FAULT": f"{name}:2:{errno.EINVAL}", "TRK_FAULT_HIT": rt.home / "hit"})
    assert (rt.home / "hit").exists()
    assert done.rc == 0
    assert done.summary["tracker"]["samples"] > 3, done.summary["tracker"]
