"""The examples of docs/python.md and of the docstrings run as they stand there."""

import doctest
import importlib
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODULES = ["helpers", "tiny_bars", "tiny_data_frame", "tracker", "decorators"]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    module = importlib.import_module(f"resource_tracker.{name}")
    result = doctest.testmod(module)
    assert result.failed == 0
    assert result.attempted > 0


def test_the_page(tmp_path, monkeypatch, capsys):
    text = (ROOT / "docs/python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert len(blocks) >= 6
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "example"}
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), names)
    assert (tmp_path / "report.html").stat().st_size > 1000
    assert "train" in capsys.readouterr().out
