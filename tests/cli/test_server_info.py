"""Tests server-info against the kernel's files."""

import os
import platform


def test_tells_this_machine_with_the_keys_of_the_python_packages(rt):
    result = rt.run("server-info", "--json")
    assert result.rc == 0
    told = result.json()
    assert told["schema"] == "resource-tracker.server/1"
    assert told["os"] == platform.system()
    assert told["arch"] == platform.machine()
    assert told["vcpus"] == os.cpu_count()
    total = int(open("/proc/meminfo").readline().split()[1])
    assert abs(told["memory_mib"] - total / 1024) < 1
    assert told["memory_mb"] == told["memory_mib"] == round(total / 1024, 2)
    for key in ("gpu_count", "gpu_names", "gpu_name", "gpu_memory_mb", "gpu_memory_mib"):
        assert key in told
    assert 1 <= told["cores"] <= told["vcpus"]


def test_the_text_names_the_processors(rt):
    result = rt.run("server-info")
    assert result.rc == 0
    assert f"vCPUs           {os.cpu_count()}" in result.stdout


def test_a_run_remembers_its_machine(rt):
    rt.track("sleep", "0.1")
    here, then = rt.run("server-info", "--json").json(), rt.run("server-info", "--json", "@").json()
    for key in ("vcpus", "memory_mib", "cpu_model", "arch", "kernel", "disks"):
        assert here[key] == then[key]
    assert rt.run("show", "@", "--json").json()["server"]["vcpus"] == here["vcpus"]


def test_a_busy_machine_is_told_as_shared_and_an_idle_one_is_not(rt):
    rt.track("sh", "-c", "sleep 2.5")  # three samples, however late they are
    told = rt.run("server-info", "--json", "@").json()
    assert told["allocation"] in ("dedicated", "shared")
    assert told["allocation_evidence"]


def test_a_recording_without_its_machine_says_so(rt, tmp_path):
    result = rt.run("server-info", str(tmp_path / "no-such-file"))
    assert result.rc == 4
    assert result.stderr.count("\n") == 1
