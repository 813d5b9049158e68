#!/usr/bin/env python3
"""Builds the wheels that run on other machines than this one: every Linux with glibc 2.17 or later, or
with musl 1.2 or later, macOS 11 or later, and CPython 3.9 or later.

    build/venv-python/bin/python tools/python_portable.py [--libc gnu|musl|macos|all] [MACHINE…]

writes $BUILD/portable/wheels/*.whl, one for each machine (default: x86_64 and aarch64) and C library
(default: gnu; macos is that of macOS). Each for Linux has the module of all machines that are asked for, so that
code which is sent from one to another finds its own, and the program of its own machine. The compiler is zig's, which
has the interfaces of every glibc, and musl. tools/release takes programs and libraries from the same build folders,
$BUILD/portable/MACHINE-LIBC/build.
"""

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import macos  # noqa: E402

GLIBC = "2.17"
MACHINES = ["x86_64", "aarch64"]
# Where the output of the builds goes: an open file, or None for stdout.
LOG = None
# System and C library of a compiler's target, and the platform of its wheels.
LIBCS = {"gnu": (f"linux-gnu.{GLIBC}", "manylinux_2_17_{0}.manylinux2014_{0}"),
         "musl": ("linux-musl", "musllinux_1_2_{0}"),
         "macos": ("macos.11.0", "macosx_11_0_{0}")}
# The machine as `uname -m` prints it on macOS.
MACOS_NAMES = {"aarch64": "arm64"}
ROOT = Path(__file__).resolve().parent.parent
PORTABLE = (ROOT / os.environ.get("BUILD", "build")).resolve() / "portable"


def copy_headers(machine, folder):
    """Debian's pyconfig.h includes that of the machine; what the limited API takes from it is the same
    on all machines of 64 bits."""
    common = Path(sysconfig.get_config_h_filename())
    version = common.parent.name
    own = common.parent.parent / (sysconfig.get_config_var("MULTIARCH") or "") / version / common.name
    target = folder / f"{machine}-linux-gnu" / version
    target.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(own if own.is_file() else common, target / common.name)


def copy_all_headers(folder):
    """Debian's pyconfig.h refuses macOS: all of CPython's headers, with that of the machine here, whose sizes
    are the same. They are found first, as -I goes before -isystem."""
    source = Path(sysconfig.get_config_h_filename())
    shutil.copytree(source.parent, folder, dirs_exist_ok=True)
    own = source.parent.parent / (sysconfig.get_config_var("MULTIARCH") or "") / source.parent.name / source.name
    shutil.copyfile(own if own.is_file() else source, folder / source.name)


def write_cross_file(machine, libc, path, headers):
    """zig adds debug information, which holds the path of the tree, unless -g0 is given; for musl it links
    programs statically, unless -dynamic is given. Tables for unwinding serve debuggers alone, and take 3 % of a wheel."""
    zig = macos.zig()
    system = "darwin" if libc == "macos" else "linux"
    include = f"'-I{headers}'" if libc == "macos" else f"'-isystem', '{headers}'"
    path.write_text(f"""\
[binaries]
c = [{zig}, 'cc', '-target', '{machine}-{LIBCS[libc][0]}']
ar = [{zig}, 'ar']
[built-in options]
c_args = [{include}, '-g0', '-fno-asynchronous-unwind-tables', '-fno-unwind-tables']
c_link_args = ['-s'{", '-dynamic'" if libc == "musl" else ""}]
[host_machine]
system = '{system}'
cpu_family = '{machine}'
cpu = '{machine}'
endian = 'little'
""", encoding="utf-8")


def name_of(machine, libc):
    """The name of a machine in the names of a wheel and of a folder for machine code."""
    return MACOS_NAMES.get(machine, machine) if libc == "macos" else machine


def run(*words, **environment):
    subprocess.run([str(word) for word in words], check=True, cwd=ROOT, stdin=subprocess.DEVNULL,
                   stdout=LOG, stderr=LOG and subprocess.STDOUT, env={**os.environ, **environment})


def build(machine, libc="gnu"):
    """The wheel with the machine code of one machine, unpacked: its folder."""
    folder = PORTABLE / f"{machine}-{libc}"
    for name in ("wheel", "files"):
        shutil.rmtree(folder / name, ignore_errors=True)
    (folder / "wheel").mkdir(parents=True)
    if libc == "macos":
        copy_all_headers(folder / "include")
    else:
        copy_headers(machine, folder / "include")
    write_cross_file(machine, libc, folder / "cross.ini", folder / "include")
    settings = {"build-dir": str(folder / "build"),
                "setup-args": [f"--cross-file={folder / 'cross.ini'}", "-Dstrip=false", "-Doptimization=s", "--prefix=/usr",
                               f"-Dstatic_program={str(libc == 'musl').lower()}"]}
    run(sys.executable, "-c",
        f"import mesonpy; mesonpy.build_wheel({str(folder / 'wheel')!r}, {settings!r})",
        _PYTHON_HOST_PLATFORM=f"linux-{machine}", ZIG_GLOBAL_CACHE_DIR=str(PORTABLE / "zig"),
        PATH=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    (wheel,) = (folder / "wheel").glob("*.whl")
    run(sys.executable, "-m", "wheel", "unpack", "--dest", folder / "files", wheel)
    (files,) = (folder / "files").iterdir()
    if libc == "macos":
        native = files / "resource_tracker/native" / name_of(machine, libc)
        macos.check_module(native / "_core.abi3.so", machine)
        macos.check_program(native / "resource-tracker-program", machine)
    return files


def pack_tree(tree, python_tag, abi_tag, platform_tag):
    """A folder of files as the wheel with these tags: its path. Modes are put right, so that the wheel
    does not depend on the umask."""
    for path in sorted(tree.rglob("*")):
        path.chmod(0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644)
    wheels = PORTABLE / "wheels"
    before = set(wheels.iterdir())
    run(sys.executable, "-m", "wheel", "pack", "--dest-dir", wheels, tree)
    (wheel,) = set(wheels.iterdir()) - before
    run(sys.executable, "-m", "wheel", "tags", "--remove", "--python-tag", python_tag, "--abi-tag", abi_tag,
        "--platform-tag", platform_tag, wheel)
    (wheel,) = set(wheels.iterdir()) - before
    return wheel


def pack(machine, trees, libc="gnu"):
    """The wheel of one machine, under its final name; for Linux with the modules of the others. Without the program
    a module samples in a thread; with it the wheel would have 3.3 MB."""
    native = trees[machine] / "resource_tracker" / "native"
    for other, tree in trees.items():
        if other != machine and libc != "macos":
            shutil.copytree(tree / "resource_tracker" / "native" / other, native / other,
                            ignore=shutil.ignore_patterns("resource-tracker-program"))
    return pack_tree(trees[machine], "cp39", "abi3", LIBCS[libc][1].format(name_of(machine, libc)))


def main():
    parser = argparse.ArgumentParser(prog="python_portable")
    parser.add_argument("--libc", choices=[*LIBCS, "all"], default="gnu")
    parser.add_argument("machine", nargs="*")
    asked = parser.parse_args()
    machines = asked.machine or MACHINES
    unknown = set(machines) - set(MACHINES)
    if unknown:
        sys.exit(f"python_portable: unknown machine {' '.join(unknown)}. Known: {' '.join(MACHINES)}")
    shutil.rmtree(PORTABLE / "wheels", ignore_errors=True)
    (PORTABLE / "wheels").mkdir(parents=True)
    for libc in LIBCS if asked.libc == "all" else [asked.libc]:
        trees = {machine: build(machine, libc) for machine in machines}
        for machine in machines:
            pack(machine, trees, libc)


if __name__ == "__main__":
    main()
