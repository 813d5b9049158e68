"""Tests files around the code: a single version number, links with valid targets, forms and hooks that parse."""

import json
import re
import subprocess
import urllib.parse

import pytest
import yaml

from conftest import ROOT

PAGES = sorted(path for pattern in ("*.md", "docs/**/*.md", "bench/*.md", "data/*.md") for path in ROOT.glob(pattern))


def version():
    return re.search(r"^  version: '(.*)',", (ROOT / "meson.build").read_text(), re.M)[1]


def test_one_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == version() and citation["cff-version"] == "1.2.0"
    assert re.search(rf"^## \[{re.escape(version())}\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    assert (ROOT / "tests/recordings" / version()).is_dir()


def without_code(text):
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^(```|~~~).*?^\1", "", text, flags=re.M | re.S))


def anchors(path):
    """The ids of its headings, as mkdocs and GitHub make them."""
    found = set()
    for heading in re.findall(r"^#+ +(.*?) *$", re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"),
                                                       flags=re.M | re.S), re.M):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
        found.add(re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", plain)).strip("-"))
        found.add(re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", plain)))
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_link_is_dead(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(page.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = urllib.parse.unquote(target).partition("#")
        file = (page.parent / name).resolve() if name else page
        assert file.exists(), f"{page.name}: {target}"
        if anchor and file.suffix == ".md":
            assert anchor in anchors(file), f"{page.name}: {target}"


def test_forms_ask_for_what_an_answer_needs():
    forms = {path.stem: yaml.safe_load(path.read_text(encoding="utf-8"))
             for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml")}
    assert set(forms) == {"bug", "wrong-figure", "idea", "config"}
    for name in ("bug", "wrong-figure"):
        text = json.dumps(forms[name])
        assert "resource-tracker doctor" in text
    for form in (forms[name] for name in ("bug", "wrong-figure", "idea")):
        ids = [part["id"] for part in form["body"]]
        assert len(ids) == len(set(ids)) and form["name"] and form["description"]


def test_hooks_are_checks_that_exist():
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"][0]["hooks"]
    lint = (ROOT / "tools/lint.sh").read_text(encoding="utf-8")
    for hook in hooks:
        script, check = hook["entry"].split()
        assert (ROOT / script).exists() and re.search(rf"\b{check}\b", lint)


def test_the_container_of_developers_sets_up_what_exists():
    container = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text(encoding="utf-8"))
    assert "tools/setup.sh build test" in container["onCreateCommand"]


def test_shell_scripts_of_the_release_parse():
    for path in [*ROOT.glob("tools/*.sh"), *ROOT.glob("tools/release/*.sh")]:
        subprocess.run(["bash", "-n", path], check=True)


@pytest.mark.parametrize("script", ["lint", "compare"])
def test_without_a_release_one_line_says_so(script, tmp_path):
    done = subprocess.run([ROOT / f"tools/release/{script}.sh"], env={"PATH": "/usr/bin:/bin", "BUILD": str(tmp_path)},
                          capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == f"{script}: . holds no release. Try: make release\n"
