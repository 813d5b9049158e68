"""Tests docs/security.md with two users: recordings, and files that the user names."""

import os
import pathlib
import shutil
import stat
import subprocess

import pytest
from strangers import (
    STRANGER,
    VERBS,
    VICTIM,
    User,
    account_with_a_group_of_its_own,
    one_line,
    record_once,
    recording_name,
)

FIXTURES = pathlib.Path(__file__).resolve().parents[1] / "fixtures"


def plant_recording(victim, stranger, kind):
    path = victim.runs / recording_name()
    if kind == "fifo":
        os.mkfifo(path)
        os.chown(path, VICTIM, VICTIM)
    elif kind == "link":
        path.symlink_to("/dev/zero")
    elif kind == "directory":
        path.mkdir()
    elif kind == "device":
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 5))
    else:
        own = next(victim.runs.iterdir())
        shutil.copy(own, path)
        os.chown(path, STRANGER if kind == "theirs" else VICTIM, VICTIM)
        path.chmod(0o666 if kind == "writable" else 0o600)
    return path


@pytest.mark.parametrize("kind", ["fifo", "link", "directory", "device", "theirs", "writable"])
def test_what_is_no_recording_of_the_user_s_is_passed_over_by_every_verb(victim, stranger, kind):
    record_once(victim)
    plant_recording(victim, stranger, kind)
    for verb in VERBS:
        if verb == ["compare"]:
            continue
        result = victim.rt(*verb)
        assert result.returncode == 0, (verb, result)
        assert "r-00000001" not in result.stdout
        warning = [line for line in result.stderr.splitlines() if "passed over" in line]
        assert len(warning) == 1 and recording_name() in warning[0], (verb, result.stderr)
    assert victim.rt("show", "r-00000001").returncode == 4
    assert victim.track().stderr == ""
    assert victim.rt("prune", "--keep", "0").returncode == 0
    assert (victim.runs / recording_name()).is_symlink() or (
        victim.runs / recording_name()).exists()


@pytest.mark.parametrize("verb", [["show"], ["stats"], ["export"], ["report"], ["recommend"],
                                  ["compare"], ["import"], ["server-info"],
                                  ["catalog", "update", "--sha256", "0" * 64, "--from"], ["servers", "--catalog"],
                                  ["servers", "--prices"]])
@pytest.mark.parametrize("kind", ["fifo", "/dev/zero"])
def test_a_fifo_or_a_device_that_is_named_as_a_file_does_not_hang(victim, stranger, verb, kind):
    record_once(victim)
    stranger.sh("mkfifo -m 666 fifo")
    path = stranger.home / "fifo" if kind == "fifo" else kind
    result = victim.rt(*verb, *(["@"] if verb == ["compare"] else []), path)
    assert result.returncode in (1, 2, 4, 5), result
    one_line(result.stderr, str(path).rsplit("/", maxsplit=1)[-1])


def test_a_pipe_can_be_imported(victim):
    record_once(victim)
    file = victim.put(victim.home / "times", (FIXTURES / "import/gnu-time.txt").read_text())
    victim.sh(f"(sleep 0.3; cat {file}) | {victim.world.program} import /dev/stdin")
    assert "sort" in victim.rt("history").stdout


def test_a_recording_of_a_terabyte_of_nothing_is_refused(victim):
    record_once(victim)
    path = victim.home / "sparse.rtrk"
    [own] = victim.runs.iterdir()
    shutil.copy(own, path)
    os.chown(path, VICTIM, VICTIM)
    os.truncate(path, 1 << 40)
    result = victim.rt("show", path)
    assert result.returncode == 1
    one_line(result.stderr, "larger than any recording")


def test_a_file_called_as_a_run_in_the_working_directory_is_not_that_run(world, victim, stranger):
    record_once(victim)
    [own] = victim.runs.iterdir()
    run_id = own.name.split("-", 1)[1].removesuffix(".rtrk")
    for name in ("@", "@1", run_id, run_id[:6]):
        stranger.sh(f"mkfifo -m 666 {world.shared}/{name}")
        result = victim.rt("show", name, "--json", cwd=world.shared)
        assert result.returncode == 0 and run_id in result.stdout, result


@pytest.mark.parametrize("how", ["link", "fifo"])
def test_a_report_s_own_name_is_never_another_file(world, victim, stranger, how):
    """The name can be foretold: the id of a run that goes on is in /proc/net/unix."""
    record_once(victim)
    [own] = victim.runs.iterdir()
    run_id = own.name.split("-", 1)[1].removesuffix(".rtrk")
    where = victim.folder(world.base / "open", 0o777)
    precious = victim.put(victim.home / "precious", "mine")
    name = f"{where}/resource-tracker-{run_id}.html"
    stranger.sh(f"ln -s {precious} {name}" if how == "link" else f"mkfifo -m 666 {name}")
    result = victim.rt("report", "@", cwd=where)
    assert result.returncode == 1
    one_line(result.stderr, run_id)
    assert precious.read_text() == "mine"
    os.unlink(name)
    assert victim.rt("report", "@", cwd=where).returncode == 0
    assert victim.rt("report", "@", cwd=where).returncode == 0  # over one's own
    assert stat.S_ISREG(os.lstat(name).st_mode)


@pytest.mark.native  # strace, under which the leak sanitizer does not work
@pytest.mark.parametrize("verb", [["show", "@"], ["stats"], ["export", "@"]])
def test_a_verb_lists_the_recordings_once(world, victim, verb):
    record_once(victim)
    [first] = victim.runs.iterdir()
    victim.track("-n", "another")  # whose answers need no recording of `first`
    os.utime(victim.runs, (1e9, 1e9))  # a change of long ago, so that the history has all
    victim.rt("history")
    log = victim.home / "strace.log"
    result = victim.execute("strace", "-f", "-qq", "-e", "trace=file", "-o", log,
                            world.program, *verb)
    assert result.returncode == 0
    calls = [line for line in log.read_text(encoding="utf-8").splitlines() if first.name in line]
    assert len(calls) == 1, calls


@pytest.mark.native
def test_whose_group_a_directory_has_is_asked_once_however_many_recordings_it_has(world):
    """umask 002 and a group of the user's own."""
    account = account_with_a_group_of_its_own()
    user = User(world, account.pw_uid, account.pw_gid)
    where = user.folder(user.folder(user.home / "named", 0o775) / "runs", 0o775)
    assert user.track("-n", "kept", "--recording", where.parent).stderr == ""
    [own] = where.iterdir()
    for n in range(1, 20):
        shutil.copy(own, where / recording_name(n))
        os.chown(where / recording_name(n), user.uid, user.gid)
    os.utime(where, (1e9, 1e9))
    user.rt("history", "--recording", where.parent)
    log = user.home / "strace.log"
    user.execute("strace", "-f", "-qq", "-e", "trace=open,openat", "-o", log, world.program,
                 "show", "@", "--recording", where.parent)
    assert log.read_text(encoding="utf-8").count('"/etc/group"') <= 5


def test_a_recording_whose_mode_is_put_right_is_in_the_history_again(victim, stranger):
    """The folder does not change by that."""
    record_once(victim)
    path = plant_recording(victim, stranger, "writable")
    os.utime(victim.runs, (1e9, 1e9))  # a change of long ago
    assert "passed over" in victim.rt("history").stderr
    before = len(victim.rt("history").stdout.splitlines())
    path.chmod(0o600)
    result = victim.rt("history")
    assert result.stderr == "" and len(result.stdout.splitlines()) == before + 1


# Burns CPU time in code that claims to be of another file, until its standard input is closed.
CLAIMS = """
import select, sys, time
code = compile("def burn():\\n" + "\\n" * 8 + "    for i in range(9999): pass\\n", sys.argv[1], "exec")
names = {}
exec(code, names)
print("ready", flush=True)
while not select.select([0], [], [], 0)[0]:
    names["burn"]()
"""


@pytest.fixture
def claims(world):
    """claims(uid, path): a process of a user that claims to run code of a file."""
    processes = []

    def start(uid, path):
        script = world.base / "claims.py"
        script.write_text(CLAIMS)
        process = subprocess.Popen(["/usr/bin/python3", script, path], user=uid, group=uid, extra_groups=[],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd="/")
        processes.append(process)
        assert process.stdout.readline() == b"ready\n"
        return process

    yield start
    for process in processes:
        process.communicate()


def source(owner, path, mode):
    owner.put(path, "SECRET_LINE = 1\n" * 20, mode)
    os.utime(path, (1, 1))
    return path


def shown(execute, recording, page):
    """What `lines` and the report show."""
    table, report = execute("lines", recording), execute("report", recording, "--output", page)
    assert table.returncode == report.returncode == 0, (table, report)
    return table.stdout + page.read_text(encoding="utf-8")


def record_claims(execute, process, folder):
    assert execute("attach", "-q", "--lines", "250", "--duration", "1", "--recording", folder,
                   str(process.pid)).returncode == 0
    [recording] = (folder / "runs").iterdir()
    return recording


def test_root_is_shown_only_source_that_the_job_s_user_could_read(world, stranger, claims):
    def execute(*command):
        return subprocess.run([world.program, *map(str, command)], env={**stranger.env, "HOME": "/nowhere"},
                              encoding="utf-8", capture_output=True, check=False)

    root = User(world, 0, 0)
    path = source(root, root.home / "private.py", 0o600)
    recording = record_claims(execute, claims(STRANGER, path), world.base / "state")
    out = shown(execute, recording, world.base / "page.html")
    assert "private.py:10" in out and "SECRET_LINE" not in out
    assert "the job's user could not read the file" in out
    path.chmod(0o604)  # as for a group that the user may be in
    assert "SECRET_LINE" not in shown(execute, recording, world.base / "page.html")
    path.chmod(0o644)
    assert "SECRET_LINE" in shown(execute, recording, world.base / "page.html")
    root.home.chmod(0o700)
    assert "SECRET_LINE" not in shown(execute, recording, world.base / "page.html")


def test_a_recording_of_another_user_shows_source_that_this_user_could_read(world, victim, stranger, claims):
    path = source(victim, victim.home / "private.py", 0o600)
    ours = victim.folder(world.base / "ours")
    recording = record_claims(victim.rt, claims(VICTIM, path), ours)
    assert "SECRET_LINE" in shown(victim.rt, recording, ours / "page.html")
    # The file claims the victim as the job's user, and now belongs to the stranger.
    os.chown(recording, STRANGER, STRANGER)
    recording.chmod(0o644)
    assert "SECRET_LINE" not in shown(victim.rt, recording, ours / "page.html")
    path.chmod(0o644)
    assert "SECRET_LINE" in shown(victim.rt, recording, ours / "page.html")
