"""Shared helpers of the tests of docs/security.md with two users: the victim, who runs the program, and the stranger,
who attacks.

Neither user has an account or privileges. The tests need root to switch to these users.
"""

import grp
import os
import pwd
import shutil
import struct
import subprocess

import pytest

# Of each process of pytest its own: the directory in /tmp has the user's id as its name.
VICTIM = 60000 + os.getpid() * 2 % 5000
STRANGER = VICTIM + 1
HANGS_S = 120  # a verb that waits for a FIFO waits for ever
VERBS = [["history"], ["ls", "--json"], ["show"], ["show", "@"], ["stats"], ["export", "@"],
         ["report", "@", "--output", "-"], ["recommend", "@"], ["compare"], ["server-info", "@"],
         ["prune", "--keep", "0", "--dry-run", "--forget"]]


class User:
    """One of the two, with a home of its own. Files and the program are used as this user."""

    def __init__(self, world, uid, gid=None):
        self.world, self.uid, self.gid = world, uid, uid if gid is None else gid
        self.home = world.base / f"home-{uid}"
        self.home.mkdir(mode=0o755)
        os.chown(self.home, self.uid, self.gid)
        self.state = self.home / ".local/state/resource-tracker"
        self.runs = self.state / "runs"
        self.database = self.state / "history.sqlite"
        self.env = {"HOME": str(self.home), "PATH": "/usr/local/bin:/usr/bin:/bin",
                    "LC_ALL": "C.UTF-8", "TRACKER_NO_DISCOVERY": "1"}

    def execute(self, *command, cwd=None, env=None, timeout=HANGS_S, umask=0o022, **options):
        merged = {k: str(v) for k, v in {**self.env, **(env or {})}.items() if v is not None}
        return subprocess.run([*map(str, command)], cwd=cwd or self.home, env=merged,
                              user=self.uid, group=self.gid, extra_groups=[], umask=umask,
                              encoding="utf-8", errors="replace", capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=timeout, check=False, **options)

    def sh(self, script, **options):
        done = self.execute("sh", "-ec", script, **options)
        assert done.returncode == 0, done.stderr
        return done

    def rt(self, *args, **options):
        return self.execute(self.world.program, *args, **options)

    def track(self, *flags, command=("sh", "-c", "exit 7"), **options):
        return self.rt("run", "--summary", "never", *flags, "--", *command, **options)

    def put(self, path, text, mode=0o644):
        """A file of this user, wherever it is."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        os.chown(path, self.uid, self.gid)
        path.chmod(mode)
        return path

    def folder(self, path, mode=0o755):
        path.mkdir(parents=True, exist_ok=True)
        os.chown(path, self.uid, self.gid)
        path.chmod(mode)
        return path


def lets_write(path, uid, which="access"):
    """Give a file an ACL by which this user may write to it, or ("default") files that are created in a directory."""
    nobody = 0xFFFFFFFF
    entries = [(1, 7, nobody), (2, 7, uid), (4, 5, nobody), (16, 7, nobody), (32, 5, nobody)]
    try:
        os.setxattr(path, f"system.posix_acl_{which}",
                    struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries))
    except OSError as error:
        pytest.skip(f"no POSIX ACLs on this file system: {error}")


class World:
    def __init__(self, base, program):
        self.base = base
        self.program = base / "bin/resource-tracker"
        self.program.parent.mkdir()
        shutil.copy2(program, self.program)
        self.shared = base / "shared"  # as /tmp is
        self.shared.mkdir()
        self.shared.chmod(0o1777)
        self.victim, self.stranger = User(self, VICTIM), User(self, STRANGER)



def one_line(text, *words):
    """One warning, which holds these words."""
    assert text.count("\n") == 1, text
    assert text.startswith("resource-tracker: ") and all(word in text for word in words), text


def job_of(victim):
    return victim.rt("show", "@", "--json").stdout.split('"job": "')[1].split('"')[0]


def fall_back(user):
    return {"HOME": None, "PATH": user.env["PATH"]}


def record_once(victim):
    assert victim.track("-n", "kept").stderr == ""
    assert victim.rt("history").stderr == ""
    assert victim.database.exists()


def recording_name(n=1):
    return f"99999999999{n:02d}-r-0000000{n}.rtrk"


def attack(victim):
    return (f'output = "{victim.home}/.bashrc"\nformat = "json"\njob = "$(touch pwned)"\n'
            f'recording = "{victim.home}/elsewhere"\nsummary-json = "{victim.home}/overwritten"\n'
            'timeout = "10ms"\nreport = "x.html"\n')


def account_with_a_group_of_its_own():
    for user in pwd.getpwall():
        with_it = [other for other in pwd.getpwall() if other.pw_gid == user.pw_gid]
        group = grp.getgrgid(user.pw_gid)
        if user.pw_uid and with_it == [user] and group.gr_name == user.pw_name and not group.gr_mem:
            return user
    raise AssertionError("no user here has a group of its own")
