"""Tests an installed copy: the files of `make install`, and programs that are built with them."""

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def make_install(build, destdir):
    """With the prefix of the build folder, so that nothing is compiled for another one."""
    options = json.loads(subprocess.run(["meson", "introspect", build, "--buildoptions"], check=True,
                                        capture_output=True).stdout)
    prefix = next(option["value"] for option in options if option["name"] == "prefix")
    done = subprocess.run(["make", "install", f"BUILD={build}", f"PREFIX={prefix}", f"DESTDIR={destdir}"], cwd=ROOT,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def installed(tmp_path_factory, rt_path):
    """The root of an installed copy, and the environment to build against it."""
    root = tmp_path_factory.mktemp("root")
    make_install(pathlib.Path(rt_path).parent, root)
    config = next(root.rglob("resource_tracker.pc"))
    library = next(root.rglob("libresource_tracker.so.1")).parent
    env = {**os.environ, "PKG_CONFIG_PATH": str(config.parent), "PKG_CONFIG_SYSROOT_DIR": str(root),
           "LD_LIBRARY_PATH": str(library)}
    env.pop("RESOURCE_TRACKER_RUN", None)
    return root, env


@pytest.mark.native
def test_what_make_install_lays_down(installed):
    """Only whole things; of the Python package, which pip installs, nothing."""
    root, _ = installed
    prefix = next(root.rglob("bin/resource-tracker")).parents[1]
    found = {re.sub(r"^lib/[^/]*-linux-gnu[^/]*/", "lib/", str(path.relative_to(prefix)))
             for path in root.rglob("*") if not path.is_dir() or path.is_symlink()}
    version = re.search(r"^  version: '(.*)',", (ROOT / "meson.build").read_text(encoding="utf-8"), re.M)[1]
    assert found == {
        "bin/resource-tracker", "libexec/resource-tracker/bin/bash", "libexec/resource-tracker/bin/sh",
        f"lib/libresource_tracker.so.{version}", "lib/libresource_tracker.so.1", "lib/libresource_tracker.so",
        "lib/libresource_tracker.a", "lib/pkgconfig/resource_tracker.pc", "include/resource_tracker.h",
        "share/man/man1/resource-tracker.1", "share/bash-completion/completions/resource-tracker",
        "share/zsh/site-functions/_resource-tracker", "share/fish/vendor_completions.d/resource-tracker.fish",
        "share/resource-tracker/sparecores.tsv", "share/resource-tracker/NOTICE"}


@pytest.mark.native
def test_an_installed_program_and_its_shells_run(installed, tmp_path):
    root, _ = installed
    env = {"HOME": str(tmp_path), "TRACKER_NO_DISCOVERY": "1"}
    program = next(root.rglob("bin/resource-tracker"))
    done = subprocess.run([program, "self", "check"], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    shell = program.parents[1] / "libexec/resource-tracker/bin/sh"
    assert subprocess.run([shell, "-c", "exit 4"], env=env, capture_output=True, check=False).returncode == 4


@pytest.mark.native
def test_destdir_may_be_a_relative_path(rt_path, tmp_path):
    make_install(pathlib.Path(rt_path).parent, os.path.relpath(tmp_path / "here", ROOT))
    assert list((tmp_path / "here").rglob("bin/resource-tracker"))


def example(number):
    text = (ROOT / "docs/c-api.md").read_text(encoding="utf-8")
    return re.findall(r"```c\n(.*?)```", text, re.DOTALL)[number]


COMPILERS = pytest.mark.parametrize("compiler", ["gcc -std=c99 -Wall -Wextra -Werror -pedantic",
                                                 "clang -std=c11 -Wall -Wextra -Werror -pedantic",
                                                 "g++ -std=c++11 -Wall -Wextra -Werror -x c++"])


def build(number, compiler, env, folder):
    """An example of docs/c-api.md as a program."""
    source, program = folder / "example.c", folder / "example"
    source.write_text(example(number), encoding="utf-8")
    flags = shlex.split(subprocess.run(["pkg-config", "--cflags", "--libs", "resource_tracker"], env=env,
                                       check=True, capture_output=True, text=True).stdout)
    words = compiler.split()
    assert shutil.which(words[0]), f"{words[0]} is not installed"
    subprocess.run([*words, str(source), "-O1", "-o", str(program), *flags], check=True, env=env)
    return program


@pytest.mark.native
@COMPILERS
def test_the_example_builds_and_runs_against_an_installed_copy(installed, tmp_path, compiler):
    root, env = installed
    program = build(0, compiler, env, tmp_path)
    done = subprocess.run([program], env=env, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    found = re.search(r"(\d+) samples, ([\d.]+) cores on average, ([\d.]+) s of CPU", done.stdout)
    assert found, done.stdout
    # Of a machine that is busy otherwise it gets less than a core.
    assert int(found[1]) >= 2 and 0 < float(found[2]) < 1.3 and float(found[3]) > 0.05
    assert (root / "usr/local/bin/resource-tracker").exists()


@pytest.mark.native
@COMPILERS
def test_the_examples_on_servers_and_advice_say_what_the_command_says(installed, tmp_path, compiler, rt):
    root, env = installed
    scores = next(root.rglob("sparecores.tsv"))
    found = rt.run("servers", "--vcpus", "4", "--memory", "16GiB", "--arch", "any", "--vendor", "aws,gcp,hetzner",
                   "--scores", scores, "-n", "3", "--json").json()
    program = build(1, compiler, env, tmp_path)
    done = subprocess.run([program], env=env, capture_output=True, text=True, timeout=240, check=True)
    assert json.loads(done.stdout) == found and len(found["servers"]) == 3
    assert rt.track("sleep", "0.4", flags=["-n", "job"]).rc == 0
    recording = next(rt.state.rglob("*.rtrk"))
    advised = rt.run("recommend", "--json", "job", env={"RESOURCE_TRACKER_DATA": str(scores.parent)}).json()
    program = build(2, compiler, env, tmp_path)
    done = subprocess.run([program, recording], env=env, capture_output=True, text=True, timeout=240, check=True)
    told = json.loads(done.stdout)
    assert (told["advice"], told["servers"]) == (advised["advice"], advised["servers"])


@pytest.mark.native
@COMPILERS
def test_the_example_on_alerts_gets_one(installed, tmp_path, compiler):
    _, env = installed
    program = build(4, compiler, env, tmp_path)
    done = subprocess.run([program], env={**env, "TRACKER_REQUEST": "time=1s"}, capture_output=True, text=True,
                          timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    alert = json.loads(done.stdout)
    assert (alert["rule"], alert["state"], alert["limit"]) == ("time-limit", "firing", 1)


@pytest.mark.native
def test_the_shared_library_shows_public_names_only(installed):
    root, _ = installed
    library = next(root.rglob("libresource_tracker.so.1"))
    names = {line.split()[-1] for line in subprocess.run(
        ["nm", "-D", "--defined-only", library], check=True, capture_output=True,
        text=True).stdout.splitlines()}
    header = (ROOT / "include/resource_tracker.h").read_text(encoding="utf-8")
    declared = set(re.findall(r"\b(trk_[a-z_]+)\(", re.sub(r"/\*.*?\*/", "", header, flags=re.S)))
    assert names == declared
