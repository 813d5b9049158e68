"""Tests that all outputs agree: the summary as text and as JSON, `recommend` with every kind of lines, and the report
as page, Markdown and JSON. The jobs waited for a CPU, or had a request, a limit, or neither."""

import contextlib
import ctypes
import json
import pathlib
import re
import sqlite3
import subprocess
import sys

import pytest

from report_page import Page

pytestmark = pytest.mark.native

SPIN = "import time\nend = time.process_time() + {}\nwhile time.process_time() < end: pass\n"
# Where each kind of lines has the number of cores.
CORES = {"slurm": r"--cpus-per-task=(\d+)", "k8s": r'cpu: "(\d+)"', "docker": r"--cpus=(\d+)",
         "batch": r'"VCPU", "value": "(\d+)"', "metaflow": r"cpu=(\d+)", "nextflow": r"cpus = (\d+)",
         "snakemake": r"threads: (\d+)", "htcondor": r"request_cpus = (\d+)"}


def pinned(cpu, seconds):
    return f"taskset -c {cpu} {sys.executable} -c '{SPIN.format(seconds)}'"


@contextlib.contextmanager
def rivals(*cpus):
    """Three competitors on each of these CPUs, so that a job gets a quarter of it at most."""
    running = [subprocess.Popen(["taskset", "-c", str(cpu), sys.executable, "-c", "while True: pass"])
               for cpu in cpus for _ in range(3)]
    try:
        yield
    finally:
        for rival in running:
            rival.kill()
            rival.wait()


# Where each kind of lines has the memory, in MiB.
MEMORY = {"slurm": r"--mem=(\d+)M", "k8s": r"memory: (\d+)Mi", "docker": r"--memory=(\d+)m",
          "batch": r'"MEMORY", "value": "(\d+)"', "metaflow": r"memory=(\d+)",
          "nextflow": r"memory = '(\d+) MB'", "snakemake": r"mem_mib=(\d+)",
          "htcondor": r"request_memory = (\d+)M"}


def mib(number, unit):
    return float(number) * (1024 if unit == "GiB" else 1)


class RecommendOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("history", ctypes.c_char_p), ("earlier", ctypes.c_char_p),
                ("cache", ctypes.c_char_p)]


def advice_of_the_library(rt, recording, history):
    """What the C API advises for a recording, by the runs in a state directory."""
    library = ctypes.CDLL(str(pathlib.Path(rt.path).parent / "src" / "libresource_tracker.so"))
    answer = ctypes.c_void_p()
    library.trk_recommendation_json.restype = ctypes.c_void_p
    options = RecommendOptions(ctypes.sizeof(RecommendOptions), bytes(history), None, b"none")
    assert library.trk_recommend(bytes(recording), ctypes.byref(options), ctypes.byref(answer), None, 0) == 0
    text = library.trk_recommendation_json(answer)
    advice = json.loads(ctypes.string_at(text))["advice"]
    ctypes.CDLL(None).free(ctypes.c_void_p(text))
    library.trk_recommendation_free(answer)
    return advice


def memory_everywhere(rt, result):
    """The memory, in MiB, that every answer names; it must be one."""
    size = r"([\d.]+) (MiB|GiB)"
    said = {"summary.json": result.summary["advice"]["memory"]["request_mib"],
            "summary": mib(*re.search(rf"request [\d.]+ CPU, {size}", result.stderr).groups()),
            "show.json": rt.run("show", "--json", "@").json()["advice"]["memory"]["request_mib"],
            "recommend --json": rt.run("recommend", "--json", "@").json()["advice"]["memory"]["request_mib"]}
    for verb, pattern in ("show", rf"request [\d.]+ CPU, {size}"), ("recommend", rf"Memory   {size}"):
        said[verb] = mib(*re.search(pattern, rt.run(verb, "@").stdout).groups())
    for kind, pattern in MEMORY.items():
        said[kind] = float(re.search(pattern, rt.run("recommend", "--for", kind, "@").stdout)[1])
    for form in ("md", "html"):
        words = re.sub(r"<[^<>\n]+>|\*", "", rt.run("report", "--format", form, "-o", "-", "@").stdout)
        said[form] = mib(*re.search(rf"equest (?:at least |of )?[\d.]+\W+CPU, {size}", words).groups())
    recording = next((rt.state / "runs").glob(f"*{result.summary['run']['id'][2:]}*"))
    said["C API"] = advice_of_the_library(rt, recording, rt.state)["memory"]["request_mib"]
    assert len(set(said.values())) == 1, said
    return said["summary"]


def cpu_everywhere(rt, result):
    """The number of cores that every answer names; they must be one."""
    said = {"summary": result.summary["advice"]["cpu"]["cores"]}
    headline = re.search(r"request ([\d.]+) CPU", result.stderr)
    if headline:
        said["headline"] = float(headline[1])
    said["recommend --json"] = rt.run("recommend", "--json", "@").json()["advice"]["cpu"]["cores"]
    said["recommend"] = float(re.search(r"CPU      ([\d.]+) core", rt.run("recommend", "@").stdout)[1])
    for kind, pattern in CORES.items():
        said[kind] = float(re.search(pattern, rt.run("recommend", "--for", kind, "@").stdout)[1])
    for form in ("md", "html"):
        text = rt.run("report", "--format", form, "-o", "-", "@").stdout
        words = re.sub(r"<[^<>\n]+>|\*", "", text)
        said[form] = float(re.search(r"equest (?:at least |of )?([\d.]+)\W+CPU", words)[1])
    assert len(set(said.values())) == 1, said
    return said["summary"]


def prediction(result):
    return {p["cores"]: p["run_time_s"] for p in result.summary["advice"]["cpu"]["points"]}


def assert_near(figure, want, off=0.25):
    assert want * (1 - off) < figure < want * (1 + off), (figure, want)


def test_two_spinners_in_a_queue_ask_for_two_cores_everywhere(rt):
    """After a sleep, which stays in the prediction."""
    with rivals(0):
        result = rt.track("sh", "-c", f"sleep 0.6; {pinned(0, 0.7)} & {pinned(0, 0.7)}; wait")
    advice = result.summary["advice"]["cpu"]
    assert advice["queue_share"] > 0.6 and advice["queue_cause"] == "other work"
    assert cpu_everywhere(rt, result) == 2
    cpu_s = result.summary["totals"]["cpu_s"]["value"]
    assert_near(prediction(result)[1], 0.6 + cpu_s)
    assert_near(prediction(result)[2], 0.6 + cpu_s / 2)
    assert result.summary["wall"]["bottleneck"].startswith("short of CPU: its threads waited")
    said = rt.run("recommend", "@").stdout
    assert "run time without the queue" in said and "behind other work" in said
    assert "waited for a CPU" in Page(rt, "@").verdict


def test_one_spinner_in_a_queue_needs_one_core_whatever_was_requested(rt):
    with rivals(0):
        free = rt.track("sh", "-c", pinned(0, 0.7))
    assert cpu_everywhere(rt, free) == 1
    cpu_s = free.summary["totals"]["cpu_s"]["value"]
    waits_s = free.summary["run"]["duration_s"] - cpu_s  # on a busy machine for its files, too
    assert 0.65 * cpu_s < prediction(free)[1] < 1.35 * cpu_s + 0.2 * waits_s
    with rivals(0):
        held = rt.track("sh", "-c", pinned(0, 0.5), flags=["--request", "cpu=2"])
    assert cpu_everywhere(rt, held) == 1


def test_make_in_a_queue_asks_for_two_cores(rt):
    (rt.home / "Makefile").write_text(
        "all: a b c d e f g h\n%:\n\t@taskset -c 0 " + sys.executable +
        " -c 'exec(\"import time\\nwhile time.process_time() < 0.2: pass\")'\n")
    with rivals(0):
        result = rt.track("make", "-s", "-j2")
    assert result.rc == 0, result.stderr
    assert cpu_everywhere(rt, result) == 2
    cpu_s, of = result.summary["totals"]["cpu_s"]["value"], prediction(result)
    assert 0.75 * cpu_s / 2 < of[2] < 0.85 * of[1] and of[1] < 1.5 * cpu_s < result.summary["run"]["duration_s"]


def test_more_threads_than_cores_are_told_apart_from_other_work(rt, tmp_path):
    burn = " & ".join(pinned(0, 0.3) for _ in range(4))
    result = rt.track("sh", "-c", f"{burn}; wait")
    advice = result.summary["advice"]["cpu"]
    assert advice["queue_share"] > 0.5 and advice["queue_cause"] in ("own threads", "other work")
    assert cpu_everywhere(rt, result) == 2


# ---- what use is compared with ----

def capacity(result):
    return {key: (c["value"], c["kind"]) for key, c in result.summary["advice"]["capacity"].items()}


def test_without_a_request_the_headline_is_the_next_request(rt):
    result = rt.track("sleep", "10.2")
    assert result.rc == 0
    assert re.search(r"it slept: .* of CPU in 10\.\d s; nothing to size\n", result.stderr)
    assert "over-provisioned" not in result.stderr and "now" not in result.stderr
    verdict = result.summary["advice"]["verdict"]
    assert verdict["sizing"] == "nothing requested"
    assert {kind for _, kind in capacity(result).values()} <= {"machine", "unknown"}
    assert rt.run("recommend", "@").stdout.startswith("sleep 10.2: Next time request 1 CPU, 256 MiB\n")
    assert rt.run("show", "--json", "@").json()["advice"]["verdict"]["sizing"] == "nothing requested"
    assert re.match(r"It slept: .* of CPU in 10\.\d s; nothing to size\.", Page(rt, "@").lead)
    assert "ver-provisioned" not in rt.run("report", "-o", "-", "@").stdout


def test_a_request_is_what_bars_tables_and_verdicts_compare_with(rt):
    result = rt.track("sleep", "10.2", flags=["--request", "cpu=4,mem=8GiB"])
    assert "over-provisioned: request 1 CPU, 256 MiB next time (now 4 CPU, 8 GiB)" in result.stderr
    assert re.search(r"CPU .* peak cores +of 4 requested ", result.stderr)
    assert re.search(r"Memory .* peak MiB +of 8 GiB requested ", result.stderr)
    assert capacity(result)["cpu"] == (4, "requested")
    assert capacity(result)["memory_mib"] == (8192, "requested")
    said = rt.run("recommend", "@").stdout
    assert "(now 4 CPU, 8 GiB)" in said and "at most, of 4" in said
    page = Page(rt, "@")
    assert "of 4 cores" in page.lead and "of 8 GiB" in page.lead
    assert [row["Requested"] for row in page.rows("Right-sizing")[:2]] == ["4", "8 GiB"]
    past = rt.run("history", "--json").json()["runs"][0]
    assert (past["request_cpu"], past["request_memory_mib"]) == (4, 8192)
    assert past["capacity"] == result.summary["advice"]["capacity"]
    assert past["capacity"]["cpu"] == {"value": 4, "kind": "requested", "source": "--request"}


def test_a_limit_of_ours_is_a_limit(rt):
    result = rt.track("sleep", "10.2", flags=["--limit", "mem=1GiB"])
    assert "over-provisioned: request 1 CPU, 256 MiB next time (now 1 GiB)" in result.stderr
    assert re.search(r"Memory .* peak MiB +of 1 GiB limit ", result.stderr)
    limit = result.summary["limits"]["memory_mib"]
    assert (limit["value"], limit["source"]) == (1024, "--limit")
    assert capacity(result)["memory_mib"] == (1024, "limit")
    assert "1 GiB limit" in rt.run("report", "--format", "md", "-o", "-", "@").stdout
    past = rt.run("history", "--json").json()["runs"][0]
    assert past["limit_memory_mib"] == 1024
    assert past["capacity"] == result.summary["advice"]["capacity"]


def test_a_time_limit_is_what_the_time_is_compared_with(rt):
    for flag in ["--limit", "time=90s"], ["--timeout", "90s"]:
        result = rt.track("sleep", "0.3", flags=flag)
        assert result.summary["limits"]["time_s"]["value"] == 90
        assert result.summary["advice"]["capacity"]["time_s"] == {
            "value": 90, "kind": "limit", "source": "--limit"}
        time = next(row for row in Page(rt, "@").rows("Right-sizing") if row["Resource"] == "Time")
        assert "1 m 30 s limit" in time.values(), time
        assert rt.run("history", "--json").json()["runs"][0]["capacity"]["time_s"]["value"] == 90
    both = rt.track("true", flags=["--limit", "time=90s", "--request", "time=60s"])
    assert capacity(both)["time_s"] == (60, "requested")
    assert capacity(rt.track("true"))["time_s"] == (None, "unknown")


@pytest.mark.parametrize(("variables", "want"), [
    ({"CUDA_VISIBLE_DEVICES": "0,1"}, (2, "limit", "CUDA_VISIBLE_DEVICES")),
    ({"CUDA_VISIBLE_DEVICES": "1,-1,2"}, (1, "limit", "CUDA_VISIBLE_DEVICES")),
    ({"NVIDIA_VISIBLE_DEVICES": "GPU-5b2d"}, (1, "limit", "NVIDIA_VISIBLE_DEVICES")),
    ({"CUDA_VISIBLE_DEVICES": "0,1", "NVIDIA_VISIBLE_DEVICES": "all"}, (2, "limit", "CUDA_VISIBLE_DEVICES")),
    ({"SLURM_JOB_ID": "7", "SLURM_GPUS_ON_NODE": "4", "CUDA_VISIBLE_DEVICES": "0"},
     (4, "requested", "SLURM_GPUS_ON_NODE")),
])
def test_visible_gpus_are_a_limit(rt, variables, want):
    """On a machine without a GPU: the environment says what the job was given."""
    result = rt.track("true", flags=["--gpu", "never"], env=variables)
    gpu = result.summary["advice"]["capacity"]["gpu"]
    assert (gpu["value"], gpu["kind"], gpu["source"]) == want
    assert rt.run("history", "--json").json()["runs"][0]["capacity"]["gpu"] == gpu


def test_gpus_that_the_environment_does_not_limit_are_the_machines(rt):
    for value in "", "-1", None:
        gpu = capacity(rt.track("true", flags=["--gpu", "never"],
                                env={"CUDA_VISIBLE_DEVICES": value, "NVIDIA_VISIBLE_DEVICES": "all"}))["gpu"]
        assert gpu == (None, "unknown")


def test_one_short_run_does_not_stand_above_the_confidence_of_many(rt):
    for _ in range(2):
        rt.track("sleep", "0.3")
    assert rt.run("recommend", "@").stdout.startswith("sleep 0.3: not enough data\n")
    rt.track("sleep", "0.3")
    said = rt.run("recommend", "@").stdout
    assert said.startswith("sleep 0.3: Next time request 1 CPU, 256 MiB\n")
    assert "not enough data" not in said and "(3 runs)" in said
    assert "Not enough data" not in rt.run("report", "-o", "-", "@").stdout


def test_a_failed_run_lowers_nothing_anywhere(rt):
    result = rt.track("sh", "-c", "sleep 0.5; exit 3", flags=["--request", "cpu=4,mem=8GiB"])
    assert result.rc == 3
    assert cpu_everywhere(rt, result) == 4
    assert result.summary["advice"]["memory"]["request_mib"] == 8192


# ---- the request for memory ----

# The same arguments each time: runs with other ones are of another kind.
HOLD = "import os, time; held = bytearray(int(os.environ['MIB']) << 20); time.sleep(float(os.environ['S']))"


def held(rt, mib, seconds, *flags):
    return rt.track(sys.executable, "-c", HOLD, flags=["--job", "hold", "-i", "0.1", *flags],
                    env={"MIB": mib, "S": seconds})


@pytest.mark.native
def test_a_kill_for_memory_asks_for_one_amount_everywhere(patient):
    """The runs before the kill decide on its retry: this run alone would ask for twice its limit."""
    rt = patient
    for _ in range(5):
        assert held(rt, 450, 0.1).rc == 0
    result = held(rt, 750, 1000, "--limit", "mem=550MiB")
    assert result.rc == 124
    request = memory_everywhere(rt, result)
    newest = max((rt.home / "state" / "runs").iterdir(), key=lambda file: file.stat().st_mtime)
    alone = json.loads(subprocess.run(
        [rt.path, "recommend", "--json", "--no-servers", "--recording", rt.home / "none", newest], env=rt.env,
        cwd=rt.home, capture_output=True, check=True).stdout)["advice"]["memory"]
    assert alone["runs_used"] == 1 and alone["request_mib"] != request
    assert result.summary["advice"]["memory"]["runs_used"] == 5


@pytest.mark.native
def test_the_end_of_a_run_of_a_second_looks_at_the_earlier_runs(patient):
    for _ in range(3):
        assert held(patient, 700, 0.1).rc == 0
    result = held(patient, 100, 1.2)
    assert memory_everywhere(patient, result) >= 700
    assert "alone" not in result.stderr


def test_a_history_that_is_locked_is_said(rt):
    for _ in range(3):
        assert held(rt, 700, 0.1).rc == 0
    rt.run("history")
    lock = sqlite3.connect(rt.home / "state" / "history.sqlite")
    lock.execute("BEGIN EXCLUSIVE")
    result = held(rt, 400, 1000, "--limit", "mem=300MiB")
    lock.close()
    assert result.rc == 124
    assert "  from this run alone: the history was not read in time\n" in result.stderr
    assert result.summary["advice"]["memory"]["runs_used"] == 1


def test_the_cpu_use_is_that_of_the_runs_alike(rt, burn):
    flags = ["--job", "two kinds", "-i", "0.1", "--tag"]
    for _ in range(2):
        rt.track("sh", "-c", f"{burn} 0.4; sleep 0.1", flags=[*flags, "kind=busy"])
        rt.track("sleep", "0.5", flags=[*flags, "kind=idle"])
    mean = {}
    for kind in ("busy", "idle", "new"):
        answer = rt.run("recommend", "--json", "--no-servers", "--tag", f"kind={kind}", "@").json()
        mean[kind] = answer["advice"]["cpu"]["mean_cores"]
    assert mean["busy"] > 3 * mean["idle"], mean
    assert mean["idle"] <= mean["new"] < mean["busy"]  # none is alike: the newest, and those with a queue like its


def test_no_more_cores_are_busy_than_there_are(rt, burn):
    script = " & ".join(f"taskset -c {cpu} {burn} 0.4" for cpu in (0, 1))
    with open("/proc/cpuinfo", encoding="ascii") as file:
        cores = sum(line.startswith("processor") for line in file)
    for words in (["-i", "0.05", "--", "sh", "-c", f"{script}; wait"], ["--", burn, "0.3"]):
        result = rt.run("run", "--no-discovery", "--summary-json", rt.summary_file, *words)
        assert result.summary["stats"]["process_cpu_usage"]["max"] <= cores
    narrow = subprocess.run(
        ["taskset", "-c", "0", rt.path, "run", "-q", "--no-discovery", "-i", "0.05", "--summary-json", "-",
         "--", "sh", "-c", f"{burn} 0.3 & {burn} 0.3; wait"],
        env=rt.env, cwd=rt.home, capture_output=True, check=True)
    summary = json.loads(narrow.stdout)
    assert summary["limits"]["cpu"]["value"] == 1
    assert summary["stats"]["process_cpu_usage"]["max"] <= 1


# ---- how it ended ----

ENDS = {"exit 0": (["true"], []), "exit 3": (["sh", "-c", "exit 3"], []),
        "signal 9 (KILL)": (["sh", "-c", "kill -9 $$"], []),
        "timeout": (["sleep", "60"], ["--timeout", "0.3s"])}


@pytest.mark.parametrize("words", ENDS)
def test_the_end_has_the_same_words_everywhere(rt, words):
    command, flags = ENDS[words]
    result = rt.track(*command, flags=[*flags, "--job", "job"])
    said = {"summary": result.stderr, "show": rt.run("show", "@").stdout, "top": rt.run("top", "@").stdout,
            "history": rt.run("history").stdout,
            "report": rt.run("report", "--format", "md", "-o", "-", "@").stdout}
    for verb, text in said.items():
        assert re.search(rf"(?<!\w){re.escape(words)}(?!\w|[,:])", text), (verb, text)
    assert Page(rt, "@").state.split(" ", 1)[1] == words
