"""Tests the program with simulated NVIDIA drivers that are built from the official headers.

tests/gpu/standin.c shares its declarations with the program, so a mistake in these stays undetected there. The
libraries of this test (tests/gpu/driver.c) do not share them.
"""

import csv
import functools
import pathlib
import time

import pytest

from report_page import Page

import nvml_headers

# The header of the same time; 450 and 470 are older than the oldest header, and have fewer functions.
DRIVERS = {
    "450.51.05": ("11.7.91", 450),
    "470.57.02": ("11.7.91", 470),
    "525.60.13": ("12.0.76", 525),
    "535.54.03": ("12.2.81", 535),
    "535.104.05": ("12.2.140", 535),
    "550.54.15": ("12.4.127", 550),
    "575.57.08": ("12.9.79", 575),
    "590.48.01": ("13.1.115", 590),
    "610.57.04": ("13.5.37", 610),
}
GIB = 1 << 30
MIB = 1 << 20


class Driver:
    def __init__(self, rt, folder):
        self.rt = rt
        self.folder = folder
        self.pids = rt.home / "pids"

        self.lost = rt.home / "lost"
        self.log = rt.home / "calls"

    def track(self, processes, play="", then="", interval=0.2, seconds=1.5):
        """A job of so many processes, all on the GPU; each is a child of the job's shell."""
        job = (f"i=0; while [ $i -lt {processes} ]; do sleep {seconds} & echo $! >>{self.pids}; "
               f"i=$((i + 1)); done; {then}\nwait")
        env = {"LD_LIBRARY_PATH": self.folder, "TRK_PLAY": play, "TRK_PLAY_PIDS": self.pids,
               "TRK_PLAY_LOST": self.lost, "TRK_PLAY_CALLS": self.log}
        result = self.rt.track("sh", "-c", job, flags=("--gpu", "always", "-i", str(interval)), env=env)
        assert result.rc == 0, result.stderr
        return result.summary

    def until(self, function, calls):
        """Shell: wait for so many calls, 30 s at most."""
        return (f"n=0; until [ $(grep -c {function} {self.log}) -ge {calls} ] || [ $n -ge 300 ]; "
                "do n=$((n + 1)); sleep 0.1; done")

    def calls(self, function):
        return self.log.read_text().split().count(function)

    def series(self, name):
        """Of the device, sample by sample: numbers, and None where nothing is known."""
        rows = csv.DictReader(self.rt.run("export", "--gpus", "-f", "csv").stdout.splitlines())
        return [float(row[name]) if row[name] else None for row in rows]

    def column(self, name):
        rows = csv.DictReader(self.rt.run("export", "-f", "csv").stdout.splitlines())
        return [float(row[name]) for row in rows if row[name] != ""]


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    """The folder with the library of a driver, which is compiled once."""
    @functools.cache
    def compiled(text):
        return nvml_headers.compile_driver(tmp_path_factory.mktemp("driver"), *DRIVERS[text], text)
    return compiled


@pytest.fixture
def driver(rt, library):
    return lambda text: Driver(rt, library(text))


@pytest.mark.parametrize("text", DRIVERS)
def test_figures_are_those_of_the_driver(driver, text):
    played = driver(text)
    summary = played.track(3)
    assert summary["tracker"]["sources"]["gpu"] == "NVML"
    gpu, = summary["gpus"]
    assert (gpu["name"], gpu["uuid"], gpu["driver"]) == ("NVIDIA A100", "GPU-1", text)
    assert gpu["bus"] == "00000000:07:00.0"
    assert gpu["utilization"]["max"] == 0.57
    # Before 510 what the driver keeps for itself counts as used.
    reserved = 0 if DRIVERS[text][1] >= 510 else 500 * MIB
    assert gpu["memory_used"]["max"] == 9 * GIB + reserved
    assert gpu["memory_total"]["max"] == 40 * GIB
    assert gpu["encoder"]["max"] == 0.03
    assert gpu["temperature"]["max"] == 44
    assert gpu["power"]["max"] == pytest.approx(123.456)
    assert gpu["clock"]["max"] == 1410e6 and gpu["memory_clock"]["max"] == 1215e6
    assert gpu["slowed_by"] == "power limit"
    assert gpu["ecc_corrected_errors"]["max"] == 11 and gpu["ecc_uncorrected_errors"]["max"] == 2
    assert gpu["xid_errors"]["max"] == 0
    assert gpu["process_encoder"]["max"] == pytest.approx(0.06)
    assert gpu["process_decoder"]["max"] == pytest.approx(0.03)
    assert gpu["energy_j"] > 0
    if DRIVERS[text][1] >= 520:
        assert gpu["sm_activity"]["max"] == 0.625 and gpu["memory_activity"]["max"] == 0.3
        assert gpu["pcie_rx"]["max"] == 30 * MIB
    else:
        assert gpu["sm_activity"]["max"] is None
        assert "lacks the function" in gpu["sm_activity"]["reason"]
    assert gpu["attribution"] == "by pid"
    assert gpu["process_memory"]["max"] == 3 * GIB
    assert gpu["process_share"]["max"] == pytest.approx(0.21)
    assert max(played.column("process_gpu_vram_mib")) == 3 * 1024


@pytest.mark.parametrize("text", DRIVERS)
def test_more_processes_than_the_first_guess(driver, text):
    """60 fit into the first guess of 64; with entries of another size they would not."""
    played = driver(text)
    gpu, = played.track(60)["gpus"]
    assert gpu["process_memory"]["max"] == 60 * GIB


def test_a_sample_above_100_is_none(driver):
    """Of two processes; the first one's figure is not known, and nothing is made up for it."""
    played = driver("535.104.05")
    gpu, = played.track(2, "wild sample")["gpus"]
    assert gpu["process_memory"]["max"] == 2 * GIB
    assert gpu["process_share"]["max"] in (None, 0)  # 0: before they were there
    assert gpu["process_share"]["reason"] == "the driver reports an error"
    assert set(played.column("process_gpu_usage")) <= {0}


def test_a_utilisation_above_100_is_none(driver):
    gpu, = driver("550.54.15").track(1, "wild device")["gpus"]
    for name in ("utilization", "encoder"):
        assert gpu[name]["mean"] is None and gpu[name]["max"] is None
        assert gpu[name]["reason"] == "the driver reports an error"


def test_unified_memory_is_unknown(driver):
    gpu, = driver("590.48.01").track(1, "unified")["gpus"]
    for name in ("memory_used", "memory_total"):
        assert gpu[name]["max"] is None
        assert gpu[name]["reason"] == "the GPU uses the memory of the machine"
    assert gpu["process_memory"]["max"] == GIB


def test_compute_instances_of_one_gpu_instance_share_its_memory(driver):
    """The GPU is not accessible: its instances share one memory, which is reported once."""
    played = driver("550.54.15")
    gpu, first, second = played.track(2, "mig closed")["gpus"]
    assert gpu["mig"] and first["parent"] == second["parent"] == 0
    assert first["memory_used"]["max"] == second["memory_used"]["max"] == 3 * GIB
    assert gpu["memory_used"]["max"] == 3 * GIB and gpu["memory_total"]["max"] == 20 * GIB
    assert set(played.column("system_gpu_vram_mib")) == {3 * 1024}
    assert "MIG" in gpu["utilization"]["reason"]


@pytest.mark.parametrize("text", ["470.57.02", "535.54.03", "590.48.01"])
def test_an_instance_answers_for_a_gpu_that_is_closed(driver, text):
    """Its handle lists the processes; both instances list the same two."""
    played = driver(text)
    gpu, *_ = played.track(2, "mig closed")["gpus"]
    assert gpu["process_memory"]["max"] == 2 * GIB
    assert gpu["attribution"] == "by pid" and gpu["used_by_job"]
    assert max(played.column("process_gpu_vram_mib")) == 2 * 1024
    assert "MIG" in gpu["process_share"]["reason"]


@pytest.mark.parametrize("text", ["470.57.02", "535.54.03", "590.48.01"])
def test_a_lost_gpu_comes_back_when_the_driver_does(driver, text):
    """After a reset the library has nothing but errors until it is initialised anew."""
    played = driver(text)
    gpu, = played.track(1, seconds=1, then=(
        f"sleep 0.6; touch {played.lost}; sleep 0.6; rm {played.lost}; "
        f"{played.until('nvmlInit_v2', 2)}; sleep 0.8"))["gpus"]
    power = played.series("power_w")
    known = "".join("." if value is None else "#" for value in power)
    assert "#." in known and known.endswith("#"), known  # known, lost, known again
    assert gpu["power"]["reason"] is None and gpu["utilization"]["max"] == 0.57
    assert gpu["uuid"] == "GPU-1"


def test_a_lost_gpu_is_left_alone_for_longer_and_longer(driver):
    played = driver("550.54.15")
    gpu, = played.track(1, seconds=1, then=f"sleep 0.5; touch {played.lost}; sleep 3.5")["gpus"]
    assert gpu["power"]["reason"] == gpu["process_memory"]["reason"] == "the device is gone"
    asked = played.calls("nvmlDeviceGetHandleByUUID") + played.calls("nvmlInit_v2")
    assert asked <= max(3, len(played.series("power_w")) / 4)


def test_a_gpu_that_fails_at_the_start_is_asked_again(driver):
    played = driver("550.54.15")
    gpu, = played.track(1, "irq", seconds=1, then=(
        f"{played.until('HandleByIndex', 2)}; sleep 0.8"))["gpus"]
    assert gpu["name"] == "NVIDIA A100" and gpu["power"]["max"] == pytest.approx(123.456)
    assert played.series("power_w")[0] is None
    assert gpu["power"]["reason"] is None


def test_samples_of_the_monitor_are_100_ms_apart(driver):
    played = driver("590.48.01")
    gpu, = played.track(1, interval=0.02)["gpus"]
    assert gpu["sm_activity"]["max"] == 0.625
    assert played.calls("nvmlGpmSampleGet") >= 2
    assert played.calls("nvmlGpmMetricsGet") == 0  # none of two that were too close
    # Between two samples the last one stands.
    activity = played.series("sm_activity_share")
    while activity and activity[0] is None:
        activity.pop(0)
    assert set(activity) == {0.625}


@pytest.mark.parametrize("text", ["470.57.02", "550.54.15"])
def test_a_late_sample_stands_until_the_next_one(driver, text):
    """The driver has a new sample every 2 s, and it is 3 to 5 s old."""
    played = driver(text)
    played.track(1, "late", seconds=3)
    shares = [share for share in played.series("process_share_share") if share is not None]
    while shares and not shares[0]:
        shares.pop(0)
    while shares and not shares[-1]:
        shares.pop()
    assert len(shares) > 2
    assert set(shares) == {0.07}


def test_a_late_sample_of_an_idle_gpu_does_not_count(driver):
    played = driver("550.54.15")
    gpu, = played.track(2, "late idle")["gpus"]
    assert gpu["process_share"]["max"] == 0


def test_an_xid_error_is_counted_once(driver):
    played = driver("550.54.15")
    gpu, = played.track(1, "xid")["gpus"]
    assert gpu["xid_errors"]["max"] == 1 and gpu["xid_last"]["max"] == 79
    assert gpu["ecc_corrected_errors"] == {"unit": "count", "increase": 0, "max": 11, "reason": None}


def test_clocks_and_health_are_in_the_report_and_the_export(driver, rt):
    played = driver("590.48.01")
    played.track(1, "xid")
    page = Page(rt, "@")
    row, = page.rows("GPUs", 1)
    assert row["Clock, mean"] == "1410 MHz" and row["Memory clock, mean"] == "1215 MHz"
    assert row["ECC errors in the run"] == "none" and row["Xid errors"] == "1, the last Xid 79"
    for kind in ("md", "html"):
        page = rt.run("report", "--format", kind, "-o", "-", "@").stdout
        assert "GPUs: clocks and health" in page and "1, the last Xid 79" in page
    assert set(played.series("ecc_uncorrected_errors")) == {2}
    assert played.series("xid_last")[-1] == 79


def test_events_that_are_not_permitted_are_unknown(driver):
    gpu, *_ = driver("550.54.15").track(1, "mig closed")["gpus"]
    assert gpu["xid_errors"]["max"] is None


def is_alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_processes_that_the_library_starts_end_with_the_run_and_are_none_of_the_jobs(driver):
    played = driver("590.48.01")
    summary = played.track(1, "daemons", seconds=1, then=played.until("daemon:", 2))
    daemons = [int(word.split(":")[1]) for word in played.log.read_text().split() if word.startswith("daemon:")]
    assert len(daemons) == 2
    assert summary["run"]["left_behind"] == 0
    assert max(played.column("process_children")) <= 3  # sleep, and what the shell runs in a moment
    deadline = time.monotonic() + 240
    while any(map(is_alive, daemons)):
        assert time.monotonic() < deadline, daemons
        time.sleep(0.05)


def test_what_changes_seldom_is_not_asked_for_in_every_sample(driver):
    played = driver("590.48.01")
    played.track(1, interval=0.05, seconds=7)
    samples = len(played.series("power_w"))
    assert 2 <= played.calls("nvmlDeviceGetFieldValues") <= samples / 10
