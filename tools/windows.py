#!/usr/bin/env python3
"""Builds the program for Windows 10 and later on x86-64 (docs/platforms.md).

    tools/windows.py

writes $BUILD/windows/resource-tracker.exe. The compiler and linker are those of mingw-w64; a warning is an
error. Nothing runs here: tests/windows runs the program under Wine.
"""

import concurrent.futures
import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

TOOLS = "x86_64-w64-mingw32-"
X86_64, CONSOLE = 0x8664, 3  # of a PE header
ROOT = Path(__file__).resolve().parent.parent
WINDOWS = (ROOT / os.environ.get("BUILD", "build")).resolve() / "windows"
OBJECTS = WINDOWS / "objects"


def cross_file():
    """The text of meson's cross file. With ccache, where it is there, what did not change is not compiled again."""
    compiler = ["ccache"] * bool(shutil.which("ccache")) + [f"{TOOLS}gcc"]
    return f"""\
[binaries]
c = {compiler}
ar = '{TOOLS}ar'
strip = '{TOOLS}strip'
[built-in options]
c_args = ['-g0']
[host_machine]
system = 'windows'
cpu_family = 'x86_64'
cpu = 'x86_64'
endian = 'little'
"""


def run(*words):
    """One command, which must succeed."""
    subprocess.run([str(word) for word in words], check=True, stdin=subprocess.DEVNULL)


def check_program(path):
    """Fail unless the file is a 64-bit console program that needs nothing but libraries of Windows."""
    image = path.read_bytes()
    at = struct.unpack_from("<I", image, 0x3C)[0]
    machine, subsystem = struct.unpack_from("<H", image, at + 4)[0], struct.unpack_from("<H", image, at + 24 + 68)[0]
    if image[at:at + 4] != b"PE\0\0" or (machine, subsystem) != (X86_64, CONSOLE):
        sys.exit(f"windows: {path} is not a console program for x86-64")
    table = subprocess.run([f"{TOOLS}objdump", "-p", path], check=True, capture_output=True, text=True).stdout
    needed = {line.split()[-1].lower() for line in table.splitlines() if "DLL Name:" in line}
    foreign = needed - {"advapi32.dll", "kernel32.dll", "msvcrt.dll", "psapi.dll", "user32.dll", "ws2_32.dll"}
    if foreign:
        sys.exit(f"windows: {path} needs {', '.join(sorted(foreign))}")


def build():
    """Compile, link and check the program: its path."""
    if not shutil.which(f"{TOOLS}gcc"):
        sys.exit("windows: no mingw-w64. Try: apt install gcc-mingw-w64-x86-64")
    described = WINDOWS / "mingw.ini"
    WINDOWS.mkdir(parents=True, exist_ok=True)
    described.write_text(cross_file(), encoding="utf-8")
    if not (OBJECTS / "build.ninja").is_file():
        run("meson", "setup", OBJECTS, ROOT, "--cross-file", described, "-Doptimization=s", "-Dtests=disabled",
            "-Dpython=disabled")
    run("ninja", "--quiet", "-C", OBJECTS, "-j", os.environ.get("JOBS", os.cpu_count()), "resource-tracker.exe")
    program = WINDOWS / "resource-tracker.exe"
    shutil.copyfile(OBJECTS / "resource-tracker.exe", program)
    run(f"{TOOLS}strip", program)
    check_program(program)
    return program


# Sources of unit tests that use no file of Linux, and what each needs beside the library.
UNIT_TESTS = {f"tests/unit/test_{name}.c": () for name in (
    "alert_book", "alike", "anomaly", "buf", "catalog", "catalog_facts", "cgroup_files", "change", "cpu_advice", "fetch",
    "gpu_advice", "gpu_assigned", "gpus", "history", "human", "import_values", "infer", "json_read", "line_format", "lines",
    "mask", "maths", "memory_advice", "memory_wide", "message", "original", "peak", "phases", "programs", "pss_budget",
    "report", "report_charts", "report_processes", "server_advice", "stats", "summary", "table", "time_breakdown",
    "verdict", "waits")}
UNIT_TESTS["tests/simulated/test_command_line.c"] = ()
UNIT_TESTS["tests/simulated/test_simulated_nt.c"] = ("tests/simulated/as_nt.c", "tests/simulated/kernel.c")


def build_test(source):
    """One unit test as a program: its path."""
    program = WINDOWS / "tests" / f"{Path(source).stem}.exe"
    compiler = ["ccache"] * bool(shutil.which("ccache")) + [f"{TOOLS}gcc"]
    flags = ["-std=gnu11", "-O1", "-Wall", "-Werror", "-D_GNU_SOURCE", '-DTRK_BUILD_VERSION="test"',
             f'-DTRK_FIXTURES="Z:{ROOT}/tests/fixtures"',
             "-include", ROOT / "src/base/windows/posix.h", f"-I{ROOT}/src", f"-I{ROOT}/include", "-isystem",
             ROOT / "src/base/windows/posix", f"-I{ROOT}/tests/windows/stand_in", "-D__USE_MINGW_ANSI_STDIO=1",
             "-D_FILE_OFFSET_BITS=64", "-D_POSIX_THREAD_SAFE_FUNCTIONS", "-D_WIN32_WINNT=0x0A00"]
    objects = []
    for part in (source, *UNIT_TESTS[source]):
        objects.append(program.parent / f"{program.stem}-{Path(part).stem}.o")
        run(*compiler, *flags, "-c", "-o", objects[-1], ROOT / part)
    run(f"{TOOLS}gcc", "-static", "-s", "-o", program, *objects,
        OBJECTS / "src/libresource_tracker.a", "-lssp", "-ladvapi32", "-lpsapi", "-lws2_32", "-pthread")
    return program


def build_tests():
    """All of UNIT_TESTS, beside a program that was built before: their paths."""
    (WINDOWS / "tests").mkdir(exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", os.cpu_count()))) as pool:
        return list(pool.map(build_test, UNIT_TESTS))


if __name__ == "__main__":
    print(build())
