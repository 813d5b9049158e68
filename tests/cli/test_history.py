"""Tests history, prune, compare and recommend with real runs."""

import contextlib
import json
import os
import re
import sqlite3
import subprocess
import sys
import time

import pytest

from conftest import ROOT, memory_group
from report_page import Page

HOLD = "import time; b = bytearray(b'x') * ({mib} << 20); time.sleep(0.3)"


def hold(rt, mib, job="hold", code=0, flags=()):
    return rt.track(sys.executable, "-c", HOLD.format(mib=mib) + f"; raise SystemExit({code})",
                    flags=["-n", job, "-i", "0.1", *flags])


def runs(rt, *args):
    return rt.run("history", "--json", *args).json()["runs"]


def test_history_lists_the_newest_first_and_by_job(rt):
    for job, code in (("a", 0), ("b", 3), ("a", 0)):
        rt.track("sh", "-c", f"exit {code}", flags=["-n", job])
    listed = runs(rt)
    assert [run["job"] for run in listed] == ["a", "b", "a"]
    assert [run["code"] for run in listed] == [0, 3, 0]
    assert listed[0]["start_time"] > listed[2]["start_time"]
    assert [run["job"] for run in runs(rt, "a")] == ["a", "a"]
    assert len(runs(rt, "-n", "1")) == 1
    text = rt.run("ls").stdout.splitlines()
    assert len(text) == 4 and "exit 3" in text[2]
    nothing = rt.run("history", "c")
    assert nothing.rc == 4 and "c: no run of this job" in nothing.stderr


def test_figures_of_the_history_are_those_of_the_summary(rt):
    summary = hold(rt, 60).summary
    run, = runs(rt)
    assert run["id"] == summary["run"]["id"]
    assert run["peak_memory_mib"] == pytest.approx(
        summary["totals"]["peak_memory_mib"]["value"], rel=1e-12)
    assert run["cpu_s"] == pytest.approx(summary["totals"]["cpu_s"]["value"], rel=1e-12)
    assert run["process_cpu_usage_mean"] == pytest.approx(
        summary["stats"]["process_cpu_usage"]["mean"], rel=1e-9)
    assert run["disk_write_bytes"] == summary["totals"]["disk_write_bytes"]["value"]


def test_names_of_every_kind_are_kept_as_they_are(rt):
    names = ["it's", 'a"b', "x/../y", "😀", "'; DROP TABLE run; --", "n" * 200, "%s%n"]
    for name in names:
        rt.track("true", flags=["-n", name])
    assert [run["job"] for run in reversed(runs(rt))] == names
    for name in names:
        assert [run["job"] for run in runs(rt, name)] == [name]
        assert rt.run("show", "--json", f"{name}@-1").json()["run"]["job"] == name


def test_a_name_of_10_kb_is_cut_and_found_by_its_whole_length(rt):
    name = "n" * 10240
    assert rt.track("true", flags=["-n", name]).rc == 0
    assert [run["job"] for run in runs(rt, name)] == ["n" * 255]
    assert rt.run("show", f"{name}@-1").rc == 0


def test_names_do_not_speak_to_the_terminal(rt):
    name = "a\x1b[2Jb\nc|`*<b>"
    for _ in range(2):
        assert rt.track("true", flags=["-n", name]).rc == 0
    for args in (["history"], ["history", name], ["recommend", "--no-servers", name],
                 ["compare", name], ["compare", "@2", "@"], ["compare", "@2", "@", "--markdown"],
                 ["show"], ["report", "--format", "md", "-o", "-"],
                 ["prune", "--keep", "0", "--dry-run"], ["prune", "--keep", "0"]):
        said = rt.run(*args)
        assert said.rc == 0 and "\x1b" not in said.stdout + said.stderr, args
        assert "b\nc" not in said.stdout, args
        assert not args[-1] == "--markdown" or "<b>" not in said.stdout.replace("\\<", "")


def test_no_runs_yet_is_told(rt):
    result = rt.run("history")
    assert result.rc == 4 and "no runs yet" in result.stderr


def test_a_damaged_database_is_moved_aside_and_made_anew(rt):
    rt.track("true", flags=["-n", "kept"])
    runs(rt)
    for path in rt.state.glob("history.sqlite*"):
        path.unlink()
    (rt.state / "history.sqlite").write_bytes(b"this is no database " * 500)
    result = rt.run("history", "--json")
    assert result.rc == 0 and [run["job"] for run in result.json()["runs"]] == ["kept"]
    assert "renamed, and rebuilt" in result.stderr
    aside, = rt.state.glob("history.sqlite.damaged-*")
    assert aside.read_bytes().startswith(b"this is no database")


def test_a_newer_schema_is_refused_and_left_alone(rt):
    rt.track("true")
    runs(rt)
    database = sqlite3.connect(rt.state / "history.sqlite")
    database.execute("PRAGMA user_version = 999")
    database.commit()
    result = rt.run("history")
    assert result.rc == 1 and "made by a newer version" in result.stderr
    assert database.execute("PRAGMA user_version").fetchone() == (999,)
    assert database.execute("SELECT count(*) FROM run").fetchone() == (1,)
    database.close()


@pytest.mark.parametrize("version", [1, 6])
def test_a_schema_from_before_the_first_release_is_refused_with_one_line(rt, version):
    rt.track("true")
    runs(rt)
    path = rt.state / "history.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute(f"PRAGMA user_version = {version}")
        database.commit()
    before = path.read_bytes()
    result = rt.run("history")
    assert (result.rc, result.stderr) == (1, f"resource-tracker: {path}: made by a version of resource-tracker before "
                                          "1.0.0. Try: move it away; a new one is filled from the recordings\n")
    assert path.read_bytes() == before
    path.rename(path.with_suffix(".old"))
    assert len(runs(rt)) == 1


@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
def test_a_locked_database_does_not_hide_the_recordings(rt, mode):
    rt.track("true", flags=["-n", "pruned"])
    runs(rt)
    assert rt.run("prune", "--keep", "0").rc == 0
    rt.track("true", flags=["-n", "first"])
    runs(rt)
    lock = sqlite3.connect(rt.state / "history.sqlite", isolation_level=None)
    lock.execute(f"PRAGMA journal_mode = {mode}")
    lock.execute("BEGIN EXCLUSIVE")
    rt.track("true", flags=["-n", "second"])  # a run is not held up by it
    result = rt.run("history", "--json")
    forget = rt.run("prune", "--keep", "0", "--job", "first", "--forget")
    lock.execute("ROLLBACK")
    lock.close()
    listed = [run["job"] for run in result.json()["runs"]]
    # Whoever writes ahead lets others read; else what has no recording any more is out of sight.
    assert listed == ["second", "first", *(["pruned"] if mode == "WAL" else [])]
    locked = f" is locked by process {os.getpid()}"
    assert result.rc == 0 and locked in result.stderr
    assert forget.rc == 1 and locked in forget.stderr
    assert [run["job"] for run in runs(rt)] == ["second", "first", "pruned"]


def test_a_run_that_could_not_be_recorded_is_not_offered_again(rt):
    rt.state.mkdir(parents=True)
    flags = ["--report=page.html"]
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", rt.state], check=True)
    try:
        (rt.state / "fill").write_bytes(b"x" * 65536)
        result = rt.track("sleep", "1", flags=flags)
        shown = rt.run("show")
    finally:
        subprocess.run(["umount", rt.state], check=True)
    assert result.rc == 0 and shown.rc == 4
    assert "no recording: No space left on device" in result.stderr
    assert "--report: there is no recording to make it from" in result.stderr
    assert not (rt.home / "page.html").exists()
    assert "more: " not in result.stderr and "\nCPU " in result.stderr
    assert "more: resource-tracker report r-" in rt.track("sleep", "1").stderr
    assert "more: " not in rt.track("sleep", "1", flags=["--no-recording"]).stderr


def test_a_full_disk_takes_nothing_from_what_is_there(rt):
    rt.state.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k,mode=700", "tmpfs", rt.state], check=True)
    try:
        rt.track("true", flags=["-n", "before"])
        runs(rt)
        with contextlib.suppress(OSError), (rt.state / "fill").open("wb", buffering=0) as fill:
            while fill.write(b"x" * 512):
                pass
        lost = rt.track("sh", "-c", "exit 3", flags=["-n", "lost"])
        assert lost.rc == 3 and "no recording: No space left" in lost.stderr
        result = rt.run("history", "--json")
        assert result.rc == 0 and [run["job"] for run in result.json()["runs"]] == ["before"]
        assert "cannot be written" in result.stderr
        assert rt.run("recommend", "before", "--no-servers").rc == 0
        imported = rt.run("import", ROOT / "tests/fixtures/import/gnu-time.txt")
        assert imported.rc == 1 and "gnu-time.txt: No space left" in imported.stderr
        assert len(list((rt.state / "runs").iterdir())) == 1  # no halves are left
        (rt.state / "fill").unlink()
        again = rt.run("import", ROOT / "tests/fixtures/import/gnu-time.txt")
        assert again.rc == 0 and "3 runs added (" in again.stdout
    finally:
        subprocess.run(["umount", rt.state], check=True)


def test_an_import_that_was_killed_is_made_whole_by_the_next(rt):
    file = ROOT / "tests/fixtures/import/combined-0.5.csv"
    assert rt.run("import", "--job", "i", file).rc == 0
    recording, = (rt.state / "runs").iterdir()
    whole = recording.read_bytes()
    recording.write_bytes(whole[:len(whole) * 2 // 3])
    assert "1 run added" in rt.run("import", "--job", "i", file).stdout
    assert recording.read_bytes() == whole
    assert "1 there already" in rt.run("import", "--job", "i", file).stdout


def test_where_nothing_can_be_written_history_is_read_from_the_recordings(rt):
    rt.track("true", flags=["-n", "here"])
    subprocess.run(["mount", "--bind", rt.state, rt.state], check=True)
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", rt.state], check=True)
        result = rt.run("history", "--json")
    finally:
        subprocess.run(["umount", rt.state], check=True)
    assert result.rc == 0 and [run["job"] for run in result.json()["runs"]] == ["here"]
    assert "cannot be written" in result.stderr


def test_many_readers_at_once_agree(rt):
    for _ in range(5):
        rt.track("true", flags=["-n", "many"])
    readers = [subprocess.Popen([rt.path, "history", "--json"], env=rt.env, text=True,
                                stdout=subprocess.PIPE) for _ in range(8)]
    for reader in readers:
        out, _ = reader.communicate(timeout=240)
        assert reader.returncode == 0 and len(json.loads(out)["runs"]) == 5


def test_prune_removes_recordings_and_keeps_figures(rt):
    for n in range(4):
        rt.track("true", flags=["-n", "even" if n % 2 == 0 else "odd"])
    assert rt.run("prune").rc == 2
    dry = rt.run("prune", "--keep", "1", "--dry-run")
    assert dry.stdout.count("would remove") == 3
    assert len(list((rt.state / "runs").iterdir())) == 4
    assert rt.run("prune", "--keep", "1", "--job", "even").stdout.count("removed") == 1
    assert len(list((rt.state / "runs").iterdir())) == 3
    assert len(runs(rt)) == 4
    assert rt.run("prune", "--older-than", "1h", "--keep", "0").stdout == ""
    assert rt.run("prune", "--keep", "0", "--forget").rc == 0
    assert runs(rt) == []


def record_alone(rt, job):
    """A run that ends without reading the history, which would add earlier ones to it."""
    assert rt.run("run", "-q", "-n", job, "--", "true").rc == 0


def recordings(rt):
    return len(list((rt.state / "runs").iterdir()))


FULL_DISK = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at)
{
	char link[32], path[4096] = "";

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (readlink(link, path, sizeof(path) - 1) < 0 || !strstr(path, "history.sqlite-wal"))
		return syscall(SYS_pwrite64, fd, data, size, at);
	errno = ENOSPC;
	return -1;
}
"""


@contextlib.contextmanager
def a_full_disk(rt):
    """Of the write-ahead log, to which SQLite writes in the commit only: everything before it succeeds."""
    preload = rt.home / "full.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-o", preload, "-"], check=True, text=True, input=FULL_DISK)
    rt.env["LD_PRELOAD"] = str(preload)
    yield "cannot be written"
    del rt.env["LD_PRELOAD"]


@contextlib.contextmanager
def a_database_of_another_user(rt):
    if os.geteuid() != 0:
        pytest.skip("needs root, to give the database away")
    os.chown(rt.state / "history.sqlite", 65534, -1)
    yield "belongs to another user"
    os.chown(rt.state / "history.sqlite", 0, -1)


@contextlib.contextmanager
def a_team_that_is_away(rt):
    rt.env["RESOURCE_TRACKER_HISTORY"] = f"postgresql:///none?host={rt.home}"
    yield "only the runs of this machine follow"
    del rt.env["RESOURCE_TRACKER_HISTORY"]


@pytest.mark.native
@pytest.mark.parametrize("kept_all", [a_full_disk, a_database_of_another_user, a_team_that_is_away])
def test_prune_keeps_recordings_whose_figures_are_not_in_the_history(rt, kept_all):
    rt.track("true", flags=["-n", "in"])
    rt.run("history")
    for _ in range(2):
        record_alone(rt, "out")
    with kept_all(rt) as why:
        for args in (["--dry-run"], []):
            done = rt.run("prune", "--keep", "0", "--job", "out", *args)
            assert done.rc == 1 and done.stdout == "" and why in done.stderr
            assert "kept 2 recordings whose figures are not in the history" in done.stderr
            assert recordings(rt) == 3
    done = rt.run("prune", "--keep", "0", "--job", "out")
    assert (done.rc, done.stdout.count("removed"), done.stderr) == (0, 2, "")
    assert [run["job"] for run in runs(rt)] == ["out", "out", "in"]


def test_prune_removes_what_a_locked_database_holds(rt):
    rt.track("true", flags=["-n", "in"])
    rt.run("history")
    record_alone(rt, "out")
    lock = sqlite3.connect(rt.state / "history.sqlite", isolation_level=None)
    lock.execute("BEGIN EXCLUSIVE")
    done = rt.run("prune", "--keep", "0")
    lock.close()
    assert done.rc == 1 and done.stdout.count("removed") == 1 and "kept 1 recordings" in done.stderr
    assert recordings(rt) == 1
    assert [run["job"] for run in runs(rt)] == ["out", "in"]


# --- recommend --------------------------------------------------------------------------------


def advice(rt, *args):
    return rt.run("recommend", "--json", *args).json()["advice"]


def test_one_run_is_never_advised_below_its_peak(rt):
    peak = hold(rt, 220).summary["totals"]["peak_memory_mib"]["value"]
    for risk in ("cheap", "default", "safe"):
        assert advice(rt, "--risk", risk)["memory"]["request_mib"] >= peak
    original = advice(rt, "--method", "original")["memory"]["request_mib"]
    assert original == 512 if peak * 1.2 > 256 else 256


def test_all_runs_of_the_job_count_and_other_jobs_do_not(rt):
    for mib in (60, 120, 80):
        hold(rt, mib)
    hold(rt, 400, job="other")
    found = advice(rt, "hold")
    assert found["runs"] == 3
    assert 120 < found["memory"]["request_mib"] < 400
    assert found["memory"]["highest_mib"] == pytest.approx(max(
        run["peak_memory_mib"] for run in runs(rt, "hold")))
    assert advice(rt, "other")["memory"]["request_mib"] >= 400


def test_a_run_that_was_ended_for_memory_raises_the_request(rt):
    hold(rt, 60)
    before = advice(rt, "hold")["memory"]["request_mib"]
    held = "import time\nb = bytearray(b'x') * (700 << 20)\ntime.sleep(1000)\n"
    ended = rt.track(sys.executable, "-c", held, flags=["-n", "hold", "-i", "0.1",
                                                        "--limit", "mem=500MiB"])
    assert ended.rc == 124
    after = advice(rt, "hold")["memory"]["request_mib"]
    assert before < 500 < after < 4096


@pytest.mark.parametrize(("kind", "pattern"), [
    ("slurm", r"#SBATCH --cpus-per-task=1\n#SBATCH --mem=\d+M\n#SBATCH --time=0:0\d:00\n"),
    ("docker", r"--cpus=1 --memory=\d+m\n"),
    ("metaflow", r"@resources\(cpu=1, memory=\d+\)\n"),
    ("nextflow", r"process {\n    cpus = 1\n    memory = '\d+ MB'\n    time = '\d+0 s'\n}\n"),
    ("snakemake", r"threads: 1\nresources:\n    mem_mib=\d+,\n    runtime=\d,\n"),
    ("htcondor", r"request_cpus = 1\nrequest_memory = \d+M\n"),
    ("k8s", r'resources:\n  requests:\n    cpu: "1"\n    memory: \d+Mi\n  limits:\n    memory: \d+Mi\n'),
])
def test_lines_to_paste(rt, kind, pattern):
    hold(rt, 40)
    out = rt.run("recommend", "--for", kind).stdout
    # A comment says so if other programs have filled tmpfs during the run.
    assert re.fullmatch(pattern, re.sub("^(#|//) .*\n", "", out, flags=re.MULTILINE)), out


def test_what_python_and_json_read_is_read_by_them(rt):
    hold(rt, 40)
    wanted = json.loads(rt.run("recommend", "--for", "batch").stdout)["resourceRequirements"]
    assert {item["type"] for item in wanted} == {"VCPU", "MEMORY"}
    compile("def resources(**k): return lambda f: f\n" +
            rt.run("recommend", "--for", "metaflow").stdout + "def step(): pass", "step", "exec")
    assert rt.run("recommend", "--for", "json").json()["schema"] == "resource-tracker.advice/1"


def test_the_text_names_basis_confidence_and_servers(rt):
    hold(rt, 40)
    text = rt.run("recommend").stdout
    assert text.startswith("hold: not enough data")
    assert "confidence first estimate" in text and "USD/run" in text
    assert "USD/run" not in rt.run("recommend", "--no-servers").stdout
    only = rt.run("recommend", "--vendor", "hetzner").stdout
    assert "hetzner" in only and "aws" not in only.split("USD/run")[1].split("cheapest")[0]


def test_the_answer_says_where_the_time_went(rt):
    assert rt.track("sleep", "0.5", flags=["-n", "idle"]).rc == 0
    answer = rt.run("recommend", "--json", "idle").json()
    assert answer["wall"]["share"]["other"] > 0.8 and answer["wall"]["bound"] == "waiting"
    assert answer["phases"] == [] and answer["split"] is None
    text = rt.run("recommend", "--no-servers", "idle").stdout
    assert "\nTime     " in text and "waiting for something else" in text


def test_wrong_questions_are_told(rt):
    hold(rt, 40)
    for args, words in ((["--method", "x"], "--method x"), (["--risk", "x"], "--risk x"),
                        (["--for", "x"], "--for x"), (["--input-size", "x"], "--input-size x"),
                        (["--vendor", "awz"], "aws"), (["a", "b"], "unexpected b")):
        result = rt.run("recommend", *args)
        assert result.rc == 2 and words in result.stderr, args
    assert rt.run("recommend", "nowhere").rc == 4


# --- failures in the history ---

def sizes_in(text):
    """All amounts of memory in a text, in MiB."""
    unit = {"MiB": 1, "GiB": 1024}
    return [float(n) * unit[u] for n, u in re.findall(r"([\d.]+) (MiB|GiB)", text)]


def grow(rt, mib, *flags, enter=()):
    """A job that grows to `mib`, with a limit in `flags` that ends it; `enter`: what puts it into a control group."""
    code = ("import time\nb = []\n"
            f"for i in range({mib} // 10):\n    b.append(bytearray(b'x') * (10 << 20))\n"
            f"    time.sleep(0.02)\ntime.sleep({1000 if flags else 0.3})\n")
    command = [rt.path, "run", "--no-discovery", "-q", "-n", "grow", "-i", "0.1", *flags, "--",
               sys.executable, "-c", code]
    return subprocess.run([*enter, *command], env=rt.env, cwd=rt.home, capture_output=True,
                          text=True, check=False).returncode


def check_no_figure_that_no_run_had(rt, killed_mib):
    """After a kill and a retry that succeeded above it."""
    peaks = [run["peak_memory_mib"] for run in runs(rt, "grow")]
    assert peaks[0] > killed_mib  # the newest is first
    answer = rt.run("recommend", "--no-servers", "--json", "grow").json()["advice"]["memory"]
    text = rt.run("recommend", "--no-servers", "grow").stdout
    assert answer["basis"] == "largest peak so far" and answer["runs_used"] == 2
    assert answer["highest_mib"] == pytest.approx(peaks[0])
    assert peaks[0] <= answer["request_mib"] <= 2 * peaks[0]
    told = re.search(r"largest peak so far \(([^)]*)\)", text)
    assert sizes_in(told[1])[0] == pytest.approx(peaks[0], rel=0.01)
    assert "killed" not in text and "cost" not in " ".join(answer["reasons"])
    forms = {round(answer["request_mib"]), round(answer["next_rung_mib"])}
    for size in sizes_in(" ".join(answer["reasons"])):
        assert any(abs(size - peak) <= 0.01 * peak for peak in peaks) or round(size) in forms | {256}


def test_a_kill_at_a_limit_of_ours_leaves_no_trace_after_its_retry(rt):
    assert grow(rt, 150) == 0
    assert grow(rt, 400, "--limit", "mem=300MiB") == 124
    retry = advice(rt, "grow")["memory"]
    ended_at = runs(rt, "grow")[0]["peak_memory_mib"]
    assert retry["request_mib"] > ended_at and "ran out of memory at" in retry["reasons"][0]
    assert grow(rt, 400) == 0
    check_no_figure_that_no_run_had(rt, ended_at)


@pytest.mark.native
@pytest.mark.skipif(os.geteuid() != 0 or memory_group() is None,
                    reason="needs root and a memory controller")
def test_a_kill_in_a_control_group_leaves_no_trace_after_its_retry(rt):
    group = memory_group() + "-retry"
    os.makedirs(group, exist_ok=True)
    limit = "memory.max" if os.path.exists(f"{group}/memory.max") else "memory.limit_in_bytes"
    enter = ["sh", "-c", f'echo $$ > {group}/cgroup.procs; exec "$0" "$@"']

    def attempt(mib, limit_mib):
        with open(f"{group}/{limit}", "w", encoding="ascii") as file:
            file.write(str(limit_mib << 20))
        return grow(rt, mib, enter=enter)

    try:
        assert attempt(150, 300) == 0
        given = 300
        while attempt(400, given) == -9:  # retried with what is advised, until it is enough
            retry = advice(rt, "grow")["memory"]
            assert given < retry["request_mib"] < 1500
            assert "ran out of memory at" in retry["reasons"][0]
            given = int(retry["request_mib"])
    finally:
        for _ in range(50):
            with contextlib.suppress(OSError):
                os.rmdir(group)
                break
            time.sleep(0.1)
    verdicts = [run["verdict"] for run in runs(rt, "grow")]
    assert verdicts[0] == verdicts[-1] == "exited"
    assert set(verdicts[1:-1]) == {"out_of_memory"} and len(verdicts) <= 5
    check_no_figure_that_no_run_had(rt, 300)


def test_peaks_that_vary_much_ask_for_the_input_size(rt):
    for mib in (10, 80, 250):
        hold(rt, mib)
    reasons = " ".join(advice(rt, "hold")["memory"]["reasons"])
    assert "size of the input is not known" in reasons and "run --input-size SIZE" in reasons
    for mib in (10, 80, 250):
        hold(rt, mib, job="sized", flags=["--input-size", f"{mib}MiB"])
    reasons = " ".join(advice(rt, "sized")["memory"]["reasons"])
    assert "recommend --input-size SIZE" in reasons and "with run --input-size" not in reasons
    reasons = " ".join(advice(rt, "--input-size", "80MiB", "sized")["memory"]["reasons"])
    assert "size of the input is not known" not in reasons


# --- runs alike ---

def test_runs_with_the_tag_of_the_next_one_count(rt):
    for mib, kind in ((40, "a"), (300, "b"), (42, "a"), (310, "b"), (41, "a")):
        hold(rt, mib, flags=["--tag", f"kind={kind}", "--tag", f"made={mib}"])
    assert runs(rt)[0]["tags"] == {"kind": "a", "made": "41"}
    small = advice(rt, "hold")["memory"]  # the newest run is of kind a, as is `made` of no other
    assert small["runs_alike"] == "tags" and small["runs_used"] == 3
    assert small["highest_mib"] < 150
    assert "only runs with kind=a count: 3 of 5" in small["reasons"]
    large = advice(rt, "--tag", "kind=b", "hold")["memory"]
    assert large["runs_used"] == 2 and large["request_mib"] >= 310
    new = advice(rt, "--tag", "kind=c", "hold")["memory"]
    assert new["runs_alike"] is None and new["runs_used"] == 5 and new["request_mib"] >= 310
    assert "no run with kind=c has succeeded yet: all runs count" in new["reasons"]
    bare = advice(rt, "--tag", "kind", "hold")["memory"]  # a tag without a value, as run takes it
    assert bare["runs_alike"] is None and "kind=" in " ".join(bare["reasons"])
    for wrong in ("", "=b"):
        told = rt.run("recommend", "--tag", wrong, "hold")
        assert told.rc == 2 and "KEY=VALUE" in told.stderr and told.stderr.count("\n") == 1


def test_runs_with_the_same_arguments_count_once_arguments_recur(rt):
    for mib in (40, 300, 60):
        hold(rt, mib)
    assert advice(rt, "hold")["memory"]["runs_alike"] is None  # new in every run
    for mib in (40, 300, 60):
        hold(rt, mib)
    found = advice(rt, "hold")
    assert found["runs"] == 6
    assert found["memory"]["runs_alike"] == "arguments" and found["memory"]["runs_used"] == 2
    assert found["memory"]["highest_mib"] < 150
    large = [run["id"] for run in runs(rt) if run["peak_memory_mib"] > 250][0]
    assert advice(rt, large)["memory"]["highest_mib"] > 250  # a run that was named is asked about


def test_all_ways_to_the_advice_say_the_same(rt):
    for mib in (60, 300, 60, 300, 60):
        hold(rt, mib, flags=["--tag", f"size={mib}"])
    wanted = advice(rt, "@")["memory"]
    assert wanted["runs_alike"] == "tags"
    gib, mib = rt.run("recommend", "--no-servers", "@").stdout, f"{wanted['request_mib']:.0f}"
    assert f"Memory   {mib} MiB" in gib
    assert f"--memory={mib}m" in rt.run("recommend", "--for", "docker", "@").stdout
    assert re.search(rf"equest [\d.]+ CPU, {mib} MiB\b", Page(rt, "@").lead)


# --- compare ----------------------------------------------------------------------------------


def test_two_runs_are_compared_figure_by_figure(rt):
    hold(rt, 40)
    hold(rt, 160)
    found = rt.run("compare", "@2", "@", "--json").json()
    memory = found["figures"]["peak_mem"]
    assert memory["now"] > memory["before"] + 100
    assert memory["change"] == pytest.approx(memory["now"] / memory["before"] - 1)
    assert memory["words"] is None and memory["failed"] is False


def test_a_rule_that_holds_exits_with_3(rt):
    hold(rt, 40)
    hold(rt, 160)
    assert rt.run("compare", "@2", "@", "--fail-on", "peak_mem>+50%").rc == 3
    assert rt.run("compare", "@2", "@", "--fail-on", "peak_mem>+5000%,duration<-99%").rc == 0
    assert rt.run("compare", "@", "@2", "--fail-on", "peak_mem<-50%").rc == 3
    for rule in ("x>1%", "duration", "duration>", "duration>5", "duration>nan%", "peak_mem>>1%"):
        wrong = rt.run("compare", "@2", "@", "--fail-on", rule)
        assert wrong.rc == 2 and "--fail-on" in wrong.stderr, rule


def test_the_first_run_of_a_job_breaks_no_rule(rt):
    """A job in CI passes before there is an earlier run."""
    hold(rt, 40)
    first = rt.run("compare", "--fail-on", "peak_mem>+1%")
    assert first.rc == 0 and "nothing to compare it with" in first.stderr and first.stdout == ""
    in_json = rt.run("compare", "--fail-on", "peak_mem>+1%", "--json")
    answer = json.loads(in_json.stdout)
    assert in_json.rc == 0 and answer["run"] and answer["with"] is None
    assert answer["no_comparison_reason"] == "the first run of its job"
    assert answer["figures"]["peak_mem"]["now"] > 0
    assert not any(figure["failed"] for figure in answer["figures"].values())
    assert rt.run("compare", "--fail-on", "peak_mem").rc == 2
    assert rt.run("compare", "none", "--fail-on", "peak_mem>+1%").rc == 4


def test_a_run_stands_beside_its_jobs_own_noise(rt):
    hold(rt, 40)
    first = rt.run("compare")
    assert first.rc == 4 and "nothing to compare it with" in first.stderr
    for _ in range(5):
        hold(rt, 40)
    usual = rt.run("compare", "hold", "--json").json()["figures"]["peak_mem"]
    assert usual["words"] == "as usual"
    hold(rt, 160)
    odd = rt.run("compare", "hold", "--json").json()
    assert odd["figures"]["peak_mem"]["words"] == "higher than usual"
    assert "6 earlier runs" in odd["with"]
    table = rt.run("compare", "--markdown").stdout
    assert "| peak memory |" in table and "higher than usual" in table


@pytest.mark.native
def test_a_summary_says_what_changed_since_the_earlier_runs(patient):
    rt, job = patient, "steady"
    for _ in range(5):
        assert rt.track("sleep", "0.4", flags=["-n", job]).rc == 0
    slow = rt.track("sleep", "3.2", flags=["-n", job])
    assert "\nChange   " in slow.stderr and "times the time vs median of 5 runs (usual" in slow.stderr
    change = slow.summary["change"]
    assert change["runs"] == 5
    assert change["figures"]["duration"]["words"] == "higher than usual"
    assert rt.run("show", "--json", "@").json()["change"] == change
    # Below 0.1 s there is no look into the history at the end; `show` has the change.
    short = rt.track("true", flags=["-n", job], env={"TRK_CLOCK": "0:0:0:0.01"})  # of that slow clock
    assert short.summary["change"] is None
    assert rt.run("show", "--json", "@").json()["change"]["runs"] == 6


@pytest.mark.native
def test_the_summary_of_a_run_of_a_fraction_of_a_second_has_the_change(patient):
    for _ in range(2):
        brief = patient.track("sleep", "0.3", flags=["-n", "brief"])
    assert brief.summary["change"]["runs"] == 1
    assert re.search(r"\nChange   [+-]?\d.* time.* vs the run before", brief.stderr)


def load_and_train(rt, load_s, job="phased"):
    mark = f"{rt.path} mark"
    return rt.track("sh", "-c", f"{mark} load; sleep {load_s}; {mark} train; sleep 0.6",
                    flags=["-n", job, "-i", "0.1"])


def test_the_phase_in_which_the_change_happened_is_named(rt):
    for _ in range(5):
        assert load_and_train(rt, 0.3).rc == 0
    assert load_and_train(rt, 3).rc == 0
    for args, count in ((["@"], 5), (["@2", "@"], 1)):
        found = rt.run("compare", "--json", *args).json()["phase"]
        assert (found["name"], found["runs"]) == ("load", count)
        assert found["number"] in (1, 2)  # a busy machine may take a while to come to the mark
        assert 0 < found["before_s"] < found["now_s"] - 0.6
    assert "\nrun time changed in load: " in rt.run("compare").stdout
    table = rt.run("compare").stdout.splitlines()
    assert re.split(r"  +", table[1].strip()) == ["before", "now", "change", "usual"], table
    assert all(len(line) <= 80 for line in table[1:]), table
    assert re.search(r"^run time  +\d.*s  +\d.*s  +\+\S+ %  +\+-\S+ %", table[2]), table
    assert "\nrun time changed in **load**: " in rt.run("compare", "--markdown").stdout
    assert re.search(r"Change .* vs median of 5 runs \(usual .*\): load \+\d\.\d s",
                     rt.run("show").stdout)
    assert rt.run("show", "--json").json()["change"]["phase"]["name"] == "load"
    assert "Duration changed in load: " in Page(rt, "@").sections["What changed since earlier runs"].text


@pytest.mark.native
def test_a_summary_names_the_phase_too(patient):
    assert load_and_train(patient, 0.3).rc == 0
    slow = load_and_train(patient, 3)
    assert slow.summary["change"]["phase"]["name"] == "load"
    assert re.search(r"\nChange   \d+\.\d times the time vs the run before: load \+\d\.\d s",
                     slow.stderr)


def test_a_locked_history_does_not_hold_up_the_end_of_a_run(rt):
    assert rt.track("sleep", "0.3", flags=["-n", "held"]).rc == 0
    assert rt.run("history").rc == 0
    database = sqlite3.connect(rt.state / "history.sqlite", isolation_level=None)
    database.execute("PRAGMA journal_mode = DELETE")
    database.execute("BEGIN EXCLUSIVE")
    result = rt.track("sleep", "10.1", flags=["-n", "held"])
    database.close()
    assert result.rc == 0 and result.summary["change"] is None


def test_a_run_can_stay_out_of_the_history(rt):
    assert rt.track("sleep", "0.3", flags=["-n", "shy"]).rc == 0
    hidden = rt.track("sleep", "0.3", flags=["-n", "shy", "--no-history"]).summary["run"]["id"]
    listed = rt.run("history", "shy").stdout
    assert listed.count("shy") == 1 and hidden not in listed
    assert rt.run("show", hidden).rc == 0  # its recording is there
    assert rt.run("prune", "--keep", "0").rc == 0
    assert rt.run("show", hidden).rc == 4


def test_the_size_of_the_input_is_that_of_the_files_on_the_command_line(rt):
    data = rt.home / "data.bin"
    data.write_bytes(b"x" * 5000)
    code = "import sys; x = bytearray(b'x') * (int(sys.argv[2]) << 20)"
    run = rt.track("/usr/bin/python3", "-c", code, data, "1", f"--copy={data}").summary["run"]
    assert run["input_bytes"] == 10000
    stated = rt.track("true", flags=["--input-size", "3GiB"]).summary["run"]
    assert stated["input_bytes"] == 3 << 30
    assert rt.track("true").summary["run"]["input_bytes"] is None
    assert rt.track("true", flags=["--input-size", "0"]).rc == 125


def columns(path):
    with contextlib.closing(sqlite3.connect(path)) as database:
        version, = database.execute("PRAGMA user_version").fetchone()
        return version, {(name, kind) for _, name, kind, *_ in
                         database.execute("PRAGMA table_info(run)")}


@pytest.mark.parametrize("version", [7])
def test_a_history_of_each_released_version_is_read(rt, version):
    assert rt.track("true", flags=["-n", "new"]).rc == 0
    assert len(runs(rt)) == 1
    path = rt.state / "history.sqlite"
    newest = columns(path)
    path.unlink()
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.executescript((ROOT / f"tests/fixtures/history/sqlite-{version}.sql").read_text())
    listed = runs(rt, "train")
    assert [(run["id"], run["code"], run["signal"], run["verdict"]) for run in listed] == [
        ("r-aa000002", None, 9, "killed_by_kernel"), ("r-aa000001", 0, None, "exited")]
    for run in listed:
        assert run["peak_memory_mib"] == 2048.5 and run["samples"] == 62
        assert run["start_time"] == 1767225600.5 and run["request_cpu"] is None
        assert (run["input_bytes"], run["cost_usd"], run["scope"]) == (10485760, 0.25, "/data/train")
        assert (run["tags"], run["peak_swap_mib"]) == ({"epoch": "3", "lr": "0.1"}, 64.5)
        assert run["capacity"]["cpu"] == {"value": 4, "kind": "limit", "source": "cgroup v2 cpu.max"}
    assert len(runs(rt)) == 3  # the recording that was there is added
    assert columns(path) == newest and newest[0] == 8


# --- which job a run is of ------------------------------------------------------------------------


def project(rt, name, mib, runs=2, **env):
    """`python3 main.py` in a folder of that name, which holds so much."""
    folder = rt.home / name
    folder.mkdir(exist_ok=True)
    (folder / "main.py").write_text(HOLD.format(mib=mib))
    for _ in range(runs):
        run = rt.track("/usr/bin/python3", "main.py", cwd=folder, env=env, flags=["-i", "0.1"])
        assert run.rc == 0
    return folder, run.summary["run"]


def test_two_projects_with_one_script_name_are_two_jobs(rt):
    a, _ = project(rt, "a", 300)
    b, last = project(rt, "b", 40)
    assert (last["job"], last["scope"]) == ("python3 main.py", str(b))
    # The newest one's history is its own, and so is the other's.
    assert advice(rt)["runs"] == 2 and advice(rt)["memory"]["highest_mib"] < 150
    for reference, cwd in (("python3 main.py", a), (f"python3 main.py in {a}", None),
                           ("python3 main.py in .", a)):
        other = rt.run("recommend", "--json", reference, cwd=cwd)
        assert other.json()["scope"] == str(a), reference
        assert other.json()["advice"]["runs"] == 2
        assert other.json()["advice"]["memory"]["highest_mib"] > 300
        assert ("2 jobs are called python3 main.py" in other.stderr) == (" in " not in reference)
    plain = rt.run("recommend", "--json", "python3 main.py")
    assert plain.json()["scope"] == str(b)  # it ran last
    assert f"'python3 main.py in {a}'" in plain.stderr
    assert rt.run("compare", f"python3 main.py in {a}", "--json").json()["with"].startswith(
        "the median of 1 earlier run")


def test_history_lists_all_of_a_name_and_tells_them_apart(rt):
    a, _ = project(rt, "a", 20)
    b, _ = project(rt, "b", 20, runs=1)
    both = rt.run("history", "python3 main.py")
    assert both.stdout.count(f"in {a}\n") == 2 and both.stdout.count(f"in {b}\n") == 1
    assert both.stderr.count("\n") == 1 and "2 jobs are called python3 main.py" in both.stderr
    one = rt.run("history", f"python3 main.py in {a}")
    assert one.stdout.count("exit 0") == 2 and " in " not in one.stdout and not one.stderr
    assert [run["scope"] for run in runs(rt)] == [str(b), str(a), str(a)]
    assert rt.run("history", "python3 main.py in /nowhere").rc == 4
    refused = rt.run("prune", "--keep", "0", "--job", "python3 main.py")
    assert refused.rc == 2 and "Try: --job" in refused.stderr
    pruned = rt.run("prune", "--keep", "0", "--job", f"python3 main.py in {a}")
    assert pruned.stdout.count("removed") == 2
    shown = rt.run("show", "--json", f"python3 main.py in {b}@-1")
    assert shown.json()["run"]["scope"] == str(b)
    assert rt.run("show", f"python3 main.py in {a}@-1").rc == 4


def test_a_name_that_was_given_stands_alone(rt):
    for folder in ("a", "b"):
        (rt.home / folder).mkdir()
        assert rt.track("true", cwd=rt.home / folder, flags=["-n", "nightly in may"]).rc == 0
    assert [run["scope"] for run in runs(rt, "nightly in may")] == [None, None]
    assert rt.run("history", "nightly in may").stderr == ""
    assert rt.run("show", "--json", "nightly in may@-2").rc == 0


def test_the_batch_systems_name_goes_before_program_and_directory(rt):
    slurm = {"SLURM_JOB_ID": "17", "SLURM_JOB_NAME": "nightly"}
    _, in_a = project(rt, "a", 20, runs=1, **slurm)
    _, in_b = project(rt, "b", 20, runs=1, SLURM_ARRAY_JOB_ID="16", **slurm)
    assert (in_a["job"], in_a["scope"]) == (in_b["job"], in_b["scope"]) \
        == ("nightly", "python3 main.py")
    other = rt.track("true", env=slurm).summary["run"]  # another program of the same script
    assert (other["job"], other["scope"]) == ("nightly", "true")
    assert advice(rt, "nightly in python3 main.py")["runs"] == 2
    stated = rt.track("true", env=slurm, flags=["-n", "mine"]).summary["run"]
    assert (stated["job"], stated["scope"]) == ("mine", None)


def test_an_attached_process_has_the_job_that_it_would_have_run_as(rt):
    folder, ran = project(rt, "a", 20, runs=1)
    with subprocess.Popen(["/usr/bin/python3", "main.py"], cwd=folder) as process:
        rt.run("attach", "--no-discovery", str(process.pid))
    attached = runs(rt)[0]
    assert attached["kind"] == "attach"
    assert (attached["job"], attached["scope"]) == (ran["job"], ran["scope"])


def test_runs_of_an_older_version_belong_to_every_job_of_their_name(rt):
    a, _ = project(rt, "a", 20, runs=1)
    b, _ = project(rt, "b", 20, runs=1)
    old = rt.track("/usr/bin/python3", "main.py", cwd=a).summary["run"]["id"]
    assert len(runs(rt)) == 3
    database = sqlite3.connect(rt.state / "history.sqlite", isolation_level=None)
    database.execute("UPDATE run SET scope = NULL, tags = NULL")  # of recordings of an older version
    database.close()
    assert len(runs(rt, "python3 main.py")) == 3
    assert rt.run("history", "python3 main.py").stderr == ""  # nobody knows of two
    assert rt.run("show", "--json", "python3 main.py@-1").json()["run"]["id"] == old
    project(rt, "a", 20, runs=1)
    project(rt, "b", 20, runs=1)
    for folder in (a, b):
        assert advice(rt, f"python3 main.py in {folder}")["runs"] == 4


@pytest.fixture
def no_libraries(tmp_path):
    """The program as the static one is: it loads no library."""
    preload = tmp_path / "no-dlopen.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-o", preload, "-"], check=True, text=True,
                   input="void *dlopen(const char *p, int f) { (void) p; (void) f; return 0; }\n")
    return {"LD_PRELOAD": str(preload)}


@pytest.mark.native
def test_without_sqlite_the_recordings_are_the_history(rt, no_libraries):
    for job in "one", "two", "one", "one":
        assert rt.run("run", "-q", "-n", job, "--", "sleep", "0.3", env=no_libraries).rc == 0
    listed = rt.run("history", "--json", "one", env=no_libraries)
    assert listed.stderr.count("\n") == 1 and "libsqlite3.so.0 cannot be loaded" in listed.stderr
    assert listed.json()["runs"] == rt.run("history", "--json", "one").json()["runs"]
    assert [run["job"] for run in listed.json()["runs"]] == ["one"] * 3
    assert rt.run("recommend", "--json", "one", env=no_libraries).json()["advice"]["runs"] == 3
    assert rt.run("compare", "one", env=no_libraries).stdout.startswith("r-")
    assert "vs median of 3 runs" in rt.run("run", "-n", "one", "--", "sleep", "0.3", env=no_libraries).stderr
    kept = rt.run("prune", "--keep", "1", env=no_libraries)
    assert kept.rc == 1 and "Try: later, or --forget" in kept.stderr and len(kept.stderr.splitlines()) == 2
    assert rt.run("prune", "--keep", "1", "--forget", env=no_libraries).rc == 0
    assert len(rt.run("history", "--json", env=no_libraries).json()["runs"]) == 1


@pytest.mark.native
@pytest.mark.parametrize("user", ["", "ann@", "ann:secret@", "ann:se?cret@"])
def test_a_run_says_that_it_cannot_be_sent_to_the_team(rt, no_libraries, user):
    env = {**no_libraries, "RESOURCE_TRACKER_HISTORY": f"postgresql://{user}db.example.org/runs?password=secret"}
    at = "an unknown host" if "?" in user else "db.example.org/runs"
    why = f"history at {at}: PostgreSQL needs libpq.so.5. Try: apt install libpq5\n"
    assert rt.run("run", "-q", "--", "sleep", "0.2", env=env).stderr == ""
    said = rt.run("run", "--", "sleep", "0.2", env=env).stderr
    assert said.startswith("resource-tracker: the run is stored only on this machine: " + why)
    assert said.count("needs libpq") == 1
    assert rt.run("history", env=env).stderr.startswith("resource-tracker: only the runs of this machine follow: " + why)
