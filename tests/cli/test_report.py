"""Tests `report` and `run --report` with real runs: files, formats, errors. tests/e2e tests the page itself in a
browser."""

import base64
import ctypes
import errno
import html
import json
import os
import re
import resource
import subprocess
import sys

import pytest

from report_page import Page

MEASURED = "How this was measured, and how certain it is"
WORK = "import time; b = bytearray(b'x') * (50 << 20); time.sleep(0.4)"


def number(text):
    """The number at the front of a cell: "0.26 MiB"."""
    return float(text.lstrip("< ").split()[0])


def track(rt, *flags, job="work", code=WORK):
    return rt.track(sys.executable, "-c", code, flags=["-n", job, "-i", "0.05", *flags])


def test_a_run_without_a_cpu_rate_in_its_rows_is_described_by_its_total(rt):
    """A sample has no rate over less than 0.1 s."""
    code = "import time\nwhile time.process_time() < 0.05: pass"
    rt.track(sys.executable, "-S", "-c", code, flags=["-i", "10"])
    row = rt.run("export", "--format", "jsonl").stdout.splitlines()[-1]
    said = Page(rt).markdown
    assert json.loads(row)["process_cpu_usage"] is None or "Used at most" in said
    assert not re.search(r"\bnan\b|at most -", said)


def test_report_writes_a_page_named_after_the_run(rt):
    summary = track(rt).summary
    result = rt.run("report")
    name = f"resource-tracker-{summary['run']['id']}.html"
    assert result.rc == 0 and name in result.stderr and result.stdout == ""
    page = (rt.home / name).read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and page.endswith("</html>\n")
    assert len(page) < 150_000
    assert [path.name for path in rt.home.glob("resource-tracker-*")] == [name]


def test_figures_are_those_of_the_summary(rt):
    summary = track(rt).summary
    page = Page(rt)
    cpu, memory = page.rows("Right-sizing")[:2]
    assert number(cpu["Mean"]) == pytest.approx(summary["stats"]["process_cpu_usage"]["mean"], rel=0.05, abs=0.006)
    assert number(memory["Peak"]) == pytest.approx(
        max(summary["totals"]["peak_memory_mib"]["value"], summary["stats"]["process_memory_mib"]["max"]), rel=0.01)
    request = rt.run("recommend", "--json").json()["advice"]["memory"]["request_mib"]
    assert f"{request:.0f} MiB next time" in page.lead
    totals = {row["Figure"]: row.get("Value") for row in page.rows(MEASURED)}
    assert number(totals["CPU time"]) == pytest.approx(1000 * summary["totals"]["cpu_s"]["value"], abs=1)


def test_disk_space_is_a_resource_of_the_whole_machine(rt):
    track(rt)
    row = next(row for row in Page(rt).rows("Right-sizing") if row["Resource"] == "Disk space")
    export = rt.run("export", "--format", "jsonl").stdout.splitlines()
    samples = [json.loads(line) for line in export]
    used = max(sample["system_disk_space_used_gb"] for sample in samples)
    total = max(sample["system_disk_space_total_gb"] for sample in samples)
    assert row["Peak"].endswith(" GB") and "whole machine" in row["Why"]
    assert number(row["Peak"]) == pytest.approx(used, rel=0.01)
    assert number(row["In this machine"]) == pytest.approx(total, rel=0.01)
    assert number(row["Peak / machine"]) == pytest.approx(100 * used / total, abs=0.6)


def test_snippets_are_those_of_recommend(rt):
    track(rt)
    page = rt.run("report", "-o", "-").stdout
    snippets = re.findall(r'<pre [^>]*id="snippet-(\w+)">(.*?)</pre>', page, re.DOTALL)
    assert len(snippets) > 5
    for kind, text in snippets:
        assert html.unescape(text) == rt.run("recommend", "--for", kind).stdout


def test_both_forms_say_the_same(rt):
    track(rt)
    page = rt.run("report", "-o", "-").stdout
    text = html.unescape(re.sub(r"<[^>]*>", "", page))
    markdown = Page(rt)
    assert markdown.lead in text
    figures = re.findall(r"^- (\w[\w ]*?)(?:, whole machine)?: (mean .*?)(?:;.*)?$", markdown.sections["Timeline"].text,
                         re.MULTILINE)
    assert {title for title, _ in figures} >= {"CPU", "Memory"}
    for title, words in figures:
        assert f"<strong>{title}</strong>" in page and words in text
    # What did not happen is one sentence.
    quiet, = re.findall(r"^Disk read: none .*$", markdown.sections["Timeline"].text, re.MULTILINE)
    assert quiet in text


def test_markdown_is_tables_and_text(rt):
    track(rt, job="a|b <script>x</script> @all")
    text = rt.run("report", "--format", "md").stdout
    assert len(text.encode()) < 1 << 20
    assert text.startswith("# a\\|b \\<script\\>x")
    assert "<script>" not in text and " @all" not in text
    tables = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert len(tables) >= 4
    for table in tables:  # as many cells in each row
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(widths) == 1, table


def test_run_writes_its_report_at_the_end(rt):
    page, markdown = rt.home / "p.html", rt.home / "p.md"
    result = track(rt, f"--report={page}")
    assert result.rc == 0 and f"wrote {page}" in result.stderr
    assert result.summary["run"]["id"] in page.read_text(encoding="utf-8")
    track(rt, f"--report={markdown}")
    assert markdown.read_text(encoding="utf-8").startswith("# work")
    result = track(rt, "--report")
    assert (rt.home / f"resource-tracker-{result.summary['run']['id']}.html").is_file()


def test_trouble_with_the_report_is_not_the_jobs(rt):
    result = rt.track("sh", "-c", "exit 7", flags=["--report=/nowhere/x.html"])
    assert result.rc == 7
    assert "/nowhere/x.html: cannot write the report: No such file" in result.stderr
    assert rt.track("true", flags=["--strict", "--report=/nowhere/x.html"]).rc == 125
    result = rt.track("true", flags=["--no-recording", "--report"])
    assert result.rc == 0 and "there is no recording" in result.stderr


def test_reports_of_attach_and_system(rt):
    page = rt.home / "s.html"
    assert rt.run("system", "--duration", "0.5s", f"--report={page}").rc == 0
    text = page.read_text(encoding="utf-8")
    assert "The whole machine." in text and "There is no job here to size." in text


def test_a_failed_write_leaves_nothing_behind(rt):
    track(rt)
    folder = rt.home / "out"
    folder.mkdir()
    page = folder / "p.html"
    page.write_text("old")

    def small():
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    done = subprocess.run(
        ["sh", "-c", 'trap "" XFSZ; exec "$0" report -o "$1"', rt.path, str(page)],
        env=rt.env, cwd=rt.home, capture_output=True, text=True, preexec_fn=small, check=False)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1 and "cannot write the report" in done.stderr
    assert page.read_text() == "old"
    assert os.listdir(folder) == ["p.html"]
    for path, rc in ((rt.home / "no" / "p.html", 1), (folder, 1), ("/dev/full", 1)):
        result = rt.run("report", "-o", path)
        assert result.rc == rc and result.stderr.count("\n") == 1, path
    assert os.listdir(folder) == ["p.html"]


def test_stdout_is_an_output(rt):
    track(rt)
    assert rt.run("report", "-o", "-").stdout.startswith("<!doctype html>")
    assert rt.run("report", "-o", "/dev/stdout").stdout.startswith("<!doctype html>")


def test_runs_are_named_in_every_way(rt):
    ids = [track(rt, job=job).summary["run"]["id"] for job in ("a", "b", "a")]
    for name, wanted in ((), ids[2]), (("@2",), ids[1]), (("b",), ids[1]), ((ids[0],), ids[0]):
        assert Page(rt, *name).id == wanted
    path = next((rt.state / "runs").glob(f"*{ids[1]}*"))
    assert Page(rt, path).id == ids[1]
    assert len(Page(rt).rows("What changed since earlier runs", -1)) == 2


def test_wrong_use_is_one_line(rt):
    track(rt)
    for args, rc in ((("nowhere",), 4), (("--format", "pdf"), 2), (("a", "b"), 2),
                     (("--embed-raw", "--format", "md"), 2), (("--open", "-o", "-"), 2)):
        result = rt.run("report", *args)
        assert result.rc == rc and result.stderr.count("\n") == 1, args
    assert rt.run("report", "--open", "-o", rt.home / "x.html", env={"PATH": "/nowhere"}).rc == 1
    assert (rt.home / "x.html").is_file()


def test_open_hands_the_file_to_the_desktop(rt, tmp_path):
    track(rt)
    tools, told = tmp_path / "tools", tmp_path / "told"
    tools.mkdir()
    stand_in = tools / "xdg-open"
    path = {"PATH": f"{tools}:{os.environ['PATH']}"}

    def stands_in(code):
        stand_in.write_text(f'#!/bin/sh\nprintf "%s\\n" "$#" "$1" >{told}\n'
                            f'head -c 15 "$1" >>{told}\nexit {code}\n')
        stand_in.chmod(0o755)

    stands_in(0)
    page = rt.home / "a b;$(x).html"
    result = rt.run("report", "--open", "-o", page, env=path)
    assert result.rc == 0 and result.stderr == f"resource-tracker: wrote {page}\n"
    assert told.read_text() == f"1\n{page}\n<!doctype html>"
    stands_in(3)
    result = rt.run("report", "--open", "-o", page, env=path)
    assert result.rc == 1 and f"{page}: cannot open it in a browser by xdg-open: it failed" in result.stderr
    told.unlink()
    # What could not be written is not opened.
    assert rt.run("report", "--open", "-o", "/nowhere/p.html", env=path).rc == 1
    assert not told.exists()


class ReportOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("format", ctypes.c_char_p),
                ("history", ctypes.c_char_p), ("embed_raw", ctypes.c_int)]


@pytest.mark.native
def test_the_c_call_looks_at_the_history_that_it_is_given(rt, rt_path, tmp_path):
    library = ctypes.CDLL(str(rt_path.parent / "src" / "libresource_tracker.so"))
    for _ in range(3):
        track(rt)
    track(rt, job="other")
    wanted = Page(rt, "work")
    recording = next((rt.state / "runs").glob(f"*{wanted.id}*"))
    file = tmp_path / "report"

    def write(**options):
        words = {name: value.encode() if isinstance(value, str) else value
                 for name, value in options.items()}
        o = ReportOptions(size=ctypes.sizeof(ReportOptions), **words)
        return library.trk_report_write_with(bytes(recording), bytes(file), ctypes.byref(o))

    assert write(format="md") == 0
    assert "This is the first known run of the job" in file.read_text(encoding="utf-8")
    assert write(format="md", history=str(rt.state)) == 0
    assert file.read_text(encoding="utf-8") == wanted.markdown
    assert len(wanted.rows("What changed since earlier runs", -1)) == 3
    assert write(embed_raw=1) == 0
    raw = re.search('id="raw">([^<]*)<', file.read_text(encoding="utf-8"))[1]
    assert base64.b64decode(raw) == recording.read_bytes()
    file.unlink()
    assert write(format="md", embed_raw=1) == -errno.EINVAL
    assert write(format="json") == -errno.EINVAL
    assert write(history=str(recording)) < 0
    assert not file.exists()
    # A program of an older header knows the first option alone.
    short = ReportOptions(size=ReportOptions.history.offset, format=b"md",
                          history=b"/nowhere", embed_raw=1)
    assert library.trk_report_write_with(bytes(recording), bytes(file), ctypes.byref(short)) == 0
    assert library.trk_report_write_with(bytes(recording), bytes(file), None) == 0
    assert file.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_an_odd_recording_is_refused_or_read(rt, tmp_path):
    track(rt)
    data = next((rt.state / "runs").iterdir()).read_bytes()
    odd = tmp_path / "odd.rtrk"
    for cut in range(0, len(data), max(1, len(data) // 40)):
        odd.write_bytes(data[:cut])
        result = rt.run("report", "--format", "md", odd)
        assert result.rc in (0, 1, 4)
        if result.rc == 0:
            assert re.search("exit 0|running|no end recorded", Page.of(result.stdout).state), result.stdout


def test_command_lines_of_every_kind_stay_text(rt):
    for argument in ("</script><b>", "\x1b[31m", "x" * 10000, "\u202eevil", "a\nb"):
        rt.track("sh", "-c", "true", argument, flags=["-n", argument[:100]])
        page = rt.run("report", "-o", "-").stdout
        assert "<b>" not in page and "\x1b" not in page and "\u202e" not in page
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e]", Page(rt).markdown)


@pytest.mark.native
def test_a_thousand_processes_make_no_large_page(rt):
    """Most live long enough to be seen, and an interval of a minute takes few samples, however busy the machine is.
    The page has 78 kB without any; a bar of each would add 100 kB."""
    rt.track("sh", "-c", "for i in $(seq 1000); do sleep 6 & done; wait", flags=["-i", "60"])
    page = Page(rt)
    assert int({row["Program"]: row.get("Count") for row in page.rows("Processes")}["sleep"]) >= 500
    assert len(page.rows("Processes", 1)) <= 10
    assert len(rt.run("report", "-o", "-").stdout) < 125_000


def test_help_names_the_optional_value(rt):
    assert "--report[=FILE]" in rt.run("run", "--help").stdout
    assert json.dumps(rt.run("help", "report").stdout).count("--embed-raw") == 1


def test_the_wall_time_stands_by_phase(rt):
    mark = f"{rt.path} mark"
    job = f"{mark} count; i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; {mark} wait; sleep 1.5"
    assert rt.track("sh", "-c", job, flags=["-i", "0.1"]).rc == 0
    rows = Page(rt).rows("Where the wall time went")
    count, wait = rows[-2:]
    assert (count["Phase"], wait["Phase"]) == ("count", "wait")
    took = re.fullmatch(r"([\d.]+) s", wait["Took"])
    assert took and float(took[1]) >= 1.4
    assert number(wait["Other"]) > 50 > number(wait.get("On CPU", "0"))
    assert number(count["On CPU"]) + number(count.get("Waiting for a CPU", "0")) > 50
    assert sum(number(row["Of the run"]) for row in rows) <= 102


def test_statistics_of_a_part_are_of_its_rows(rt):
    rt.track("sleep", "0.7", flags=("-q", "-i", "0.1"))
    rows = [json.loads(line) for line in
            rt.run("export", "--format", "jsonl").stdout.splitlines()]
    middles = [row["elapsed_s"] - row["interval_s"] / 2 for row in rows]
    part = rt.run("stats", "--since", "0.2", "--until", "0.5", "--json").json()
    assert part["samples"] == sum(0.2 <= at < 0.5 for at in middles) > 0
    assert rt.run("stats", "--until", "9", "--json").json()["samples"] == len(rows)
    nothing = rt.run("stats", "--since", "60")
    assert nothing.rc == 4 and nothing.stderr.count("\n") == 1 and "no sample" in nothing.stderr
    assert rt.run("stats", "--since", "3", "--until", "2").rc == 2
