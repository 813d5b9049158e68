"""The program with the small limits that some batch systems give (`ulimit -s`, `ulimit -d`)."""
import resource
import subprocess

import pytest

pytestmark = pytest.mark.native  # sanitizers have larger frames

VERBS = [["show"], ["show", "--json"], ["report", "-o", "page.html"],
         ["report", "--format", "md", "-o", "-"], ["export"], ["recommend"], ["history"], ["lines"],
         ["compare", "@", "small"], ["fleet"], ["dashboard", "--static", "folder/"], ["stats"],
         ["alerts", "check"], ["alerts", "list"], ["digest"], ["doctor"], ["self", "check"],
         ["servers"], ["top", "--once"]]


def with_stack(rt, kib, *args, kind=resource.RLIMIT_STACK):
    def limit():
        resource.setrlimit(kind, (kib * 1024, kib * 1024))

    return subprocess.run([rt.path, *args], env=rt.env, cwd=rt.home, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, preexec_fn=limit, check=False)


def test_a_job_runs_with_a_stack_of_64_KiB(rt):
    done = with_stack(rt, 64, "run", "--no-discovery", "--report=page.html", "--",
                      "sh", "-c", "ulimit -s; sleep 0.2; exit 3")
    assert (done.returncode, done.stdout) == (3, "64\n"), done.stderr
    assert rt.run("show", "--json").json()["run"]["exit"]["code"] == 3
    assert (rt.home / "page.html").exists()


def test_a_job_runs_with_a_data_segment_of_1_MiB(rt):
    """Perhaps without samples; one line says so."""
    done = with_stack(rt, 1024, "run", "--no-discovery", "--", "sh", "-c", "exit 3", kind=resource.RLIMIT_DATA)
    assert done.returncode == 3, done.stderr
    assert done.stderr == "" or "Cannot allocate memory" in done.stderr or "exit 3" in done.stderr


def test_every_verb_answers_with_a_stack_of_128_KiB(rt):
    for _ in range(2):
        assert rt.track("sleep", "0.1", flags=["-n", "small"]).rc == 0
    for verb in VERBS:
        done = with_stack(rt, 128, *verb)
        assert done.returncode in (0, 4), (verb, done.returncode, done.stderr)
