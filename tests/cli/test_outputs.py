"""Tests files that a user names as output, with each option that names one. What exists at the path decides the
result."""

import os
import subprocess

import pytest

# Flags of `run`, and words of other verbs, that FILE follows.
STREAMS = {"run -o": ["run", "-f", "csv", "-o", "FILE", "--", "sh", "-c", "echo out; exit 7"],
           "export -o": ["export", "-o", "FILE", "@"]}
DOCUMENTS = {"--summary-json": ["run", "-q", "--summary-json", "FILE", "--", "sh", "-c",
                                "echo out; exit 7"],
             "--report": ["run", "-q", "--report=FILE", "--", "sh", "-c", "echo out; exit 7"],
             "report -o": ["report", "-o", "FILE", "@"]}
ALL = {**STREAMS, **DOCUMENTS}
each = pytest.mark.parametrize("words", ALL.values(), ids=ALL.keys())


@pytest.fixture(autouse=True)
def fixture_run(rt):
    assert rt.run("run", "-q", "--", "sleep", "0.1").rc == 0


def to(rt, words, path):
    return rt.run(*[word.replace("FILE", str(path)) for word in words])


def code(words, otherwise=0):
    return 7 if words[0] == "run" else otherwise


@each
@pytest.mark.parametrize("there", [True, False], ids=["link", "dangling"])
def test_a_link_is_followed_and_stays(rt, words, there):
    (rt.home / "far").mkdir()
    suffix = "csv" if words[0] == "export" else "md"
    target, link = rt.home / f"far/target.{suffix}", rt.home / f"near.{suffix}"
    if there:
        target.write_text("old")
        target.chmod(0o600)
    link.symlink_to(f"far/target.{suffix}")
    result = to(rt, words, link)
    assert result.rc == code(words), result.stderr
    assert link.is_symlink()
    assert target.stat().st_size > 20
    assert not there or target.stat().st_mode & 0o777 == 0o600
    assert os.listdir(rt.home / "far") == [target.name]


@each
@pytest.mark.parametrize("what", ["loop", "folder", "nowhere/file", "into-nowhere"])
def test_what_cannot_be_written_is_told_in_one_line(rt, words, what):
    (rt.home / "loop").symlink_to("loop")
    (rt.home / "folder").mkdir()
    (rt.home / "into-nowhere").symlink_to("nowhere/file")
    result = to(rt, words, rt.home / what)
    job_runs = words[0] == "run" and "-o" not in words
    assert result.rc == (7 if job_runs else 125 if words[0] == "run" else 1), result.stderr
    assert (result.stdout == "out\n") == job_runs
    # A folder that is missing before the job may be there at its end: it is said at both moments.
    moments = 2 if job_runs and what == "nowhere/file" else 1
    lines = result.stderr.splitlines()
    assert len(lines) == moments and all(f"/{what}: " in line for line in lines)
    assert (rt.home / "loop").is_symlink() and os.listdir(rt.home / "folder") == []


@each
def test_stdout_by_name_is_stdout_where_it_stands(rt, words):
    (rt.home / "log").symlink_to("/dev/stdout")
    # Not /dev/stdout itself: a program that replaced it would do so for the whole machine.
    for name in ("/proc/self/fd/1", rt.home / "log", "-"):
        command = [str(rt.path), *[w.replace("FILE", str(name)) for w in words]]
        with open(rt.home / "all", "wb") as out:
            out.write(b"before\n")
            out.flush()
            done = subprocess.run(command, env=rt.env, cwd=rt.home, stdout=out, check=False,
                                  stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
            out.seek(0, os.SEEK_END)
            out.write(b"after\n")
        assert done.returncode == code(words), done.stderr
        text = (rt.home / "all").read_text()
        assert text.startswith("before\n") and text.endswith("after\n")
        assert ("out\n" in text) == (words[0] == "run")
        assert len(text) > 40  # more than these
    assert not (rt.home / "-").exists()


@each
def test_devices_and_pipes_are_written_to(rt, words):
    assert to(rt, words, "/dev/null").rc == code(words)
    os.mkfifo(rt.home / "fifo")
    with subprocess.Popen(["cat", rt.home / "fifo"], stdout=subprocess.PIPE) as reader:
        assert to(rt, words, rt.home / "fifo").rc == code(words)
        assert len(reader.stdout.read()) > 20
    full = to(rt, words, "/dev/full")
    assert full.rc == code(words, 1)
    assert full.stderr.count("No space left on device") == 1
