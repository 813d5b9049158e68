"""What is stored, with which rights, and what is never stored."""

import os
import stat

import pytest

SECRET = "hunter2-s3cr3t"


def all_bytes(rt):
    return b"".join(p.read_bytes() for p in rt.home.rglob("*") if p.is_file())



@pytest.mark.parametrize("umask", [0o000, 0o022])
def test_only_the_owner_may_look_into_the_state_directory(rt, umask):
    deep = rt.home / "a/b/state"
    before = os.umask(umask)
    try:
        assert rt.run("run", "-q", "--recording", deep, "--", "true").rc == 0
    finally:
        os.umask(before)
    for path in [rt.home / "a", rt.home / "a/b", deep, deep / "runs"]:
        assert stat.S_IMODE(path.stat().st_mode) == 0o700, path
    [recording] = (deep / "runs").iterdir()
    assert stat.S_IMODE(recording.stat().st_mode) == 0o600


@pytest.mark.parametrize("target_exists", [True, False])
def test_a_link_planted_as_runs_is_refused_and_the_job_runs(rt, target_exists):
    target = rt.home / "elsewhere"
    if target_exists:
        target.mkdir()
    rt.state.mkdir()
    (rt.state / "runs").symlink_to(target)
    result = rt.run("run", "-q", "--", "sh", "-c", "echo ran; exit 6")
    assert (result.rc, result.stdout) == (6, "ran\n")
    assert result.stderr.count("\n") == 1
    assert "symbolic link" in result.stderr and str(rt.state / "runs") in result.stderr
    assert not target_exists or not list(target.iterdir())
    assert target.exists() == target_exists


def test_a_link_among_the_recordings_is_not_read(rt):
    rt.run("run", "-q", "--", "true")
    [recording] = rt.state.glob("runs/*.rtrk")
    outside = rt.home / "outside.rtrk"
    recording.rename(outside)
    recording.symlink_to(outside)
    assert rt.run("show", "@").rc == 4
    assert rt.run("show", outside).rc == 0


def test_nothing_of_the_environment_is_stored(rt):
    out = rt.home / "samples.json"
    result = rt.track("sh", "-c", "env > /dev/null; sleep 0.5", env={"API_KEY": SECRET},
                      flags=["-f", "json", "-o", out])
    assert result.rc == 0 and out.stat().st_size
    assert SECRET.encode() not in all_bytes(rt)
    assert SECRET not in result.stderr


@pytest.mark.parametrize("how", ["flag", "variable"])
def test_redaction_keeps_programs_and_no_argument(rt, how):
    flags = ["--redact-args"] if how == "flag" else []
    env = {"RESOURCE_TRACKER_REDACT_ARGS": "1"} if how == "variable" else {}
    script = f"sh -c 'sleep 1; : {SECRET}' {SECRET}.py; true"
    result = rt.track("sh", "-c", script, f"{SECRET}.py", flags=flags, env=env)
    assert result.rc == 0
    assert SECRET.encode() not in all_bytes(rt)
    assert SECRET not in result.stderr
    assert result.summary["run"]["command"] == ["sh", "…"]
    assert result.summary["run"]["job"] == "sh"
    seen = {p["command"] for p in result.summary["top_processes"] if p["command"]}
    assert "sh …" in seen and all(c.split(" ", 1)[1] == "…" for c in seen if " " in c), seen


def test_without_redaction_the_command_is_kept(rt):
    result = rt.track("sh", "-c", "sleep 0.5", SECRET)
    assert result.summary["run"]["command"][-1] == SECRET
