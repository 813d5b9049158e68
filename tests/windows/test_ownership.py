"""Tests that files in default places are used only if they belong to the user. Wine derives the owner of a file from
Linux: another uid is another user."""

import os
import shutil

import pytest
from conftest import PROGRAM, WINE, run, windows_path

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
OTHER = 65534


@pytest.fixture
def places(prefix, job_program, tmp_path):
    """Folders for the state and the configuration, which the program finds by variables."""
    shutil.copyfile(job_program, tmp_path / "job.exe")
    for name in ("state", "config"):
        (tmp_path / name / "resource-tracker").mkdir(parents=True)
    (tmp_path / "config/resource-tracker/config.toml").write_text("[run]\njob = \"from the file\"\n")
    return tmp_path


def track(folder):
    """A small run in the folder."""
    return run([WINE, PROGRAM, "run", "--no-discovery", "--summary", "never", "--", ".\\job.exe", "exit", "3"], folder,
               {"XDG_STATE_HOME": windows_path(folder / "state"), "XDG_CONFIG_HOME": windows_path(folder / "config")})


def recordings(folder):
    return list((folder / "state").rglob("*.rtrk"))


def test_ones_own_are_used(places):
    result = track(places)
    assert (result.rc, result.stderr) == (3, "")
    assert len(recordings(places)) == 1


def test_a_configuration_of_another_user_is_ignored(places):
    os.chown(places / "config/resource-tracker/config.toml", OTHER, OTHER)
    result = track(places)
    assert result.rc == 3
    assert "config.toml belongs to another user: the configuration is ignored" in result.stderr
    assert result.stderr.count("\n") == 1
    assert len(recordings(places)) == 1


def test_no_recording_goes_to_a_folder_of_another_user(places):
    os.chown(places / "state/resource-tracker", OTHER, OTHER)
    result = track(places)
    assert result.rc == 3  # the job has run
    assert "belongs to another user: no recordings are kept or read there" in result.stderr
    assert recordings(places) == []
