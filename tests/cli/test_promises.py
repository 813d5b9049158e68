"""Tests that the names which a release promised still exist (docs/versioning.md), for each list of this major version
in tests/names.

tools/release/names.py wrote the lists, and collects the current names."""

import importlib.util
import re

import pytest

from conftest import ROOT

LISTS = sorted((ROOT / "tests/names").glob("*.txt"))
pytestmark = pytest.mark.native


def names_module():
    spec = importlib.util.spec_from_file_location("names", ROOT / "tools/release/names.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


NAMES = names_module()


@pytest.fixture(scope="module")
def today(rt_path):
    return NAMES.collect(rt_path)


def version():
    return re.search(r"^  version: '(.*)',", (ROOT / "meson.build").read_text(encoding="utf-8"), re.M)[1]


def promised(path):
    """(names of JSON as command and path, all other names) of a list."""
    lines = path.read_text(encoding="utf-8").splitlines()
    keys = [line.removeprefix("json ").split(": ", 1) for line in lines if line.startswith("json ")]
    return keys, {line for line in lines if not line.startswith("json ")}


def test_each_released_version_has_a_list():
    """A release is a section of the change log with a date."""
    released = re.findall(r"^## \[(\S+)\] - \d", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    assert set(released) == {path.stem for path in LISTS}


def test_no_name_is_gone(today):
    names, documents = today
    for path in LISTS:
        if path.stem.split(".")[0] != version().split(".")[0]:
            continue
        keys, others = promised(path)
        gone = sorted(others - names)
        gone += [f"json {command}: {key}" for command, key in keys
                 if not any(NAMES.has(document, key) for document in documents[command])]
        assert gone == [], path.name


def test_each_document_names_its_schema(today):
    for command, found in today[1].items():
        if "jsonl" not in command:
            assert re.fullmatch(r"resource-tracker\.[a-z-]+/\d+", found[0]["schema"]), command


@pytest.mark.parametrize("document, path, there", [
    ({"a": {"b": 1}}, "/a/b", True),
    ({"a": {"c": 1}}, "/a/b", False),
    ({"a": None}, "/a/b", True),  # unknown: without keys
    ({"a": [{"b": 1}, {}]}, "/a/[]/b", True),
    ({"a": [{"c": 1}]}, "/a/[]/b", False),
    ({"a": [[{"b": 1}]]}, "/a/[]/[]/b", True),
    ({"a": [[{"c": 1}]]}, "/a/[]/[]/b", False),
    ({"stats": {"x": {"max": 1}}}, "/stats/*/max", True),
    ({"stats": {"x": {"min": 1}}}, "/stats/*/max", False),
])
def test_a_key_that_is_gone_is_seen(document, path, there):
    assert NAMES.has(document, path) is there
    if there and document["a" if "a" in document else "stats"]:
        assert path in NAMES.paths(document)
