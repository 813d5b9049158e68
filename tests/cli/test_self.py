"""Tests `self check`, which reports what an installation has and lacks, and `self install`, which copies the
program."""

import os
import re
import shutil
import subprocess

import pytest


def states(done):
    """{what: (state, text)} of the lines."""
    lines = (re.split("  +", line, maxsplit=2) for line in done.stdout.splitlines())
    return {what: (state, text) for state, what, text in lines}


def test_a_whole_installation_passes(rt):
    done = rt.run("self", "check")
    assert done.rc == 0, done.stdout
    found = states(done)
    assert {state for state, _ in found.values()} <= {"ok", "absent"}
    version = rt.run("version").stdout.split()[1]
    assert f"version {version} on {os.uname().machine}, dynamic, " in found["program"][1]
    assert re.match(r"\d{4} servers, \d{5} prices, of \d{4}-\d\d-\d\d", found["catalogue"][1])
    assert found["tracked job"] == ("ok", "ran, was recorded and read back")


def test_nothing_is_left_and_no_run_is_added(rt, tmp_path):
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    assert rt.run("self", "check", env={"TMPDIR": temporary}).rc == 0
    assert list(temporary.iterdir()) == []
    assert not list(rt.state.rglob("*.rtrk"))


def test_a_check_inside_a_tracked_job_passes(rt):
    assert rt.track(rt.path, "self", "check").rc == 0


@pytest.mark.native
def test_a_library_that_is_absent_is_named_with_what_is_lost(rt, tmp_path):
    preload = tmp_path / "no-dlopen.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-o", preload, "-"], check=True, text=True,
                   input="void *dlopen(const char *p, int f) { (void) p; (void) f; return 0; }\n")
    done = rt.run("self", "check", env={"LD_PRELOAD": preload})
    assert done.rc == 0  # optional, all of them
    assert states(done)["SQLite"] == (
        "absent", "libsqlite3.so.0 cannot be loaded: needed for figures of runs whose recordings were deleted. "
        "Try: apt install libsqlite3-0")
    assert {what for what, (state, _) in states(done).items() if state == "absent"} == {
        "SQLite", "zlib", "libcurl", "libmicrohttpd", "libpq", "libcrypto", "libdw",
        "libstdc++"}


def test_what_is_broken_ends_with_1(rt, tmp_path):
    copy = tmp_path / "copy"
    shutil.copy(rt.path, copy)
    copy.chmod(0o777)
    done = rt.run("self", "check", program=copy)
    assert (done.rc, states(done)["permissions"][0]) == (1, "broken")
    assert f"chmod 755 {copy}" in states(done)["permissions"][1]

    file = tmp_path / "file"
    file.touch()
    done = rt.run("self", "check", "--recording", file)
    assert (done.rc, states(done)["recordings"][0]) == (1, "broken")
    assert str(file) in states(done)["recordings"][1]

    done = rt.run("self", "check", env={"TMPDIR": tmp_path / "none"})
    assert (done.rc, states(done)["tracked job"][0]) == (1, "broken")
    assert "No such file or directory" in states(done)["tracked job"][1]


def test_install_copies_the_program_and_links_the_shells(rt, tmp_path):
    folder = tmp_path / "rt"
    for _ in range(2):  # over an earlier copy, too
        assert rt.run("self", "install", folder).rc == 0
        assert sorted(path.name for path in folder.iterdir()) == ["bin", "resource-tracker"]
    with open(rt.path, "rb") as a, open(folder / "resource-tracker", "rb") as b:
        assert a.read() == b.read()
    assert (folder / "resource-tracker").stat().st_mode & 0o7777 == 0o755
    done = rt.run("-c", "exit 3", program=folder / "bin/bash")
    assert done.rc == 3
    assert len(list(rt.state.rglob("*.rtrk"))) == 1


def test_install_replaces_no_program_of_another_kind(rt, tmp_path):
    """As with DIR=/usr, where the shells of the machine are."""
    shell = tmp_path / "place/bin/sh"
    shell.parent.mkdir(parents=True)
    for make in (lambda: shell.write_text("shell"), lambda: shell.symlink_to("dash")):
        make()
        done = rt.run("self", "install", tmp_path / "place")
        assert done.rc == 1 and "bin/sh is there already" in done.stderr
        assert list((tmp_path / "place").rglob("*")) == [shell.parent, shell]
        shell.unlink()


def test_install_says_what_failed_and_where(rt, tmp_path):
    file = tmp_path / "file"
    file.touch()
    done = rt.run("self", "install", file)
    assert done.rc == 1
    assert done.stderr == f"resource-tracker: self install: {file}: Not a directory\n"
    assert rt.run("self", "install").rc == 2
    assert rt.run("self", "destroy").rc == 2
