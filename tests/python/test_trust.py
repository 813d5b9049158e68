"""Tests files in default places that another user may have written (docs/security.md)."""

import json
import os
import pathlib
import shutil
import struct
import tempfile

import pytest
from resource_tracker import _run, column_maps, default_schema
from resource_tracker._trust import Untrusted, check_folder, open_found, open_output

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


# ---- files that the user names for writing ----

def write(path, text="new"):
    with open_output(path, "w", encoding="utf-8") as file:
        file.write(text)


def writers():
    """The ways in which the package writes a file that the user names."""
    from resource_tracker import TinyDataFrame
    from resource_tracker._snapshots import write as save
    from resource_tracker.report import Report

    return [write, Report("page").save, TinyDataFrame({"a": [1]}).to_csv, lambda path: save(str(path), "{}")]


def link(path, target, owner=0):
    path.symlink_to(target)
    os.chown(path, owner, owner, follow_symlinks=False)


def test_what_another_user_may_have_put_there_is_not_written_to(place):
    shared, theirs, precious = place / "shared", place / "theirs", put(place / "precious.json", "mine")
    shared.mkdir()
    shared.chmod(0o1777)
    theirs.mkdir()
    os.chown(theirs, STRANGER, STRANGER)
    link(shared / "link", precious, STRANGER)
    link(shared / "way", place, STRANGER)
    link(place / "over", shared / "link")
    link(theirs / "link", precious, STRANGER)
    os.link(precious, shared / "second")
    put(shared / "file", mode=0o666, owner=STRANGER)
    os.mkfifo(shared / "fifo", 0o666)
    os.chown(shared / "fifo", STRANGER, STRANGER)
    for name in ("shared/link", "shared/way/precious.json", "over", "theirs/link", "shared/second", "shared/file",
                 "shared/fifo"):
        for way in writers():
            with pytest.raises(Untrusted):
                way(place / name)
    assert precious.read_text() == "mine" and (shared / "file").read_text() == "x"


def test_an_acl_of_a_folder_counts_for_what_is_written_there(place):
    listed, precious = folder(place / "listed"), put(place / "precious", "mine")
    link(listed / "link", precious)
    link(listed / "way", place)
    os.link(precious, listed / "second")
    names = ("link", "way/precious", "second")
    for name in names:
        write(listed / name, "mine")
    acl(listed, (2, 7, STRANGER))
    for name in names:
        with pytest.raises(Untrusted):
            write(listed / name)
    assert precious.read_text() == "mine"
    write(listed / "own")


def test_what_is_exchanged_before_it_is_opened_is_not_written_to(place, monkeypatch):
    precious, shared = put(place / "precious", "mine"), place / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    real = os.open

    def exchange(path, flags, *args, **options):
        if path == "out" and not flags & os.O_EXCL:
            (shared / "out").unlink()
            do()
        return real(path, flags, *args, **options)

    monkeypatch.setattr(os, "open", exchange)
    for do in (lambda: link(shared / "out", precious), lambda: os.link(precious, shared / "out")):
        put(shared / "out", "old")
        with pytest.raises(OSError):
            write(shared / "out")
        assert precious.read_text() == "mine"
        (shared / "out").unlink()


class Dumped:
    """A tracker whose snapshot is one word."""

    @staticmethod
    def dump(path):
        with open_output(path, "w") as file:
            file.write("snapshot")


@pytest.mark.parametrize("path", ["link", "link/new", "none/../link/new"])
def test_no_folder_of_snapshots_is_made_behind_a_link_of_another_user(place, monkeypatch, path):
    monkeypatch.setattr(_run._engine, "_core", None)
    target, shared = folder(place / "target"), folder(place / "shared", 0o777)
    link(shared / "link", target, STRANGER)
    with pytest.raises(Untrusted):
        _run._keep(Dumped, str(shared / path))
    assert list(target.iterdir()) == []


def test_a_folder_of_snapshots_is_made_where_one_s_own_links_lead(place, monkeypatch):
    monkeypatch.setattr(_run._engine, "_core", None)
    monkeypatch.chdir(place)
    link(place / "link", folder(place / "target"))
    for path in ("link/a/b", str(place / "link/a/b"), "link/a/b/"):
        assert pathlib.Path(_run._keep(Dumped, path)).parent.resolve() == place.resolve() / "target/a/b/snapshots"
    assert (place / "target/a").stat().st_mode & 0o777 == 0o700


def test_files_of_the_user_are_written_to_as_by_open(place, capfd, monkeypatch):
    file = put(place / "file", "old and longer", mode=0o640)
    os.link(file, place / "second")
    link(place / "link", "file")
    (place / "shared").mkdir()
    (place / "shared").chmod(0o1777)
    put(place / "shared/own", "old")
    link(place / "shared/link", place / "file")
    monkeypatch.chdir(place)
    for path in (file, "second", "link", "shared/own", "shared/link", "new", "./shared/new", os.fsencode(file)):
        write(path)
        with open(path) as found:
            assert found.read() == "new"
    assert (place / "link").is_symlink() and file.stat().st_mode & 0o777 == 0o640
    for path in ("/dev/stdout", "/proc/self/fd/1", "/dev/fd/1", "/dev/null"):
        write(path)
    assert capfd.readouterr().out == "new" * 3
    for path in (place, f"{place}/"):
        with pytest.raises(IsADirectoryError):
            write(path)
    with pytest.raises(FileNotFoundError):
        write("none/file")
