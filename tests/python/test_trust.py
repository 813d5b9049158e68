"""Tests files in default places that another user may have written (docs/security.md)."""

import json
import os
import pathlib
import shutil
import struct
import tempfile

import pytest
from resource_tracker import column_maps, default_schema
from resource_tracker._trust import Untrusted, check_folder, open_found

STRANGER = 64102
NOBODY = 0xFFFFFFFF  # the id of entries of an ACL that name nobody


@pytest.fixture
def place():
    """A folder that nobody else may write to, in /tmp; the tests need root, to give files away."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to make files of another user")
    path = pathlib.Path(tempfile.mkdtemp(prefix="trust-", dir="/tmp"))
    yield path
    shutil.rmtree(path)


def put(path, text="x", mode=0o644, owner=0):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    os.chown(path, owner, owner)
    return path


def folder(path, mode=0o755, owner=0):
    path.mkdir(parents=True, exist_ok=True)
    path.chmod(mode)
    os.chown(path, owner, owner)
    return path


def of_the_stranger(place):
    return put(place / "f", owner=STRANGER)


def written_by_all(place):
    return put(place / "f", mode=0o666)


def written_by_a_group(place):
    path = put(place / "f", mode=0o664)
    os.chown(path, 0, STRANGER)
    return path


def acl(path, *entries):
    """Give a file or directory a POSIX ACL with these entries beside those of its mode."""
    every = sorted([(1, 6, NOBODY), (4, 4, NOBODY), (16, 7, NOBODY), (32, 4, NOBODY), *entries])
    try:
        os.setxattr(path, "system.posix_acl_access",
                    struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in every))
    except OSError as error:
        pytest.skip(f"no POSIX ACLs on the file system of /tmp: {error}")
    return path


def written_by_a_user_of_an_acl(place):
    return acl(put(place / "f"), (2, 6, STRANGER))


def written_by_a_group_of_an_acl(place):
    return acl(put(place / "f"), (8, 2, STRANGER))


def below_what_an_acl_lets_the_stranger_write_to(place):
    return put(acl(folder(place / "open"), (2, 7, STRANGER)) / "f")


def a_link(place):
    (place / "f").symlink_to(put(place / "real"))
    return place / "f"


def a_pipe(place):
    os.mkfifo(place / "f")
    return place / "f"


def a_device(place):
    os.mknod(place / "f", 0o20666, os.makedev(1, 5))
    return place / "f"


def a_folder(place):
    return folder(place / "f")


def below_what_all_may_write_to(place):
    return put(folder(place / "open", 0o777) / "mine" / "f")


def below_what_the_stranger_has(place):
    return put(folder(place / "theirs", owner=STRANGER) / "mine" / "f")


def a_second_name(place):
    os.link(put(place / "real"), folder(place / "sticky", 0o1777) / "f")
    return place / "sticky" / "f"


def behind_a_link_of_the_stranger(place):
    put(place / "real" / "f")
    (folder(place / "sticky", 0o1777) / "link").symlink_to(place / "real")
    os.chown(place / "sticky" / "link", STRANGER, STRANGER, follow_symlinks=False)
    return place / "sticky" / "link" / "f"


PLANTED = [of_the_stranger, written_by_all, written_by_a_group, a_link, a_pipe, a_device, a_folder,
           below_what_all_may_write_to, below_what_the_stranger_has, a_second_name,
           behind_a_link_of_the_stranger, written_by_a_user_of_an_acl, written_by_a_group_of_an_acl,
           below_what_an_acl_lets_the_stranger_write_to]


@pytest.mark.parametrize("plant", PLANTED, ids=lambda f: f.__name__)
def test_what_another_user_may_have_written_is_not_opened(place, plant):
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(Untrusted):
        open_found(str(plant(place)))
    assert len(os.listdir("/proc/self/fd")) == before


def test_what_is_not_there_is_not_untrusted(place):
    for path in (place / "none", place / "none" / "f", put(place / "file") / "f"):
        with pytest.raises(OSError) as caught:
            open_found(str(path))
        assert not isinstance(caught.value, Untrusted)


def test_one_s_own_is_opened_also_behind_one_s_own_links(place, monkeypatch):
    put(place / "real" / "f", "mine")
    (place / "absolute").symlink_to(place / "real")
    (place / "relative").symlink_to("absolute/../real")
    folder(place / "sticky", 0o1777)
    monkeypatch.chdir(place)
    for path in (place / "real/f", place / "absolute/f", place / "relative/f", "real/f",
                 put(place / "sticky/f", "mine")):
        with open(open_found(str(path)), encoding="utf-8") as file:
            assert file.read() == "mine"
    private = acl(put(place / "f", "mine"), (2, 4, STRANGER), (2, 6, 0), (8, 6, 0))
    with open(open_found(str(private)), encoding="utf-8") as file:
        assert file.read() == "mine"
    (place / "round").symlink_to("round")
    with pytest.raises(OSError):
        open_found(str(place / "round" / "f"))


def test_a_folder_of_others_is_refused(place):
    check_folder(str(folder(place / "mine")))
    for path in (folder(place / "open", 0o777), folder(place / "theirs", owner=STRANGER),
                 put(place / "file")):
        with pytest.raises(Untrusted):
            check_folder(str(path))


@pytest.mark.parametrize("plant", PLANTED, ids=lambda f: f.__name__)
def test_a_configuration_of_others_is_ignored_with_one_line(place, plant, monkeypatch, caplog):
    path = plant(place)
    if path.is_file():
        path.write_text("[python]\nschema = '0.5'\n")
    config = path.parent / "resource-tracker"
    config.mkdir()
    path.rename(config / "config.toml")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(path.parent))
    monkeypatch.delenv("RESOURCE_TRACKER_CONFIG", raising=False)
    monkeypatch.setattr(column_maps, "_configured", None)
    if plant is not a_second_name:  # nobody can give one in a folder of the user's own
        assert default_schema() == "0.4"
        [line] = caplog.messages
        assert line.startswith(str(place)) and line.endswith(": the configuration is ignored")


# ---- what a killed step of a flow has left ----


@pytest.fixture
def notes(place, monkeypatch):
    """(folder of a run, function that stores what is left in it, list of pages that were stored)"""
    pytest.importorskip("metaflow")
    from metaflow_extensions.resource_tracker.plugins.track_resources import card, decorator

    stored = []

    class Remote:
        TYPE = "remote"

    class Stored(card.RemoteCard):
        def __init__(self, folder):
            super().__init__(None, "name", "id", folder, {})

        def save(self, page):
            stored.append(page)

    monkeypatch.setattr("metaflow.plugins.DATASTORES", [Remote])
    monkeypatch.setattr(card, "card_of", lambda kind, pathspec, attempt, where: Stored(where))
    top = place / "shared" / "run"
    folder(top / "task", 0o700)
    top.chmod(0o700)
    (top / "task" / card.NOTE).write_text(json.dumps(
        {"kind": "remote", "pathspec": "F/1/start/1", "attempt": 0, "page": str(top / "task/card.html")}))
    (top / "task" / "card.html").write_text("<html>")

    def finish():
        monkeypatch.setattr(decorator, "_run_folder", str(top))
        decorator.TrackResourcesDecorator().runtime_finished(None)

    return top, finish, stored


def test_what_a_killed_task_has_left_is_stored(notes):
    top, finish, stored = notes
    finish()
    assert stored == ["<html>"] and not top.exists()


@pytest.mark.parametrize("which", ["run", "shared", "task", "card.json"])
def test_notes_that_another_user_may_have_written_are_not_followed(notes, which, capsys):
    top, finish, stored = notes
    path = next(p for p in (top, top.parent, top / "task", top / "task/card.json") if p.name == which)
    os.chown(path, STRANGER, STRANGER)
    finish()
    assert stored == []
    if which in ("run", "shared"):
        out = capsys.readouterr().out
        assert out.count("\n") == 1 and f"belongs to another user (uid {STRANGER})" in out


@pytest.mark.parametrize("kind", ["link", "pipe"])
@pytest.mark.parametrize("name", ["card.json", "card.html"])
def test_what_is_no_file_is_not_stored_and_does_not_hang(notes, name, kind):
    top, finish, stored = notes
    path = top / "task" / name
    path.rename(top.parent / "secret")
    path.symlink_to(top.parent / "secret") if kind == "link" else os.mkfifo(path)
    finish()
    assert stored == []


def test_a_page_whose_program_has_gone_is_not_waited_for(notes, monkeypatch):
    from metaflow_extensions.resource_tracker.plugins.track_resources import card

    top, finish, _ = notes
    (top / "task/card.html").write_text("<html data-live=\"2\">")
    slept = []
    monkeypatch.setattr(card.time, "sleep", slept.append)
    finish()
    assert slept == []
