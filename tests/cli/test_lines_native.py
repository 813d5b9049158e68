"""Tests native code in `resource-tracker lines`: C programs whose distribution of CPU time is known, C code called
from Python, generated code, and files without symbols or changed after the run.

The programs measure each part with their own CPU clock, so load on the machine slows them down but does not change the
result."""

import errno
import os
import pathlib
import shutil
import subprocess

import pytest

from conftest import Tracker
from report_page import Page

FAULTS = pathlib.Path(__file__).resolve().parents[1] / "fault/inject.c"
FLAGS = ("-g", "-O0", "-fno-omit-frame-pointer")  # above that, functions that call none have no frame

SPIN = """
#include <stdio.h>
#include <time.h>
static volatile long sink;
static double cpu(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}
__attribute__((noinline)) static void first(long n)
{
	for (long i = 0; i < n; i++)
		sink += i; // FIRST
}
__attribute__((noinline)) static void second(long n)
{
	for (long i = 0; i < n; i++)
		sink ^= i * 3; // SECOND
}
__attribute__((noinline)) static double both(double seconds)
{
	double a = 0, b = 0, at = cpu(), end = at + seconds;
	while (at < end) {
		double middle, after;
		for (int i = 0; i < 40; i++)
			first(1400000); // CALLS
		middle = cpu();
		for (int i = 0; i < 40; i++)
			second(600000);
		after = cpu();
		a += middle - at;
		b += after - middle;
		at = after;
	}
	return a / (a + b);
}
double work(double seconds)
{
	return both(seconds); // WORK
}
"""
MAIN = """
int main(void)
{
	double end = cpu() + 0.5; // processes are looked at twice a second at the least
	while (cpu() < end)
		second(100000);
	printf("%.4f\\n", work(2.5)); // MAIN
	return 0;
}
"""
# For what is no matter of shares.
SHORT_MAIN = MAIN.replace("work(2.5)", "work(0.7)")
PYTHON = """
import ctypes, sys, time
library = ctypes.CDLL(sys.argv[1])
library.work.restype = ctypes.c_double
library.work.argtypes = [ctypes.c_double]
def spin(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        sum(range(1000))  # PYTHON
spin(0.5)
print(library.work(1.5))  # NATIVE
spin(0.2)
"""


def may_sample():
    try:
        return int(pathlib.Path("/proc/sys/kernel/perf_event_paranoid").read_text()) <= 2
    except FileNotFoundError:
        return False


samples_natively = pytest.mark.skipif(not may_sample(), reason="the kernel refuses perf_event_open")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give a file to another user")
pytestmark = pytest.mark.native


def build(folder, text, name, *flags):
    source = folder / f"{name}.c"
    source.write_text(text)
    subprocess.run(["cc", *FLAGS, *flags, source, "-o", folder / name], check=True)
    return folder / name


def line_of(text, word):
    return next(i for i, line in enumerate(text.splitlines(), 1) if line.endswith("// " + word) or
                line.endswith("# " + word))


def lines(rt, *flags, **options):
    result = rt.run("lines", "--json", "--top", "1000", *flags, **options)
    assert result.rc == 0, result.stderr
    return result.json()


def cpu_of(document, name, key="function", within=None):
    rows = [r for r in document["rows"] if r[key] == name]
    return sum((r[within] if within else r)["cpu_s"] for r in rows)


def track(rt, *command, **options):
    """A run of which most CPU time is on lines: on a busy machine the kernel may interrupt a thread so often
    that it is not sampled."""
    for _ in range(3):
        result = rt.track(*command, **options)
        assert result.rc == 0, result.stderr
        shown = rt.run("lines", "--json")
        if "flags" in options or (shown.rc == 0 and shown.json()["all"]["cpu_s"] > 0.7 * shown.json()["run_cpu_s"]):
            break
    return result


@pytest.fixture(scope="module")
def recorded(rt_path, tmp_path_factory):
    """A tracker with one recording of a short program, and that program."""
    rt = Tracker(rt_path, tmp_path_factory.mktemp("short"))
    program = build(rt.home, SPIN + SHORT_MAIN, "short", "-Wl,--build-id")
    track(rt, program)
    for file in (program, rt.home / "short.c"):
        shutil.copy2(file, f"{file}.kept")
    return rt, program


@pytest.fixture
def short(recorded):
    """The recording, whose program and source a test may change."""
    rt, program = recorded
    yield recorded
    for file in (program, rt.home / "short.c"):
        file.unlink(missing_ok=True)
        shutil.copy2(f"{file}.kept", file)


@samples_natively
def test_splits_the_time_of_a_c_program_among_its_functions_and_lines(rt):
    program = build(rt.home, SPIN + MAIN, "split")
    truth = float(track(rt, program).stdout)
    document = lines(rt, "--by", "function")
    first, second = cpu_of(document, "first"), cpu_of(document, "second")
    assert document["native"]["stacks"] > 90
    assert document["native"]["lost"] <= document["native"]["stacks"] / 100
    assert first + second == pytest.approx(document["run_cpu_s"], rel=0.2)
    warm_s = 0.5  # of the second one
    assert first / (first + second - warm_s) == pytest.approx(truth, abs=0.05)
    both = cpu_of(document, "both", within="with_callees")
    assert cpu_of(document, "first", within="with_callees") / both == pytest.approx(truth, abs=0.03)
    by_line = lines(rt)
    hot = max(by_line["rows"], key=lambda r: r["cpu_s"])
    assert hot["file"] == str(rt.home / "split.c")
    assert abs(hot["line"] - line_of(SPIN, "FIRST")) <= 1  # of the loop
    text = rt.run("lines").stdout
    assert f"split.c:{hot['line']} first()" in text
    assert f"no names: {program}" not in text


@samples_natively
def test_stands_below_the_line_of_python_that_called_it(rt):
    library = build(rt.home, SPIN, "libwork.so", "-shared", "-fPIC")
    script = rt.home / "calls.py"
    script.write_text(PYTHON)
    for _ in range(3):  # as track() says
        truth = float(track(rt, "/usr/bin/python3", script, library).stdout)
        document = lines(rt, "--all-frames")
        line = line_of(PYTHON, "NATIVE")
        called = next(r for r in document["rows"] if r["file"] == str(script) and r["line"] == line)
        by_function = lines(rt, "--by", "function", "--all-frames")
        first, second = cpu_of(by_function, "first"), cpu_of(by_function, "second")
        if first + second > 0.9 * called["with_callees"]["cpu_s"]:
            break
    assert called["with_callees"]["cpu_s"] > 1
    assert called["cpu_s"] < 0.1 * called["with_callees"]["cpu_s"]
    assert first / (first + second) == pytest.approx(truth, abs=0.03)
    assert first + second == pytest.approx(called["with_callees"]["cpu_s"], rel=0.1)
    stacks = rt.run("lines", "--format", "folded", "--all-frames").stdout
    # Where a sample hit the first instructions of a function, its caller is missing.
    stack = max((s for s in stacks.splitlines() if " first()" in s), key=lambda s: int(s.rsplit(" ", 1)[1]))
    assert stack.index(f"calls.py:{line} ") < stack.index(" work()") < stack.index(" first()")


@samples_natively
def test_charges_inlined_library_code_to_the_line_that_calls_it(rt):
    folder = rt.home / "site-packages"
    folder.mkdir()
    (folder / "add.h").write_text("static inline __attribute__((always_inline)) void add(volatile long *to, long n)\n"
                                  "{\n\tfor (long i = 0; i < n; i++)\n\t\t*to += i;\n}\n")
    text = '#include "site-packages/add.h"\n' + SPIN + """
int main(void)
{
	for (double end = cpu() + 1; cpu() < end;)
		add(&sink, 1000000); // INLINED
	return 0;
}
"""
    track(rt, build(rt.home, text, "inlined", "-Wno-unused-function"))
    document = lines(rt)
    hot = max(document["rows"], key=lambda r: r["cpu_s"])
    assert (hot["file"], hot["line"], hot["function"]) == (
        str(rt.home / "inlined.c"), line_of(text, "INLINED"), "main")
    assert hot["cpu_s"] > 0.8 * document["all"]["cpu_s"]


@samples_natively
def test_names_a_place_in_a_stripped_file_by_its_offset(rt):
    program = build(rt.home, SPIN + SHORT_MAIN, "bare", "-s")
    track(rt, program)
    document = lines(rt)
    hot = max(document["rows"], key=lambda r: r["cpu_s"])
    assert hot["file"] == str(program) and hot["function"].startswith("[bare+0x")
    assert {"file": str(program), "reason": "the file has no symbols"} in document["native"]["files"]
    assert f"no names: {program}: the file has no symbols" in rt.run("lines").stdout
    # The report leaves out places that say little.
    shares = [row["cpu_s"] / document["all"]["cpu_s"] for row in document["rows"]]
    assert min(shares) < 0.05 < max(shares)
    assert len(Page(rt).rows("Where in the code")) == sum(share > 0.05 for share in shares)


@samples_natively
def test_takes_no_names_from_a_file_that_has_changed(short):
    rt, program = short
    program.unlink()
    build(rt.home, "int other;" + SPIN + SHORT_MAIN, "short", "-Wl,--build-id")
    document = lines(rt)
    assert max(document["rows"], key=lambda r: r["cpu_s"])["function"].startswith("[short+0x")
    reason = next(f["reason"] for f in document["native"]["files"] if f["file"] == str(program))
    assert reason == "the file has changed since the run (another build id)"
    program.unlink()
    assert f"no names: {program}: the file does not exist" in rt.run("lines").stdout


@samples_natively
@needs_root
def test_takes_no_names_from_a_file_of_another_user(short):
    rt, program = short
    os.chown(program, 65534, 65534)
    document = lines(rt)
    assert max(document["rows"], key=lambda r: r["cpu_s"])["function"].startswith("[short+0x")
    assert {"file": str(program), "reason": "the file belongs to another user"} in document["native"]["files"]


@samples_natively
@pytest.mark.parametrize("owner, name", [(None, "hot_loop"), pytest.param(65534, "[generated code]", marks=needs_root)])
def test_names_generated_code_as_its_compiler_did(rt, owner, name):
    """The map of another user names nothing."""
    jit = """
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void)
{
	/* mov $0x80000000, %ecx; again: dec %ecx; jnz again; ret */
	static const unsigned char code[] = {0xb9, 0, 0, 0, 0x80, 0xff, 0xc9, 0x75, 0xfc, 0xc3};
	void *at = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char name[64];
	FILE *map;
	memcpy(at, code, sizeof(code));
	sprintf(name, "/tmp/perf-%d.map", (int) getpid());
	map = fopen(name, "w");
	fprintf(map, "%lx %zx hot_loop\\n", (unsigned long) at, sizeof(code));
	fclose(map);
	if (OWNER && chown(name, OWNER, OWNER))
		return 1;
	for (double end = cpu() + 1.2; cpu() < end;)
		((void (*)(void)) at)();
	return unlink(name);
}
"""
    if os.uname().machine != "x86_64":
        pytest.skip("the generated code is of x86_64")
    track(rt, build(rt.home, SPIN + jit, "jit", "-Wno-unused-function", f"-DOWNER={owner or 0}"))
    document = lines(rt)
    assert cpu_of(document, name) > 0.6 * document["run_cpu_s"]


@samples_natively
def test_follows_a_process_through_exec(rt):
    program = build(rt.home, SPIN + SHORT_MAIN, "after")
    before = build(rt.home, SPIN + """
#include <unistd.h>
int main(int argc, char **argv)
{
	(void) argc;
	work(1);
	return execv(argv[1], argv + 1);
}
""", "before")
    track(rt, before, program)
    document = lines(rt, "--by", "function")
    of = {name: sum(r["cpu_s"] for r in document["rows"]
                    if r["file"] == str(rt.home / f"{name}.c")) for name in ("before", "after")}
    assert of["before"] > 0.1 and of["after"] > 0.1


@pytest.mark.native
def test_says_that_the_kernel_refuses_it(rt, tmp_path, burn):
    library = tmp_path / "inject.so"
    subprocess.run(["cc", "-std=gnu11", "-O1", "-shared", "-fPIC", FAULTS, "-o", library], check=True)
    result = rt.track("sh", "-c", f"{burn} 0.5 && exec /usr/bin/python3 -c "
                      "'import time\nwhile time.process_time() < 0.6: pass'",
                      env={"LD_PRELOAD": str(library), "TRK_FAULT": f"syscall:1+:{errno.EACCES}",
                                                        "TRK_FAULT_FORKS": "1"})
    assert result.rc == 0, result.stderr
    native = lines(rt)["native"]
    assert native["read"] is False and native["stacks"] == 0
    assert "the kernel refuses perf_event_open" in native["reason"]
    assert "native code not read: the kernel refuses" in rt.run("lines").stdout


def test_off_means_off(rt, burn):
    track(rt, burn, "0.7", flags=("--lines", "off"))
    result = rt.run("lines")
    assert result.rc != 0 and "no stacks" in result.stderr


@samples_natively
def test_an_attached_program_has_functions_and_lines(rt):
    program = build(rt.home, SPIN + MAIN, "joined")
    for _ in range(3):  # as track() says
        with subprocess.Popen([program], stdout=subprocess.DEVNULL) as job:
            result = rt.run("attach", "--no-discovery", job.pid)
            assert result.rc == 0, result.stderr
        document = lines(rt, "--by", "function")
        both = cpu_of(document, "both", within="with_callees")
        if both > 1.5:
            break
    assert document["native"]["read"] is True and both > 1.5


THREADS = SPIN + """
#include <pthread.h>
static void *worker(void *number)
{
	while (cpu() < 5)
		if ((long) number % 2)
			first(200000);
		else
			second(200000);
	return NULL;
}
int main(void)
{
	pthread_t thread[64];
	for (long i = 0; i < 64; i++)
		pthread_create(&thread[i], NULL, worker, (void *) i);
	for (int i = 0; i < 64; i++)
		pthread_join(thread[i], NULL);
	return (int) sink & 0;
}
"""


@samples_natively
def test_sixty_four_threads_are_sampled(rt):
    program = build(rt.home, THREADS, "threads", "-pthread", "-Wno-unused-function")
    for _ in range(3):  # not track(): on a busy machine fewer samples are within the budget
        assert rt.track(program).rc == 0
        shown = rt.run("lines", "--json")
        if shown.rc == 0 and shown.json()["all"]["cpu_s"] > 0.2 * shown.json()["run_cpu_s"]:
            break
    document = lines(rt, "--by", "function")
    assert document["native"]["lost"] <= document["native"]["stacks"] / 100
    sampled = document["all"]["cpu_s"]
    assert sampled > 0.2 * document["run_cpu_s"]
    assert cpu_of(document, "first") + cpu_of(document, "second") > 0.9 * sampled
    threads = [r["tid"] for r in lines(rt, "--by", "thread")["rows"]]
    assert len(threads) == len(set(threads)) >= 48  # one that is seen late may have ended at its first sample


@samples_natively
@needs_root
def test_a_program_in_another_mount_namespace_takes_no_names_from_this_one(rt):
    """The files of a container are gone with it; what is at the same place here is another file."""
    (rt.home / "inside").mkdir()
    program, hidden = build(rt.home, SPIN + SHORT_MAIN, "hidden", "-Wl,--build-id"), rt.home / "inside/hidden"
    other = build(rt.home, "int other;" + SPIN + SHORT_MAIN, "other", "-Wl,--build-id")
    track(rt, "unshare", "--mount", "sh", "-c",
          f"mount -t tmpfs none {hidden.parent} && cp {program} {hidden} && exec {hidden}")
    for reason in ("the file does not exist", "the file has changed since the run (another build id)"):
        assert hidden.exists() == ("changed" in reason)
        document = lines(rt)
        assert max(document["rows"], key=lambda r: r["cpu_s"])["function"].startswith("[hidden+0x")
        assert {"file": str(hidden), "reason": reason} in document["native"]["files"]
        assert f"no names: {hidden}: {reason}" in rt.run("lines").stdout
        shutil.copy(other, hidden)


@samples_natively
def test_source_of_native_code_is_shown_while_it_is_unchanged(short):
    rt, program = short

    def shown():
        page = rt.run("report", "--format", "md", "-o", "-").stdout
        assert "short.c:" in page and "first()" in page
        return page, rt.run("lines").stdout

    source, built = rt.home / "short.c", int(program.stat().st_mtime)
    for at, reason in ((built, None), (built - 60, "the file was changed after its program was built"),
                       (built + 3600, "the file was changed after the run began")):
        if at < built:
            os.utime(program, (at, at))
        else:
            os.utime(source, (at, at))
        page, text = shown()
        assert ("sink += i;" in page) == ("sink += i;" in text) == (reason is None)
        assert reason is None or f"({reason})" in page and f"no source: {source}: {reason}\n" in text
