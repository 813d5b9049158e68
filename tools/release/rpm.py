"""Packs the RPM packages of the program, library, headers and documentation from existing builds, with rpmbuild."""

import subprocess
import tempfile
from email.utils import formatdate
from pathlib import Path

from pack import Tree

SPEC = """\
%global __os_install_post %{{nil}}
%global debug_package %{{nil}}
%global _build_id_links none
%global _buildhost localhost
%global source_date_epoch_from_changelog 0
%global use_source_date_epoch_as_buildtime 1
%global clamp_mtime_to_source_date_epoch 1
%global _libdir /usr/lib64
Name: resource-tracker
Version: {version}
Release: 1
Summary: Track what a batch job really used
License: MIT AND CC-BY-SA-4.0
Group: Applications/System
URL: {home}
Packager: {maintainer}
Recommends: sqlite-libs
AutoReqProv: no
Requires: libc.so.6(GLIBC_2.17)(64bit)

%description
Put it before any command and see what the job and all its descendants used:
CPU, memory, disk, network and GPU; why it was slow or was killed; what to
request next time, and which server runs it cheapest. It needs no root, no
daemon and no set-up.

%package libs
Summary: Library of resource-tracker
Group: System/Libraries
Provides: libresource_tracker.so.1()(64bit)
Requires: libc.so.6(GLIBC_2.17)(64bit)

%description libs
The C library of resource-tracker: tracks a process, the calling program or a
command with all its descendants, and reads recordings.

%package devel
Summary: Development files of resource-tracker
Group: Development/Libraries/C and C++
Requires: resource-tracker-libs = %{{version}}
Provides: pkgconfig(resource_tracker) = %{{version}}

%description devel
Header, static library and pkg-config file of the C library of
resource-tracker.

%package doc
Summary: Documentation of resource-tracker
Group: Documentation
BuildArch: noarch

%description doc
Guides for the users of resource-tracker, the meaning of each figure, and the
manual of its C library, as Markdown.

%prep

%build

%install
cp -a {tree}/. %{{buildroot}}

%post libs -p /sbin/ldconfig

%postun libs -p /sbin/ldconfig

{files}
%changelog
* {date} {maintainer} - {version}-1
- Release {version}; CHANGELOG.md has what changed.
"""

SECTIONS = {"": "%files", "libs": "%files libs", "devel": "%files devel", "doc": "%files doc"}


def contents(release, machine):
    """{end of the package's name: its files, as a Tree}"""
    trees = {name: Tree() for name in SECTIONS}
    built = release.installed(machine, "gnu")
    soname = f"libresource_tracker.so.{release.version}"
    release.add_program(trees[""], "usr", built / "bin/resource-tracker", compress_man=True)
    for name in ("", "libs"):
        package = "-".join(filter(None, ("resource-tracker", name)))
        trees[name].add(f"usr/share/licenses/{package}/LICENSE", release.root / "LICENSE")
    trees["libs"].add(f"usr/lib64/{soname}", built / "lib" / soname, 0o755)
    trees["libs"].link("usr/lib64/libresource_tracker.so.1", soname)
    trees["devel"].add("usr/include/resource_tracker.h", built / "include/resource_tracker.h")
    trees["devel"].add("usr/lib64/libresource_tracker.a", built / "lib/libresource_tracker.a")
    trees["devel"].link("usr/lib64/libresource_tracker.so", "libresource_tracker.so.1")
    trees["devel"].add("usr/lib64/pkgconfig/resource_tracker.pc", release.pkgconfig("lib64"))
    trees["devel"].add("usr/share/doc/resource-tracker-devel/c-api.md", release.root / "docs/c-api.md")
    for path, data in [*release.documents(), ("CHANGELOG.md", release.root / "CHANGELOG.md")]:
        trees["doc"].add(f"usr/share/doc/resource-tracker/{path}", data)
    return trees


def mark(path):
    """Attribute of a file in %files."""
    if path.startswith("usr/share/doc/"):
        return "%doc "
    if path.startswith("usr/share/licenses/"):
        return "%license "
    return ""


def file_lists(trees):
    sections = []
    for name, tree in trees.items():
        own = [folder for folder in tree.folders()
               if folder.endswith(("/resource-tracker", "/resource-tracker/bin", "/resource-tracker-libs",
                                   "/resource-tracker-devel"))
               or folder.startswith("usr/share/doc/resource-tracker/")]
        lines = [SECTIONS[name], "%defattr(-,root,root,-)", *(f"%dir /{folder}" for folder in own),
                 *(f"{mark(path)}/{path}" for path in sorted(tree.files))]
        sections.append("\n".join(lines) + "\n")
    return "\n".join(sections)


def build(release, machine, out):
    """Build the packages of one machine. Returns the paths of their files in `out`. The documentation is the same for
    all machines, but its package names the build machine, so only that of the first machine is kept."""
    trees = contents(release, machine)
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder)
        for tree in trees.values():
            tree.write(top / "tree", release.epoch)
        # The date of the changelog in the form "Wed Jan 02 2026".
        week, day, month, year = formatdate(release.epoch).replace(",", "").split()[:4]
        (top / "resource-tracker.spec").write_text(SPEC.format(
            version=release.version, home=release.home, maintainer=release.maintainer,
            date=f"{week} {month} {day} {year}", tree=top / "tree", files=file_lists(trees)),
            encoding="utf-8")
        subprocess.run(["rpmbuild", "--quiet", "-bb", "--target", f"{machine}-linux",
                        "--define", f"_topdir {top}/rpm", "--define", f"_rpmdir {top}/done",
                        "--define", "_build_name_fmt %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm",
                        "--define", f"_dbpath {top}/db", top / "resource-tracker.spec"],
                       check=True, stdout=subprocess.DEVNULL, env=release.environment)
        paths = []
        for path in sorted((top / "done").glob("*.rpm")):
            if path.name.endswith(".noarch.rpm") and machine != release.machines[0]:
                continue
            (out / path.name).write_bytes(path.read_bytes())
            paths.append(out / path.name)
    return paths
