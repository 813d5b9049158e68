#!/usr/bin/env python3
"""Builds the wheels that run on other machines than this one: every Linux with glibc 2.17 or later,
CPython 3.9 or later.

    build/venv-python/bin/python tools/python_portable.py [MACHINE…]

writes $BUILD/portable/wheels/*.whl, one for each machine (default: x86_64 and aarch64). Each has the
module and the program of all machines that are asked for, so that code which is sent from one to
another finds its own. The compiler is zig's, which knows the interfaces of every glibc.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

GLIBC = "2.17"
MACHINES = ["x86_64", "aarch64"]
ROOT = Path(__file__).resolve().parent.parent
PORTABLE = Path(os.environ.get("BUILD", ROOT / "build")).resolve() / "portable"


def copy_headers(machine, folder):
    """Debian's pyconfig.h includes that of the machine; what the limited API takes from it is the same
    on all machines of 64 bits."""
    common = Path(sysconfig.get_config_h_filename())
    version = common.parent.name
    own = common.parent.parent / (sysconfig.get_config_var("MULTIARCH") or "") / version / common.name
    target = folder / f"{machine}-linux-gnu" / version
    target.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(own if own.is_file() else common, target / common.name)


def write_cross_file(machine, path, headers):
    zig = f"'{sys.executable}', '-m', 'ziglang'"
    path.write_text(f"""\
[binaries]
c = [{zig}, 'cc', '-target', '{machine}-linux-gnu.{GLIBC}']
ar = [{zig}, 'ar']
[built-in options]
c_args = ['-isystem', '{headers}']
c_link_args = ['-s']
[host_machine]
system = 'linux'
cpu_family = '{machine}'
cpu = '{machine}'
endian = 'little'
""", encoding="utf-8")


def run(*words, **environment):
    subprocess.run([str(word) for word in words], check=True, cwd=ROOT, stdin=subprocess.DEVNULL,
                   env={**os.environ, **environment})


def build(machine):
    """The wheel with the machine code of one machine, unpacked: its folder."""
    folder = PORTABLE / machine
    for name in ("wheel", "files"):
        shutil.rmtree(folder / name, ignore_errors=True)
    (folder / "wheel").mkdir(parents=True)
    copy_headers(machine, folder / "include")
    write_cross_file(machine, folder / "cross.ini", folder / "include")
    settings = {"build-dir": str(folder / "build"),
                "setup-args": [f"--cross-file={folder / 'cross.ini'}", "-Dstrip=false"]}
    run(sys.executable, "-c",
        f"import mesonpy; mesonpy.build_wheel({str(folder / 'wheel')!r}, {settings!r})",
        _PYTHON_HOST_PLATFORM=f"linux-{machine}", ZIG_GLOBAL_CACHE_DIR=str(PORTABLE / "zig"),
        PATH=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    (wheel,) = (folder / "wheel").glob("*.whl")
    run(sys.executable, "-m", "wheel", "unpack", "--dest", folder / "files", wheel)
    (files,) = (folder / "files").iterdir()
    return files


def pack(machine, trees):
    """The wheel of one machine, with the folders of the others, under its final name."""
    native = trees[machine] / "resource_tracker" / "native"
    for other, tree in trees.items():
        if other != machine:
            shutil.copytree(tree / "resource_tracker" / "native" / other, native / other)
    wheels = PORTABLE / "wheels"
    run(sys.executable, "-m", "wheel", "pack", "--dest-dir", wheels, trees[machine])
    (wheel,) = wheels.glob(f"*-linux_{machine}.whl")
    run(sys.executable, "-m", "wheel", "tags", "--remove", "--python-tag", "cp39", "--abi-tag", "abi3",
        "--platform-tag",
        f"manylinux_{GLIBC.replace('.', '_')}_{machine}.manylinux2014_{machine}", wheel)


def main():
    machines = sys.argv[1:] or MACHINES
    unknown = set(machines) - set(MACHINES)
    if unknown:
        sys.exit(f"python_portable: unknown machine {' '.join(unknown)}. Known: {' '.join(MACHINES)}")
    shutil.rmtree(PORTABLE / "wheels", ignore_errors=True)
    (PORTABLE / "wheels").mkdir(parents=True)
    trees = {machine: build(machine) for machine in machines}
    for machine in machines:
        pack(machine, trees)


if __name__ == "__main__":
    main()
