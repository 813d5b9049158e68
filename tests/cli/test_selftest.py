"""Tests `doctor --selftest`, which tracks jobs whose use is known, and `doctor --work`, which is one of these jobs."""

import json
import os
import re
import resource
import subprocess

import pytest

WORKS = ["process", "children", "orphans", "unwaited", "spike", "shared", "disk"]


def test_every_figure_holds_what_its_label_promises(rt, tmp_path):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    done = rt.run("doctor", "--selftest", timeout=300, env={"TMPDIR": scratch})
    assert done.rc == 0, done.stdout
    version, titles, *lines = done.stdout.splitlines()
    assert version.startswith("resource-tracker ") and titles.split()[-3:] == ["true", "told", "label"]
    # {work: (what it really used, the state)}
    figures = {name: re.split(r"  +", line[38:].strip()) for name, line in zip(WORKS, lines, strict=True)}
    assert {figure[3].split(":")[0] for figure in figures.values()} <= {"ok", "not tested"}
    # These need no permission, no file system and no counter of the machine.
    for name in ("process", "children", "orphans", "spike", "shared"):
        assert figures[name][3] == "ok"
    assert float(figures["process"][0].removesuffix(" s")) == pytest.approx(1.5, abs=0.2)
    assert list(scratch.iterdir()) == []
    assert not list(rt.state.rglob("*.rtrk"))


def test_the_job_says_what_the_kernel_says(rt):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([rt.path, "doctor", "--work", "children"], capture_output=True, timeout=120,
                          check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert json.loads(done.stdout)["cpu_s"] == pytest.approx(used, rel=0.2)
    assert json.loads(done.stdout)["cpu_s"] > 0.9


def test_a_file_system_in_memory_is_no_disk(rt):
    done = rt.run("doctor", "--work", "disk", env={"TMPDIR": "/dev/shm"})
    assert done.rc == 0
    assert json.loads(done.stdout) == {"work": "disk", "disk_write_bytes": None}


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_container_without_var_tmp_is_measured(rt):
    done = subprocess.run(["unshare", "-m", "sh", "-c", 'mount -t tmpfs -o ro none /var/tmp && exec "$@"', "sh",
                           rt.path, "doctor", "--work", "process"],
                          env={k: v for k, v in os.environ.items() if k != "TMPDIR"}, capture_output=True,
                          timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["cpu_s"] == pytest.approx(1.5, abs=0.2)


@pytest.mark.parametrize("arguments, says", [
    (["--work", "nothing"], "doctor: --work nothing: no such work. Try: process, children"),
    (["--work", "process"], "No such file or directory. Try: TMPDIR=DIR"),
    (["--selftest"], "No such file or directory. Try: TMPDIR=DIR"),
])
def test_what_cannot_be_done_is_one_line(rt, arguments, says):
    done = rt.run("doctor", *arguments, env={"TMPDIR": "/nowhere"})
    assert done.rc != 0
    assert done.stdout == ""
    assert says in done.stderr
    assert done.stderr.count("\n") == 1
