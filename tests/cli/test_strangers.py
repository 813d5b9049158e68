"""Tests docs/security.md with two users: what another user sees of a run, and can do to it."""

import contextlib
import os
import pathlib
import shutil
import stat
import subprocess
import sys

import pytest
from strangers import (
    HANGS_S,
    STRANGER,
    VERBS,
    VICTIM,
    User,
    attack,
    fall_back,
    lets_write,
    one_line,
    record_once,
    recording_name,
)

# ---- what others see and may do ----


def test_recordings_and_history_are_the_user_s_alone(victim, stranger):
    record_once(victim)
    victim.state.chmod(0o755)
    victim.runs.chmod(0o755)
    for path in victim.state.rglob("*"):
        if path.is_file():
            assert stranger.execute("cat", path).returncode != 0, path
            assert stranger.execute("sh", "-c", f"echo > {path}").returncode != 0, path
    [recording] = victim.runs.iterdir()
    result = stranger.rt("show", recording)
    assert result.returncode == 5
    one_line(result.stderr, "Permission denied")


def test_a_default_acl_of_a_directory_opens_no_file_to_others(world, victim, stranger):
    where = victim.folder(world.base / "open", 0o755)
    lets_write(where, STRANGER, "default")
    victim.track("--recording", where)
    assert victim.rt("history", "--recording", where).returncode == 0
    files = [path for path in where.rglob("*") if path.is_file()]
    assert {"history.sqlite"} < {path.name for path in files}
    for path in files:
        assert path.stat().st_mode & 0o777 == 0o600, path
        assert stranger.execute("cat", path).returncode != 0, path


def test_in_a_shared_directory_others_remove_recordings_and_neither_read_nor_change_them(
        world, victim, stranger):
    where = victim.folder(world.base / "open", 0o777)
    victim.folder(where / "runs", 0o777)
    assert victim.track("--recording", where).stderr == ""
    [recording] = (where / "runs").iterdir()
    assert stranger.execute("cat", recording).returncode != 0
    assert stranger.execute("sh", "-c", f"echo > {recording}").returncode != 0
    # What the stranger records there is listed, since the user has named the directory.
    assert stranger.track("-n", "theirs", "--recording", where).stderr == ""
    [theirs] = [p for p in (where / "runs").iterdir() if p.stat().st_uid == STRANGER]
    theirs.chmod(0o644)
    assert "theirs" in victim.rt("history", "--recording", where).stdout
    assert stranger.execute("rm", "-f", recording).returncode == 0
    assert victim.rt("history", "--recording", where).returncode == 0


@pytest.mark.parametrize("kind", ["fifo", "link"])
def test_what_is_no_file_in_a_shared_directory_is_passed_over(world, victim, stranger, kind):
    where = victim.folder(world.base / "open", 0o777)
    victim.folder(where / "runs", 0o777)
    assert victim.track("-n", "kept", "--recording", where).stderr == ""
    path = where / "runs" / recording_name()
    stranger.sh(f"mkfifo -m 666 {path}" if kind == "fifo" else f"ln -s /dev/zero {path}")
    for verb in VERBS:
        result = victim.rt(*verb, env={"RESOURCE_TRACKER_DIR": where})
        assert result.returncode in (0, 4) and "00000001" not in result.stdout
        assert f"{recording_name()} is " in result.stderr, (verb, result)


def test_another_user_s_marks_are_dropped(world, victim, stranger):
    script = ('echo $RESOURCE_TRACKER_RUN > guard; chmod a+r guard; "$0" mark mine; '
              "while [ ! -e done ]; do sleep 0.05; done")
    process = subprocess.Popen(
        [world.program, "run", "-q", "--", "sh", "-c", script, world.program], user=VICTIM,
        group=VICTIM, extra_groups=[], cwd=victim.home, env=victim.env,
        stdin=subprocess.DEVNULL)
    try:
        guard = victim.home / "guard"
        while not (guard.exists() and guard.read_text().strip()):
            assert process.poll() is None
        run = guard.read_text().strip()
        stranger.rt("mark", "theirs", env={"RESOURCE_TRACKER_RUN": run})
        User(world, 0).rt("mark", "root-s", env={"RESOURCE_TRACKER_RUN": run})
    finally:
        (victim.home / "done").touch()
        assert process.wait(HANGS_S) == 0
    marks = victim.rt("show", "@", "--json").stdout
    assert '"mine"' in marks and '"root-s"' in marks and '"theirs"' not in marks


# ---- races ----


SWAP = """
import os, sys
config, state, shared, config_text = sys.argv[1:]
os.umask(0)
while True:
    for make in (lambda new: open(new, "w").write(config_text),
                 lambda new: os.symlink("/dev/zero", new), os.mkfifo):
        try:
            make(config + ".new")
            os.rename(config + ".new", config)
        except OSError:
            pass
    for do in ((os.mkdir, state), (os.mkdir, state + "/runs"), (os.rmdir, state + "/runs"),
               (os.rmdir, state), (os.symlink, shared, state), (os.unlink, state),
               (os.mknod, state), (os.unlink, state)):
        try:
            do[0](*do[1:])
        except OSError:
            pass
"""


def test_what_is_swapped_all_the_time_does_no_harm(world, victim):
    state = pathlib.Path(f"/tmp/resource-tracker-{VICTIM}")
    trap = world.base / "trap"
    for path in (trap, trap / "runs"):
        path.mkdir()
        path.chmod(0o777)
    swapper = subprocess.Popen(
        ["/usr/bin/python3", "-c", SWAP, world.shared / "resource-tracker.toml", state, trap,
         attack(victim)], user=STRANGER, group=STRANGER, extra_groups=[])
    made = 0
    try:
        for _ in range(40):
            result = victim.track(cwd=world.shared, env=fall_back(victim))
            assert result.returncode == 7 and swapper.poll() is None
            assert not list((trap / "runs").iterdir())
            assert not (victim.home / ".bashrc").exists()
            with contextlib.suppress(FileNotFoundError):
                if state.lstat().st_uid == VICTIM:
                    made += 1
                    shutil.rmtree(state)
    finally:
        swapper.kill()
        swapper.wait()
    print(made, "times the victim made the directory first", file=sys.stderr)


# ---- the rest of the page ----


def test_the_job_has_the_rights_of_its_user(world, victim):
    assert stat.S_IMODE(world.program.stat().st_mode) & 0o6000 == 0
    script = "grep -E '^(Uid|Gid|Groups|Cap|NoNewPrivs)' /proc/self/status"
    plain = victim.sh(script).stdout
    assert plain.count(str(VICTIM)) >= 8 and "CapEff:\t0000000000000000" in plain
    assert victim.track(command=("sh", "-c", script)).stdout == plain


# The verbs that write to a file FILE, which is out.csv, or PAGE, which is out.html.
WRITERS = [["run", "-q", "-f", "csv", "-o", "FILE", "--", "sleep", "0.3"],
           ["run", "-q", "--summary-json", "FILE", "--", "true"],
           ["run", "-q", "--report=PAGE", "--", "true"], ["report", "-o", "PAGE", "@"],
           ["export", "-o", "FILE", "@"], ["export", "--what", "processes", "-o", "FILE", "@"],
           ["dashboard", "--static", "PAGE"]]
PLANTED = {"link": "ln -s {precious} out.csv; ln -s {precious} out.html",
           "link to link": "ln -s {precious} far; ln -s far out.csv; ln -s far out.html",
           "link on the way": "ln -s {home} way", "file": "touch out.csv out.html; chmod 666 out.*",
           "fifo": "mkfifo -m 666 out.csv out.html"}


def write_all(victim, where):
    for words in WRITERS:
        done = victim.rt(*[word.replace("FILE", f"{where}/out.csv").replace("PAGE", f"{where}/out.html")
                           for word in words])
        assert done.stderr.count(f"{where}/out.") == 1 and len(done.stderr.splitlines()) == 1, (words, done)
        assert done.returncode == (0 if "--summary-json" in words or "--report=PAGE" in words else
                                   125 if words[0] == "run" else 1), (words, done)


@pytest.mark.parametrize("planted", PLANTED.values(), ids=PLANTED.keys())
def test_nothing_of_another_user_in_tmp_is_written_to_whatever_the_kernel_says(world, victim, stranger, planted):
    precious = victim.put(victim.home / "precious", "mine")
    record_once(victim)
    stranger.sh(planted.format(precious=precious, home=victim.home), cwd=world.shared)
    write_all(victim, world.shared / "way" if "way" in planted else world.shared)
    assert precious.read_text() == "mine"
    assert not (victim.home / "out.csv").exists() and not (victim.home / "out.html").exists()
    for path in world.shared.iterdir():
        assert path.lstat().st_uid == stranger.uid and (path.is_symlink() or path.stat().st_size == 0)


def test_a_second_name_of_a_file_in_tmp_is_not_written_to(world, victim):
    """As with fs.protected_hardlinks = 0."""
    precious = victim.put(victim.home / "precious", "mine")
    record_once(victim)
    for name in ("out.csv", "out.html"):
        os.link(precious, world.shared / name)
    write_all(victim, world.shared)
    assert precious.read_text() == "mine"


def test_no_recording_is_written_behind_a_link_of_another_user(world, victim, stranger):
    victim.folder(victim.home / "thesis")
    stranger.sh(f"ln -s {victim.home}/thesis {world.shared}/link")
    result = victim.track("--recording", world.shared / "link")
    assert result.returncode == 7
    one_line(result.stderr, f"{world.shared}/link", "another user")
    assert list((victim.home / "thesis").iterdir()) == []


@pytest.mark.parametrize("path", ["link/state", "none/../link/state"])
def test_no_state_directory_is_made_behind_a_link_of_another_user(world, victim, stranger, path):
    victim.folder(victim.home / "thesis")
    stranger.sh(f"mkdir -m 777 {world.shared}/d; ln -s {victim.home}/thesis {world.shared}/d/link")
    result = victim.track("--recording", world.shared / "d" / path)
    assert result.returncode == 7
    one_line(result.stderr, f"{world.shared}/d/{path}", "another user")
    assert list((victim.home / "thesis").iterdir()) == []


PLANTED = {  # where the victim installs: what the stranger has put there
    "theirs": "mkdir -m 777 {open}/theirs",
    "theirs-with-a-link": "mkdir -m 755 {open}/theirs-with-a-link; ln -s {target} {open}/theirs-with-a-link/bin",
    "link": "ln -s {target} {open}/link",
    "link/new": "ln -s {target} {open}/link",
    "own": "ln -s {target} {open}/own/bin",
    "own-with-a-folder": "mkdir -m 777 {open}/own-with-a-folder/bin",
}


@pytest.mark.parametrize("where", PLANTED)
def test_nothing_is_installed_where_another_user_leads_or_owns(world, victim, stranger, where):
    target, place = victim.folder(victim.home / "thesis"), victim.folder(world.base / "open", 0o777)
    for name in ("own", "own-with-a-folder"):
        victim.folder(place / name, 0o777)
    stranger.sh(PLANTED[where].format(open=place, target=target))
    before = sorted(place.rglob("*"))
    result = victim.rt("self", "install", place / where)
    assert result.returncode == 1
    one_line(result.stderr, f"{place}/{where}: ", "another user" if where != "own" else "bin is there already")
    assert list(target.iterdir()) == []
    assert sorted(place.rglob("*")) == before


def test_a_link_of_one_s_own_leads_to_where_a_program_is_installed(world, victim):
    target, place = victim.folder(victim.home / "tools"), victim.folder(world.base / "open")
    victim.sh(f"ln -s {target} {place}/link")
    assert victim.rt("self", "install", place / "link").returncode == 0
    assert victim.execute(target / "bin/sh", "-c", "exit 3").returncode == 3


def test_a_program_is_installed_in_a_volume_of_root_to_which_all_may_write(world, victim):
    """As in an emptyDir of Kubernetes."""
    volume = world.base / "volume"
    volume.mkdir()
    volume.chmod(0o777)
    assert victim.rt("self", "install", volume).returncode == 0
    assert victim.execute(volume / "bin/sh", "-c", "exit 3").returncode == 3


@pytest.mark.parametrize("path", ["link", "link/site", "site"])
def test_no_folder_of_a_dashboard_is_made_behind_a_link_of_another_user(world, victim, stranger, path):
    thesis, place = victim.folder(victim.home / "thesis"), victim.folder(world.base / "open", 0o777)
    victim.folder(place / "site", 0o777)
    stranger.sh(f"ln -s {thesis} {place}/link; ln -s {thesis} {place}/site/runs")
    record_once(victim)
    result = victim.rt("dashboard", "--static", place / path)
    assert result.returncode == 1
    one_line(result.stderr, f"{place}/{path}", "another user")
    assert list(thesis.iterdir()) == []


def test_what_other_users_see_of_a_run(world, victim, stranger):
    script = 'touch started; while [ ! -e done ]; do sleep 0.05; done'
    process = subprocess.Popen(
        [world.program, "run", "-q", "--", "sh", "-c", script, "argument"], user=VICTIM,
        group=VICTIM, extra_groups=[], cwd=victim.home, env=victim.env, stdin=subprocess.DEVNULL)
    try:
        while not (victim.home / "started").exists():
            assert process.poll() is None
        assert "argument" in stranger.sh(f"tr '\\0' ' ' < /proc/{process.pid}/cmdline").stdout
        [recording] = victim.runs.iterdir()
        run_id = recording.name.split("-", 1)[1].removesuffix(".rtrk")
        assert f"@resource-tracker/{run_id}" in stranger.sh("cat /proc/net/unix").stdout
        # Of recordings nothing, not even their names.
        assert stranger.execute("ls", victim.runs).returncode != 0
        assert stranger.execute("cat", recording).returncode != 0
        # Not in another network namespace.
        there = subprocess.run(["unshare", "--net", "cat", "/proc/net/unix"], check=True,
                               capture_output=True, text=True)
        assert run_id not in there.stdout
    finally:
        (victim.home / "done").touch()
        assert process.wait(HANGS_S) == 0
