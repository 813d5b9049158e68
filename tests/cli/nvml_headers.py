"""Finds NVIDIA's official headers, which tools/setup.sh installs below build/nvml."""

import pathlib
import subprocess

from conftest import ROOT

# What each release of CUDA brought; 12.2.81 is the one with entries of 32 bytes in the lists of processes.
VERSIONS = ("11.7.91", "11.8.86", "12.0.76", "12.2.81", "12.2.140", "12.4.127", "12.9.79", "13.1.115",
            "13.5.37")
FLAGS = ("-std=gnu11", "-Wall", "-Wno-deprecated-declarations", "-Werror")


def header(version):
    path = ROOT / "build/nvml" / version / "nvml.h"
    assert path.is_file(), f"{path} is missing: run tools/setup.sh"
    return path


def compile_c(*arguments):
    result = subprocess.run(["cc", *FLAGS, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr[-4000:]


def compile_driver(folder, version, number, text):
    """The library that plays this driver, under the name that the program looks for."""
    folder = pathlib.Path(folder)
    library = folder / "libnvidia-ml.so.1"
    compile_c("-shared", "-fPIC", "-O1", f'-DHEADER="{header(version)}"', f"-DDRIVER={number}",
              f'-DDRIVER_TEXT="{text}"', "-o", library, ROOT / "tests/gpu/driver.c")
    return folder
