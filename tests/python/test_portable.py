"""Tests that the portable wheel, which is built for an old glibc, runs here under every CPython that is found
(tools/python_portable.py)."""

import os
import pathlib
import shutil
import subprocess
import sys
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = (ROOT / os.environ.get("BUILD", "build")).resolve()
MACHINE = os.uname().machine
SMOKE = """
import sys
from resource_tracker import ResourceTracker, _core
tracker = ResourceTracker(interval=0.05)
tracker.wait_for_samples(3, timeout=120)
tracker.stop()
assert type(tracker._tracker) is _core.Tracker, tracker._tracker
assert tracker.stats()["process_memory"]["max"] > 1000
assert tracker.totals()["cpu_s"]["value"] > 0
assert tracker.recommend_server()["vcpus"] >= 1
print(_core.__file__)
"""


@pytest.fixture(scope="module")
def wheel():
    done = subprocess.run([sys.executable, str(ROOT / "tools/python_portable.py"), MACHINE],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
                          stdin=subprocess.DEVNULL, check=False)
    assert done.returncode == 0, done.stdout
    (path,) = (BUILD / "portable/wheels").glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The wheel in an environment that has nothing else."""
    folder = tmp_path_factory.mktemp("venv")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    subprocess.run([str(folder / "bin/python"), "-m", "pip", "install", "--quiet", "--no-index",
                    str(wheel)], check=True)
    return folder


def interpreters():
    """CPython 3.9 to 3.14, those that are here and start."""
    found = {"own": sys.executable}
    for minor in range(9, 15):
        path = shutil.which(f"python3.{minor}")
        done = path and subprocess.run([path, "-c", "import sys; print(sys.implementation.name)"],
                                       capture_output=True, text=True, check=False)
        if done and done.returncode == 0 and done.stdout == "cpython\n":
            found[f"3.{minor}"] = path
    return found


def test_it_asks_for_no_newer_glibc(wheel):
    assert wheel.name.endswith(f"-cp39-abi3-manylinux2014_{MACHINE}.manylinux_2_17_{MACHINE}.whl")
    out = subprocess.run([sys.executable, "-m", "auditwheel", "show", str(wheel)], check=True,
                         stdout=subprocess.PIPE, encoding="utf-8").stdout
    assert f'"manylinux_2_17_{MACHINE}"' in " ".join(out.split())


def test_its_machine_code_stands_in_the_folder_of_its_machine(wheel):
    with zipfile.ZipFile(wheel) as file:
        code = {name: file.read(name)[:4] for name in file.namelist()
                if not name.endswith((".py", ".pyi", "py.typed")) and ".dist-info/" not in name}
    folder = f"resource_tracker/native/{MACHINE}"
    assert code == {f"{folder}/_core.abi3.so": b"\x7fELF",
                    f"{folder}/resource-tracker-program": b"\x7fELF"}


@pytest.mark.parametrize("name", interpreters())
def test_it_runs_under(name, installed, tmp_path):
    (site,) = installed.glob("lib/python*/site-packages")
    out = subprocess.run([interpreters()[name], "-X", "faulthandler", "-c", SMOKE], cwd=tmp_path,
                         env={**os.environ, "PYTHONPATH": str(site), "PYTHONWARNINGS": "error"},
                         stdout=subprocess.PIPE, encoding="utf-8", check=True).stdout
    assert out.strip() == str(site / f"resource_tracker/native/{MACHINE}/_core.abi3.so")


def test_its_commands(installed):
    for words in (["resource-tracker", "version"], ["python", "-m", "resource_tracker", "version"]):
        out = subprocess.run([str(installed / "bin" / words[0]), *words[1:]], check=True,
                             stdout=subprocess.PIPE, encoding="utf-8").stdout
        assert out.startswith("resource-tracker ")


def test_a_wheel_has_the_modules_of_all_machines_and_its_own_program(tmp_path, monkeypatch):
    sys.path.insert(0, str(ROOT / "tools"))
    import python_portable

    monkeypatch.setattr(python_portable, "PORTABLE", tmp_path)
    (tmp_path / "wheels").mkdir()
    trees = {}
    for machine in python_portable.MACHINES:
        trees[machine] = tmp_path / machine / "resource_tracker-1"
        for name in (f"resource_tracker/native/{machine}/_core.abi3.so",
                     f"resource_tracker/native/{machine}/resource-tracker-program",
                     "resource_tracker-1.dist-info/METADATA"):
            (trees[machine] / name).parent.mkdir(parents=True, exist_ok=True)
            (trees[machine] / name).write_text("Name: resource-tracker\nVersion: 1\n")
        (trees[machine] / "resource_tracker-1.dist-info/WHEEL").write_text(
            "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: cp39-abi3-linux_x86_64\n")
    with zipfile.ZipFile(python_portable.pack("x86_64", trees)) as file:
        code = {name for name in file.namelist() if "/native/" in name and not name.endswith("/")}
    folder = "resource_tracker/native"
    assert code == {f"{folder}/x86_64/_core.abi3.so", f"{folder}/x86_64/resource-tracker-program",
                    f"{folder}/aarch64/_core.abi3.so"}


@pytest.fixture(scope="module")
def macos_wheel(wheel):
    """Made after the one for Linux, whose folder of wheels it empties."""
    kept = wheel.read_bytes()
    done = subprocess.run([sys.executable, str(ROOT / "tools/python_portable.py"), "--libc", "macos", MACHINE],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
                          stdin=subprocess.DEVNULL, check=False)
    assert done.returncode == 0, done.stdout
    (path,) = (BUILD / "portable/wheels").glob("*-macosx_*.whl")
    wheel.write_bytes(kept)
    return path


def test_the_wheel_for_macos_holds_a_module_that_needs_cpython_alone(macos_wheel, tmp_path):
    """The build fails where the module or the program is not for macOS; here, that it notices."""
    sys.path.insert(0, str(ROOT / "tools"))
    import macos

    name = {"aarch64": "arm64"}.get(MACHINE, MACHINE)
    assert macos_wheel.name.endswith(f"-cp39-abi3-macosx_11_0_{name}.whl")
    assert macos_wheel.stat().st_size <= 2.5 * 10**6
    with zipfile.ZipFile(macos_wheel) as file:
        file.extractall(tmp_path)
        code = {entry for entry in file.namelist() if "/native/" in entry and not entry.endswith("/")}
    folder = f"resource_tracker/native/{name}"
    assert code == {f"{folder}/_core.abi3.so", f"{folder}/resource-tracker-program"}
    module = tmp_path / folder / "_core.abi3.so"
    assert "_PyCapsule_New" in macos.looked_up_at_load(module)
    macos.check_module(module, MACHINE)
    module.write_bytes(module.read_bytes().replace(b"\0_PyCapsule_New\0", b"\0_trk_missing__\0"))
    with pytest.raises(SystemExit, match="lacks _trk_missing__"):
        macos.check_module(module, MACHINE)
