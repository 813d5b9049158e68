"""Tests processes whose main thread has ended while others run. The kernel shows such a process as a zombie without
memory."""

import csv
import io
import json
import subprocess

import pytest

pytestmark = pytest.mark.native

MIB = 1 << 20
# Says what it used, and holds what it has until its standard input ends.
PROGRAM = """
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static pthread_t main_thread;

static void *work(void *name)
{
	size_t size = 200 << 20;
	char *memory, c;
	struct rusage used;
	struct timespec now;
	FILE *truth = fopen("truth", "w");

	pthread_join(main_thread, NULL);
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(memory, 1, size);
	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	while (now.tv_sec < 1);
	fprintf(stderr, "ready\\n");
	while (read(0, &c, 1) > 0)
		;
	sleep(1);
	munmap(memory, size); /* not after the truth is told */
	getrusage(RUSAGE_SELF, &used);
	fprintf(truth, "%.6f", (double) (used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
		(double) (used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6);
	fclose(truth);
	exit(3);
}

int main(void)
{
	pthread_t thread;

	main_thread = pthread_self();
	pthread_create(&thread, NULL, work, NULL);
	pthread_exit(NULL);
}
"""


@pytest.fixture(name="headless")
def fixture_headless(tmp_path):
    subprocess.run(["cc", "-O1", "-pthread", "-x", "c", "-o", tmp_path / "headless", "-"],
                   input=PROGRAM, text=True, check=True)
    return tmp_path / "headless"


def rows(rt):
    return list(csv.DictReader(io.StringIO(rt.run("export", "@").stdout)))


def check(summary, last):
    assert summary["totals"]["peak_memory_mib"]["value"] == pytest.approx(201, rel=0.02)
    assert summary["top_processes"][0]["command"].endswith("/headless")
    assert float(last["process_memory_mib"]) == pytest.approx(201, rel=0.02)
    assert float(last["process_rss_mib"]) == pytest.approx(201, rel=0.02)
    assert last["process_threads"] == "1"


def test_a_job_without_its_main_thread_has_memory_and_exact_totals(rt, headless):
    result = rt.track(headless, flags=["-i", "0.1"])
    assert result.rc == 3
    truth = float((rt.home / "truth").read_text(encoding="ascii"))
    assert truth >= 1
    assert result.summary["totals"]["cpu_s"]["value"] == pytest.approx(truth, rel=0.01, abs=0.005)
    check(result.summary, max(rows(rt), key=lambda row: float(row["process_memory_mib"] or 0)))


@pytest.mark.parametrize("flags", [[], ["--no-children"]], ids=["tree", "alone"])
def test_a_process_without_its_main_thread_can_be_attached_to(rt, headless, flags):
    with subprocess.Popen([headless], cwd=rt.home, stdin=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        process.stderr.readline()
        result = rt.run("attach", "-i", "0.1", "--duration", "0.5", *flags, "--summary-json",
                        rt.summary_file, process.pid)
        assert result.rc == 0, result.stderr
        check(result.summary, rows(rt)[-1])
        with rt.start("attach", "-i", "0.1", "-q", "--summary-json", rt.summary_file,
                      process.pid) as tracker:
            process.stdin.close()
            assert process.wait() == 3  # which is the end of it: it had not ended before
            assert tracker.wait() == 0
    ended = json.loads(rt.summary_file.read_text(encoding="utf-8"))
    assert ended["run"]["duration_s"] > 0.9
