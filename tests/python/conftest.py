"""Shared fixtures of the tests of the Python package. They run in build/venv-python, where the wheel is installed
(tools/test.sh python)."""

import atexit
import importlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import textwrap

import pytest

for name in ("RESOURCE_TRACKER_BIN", "RESOURCE_TRACKER_RUN", "RESOURCE_TRACKER_DIR"):
    os.environ.pop(name, None)
# The runs of whoever starts the tests are not theirs to read.
os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="trk-state-")
atexit.register(shutil.rmtree, os.environ["XDG_STATE_HOME"], ignore_errors=True)


def pytest_configure(config):
    import resource_tracker

    # Where tools/setup.sh has installed all modules, a missing one is a failure and no skip.
    if "TRK_NEEDS_ALL_MODULES" in os.environ:
        pytest.importorskip = importlib.import_module

    home = pathlib.Path(resource_tracker.__file__).parent
    if "site-packages" not in str(home):
        pytest.exit(f"the package comes from {home}, not from the installed wheel", returncode=2)


class Script:
    """Runs Python text in an interpreter of its own."""

    def __init__(self, folder):
        self.folder = folder

    def start(self, text, **options):
        path = self.folder / "script.py"
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "cwd": self.folder,
                   "encoding": "utf-8", "stdin": subprocess.DEVNULL, **options}
        return subprocess.Popen([sys.executable, "-X", "faulthandler", str(path)], **options)

    def run(self, text, timeout=300, **options):
        process = self.start(text, **options)
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise
        return process.returncode, out, err

    def output(self, text, **options):
        """stdout of a script that must succeed."""
        code, out, err = self.run(text, **options)
        assert code == 0, err
        return out


@pytest.fixture
def script(tmp_path):
    return Script(tmp_path)


@pytest.fixture
def command():
    """Runs the program of the package; stdout of a call that must succeed."""
    from resource_tracker._engine import program

    def run(*arguments):
        done = subprocess.run([program(), *arguments], capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def burner():
    """A process that burns CPU until the test's end; its pid."""
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    yield process
    process.kill()
    process.wait()


@pytest.fixture(scope="session")
def finished():
    """A tracker that has stopped after some samples of this process."""
    from resource_tracker import ResourceTracker

    tracker = ResourceTracker(interval=0.05)
    tracker.wait_for_samples(4, timeout=120)
    tracker.stop()
    return tracker
