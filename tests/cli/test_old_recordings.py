"""Tests that recordings of every released version can be read, with the same figures (docs/versioning.md).

tools/release/keep_recordings.sh writes them before a release."""

import json
import math

import pytest

from conftest import ROOT

KEPT = sorted((ROOT / "tests/recordings").glob("*/*.rtrk"))


def same(now, then):
    if isinstance(then, float) and isinstance(now, (int, float)):
        return math.isclose(now, then, rel_tol=1e-9, abs_tol=1e-12)
    return now == then


def test_each_version_has_recordings():
    assert {path.parent.name for path in KEPT} >= {"1.0.0"}
    assert {path.stem for path in KEPT} >= {"phases", "failed", "signalled", "ended", "cut"}


@pytest.mark.parametrize("path", KEPT, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_it_opens_and_holds_its_figures(rt, path):
    kept = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    done = rt.run("show", "--json", path)
    assert done.rc == 0, done.stderr
    found = done.json()
    assert {name: found["run"][name] for name in kept["run"]} == kept["run"]
    assert {name: found["run"]["exit"][name] for name in kept["exit"]} == kept["exit"]
    for name, total in kept["totals"].items():
        assert found["totals"][name]["quality"] == total["quality"], name
        assert same(found["totals"][name]["value"], total["value"]), name
    for name, column in kept["stats"].items():
        for key, value in column.items():
            assert same(found["stats"][name][key], value), (name, key)
    rows = rt.run("export", "--format", "jsonl", path)
    assert rows.rc == 0 and len(rows.stdout.splitlines()) == kept["rows"]


@pytest.mark.parametrize("path", KEPT, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_reader_takes_it(rt, path, tmp_path):
    for words in (["show"], ["stats"], ["report", "-o", tmp_path / "report.html"], ["report", "--format", "md"],
                  ["export", "--columns", "0.5"], ["recommend", "--no-servers"]):
        done = rt.run(*words, path)
        assert done.rc == 0, (words, done.stderr)
        assert done.stdout or (tmp_path / "report.html").stat().st_size > 10_000
