#!/usr/bin/env python3
"""Builds the program for macOS 11 and later (docs/platforms.md).

    build/venv-python/bin/python tools/macos.py [--check] [MACHINE…]

writes $BUILD/macos/MACHINE/resource-tracker for each machine (default: aarch64 and x86_64). The compiler and linker
are those of zig, which includes the headers and symbols of macOS. Warnings are errors. The program is not run. With
--check the program is not optimised, which takes half of the time, and is written to MACHINE-check.
"""

import importlib.util
import os
import struct
import subprocess
import sys
from pathlib import Path

TARGET = "macos.11.0"
# Machine -> cputype in a Mach-O header.
MACHINES = {"aarch64": 0x0100000C, "x86_64": 0x01000007}
ROOT = Path(__file__).resolve().parent.parent
MACOS = (ROOT / os.environ.get("BUILD", "build")).resolve() / "macos"


def zig():
    """The path of the zig program, quoted for a cross file. `python -m ziglang` would start Python for each source."""
    return f"'{Path(importlib.util.find_spec('ziglang').origin).parent / 'zig'}'"


def cross_file(machine):
    """The text of the cross file for meson. Without -g0, zig adds debug information that contains the path of the
    tree."""
    return f"""\
[binaries]
c = [{zig()}, 'cc', '-target', '{machine}-{TARGET}']
ar = [{zig()}, 'ar']
[built-in options]
c_args = ['-g0']
[host_machine]
system = 'darwin'
cpu_family = '{machine}'
cpu = '{machine}'
endian = 'little'
"""


def run(*words):
    """Run a command, which must succeed. All build folders share the cache of zig. The working directory is the build
    folder, because zig's ar leaves an empty a.o there when meson queries its version."""
    environment = {"ZIG_GLOBAL_CACHE_DIR": str(MACOS / "zig"), "ZIG_LOCAL_CACHE_DIR": str(MACOS / "zig")}
    subprocess.run([str(word) for word in words], check=True, cwd=MACOS, stdin=subprocess.DEVNULL,
                   env={**environment, **os.environ})


def check_program(path, machine):
    """Fail unless the file is a 64-bit Mach-O program for the machine."""
    magic, cputype, _, filetype = struct.unpack("<4I", path.read_bytes()[:16])
    if (magic, cputype, filetype) != (0xFEEDFACF, MACHINES[machine], 2):
        sys.exit(f"macos: {path} is not a program for {machine}")


def looked_up_at_load(path):
    """The undefined symbols of a 64-bit Mach-O file that are not bound to a library, so that they are looked up at
    load. In the symbol table, zig marks them with 0, Apple's linker with 254."""
    data = path.read_bytes()
    at, found = 32, []
    for _ in range(struct.unpack_from("<I", data, 16)[0]):
        command, size = struct.unpack_from("<2I", data, at)
        if command == 2:  # LC_SYMTAB
            symbols, count, names, _ = struct.unpack_from("<4I", data, at + 8)
            for i in range(count):
                name, kind, _, described, _ = struct.unpack_from("<IBBHQ", data, symbols + 16 * i)
                if kind == 1 and described >> 8 in (0, 254):
                    found.append(data[names + name:data.index(b"\0", names + name)].decode())
        at += size
    return found


def check_module(path, machine):
    """Fail unless the file is a library for the machine whose symbols to look up at load are all CPython's."""
    magic, cputype, _, filetype = struct.unpack("<4I", path.read_bytes()[:16])
    if (magic, cputype, filetype) != (0xFEEDFACF, MACHINES[machine], 6):
        sys.exit(f"macos: {path} is not a library for {machine}")
    names = looked_up_at_load(path)
    missing = [name for name in names if not name.startswith(("_Py", "__Py"))]
    if missing or not names:
        sys.exit(f"macos: {path} lacks {' '.join(missing) or 'CPython'}")


def build(machine, optimization="s"):
    """Compile and link the program for one machine. Returns its path."""
    folder = MACOS / (machine if optimization == "s" else f"{machine}-check")
    described = MACOS / f"{machine}.ini"
    MACOS.mkdir(parents=True, exist_ok=True)
    described.write_text(cross_file(machine), encoding="utf-8")
    if not (folder / "build.ninja").is_file():
        run(sys.executable, "-m", "mesonbuild.mesonmain", "setup", folder, ROOT, "--cross-file", described, f"-Doptimization={optimization}",
            "-Dtests=disabled", "-Dpython=disabled")
    run("ninja", "--quiet", "-C", folder, "-j", os.environ.get("JOBS", os.cpu_count()), "resource-tracker")
    check_program(folder / "resource-tracker", machine)
    return folder / "resource-tracker"


def main():
    check = "--check" in sys.argv[1:]
    asked = [word for word in sys.argv[1:] if word != "--check"]
    unknown = set(asked) - set(MACHINES)
    if unknown:
        sys.exit(f"macos: unknown machine {' '.join(sorted(unknown))}. Known: {' '.join(MACHINES)}")
    for machine in asked or MACHINES:
        print(build(machine, "0" if check else "s"))


if __name__ == "__main__":
    main()
