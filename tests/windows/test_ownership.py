"""Tests that files in default places are used only if they belong to the user. Wine derives the owner of a file from
Linux: another uid is another user."""

import os

import pytest
from conftest import PROGRAM, ROOT, WINE, run, windows_path

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
OTHER = 65534


@pytest.fixture
def call(prefix, tmp_path):
    """call(*words): the program, which finds the folders for the state and the configuration by variables."""
    for name in ("state", "config"):
        (tmp_path / name / "resource-tracker").mkdir(parents=True)
    (tmp_path / "config/resource-tracker/config.toml").write_text("[run]\njob = \"from the file\"\n")
    return lambda *words: run([WINE, PROGRAM, *words], tmp_path, {"XDG_STATE_HOME": windows_path(tmp_path / "state"),
                                                                  "XDG_CONFIG_HOME": windows_path(tmp_path / "config")})


def test_ones_own_are_used(call, tmp_path):
    assert call("config").stdout.startswith(b'job = "from the file"  # ')
    assert call("import", windows_path(ROOT / "tests/fixtures/import/system-0.5.csv")).rc == 0
    assert len(list((tmp_path / "state").rglob("*.rtrk"))) == 1


def test_a_configuration_of_another_user_is_ignored(call, tmp_path):
    os.chown(tmp_path / "config/resource-tracker/config.toml", OTHER, OTHER)
    result = call("config")
    assert result.rc == 0 and b"from the file" not in result.stdout
    assert "config.toml belongs to another user: the configuration is ignored" in result.stderr
    assert result.stderr.count("\n") == 1


def test_no_recording_goes_to_a_folder_of_another_user(call, tmp_path):
    os.chown(tmp_path / "state/resource-tracker", OTHER, OTHER)
    result = call("import", windows_path(ROOT / "tests/fixtures/import/system-0.5.csv"))
    assert result.rc != 0
    assert "belongs to another user: no recordings are kept or read there" in result.stderr
    assert not list((tmp_path / "state").rglob("*.rtrk"))
