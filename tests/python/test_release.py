"""Tests the output of `make release`: complete, small, of one version, reproducible, and runnable.

These are the quick checks, for this machine and glibc. tools/release/prove.py installs every artefact in a clean root
folder."""

import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MACHINE = os.uname().machine
VERSION = re.search(r"^  version: '(.*)',", (ROOT / "meson.build").read_text(), re.M)[1]
KINDS = "glibc,macos,deb,source,recipes"


def make(out, cwd, umask, **environment):
    return subprocess.run(
        [sys.executable, str(ROOT / "tools/release/make.py"), "--only", KINDS, "--machine", MACHINE, "--out",
         str(out)], cwd=cwd, umask=umask, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
        stdin=subprocess.DEVNULL, check=False, env={**os.environ, **environment})


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    if not (ROOT / ".git").exists():
        pytest.skip("no git: the source of a release is that of a commit")
    out = tmp_path_factory.mktemp("release") / "out"
    # In the build folder of test_portable.py, which runs in the same process: what that has built is used.
    done = make(out, ROOT, 0o022)
    assert done.returncode == 0, done.stdout
    return out


def files(folder):
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.rglob("*")) if path.is_file()}


def test_two_builds_are_equal(release, tmp_path):
    """Of another working directory, build folder, umask and time zone, into another folder."""
    done = make(tmp_path / "again", tmp_path, 0o077, BUILD=str(tmp_path / "build"), TZ="Pacific/Auckland")
    assert done.returncode == 0, done.stdout
    assert files(tmp_path / "again") == files(release)


def test_sums_and_list_name_every_file(release):
    sums = dict(reversed(line.split("  ")) for line in (release / "SHA256SUMS").read_text().splitlines())
    assert sums == {name: digest for name, digest in files(release).items()
                    if name not in ("SHA256SUMS", "release.json")}
    listed = json.loads((release / "release.json").read_text())
    assert listed["version"] == VERSION
    assert {entry["file"] for entry in listed["artefacts"]} == set(sums) - {
        f"resource-tracker-{VERSION}.spdx.json"}
    for entry in listed["artefacts"]:
        assert entry["sha256"] == sums[entry["file"]]


def test_the_bill_of_materials_names_each_file(release):
    """Its form is judged by tests/cli/test_sbom.py."""
    bill = json.loads((release / f"resource-tracker-{VERSION}.spdx.json").read_text())
    sums = {entry["fileName"].removeprefix("./"): entry["checksums"][1]["checksumValue"] for entry in bill["files"]}
    assert sums == {name: digest for name, digest in files(release).items()
                    if name not in ("SHA256SUMS", "release.json", f"resource-tracker-{VERSION}.spdx.json")}


@pytest.fixture(scope="module")
def unpacked(release, tmp_path_factory):
    """The tarball, in a folder whose name nobody could know."""
    folder = tmp_path_factory.mktemp("un packed")
    (path,) = release.glob("*-glibc.tar.gz")
    assert path.stat().st_size <= 2.5 * 10**6
    with tarfile.open(path) as archive:
        assert {(member.uname, member.uid, member.gid) for member in archive} == {("root", 0, 0)}
        archive.extractall(folder)
    (top,) = folder.iterdir()
    assert top.name == f"resource-tracker-{VERSION}-linux-{MACHINE}-glibc"
    return top


def test_what_the_tarball_holds(unpacked):
    held = {str(path.relative_to(unpacked)) for path in unpacked.rglob("*") if not path.is_dir()}
    assert held == {
        "bin/resource-tracker", "libexec/resource-tracker/bin/bash", "libexec/resource-tracker/bin/sh",
        "share/man/man1/resource-tracker.1", "share/bash-completion/completions/resource-tracker",
        "share/zsh/site-functions/_resource-tracker",
        "share/fish/vendor_completions.d/resource-tracker.fish", "share/resource-tracker/sparecores.tsv",
        "share/resource-tracker/NOTICE", "share/doc/resource-tracker/LICENSE",
        "share/doc/resource-tracker/README.md", "share/doc/resource-tracker/CHANGELOG.md"}
    assert ".TH" in (unpacked / "share/man/man1/resource-tracker.1").read_text()


def test_the_program_of_the_tarball_runs_without_an_environment(unpacked, tmp_path):
    program = unpacked / "bin/resource-tracker"

    def run(*words):
        return subprocess.run([str(word) for word in words], env={"HOME": str(tmp_path)}, cwd="/",
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)

    check = run(program, "self", "check")
    assert check.returncode == 0, check.stdout + check.stderr
    lines = {line[8:].split("  ")[0].strip(): line for line in check.stdout.splitlines()}
    assert f"version {VERSION} on {MACHINE}, dynamic, " in lines["program"]
    assert "share/resource-tracker/sparecores.tsv" in lines["catalogue"]
    done = run(program, "run", "--no-discovery", "--", "/bin/sh", "-c", "exit 3")
    assert done.returncode == 3 and "exit 3" in done.stderr
    assert run(unpacked / "libexec/resource-tracker/bin/sh", "-c", "exit 4").returncode == 4


def test_the_program_asks_for_no_newer_glibc(unpacked):
    out = subprocess.run(["readelf", "-VW", unpacked / "bin/resource-tracker"], check=True, text=True,
                         stdout=subprocess.PIPE).stdout
    needed = {tuple(map(int, found.split("."))) for found in re.findall(r"Name: GLIBC_([\d.]+)", out)}
    assert needed and max(needed) <= (2, 17)


def test_the_zip_for_macos(release):
    """A program of 64 bits for this machine with its pages; unzip gives it the mode of a program."""
    machine = {"aarch64": "arm64"}.get(MACHINE, MACHINE)
    top = f"resource-tracker-{VERSION}-macos-{machine}"
    with zipfile.ZipFile(release / f"{top}.zip") as archive:
        names = set(archive.namelist())
        assert archive.testzip() is None and all(name.startswith(f"{top}/") for name in names)
        assert {f"{top}/share/man/man1/resource-tracker.1", f"{top}/share/doc/resource-tracker/LICENSE",
                f"{top}/share/resource-tracker/sparecores.tsv"} <= names
        assert archive.read(f"{top}/bin/resource-tracker")[:4] == bytes.fromhex("cffaedfe")
        assert archive.getinfo(f"{top}/bin/resource-tracker").external_attr >> 16 == 0o100755


def test_the_debian_packages(release):
    packages = {}
    for path in release.glob("*.deb"):
        fields = subprocess.run(["dpkg-deb", "--field", path], check=True, text=True,
                                stdout=subprocess.PIPE).stdout
        name = re.search(r"^Package: (.*)$", fields, re.M)[1]
        assert f"Version: {VERSION}-1\n" in fields
        packages[name] = subprocess.run(["dpkg-deb", "--contents", path], check=True, text=True,
                                        stdout=subprocess.PIPE).stdout
    assert set(packages) == {"resource-tracker", "libresource-tracker1", "libresource-tracker-dev",
                             "resource-tracker-doc"}
    assert " ./usr/bin/resource-tracker\n" in packages["resource-tracker"]
    assert " ./usr/share/man/man1/resource-tracker.1.gz\n" in packages["resource-tracker"]
    assert f"libresource_tracker.so.{VERSION}\n" in packages["libresource-tracker1"]
    assert " ./usr/include/resource_tracker.h\n" in packages["libresource-tracker-dev"]
    for line in "".join(packages.values()).splitlines():
        assert line.split()[1] == "root/root"
    for picture in (ROOT / "docs/images").rglob("*.*"):
        assert f"/resource-tracker-doc/{picture.relative_to(ROOT / 'docs')}\n" in packages["resource-tracker-doc"]


def test_the_recipes_name_this_source_and_version(release):
    (source,) = release.glob("resource_tracker-*.tar.gz")
    with tarfile.open(source) as archive:
        names = set(archive.getnames())
    top = f"resource_tracker-{VERSION}"
    assert {f"{top}/PKG-INFO", f"{top}/meson.build", f"{top}/pyproject.toml"} <= names
    assert all(name.startswith(f"{top}/") for name in names)
    recipes = {path.name: path.read_text() for path in (release / "recipes").iterdir()}
    assert set(recipes) == {"APKBUILD", "recipe.yaml", "package.nix", "resource-tracker.rb"}
    sums = [hashlib.new(name, source.read_bytes()).hexdigest() for name in ("sha256", "sha512")]
    for text in recipes.values():
        assert not re.search(r"@[A-Z0-9_]+@", text)
        assert VERSION in text and any(digest in text for digest in sums)
    assert subprocess.run(["sh", "-n", release / "recipes/APKBUILD"], check=False).returncode == 0


def test_a_folder_with_other_files_is_left_alone(tmp_path):
    (tmp_path / "mine").touch()
    done = make(tmp_path, ROOT, 0o022)
    assert done.returncode == 1
    assert done.stdout == (f"release: {tmp_path} is not empty and holds no release. "
                           "Try: --out another folder\n")
    assert (tmp_path / "mine").exists()


def test_the_steps_of_the_alpine_recipe_build_the_source(release, tmp_path):
    """build(), check() and package() as abuild calls them, with the compiler of this machine: of the source of the
    release, without an optimiser, so that a function of another library than libc is missed."""
    source, package, programs = (tmp_path / name for name in ("src", "pkg", "bin"))
    for folder in (source, package, programs):
        folder.mkdir()
    with tarfile.open(release / f"resource_tracker-{VERSION}.tar.gz") as archive:
        archive.extractall(source)
    shim = programs / "abuild-meson"
    shim.write_text('#!/bin/sh\nexec meson setup --prefix=/usr --buildtype=plain "$@"\n')
    shim.chmod(0o755)
    done = subprocess.run(
        ["sh", "-euc", f'. {release}/recipes/APKBUILD; cd "$builddir"; build; check; package'],
        env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "srcdir": str(source), "pkgdir": str(package)},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout[-3000:]
    program = package / "usr/bin/resource-tracker"
    said = subprocess.run([str(program), "--version"], stdout=subprocess.PIPE, encoding="utf-8", check=True).stdout
    assert VERSION in said
