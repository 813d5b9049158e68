"""Tests that every paragraph, list and table of docs/security.md names the tests that verify it, and that these
exist."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/security.md").read_text(encoding="utf-8")


def blocks():
    """(text, names of its tests) of all but the headings and the table of the fuzzers."""
    text = PAGE[:PAGE.index("## Fuzzing")]
    found, pending = [], []
    for block in re.split(r"\n\s*\n", text):
        if block.startswith("<!-- tests:"):
            assert pending, block
            found.append(("\n".join(pending), block.split()[2:-1]))
            pending = []
        elif not block.startswith("#") and block.strip():
            pending.append(block)
    assert not pending, f"names no test: {pending}"
    return found


def test_every_paragraph_names_its_tests():
    for text, tests in blocks():
        assert tests, text
        for test in tests:
            path, name = test.split("::")
            source = (ROOT / "tests" / path).read_text(encoding="utf-8")
            assert re.search(rf"^(def|static void) {name}\(", source, re.MULTILINE), test


def test_the_table_lists_every_fuzzer():
    built = re.findall(r"^  '(\w+)',$", (ROOT / "tests/fuzz/meson.build").read_text(encoding="utf-8"), re.M)
    listed = re.findall(r"^\| (\w+) \| [\d ]+ \| \d+ \| (\d+) \| (\d+) \|$", PAGE, re.M)
    assert sorted(name for name, _, _ in listed) == sorted(built) and len(built) > 40
    for name, seeds, kept in listed:
        files = [path.name for path in (ROOT / "tests/fuzz/corpus" / name).iterdir()]
        assert sum(file.startswith("kept-") for file in files) == int(kept), name
        assert sum(not file.startswith("kept-") for file in files) == int(seeds), name


def test_the_keys_of_the_working_directory_s_file_are_listed(rt):
    shown = rt.run("config").stdout.splitlines()[-1]
    keys = shown.removeprefix("# ./resource-tracker.toml may set: ").split()
    [listed] = re.findall(r"It may set (.*?)\. Other keys", PAGE, re.DOTALL)
    assert re.findall(r"`([a-z-]+)`", listed) == keys and len(keys) > 20
