"""Builds the Debian packages of the program, library, headers and documentation, with dpkg-deb."""

import hashlib
import subprocess
import tempfile
import textwrap
from email.utils import formatdate
from pathlib import Path

from pack import Tree, compress

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}

CONTROL = {
    "resource-tracker": """\
Section: utils
Depends: libc6 (>= 2.17)
Recommends: libsqlite3-0
Suggests: libcurl4, libdw1, libmicrohttpd12, libpq5, libssl3, libstdc++6, zlib1g, resource-tracker-doc
Description: track what a batch job really used
 Put it before any command and see what the job and all its descendants used:
 CPU, memory, disk, network and GPU; why it was slow or was killed; what to
 request next time, and which server runs it cheapest.
 .
 It needs no root, no daemon and no set-up.
""",
    "libresource-tracker1": """\
Section: libs
Multi-Arch: same
Depends: libc6 (>= 2.17)
Suggests: resource-tracker
Description: track what a batch job really used - library
 The C library of resource-tracker: tracks a process, the calling program or a
 command with all its descendants, and reads recordings.
""",
    "libresource-tracker-dev": """\
Section: libdevel
Multi-Arch: same
Depends: libresource-tracker1 (= {version})
Suggests: resource-tracker-doc
Description: track what a batch job really used - development files
 Header, static library and pkg-config file of the C library of
 resource-tracker.
""",
    "resource-tracker-doc": """\
Section: doc
Multi-Arch: foreign
Description: track what a batch job really used - documentation
 Guides for the users of resource-tracker, the meaning of each figure, and the
 manual of its C library, as Markdown.
""",
}


def copyright_text(release):
    text = (release.root / "LICENSE").read_text(encoding="utf-8")
    body = text.split("\n\n", 2)
    lines = textwrap.indent(body[2].strip(), " ", lambda line: True)
    lines = "\n".join(" ." if not line.strip() else line for line in lines.splitlines())
    return (f"Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"
            f"Upstream-Name: resource-tracker\nSource: {release.home}\n\nFiles: *\n"
            f"Copyright: {body[1].replace('Copyright (c) ', '').strip()}\nLicense: Expat\n{lines}\n"
            "Comment: The table of servers and prices is made of facts from the sources that\n"
            " /usr/share/resource-tracker/NOTICE names.\n\n"
            "Files: data/sparecores.tsv\nCopyright: Spare Cores\nLicense: CC-BY-SA-4.0\n"
            " Creative Commons Attribution-ShareAlike 4.0 International,\n"
            " https://creativecommons.org/licenses/by-sa/4.0/legalcode\n")


def common(release, package):
    tree = Tree()
    folder = f"usr/share/doc/{package}"
    entry = (f"resource-tracker ({release.version}-1) unstable; urgency=medium\n\n"
             f"  * Release {release.version}; changelog.gz has what changed.\n\n"
             f" -- {release.maintainer}  {formatdate(release.epoch)}\n")
    tree.add(f"{folder}/copyright", copyright_text(release))
    tree.add(f"{folder}/changelog.Debian.gz", compress(entry.encode()))
    tree.add(f"usr/share/lintian/overrides/{package}",
             f"# Not an upload to Debian's archive.\n{package}: initial-upload-closes-no-bugs *\n")
    tree.add(f"{folder}/changelog.gz", compress((release.root / "CHANGELOG.md").read_bytes()))
    return tree


def contents(release, package, machine):
    """The files of one package, as a Tree."""
    tree = common(release, package)
    triplet = f"{machine}-linux-gnu"
    soname = f"libresource_tracker.so.{release.version}"
    built = release.installed(machine, "gnu")
    if package == "resource-tracker":
        release.add_program(tree, "usr", built / "bin/resource-tracker", compress_man=True)
    elif package == "libresource-tracker1":
        tree.add(f"usr/lib/{triplet}/{soname}", built / "lib" / soname)
        tree.link(f"usr/lib/{triplet}/libresource_tracker.so.1", soname)
    elif package == "libresource-tracker-dev":
        tree.add("usr/include/resource_tracker.h", built / "include/resource_tracker.h")
        tree.add(f"usr/lib/{triplet}/libresource_tracker.a", built / "lib/libresource_tracker.a")
        tree.link(f"usr/lib/{triplet}/libresource_tracker.so", "libresource_tracker.so.1")
        tree.add(f"usr/lib/{triplet}/pkgconfig/resource_tracker.pc", release.pkgconfig(f"lib/{triplet}"))
    else:
        for path, data in release.documents():
            tree.add(f"usr/share/doc/resource-tracker-doc/{path}", data)
    return tree


def build(release, package, machine, out):
    """Build one package. Returns the path of its file in `out`."""
    architecture = "all" if package.endswith("-doc") else ARCHITECTURES[machine]
    tree = contents(release, package, machine)
    size = sum((len(data) + 1023) // 1024 for data, _, _ in tree.files.values())
    version = f"{release.version}-1"
    control = (f"Package: {package}\nVersion: {version}\nArchitecture: {architecture}\n"
               f"Maintainer: {release.maintainer}\nInstalled-Size: {size}\nPriority: optional\n"
               f"Homepage: {release.home}\n" +
               ("" if package == "resource-tracker" else "Source: resource-tracker\n") +
               CONTROL[package].format(version=version))
    sums = "".join(f"{hashlib.md5(data).hexdigest()}  {path}\n"
                   for path, (data, _, target) in sorted(tree.files.items()) if target is None)
    tree.add("DEBIAN/control", control)
    tree.add("DEBIAN/md5sums", sums)
    if package == "libresource-tracker1":
        tree.add("DEBIAN/shlibs", f"libresource_tracker 1 libresource-tracker1 (>= {release.version})\n")
        tree.add("DEBIAN/triggers", "activate-noawait ldconfig\n")
    path = out / f"{package}_{version}_{architecture}.deb"
    with tempfile.TemporaryDirectory() as folder:
        tree.write(Path(folder) / "root", release.epoch)
        subprocess.run(["dpkg-deb", "--root-owner-group", "-Zxz", "--build", Path(folder) / "root", path],
                       check=True, stdout=subprocess.DEVNULL, env=release.environment)
    return path
