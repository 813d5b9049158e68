#!/usr/bin/env python3
"""Builds the program, the C library and the Python wheel for Windows 10 and later on x86-64 (docs/platforms.md).

    tools/windows.py [program] [library] [wheel]

writes into $BUILD/windows: resource-tracker.exe (the default); resource_tracker.dll with its import library; and
wheels/*.whl, which includes the program and which build/venv-python/bin/python must build.

The compiler and linker are those of mingw-w64. Warnings are errors. The extension module uses the limited API of
CPython, whose headers and import library are in build/windows-python (tools/setup.sh). tests/windows runs the program
and the wheel under Wine.
"""

import concurrent.futures
import itertools
import os
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

TOOLS = "x86_64-w64-mingw32-"
X86_64, CONSOLE = 0x8664, 3  # values of machine and subsystem in a PE header
SYSTEM_LIBRARIES = {"advapi32.dll", "kernel32.dll", "msvcrt.dll", "shell32.dll", "user32.dll", "ws2_32.dll"}
TAG = "cp39-abi3-win_amd64"
ROOT = Path(__file__).resolve().parent.parent
WINDOWS = (ROOT / os.environ.get("BUILD", "build")).resolve() / "windows"
OBJECTS = WINDOWS / "objects"
PYTHON = ROOT / "build" / "windows-python"


def cross_file():
    """The text of the cross file for meson. It uses ccache if that is installed."""
    compiler = ["ccache"] * bool(shutil.which("ccache")) + [f"{TOOLS}gcc"]
    return f"""\
[binaries]
c = {compiler}
ar = '{TOOLS}ar'
strip = '{TOOLS}strip'
[properties]
windows_python = '{PYTHON}'
[built-in options]
c_args = ['-g0']
[host_machine]
system = 'windows'
cpu_family = 'x86_64'
cpu = 'x86_64'
endian = 'little'
"""


def run(*words):
    """Run a command, which must succeed."""
    subprocess.run([str(word) for word in words], check=True, stdin=subprocess.DEVNULL)


def check_program(path):
    """Fail unless the file is a 64-bit console program that needs only libraries of Windows."""
    image = path.read_bytes()
    at = struct.unpack_from("<I", image, 0x3C)[0]
    machine, subsystem = struct.unpack_from("<H", image, at + 4)[0], struct.unpack_from("<H", image, at + 24 + 68)[0]
    if image[at:at + 4] != b"PE\0\0" or (machine, subsystem) != (X86_64, CONSOLE):
        sys.exit(f"windows: {path} is not a console program for x86-64")
    foreign = needed_by(path) - SYSTEM_LIBRARIES
    if foreign:
        sys.exit(f"windows: {path} needs {', '.join(sorted(foreign))}")


def tables_of(path):
    """The lines that `objdump -p` prints about a file."""
    return subprocess.run([f"{TOOLS}objdump", "-p", path], check=True, capture_output=True, text=True).stdout.splitlines()


def needed_by(path):
    """The names of the libraries that a file needs."""
    return {line.split()[-1].lower() for line in tables_of(path) if "DLL Name:" in line}


def exports_of(path):
    """The names that a library exports."""
    lines = iter(tables_of(path))
    next((line for line in lines if "[Ordinal/Name Pointer] Table" in line), None)
    found = (re.match(r"\s*\[ *\d+\].* (\w+)$", line) for line in lines)
    return [match[1] for match in itertools.takewhile(bool, found)]


def check_library(path, needed, exports):
    """Fail unless the file needs exactly the libraries `needed` in addition to those of Windows, and exports exactly
    the names `exports`."""
    if needed_by(path) - SYSTEM_LIBRARIES != needed:
        sys.exit(f"windows: {path} needs {', '.join(sorted(needed_by(path)))}")
    if exports_of(path) != sorted(exports):
        sys.exit(f"windows: {path} exports {', '.join(exports_of(path))}")


def compile_target(name):
    """Compile and link one target of the build. Returns its path."""
    if not shutil.which(f"{TOOLS}gcc"):
        sys.exit("windows: no mingw-w64. Try: apt install gcc-mingw-w64-x86-64")
    described, text = WINDOWS / "mingw.ini", cross_file()
    WINDOWS.mkdir(parents=True, exist_ok=True)
    if not (OBJECTS / "build.ninja").is_file() or described.read_text(encoding="utf-8") != text:
        described.write_text(text, encoding="utf-8")
        shutil.rmtree(OBJECTS, ignore_errors=True)
        run("meson", "setup", OBJECTS, ROOT, "--cross-file", described, "-Doptimization=s", "-Dtests=disabled",
            "-Dpython=disabled")
    run("ninja", "--quiet", "-C", OBJECTS, "-j", os.environ.get("JOBS", os.cpu_count()), name)
    return OBJECTS / name


def stripped(name, path):
    """Build a target and write it without symbols to `path`. An existing file is replaced, because it may be running.
    Returns the path."""
    new = path.with_name(f"{path.name}.new")
    shutil.copyfile(compile_target(name), new)
    run(f"{TOOLS}strip", new)
    new.replace(path)
    return path


def build():
    """Compile, link and check the program. Returns its path."""
    program = stripped("resource-tracker.exe", WINDOWS / "resource-tracker.exe")
    check_program(program)
    return program


def build_library():
    """Build and check the library and its import library. Returns their paths."""
    library = stripped("resource_tracker.dll", WINDOWS / "resource_tracker.dll")
    names = (OBJECTS / "resource_tracker.def").read_text(encoding="utf-8").split()[1:]
    check_library(library, set(), names)
    return library, Path(shutil.copy2(OBJECTS / "resource_tracker.dll.a", WINDOWS))


def build_wheel():
    """Build the wheel with the module and the program. Returns its path."""
    sys.path.insert(0, str(ROOT / "bindings/python"))
    import pure

    if not (PYTHON / "libs/python3.lib").is_file():
        sys.exit(f"windows: {PYTHON} is missing. Try: tools/setup.sh test")
    program = build()
    module = stripped("bindings/python/_core.pyd", WINDOWS / "_core.pyd")
    check_library(module, {"python3.dll"}, ["PyInit__core"])
    wheels, native = WINDOWS / "wheels", f"{pure.NAME}/native/AMD64"
    shutil.rmtree(wheels, ignore_errors=True)
    wheels.mkdir()
    return wheels / pure.build(wheels, TAG, {f"{native}/_core.pyd": module.read_bytes(),
                                             f"{native}/resource-tracker-program.exe": program.read_bytes()})


# Unit tests of what the library for Windows has, which need no files of Linux.
UNIT_TESTS = [f"tests/unit/test_{name}.c" for name in (
    "alert_book", "alert_end", "alike", "anomaly", "buf", "catalog", "catalog_facts", "cgroup_files", "change", "cpu_advice", "fetch",
    "gpu_advice", "gpus", "history", "human", "import_values", "infer", "json_read", "line_format", "lines",
    "mask", "maths", "memory_advice", "memory_wide", "message", "original", "phases", "programs",
    "report", "report_charts", "report_processes", "server_advice", "stats", "summary", "table", "time_breakdown",
    "verdict", "waits")]


def build_test(source):
    """Build one unit test as a program. Returns its path."""
    program = WINDOWS / "tests" / f"{Path(source).stem}.exe"
    compiler = ["ccache"] * bool(shutil.which("ccache")) + [f"{TOOLS}gcc"]
    flags = ["-std=gnu11", "-O1", "-Wall", "-Werror", "-D_GNU_SOURCE", '-DTRK_BUILD_VERSION="test"',
             f'-DTRK_FIXTURES="Z:{ROOT}/tests/fixtures"',
             "-include", ROOT / "src/base/windows/posix.h", f"-I{ROOT}/src", f"-I{ROOT}/include", "-isystem",
             ROOT / "src/base/windows/posix", f"-I{ROOT}/tests/windows/stand_in", "-D__USE_MINGW_ANSI_STDIO=1",
             "-D_FILE_OFFSET_BITS=64", "-D_POSIX_THREAD_SAFE_FUNCTIONS", "-D_WIN32_WINNT=0x0A00"]
    compiled = program.with_suffix(".o")
    run(*compiler, *flags, "-c", "-o", compiled, ROOT / source)
    run(f"{TOOLS}gcc", "-static", "-s", "-o", program, compiled,
        OBJECTS / "src/libresource_tracker.a", "-lssp", "-ladvapi32", "-lshell32", "-lws2_32", "-pthread")
    return program


def build_tests():
    """Build all UNIT_TESTS. The program must have been built before. Returns their paths."""
    (WINDOWS / "tests").mkdir(exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", os.cpu_count()))) as pool:
        return list(pool.map(build_test, UNIT_TESTS))


BUILDS = {"program": build, "library": lambda: build_library()[0], "wheel": build_wheel}


def main():
    unknown = set(sys.argv[1:]) - set(BUILDS)
    if unknown:
        sys.exit(f"windows: unknown {' '.join(sorted(unknown))}. Known: {' '.join(BUILDS)}")
    for name in sys.argv[1:] or ["program"]:
        print(BUILDS[name]())


if __name__ == "__main__":
    main()
