"""Tests the views over all jobs: `fleet` in the terminal and as JSON, and `dashboard` as a file.

The history is synthetic with a known truth (tests/unit/fleet_synthetic.h), unless a test says otherwise.
"""

import contextlib
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import unicodedata

import pytest

AS_OF = 1795334400  # 22 Nov 2026, 08:00 UTC


@pytest.fixture(scope="module")
def history(tmp_path_factory):
    program = pathlib.Path(os.environ.get("RESOURCE_TRACKER_BIN", "build/resource-tracker"))
    maker = program.resolve().parent / "tests/e2e/make_history"
    if not maker.exists():
        pytest.skip("make_history is not built")
    folder = tmp_path_factory.mktemp("fleet") / "state"
    subprocess.run([maker, folder, "1", "1.1"], check=True, stdout=subprocess.DEVNULL)
    return folder


def fleet(rt, history, *args, width=200, locale="C.UTF-8"):
    done = rt.run("fleet", "--recording", history, "--as-of", AS_OF, *args,
                  env={"COLUMNS": str(width), "LC_ALL": locale, "TZ": "UTC"})
    assert done.rc == 0, done.stderr
    return done.stdout


def fleet_json(rt, history, *args):
    document = json.loads(fleet(rt, history, "--json", *args))
    assert document["schema"] == "resource-tracker.fleet/1"
    assert document["as_of"] == AS_OF
    return document[document["what"]]


# ---- the same words as src/fleet/words.c ----

def usd(v):
    if v is None:
        return "-"
    if v >= 9.995:
        return f"${v:,.0f}"
    if v >= 0.0995:
        return f"${v:.2f}"
    if v >= 0.000995:
        return f"${v:.{3 if v >= 0.00995 else 4}f}"
    return "under $0.001" if v > 0 else "$0"


def percent(v):
    return f"{v * 100:.{1 if 0 < v < 0.0995 else 0}f} %"


def change(v):
    if abs(v) < 0.0005:
        return "0 %"
    return f"{v * 100:+.{1 if abs(v) < 0.0995 else 0}f} %"


def memory(mib):
    if mib < 999.5:
        return f"{mib:.0f} MiB"
    gib = mib / 1024
    text = f"{gib:.{0 if gib >= 99.95 else 1 if gib >= 9.995 else 2}f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text) + " GiB"


def cores(v):
    return f"{v:.0f}" if abs(v - round(v)) < 0.005 else f"{v:.1f}"


def line_of(text, start):
    found = [line for line in text.splitlines() if line.startswith(start)]
    assert found, f"no line begins with {start!r}:\n{text}"
    return found[0]


# ---- text and JSON agree ----

def test_the_overview_prints_the_figures_of_its_json(rt, history):
    text, o = fleet(rt, history), fleet_json(rt, history)
    s, before = o["sum"], o["before"]
    assert usd(s["usd"]) in line_of(text, "spend")
    assert change(s["usd"] / before["usd"] - 1) in line_of(text, "spend")
    assert usd(s["waste_usd"]) in line_of(text, "wasted")
    assert percent(s["waste_usd"] / s["usd"]) in line_of(text, "wasted")
    for start, key in (("cores used", "cores_share"), ("memory used", "memory_share")):
        assert percent(s[key]) in line_of(text, start)
        assert percent(before[key]) in line_of(text, start)
    assert f"{s['failed']}  of {s['runs']:,}; {s['out_of_memory']} out" in line_of(text, "failed runs")
    flat = " ".join(text.split())
    for sentence in (o["headline"], o["lead"], o["warning"], o["basis"]):
        assert sentence in flat
    for finding in o["findings"]:
        assert f"{finding['head']} {finding['text']}" in flat
    for day in o["odd_days"]:
        assert day["text"] in flat
    for c in o["changes"]:
        line = line_of(text, c["job"])
        for word in (usd(c["saves_usd_month"]), percent(c["saves_share"]), cores(c["asked"]["cores"]),
                     cores(c["ask"]["cores"]), memory(c["asked"]["memory_mib"]), memory(c["ask"]["memory_mib"])):
            assert word in line
    f = o["forecast"]
    assert f"{usd(f['month_usd'])} +- {usd(f['month_band_usd'])}" in flat
    assert f"{usd(f['month_usd_advised'])} with the advice" in flat
    for group in o["by"]["team"]:
        assert usd(group["usd"]) in line_of(text, group["name"])


def test_the_lists_print_the_figures_of_their_json(rt, history):
    text, jobs = fleet(rt, history, "--what", "jobs"), fleet_json(rt, history, "--what", "jobs")["jobs"]
    assert len(jobs) == 200 and len(text.splitlines()) == 201
    for job, line in zip(jobs, text.splitlines()[1:]):
        assert line.startswith(job["job"])
        assert job["verdict"] in line
        assert f"{memory(job['usual']['peak_mib'])} of {memory(job['asked']['memory_mib'])}" in line
        assert f"{cores(job['usual']['cores'])} of {cores(job['asked']['cores'])}" in line
        assert f"{job['period']['failed']} of {job['period']['runs']}" in line
        assert line.rstrip().endswith(usd(job["saves_usd_month"]))
        assert usd(job["period"]["usd"]) in line
    text, m = fleet(rt, history, "--what", "machines"), fleet_json(rt, history, "--what", "machines")
    for place in m["servers"] + m["machines"]:
        line = line_of(text, place["name"])
        assert f"{place['run_s'] / 3600:.1f}" in line and usd(place["usd_hour"]) in line
        assert percent(place["cores_share"]) in line
        if place["ratio"] is not None:
            assert change(place["ratio"] - 1) in line


def test_a_job_prints_the_figures_of_its_json(rt, history):
    text, job = fleet(rt, history, "--job", "job-001"), fleet_json(rt, history, "--job", "job-001")
    flat = " ".join(text.split())
    assert job["lead"] in flat and job["basis"] in flat and job["drift"]["text"] in flat
    assert cores(job["usual"]["cores_p95"]) in line_of(text, "cores")
    assert memory(job["usual"]["peak_p95_mib"]) in line_of(text, "memory")
    for run in job["runs"][:10]:
        line = line_of(text, run["id"])
        assert run["end"] in line and usd(run["usd"]) in line and memory(run["peak_mib"]) in line
        if run["change"] is not None:
            assert change(run["change"]) in line


def test_sums_of_jobs_days_and_teams_are_the_whole(rt, history):
    o, jobs = fleet_json(rt, history), fleet_json(rt, history, "--what", "jobs")
    assert sum(j["period"]["runs"] for j in jobs["jobs"]) == o["sum"]["runs"]
    for key in ("usd", "waste_usd", "failed_usd"):
        assert sum(j["period"][key] or 0 for j in jobs["jobs"]) == pytest.approx(o["sum"][key])
        assert sum(g[key] or 0 for g in o["by"]["team"]) == pytest.approx(o["sum"][key])
    assert [j["job"] for j in jobs["jobs"]][:1] == [o["changes"][0]["job"]]


def test_a_shorter_period_has_fewer_runs(rt, history):
    week, month = fleet_json(rt, history, "--since", "7d"), fleet_json(rt, history)
    assert week["period_days"] == 7
    assert 0 < week["sum"]["runs"] < month["sum"]["runs"] / 3
    # What to change does not depend on the period.
    assert week["changes"][0]["saves_usd_month"] == month["changes"][0]["saves_usd_month"]


# ---- the terminal ----

@pytest.mark.parametrize("width", [40, 48, 60, 80, 100, 132, 200])
def test_no_line_is_wider_than_the_terminal(rt, history, width):
    for args in ((), ("--what", "jobs"), ("--job", "job-001"), ("--what", "machines")):
        for line in fleet(rt, history, *args, width=width).splitlines():
            columns = sum(0 if unicodedata.combining(c) else 1 for c in line)
            assert columns <= width, line


def test_without_utf8_there_is_nothing_but_ascii(rt, history):
    for args in ((), ("--what", "jobs"), ("--job", "job-000")):
        assert fleet(rt, history, *args, locale="C").isascii()


def test_colors_are_for_terminals(rt, history):
    assert "\033[" not in fleet(rt, history)
    assert "\033[" in fleet(rt, history, "--color", "always")


# ---- what a user gets wrong ----

@pytest.mark.parametrize("args, words", [
    (("--what", "jbos"), "--what jbos: not one of"),
    (("--what", "job"), "needs --job"),
    (("--job", "job-001", "--what", "jobs"), "--job needs --what job"),
    (("--since", "2h"), "--since: not between"),
    (("--since", "900d"), "--since: not between"),
    (("--since", "x"), "x"),
    (("--as-of", "tomorrow"), "--as-of tomorrow: not a date"),
    (("job-001",), "Try: resource-tracker fleet --job 'job-001'"),
    (("--", "-x"), "Try: resource-tracker fleet --job '-x'"),
])
def test_wrong_words_are_named_in_one_line(rt, history, args, words):
    done = rt.run("fleet", "--recording", history, *args)
    assert done.rc == 2 and done.stdout == ""
    assert words in done.stderr and len(done.stderr.splitlines()) == 1


def test_a_job_that_is_not_there_is_named(rt, history):
    done = rt.run("fleet", "--recording", history, "--as-of", AS_OF, "--job", "job-999")
    assert done.rc == 4 and "job-999: no run of this job" in done.stderr


def test_an_empty_history_says_how_to_begin(rt, tmp_path):
    done = rt.run("fleet", "--recording", tmp_path)
    assert done.rc == 4 and "Try: resource-tracker run -- COMMAND" in done.stderr
    done = rt.run("dashboard", "--recording", tmp_path, "--static", tmp_path / "fleet.html")
    assert done.rc == 0, done.stderr
    assert "No runs yet" in (tmp_path / "fleet.html").read_text()


def test_a_team_whose_runs_have_no_price_spent_nothing_that_is_known(rt):
    rt.track("true", flags=("-n", "priced", "--tag", "team=red", "--request", "cpu=1,mem=1GiB"))
    rt.track("true", flags=("-n", "unpriced", "--tag", "team=blue"))
    text = rt.run("fleet", env={"COLUMNS": "100"}).stdout
    assert line_of(text, "blue").split() == ["blue", "-", "-", "1", "0"]
    assert line_of(text, "red").split()[1] != "-"
    job = rt.run("fleet", "--job", "unpriced", env={"COLUMNS": "100"}).stdout
    assert "0 %" not in job[:job.index("Next request")]
    with contextlib.closing(sqlite3.connect(rt.state / "history.sqlite")) as db, db:
        db.execute("UPDATE run SET duration_s = 0.05")
    assert " ms " in line_of(rt.run("fleet", "--what", "runs", env={"COLUMNS": "100"}).stdout, "r-")


def test_a_real_run_is_in_the_views(rt):
    assert rt.track("sh", "-c", "exit 3", flags=("--job", "nightly", "--request", "cpu=2,memory=1GiB",
                                                "--tag", "team=risk")).rc == 3
    done = rt.run("fleet", "--json", "--what", "jobs")
    assert done.rc == 0, done.stderr
    (job,) = json.loads(done.stdout)["jobs"]["jobs"]
    assert (job["job"], job["team"], job["last_end"]) == ("nightly", "risk", "failed")
    assert job["verdict"] == "not enough data" and job["period"]["failed"] == 1
    assert job["asked"] == {"cores": 2, "memory_mib": 1024}
    assert job["period"]["failed_usd"] == pytest.approx(job["period"]["usd"])
    assert "1 run of 1 job" in " ".join(rt.run("fleet").stdout.split())


# ---- the page ----

def page(rt, history, path):
    done = rt.run("dashboard", "--recording", history, "--as-of", AS_OF, "--static", path)
    assert done.rc == 0 and done.stdout == "" and done.stderr == "", done.stderr
    return path.read_text()


def test_the_page_is_one_file_that_asks_for_nothing(rt, history, tmp_path):
    text = page(rt, history, tmp_path / "fleet.html")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    assert policy.startswith("default-src 'none'") and "unsafe" not in policy and "connect" not in policy
    markup = re.sub(r"<(script|style)[^>]*>.*?</\1>", "", text, flags=re.DOTALL)
    assert not re.search(r"(src|href)=|url\(|@import", markup)
    assert not re.search(r"url\((?!#)|@import", text)
    assert len(text) < 600_000
    o = fleet_json(rt, history)
    for sentence in (o["headline"], o["lead"], o["warning"], o["findings"][0]["text"]):
        assert sentence in text, "the Overview without a script"


def test_the_page_replaces_the_old_one_as_a_whole(rt, history, tmp_path):
    path = tmp_path / "fleet.html"
    path.write_text("old")
    assert page(rt, history, path).startswith("<!doctype html>")
    assert sorted(p.name for p in tmp_path.iterdir() if p.name.startswith("fleet")) == ["fleet.html"]
    done = rt.run("dashboard", "--recording", history, "--as-of", AS_OF, "--static", "-")
    assert done.rc == 0 and done.stdout.startswith("<!doctype html>")


def test_a_page_that_cannot_be_written_is_told_in_one_line(rt, history, tmp_path):
    done = rt.run("dashboard", "--recording", history, "--static", tmp_path / "no" / "fleet.html")
    assert done.rc == 1 and len(done.stderr.splitlines()) == 1 and "fleet.html" in done.stderr


def test_names_of_jobs_are_no_markup(rt, tmp_path):
    name = "</script><b>x"
    assert rt.track("true", flags=("--job", name, "--tag", "team=<i>\"'")).rc == 0
    done = rt.run("dashboard", "--static", tmp_path / "fleet.html")
    assert done.rc == 0, done.stderr
    assert name not in (tmp_path / "fleet.html").read_text()
