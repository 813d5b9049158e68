"""Tests that the examples in docs/ and in docstrings run unchanged, and that the site of the documentation builds and
needs no network."""

import doctest
import importlib
import pathlib
import os
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODULES = ["helpers", "tiny_bars", "tiny_data_frame", "tracker", "decorators"]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    module = importlib.import_module(f"resource_tracker.{name}")
    result = doctest.testmod(module)
    assert result.failed == 0
    assert result.attempted > 0


def blocks_of(page):
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"),
                      re.DOTALL | re.MULTILINE)


PAGES = sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md")
               if blocks_of(page))


def run_page(name):
    """In the working directory. Each block is a file, where Metaflow looks for the source of steps."""
    names = {"__name__": "example"}
    for number, block in enumerate(blocks_of(ROOT / name)):
        path = pathlib.Path(f"example-{number}.py").resolve()
        path.write_text(block, encoding="utf-8")
        exec(compile(block, path, "exec"), names)


@pytest.mark.parametrize("name", PAGES)
def test_a_page(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_page(name)


def test_names_that_the_pages_name_exist():
    import resource_tracker

    tracker = resource_tracker.ResourceTracker(autostart=False)
    for page in (ROOT / "docs").rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        for name in re.findall(r"\b(?:[Tt]racker|ResourceTracker)\.([a-z_]+)(?=\()", text):
            assert hasattr(tracker, name), f"{page.name}: {name}()"
        for module, name in re.findall(r"\bresource_tracker\.(?!dll\b)([a-z_]+)\.([A-Za-z_]+)\b", text):
            assert hasattr(importlib.import_module(f"resource_tracker.{module}"), name), f"{page.name}: {module}.{name}"


def test_the_guide_says_what_comes_of_it(tmp_path, monkeypatch, capsys):
    assert len(PAGES) >= 7 and len(blocks_of(ROOT / "docs/python.md")) >= 6
    monkeypatch.chdir(tmp_path)
    run_page("docs/python.md")
    assert (tmp_path / "report.html").stat().st_size > 1000
    assert "train" in capsys.readouterr().out


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, encoding="utf-8", stdin=subprocess.DEVNULL, check=False)
    assert done.returncode == 0, done.stdout
    return folder


def test_the_site_has_every_page_and_public_name(site):
    pages = {str(p.relative_to(ROOT / "docs"))[:-3] for p in (ROOT / "docs").rglob("*.md")}
    assert pages <= {str(p.relative_to(site))[:-5] for p in site.rglob("*.html")}
    text = "".join(p.read_text(encoding="utf-8") for p in (site / "api").glob("*.html"))
    from resource_tracker.tracker import ResourceTracker

    for name in [n for n in vars(ResourceTracker) if not n.startswith("_")]:
        assert f'id="resource_tracker.tracker.ResourceTracker.{name}"' in text
    # A description of several lines is one returned value, not one for each line.
    returned = re.findall(r'title">Returns:</span>(.*?)</table>', text, re.DOTALL)
    assert len(returned) > 5 and {table.count('"doc-section-item"') for table in returned} == {1}


def test_the_site_loads_nothing_from_elsewhere(site):
    for page in site.rglob("*.html"):
        loads = re.findall(r"<(?:script|link|img|iframe)[^>]*(?:src|href)=\"?(https?:[^\" >]*)",
                           page.read_text(encoding="utf-8"))
        assert loads == []
