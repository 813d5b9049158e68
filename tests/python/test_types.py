"""Tests the type hints with mypy and pyright: those of the package, and as a user's script sees them."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYRIGHT = ["node", str(ROOT / "web/node_modules/pyright/index.js")]
PATH = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"  # pyright asks this Python

USER = '''
from typing import Dict, List

from resource_tracker import (ProcessTracker, ResourceTracker, TinyDataFrame, get_server_info, mark,
                              set_schema, track)
from resource_tracker.helpers import aggregate_stats
from resource_tracker.tiny_data_frame import StatSpec
from resource_tracker.tracker_procfs import get_process_stats


@track(interval=0.1)
def work(n: int) -> int:
    return n + 1


answer: int = work(41)
with ResourceTracker(interval=0.1, schema="0.5") as tracker:
    with tracker.phase("train"):
        mark("half")
samples: int = tracker.n_samples
frame: TinyDataFrame = tracker.get_combined_metrics()
stats: Dict[str, Dict[str, float]] = tracker.stats([StatSpec("process_cpu_usage", max)])
cpu: int = tracker.recommend_resources([stats])["cpu"]
path: str = tracker.report().save("x.html")
again: ResourceTracker = ResourceTracker.loads(tracker.dumps())
rows: List[int] = [len(frame), len(again.process_metrics)]
merged: Dict[str, Dict[str, float]] = aggregate_stats([stats, stats])
csv: ProcessTracker = ProcessTracker(1, autostart=False)
set_schema("0.5")
part: TinyDataFrame = frame[["timestamp"]][1:].to_schema("0.4")
stamps: List[float] = part["timestamp"]
row: Dict[str, float] = part[0]
print(get_server_info(), get_process_stats(1))
'''
WRONG = [("work('x')", "arg-type", "reportArgumentType"),
         ("tracker.nothing", "attr-defined", "reportAttributeAccessIssue"),
         ("ResourceTracker(interval='1s')", "arg-type", "reportArgumentType")]


def pyright(*words, folder=ROOT):
    done = subprocess.run([*PYRIGHT, *words, "--outputjson"], cwd=folder, check=False,
                          env={**os.environ, "PATH": PATH}, stdout=subprocess.PIPE,
                          encoding="utf-8")
    return json.loads(done.stdout)


def mypy(*words, folder=ROOT):
    cache = os.path.join(os.environ.get("BUILD", "build"), "mypy")
    done = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", str(ROOT / cache), *words],
                          cwd=folder, stdout=subprocess.PIPE, encoding="utf-8", check=False)
    return done.returncode, done.stdout


def test_the_package_by_mypy():
    code, out = mypy("--config-file=pyproject.toml", "bindings/python/resource_tracker")
    assert code == 0, out


def test_the_package_by_pyright():
    found = pyright()
    assert found["summary"]["filesAnalyzed"] >= 20
    assert found["generalDiagnostics"] == []


def test_every_public_name_has_a_type(tmp_path):
    found = pyright("--verifytypes", "resource_tracker", "--ignoreexternal", folder=tmp_path)
    told = found["typeCompleteness"]
    assert told["exportedSymbolCounts"]["withKnownType"] > 200
    assert [s["name"] for s in told["symbols"] if s["isExported"] and not s["isTypeKnown"]] == []
    assert told["completenessScore"] == 1


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    """A user's script, and after it one line for each mistake."""
    path = tmp_path_factory.mktemp("user") / "user.py"
    path.write_text(USER + "".join(f"{line}\n" for line, _, _ in WRONG), encoding="utf-8")
    return path


def test_a_users_script_by_mypy(script):
    _, out = mypy("--strict", "user.py", folder=script.parent)
    first = USER.count("\n") + 1
    told = [line for line in out.splitlines() if ": error: " in line]
    assert [line.split(":")[1] for line in told] == [str(first + i) for i in range(len(WRONG))], out
    for line, (_, code, _) in zip(told, WRONG):
        assert line.endswith(f"[{code}]")


def test_a_users_script_by_pyright(script):
    (script.parent / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')
    found = pyright(folder=script.parent)
    first = USER.count("\n")
    told = {(d["range"]["start"]["line"], d["rule"]) for d in found["generalDiagnostics"]
            if d["severity"] == "error"}
    wanted = {(first + i, rule) for i, (_, _, rule) in enumerate(WRONG)}
    assert wanted <= told
    assert {line for line, _ in told} == {line for line, _ in wanted}
