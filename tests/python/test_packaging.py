"""Tests the distribution: its version, its metadata, the Python versions of its wheel, and the message if it cannot be
built."""

import ast
import importlib.metadata
import os
import pathlib
import re
import subprocess
import sys
import zipfile

import pytest

import resource_tracker
from resource_tracker import _core

ROOT = pathlib.Path(__file__).resolve().parents[2]
BACKEND = ROOT / "bindings/python"
BUILD = ROOT / os.environ.get("BUILD", "build")


@pytest.fixture(scope="module")
def metadata():
    return importlib.metadata.metadata("resource-tracker")


def test_one_version_everywhere(metadata):
    (stated,) = re.findall(r"^  version: '(.*)',", (ROOT / "meson.build").read_text(), re.M)
    assert metadata["Version"] == _core.version() == resource_tracker.__version__ == stated
    top = re.search(r"^## \[(.*?)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    assert top[1] == stated
    program = subprocess.run([pathlib.Path(sys.executable).parent / "resource-tracker", "version"],
                             capture_output=True, text=True, check=True).stdout
    assert program.split()[1] == stated


def test_the_version_is_above_those_of_the_original(metadata):
    """Else `pip install 'resource-tracker>=0.4'` takes the original from PyPI instead."""
    assert tuple(map(int, metadata["Version"].split("."))) >= (1, 0, 0)


def test_what_the_distribution_says_of_itself(metadata):
    assert metadata["Author"] == "resource-tracker maintainers"
    assert metadata.get_all("Project-URL") is None and metadata["Home-page"] is None
    assert metadata["Requires-Python"] == ">=3.9"
    versions = {c.rsplit(" ", 1)[1] for c in metadata.get_all("Classifier")
                if re.fullmatch(r"Programming Language :: Python :: 3\.\d+", c)}
    assert versions == {f"3.{minor}" for minor in range(9, 15)}
    assert metadata.get_all("Requires-Dist") == ['psutil; sys_platform != "linux"'] + [
        f'{name}; extra == "{name}"' for name in ("metaflow", "pandas", "polars")]


def test_the_wheel_is_for_every_python():
    (wheel,) = (BUILD / "wheel").glob("*.whl")
    assert f"-{resource_tracker.__version__}-cp39-abi3-linux_" in wheel.name
    with zipfile.ZipFile(wheel) as archive:
        (text,) = [archive.read(name).decode() for name in archive.namelist()
                   if name.endswith(".dist-info/WHEEL")]
    assert re.findall(r"^Tag: (.*)$", text, re.M) == ["-".join(wheel.stem.split("-")[2:])]


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="None is immortal here")
def test_none_takes_a_reference(finished):
    """Also in a module that was built with the headers of 3.12 and later, which do without."""
    recording = finished._recording()
    unknown = [name for name, _, _ in _core.columns()].index("process_gpu_usage")
    assert None in recording.column(unknown)
    none = sys.getrefcount(None)
    for _ in range(1000):
        recording.column(unknown)
    assert abs(sys.getrefcount(None) - none) < 500
    assert "#undef Py_RETURN_NONE" in (BACKEND / "src/core.h").read_text(encoding="utf-8")


HOOK = "import backend; print(backend.get_requires_for_build_wheel())"


def hook(**env):
    return subprocess.run([sys.executable, "-c", HOOK], cwd=BACKEND, capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(BACKEND), **env}, check=False)


def test_without_a_compiler_one_line_says_what_is_missing(tmp_path):
    for cc, named in (("", "cc, gcc, clang"), ("ccache my-cc -O2", "my-cc")):
        done = hook(PATH=str(tmp_path), CC=cc)
        assert done.returncode == 1 and done.stdout == ""
        assert done.stderr == (
            f"resource-tracker: building it from source needs a C compiler ({named} is not found). "
            "The wheels of a release, for Linux on x86_64 and aarch64, need neither. Try: apt install gcc python3-dev\n")


def test_with_all_that_is_needed_the_backend_goes_on():
    done = hook()
    assert done.returncode == 0 and done.stdout.startswith("["), done.stderr


ELSEWHERE = """
import sys
sys.platform = {platform!r}
import backend
assert backend.get_requires_for_build_wheel() == []
print(backend.build_wheel({folder!r}))
"""


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_elsewhere_the_wheel_is_of_python_alone_and_needs_no_compiler(platform, tmp_path):
    done = subprocess.run([sys.executable, "-c", ELSEWHERE.format(platform=platform, folder=str(tmp_path))],
                          cwd=BACKEND, capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": str(BACKEND), "PATH": "/nowhere"})
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name == f"resource_tracker-{resource_tracker.__version__}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        assert archive.testzip() is None
    assert "resource_tracker/_elsewhere.py" in names and not [n for n in names if n.endswith(".so")]


def test_the_wheel_of_python_alone_says_what_the_other_one_says(metadata, tmp_path):
    """The same metadata, commands and modules; pip installs it, and it works without the library."""
    wheel = subprocess.run([sys.executable, str(BACKEND / "pure.py"), str(tmp_path)], check=True,
                           stdout=subprocess.PIPE, encoding="utf-8").stdout.strip()
    folder = tmp_path / "site"
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target",
                    str(folder), wheel], check=True)
    (info,) = importlib.metadata.distributions(path=[str(folder)])
    ours = importlib.metadata.distribution("resource-tracker")
    assert info.metadata.items() == ours.metadata.items()
    assert {str(e) for e in info.entry_points} == {str(e) for e in ours.entry_points}
    home = pathlib.Path(resource_tracker.__file__).parent
    assert ({path.name for path in home.glob("*.py")}
            == {path.name for path in (folder / "resource_tracker").glob("*.py")})
    done = subprocess.run(
        [sys.executable, "-c", "import resource_tracker as r; t = r.ResourceTracker(interval=0.05); "
         "t.wait_for_samples(2, timeout=120); t.stop(); print(r.__file__, r.__version__, t.n_samples >= 2)"],
        env={**os.environ, "PYTHONPATH": str(folder)}, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.split() == [str(folder / "resource_tracker/__init__.py"), ours.version, "True"], done.stderr


def imported_by(path):
    """The package's modules that one of them imports, wherever in the file."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            found |= {node.module.split(".")[0]} if node.module else {name.name for name in node.names}
    return found


def test_modules_import_each_other_in_no_circle():
    uses = {path.stem: imported_by(path) for path in pathlib.Path(resource_tracker.__file__).parent.glob("*.py")
            if path.stem != "__init__"}
    assert "_figures" in uses["tracker"] and len(uses) > 20
    while uses:  # take away what uses nothing that is left
        free = [name for name, used in uses.items() if not used & set(uses)]
        assert free, f"these import each other: {sorted(uses)}"
        for name in free:
            del uses[name]
