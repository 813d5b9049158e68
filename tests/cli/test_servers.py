"""Tests the verbs servers and catalog: servers that fit, their prices, and errors in files."""

import json
import os
import re
from pathlib import Path

import pytest

from feed_hosts import own_prices

ROOT = Path(__file__).resolve().parents[2]
SCORES = ROOT / "data/sparecores.tsv"


def servers(rt, *flags):
    result = rt.run("servers", "--json", "-n", "0", "--scores", "none", *flags)
    assert result.rc == 0, result
    return json.loads(result.stdout)["servers"]


def test_finds_servers_that_fit_cheapest_first(rt):
    found = servers(rt, "--vcpus", "4", "--memory", "16GiB", "--arch", "any")
    assert len(found) > 1000
    prices = [s["min_price_ondemand"] for s in found]
    assert prices == sorted(prices)
    for s in found:
        assert s["vcpus"] >= 4 and s["memory_usable"] >= 16384, s
        assert s["memory_amount"] > 16384, s  # advertised 16 GiB do not give 16 GiB
        assert s["price_source"] and s["price_date"] > "2020" and s["region_id"], s


def test_keeper_s_field_names(rt):
    first = servers(rt, "--vendor", "aws", "--region", "us-east-1", "--gpu", "1")[0]
    assert {"vendor_id", "api_reference", "display_name", "vcpus", "memory_amount", "gpu_count",
            "min_price_ondemand"} <= set(first)
    assert first["vendor_id"] == "aws" and first["gpu_count"] >= 1


def test_default_architecture_is_this_machine_s(rt):
    mine = {"x86_64": "x86_64", "aarch64": "arm64"}[os.uname().machine]
    assert {s["cpu_architecture"] for s in servers(rt, "--vcpus", "2")} == {mine}
    arm = servers(rt, "--arch", "arm64", "--vendor", "gcp")
    assert {s["api_reference"].split("-")[0] for s in arm} == {"t2a", "c4a", "n4a"}


def test_vram_is_that_of_each_gpu(rt):
    found = servers(rt, "--gpu", "1", "--vram", "40GiB", "--arch", "any")
    assert found and all(s["gpu_memory_min"] >= 40 * 1024 for s in found)
    assert "g4dn.12xlarge" not in {s["api_reference"] for s in found}  # 4 x 16 GiB


def test_local_storage_is_asked_for_in_gb(rt):
    found = servers(rt, "--vcpus", "2", "--storage", "1000", "--arch", "any")
    assert found and all(s["storage_size"] >= 1000 for s in found)
    assert {"aws", "azure", "gcp", "upcloud"} - {s["vendor_id"] for s in found} == {"upcloud"}


def test_a_share_of_a_gpu_is_enough_where_it_is_said_so(rt):
    flags = ["--gpu", "1", "--vendor", "aws", "--arch", "any"]
    whole, shares = servers(rt, *flags), servers(rt, *flags, "--gpu-shares")
    names = {s["api_reference"] for s in whole}
    assert "g6f.large" not in names and "g6.xlarge" in names
    assert names < {s["api_reference"] for s in shares}
    assert "g6f.large" in {s["api_reference"] for s in shares}


def test_places_and_exclusions(rt):
    found = servers(rt, "--country", "DE", "--vcpus", "2", "--exclude", "azure,t3*")
    assert {s["country_id"] for s in found} == {"DE"}
    assert {s["vendor_id"] for s in found} == {"aws", "gcp"}
    assert not [s for s in found if s["api_reference"].startswith("t3")]
    everywhere = {s["region_id"] for s in servers(rt, "--vcpus", "2")}
    assert not [r for r in everywhere if r.startswith(("us-gov", "jioindia"))]
    gov = servers(rt, "--vendor", "aws", "--region", "us-gov-west-1", "--vcpus", "2")
    assert gov and {s["region_id"] for s in gov} == {"us-gov-west-1"}


def test_an_alias_and_a_zone_are_understood(rt):
    found = servers(rt, "--vendor", "hcloud", "--region", "fsn1-dc14")
    assert {(s["vendor_id"], s["region_id"]) for s in found} == {("hetzner", "eu")}


def test_allocation(rt):
    found = servers(rt, "--allocation", "burstable", "--vendor", "aws")
    assert {s["cpu_allocation"] for s in found} == {"burstable"}
    assert {s["api_reference"][0] for s in found} >= {"t"}


def test_spot_orders_by_the_typical_spot_price(rt):
    found = servers(rt, "--spot", "--vendor", "gcp", "--vcpus", "8")
    prices = [s["min_price_ondemand"] * (100 - s["spot_saving_percent"]) for s in found]
    assert len(prices) > 50
    assert all(a <= b * 1.001 + 0.01 for a, b in zip(prices, prices[1:]))


def test_score_per_price(rt):
    found = servers(rt, "--order-by", "score-per-price", "--vendor", "aws", "--vcpus", "8")
    scored = [s["score_per_price"] for s in found if s["score_per_price"] is not None]
    assert len(scored) > 300
    assert all(a >= b * (1 - 1e-9) for a, b in zip(scored, scored[1:]))
    assert [s["score"] is None for s in found] == sorted(s["score"] is None for s in found)


def test_run_cost_counts_billing_steps(rt):
    result = rt.run("servers", "--order-by", "run-cost", "--json", "-n", "0", "--scores", "none",
                    "--vcpus", "2", "--vendor", "aws,hetzner")
    document = json.loads(result.stdout)
    for s in document["servers"]:
        if s["vendor_id"] == "hetzner":
            assert s["billed_seconds"] % 3600 == 0
        assert s["run_cost"] == pytest.approx(
            s["min_price_ondemand"] * s["billed_seconds"] / 3600, rel=1e-6)
    known = [s["run_cost"] for s in document["servers"] if s["speed_known"]]
    assert known == sorted(known)
    assert document["cheapest_per_hour"]["min_price_ondemand"] == min(
        s["min_price_ondemand"] for s in document["servers"])


def test_near_misses_say_what_they_lack(rt):
    result = rt.run("servers", "--order-by", "run-cost", "--json", "--vcpus", "4", "--memory",
                    "16GiB", "--vendor", "aws", "--scores", "none")
    misses = json.loads(result.stdout)["near_misses"]
    best = json.loads(result.stdout)["servers"][0]["run_cost"]
    assert misses and all(m["short_of"] and m["run_cost"] < best for m in misses)


def test_no_server_fits_names_the_binding_need(rt):
    result = rt.run("servers", "--vcpus", "4", "--memory", "100TiB")
    assert result.rc == 4 and not result.stdout
    assert "binding need is memory" in result.stderr and "comes nearest" in result.stderr
    result = rt.run("servers", "--gpu", "64")
    assert "binding need is GPUs" in result.stderr
    result = rt.run("servers", "--vendor", "ovh", "--arch", "arm64")
    assert "binding need is architecture" in result.stderr
    result = rt.run("servers", "--vendor", "hetzner", "--spot")
    assert result.rc == 4 and "no server is left" in result.stderr


@pytest.mark.parametrize("flags, hint", [
    (["--vendor", "awss"], "Try: aws"),
    (["--region", "us-esat-1"], "us-east-1"),
    (["--vendor", "gcp", "--region", "us-centrall1"], "us-central1"),
    (["--vendor", "aws", "--region", "westeurope"], "unknown region"),
    (["--country", "ZZ"], "no region there"),
    (["--region", "frankfurt"], "Try: eu-central-1, germanywestcentral, europe-west3"),
    (["--region", "Ohio", "--vendor", "aws"], "Try: us-east-2"),
    (["--memory", "lots"], "not a size"),
    (["--memory", "16"], "less than a MiB. Try: 16GiB"),
    (["--vram", "40000"], "less than a MiB. Try: 16GiB"),
    (["--vcpus", "-1"], "not a number"),
    (["--arch", "sparc"], "x86_64"),
    (["--order-by", "colour"], "run-cost"),
    (["--order-by", "run-cost", "--from", "m5.large"], "catalog search --from has gone. Use: resource-tracker recommend"),
])
def test_a_wrong_word_gets_a_hint_and_status_2(rt, flags, hint):
    result = rt.run("servers", *flags)
    assert result.rc == 2 and not result.stdout, result
    assert hint in result.stderr and len(result.stderr.splitlines()) == 1


def test_types_without_any_price_are_no_offers(rt):
    text = (ROOT / "data/hetzner.tsv").read_text(encoding="utf-8")
    bare = write(rt, "bare.tsv", text[:text.index("prices\thetzner")] + "end\n")
    result = rt.run("servers", "--vendor", "hetzner", "--catalog", bare)
    assert result.rc == 4 and "types but no prices of this vendor" in result.stderr
    assert "catalog update" in result.stderr


def test_the_columns_stand_in_line_whatever_the_names(rt):
    result = rt.run("servers", "-n", "400", "--vendor", "gcp,azure", "--spot", "--arch", "any")
    lines = result.stdout.splitlines()
    assert "northamerica-northeast2" in result.stdout and len(lines) > 300
    assert len({line.index(arch) for line in lines[1:] for arch in (" x86_64 ", " arm64 ")
                if arch in line}) == 1


def test_a_table_for_people_names_date_and_source(rt):
    result = rt.run("servers", "--vendor", "hetzner", "--vcpus", "2", "-n", "3")
    assert len(result.stdout.splitlines()) == 4
    assert "2026-08-17 (list-hetzner" in result.stderr


def test_old_prices_are_called_old(rt):
    text = (ROOT / "data/hetzner.tsv").read_text(encoding="utf-8")
    for date, old in (("2001-02-03", True), ("2099-01-01", False)):
        path = write(rt, "dated.tsv", text.replace("2026-08-17\texact", date + "\texact"))
        result = rt.run("servers", "--catalog", path, "--arch", "any")
        assert f"{date} (list-hetzner{', old' if old else ''})" in result.stderr, result


def test_the_scores_file_is_optional(rt):
    without = servers(rt, "--vendor", "azure", "--region", "eastus", "--vcpus", "4")
    assert not [s for s in without if s["score"] is not None]
    result = rt.run("servers", "--json", "-n", "0", "--scores", SCORES, "--vendor", "azure",
                    "--region", "eastus", "--vcpus", "4")
    with_scores = json.loads(result.stdout)["servers"]
    assert len(with_scores) == len(without)
    assert len([s for s in with_scores if s["score_basis"] == "stress-ng"]) > 300


def test_catalog_info_counts(rt):
    info = json.loads(rt.run("catalog", "info", "--json", "--scores", SCORES).stdout)
    vendors = {v["vendor_id"]: v for v in info["vendors"]}
    assert {"aws", "azure", "gcp", "hetzner", "ovh", "upcloud", "vultr", "scaleway"} <= set(vendors)
    assert sum(v["servers"] for v in vendors.values()) >= 4900
    assert sum(v["prices"] for v in vendors.values()) >= 20000
    assert all(s["date"] and s["licence"] for s in info["sources"])
    plain = json.loads(rt.run("catalog", "info", "--json", "--scores", "none").stdout)
    assert not [s for s in plain["sources"] if "SA" in s["licence"]]


# --- where prices come from --------------------------------------------------------------------------------

def write(rt, name, text):
    path = rt.home / name
    path.write_text(text, encoding="utf-8")
    return path


def test_each_source_is_named_once(rt):
    listed = rt.run("servers", "-n", "0", "--vendor", "aws", "--region", "us-east-1").stderr
    assert listed.count("karpenter-aws") == 1


def test_the_regions_of_a_vendor_are_told_where_it_lacks_one(rt):
    result = rt.run("servers", "--vendor", "hetzner", "--region", "mars-1")
    assert result.rc == 2 and "unknown region mars-1. Try: eu" in result.stderr


# --- a catalogue from outside ------------------------------------------------------------------

def test_another_catalogue_and_its_mistakes(rt):
    text = (ROOT / "data/hetzner.tsv").read_text(encoding="utf-8")
    good = write(rt, "good.tsv", text)
    result = rt.run("servers", "--catalog", good, "--vcpus", "2", "--json", "--arch", "any")
    assert {s["vendor_id"] for s in json.loads(result.stdout)["servers"]} == {"hetzner"}
    lines = text.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("\tcx23\t"))
    for bad, place in [
        ("\n".join(lines[:-1]) + "\n", f":{len(lines)}:1: cut short"),
        (text.replace("catalogue\t1", "catalogue\t9"), ":11: format 9 is newer"),
        (text.replace("catalogue\t1", "catalogue\t0"), ":11: format 0 is older"),
        ("\n".join([*lines[:at], lines[at].replace("4096", "4GiB"), *lines[at + 1:]]),
         f":{at + 1}:10: not a whole number: 4GiB"),
        ("", ":1:1: not a catalogue"),
    ]:
        result = rt.run("servers", "--catalog", write(rt, "bad.tsv", bad))
        assert result.rc == 1 and place in result.stderr, (place, result.stderr)
        assert "bad.tsv" in result.stderr and len(result.stderr.splitlines()) == 1


def test_a_named_file_that_is_missing_is_an_error(rt):
    for flag in ("--catalog", "--scores", "--prices"):
        assert rt.run("servers", flag, rt.home / "none.tsv").rc == 4, flag


def test_the_price_of_spot_machines_has_the_name_of_the_keeper(rt):
    for server in servers(rt, "--vendor", "aws", "--region", "us-east-1", "--spot", "-n", "20"):
        assert server["min_price_spot"] == pytest.approx(
            server["min_price_ondemand"] * (100 - server["spot_saving_percent"]) / 100)
    assert servers(rt, "--vendor", "hetzner")[0]["min_price_spot"] is None


def test_previous_generations_are_left_out_unless_they_are_asked_for(rt):
    flags = ["--vendor", "aws,azure,gcp", "--arch", "any"]
    current = servers(rt, *flags)
    every = servers(rt, *flags, "--previous-generation")
    names = {s["api_reference"] for s in every} - {s["api_reference"] for s in current}
    assert {"m1.small", "g2.2xlarge", "g3s.xlarge", "Standard_D2_v3", "n1-standard-1"} <= names
    assert not [s for s in current if s["previous_generation"]]
    assert {s["api_reference"] for s in every if s["previous_generation"]} == names
    text = rt.run("servers", "-n", "0", *flags, "--previous-generation").stdout
    marked = {line.split()[1] for line in text.splitlines() if line.endswith("previous generation")}
    assert marked == names


def test_where_only_a_previous_generation_fits_the_way_to_it_is_told(rt, tmp_path):
    table = tmp_path / "table.tsv"
    table.write_text("catalogue\t1\t2026-08-17\nsource\town\t2026-08-17\tfacts\tby hand\n"
                     "vendor\tv\t-\tV\t1\t60\t-\nregion\tv\there\tDE\t-\t-\tBerlin\n"
                     "servers\tv\town\t2026-08-17\texact\n"
                     "\tsmall\t1\t4096\tx86_64\tdedicated\t2\n"
                     "\tlarge\t8\t4096\tx86_64\tdedicated\t2\tprevious\n"
                     "prices\tv\there\town\t2026-08-17\texact\n\tsmall\t0.1\n\tlarge\t0.2\nend\n")
    flags = ["--catalog", table, "--arch", "x86_64", "--cpu", "4"]
    result = rt.run("servers", *flags)
    assert result.rc == 4 and "Try: --previous-generation" in result.stderr
    assert "large" in rt.run("servers", *flags, "--previous-generation").stdout
    result = rt.run("servers", *flags, "--cpu", "16")
    assert result.rc == 4 and "binding need is vCPUs" in result.stderr


def test_each_row_carries_the_age_of_its_price(rt):
    from datetime import date

    found = servers(rt, "--vendor", "aws", "--region", "us-east-1,eu-west-1", "--cpu", "2")
    for s in found:
        age = (date.today() - date.fromisoformat(s["price_date"])).days
        assert abs(s["price_age_days"] - age) <= 1  # the test may pass midnight
        assert s["price_estimated"] == (s["price_quality"] == "est")
    # Of two regions the one with a price of the last year, though the other's is lower.
    assert found[0]["region_id"] == "us-east-1"
    text = rt.run("servers", "--vendor", "aws", "--region", "eu-west-1", "--cpu", "2").stdout
    head, *rows = text.splitlines()
    assert "price age" in head
    assert rows and all(" years, estimated " in row for row in rows)


def test_prices_older_than_a_year_do_not_lead(rt, tmp_path):
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    prices = tmp_path / "prices.csv"
    prices.write_text("vendor,region,type,price\naws,us-east-1,m7i.large,0.0001\n")
    flags = ["servers", "--json", "-n", "0", "--vendor", "aws", "--region", "us-east-1", "--arch",
             "x86_64"]
    for order in "price", "run-cost", "score-per-price":
        for day, leads in (("2001-02-03", False), ("2099-01-01", True)):
            own_prices(rt, prices, "--date", day, env=cache)
            found = rt.run(*flags, "--order-by", order, env=cache).json()["servers"]
            place = [s["api_reference"] for s in found].index("m7i.large")
            assert place == (0 if leads else len(found) - 1)


@pytest.mark.parametrize("name,other,value", [
    ("--cpu", "--vcpus", "4"), ("--cpu", "--cpus", "4"), ("--mem", "--memory", "16GiB"),
    ("--gpu", "--gpus", "1"),
])
def test_the_needs_have_the_names_of_a_request_and_their_other_names(rt, name, other, value):
    flags = ["servers", "--json", "-n", "5", "--order-by", "run-cost"]
    assert rt.run(*flags, name, value).json() == rt.run(*flags, other, value).json()
    assert rt.run(*flags, name, value).json() != rt.run(*flags).json() or value == "1"
    help_text = rt.run("servers", "--help").stdout
    assert re.search(rf"^ +{name} ", help_text, re.M) and not re.search(rf"^ +{other} ", help_text, re.M)


@pytest.mark.parametrize("request_words", [
    "cpu=1.5,mem=2GiB,gpu=1,time=2h", "cpus=1.5,memory=2GiB,gpus=1,run=2h",
    "vcpus=1.5,memory=2GiB,gpu=1,time=2h",
])
def test_a_request_accepts_the_names_of_servers(rt, request_words):
    request = rt.track("true", flags=["--request", request_words]).summary["request"]
    told = {key: request[key]["value"] for key in request}
    assert told == {"cpu": 1.5, "memory_mib": 2048, "gpu": 1, "time_s": 7200}


def test_cores_are_rounded_up_to_whole_vcpus(rt):
    assert {s["vcpus"] for s in servers(rt, "--cpu", "1.5", "--vendor", "aws")}.isdisjoint({1})
    for wrong in "many", "-1", "1.5x", "1e3", "":
        assert rt.run("servers", "--cpu", wrong).rc == 2


def test_the_cheapest_that_fits_stands_in_the_table(rt):
    flags = ["servers", "--order-by", "run-cost", "--cpu", "1"]
    answer = rt.run(*flags, "--json", "-n", "5").json()
    every = rt.run(*flags, "--json", "-n", "0").json()
    shown = [(s["vendor_id"], s["api_reference"]) for s in answer["servers"]]
    fresh = [s for s in every["servers"] if s["price_age_days"] <= 365]
    for key in "min_price_ondemand", "run_cost":
        least = min(s[key] for s in fresh)
        assert [s for s in answer["servers"] if s[key] == least], key
    hour = answer["cheapest_per_hour"]
    assert (hour["vendor_id"], hour["api_reference"]) in shown and len(shown) == 5
    result = rt.run(*flags, "-n", "5")
    rows = [row for row in result.stdout.splitlines() if "cheapest by the hour" in row]
    assert len(rows) == 1
    assert rows[0].startswith(f"{hour['vendor_id']} {hour['api_reference']} ")
    assert "by the hour" not in result.stderr


def test_a_region_of_one_vendor_is_no_zone_of_another(rt):
    assert {s["vendor_id"] for s in servers(rt, "--region", "eu-west-1")} == {"aws"}


def test_prices_older_than_a_year_name_the_update_that_gets_newer_ones(rt):
    old = rt.run("servers", "--cpu", "2", "--vendor", "aws", "--region", "eu-west-1")
    assert ("the prices of aws/eu-west-1 are older than a year. Try: resource-tracker "
            "catalog update --region aws/eu-west-1\n") in old.stderr
    assert "estimated" in old.stdout
    assert "older than a year" not in rt.run("servers", "--cpu", "2", "--region", "us-east-1").stderr
    rt.track("sleep", "0.3", flags=["-n", "job", "--instance", "aws/eu-west-1/m5.xlarge"])
    for text in (rt.run("recommend", "job").stdout, rt.run("report", "--format", "md", "-o", "-", "job").stdout):
        assert "he prices of aws/eu-west-1 are older than a year. Try: resource-tracker catalog update" in (
            text.replace("\\", ""))


def test_a_region_that_is_misspelt_is_no_zone_of_another_vendors_region(rt):
    result = rt.run("servers", "--region", "eu-west-9")
    assert result.rc == 2 and "Try: eu-west-1" in result.stderr  # Hetzner's region is called "eu"
    for zone, region in (("us-east-1a", "us-east-1"), ("us-east-1-bos-1a", "us-east-1"),
                         ("us-central1-a", "us-central1"), ("fsn1-dc14", "eu")):
        told = rt.run("servers", "--json", "-n", "3", "--region", zone).json()["servers"]
        assert {server["region_id"] for server in told} == {region}
