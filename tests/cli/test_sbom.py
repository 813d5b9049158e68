"""Tests the bill of materials (tools/release/sbom.py) against the rules of SPDX 2.3 that need no validator. `make
release` runs the validator of the SPDX project on the whole document (tools/release/lint.sh)."""

import hashlib
import json
import re
import sys
import types

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools/release"))
import sbom  # noqa: E402

RELEASE = types.SimpleNamespace(version="1.0.0", home="https://example.org/home", zig="0.14.0",
                                created="2026-01-02T03:04:05Z", commit="0123456789abcdef")
# Of the SPDX licence list: what this document may name.
LICENCES = {"MIT", "CC-BY-SA-4.0", "Apache-2.0", "ZPL-2.1", "BSD-3-Clause", "GPL-3.0-or-later"}
EXCEPTIONS = {"LLVM-exception", "GCC-exception-3.1"}


def document(folder, text="one"):
    files = [folder / "resource_tracker-1.0.0.tar.gz", folder / "recipes/APKBUILD"]
    for path in files:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + path.name, encoding="utf-8")
    return json.loads(sbom.build(RELEASE, files, folder).read_text(encoding="utf-8"))


@pytest.fixture
def bill(tmp_path):
    return document(tmp_path)


def test_the_document_has_what_is_required(bill):
    assert (bill["spdxVersion"], bill["dataLicense"], bill["SPDXID"]) == ("SPDX-2.3", "CC0-1.0", "SPDXRef-DOCUMENT")
    assert re.fullmatch(r"https://[^#\s]+", bill["documentNamespace"])
    made = bill["creationInfo"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", made["created"])
    assert made["creators"] and all(re.match("(Tool|Organization|Person): .", name) for name in made["creators"])
    assert RELEASE.commit in bill["comment"]


def test_each_file_has_the_sums_that_spdx_requires(bill, tmp_path):
    assert len(bill["files"]) == 2
    for item in bill["files"]:
        data = (tmp_path / item["fileName"]).read_bytes()
        assert item["fileName"].startswith("./")
        assert {s["algorithm"]: s["checksumValue"] for s in item["checksums"]} == {
            "SHA1": hashlib.sha1(data).hexdigest(), "SHA256": hashlib.sha256(data).hexdigest()}


def test_packages_are_described(bill):
    for package in bill["packages"]:
        assert package["name"] and package["versionInfo"] and package["filesAnalyzed"] is False
        assert re.match("https://|NOASSERTION$", package["downloadLocation"])
        for field in ("licenseConcluded", "licenseDeclared"):
            for part in package[field].split(" AND "):
                licence, _, exception = part.partition(" WITH ")
                assert licence in LICENCES and exception in {"", *EXCEPTIONS}, package


def test_relations_are_between_what_is_there(bill):
    ids = [item["SPDXID"] for kind in ("packages", "files") for item in bill[kind]]
    assert len(ids) == len(set(ids)) and all(re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", name) for name in ids)
    found = {(r["spdxElementId"], r["relationshipType"], r["relatedSpdxElement"]) for r in bill["relationships"]}
    own = "SPDXRef-Package-resource-tracker"
    assert {name for one, _, other in found for name in (one, other)} <= {*ids, "SPDXRef-DOCUMENT"}
    assert [other for _, kind, other in found if kind == "DESCRIBES"] == [own]
    # The program is what links, the libraries are what is linked.
    assert {(one, other) for one, kind, other in found if kind == "STATIC_LINK"} == {
        (own, f"SPDXRef-Package-{part[0]}") for part in sbom.PARTS}


def test_documents_of_different_files_have_different_names(bill, tmp_path):
    assert document(tmp_path / "same")["documentNamespace"] == bill["documentNamespace"]
    assert document(tmp_path / "other", "two")["documentNamespace"] != bill["documentNamespace"]


def test_libraries_that_are_loaded_are_named():
    code = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.[ch]"))
    loaded = set(re.findall(r'"(lib[a-z0-9_+-]+\.so\.\d+)"', code))
    # Builds of libcurl with another library for TLS are looked for as well.
    assert loaded - {"libcurl-gnutls.so.4", "libcurl-nss.so.4"} == set(sbom.LOADED)
