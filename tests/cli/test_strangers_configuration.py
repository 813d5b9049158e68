"""Tests docs/security.md with two users: configuration files that another user may have written."""

import os

import pytest
from strangers import (
    STRANGER,
    VICTIM,
    User,
    account_with_a_group_of_its_own,
    attack,
    job_of,
    lets_write,
    one_line,
)


def assert_unharmed(victim, result, where):
    assert result.returncode == 7
    assert not (victim.home / ".bashrc").exists() and not (victim.home / "elsewhere").exists()
    assert not (victim.home / "overwritten").exists() and not (where / "x.html").exists()
    assert job_of(victim) == "sh"


def planted_by_the_stranger(victim, stranger, path):
    stranger.put(path, attack(victim))
    return f"belongs to another user (uid {STRANGER})"


def planted_as_a_link(victim, stranger, path):
    target = stranger.put(stranger.home / "config", attack(victim))
    stranger.sh(f"ln -s {target} {path}")
    return "is a symbolic link"


def planted_as_a_link_to_the_victim_s(victim, stranger, path):
    target = victim.put(victim.home / "config", attack(victim))
    stranger.sh(f"ln -s {target} {path}")
    return "is a symbolic link"


def planted_as_a_fifo(victim, stranger, path):
    stranger.sh(f"mkfifo -m 666 {path}")
    return "is not a regular file"


def planted_as_a_directory(victim, stranger, path):
    stranger.sh(f"mkdir {path}")
    return "is not a regular file"


def planted_as_a_second_name(victim, stranger, path):
    # As with fs.protected_hardlinks = 0.
    os.link(victim.put(victim.home / "config", attack(victim)), path)
    return "has a second hard link"


def written_by_all(victim, stranger, path):
    victim.put(path, attack(victim), 0o666)
    return "other users may write to"


def written_by_a_group(victim, stranger, path):
    victim.put(path, attack(victim), 0o664)
    os.chown(path, victim.uid, stranger.gid)
    return "other users may write to"


def written_by_a_user_of_an_acl(victim, stranger, path):
    lets_write(victim.put(path, attack(victim)), STRANGER)
    return "access control list"


def a_syntax_error(victim, stranger, path):
    stranger.put(path, "no [ TOML")
    return "belongs to another user"


def as_large_as_it_gets(victim, stranger, path):
    stranger.put(path, "")
    os.truncate(path, 1 << 40)
    return "belongs to another user"


PLANTED = [planted_by_the_stranger, planted_as_a_link, planted_as_a_link_to_the_victim_s,
           planted_as_a_fifo, planted_as_a_directory, planted_as_a_second_name, written_by_all,
           written_by_a_user_of_an_acl,
           written_by_a_group, a_syntax_error, as_large_as_it_gets]


@pytest.mark.parametrize("plant", PLANTED, ids=lambda f: f.__name__)
def test_a_configuration_that_another_user_may_have_written_is_as_if_it_were_not_there(
        world, victim, stranger, plant):
    words = plant(victim, stranger, world.shared / "resource-tracker.toml")
    result = victim.track(cwd=world.shared)
    one_line(result.stderr, words, "the configuration is ignored")
    assert_unharmed(victim, result, world.shared)


@pytest.mark.parametrize("verb", ["attach", "system", "config"])
def test_no_verb_reads_it(world, victim, stranger, verb):
    planted_by_the_stranger(victim, stranger, world.shared / "resource-tracker.toml")
    args = {"attach": ["attach", "-q", "--duration", "0.2", os.getpid()],
            "system": ["system", "-q", "--duration", "0.2"], "config": ["config"]}[verb]
    result = victim.rt(*args, cwd=world.shared)
    assert result.returncode == 0, result.stderr
    one_line(result.stderr, "belongs to another user")
    assert "output" not in result.stdout and not (victim.home / ".bashrc").exists()


@pytest.mark.parametrize("mode", [0o777, 0o775])
@pytest.mark.parametrize("depth", [0, 1, 2])
def test_a_directory_on_the_way_that_others_may_write_to(world, victim, stranger, mode, depth):
    """They could put another directory of the user's there."""
    where = world.base / "open"
    stranger.folder(where)
    os.chown(where, 0, stranger.gid)
    where.chmod(mode)
    for i in range(depth):
        where = victim.folder(where / str(i))
    victim.put(where / "resource-tracker.toml", attack(victim))
    result = victim.track(cwd=where)
    one_line(result.stderr, f"other users may write to {world.base}/open (mode 0{mode:o})")
    assert_unharmed(victim, result, where)


def test_a_directory_on_the_way_that_another_user_owns(world, victim, stranger):
    where = victim.folder(stranger.folder(world.base / "theirs") / "mine")
    victim.put(where / "resource-tracker.toml", attack(victim))
    result = victim.track(cwd=where)
    one_line(result.stderr, f"{world.base}/theirs belongs to another user")
    assert_unharmed(victim, result, where)


def test_a_link_on_the_way_that_another_user_made(world, victim, stranger):
    config = victim.put(victim.home / "real/resource-tracker/config.toml", 'job = "real"\n')
    stranger.sh(f"ln -s {config.parent.parent} {world.shared}/xdg")
    result = victim.track(env={"XDG_CONFIG_HOME": world.shared / "xdg"})
    one_line(result.stderr, "belongs to another user")
    assert job_of(victim) == "sh"


@pytest.mark.parametrize("owner", ["victim", "root"])
@pytest.mark.parametrize("place", ["home", "sticky", "link"])
def test_one_s_own_and_root_s_are_read(world, victim, owner, place):
    where = {"home": victim.folder(victim.home / "project"), "sticky": world.shared,
             "link": victim.home / "link"}[place]
    if place == "link":  # as where /home is one
        victim.folder(world.base / "data/real")
        where.symlink_to(world.base / "data/real")
        os.chown(where, victim.uid, victim.gid, follow_symlinks=False)
    path = victim.put(where / "resource-tracker.toml", 'job = "named"\n')
    if owner == "root":
        os.chown(path, 0, 0)
    result = victim.track(cwd=where)
    assert (result.returncode, result.stderr) == (7, "")
    assert job_of(victim) == "named"


def test_the_group_that_is_the_user_s_own_may_write(world):
    account = account_with_a_group_of_its_own()
    user = User(world, account.pw_uid, account.pw_gid)
    user.home.chmod(0o775)
    config = user.put(user.home / "resource-tracker.toml", 'job = "named"\n', 0o664)
    result = user.track(umask=0o002)
    assert (result.returncode, result.stderr) == (7, "")
    assert user.rt("history").stderr == ""
    assert job_of(user) == "named"
    os.chown(config, user.uid, STRANGER)
    one_line(user.track().stderr, "other users may write to")


# Nobody else can give a file a second name in a directory of the user's own.
@pytest.mark.parametrize("plant", [p for p in PLANTED if p is not planted_as_a_second_name],
                         ids=lambda f: f.__name__)
def test_the_user_s_configuration_is_held_to_the_same(world, victim, stranger, plant):
    path = victim.folder(world.shared / "config") / "resource-tracker/config.toml"
    stranger.folder(path.parent)
    plant(victim, stranger, path)
    os.chown(path.parent, victim.uid, victim.gid)
    result = victim.track(env={"XDG_CONFIG_HOME": path.parent.parent})
    one_line(result.stderr, "the configuration is ignored")
    assert_unharmed(victim, result, victim.home)


def test_a_file_that_is_named_is_read_whoever_owns_it(world, victim, stranger):
    stranger.put(world.shared / "site.toml", 'job = "site"\n')
    result = victim.track("--config", world.shared / "site.toml")
    assert (result.returncode, result.stderr) == (7, "") and job_of(victim) == "site"
    stranger.sh(f"mkfifo -m 666 {world.shared}/fifo")
    result = victim.track("--config", world.shared / "fifo")
    assert result.returncode == 125
    one_line(result.stderr, "not a regular file")


def test_root_does_not_read_a_user_s(world, victim):
    root = User(world, 0)
    victim.put(victim.home / "resource-tracker.toml", attack(victim))
    result = root.track(cwd=victim.home)
    assert result.returncode == 7
    one_line(result.stderr, f"belongs to another user (uid {VICTIM})")
