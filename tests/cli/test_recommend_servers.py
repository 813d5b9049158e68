"""Tests the list of the cheapest servers at the end of the output of `recommend`."""

import ctypes
import json
import platform
import subprocess

import pytest

from report_page import Page

SERVERS = "Cheapest servers that fit"

from feed_hosts import own_prices

JOB = ["sh", "-c", "i=0; while [ $i -lt 60 ]; do i=$((i+1)); sleep 0.01; done"]
KEEPER = {"vendor_id", "api_reference", "display_name", "vcpus", "memory_amount", "gpu_count",
          "min_price_ondemand"}
ARCH = "arm64" if platform.machine() == "aarch64" else "x86_64"


@pytest.fixture(scope="module")
def job(shared_rt):
    """A run on a machine that is far too large for it."""
    shared_rt.track(*JOB, flags=["--instance", "aws/eu-west-1/m5.4xlarge", "-n", "job"])
    return shared_rt


def advise(rt, *flags):
    result = rt.run("recommend", "--json", *flags, "job")
    assert result.rc == 0, result.stderr
    return result.json()


def test_the_json_has_the_names_of_the_keeper(job):
    told = advise(job)
    assert len(told["servers"]) == 5
    for server in told["servers"]:
        assert KEEPER <= set(server)
        assert server["cpu_architecture"] == ARCH
        assert server["vcpus"] >= told["advice"]["cpu"]["cores"]
        assert server["memory_usable"] >= told["advice"]["memory"]["request_mib"]
        assert server["cpu_allocation"] != "burstable"
        assert server["run_cost"] > 0 and server["run_seconds"] > 0
    known = [s["run_cost"] for s in told["servers"] if s["speed_known"]]
    assert known == sorted(known)
    assert told["cheapest_per_hour"]["min_price_ondemand"] <= told["servers"][0]["min_price_ondemand"]
    assert told["no_server_reason"] is None


def test_it_stays_where_the_run_ran_unless_told_otherwise(job):
    assert {(s["vendor_id"], s["region_id"]) for s in advise(job)["servers"]} == {
        ("aws", "eu-west-1")}
    told = advise(job, "--vendor", "gcp", "--region", "us-central1")["servers"]
    assert {(s["vendor_id"], s["region_id"]) for s in told} == {("gcp", "us-central1")}
    everywhere = advise(job, "--vendor", "any")["servers"]
    assert everywhere[0]["run_cost"] <= advise(job)["servers"][0]["run_cost"]


def test_near_misses_say_what_they_are_short_of(job):
    misses = advise(job)["near_misses"]
    best = advise(job)["servers"][0]
    assert misses
    for miss in misses:
        assert miss["short_of"] and miss["short_by"]
        assert miss["run_cost"] < best["run_cost"]
    text = job.run("recommend", "job").stdout
    assert (f"cheaper, but short of {misses[0]['short_of']}: "
            f"{misses[0]['vendor_id']} {misses[0]['api_reference']} at $") in text
    assert misses[0]["short_by"] in text


def test_another_architecture_is_offered_where_it_is_asked_for(job):
    other = "x86_64" if ARCH == "arm64" else "arm64"
    assert {s["cpu_architecture"] for s in advise(job, "--arch", other)["servers"]} == {other}
    assert job.run("recommend", "--arch", "vax", "job").rc == 2


def test_the_text_names_cost_date_and_source(job):
    text = job.run("recommend", "job").stdout
    assert "Cost     $" in text and "m5.4xlarge" in text
    assert "USD/run" in text and "cheapest by the hour" in text and "prices of 20" in text


def test_a_cost_that_is_not_known_says_why_and_what_to_do(rt):
    rt.track(*JOB, flags=["--instance", "aws/eu-west-1", "-n", "job"])
    text = rt.run("recommend", "job").stdout
    assert "Cost     not known: the type of server is not known: " in text
    assert "Try: --instance aws//TYPE\n" in text
    rt.track(*JOB, flags=["-n", "nowhere"])  # in no cloud: nothing to say
    assert "Cost " not in rt.run("recommend", "nowhere").stdout


def test_old_prices_are_said_to_be_old(job, tmp_path):
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    prices = tmp_path / "prices.csv"
    name = "m6g.4xlarge" if ARCH == "arm64" else "m5.4xlarge"
    prices.write_text(f"vendor,region,type,price\naws,eu-west-1,{name},0.001\n")
    for date, old in (("2001-02-03", ", old"), ("2099-01-01", "")):
        own_prices(job, prices, "--date", date, env=cache)
        text = job.run("recommend", "--region", "eu-west-1", "job", env=cache).stdout
        assert f"{date} (import{old})" in text


def test_lines_to_paste_stay_alone(job):
    assert "USD" not in job.run("recommend", "--for", "slurm", "job").stdout


def test_unknown_vendor_and_region_suggest_names(job):
    result = job.run("recommend", "--vendor", "asw", "job")
    assert result.rc == 2 and "aws" in result.stderr
    result = job.run("recommend", "--region", "us-est-1", "job")
    assert result.rc == 2 and "us-east-1" in result.stderr


def test_where_nothing_fits_the_need_that_binds_is_named(job):
    told = advise(job, "--vendor", "upcloud", "--arch", "arm64")  # which has no such servers
    assert told["servers"] == []
    assert "the binding need is architecture: it is x86_64" in told["no_server_reason"]
    text = job.run("recommend", "--vendor", "upcloud", "--arch", "arm64", "job").stdout
    assert told["no_server_reason"] in text


def test_the_page_of_a_run_has_the_servers_of_the_advice(job):
    advised = advise(job)["servers"]
    text = Page(job).markdown
    assert advised[0]["api_reference"] in text and "aws eu-west-1" in text
    assert "hetzner" not in text and "gcp " not in text


def test_the_place_can_be_stated_for_a_finished_run(rt):
    rt.track("sleep", "0.5", flags=["-n", "job"])
    text = rt.run("report", "--format", "md", "-o", "-", "job").stdout
    assert "The cloud of the job is not known" in text and "--instance VENDOR/REGION/TYPE" in text

    stated = ("--instance", "aws/eu-west-1/m5.4xlarge")
    page = Page(rt, *stated, "job")
    servers = page.rows(SERVERS)
    best = advise(rt, *stated)["servers"][0]
    assert servers[0]["Server"] == best["api_reference"] and servers[0]["Where"] == "aws eu-west-1"
    shown = rt.run("show", "--json", *stated, "@").json()["cost"]
    assert shown["usd"] > best["run_cost"]
    assert f"about {usd(best['run_cost'])}" in page.lead and best["api_reference"] in page.lead
    assert f"instead of {usd(shown['usd'])}" in page.lead
    assert (shown["best_type"], shown["best_usd"]) == (best["api_reference"], best["run_cost"])
    assert f"on {best['api_reference']}" in rt.run("show", *stated, "@").stdout

    for flags in (["--vendor", "hetzner"], ["--region", "eu-west-1"]):
        page = Page(rt, *flags, "job")
        same = advise(rt, *flags)["servers"]
        assert [row["Server"] for row in page.rows(SERVERS)[:len(same)]] == [s["api_reference"] for s in same]
        assert "is not known, so servers of all" not in page.markdown
    for flags, hint in ((["--vendor", "hetznr"], "Try: hetzner"), (["--region", "us-est-1"], "us-east-1"),
                        (["--instance", "m5"], "VENDOR/REGION/TYPE")):
        result = rt.run("report", *flags, "job")
        assert result.rc == 2 and hint in result.stderr
    assert "no type nosuch of aws" in rt.run("show", "--instance", "aws//nosuch", "@").stderr
    assert rt.run("stats", "--instance", "aws", "@").rc == 2


# ---- one figure for one thing ----


class ServerNeeds(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t)]


class ReportOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("format", ctypes.c_char_p),
                ("history", ctypes.c_char_p)]


class RecommendOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("history", ctypes.c_char_p), ("rest", ctypes.c_char * 256)]


class Library:
    """What the C API says of a run: advice with servers as JSON, and the page as Markdown."""

    def __init__(self, advice, page):
        self.advice, self.page = advice, page


def told_by_the_library(rt, rt_path, run="", history=False):
    """The same of the C API."""
    library = ctypes.CDLL(str(rt_path.parent / "src" / "libresource_tracker.so"))
    library.trk_recommendation_json.restype = ctypes.c_void_p
    answer = ctypes.c_void_p()
    path = next((rt.state / "runs").glob(f"*{run or '-'}*.rtrk"))
    state = bytes(rt.state) if history else None
    asked = RecommendOptions(ctypes.sizeof(RecommendOptions), state)
    assert library.trk_recommend(bytes(path), ctypes.byref(asked), ctypes.byref(answer), None, 0) == 0
    advice = json.loads(ctypes.string_at(library.trk_recommendation_json(answer)))
    page = rt.home / "library.md"
    options = ReportOptions(ctypes.sizeof(ReportOptions), b"md", state)
    assert library.trk_report_write_with(bytes(path), bytes(page), ctypes.byref(options)) == 0
    return Library(advice, page.read_text(encoding="utf-8"))


def usd(value):
    """As the program shows money: two decimals, and two digits that count."""
    digits, unit = 2, 0.0995
    while 0 < value < unit:
        digits, unit = digits + 1, unit / 10
    return f"${value:.{digits}f}"


@pytest.mark.native
@pytest.mark.parametrize("instance", ["aws/us-east-1/m5.4xlarge", "gcp/us-central1/n2-standard-8",
                                      "hetzner/eu/ccx33"])
def test_every_output_names_the_same_server_at_the_same_cost(rt, rt_path, instance):
    page = rt.home / "end.md"
    result = rt.track(*JOB, flags=["--instance", instance, "-n", "job", "--report=" + str(page)])
    advice = advise(rt)
    best = advice["servers"][0]
    cost = result.summary["cost"]
    assert (cost["best_vendor"], cost["best_region"], cost["best_type"]) == (
        best["vendor_id"], best["region_id"], best["api_reference"])
    for theirs, ours in (("best_usd", "run_cost"), ("best_run_s", "run_seconds"),
                         ("best_usd_per_hour", "min_price_ondemand")):
        assert cost[theirs] == best[ours], theirs
    assert rt.run("show", "--json", "@").json()["cost"] == cost

    # Lines for people: the same digits everywhere.
    line = f"about {usd(best['run_cost'])} on {best['api_reference']}"
    text = rt.run("recommend", "job").stdout
    table = text[text.index("server "):].splitlines()
    assert line in result.stderr and line in text and line in rt.run("show", "@").stdout
    assert table[1].startswith(f"{best['vendor_id']} {best['api_reference']} ")
    assert usd(best["run_cost"]) in table[1].split()

    # Pages: at the end of the run, later, and by the library.
    library = told_by_the_library(rt, rt_path)
    assert library.advice["servers"] == advice["servers"]
    for markdown in page.read_text(encoding="utf-8"), rt.run("report", "--format", "md").stdout, library.page:
        read = Page.of(markdown)
        rows = read.rows(SERVERS)[:5]
        assert [row["Server"] for row in rows] == [s["api_reference"] for s in advice["servers"]]
        assert [row["Per run"] for row in rows] == [usd(s["run_cost"]) for s in advice["servers"]]
        assert f"about {usd(best['run_cost'])}" in read.lead
        assert f"instead of {usd(cost['usd'])}" in read.lead


@pytest.mark.native
@pytest.mark.parametrize("flags", [[], ["--no-history"], ["--quiet"]])
def test_over_several_runs_every_output_agrees(patient, rt_path, flags):
    """What the earlier runs needed counts in the line of a run that itself needed less."""
    rt = patient
    place = ["--instance", "aws/us-east-1/m5.4xlarge", "-n", "job"]

    def track(mib, more=()):
        return rt.track("python3", "-c", f"import time; b = bytearray({mib} << 20)\n"
                        "for i in range(0, len(b), 4096): b[i] = 1\ntime.sleep(0.7)",
                        flags=[*place, *more])

    track(1)
    track(700)
    result = track(30, flags)
    run = result.summary["run"]["id"]
    advice = rt.run("recommend", "--json", run).json()
    best = advice["servers"][0]
    request = advice["advice"]["memory"]["request_mib"]
    assert best["memory_usable"] >= request > 700
    line = f"about {usd(best['run_cost'])} on {best['api_reference']}"
    shown = rt.run("show", "--json", run).json()
    library = told_by_the_library(rt, rt_path, run, history=True)
    assert library.advice["advice"] == advice["advice"]
    for summary in (result.summary, shown):
        assert summary["advice"]["memory"] == advice["advice"]["memory"]
        assert summary["advice"]["cpu"] == advice["advice"]["cpu"]
        assert (summary["cost"]["best_type"], summary["cost"]["best_usd"]) == (
            best["api_reference"], best["run_cost"])
        assert summary["cost"]["saving_usd"] == pytest.approx(
            summary["cost"]["usd"] - best["run_cost"], rel=1e-9)
    assert library.advice["servers"] == advice["servers"]
    for text in (result.stderr if not flags[:1] == ["--quiet"] else line,
                 rt.run("recommend", run).stdout, rt.run("show", run).stdout):
        assert line in text
    headline = rt.run("show", run).stdout.splitlines()[1]
    assert headline.lstrip(" \u25b2*") == rt.run("recommend", run).stdout.splitlines()[0].split(": ", 1)[1]
    for page in Page(rt, run), Page.of(library.page):
        assert page.rows(SERVERS)[0]["Server"] == best["api_reference"]
        assert f"about {usd(best['run_cost'])}" in page.lead
        assert f"CPU, {request / 1024:g} GiB" in page.lead


def test_a_run_that_failed_lowers_no_request_in_any_output(rt):
    """Its own cause may have been memory; the cores are those that the good run needs."""
    for code in 0, 3:
        rt.run("run", "--instance", "aws/us-east-1/m5.4xlarge", "-n", "job", "--request",
               "cpu=4,mem=8GiB", "--summary-json", rt.summary_file, "--", "sh", "-c",
               f"sleep 0.7; exit {code}")
        summary = json.loads(rt.summary_file.read_text())
        advice = advise(rt)
        page = Page(rt, "job")
        request = advice["advice"]["cpu"]["cores"], advice["advice"]["memory"]["request_mib"]
        assert request == (1, 256 if code == 0 else 8192)
        assert ("1 CPU, 256 MiB next time" if code == 0 else "1 CPU, 8 GiB next time") in page.lead
        assert request == (summary["advice"]["cpu"]["cores"],
                           summary["advice"]["memory"]["request_mib"])
        best = advice["servers"][0]["api_reference"]
        assert summary["cost"]["best_type"] == best
        assert page.rows(SERVERS)[0]["Server"] == best
    assert advice["advice"]["memory"]["next_rung_mib"] > 8192
    assert "did not end well: its request or limit is not lowered" in rt.run("recommend", "job").stdout
    assert "cpu=1, memory=8192" in rt.run("recommend", "--for", "metaflow", "job").stdout


@pytest.mark.parametrize("newest", ["fails", "is attached to"])
def test_the_time_of_the_newest_run_counts_in_every_output(rt, newest):
    flags = ["--instance", "hetzner/eu/ccx33", "-n", "job"]
    rt.track("sleep", "0.3", flags=flags)
    if newest == "fails":
        rt.run("run", *flags, "--", "sh", "-c", "sleep 1.5; exit 3")
    else:
        child = subprocess.Popen(["sleep", "1.5"])
        assert rt.run("attach", *flags, child.pid).rc == 0
        child.wait()
    best = advise(rt)["servers"][0]
    assert best["run_seconds"] > 1
    assert Page(rt, "job").rows(SERVERS)[0]["Server"] == best["api_reference"]
    assert rt.run("show", "--json", "@").json()["cost"]["best_run_s"] == best["run_seconds"]


def test_another_vendor_is_named_in_the_cost_line(job):
    text = job.run("recommend", "--vendor", "gcp", "--region", "us-central1", "job").stdout
    best = advise(job, "--vendor", "gcp", "--region", "us-central1")["servers"][0]
    assert f"about {usd(best['run_cost'])} on gcp {best['api_reference']}" in text


# ---- servers that are left out, and the reasons given ----


def test_previous_generations_are_offered_where_they_are_asked_for(rt):
    rt.track(*JOB, flags=["--instance", "aws/us-east-1/m4.4xlarge", "-n", "job"])
    assert not [s for s in advise(rt)["servers"] if s["previous_generation"]]
    flags = ["--previous-generation", "--arch", "x86_64"]
    assert [s["api_reference"] for s in advise(rt, *flags)["servers"]][0] == "m1.small"
    text = rt.run("recommend", *flags, "job").stdout
    assert [row for row in text.splitlines()
            if row.startswith("aws m1.small ") and "previous generation" in row]


def test_needs_take_the_place_of_the_advice(job):
    for flags in (["--cpu", "8", "--mem", "100GiB"], ["--vcpus", "8", "--memory", "100GiB"]):
        for server in advise(job, *flags)["servers"]:
            assert server["vcpus"] >= 8 and server["memory_usable"] >= 100 * 1024
    assert {s["country_id"] for s in advise(job, "--country", "DE")["servers"]} == {"DE"}
    assert {s["cpu_allocation"] for s in advise(job, "--allocation", "burstable")["servers"]} == {
        "burstable"}
    assert job.run("recommend", "--cpu", "many", "job").rc == 2


def test_where_the_cloud_is_not_known_the_way_to_say_it_is_told(rt):
    rt.track(*JOB, flags=["-n", "job"])
    text = rt.run("recommend", "job").stdout
    assert "Try: --instance VENDOR/REGION/TYPE (here, or with run), or --vendor and --region" in text
    assert rt.run("report", "--format", "md", "-o", rt.home / "page.md").rc == 0
    assert "--instance VENDOR/REGION/TYPE** of **run**" in (rt.home / "page.md").read_text()
    for flags in (["--vendor", "aws"], ["--region", "us-east-1"],
                  ["--instance", "aws/us-east-1/m5.4xlarge"]):
        assert "Try: --instance" not in rt.run("recommend", *flags, "job").stdout
    assert rt.run("recommend", "--instance", "nonsense", "job").rc == 2


def test_a_place_that_is_stated_later_gives_the_same_answer(rt):
    instance = ["--instance", "aws/us-east-1/m5.4xlarge"]
    rt.track(*JOB, flags=["-n", "job"])
    later = advise(rt, *instance)
    text = rt.run("recommend", *instance, "job").stdout
    assert {(s["vendor_id"], s["region_id"]) for s in later["servers"]} == {("aws", "us-east-1")}
    # The same work, billed for a minute at least: the cost of the present server is known as well.
    assert "Cost     $0.013 (m5.4xlarge, $0.768/h)" in text
    assert f"about {usd(later['servers'][0]['run_cost'])} on" in text


def test_a_run_of_milliseconds_gets_no_servers(rt, clock):
    result = rt.track("true", flags=["--instance", "aws/us-east-1/m5.4xlarge", "-n", "job"],
                      env={"LD_PRELOAD": clock, "TRK_CLOCK": "0:0:0:0.01"})
    assert result.summary["run"]["duration_s"] < 0.1  # of that slow clock
    assert result.summary["cost"]["usd"] > 0  # what it cost is known
    assert result.summary["cost"]["best_type"] is None and "about $" not in result.stderr
    told = advise(rt)
    assert told["servers"] == [] and "too short" in told["no_server_reason"]
    assert "ms is too short to choose a server" in rt.run("recommend", "job").stdout
    section = Page(rt).sections[SERVERS]
    assert section.tables == [] and "too short" in section.text


def test_without_any_run_there_is_one_line(rt):
    for reference in [], ["job"]:
        result = rt.run("recommend", *reference)
        assert result.rc == 4 and result.stderr.count("\n") == 1 and "Try: " in result.stderr
