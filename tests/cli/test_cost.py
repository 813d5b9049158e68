"""Tests the cost of a run: it is stored with its price, source and date, and does not change later."""

import csv
import json

import pytest

from feed_hosts import own_prices

from test_cloud_info import aws, found, serving  # noqa: F401  pylint: disable=unused-import

# Busy for a while, so that there are samples to advise from.
JOB = ["sh", "-c", "i=0; while [ $i -lt 60 ]; do i=$((i+1)); sleep 0.01; done"]


def track(rt, instance, *flags, job=JOB, env=None):
    return rt.track(*job, flags=["--instance", instance, *flags], env=env)


def test_the_cost_is_the_list_price_for_the_seconds_that_are_billed(rt):
    result = track(rt, "aws/us-east-1/m5.large")
    cost = result.summary["cost"]
    assert cost["usd_per_hour"] == 0.096  # Amazon's list
    assert cost["billed_s"] == 60  # at least a minute
    assert cost["usd"] == pytest.approx(0.096 / 60)
    assert cost["price_source"] and cost["price_date"] >= "2026-01-01"
    assert cost["price_quality"] == "exact"
    assert 0 < cost["idle_cpu_usd"] < cost["usd"]
    assert 0 < cost["idle_memory_usd"] < cost["usd"]
    assert cost["idle_cpu_usd"] + cost["idle_memory_usd"] < cost["usd"]
    # Nearly nothing was used: a smaller one of the same vendor, there, is cheaper.
    assert cost["best_vendor"] == "aws" and cost["best_region"] == "us-east-1"
    assert cost["saving_usd"] == pytest.approx(cost["usd"] - cost["best_usd"])
    assert cost["saving_usd"] > 0
    assert "Cost     $0.0016 (m5.large, $0.096/h)" in result.stderr
    assert cost["best_type"] in result.stderr


def test_whole_hours_are_billed_where_the_vendor_does(rt):
    cost = track(rt, "hetzner/eu-central/cx23").summary["cost"]  # one price for all its places
    assert cost["billed_s"] == 3600
    assert cost["usd"] == cost["usd_per_hour"]


def test_the_summary_show_and_history_agree(rt):
    cost = track(rt, "gcp/us-central1/n2-standard-4").summary["cost"]
    assert json.loads(rt.run("show", "--json", "@").stdout)["cost"] == cost
    assert rt.run("history", "--json").json()["runs"][0]["cost_usd"] == cost["usd"]
    assert f"${cost['usd']:.4f}" in rt.run("history").stdout


def test_an_old_cost_does_not_change_with_the_prices(rt, tmp_path):
    before = track(rt, "aws/us-east-1/m5.large").summary["cost"]
    prices = tmp_path / "prices.csv"
    with prices.open("w") as f:
        csv.writer(f).writerows([["vendor", "region", "type", "price"],
                                 ["aws", "us-east-1", "m5.large", "0.05"]])
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    own_prices(rt, prices, env=cache)
    after = json.loads(rt.run("show", "--json", "@", env=cache).stdout)["cost"]
    paid = ("usd", "usd_per_hour", "billed_s", "price_source", "price_date", "price_quality")
    assert [after[key] for key in paid] == [before[key] for key in paid]
    # What is advised follows the prices, as in `recommend`.
    best = rt.run("recommend", "--json", "@", env=cache).json()["servers"][0]
    assert (after["best_type"], after["best_usd"]) == (best["api_reference"], best["run_cost"])
    assert (after["best_type"], after["best_usd_per_hour"]) == ("m5.large", 0.05)
    after = track(rt, "aws/us-east-1/m5.large", env=cache).summary["cost"]
    assert after["usd_per_hour"] == 0.05 and after["price_quality"] == "negotiated"


def test_labels_of_the_environment_and_the_configuration_state_it_too(rt):
    result = rt.track(*JOB, env={"TRACKER_INSTANCE": "aws/us-east-1/m5.large"})
    assert result.summary["cost"]["usd_per_hour"] == 0.096
    (rt.home / "resource-tracker.toml").write_text('instance = "aws/eu-west-1/m5.large"\n')
    result = rt.track(*JOB)
    assert result.summary["cloud"]["region"] == "eu-west-1"


@pytest.mark.parametrize("instance,reason", [
    ("aws/us-east-1/m5.lagre", "no type m5.lagre of aws"),
    ("aws/atlantis-1/m5.large", "no region atlantis-1 of aws"),
    ("acme/x/y", "no vendor acme"),
    ("linode/eu-central", "no vendor linode"),
    ("aws/us-east-1", "known types are like this machine"),
])
def test_what_cannot_be_priced_says_why_and_has_no_cost(rt, instance, reason):
    result = track(rt, instance)
    assert result.rc == 0
    cost = result.summary["cost"]
    assert cost["usd"] is None and cost["best_type"] is None
    assert reason in cost["reason"]
    assert "Cost" not in result.stderr


def test_a_discovered_spot_server_has_its_typical_price(rt, found):  # noqa: F811
    with serving(aws(2)) as (address, _):
        found(address)  # and keeps it for the run, which is short
        result = rt.run("run", "--summary-json", rt.summary_file, "--", *JOB,
                        env={"RESOURCE_TRACKER_METADATA": address,
                             "TRACKER_NO_DISCOVERY": None})
    listed = rt.run("servers", "--json", "-n", "0", "--vendor", "aws", "--region", "eu-central-1",
                    "--arch", "x86_64").json()["servers"]
    server = next(s for s in listed if s["api_reference"] == "c7i.4xlarge")
    cost = result.summary["cost"]
    assert result.summary["cloud"]["allocation"] == "spot"
    expected = server["min_price_ondemand"] * (100 - server["spot_saving_percent"]) / 100
    assert cost["usd_per_hour"] == pytest.approx(expected)
    assert cost["price_quality"] == "est" and "typical saving" in cost["reason"]
    assert cost["best_region"] == "eu-central-1"


def test_without_a_cloud_there_is_no_cost(rt):
    result = rt.track("true")
    assert result.summary["cost"] is None
    assert result.summary["cloud"]["vendor"] is None


def test_broken_prices_of_ones_own_do_not_disturb_a_run(rt, tmp_path):
    folder = tmp_path / "cache" / "resource-tracker"
    folder.mkdir(parents=True)
    (folder / "prices.tsv").write_text("nonsense\n")
    result = track(rt, "aws/us-east-1/m5.large", env={"XDG_CACHE_HOME": str(tmp_path / "cache")})
    assert result.rc == 0
    assert "nonsense" not in result.stderr
    assert "catalog info" in result.summary["cost"]["reason"]
