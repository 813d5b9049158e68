#!/usr/bin/env python3
"""Builds every artefact of a release: `make release`.

    build/venv-python/bin/python tools/release/make.py [--out DIR] [--only KIND,…] [--machine MACHINE]…

writes $BUILD/release/VERSION/ (or DIR): tarballs, packages, wheels, the container image, recipes for package managers
that build from source, SHA256SUMS, an SPDX bill of materials, and release.json, which lists them. To add an artefact,
add a line to ARTEFACTS and a function. The version is read from meson.build only. Times in archives are that of the
last commit, so that two builds of a commit are equal byte by byte (tests/release). zig compiles all binaries for Linux
and macOS (tools/python_portable.py), for glibc 2.17 and musl; mingw-w64 those for Windows (tools/windows.py).

RELEASE_HOME is the address of the repository on its host, which the packages name as their home page, and
RELEASE_MAINTAINER is "NAME <ADDRESS>". Without them the artefacts name a host that cannot exist, and are not to be
published.
"""

import argparse
import dataclasses
import datetime
import hashlib
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse
from pathlib import Path

TOOLS = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TOOLS), str(TOOLS / "release"), str(TOOLS.parent / "bindings/python")]

import debian  # noqa: E402
import image  # noqa: E402
import macos  # noqa: E402
import pure  # noqa: E402
import python_portable  # noqa: E402
import rpm  # noqa: E402
import sbom  # noqa: E402
import windows  # noqa: E402
from pack import Tree, compress, sha256  # noqa: E402

MB = 10**6
UNPUBLISHED = "https://unpublished.invalid/resource-tracker"


class Release:
    """Data of all artefacts: the version, the time, and the build for each machine and C library."""

    def __init__(self, root, out, machines):
        self.root, self.out, self.machines = root, out, machines
        self.version = re.search(r"^  version: '(.*)',", (root / "meson.build").read_text(), re.M)[1]
        self.epoch = self._epoch()
        self.created = datetime.datetime.fromtimestamp(self.epoch, datetime.timezone.utc).strftime(
            "%Y-%m-%dT%H:%M:%SZ")
        self.environment = {**os.environ, "SOURCE_DATE_EPOCH": str(self.epoch), "LC_ALL": "C.UTF-8",
                            "TZ": "UTC"}
        os.environ.update(SOURCE_DATE_EPOCH=str(self.epoch))
        self.home = os.environ.get("RELEASE_HOME", UNPUBLISHED)
        self.maintainer = os.environ.get(
            "RELEASE_MAINTAINER", f"resource-tracker maintainers <noreply@{urllib.parse.urlsplit(self.home).hostname}>")
        self.files_url = f"{self.home}/releases/download/v{self.version}"
        self._wheel_trees, self._installed, self._pages = {}, {}, None

    def _epoch(self):
        if os.environ.get("SOURCE_DATE_EPOCH"):
            return int(os.environ["SOURCE_DATE_EPOCH"])
        return int(self.git("log", "-1", "--format=%ct"))

    @property
    def commit(self):
        """Id of the last commit, with the suffix "-changed" if tracked files differ from it."""
        changed = self.git("status", "--porcelain", "--untracked-files=no")
        return self.git("rev-parse", "HEAD").strip() + ("-changed" if changed else "")

    def git(self, *words):
        return subprocess.run(["git", *words], cwd=self.root, check=True, stdout=subprocess.PIPE,
                              encoding="utf-8").stdout

    @property
    def zig(self):
        return importlib.metadata.version("ziglang")

    def wheel_tree(self, machine, libc):
        """Folder of the unpacked wheel of one machine. The first call builds it."""
        if (machine, libc) not in self._wheel_trees:
            self._wheel_trees[machine, libc] = python_portable.build(machine, libc)
        return self._wheel_trees[machine, libc]

    def installed(self, machine, libc):
        """Folder with the files that `meson install` writes to /usr, without the Python package."""
        if (machine, libc) not in self._installed:
            self.wheel_tree(machine, libc)
            build = python_portable.PORTABLE / f"{machine}-{libc}"
            shutil.rmtree(build / "installed", ignore_errors=True)
            subprocess.run([sys.executable, "-m", "mesonbuild.mesonmain", "install", "-C", build / "build",
                            "--no-rebuild", "--quiet", "--destdir", build / "installed"], check=True,
                           stdout=subprocess.DEVNULL)
            self._installed[machine, libc] = build / "installed/usr"
        return self._installed[machine, libc]

    def program(self, machine, libc):
        """Path of the program; for musl, of the statically linked one."""
        if libc == "gnu":
            return self.installed(machine, libc) / "bin/resource-tracker"
        self.wheel_tree(machine, libc)
        name = "resource-tracker-static" if libc == "musl" else "resource-tracker"
        return python_portable.PORTABLE / f"{machine}-{libc}/build/{name}"

    def pages(self):
        """{path: contents} of the manual page and the completions. A program of this machine's architecture writes
        them, else another one under qemu-user."""
        if self._pages is None:
            here = os.uname().machine
            machine = here if here in self.machines else self.machines[0]
            call = [] if machine == here else [f"qemu-{machine}-static"]
            libc = next((libc for built, libc in self._wheel_trees if built == machine and libc != "macos"), "musl")
            program = self.program(machine, libc)

            def page(*words):
                return subprocess.run([*call, program, *words], check=True, stdout=subprocess.PIPE).stdout

            self._pages = {
                "share/man/man1/resource-tracker.1": page("help", "man"),
                "share/bash-completion/completions/resource-tracker": page("completions", "bash"),
                "share/zsh/site-functions/_resource-tracker": page("completions", "zsh"),
                "share/fish/vendor_completions.d/resource-tracker.fish": page("completions", "fish")}
        return self._pages

    def add_program(self, tree, prefix, program, compress_man=False):
        """Add the program, the tracking shells, the manual page, the completions and the scores to a tree."""
        top = f"{prefix}/" if prefix else ""
        tree.add(f"{top}bin/resource-tracker", program, 0o755)
        for name in ("bash", "sh"):
            tree.link(f"{top}libexec/resource-tracker/bin/{name}", "../../../bin/resource-tracker")
        for path, data in self.pages().items():
            if compress_man and "/man/" in path:
                path, data = f"{path}.gz", compress(data)
            tree.add(f"{top}{path}", data)
        for name in ("sparecores.tsv", "NOTICE"):
            tree.add(f"{top}share/resource-tracker/{name}", self.root / "data" / name)

    def pkgconfig(self, libdir):
        text = (self.installed(self.machines[0], "gnu") / "lib/pkgconfig/resource_tracker.pc").read_text()
        return re.sub(r"^libdir=.*$", f"libdir=${{prefix}}/{libdir}", text, flags=re.M)

    def documents(self):
        """(path below docs/, file) of each page and picture of the documentation."""
        names = self.git("ls-files", "docs").split()
        return [(name.removeprefix("docs/"), self.root / name) for name in names
                if name.endswith((".md", ".png", ".svg", ".webp"))]

    @property
    def source_name(self):
        return f"resource_tracker-{self.version}"


# ---- one function for each kind; it returns the paths of its files ----

def make_tarball(release, libc):
    paths = []
    for machine in release.machines:
        tree = Tree()
        release.add_program(tree, "", release.program(machine, libc))
        for name in ("LICENSE", "README.md", "CHANGELOG.md"):
            tree.add(f"share/doc/resource-tracker/{name}", release.root / name)
        top = f"resource-tracker-{release.version}-linux-{machine}-{'glibc' if libc == 'gnu' else 'static'}"
        path = release.out / f"{top}.tar.gz"
        path.write_bytes(compress(tree.tar(release.epoch, top)))
        paths.append(path)
    return paths


def make_debs(release):
    paths = [debian.build(release, package, machine, release.out) for machine in release.machines
             for package in debian.CONTROL if not package.endswith("-doc")]
    return [*paths, debian.build(release, "resource-tracker-doc", release.machines[0], release.out)]


def make_rpms(release):
    return sorted({path for machine in release.machines for path in rpm.build(release, machine, release.out)})


def make_wheels(release):
    wheels = python_portable.PORTABLE / "wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    wheels.mkdir(parents=True)
    for libc in python_portable.LIBCS:
        trees = {}
        for machine in release.machines:
            # Copy the tree, because packing adds the machine code of the other machines to it.
            copy = python_portable.PORTABLE / f"{machine}-{libc}/release" / release.source_name
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(release.wheel_tree(machine, libc), copy)
            trees[machine] = copy
        for machine in release.machines:
            python_portable.pack(machine, trees, libc)
    pure.build(wheels)
    shutil.copy2(windows.build_wheel(), wheels)
    return [Path(shutil.copy2(path, release.out)) for path in sorted(wheels.glob("*.whl"))]


def make_source(release):
    """Write the source archive, which is also the sdist: the files of the last commit, and the metadata of a wheel as
    PKG-INFO. The recipes use it."""
    if release.commit.endswith("-changed"):
        print("release: the tree has changes that are not committed: they are in the programs, not in the "
              "source", file=sys.stderr)
    archive = subprocess.run(["git", "archive", "--format=tar", "HEAD"], cwd=release.root, check=True,
                             stdout=subprocess.PIPE).stdout
    tree = Tree()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
        for path in sorted(Path(folder).rglob("*")):
            name = str(path.relative_to(folder))
            if path.is_symlink():
                tree.link(name, os.readlink(path))
            elif path.is_file():
                tree.add(name, path, 0o755 if os.access(path, os.X_OK) else 0o644)
    (metadata,) = release.wheel_tree(release.machines[0], "gnu").glob("*.dist-info/METADATA")
    tree.add("PKG-INFO", metadata)
    path = release.out / f"{release.source_name}.tar.gz"
    path.write_bytes(compress(tree.tar(release.epoch, release.source_name, folders=False)))
    return [path]


def make_macos(release):
    """Write a zip file with the program for macOS for each machine (docs/platforms.md)."""
    paths = []
    for machine in release.machines:
        tree = Tree()
        program = release.program(machine, "macos")
        macos.check_program(program, machine)
        tree.add("bin/resource-tracker", program, 0o755)
        for path, data in release.pages().items():
            tree.add(path, data)
        for name in ("LICENSE", "README.md", "CHANGELOG.md"):
            tree.add(f"share/doc/resource-tracker/{name}", release.root / name)
        for name in ("sparecores.tsv", "NOTICE"):
            tree.add(f"share/resource-tracker/{name}", release.root / "data" / name)
        top = f"resource-tracker-{release.version}-macos-{python_portable.name_of(machine, 'macos')}"
        path = release.out / f"{top}.zip"
        path.write_bytes(tree.zip(release.epoch, top))
        paths.append(path)
    return paths


def make_windows(release):
    """Write a zip file with the program and the library for Windows (docs/platforms.md)."""
    tree = Tree()
    tree.add("bin/resource-tracker.exe", windows.build(), 0o755)
    library, imports = windows.build_library()
    tree.add("bin/resource_tracker.dll", library, 0o755)
    tree.add("lib/resource_tracker.dll.a", imports)
    tree.add("include/resource_tracker.h", release.root / "include/resource_tracker.h")
    for name in ("LICENSE", "README.md", "CHANGELOG.md"):
        tree.add(name, release.root / name)
    for name in ("sparecores.tsv", "NOTICE"):
        tree.add(f"share/resource-tracker/{name}", release.root / "data" / name)
    top = f"resource-tracker-{release.version}-windows-x86_64"
    path = release.out / f"{top}.zip"
    path.write_bytes(tree.zip(release.epoch, top))
    return [path]


def make_image(release):
    return [image.build(release, release.machines, release.out)]


def make_recipes(release):
    source = release.out / f"{release.source_name}.tar.gz"
    if not source.exists():
        make_source(release)
    data = source.read_bytes()
    values = {"VERSION": release.version, "MAINTAINER": release.maintainer, "HOME": release.home,
              "SOURCE_FILE": source.name, "SOURCE_FOLDER": release.source_name,
              "SOURCE_URL": f"{release.files_url}/{source.name}", "SOURCE_SHA256": sha256(data),
              "SOURCE_SHA512": hashlib.sha512(data).hexdigest()}
    folder = release.out / "recipes"
    folder.mkdir(exist_ok=True)
    paths = []
    for template in sorted((release.root / "tools/release/recipes").glob("*.in")):
        text = re.sub(r"@([A-Z0-9_]+)@", lambda m: values[m[1]], template.read_text(encoding="utf-8"))
        path = folder / template.stem
        path.write_text(text, encoding="utf-8")
        paths.append(path)
    return paths


@dataclasses.dataclass(frozen=True)
class Artefact:
    kind: str
    what: str
    make: object
    limit: float  # bytes a file; inf: no limit


ARTEFACTS = [
    Artefact("static", "tarball, static (musl): runs everywhere, loads no library",
             lambda release: make_tarball(release, "musl"), 2.5 * MB),
    Artefact("glibc", "tarball, glibc 2.17 or later: loads SQLite, libpq, zlib, libcurl, NVML where they are",
             lambda release: make_tarball(release, "gnu"), 2.5 * MB),
    Artefact("macos", "zip for macOS 11 or later: linked, never run", make_macos, 2.5 * MB),
    Artefact("windows", "zip for Windows 10 or later on x86-64: runs under Wine, never run on Windows", make_windows, 4 * MB),
    Artefact("deb", "Debian packages", make_debs, 4 * MB),
    Artefact("rpm", "RPM packages", make_rpms, 4 * MB),
    Artefact("wheel", "Python wheels: manylinux, musllinux, macOS and Windows (beta), and without machine code", make_wheels,
             2.5 * MB),
    Artefact("source", "source, also the sdist", make_source, 10 * MB),
    Artefact("image", "container image on nothing, for both machines", make_image, 4 * MB),
    Artefact("recipes", "recipes: Alpine, conda, Nix, Homebrew", make_recipes, float("inf")),
]


def check_limits(artefact, paths):
    for path in paths:
        if path.stat().st_size > artefact.limit:
            sys.exit(f"release: {path.name} has {path.stat().st_size} bytes, more than {artefact.limit:.0f}")


def write_lists(release, made):
    """SHA256SUMS over everything, and release.json for programs."""
    files = [path for _, paths in made for path in paths]
    bill = sbom.build(release, files, release.out)
    lines = [f"{sha256(path)}  {path.relative_to(release.out)}" for path in sorted([*files, bill])]
    (release.out / "SHA256SUMS").write_text("\n".join(lines) + "\n", encoding="utf-8")
    table = {"version": release.version, "commit": release.commit, "created": release.created, "artefacts": [
        {"kind": artefact.kind, "what": artefact.what, "file": str(path.relative_to(release.out)),
         "bytes": path.stat().st_size, "sha256": sha256(path)} for artefact, paths in made for path in paths]}
    (release.out / "release.json").write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


def make(release, only):
    made = []
    for artefact in ARTEFACTS:
        if artefact.kind in only:
            paths = artefact.make(release)
            check_limits(artefact, paths)
            made.append((artefact, paths))
            for path in paths:
                print(f"{path.stat().st_size:9d}  {path.relative_to(release.out)}", flush=True)
    write_lists(release, made)


def main():
    kinds = [artefact.kind for artefact in ARTEFACTS]
    parser = argparse.ArgumentParser(prog="release")
    parser.add_argument("--out", type=Path, help="folder of the files ($BUILD/release/VERSION)")
    parser.add_argument("--only", help=f"comma-separated kinds: {', '.join(kinds)}")
    parser.add_argument("--machine", action="append", choices=python_portable.MACHINES,
                        help="once or more (default: all)")
    asked = parser.parse_args()
    only = asked.only.split(",") if asked.only else kinds
    if set(only) - set(kinds):
        sys.exit(f"release: unknown kind {' '.join(sorted(set(only) - set(kinds)))}. Known: {' '.join(kinds)}")
    os.umask(0o022)
    release = Release(TOOLS.parent, asked.out, asked.machine or python_portable.MACHINES)
    release.out = (asked.out or python_portable.PORTABLE.parent / "release" / release.version).resolve()
    if release.out.exists() and any(release.out.iterdir()) and not (release.out / "release.json").exists():
        sys.exit(f"release: {release.out} is not empty and holds no release. Try: --out another folder")
    shutil.rmtree(release.out, ignore_errors=True)
    release.out.mkdir(parents=True)
    (release.out / "release.json").touch()
    log = python_portable.PORTABLE / "build.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    try:
        with open(log, "w", encoding="utf-8") as python_portable.LOG:
            make(release, only)
    except subprocess.CalledProcessError as error:
        tail = log.read_text(encoding="utf-8", errors="replace").splitlines()[-30:]
        sys.exit("\n".join([*tail, f"release: {error}. All output: {log}"]))


if __name__ == "__main__":
    main()
