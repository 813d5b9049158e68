"""Tests `report` and `run --report` with real runs: files, formats, errors. tests/e2e tests the page itself in a
browser."""

import base64
import ctypes
import errno
import json
import os
import re
import resource
import subprocess
import sys

import pytest

WORK = "import time; b = bytearray(b'x') * (50 << 20); time.sleep(0.4)"


def track(rt, *flags, job="work", code=WORK):
    return rt.track(sys.executable, "-c", code, flags=["-n", job, "-i", "0.05", *flags])


def document(rt, *args):
    return rt.run("report", "--format", "json", *args).json()


def texts(value):
    """All texts of a document."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from texts(each)


def test_a_run_without_a_cpu_rate_in_its_rows_is_described_by_its_total(rt):
    """A sample has no rate over less than 0.1 s."""
    code = "import time\nwhile time.process_time() < 0.05: pass"
    rt.track(sys.executable, "-S", "-c", code, flags=["-i", "10"])
    row = rt.run("export", "--format", "jsonl").stdout.splitlines()[-1]
    said = " ".join(texts(document(rt)))
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
    report = document(rt)
    assert report["schema"] == "resource-tracker.report/1"
    rows = report["sections"]["sizing"]["tables"]["resources"]["rows"]
    cpu, memory = rows[0], rows[1]
    assert cpu["mean"]["value"] == pytest.approx(
        summary["stats"]["process_cpu_usage"]["mean"], rel=1e-9)
    assert memory["peak"]["value"] == pytest.approx(
        max(summary["totals"]["peak_memory_mib"]["value"],
            summary["stats"]["process_memory_mib"]["max"]), rel=1e-9)
    assert report["verdict"]["request"]["memory_mib"] == pytest.approx(
        rt.run("recommend", "--json").json()["advice"]["memory"]["request_mib"])
    totals = {row["figure"]: row["value"]["value"]
              for row in report["sections"]["measured"]["tables"]["totals"]["rows"]}
    assert totals["CPU time"] == pytest.approx(summary["totals"]["cpu_s"]["value"])


def test_disk_space_is_a_resource_of_the_whole_machine(rt):
    track(rt)
    rows = document(rt)["sections"]["sizing"]["tables"]["resources"]["rows"]
    row = next(row for row in rows if row["resource"] == "Disk space")
    export = rt.run("export", "--format", "jsonl").stdout.splitlines()
    samples = [json.loads(line) for line in export]
    used = max(sample["system_disk_space_used_gb"] for sample in samples)
    total = max(sample["system_disk_space_total_gb"] for sample in samples)
    assert row["peak"]["value"] == pytest.approx(used, abs=0.006)
    assert row["requested"]["value"] == pytest.approx(total, abs=0.006)
    assert row["share"]["value"] == pytest.approx(used / total, rel=1e-3)
    assert row["peak"]["text"].endswith("B") and "whole machine" in row["why"]


def test_snippets_are_those_of_recommend(rt):
    track(rt)
    for kind, text in document(rt)["verdict"]["snippets"].items():
        assert text == rt.run("recommend", "--for", kind).stdout


def test_the_three_forms_say_the_same(rt):
    track(rt)
    page = rt.home / "page.html"
    rt.run("report", "-o", page)
    html = re.sub(r"<[^>]*>", "", page.read_text(encoding="utf-8"))
    markdown = rt.run("report", "--format", "md").stdout.replace("**", "").replace("\\", "")
    report = document(rt)
    lead = report["verdict"]["lead"]
    assert lead in html and lead in markdown
    assert {chart["key"] for chart in report["charts"] if chart["drawn"]} >= {"cpu", "memory"}
    for chart in report["charts"]:
        # What did not happen is one sentence.
        words = chart["series"][0]["text"] if chart["drawn"] else chart["title"]
        assert words in html and words in markdown


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
        assert document(rt, *name)["run"]["id"] == wanted
    path = next((rt.state / "runs").glob(f"*{ids[1]}*"))
    assert document(rt, path)["run"]["id"] == ids[1]
    assert len(document(rt)["sections"]["changed"]["tables"]["runs"]["rows"]) == 2


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
    wanted = document(rt, "work")
    recording = next((rt.state / "runs").glob(f"*{wanted['run']['id']}*"))
    file = tmp_path / "report"

    def write(**options):
        words = {name: value.encode() if isinstance(value, str) else value
                 for name, value in options.items()}
        o = ReportOptions(size=ctypes.sizeof(ReportOptions), **words)
        return library.trk_report_write_with(bytes(recording), bytes(file), ctypes.byref(o))

    assert write(format="json") == 0
    assert json.loads(file.read_text())["sections"]["changed"]["empty"] is True
    assert write(format="json", history=str(rt.state)) == 0
    assert json.loads(file.read_text()) == wanted
    assert len(wanted["sections"]["changed"]["tables"]["runs"]["rows"]) == 3
    assert write(embed_raw=1) == 0
    raw = re.search('id="raw">([^<]*)<', file.read_text(encoding="utf-8"))[1]
    assert base64.b64decode(raw) == recording.read_bytes()
    file.unlink()
    assert write(format="json", embed_raw=1) == -errno.EINVAL
    assert write(history=str(recording)) < 0
    assert not file.exists()
    # A program of an older header knows the first option alone.
    short = ReportOptions(size=ReportOptions.history.offset, format=b"json",
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
        result = rt.run("report", "--format", "json", odd)
        assert result.rc in (0, 1, 4)
        if result.rc == 0:
            assert result.json()["run"]["state"] in ("tracker_died", "running", "finished")


def test_command_lines_of_every_kind_stay_text(rt):
    for argument in ("</script><b>", "\x1b[31m", "x" * 10000, "\u202eevil", "a\nb"):
        rt.track("sh", "-c", "true", argument, flags=["-n", argument[:100]])
        page = rt.run("report", "-o", "-").stdout
        assert "<b>" not in page and "\x1b" not in page and "\u202e" not in page
        for text in texts(document(rt)):
            assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e]", text)


@pytest.mark.native
def test_a_thousand_processes_make_no_large_page(rt):
    """Most live long enough to be seen, and an interval of a minute takes few samples, however busy the machine is.
    The page has 78 kB without any; a bar of each would add 100 kB."""
    rt.track("sh", "-c", "for i in $(seq 1000); do sleep 6 & done; wait", flags=["-i", "60"])
    tables = document(rt)["sections"]["processes"]["tables"]
    assert {row["program"]: row["count"]["value"] for row in tables["programs"]["rows"]}["sleep"] >= 500
    assert len(tables["processes"]["rows"]) <= 10
    assert len(rt.run("report", "-o", "-").stdout) < 125_000


def test_help_names_the_optional_value(rt):
    assert "--report[=FILE]" in rt.run("run", "--help").stdout
    assert json.dumps(rt.run("help", "report").stdout).count("--embed-raw") == 1


def test_the_wall_time_stands_by_phase(rt):
    mark = f"{rt.path} mark"
    job = f"{mark} count; i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; {mark} wait; sleep 1.5"
    assert rt.track("sh", "-c", job, flags=["-i", "0.1"]).rc == 0
    page = rt.run("report", "--format", "json", "-o", "-").json()
    rows = page["sections"]["wall_time"]["tables"]["by_phase"]["rows"]
    count, wait = rows[-2:]
    assert (count["phase"], wait["phase"]) == ("count", "wait")
    assert wait["seconds"]["value"] >= 1.4
    assert wait["other"]["value"] > 0.5 > (wait["on_cpu"]["value"] or 0)
    assert count["on_cpu"]["value"] + (count["cpu_wait"]["value"] or 0) > 0.5
    assert sum(row["share"]["value"] for row in rows) <= 1.01


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
