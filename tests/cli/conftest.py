"""Shared fixtures of the tests of the real program, above all `rt`.

    def test_passes_the_exit_code_on(rt):
        result = rt.track("sh", "-c", "exit 3")
        assert result.rc == 3
        assert result.summary["run"]["exit"]["code"] == 3

The program is the one that RESOURCE_TRACKER_BIN names (tools/test.sh sets it), else
build/resource-tracker. Every test has a separate home directory and state folder.

Mark a test `native` if it depends on the timing, memory or linkage of the release build. It is
then left out under the sanitizers.
"""

import contextlib
import dataclasses
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

import pytest
import strangers

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIMEOUT_S = 240  # a bound for a test that hangs, not a measure

# Uses as many seconds of CPU as its last argument says.
BURN = """
#include <stdlib.h>
#include <time.h>
int main(int argc, char **argv)
{
	double seconds = atof(argv[argc - 1]);
	volatile long x = 0;
	struct timespec t;

	do {
		for (int i = 0; i < 100000; i++)
			x += i;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	} while ((double) t.tv_sec + (double) t.tv_nsec * 1e-9 < seconds);
	return 0;
}
"""


def memory_group():
    """A folder for a memory control group of our own, or None."""
    v2 = "/sys/fs/cgroup/cgroup.controllers"
    if os.path.exists(v2):
        return None if "memory" not in open("/sys/fs/cgroup/cgroup.subtree_control").read() else (
            f"/sys/fs/cgroup/rt-test-{os.getpid()}")
    for line in open("/proc/self/cgroup"):
        _, names, path = line.strip().split(":", 2)
        if "memory" in names.split(","):
            return f"/sys/fs/cgroup/memory{path.rstrip('/')}/rt-test-{os.getpid()}"
    return None


@dataclasses.dataclass
class Result:
    """How one command ended."""

    args: list
    rc: int  # as of subprocess: -n when signal n ended it
    stdout: str
    stderr: str
    summary: dict = None  # the parsed --summary-json; None when there was none

    def json(self):
        """stdout as one JSON document."""
        return json.loads(self.stdout)


class Tracker:
    """The program under test, with a private home."""

    def __init__(self, path, home):
        self.path = str(path)
        self.home = home
        self.state = home / "state"
        self.summary_file = home / "summary.json"
        self.env = self._environment()

    def _environment(self):
        """The outer environment without what configures the tracker or names a batch job."""
        drop = ("RESOURCE_TRACKER_", "TRACKER_", "SLURM_", "AWS_BATCH_", "METAFLOW_", "XDG_",
                "NXF_", "AIRFLOW_", "ARGO_", "PBS_", "LSB_", "JOB_", "GITHUB_", "GITLAB_")
        env = {k: v for k, v in os.environ.items() if not k.startswith(drop)}
        for name in ("NO_COLOR", "CLICOLOR_FORCE", "COLUMNS"):
            env.pop(name, None)
        env.update(
            HOME=str(self.home),
            XDG_STATE_HOME=str(self.home / "xdg-state"),
            XDG_CONFIG_HOME=str(self.home / "xdg-config"),
            RESOURCE_TRACKER_DIR=str(self.state),
            TRACKER_NO_DISCOVERY="1",  # no test asks whose machine this is
            LC_ALL="C.UTF-8",
            PATH="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        )
        return env

    def _merged(self, env):
        """The test's environment with changes on top; a value of None removes a variable."""
        merged = {**self.env, **(env or {})}
        return {k: str(v) for k, v in merged.items() if v is not None}

    def run(self, *args, env=None, cwd=None, stdin=None, timeout=TIMEOUT_S, program=None):
        """Run `resource-tracker ARGS…` to its end. `stdin` is text; default: nothing to read."""
        command = [str(program or self.path), *map(str, args)]
        self.summary_file.unlink(missing_ok=True)
        done = subprocess.run(
            command, env=self._merged(env), cwd=cwd or self.home, timeout=timeout,
            encoding="utf-8", errors="replace", capture_output=True, check=False,
            **({"stdin": subprocess.DEVNULL} if stdin is None else {"input": stdin}))
        summary = None
        if self.summary_file.exists() and self.summary_file.stat().st_size:
            summary = json.loads(self.summary_file.read_text(encoding="utf-8"))
        return Result(command, done.returncode, done.stdout, done.stderr, summary)

    def track(self, *command, flags=(), **options):
        """`run --no-discovery FLAGS… -- COMMAND…`, with the summary parsed into the result."""
        return self.run("run", "--no-discovery", "--summary-json", self.summary_file,
                        *flags, "--", *command, **options)

    @contextlib.contextmanager
    def start(self, *args, env=None, cwd=None, **options):
        """The program in the background, in a process group of its own, which ends with the block."""
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE,
                   "stderr": subprocess.PIPE, "encoding": "utf-8", "errors": "replace",
                   "start_new_session": True, **options}
        process = subprocess.Popen([self.path, *map(str, args)], env=self._merged(env),
                                   cwd=cwd or self.home, **options)
        try:
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "native: depends on the release build (timing, memory, linkage)")


@pytest.fixture(scope="session")
def rt_path():
    """The program under test."""
    path = pathlib.Path(os.environ.get("RESOURCE_TRACKER_BIN", ROOT / "build/resource-tracker"))
    if not path.is_file():
        pytest.fail(f"{path} is not there: run make, or set RESOURCE_TRACKER_BIN")
    return path.resolve()


@pytest.fixture
def rt(rt_path, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    return Tracker(rt_path, home)


@pytest.fixture(scope="module")
def shared_rt(rt_path, tmp_path_factory):
    """For runs that the tests of a file only read."""
    return Tracker(rt_path, tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="session")
def burn(tmp_path_factory):
    """A program that uses the seconds of CPU that its last argument says."""
    program = tmp_path_factory.mktemp("burn") / "burn"
    subprocess.run(["cc", "-O1", "-x", "c", "-o", program, "-"], input=BURN, text=True, check=True)
    return program


@pytest.fixture(scope="session")
def clock(tmp_path_factory):
    """A library to preload into the tracker, which changes its clocks as TRK_CLOCK says (tests/fault/clock.c)."""
    path = tmp_path_factory.mktemp("clock") / "clock.so"
    subprocess.run(["cc", "-std=gnu11", "-O1", "-Wall", "-Werror", "-shared", "-fPIC", ROOT / "tests/fault/clock.c",
                    "-o", path], check=True)
    return path


@pytest.fixture
def patient(rt, clock):
    """The end of a run waits for the history as long as that takes, not for 0.3 s."""
    rt.env.update(LD_PRELOAD=str(clock), TRK_CLOCK="0:0:0:1:1")
    return rt


@pytest.fixture
def world(rt_path):
    """Two users without any right, one of whom attacks the other."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to run the program as two other users")
    base = pathlib.Path(tempfile.mkdtemp(prefix="strangers-", dir="/tmp"))
    base.chmod(0o755)
    fallback = pathlib.Path(f"/tmp/resource-tracker-{strangers.VICTIM}")
    try:
        yield strangers.World(base, rt_path)
    finally:
        shutil.rmtree(base)
        if fallback.is_symlink() or fallback.is_file():
            fallback.unlink()
        shutil.rmtree(fallback, ignore_errors=True)


@pytest.fixture
def victim(world):
    return world.victim


@pytest.fixture
def stranger(world):
    return world.stranger
