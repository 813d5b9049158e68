"""recommend ends with the servers on which such a run is cheapest."""

import platform

import pytest

JOB = ["sh", "-c", "i=0; while [ $i -lt 60 ]; do i=$((i+1)); sleep 0.01; done"]
KEEPER = {"vendor_id", "api_reference", "display_name", "vcpus", "memory_amount", "gpu_count",
          "min_price_ondemand"}
ARCH = "arm64" if platform.machine() == "aarch64" else "x86_64"


@pytest.fixture
def job(rt):
    """A run on a machine that is far too large for it."""
    rt.track(*JOB, flags=["--instance", "aws/eu-west-1/m5.4xlarge", "-n", "job"])
    return rt


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
    assert f"cheaper, but short of {misses[0]['short_of']}: {misses[0]['api_reference']}" in text
    assert misses[0]["short_by"] in text


def test_another_architecture_is_offered_where_it_is_asked_for(job):
    other = "x86_64" if ARCH == "arm64" else "arm64"
    assert {s["cpu_architecture"] for s in advise(job, "--arch", other)["servers"]} == {other}
    assert job.run("recommend", "--arch", "vax", "job").rc == 2


def test_the_text_names_cost_date_and_source(job):
    text = job.run("recommend", "job").stdout
    assert "cost     $" in text and "m5.4xlarge" in text
    assert "USD/run" in text and "cheapest by the hour" in text and "prices of 20" in text


def test_a_cost_that_is_not_known_says_why_and_what_to_do(rt):
    rt.track(*JOB, flags=["--instance", "aws/eu-west-1", "-n", "job"])
    text = rt.run("recommend", "job").stdout
    assert "cost     not known: the type of server is not known: " in text
    assert "Try: --instance aws//TYPE\n" in text
    rt.track(*JOB, flags=["-n", "nowhere"])  # in no cloud: nothing to say
    assert "cost " not in rt.run("recommend", "nowhere").stdout


def test_old_prices_are_said_to_be_old(job, tmp_path):
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    prices = tmp_path / "prices.csv"
    name = "m6g.4xlarge" if ARCH == "arm64" else "m5.4xlarge"
    prices.write_text(f"vendor,region,type,price\naws,eu-west-1,{name},0.001\n")
    for date, old in (("2001-02-03", ", old"), ("2099-01-01", "")):
        assert job.run("catalog", "import", prices, "--date", date, env=cache).rc == 0
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
    assert job.run("report", "--format", "json", "-o", job.home / "page.json").rc == 0
    text = (job.home / "page.json").read_text()
    assert advised[0]["api_reference"] in text and "aws eu-west-1" in text
    assert "hetzner" not in text and "gcp " not in text
