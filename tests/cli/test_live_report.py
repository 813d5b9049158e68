"""Tests --report-every: the page while the job runs, and the last one after its end."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from conftest import TIMEOUT_S
from report_page import Page

JOB = "import sys, time; b = bytearray(b'x') * (60 << 20); print(flush=True); time.sleep(300)"


@pytest.fixture
def job():
    process = subprocess.Popen([sys.executable, "-c", JOB], stdout=subprocess.PIPE)
    process.stdout.readline()
    yield process
    process.kill()
    process.wait()


def attach(rt, job, page, *more):
    return subprocess.Popen([rt.path, "internal", "attach", "-q", "-i", "0.05", f"--report={page}",
                             "--report-every", "100ms", *more, str(job.pid)], env=rt.env,
                            stderr=subprocess.PIPE, text=True)


def await_text(page, text):
    end = time.monotonic() + TIMEOUT_S
    while time.monotonic() < end:
        if page.exists() and text in page.read_text(encoding="utf-8"):
            return page.read_text(encoding="utf-8")
        time.sleep(0.02)
    raise AssertionError(f"{text} does not appear")


def last_of(page):
    return float(re.search(r'data-last="([0-9.]+)"', page.read_text("utf-8"))[1])


def await_page_after(page, last):
    """Wait for a page that has a newer row."""
    end = time.monotonic() + TIMEOUT_S
    while last_of(page) <= last:
        assert time.monotonic() < end, "there is no second page"
        time.sleep(0.05)


def test_a_page_while_it_runs_and_one_after_its_end(rt, job):
    page, via = rt.home / "page.html", rt.home / "elsewhere"
    tracker = attach(rt, job, page, "--report-via", str(via))
    html = await_text(page, "still running")
    last = float(re.search(r'<html lang="en" data-live="0\.100" data-last="([0-9.]+)"', html)[1])
    assert abs(time.time() - last) < TIMEOUT_S
    await_page_after(page, last)
    job.send_signal(signal.SIGKILL)
    assert tracker.wait(TIMEOUT_S) == 0 and tracker.stderr.read() == ""
    html = page.read_text(encoding="utf-8")
    assert "data-live" not in html and "still running" not in html
    assert "exit code not known" in html and html.endswith("</html>\n")
    assert not list(rt.home.glob("elsewhere*")) and not list(rt.home.glob("page.html.*"))


def test_the_page_rests_on_the_earlier_runs_that_are_stated(rt, job):
    earlier, page = rt.home / "earlier.json", rt.home / "page.md"
    runs = [{"start_s": 1.7e9 + i, "duration_s": 1, "cpu_mean": 0.1, "cpu_s": 0.1,
             "peak_memory_mib": 900} for i in range(6)]
    earlier.write_text(json.dumps(runs))
    tracker = attach(rt, job, page, "--report-earlier", str(earlier),
                     "--orchestrator", "metaflow")
    await_text(page, "still running")
    tracker.send_signal(signal.SIGINT)
    assert tracker.wait(TIMEOUT_S) == 0
    report = Page.of(page.read_text())
    memory = next(row for row in report.rows("Right-sizing") if row["Resource"] == "Memory")
    assert memory["Next request"] == "1 GiB" and "from 6 runs" in memory["Why"]
    assert len(report.rows("What changed since earlier runs", 1)) == 7
    assert "For Metaflow:" in report.markdown  # what it stands under
    assert not os.path.exists(rt.state / "history.sqlite")


def test_an_interval_that_is_none_is_refused(rt):
    for verb, code in (("attach", 2), ("run", 125)):
        result = rt.run(verb, "--report-every", "soon", "1")
        assert result.rc == code and "--report-every soon: not a duration" in result.stderr


@pytest.mark.parametrize("flags", [(), ("--report",), ("--report=x.html", "--no-recording"), ("--report=-",)])
def test_an_interval_without_a_page_to_write_is_told(rt, flags):
    done = rt.run("run", "-q", "--no-discovery", "--report-every", "1s", *flags, "--", "true")
    assert done.rc == 0 and "--report-every: no page is written while the job runs" in done.stderr
    done = rt.run("run", "-q", "--no-discovery", "--report-every", "1s", "--report=y.html", "--", "true")
    assert "--report-every" not in done.stderr


def test_run_writes_pages_while_its_job_runs_and_does_not_count_their_writer(rt):
    page, end = rt.home / "page.html", rt.home / "end"
    script = "import os, sys, time\nwhile not os.path.exists(sys.argv[1]): time.sleep(0.02)"
    with rt.start("run", "--no-discovery", "--summary", "never", "-i", "0.05", f"--report={page}",
                  "--report-every", "100ms", "-n", "paged", "--", "/usr/bin/python3", "-c", script,
                  end) as tracker:
        await_text(page, "still running")
        await_page_after(page, last_of(page))
        end.touch()
        assert tracker.wait(TIMEOUT_S) == 0
    assert "data-live" not in page.read_text(encoding="utf-8")
    totals = rt.run("show", "--json", "@").json()["totals"]
    assert totals["peak_memory_mib"]["source"] == "ru_maxrss of the only process"
    assert totals["peak_processes"]["value"] == 1
    assert totals["cpu_s"]["source"] == "process tree and wait4"


def test_the_name_of_the_page_while_it_is_written_cannot_be_taken(rt, job):
    page, via = rt.home / "page.html", rt.home / "elsewhere"
    via.mkdir()
    tracker = attach(rt, job, page, "--report-via", str(via))
    await_text(page, "still running")
    tracker.send_signal(signal.SIGINT)
    assert tracker.wait(TIMEOUT_S) == 0
    assert "■ stopped" in page.read_text(encoding="utf-8") and list(rt.home.glob("elsewhere*")) == [via]
