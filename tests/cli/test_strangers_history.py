"""Tests docs/security.md with two users: the database of the history, and the contents of its rows."""

import os
import sqlite3

import pytest
from strangers import VICTIM, one_line, record_once

# ---- the history's database ----


def lists_from_the_recordings(victim, *words, env=None):
    result = victim.rt("history", env=env)
    assert result.returncode == 0 and "kept" in result.stdout
    one_line(result.stderr, *words, "history is read from the recordings")


@pytest.mark.parametrize("end", ["", "-wal", "-shm", "-journal"])
@pytest.mark.parametrize("kind", ["link", "fifo", "theirs", "writable"])
def test_a_database_or_what_lies_beside_it_must_be_the_user_s_own_file(victim, stranger, end,
                                                                       kind):
    record_once(victim)
    path = victim.state / f"history.sqlite{end}"
    path.unlink(missing_ok=True)
    target = victim.home / "other"
    if kind == "link":
        # Another program's database of the same user.
        with sqlite3.connect(target) as other:
            other.execute("CREATE TABLE theirs (x)")
        os.chown(target, VICTIM, VICTIM)
        path.symlink_to(target)
    elif kind == "fifo":
        os.mkfifo(path)
        os.chown(path, VICTIM, VICTIM)
    else:
        (stranger if kind == "theirs" else victim).put(path, "", 0o666)
    before = target.read_bytes() if target.exists() else None
    lists_from_the_recordings(victim, {
        "link": "is a symbolic link", "fifo": "is not a regular file",
        "theirs": "belongs to another user", "writable": "other users may write to"}[kind])
    assert (target.read_bytes() if target.exists() else None) == before


@pytest.mark.parametrize("sql", [
    "CREATE TRIGGER t AFTER INSERT ON run BEGIN UPDATE run SET job = 'pwned'; END",
    "CREATE VIEW v AS SELECT 1",
    "CREATE TABLE theirs (x)",
    "CREATE INDEX i ON run (abs(start_s))",
    "CREATE TABLE theirs (x); PRAGMA user_version = 0",
    "ALTER TABLE run RENAME TO r; CREATE VIEW run AS SELECT * FROM r",
    "ALTER TABLE run ADD COLUMN y AS (abs(start_s))",
])
def test_a_database_with_more_than_our_tables_is_left_alone(victim, sql):
    record_once(victim)
    with sqlite3.connect(victim.database) as database:
        database.executescript(sql)
    database.close()
    assert victim.track("-n", "kept").stderr == ""
    before = victim.database.read_bytes()
    lists_from_the_recordings(victim, "holds tables, triggers or views that are not")
    assert victim.database.read_bytes() == before
    assert "pwned" not in victim.rt("history").stdout


def test_another_program_s_database_is_not_written_to(victim):
    assert victim.track("-n", "kept").stderr == ""
    with sqlite3.connect(victim.database) as other:
        other.execute("CREATE TABLE theirs (x)")
    os.chown(victim.database, VICTIM, VICTIM)
    before = victim.database.read_bytes()
    lists_from_the_recordings(victim, "are not resource-tracker's")
    assert victim.database.read_bytes() == before


def test_no_database_is_kept_where_others_may_write(world, victim, stranger):
    """In a named directory; the stranger could put one there, or its log."""
    for where in (victim.folder(world.base / "open", 0o777), world.shared / "sticky",
                  victim.folder(victim.folder(world.base / "way", 0o777) / "mine")):
        assert victim.track("-n", "kept", "--recording", where).stderr == ""
        if where.name == "sticky":
            where.chmod(0o1777)
        result = victim.rt("history", "--recording", where)
        assert result.returncode == 0 and "kept" in result.stdout
        one_line(result.stderr, "other users may write to", "history is read from the recordings")
        assert [p.name for p in where.iterdir()] == ["runs"]


# ---- names in the history ----


def set_file(victim, name, **more):
    with sqlite3.connect(victim.database) as database:
        database.execute("DELETE FROM run WHERE n <> (SELECT min(n) FROM run)")
        database.execute("UPDATE run SET file = ?", [name])
        for column, value in more.items():
            database.execute(f"UPDATE run SET {column} = ?", [value])
    database.close()


def test_a_name_in_the_history_never_leads_out_of_the_directory(victim):
    record_once(victim)
    precious = victim.put(victim.state / "precious", "mine")
    inside = victim.put(victim.runs / "notes.txt", "mine")
    for name in ("../precious", str(precious), "notes.txt", "x/../../precious", ".", "..", ""):
        set_file(victim, name, start_s=1e9)
        result = victim.rt("prune", "--older-than", "1d")
        assert result.returncode == 0 and "removed" not in result.stdout, (name, result)
        assert precious.read_text() == "mine" and inside.read_text() == "mine"


def test_a_row_of_another_run_does_not_remove_a_recording(victim):
    """As one that a colleague has sent to the history of a team."""
    record_once(victim)
    [recording] = victim.runs.iterdir()
    set_file(victim, recording.name, id="r-00000000", start_s=1e9)
    assert "removed" not in victim.rt("prune", "--older-than", "1d").stdout
    assert recording.exists()
    # Its own row, with a start that is not its own.
    run_id = recording.name.split("-", 1)[1].removesuffix(".rtrk")
    set_file(victim, recording.name, id=run_id, start_s=1e9)
    assert "removed" not in victim.rt("prune", "--older-than", "1d").stdout
    assert recording.exists()
    set_file(victim, recording.name, start_s=int(recording.name.split("-")[0]) / 1000)
    assert "removed" in victim.rt("prune", "--keep", "0").stdout
    assert not recording.exists()


@pytest.mark.parametrize("verb", [["recommend", "kept"], ["compare"], ["history"]])
def test_no_verb_opens_what_a_row_names_outside(victim, verb):
    record_once(victim)
    victim.track("-n", "kept")
    victim.rt("history")
    os.mkfifo(victim.home / "fifo", 0o666)
    os.chown(victim.home / "fifo", VICTIM, VICTIM)
    with sqlite3.connect(victim.database) as database:
        for (n,) in database.execute("SELECT n FROM run").fetchall():
            database.execute("UPDATE run SET file = ? WHERE n = ?",
                             ["./" * n + "../../../../../fifo", n])
    database.close()
    assert victim.rt(*verb).returncode in (0, 4)


def test_an_id_in_the_history_does_not_reach_the_terminal_as_it_is(victim):
    record_once(victim)
    set_file(victim, "", id="r-\x1b]0;pwned\x07", verdict="\x1b[2Jx")
    result = victim.rt("history")
    assert "\x1b" not in result.stdout and "\x07" not in result.stdout
