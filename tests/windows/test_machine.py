"""Tests doctor, doctor --selftest, server-info, cloud-info and GPUs of the program for Windows, under Wine.

Wine's job objects do not count CPU time and do not record a memory peak. The output reports that, and uses lower
quality labels. The NVIDIA library is tests/gpu/driver.c, built from the official header for Windows.
"""

import json
import shutil
import subprocess

import pytest
from conftest import PREFIX, PROGRAM, ROOT, WINE, newest, run, windows_path

HEADER = ROOT / "build/nvml/12.2.140/nvml.h"
GIB = 1 << 30


def test_doctor_says_what_wine_lacks(programs):
    result = programs.wine("doctor", "--json")
    assert (result.rc, result.stderr) == (0, "")
    checks = {check["what"]: check for check in json.loads(result.stdout)["checks"]}
    assert {what: check["available"] for what, check in checks.items()} == {
        "descendants and orphans of the job": "yes",
        "CPU time of all processes of the job": "partly",
        "peak of committed memory of the job": "no",
        "processes, also of other users": "yes",
        "memory of processes": "partly",
        "the machine": "yes",
        "bytes of the machine's disks": "no",
        "disk bytes of processes": "no",
        "GPUs": "partly",
        "load, pressure": "no",
        "recordings": "yes",
    }
    assert "job objects count no CPU time here" in checks["CPU time of all processes of the job"]["hint"]
    assert programs.wine("doctor").stdout.decode().count("\n") > len(checks)


def test_selftest_lowers_its_labels(programs):
    """Only the tracker's own figures are compared with the truth: no CPU time of a job object is."""
    scratch = programs.folder / "scratch"
    scratch.mkdir()
    result = programs.wine("doctor", "--selftest", "--json", TEMP=windows_path(scratch))
    report = json.loads(result.stdout)
    assert (result.rc, result.stderr) == (0, ""), report["figures"]
    assert (report["schema"], report["system"]) == ("resource-tracker.selftest/1", "Windows")
    assert "(Wine " in report["kernel"]
    figures = {figure["work"]: figure for figure in report["figures"]}
    assert list(figures) == ["process", "children", "orphans", "spike", "commit", "disk"]
    for name in ("process", "children", "orphans"):
        assert (figures[name]["quality"], figures[name]["state"]) == ("at_least", "ok")
        assert "what processes used after their last sample" in figures[name]["reason"]
        assert figures[name]["true"] > 0.9
    # How much of the short ones a look sees depends on the load; of this one it sees the 50 ms that are a proof.
    assert "job object counts less than its members" in figures["process"]["reason"]
    assert figures["process"]["told"] >= 0.05
    assert figures["spike"]["true"] > 120 and figures["spike"]["state"] == "ok"
    assert [figures[name]["state"] for name in ("commit", "disk")] == ["not tested"] * 2
    assert [figures[name]["told"] for name in ("commit", "disk")] == [None] * 2
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize("work, total, least", [("children", "cpu_s", 1), ("orphans", "cpu_s", 1.2),
                                                ("spike", "peak_memory_mib", 120), ("promise", "peak_commit_mib", 120)])
def test_a_work_says_what_its_processes_used(programs, work, total, least):
    result = programs.wine("doctor", "--work", work)
    assert (result.rc, result.stderr) == (0, "")
    assert json.loads(result.stdout)[total] >= least


def test_a_work_that_is_not_there(programs):
    result = programs.wine("doctor", "--work", "shared")
    assert result.rc == 2
    assert result.stderr == ("resource-tracker: doctor: --work shared: no such work. "
                             "Try: process, children, orphans, spike, commit, disk\n")


def test_server_info_describes_the_machine(programs):
    server = json.loads(programs.wine("server-info", "--json").stdout)
    native = json.loads(programs.native("server-info", "--json").stdout)
    assert server["os"] == "Windows"
    for key in ("vcpus", "memory_mib"):
        assert server[key] == pytest.approx(native[key], rel=0.01)
    measured = programs.both("server-info", "--json", "@")
    assert measured[0].stdout == measured[1].stdout


def test_cloud_info_sends_no_request(programs):
    result = programs.wine("cloud-info")
    assert (result.rc, result.stderr) == (0, "")
    assert "sends no request" in result.stdout.decode()
    stated = programs.wine("cloud-info", "--json", "--instance", "aws/us-east-1/m5.large")
    assert json.loads(stated.stdout)["instance_type"] == "m5.large"


# ---- NVIDIA ----

@pytest.fixture
def driver(prefix, tmp_path):
    """The library lies where Windows has it, for one test."""
    assert HEADER.is_file(), f"{HEADER} is missing. Try: tools/setup.sh test"
    library = PREFIX / "drive_c/windows/system32/nvml.dll"
    subprocess.run(["x86_64-w64-mingw32-gcc", "-std=gnu11", "-O1", "-Wall", "-Wno-deprecated-declarations", "-Werror",
                    "-shared", "-static", f'-DHEADER="{HEADER}"', "-DDRIVER=535", '-DDRIVER_TEXT="535.104.05"',
                    "-D__USE_MINGW_ANSI_STDIO=1", "-o", library, ROOT / "tests/gpu/driver.c", "-pthread"], check=True)
    yield library
    library.unlink()


def test_figures_are_those_of_the_driver(driver, job_program, tmp_path):
    shutil.copyfile(job_program, tmp_path / "job.exe")
    state, pids = tmp_path / "state", tmp_path / "pids"
    variables = {"RESOURCE_TRACKER_DIR": windows_path(state), "TRK_PLAY_PIDS": windows_path(pids)}
    # The job writes its pid to the file that names the processes on the GPU.
    done = run([WINE, PROGRAM, "run", "--no-discovery", "--quiet", "--interval", "0.2s", "--", "cmd", "/c",
                ".\\job.exe sleep 4000 >pids"], tmp_path, variables)
    assert done.rc == 0, done.stderr
    summary = json.loads(run([WINE, PROGRAM, "show", "--json", windows_path(newest(state))], tmp_path, variables).stdout)
    assert summary["tracker"]["sources"]["gpu"] == "NVML"
    gpu, = summary["gpus"]
    assert (gpu["name"], gpu["driver"]) == ("NVIDIA A100", "535.104.05")
    assert gpu["memory_used"]["max"] == 9 * GIB and gpu["utilization"]["max"] == 0.57
    assert gpu["attribution"] == "by pid"
    assert gpu["process_memory"]["max"] == GIB
    assert gpu["process_share"]["max"] == pytest.approx(0.07)
    assert summary["totals"]["gpu_energy_j"]["value"] > 0


def test_doctor_and_server_info_name_it(driver, programs):
    checks = json.loads(programs.wine("doctor", "--json").stdout)["checks"]
    assert {check["what"]: check["available"] for check in checks}["GPUs"] == "yes"
    server = json.loads(programs.wine("server-info", "--json").stdout)
    assert (server["gpu_count"], server["gpu_name"]) == (1, "NVIDIA A100")
