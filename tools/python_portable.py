#!/usr/bin/env python3
"""Builds wheels that run on every Linux with glibc 2.17 or later or with musl 1.2 or later, and on macOS 11 or later,
with CPython 3.9 or later.

    build/venv-python/bin/python tools/python_portable.py [--libc gnu|musl|macos|all] [MACHINE…]

writes $BUILD/portable/wheels/*.whl, one for each machine (default: x86_64 and aarch64) and C library (default: gnu;
macos is that of macOS). A wheel for Linux contains the program of its own machine, and the extension modules of all
given machines, so that code that is sent to another machine finds the module there. The compiler is that of zig, which
includes musl and the symbols of every glibc. tools/release takes programs and libraries from the same build folders,
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
# Open file for the output of the builds; None: stdout.
LOG = None
# C library -> (system and C library of the compiler's target, platform tag of the wheels).
LIBCS = {"gnu": (f"linux-gnu.{GLIBC}", "manylinux_2_17_{0}.manylinux2014_{0}"),
         "musl": ("linux-musl", "musllinux_1_2_{0}"),
         "macos": ("macos.11.0", "macosx_11_0_{0}")}
# The machine as `uname -m` prints it on macOS.
MACOS_NAMES = {"aarch64": "arm64"}
ROOT = Path(__file__).resolve().parent.parent
PORTABLE = (ROOT / os.environ.get("BUILD", "build")).resolve() / "portable"


def copy_headers(machine, folder):
    """Copy the pyconfig.h of this machine for another one: Debian's pyconfig.h includes that of the target. What the
    limited API uses of it is the same on all 64-bit machines."""
    common = Path(sysconfig.get_config_h_filename())
    version = common.parent.name
    own = common.parent.parent / (sysconfig.get_config_var("MULTIARCH") or "") / version / common.name
    target = folder / f"{machine}-linux-gnu" / version
    target.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(own if own.is_file() else common, target / common.name)


def copy_all_headers(folder):
    """Copy all headers of CPython for macOS, with the pyconfig.h of this machine, whose sizes are the same. Debian's
    pyconfig.h rejects macOS. The copies are found first, because -I precedes -isystem."""
    source = Path(sysconfig.get_config_h_filename())
    shutil.copytree(source.parent, folder, dirs_exist_ok=True)
    own = source.parent.parent / (sysconfig.get_config_var("MULTIARCH") or "") / source.parent.name / source.name
    shutil.copyfile(own if own.is_file() else source, folder / source.name)


def write_cross_file(machine, libc, path, headers):
    """Write the cross file for meson. Without -g0, zig adds debug information that contains the path of the tree.
    Without -dynamic, it links programs for musl statically. Unwind tables are left out: only debuggers use them, and
    they take 3 % of a wheel."""
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
    """The name of a machine in the names of wheels and of folders with machine code."""
    return MACOS_NAMES.get(machine, machine) if libc == "macos" else machine


def run(*words, **environment):
    subprocess.run([str(word) for word in words], check=True, cwd=ROOT, stdin=subprocess.DEVNULL,
                   stdout=LOG, stderr=LOG and subprocess.STDOUT, env={**os.environ, **environment})


def build(machine, libc="gnu"):
    """Build the wheel of one machine and unpack it. Returns its folder."""
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
    """Pack a folder as a wheel with these tags. Returns its path. File modes are normalised, so that the wheel does not
    depend on the umask."""
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
    """Pack the wheel of one machine, for Linux with the modules of the other machines. Their programs are left out, as
    the wheel would have 3.3 MB with them; a module without its program samples in a thread."""
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
