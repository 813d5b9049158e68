"""Tests `--lines` with jobs whose stacks are hard to read or must not be read. Each is read correctly, or reported
with the reason."""

import json
import os
import pathlib
import re
import subprocess

import pytest
from conftest import ROOT

from test_lines import BURN_PYTHON, DYING, SYSTEM, check_dying, lines, samples, write

def test_an_address_that_is_used_again_has_its_new_name(rt):
    """Of other Pythons, test_lines.py reads one."""
    samples(rt, write(rt, "dying.py", DYING), hz="400")
    check_dying(lines(rt))


EVIL = """
def evil():
    burn(1)
text = "</script><script>alert(1)</script>\\x1b[31m"
code = evil.__code__.replace(co_filename="/made/a.py" + text, co_name=text, co_qualname=text)
exec(code, {"burn": burn})
"""


def test_names_do_no_harm_on_a_page_and_a_terminal(rt):
    script = write(rt, "evil.py", BURN_PYTHON + EVIL)
    samples(rt, script, hz="100")
    for words in (["report", "--output", "-"], ["report", "--format", "md", "--output", "-"], ["lines", "--all-frames"],
                  ["lines", "--by", "function"], ["lines", "--by", "file"], ["show"]):
        out = rt.run(*words).stdout
        assert "\x1b[31m" not in out, words
        if words == ["report", "--output", "-"]:
            assert "script>alert(1)" in out and "<script>alert(1)" not in out
    names = [r["function"] for r in lines(rt, "--all-frames", "--by", "function")["rows"]]
    assert "</script><script>alert(1)</script>\x1b[31m" in names  # JSON is for programs: as it is


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to run the job as another user")
def test_a_job_that_drops_its_privileges_is_still_read(rt):
    script = write(rt, "drops.py", BURN_PYTHON + """
import os
def before():
    burn(0.6)
def after():
    burn(0.8)
before()
os.setgid(65534)
os.setuid(65534)
after()
""")
    samples(rt, script, hz="100")
    document = lines(rt, "--by", "function")
    assert {"before", "after"} <= {r["function"] for r in document["rows"]}
    assert document["processes"][0]["read"] is True


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to make a mount namespace")
def test_source_in_another_mount_namespace_is_named_as_missing(rt):
    (rt.home / "inside").mkdir()
    script = write(rt, "hidden.py", BURN_PYTHON + "burn(0.8)\n")
    inside = rt.home / "inside/hidden.py"
    result = rt.track("unshare", "--mount", "sh", "-c",
                      f"mount -t tmpfs none {inside.parent} && cp {script} {inside} && exec {SYSTEM} {inside}",
                      flags=("--lines", "100"))
    assert result.rc == 0, result.stderr
    assert not inside.exists()
    shown = rt.run("lines").stdout
    assert "hidden.py:5 burn()" in shown
    assert f"no source: {inside}: the file does not exist here: it was deleted, or is in a container\n" in shown
    page = rt.run("report", "--format", "md", "--output", "-").stdout
    assert "(the file does not exist here: it was deleted, or is in a container)" in page


def test_source_that_was_written_to_is_named(rt):
    script = write(rt, "s.py", BURN_PYTHON + "burn(0.8)\n")
    os.utime(script, (1, 1))
    samples(rt, script, hz="100")
    assert "no source" not in rt.run("lines").stdout
    script.write_text("something\n" * 10)
    assert f"no source: {script}: the file was changed after the run began\n" in rt.run("lines").stdout


# ---- programs that are not to be read ----

FAKE = """
#include <stdint.h>
#include <string.h>
#include <time.h>
%s
uint64_t _PyRuntime[512];
int main(void)
{
	for (int i = 0; i < 512; i++)
		_PyRuntime[i] = (uint64_t) (uintptr_t) &_PyRuntime[i * 7 %% 512];
	if (COOKIE) {
		memcpy(_PyRuntime, "xdebugpy", 8);
		_PyRuntime[1] = 0x030d00f0;
		_PyRuntime[2] = FREE_THREADED;
		for (int i = 3; i < 512; i++)
			_PyRuntime[i] = (uint64_t) i * 8;
	}
	while (clock() < CLOCKS_PER_SEC * 6 / 10)
		;
	return 0;
}
"""


def built(folder, name, text, *flags):
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    subprocess.run(["cc", "-O1", "-rdynamic", "-w", "-x", "c", "-", "-o", path, *flags], input=text, text=True,
                   check=True)
    return path


def reason_of(rt, program, version=None):
    """What `lines` says about a program of which no line was read. Its native code may have been sampled."""
    result = rt.track(program, flags=("--lines", "auto"))
    assert result.rc == 0, result.stderr
    result = rt.run("lines", "--json")
    if result.rc == 0:
        (process,) = result.json()["processes"]
        assert process["read"] is False and process["python"] == version
        return process["name"], process["reason"]
    assert result.rc == 4 and result.stdout == ""
    first, *rest = (line for line in result.stderr.splitlines() if "native code: " not in line)
    assert "no process of the run was read as Python" in first
    assert len(rest) == 1
    return re.fullmatch(r"resource-tracker: (\S+) \(\d+\): (.*)", rest[0]).groups()


@pytest.mark.parametrize("declarations, cookie, free_threaded, reason", [
    ("unsigned long Py_Version = 0x030d00f0;", 1, 1, "a free-threaded CPython"),
    ("unsigned long Py_Version = 0x030d00f0;", 0, 0, "the memory is not laid out as in a release build of its version"),
    ("unsigned long Py_Version = 0x030d00f0;", 1, 0, None),
    ("unsigned long Py_Version = 0x036300f0;", 1, 0, "CPython newer than 3.14"),
    ("unsigned long Py_Version = 0x030b00f0;", 0, 0, None),
    ("void PyIter_Send(void) {}", 0, 0, None),
    ("void PyFrame_GetBack(void) {}", 0, 0, None),
    ("", 0, 0, "CPython older than 3.9"),
    ("void Py_IsInitialized(void) {}\n#define _PyRuntime hidden", 0, 0, "the Python does not export _PyRuntime"),
])
def test_what_is_no_interpreter_that_can_be_read_is_named(rt, declarations, cookie, free_threaded, reason):
    text = FAKE % declarations
    program = built(rt.home, "python3", text, f"-DCOOKIE={cookie}", f"-DFREE_THREADED={free_threaded}")
    name, said = reason_of(rt, program)
    assert name == "python3"
    assert said == reason or reason is None and re.match("the (memory is not laid|interpreter had not)", said)


def test_a_process_without_a_name_is_called_process(rt):
    text = FAKE.replace("{\n", "{\n\tprctl(PR_SET_NAME, \"\");\n", 1) % "#include <sys/prctl.h>"
    program = built(rt.home, "python3", text, "-DCOOKIE=0", "-DFREE_THREADED=0")
    assert rt.track(program, flags=("--lines", "auto")).rc == 0
    result = rt.run("lines")
    assert re.search(r"(?m)^(not read|resource-tracker): process \(\d+\): CPython older than 3.9$",
                     result.stdout + result.stderr)
    if result.rc == 0:
        (process,) = rt.run("lines", "--json").json()["processes"]
        assert process["name"] is None


BUSY = "#include <time.h>\nint main(void) { while (clock() < CLOCKS_PER_SEC * 6 / 10); return 0; }\n"


@pytest.mark.parametrize("name, library", [("pypy3.10", None), ("node", None), ("java", "libjvm.so"), ("R", "libR.so")])
def test_other_runtimes_are_named_as_not_read(rt, name, library):
    flags = []
    if library:
        built(rt.home / "lib", library, "int here;\n", "-shared", "-fPIC")
        flags = ["-Wl,--no-as-needed", f"-L{rt.home}/lib", f"-l:{library}", f"-Wl,-rpath,{rt.home}/lib"]
    program = built(rt.home, name, BUSY, *flags)
    assert reason_of(rt, program) == (name, "PyPy, Node.js, Java or R: not supported")


# ---- programs that make the tracker read much ----

CHANGING = (ROOT / "tests/fault/changing.c").read_text(encoding="utf-8")


def changing(rt, name, endless, table, seconds):
    return built(rt.home, name, CHANGING, f"-DENDLESS={endless}", f"-DTABLE={table}", f"-DSECONDS={seconds}")


def test_a_program_that_changes_while_it_is_read_holds_up_nothing(rt):
    program = changing(rt, "python3", 1, 100, 0)
    result = rt.track(program, flags=("--timeout", "1.5s"))
    assert result.rc == 124, result.stderr


def test_a_program_of_which_too_much_is_to_be_read_is_named(rt):
    name, reason = reason_of(rt, changing(rt, "python3", 0, 65000, 1), "3.11")
    assert (name, reason) == ("python3", "reading all of it takes too much time or memory")


# ---- cost ----

THREADS = """
import threading, time
def work():
    while time.monotonic() < end:
        sum(range(1000))
end = time.monotonic() + 3
threads = [threading.Thread(target=work) for _ in range(63)]
for t in threads:
    t.start()
work()
for t in threads:
    t.join()
"""


def test_many_threads_are_sampled_within_the_budget(rt):
    """30 ms are lent at the start, and half a ms comes with each second: however slow the machine, the rate follows.
    Looks at memory that grows come on top, and some rounds are under way before their cost is known."""
    script = write(rt, "threads.py", THREADS)
    result = rt.track(SYSTEM, script, flags=("--lines", "auto"))
    assert result.rc == 0
    document = lines(rt)
    budget_s = 0.030 + 0.0005 * result.summary["run"]["duration_s"]
    assert document["sampling_cpu_s"] < 2 * budget_s
    assert document["looks"] < 400  # without a budget 100 a second, and 0.1 s of CPU time at least
    assert document["stacks"] > 64
    assert pathlib.Path(script).name in json.dumps(document["rows"])
