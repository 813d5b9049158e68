"""Processes that are stuck in the kernel: nothing that the tracker needs for signals, time limits, rows
and the end of a run reads what such a process can block.

A job is stuck for good, so each of these tests would hang without the bounded reading."""

import json
import os
import signal
import subprocess

import pytest
from conftest import ROOT

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
    pytest.mark.skipif(not os.path.exists("/dev/fuse"), reason="needs /dev/fuse"),
]

# Runs its arguments with $DIR as a file system whose server never answers.
DEAD = """
"$STUCK" serve "$DIR" >"$DIR.ready" &
server=$!
until grep -q ready "$DIR.ready"; do kill -0 $server || exit 99; sleep 0.02; done
"$@"
rc=$?
kill -9 $server
exit $rc
"""


@pytest.fixture(scope="module")
def stuck(tmp_path_factory):
    path = tmp_path_factory.mktemp("stuck") / "stuck"
    subprocess.run(["cc", "-O1", "-rdynamic", "-pthread", "-o", path, ROOT / "tests/fault/stuck.c"], check=True)
    return path


@pytest.fixture
def dead(rt, stuck, tmp_path):
    """A function that runs a command with a dead file system on $DIR."""
    folder = tmp_path / "dead"
    folder.mkdir()

    def run(*command, **options):
        return rt.run("-m", "--propagation", "private", "bash", "-c", DEAD, "bash", *command,
                      program="/usr/bin/unshare", env={"STUCK": stuck, "DIR": folder}, **options)

    run.folder = folder
    return run


def test_a_time_limit_ends_a_job_whose_memory_map_is_locked(rt, dead, stuck):
    """The rows go on, and the process is named in the JSON, in the summary and while it runs."""
    done = dead(rt.path, "run", "--no-discovery", "--interval", "200ms", "--timeout", "4s", "--grace", "1s",
                "--summary-json", rt.summary_file, "--", stuck, "hold", dead.folder)
    assert done.rc == 124, done.stderr
    run, pid = done.summary["run"], done.summary["run"]["pid"]
    assert [p["pid"] for p in run["stuck_processes"]] == [pid]
    assert run["stuck_processes"][0]["name"] == "stuck"
    assert done.summary["tracker"]["samples"] + done.summary["tracker"]["missed"] >= 15
    assert done.summary["tracker"]["samples"] >= 5
    said = f"process {pid} (stuck) is stuck in the kernel since 0:00:0"
    assert f"resource-tracker: {said}" in done.stderr
    assert f"! process {pid} (stuck) was stuck in the kernel at 0:00:0" in done.stderr
    shown = rt.run("show", "@1", "--json").json()
    assert shown["run"]["stuck_processes"] == run["stuck_processes"]


def test_a_signal_reaches_a_job_whose_memory_map_is_locked(rt, dead, stuck):
    """The tracker forwards SIGTERM and ends with the job."""
    script = '"$@" 2>"$DIR.said" & t=$!; until grep -q "stuck in the kernel" "$DIR.said"; do sleep 0.05; done; ' \
             'kill -TERM $t; wait $t'
    done = dead("bash", "-c", script, "bash", rt.path, "run", "--no-discovery", "--interval", "200ms",
                "--summary-json", rt.summary_file, "--", stuck, "hold", dead.folder)
    assert done.rc == 128 + signal.SIGTERM, done.stderr
    assert done.summary["run"]["exit"]["signal"] == signal.SIGTERM


@pytest.mark.parametrize("how", ["hold", "exec"])
def test_attaching_to_a_stuck_process_ends(rt, dead, stuck, how):
    script = f'"$STUCK" {how} "$DIR" >"$DIR.hold" & j=$!; until grep -q ready "$DIR.hold"; do sleep 0.05; ' \
             'done; sleep 0.2; "$@" --pid $j; rc=$?; kill -9 $j; exit $rc'
    done = dead("bash", "-c", script, "bash", rt.path, "attach", "--no-discovery", "--duration", "2s",
                "--interval", "500ms", "--summary-json", rt.summary_file)
    assert done.rc == 0, done.stderr
    assert done.summary["run"]["stuck_processes"][0]["name"] == "stuck"
    rows = rt.run("export", "@1", "--format", "json").stdout.splitlines()
    memory = {json.loads(row)["process_memory_mib"] for row in rows}
    assert (memory == {None}) == (how == "exec")  # never read: unknown, not 0


@pytest.mark.parametrize("children", [(), ("3",)], ids=["job", "children"])
def test_a_time_limit_ends_a_job_that_is_stuck_in_exec(rt, dead, stuck, children):
    """Its files in /proc cannot be read. Rows go on, with the figures of the other processes."""
    done = dead(rt.path, "run", "--no-discovery", "--interval", "200ms", "--timeout", "4s", "--grace", "1s",
                "--summary-json", rt.summary_file, "--", stuck, "exec", dead.folder, *children)
    assert done.rc == 124, done.stderr
    named = done.summary["run"]["stuck_processes"]
    assert [p["name"] for p in named] == ["stuck"] * (len(named) or 1)
    assert len(named) == int(children[0]) if children else named[0]["pid"] == done.summary["run"]["pid"]
    assert f"process {named[0]['pid']} (stuck) is stuck in the kernel since 0:00:0" in done.stderr
    assert done.summary["tracker"]["samples"] >= 5
    if children:  # the parent computes all the time; nobody knows the size of the others
        assert done.summary["totals"]["cpu_s"]["value"] > 0.1
        assert done.summary["totals"]["peak_memory_at_most_mib"]["value"] is None


def test_a_signal_reaches_a_job_that_is_stuck_in_exec(rt, dead, stuck):
    script = '"$@" 2>"$DIR.said" & t=$!; until grep -q "stuck in the kernel" "$DIR.said"; do sleep 0.05; done; ' \
             'kill -TERM $t; wait $t'
    done = dead("bash", "-c", script, "bash", rt.path, "run", "--no-discovery", "--interval", "200ms",
                "--summary-json", rt.summary_file, "--", stuck, "exec", dead.folder)
    assert done.rc == 128 + signal.SIGTERM, done.stderr


def test_another_users_process_that_is_stuck_in_exec(rt, dead, stuck):
    """The search for new processes reads about it, too."""
    script = '"$@" & t=$!; until [ -e "$DIR.begun" ]; do sleep 0.02; done; ' \
             '"$STUCK" exec "$DIR" >"$DIR.said" 2>&1 & s=$!; until grep -q ready "$DIR.said"; do sleep 0.02; done; ' \
             'rm "$DIR.begun"; wait $t; rc=$?; kill -9 $s; exit $rc'
    job = f"touch {dead.folder}.begun; while [ -e {dead.folder}.begun ]; do /bin/true; done; sleep 1; exit 3"
    done = dead("bash", "-c", script, "bash", rt.path, "run", "--no-discovery", "--interval", "200ms",
                "--summary-json", rt.summary_file, "--", "sh", "-c", job)
    assert done.rc == 3, done.stderr
    assert not done.summary["run"]["stuck_processes"]


def test_an_argument_on_a_dead_file_server_does_not_delay_the_job(rt, dead, tmp_path):
    done = dead(rt.path, "run", "--no-discovery", "--summary-json", rt.summary_file, "--", "sh", "-c", "echo ran",
                dead.folder / "absent", rt.path)
    assert (done.rc, done.stdout) == (0, "ran\n"), done.stderr
    assert done.summary["run"]["input_bytes"] is None  # unknown


def test_the_size_of_the_arguments_is_recorded(rt, tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(b"x" * 1000)
    done = rt.track("sh", "-c", "exit", tmp_path / "a", f"--in={tmp_path}/b", tmp_path)
    assert done.summary["run"]["input_bytes"] == 2000


@pytest.mark.parametrize("how", ["timeout", "end"])
def test_an_interpreter_in_memory_that_never_comes(rt, stuck, how):
    """A reading of its stacks blocks. Only the worker that reads stacks waits for it."""
    if subprocess.run(["timeout", "-k", "1", "5", stuck, "absent", "0"], check=False).returncode != 0:
        pytest.skip("this kernel has no userfaultfd")
    flags = ("--timeout", "3s", "--grace", "1s") if how == "timeout" else ()
    job = (stuck, "absent", "2.5") if how == "end" else (stuck, "absent")
    done = rt.track(*job, flags=("--interval", "200ms", *flags))
    assert done.rc == (124 if how == "timeout" else 0), done.stderr
    assert [(p["name"], p["reason"]) for p in done.summary["lines"]["not_read"]] == [
        ("stuck", "it was stuck in the kernel when its memory was read")]


def test_the_worker_that_samples_stacks_is_started_again(rt, tmp_path):
    """Killed in the middle of a run: the lines of what follows are sampled, and no output waits for it."""
    script = tmp_path / "job.py"
    script.write_text(f"""
import os, pathlib, signal, subprocess, time
def of_tracker():
    lists = pathlib.Path(f"/proc/{{os.getppid()}}/task").glob("*/children")
    children = [pid for children in lists for pid in children.read_text().split()]
    return [int(pid) for pid in children if pathlib.Path(f"/proc/{{pid}}/comm").read_text() == "rt-lines\\n"]
def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
burn(0.5)
[worker] = of_tracker()
os.kill(worker, signal.SIGKILL)
while worker in of_tracker() or not of_tracker():
    burn(0.1)
subprocess.run([{str(rt.path)!r}, "mark", "after"], check=True)
burn(2)
""")
    done = rt.track("/usr/bin/python3", script, flags=("--lines", "200", "--interval", "200ms"))
    assert done.rc == 0, done.stderr
    after = rt.run("lines", "--json", "--phase", "after").json()
    assert after["all"]["cpu_s"] > 1


@pytest.mark.parametrize("kind", ["program", "script", "path"])
def test_a_time_limit_ends_an_exec_that_waits_for_a_dead_file_server(rt, dead, tmp_path, kind):
    command, path = dead.folder / "program", os.environ["PATH"]
    if kind == "script":
        command = tmp_path / "script"
        command.write_text(f"#!{dead.folder}/interpreter\n")
        command.chmod(0o755)
    if kind == "path":
        command, path = "program", f"{dead.folder}:{path}"
    done = dead("env", f"PATH={path}", rt.path, "run", "--no-discovery", "--timeout", "2s", "--grace", "1s", "--",
                command)
    assert done.rc == 124, done.stderr


# ---- the storage of the recordings ----

def test_a_folder_of_recordings_on_a_dead_file_server(rt, dead):
    done = dead("env", f"RESOURCE_TRACKER_DIR={dead.folder}/state", rt.path, "run", "--no-discovery", "--interval",
                "200ms", "--timeout", "3s", "--summary-json", rt.summary_file, "--", "sleep", "1000")
    assert done.rc == 124, done.stderr
    assert f"{dead.folder}/state: the storage does not answer: rows wait in memory" in done.stderr
    assert "recording incomplete: its storage does not answer (" in done.stderr
    assert done.summary["tracker"]["samples"] >= 5


# Runs its arguments with the folder of recordings on a file system of its own, and freezes that while the
# file "freeze" exists and there is no summary. A write to a frozen file system cannot be interrupted, not even by SIGKILL.
FROZEN = """
mkfs.ext4 -q "$IMAGE" && mount -o loop "$IMAGE" "$DIR" || exit 99
(BEFORE exec "$@") &
job=$!
until [ -e "$DIR.freeze" ]; do kill -0 $job || exit 98; sleep 0.02; done
fsfreeze -f "$DIR"
touch "$DIR.frozen"
while [ -e "$DIR.freeze" ] && ! [ -s "$SUMMARY" ]; do sleep 0.02; done
kill -0 "$(cat "$DIR.job")" && echo "the job lives"
fsfreeze -u "$DIR"
wait $job
rc=$?
cp -r "$DIR" "$DIR.copy"
umount "$DIR"
exit $rc
"""


@pytest.fixture
def frozen(rt, tmp_path):
    folder = tmp_path / "storage"
    folder.mkdir()
    image = tmp_path / "image"
    with open(image, "wb") as file:
        file.truncate(16 << 20)

    def run(*command, state=folder, before=""):
        begin = FROZEN.replace("BEFORE", before)
        done = rt.run("-m", "--propagation", "private", "bash", "-c", begin, "bash", rt.path, "run",
                      "--no-discovery", "--interval", "200ms", "--summary-json", rt.summary_file, *command,
                      program="/usr/bin/unshare",
                      env={"IMAGE": image, "DIR": folder, "RESOURCE_TRACKER_DIR": state,
                           "SUMMARY": rt.summary_file})
        if done.rc == 99:
            pytest.skip("no loop device, or no ext4")
        return done

    run.folder = folder
    return run


def test_rows_wait_in_memory_while_the_storage_is_frozen(rt, frozen):
    job = f"""echo $$ >{frozen.folder}.job; sleep 0.5; touch {frozen.folder}.freeze; until [ -e {frozen.folder}.frozen ]; do sleep 0.05; done
    sleep 1.5; rm {frozen.folder}.freeze; sleep 0.5; exit 7"""
    done = frozen("--", "sh", "-c", job)
    assert done.rc == 7, done.stderr
    assert "the storage does not answer: rows wait in memory" in done.stderr
    assert "incomplete" not in done.stderr
    [file] = (frozen.folder.parent / "storage.copy/runs").iterdir()
    shown = rt.run("show", file, "--json").json()
    rows = rt.run("export", file, "--format", "csv").stdout.splitlines()
    assert shown["run"]["exit"]["code"] == 7
    assert len(rows) == 1 + done.summary["tracker"]["samples"]


def test_a_time_limit_acts_while_the_storage_is_frozen(rt, frozen):
    """The job ends, and only the tracker's process waits for the storage."""
    job = f"echo $$ >{frozen.folder}.job; sleep 0.5; touch {frozen.folder}.freeze; sleep 1000"
    done = frozen("--timeout", "3s", "--grace", "1s", "--", "sh", "-c", job)
    assert done.rc == 124, done.stderr
    assert "recording incomplete: its storage does not answer (" in done.stderr
    assert "the job lives" not in done.stdout


def test_rows_for_a_file_wait_while_its_storage_is_frozen(rt, frozen, tmp_path):
    """None is written twice, and none is missing."""
    job = f"""echo $$ >{frozen.folder}.job; sleep 0.5; touch {frozen.folder}.freeze; until [ -e {frozen.folder}.frozen ]; do sleep 0.05; done
    sleep 1.5; rm {frozen.folder}.freeze; sleep 0.5; exit 7"""
    done = frozen("--output", frozen.folder / "rows", "--format", "jsonl", "--", "sh", "-c", job, state=tmp_path / "state")
    assert done.rc == 7, done.stderr
    assert f"{frozen.folder}/rows: the storage does not answer: rows wait in memory" in done.stderr
    rows = [json.loads(line)["timestamp"] for line in (tmp_path / "storage.copy/rows").read_text().splitlines()]
    assert rows == sorted(set(rows))
    assert len(rows) == done.summary["tracker"]["samples"]


@pytest.mark.parametrize("what", ["rows", "messages"])
def test_a_time_limit_acts_while_a_file_of_the_user_is_frozen(rt, frozen, tmp_path, what):
    if what == "rows":
        flags, redirect = ("--output", frozen.folder / "rows"), ""
    else:
        flags, redirect = (), f"exec 2>{frozen.folder}/messages; "
    job = f"echo $$ >{frozen.folder}.job; sleep 0.5; touch {frozen.folder}.freeze; sleep 1000"
    done = frozen(*flags, "--timeout", "3s", "--grace", "1s", "--", "sh", "-c", job, state=tmp_path / "state",
                  before=redirect)
    assert done.rc == 124, done.stderr
    assert "the job lives" not in done.stdout
    assert ("rows: cannot write samples: the storage does not answer" in done.stderr) == (what == "rows")


# ---- /proc ----

# Runs its arguments with a file system over /proc whose server never answers. Programs that look into
# /proc when they start, such as grep, would wait.
COVERED = """
"$STUCK" serve /proc >"$DIR.ready" &
server=$!
until [ -s "$DIR.ready" ]; do sleep 0.02; done
"$@"
rc=$?
kill -9 $server
exit $rc
"""


@pytest.mark.parametrize("flags, rc", [((), 3), (("--limit", "time=9s"), 125), (("--strict",), 125)])
def test_a_dead_file_system_over_proc(rt, stuck, tmp_path, flags, rc):
    """The job runs untracked, unless an option needs the tracker."""
    done = rt.run("-m", "--propagation", "private", "bash", "-c", COVERED, "bash", rt.path, "run", *flags, "--", "sh",
                  "-c", "exit 3", program="/usr/bin/unshare", env={"STUCK": stuck, "DIR": tmp_path / "dead"})
    assert done.rc == rc
    assert "resource-tracker: /proc does not answer: " in done.stderr
    assert ("; the job runs untracked\n" in done.stderr) == (rc == 3)
