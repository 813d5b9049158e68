"""Runs unchanged scripts of users of two versions of the original package. users/original.json is the output of each
script with the original package from PyPI (python tests/python/users/SCRIPT.py): names, types, texts."""

import json
import pathlib
import subprocess
import sys

import pytest

USERS = pathlib.Path(__file__).resolve().parent / "users"
ORIGINAL = json.loads((USERS / "original.json").read_text(encoding="utf-8"))

# Where ours differ on purpose (docs/compatibility-python.md): what comes on top of the original's.
MORE = {
    "background_0_4.py": {"server": {"details", "gpu_memory_mib", "memory_mib"}},
    "now_0_4.py": {"server": {"details", "gpu_memory_mib", "memory_mib"}},
    "context_0_5.py": {"snapshot": {"phases", "totals", "top_processes"},
                       "metadata": {"schema", "job", "scope", "exit_code", "run_status"}},
    "csv_0_5.py": {},
}


def test_every_script_has_its_original():
    assert {path.name for path in USERS.glob("*.py")} == set(ORIGINAL) == set(MORE)


# With the one setting a script of the newer version finds its names everywhere.
RUNS = [(name, None) for name in ORIGINAL] + [(name, "0.5") for name in ORIGINAL if "_0_5" in name]


@pytest.mark.parametrize("name, schema", RUNS)
def test_a_script_prints_what_it_printed(name, schema, tmp_path, monkeypatch):
    if schema:
        monkeypatch.setenv("RESOURCE_TRACKER_SCHEMA", schema)
    done = subprocess.run([sys.executable, str(USERS / name)], cwd=tmp_path, stdout=subprocess.PIPE,
                          encoding="utf-8", stdin=subprocess.DEVNULL, check=True, timeout=120)
    ours, theirs = json.loads(done.stdout), dict(ORIGINAL[name]["prints"])
    for key, more in MORE[name].items():
        assert set(ours.pop(key)) == set(theirs.pop(key)) | more
    if name == "background_0_4.py":  # 0.4 read all numbers as floats; whole ones stay whole here
        kinds = {key: {value, "int"} for key, value in theirs.pop("row").items()}
        assert all(value in kinds.pop(key) for key, value in ours.pop("row").items())
        assert kinds == {}
    if name == "csv_0_5.py" and not schema:  # the default schema is 0.4's, whose names have no unit
        assert [column.replace("_mib", "") for column in theirs.pop("system")] == ours.pop("system")
    assert ours == theirs
