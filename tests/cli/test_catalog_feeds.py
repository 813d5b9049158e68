"""Tests `catalog_build prices --from`: public price lists in their original formats, from a local server, and the program
with the built file."""

import subprocess
import sys

import pytest

from feed_hosts import ROOT, hosts, offer, table, update  # noqa: F401

import feeds
import prices
from known import Known, Refused


def test_the_tool_takes_prices_as_its_first_word():
    """Below, its functions are called."""
    done = subprocess.run([sys.executable, ROOT / "tools/catalog_build", "prices", "--help"], check=True,
                          capture_output=True, text=True)
    assert "--mirror" in done.stdout


# ---- Azure ----

AZURE = "/prices.azure.com/api/retail/prices"


def azure_item(name, usd, **more):
    sku = name.removeprefix("Standard_").replace("_", " ")
    return {"currencyCode": "USD", "tierMinimumUnits": 0.0, "retailPrice": usd, "unitPrice": usd,
            "armRegionName": "westeurope", "location": "EU West", "meterName": sku,
            "productName": "Virtual Machines D Series", "skuName": sku,
            "serviceName": "Virtual Machines", "unitOfMeasure": "1 Hour", "type": "Consumption",
            "isPrimaryMeterRegion": True, "armSkuName": name, **more}


def azure_pages(items, size=400):
    """Pages as the API links them."""
    def page(query):
        skip = int(query.get("$skip", ["0"])[0])
        link = f"https://prices.azure.com/api/retail/prices?$skip={skip + size}"
        return {"BillingCurrency": "USD", "CustomerEntityType": "Retail",
                "Items": items[skip:skip + size], "Count": len(items[skip:skip + size]),
                "NextPageLink": link if skip + size < len(items) else None}
    return page


def test_azure_is_read_by_pages_and_cleaned(rt, hosts):
    items = [azure_item(name, usd) for name, usd in table(rt, "azure", "westeurope").items()]
    name = "Standard_D4s_v3"
    items = [i for i in items if i["armSkuName"] != name]
    traps = [  # what stands under the same name and is another thing
        azure_item(name, 0.1, productName="Virtual Machines DSv3 Series Windows"),
        azure_item(name, 0.1, productName="Dsv3 Series Cloud Services"),
        azure_item(name, 0.1, productName="DSv3 Series CloudServices"),
        azure_item(name, 0.01, skuName="D4s v3 Low Priority", meterName="D4s v3 Low Priority"),
        azure_item(name, 0.1, productName="DSv3 Dedicated Host"),
        azure_item(name, 0.1, skuName="D4s v3 Promo"),
        azure_item(name, 0.1, type="Reservation", unitOfMeasure="1 Hour"),
        azure_item(name, 0.1, unitOfMeasure="1/Month"),
        azure_item(name, 0.1, currencyCode="EUR"),
        azure_item(name, 0),
        azure_item("Standard_NEW_v99", 0.1),
        azure_item(name, 0.1, armRegionName="atlantis"),
    ]
    items = items[:300] + traps + items[300:]
    items.append(azure_item(name, 0.25))
    items.append(azure_item(name, 0.05, skuName="D4s v3 Spot", meterName="D4s v3 Spot"))
    hosts.documents[AZURE] = azure_pages(items)
    result = update(rt, hosts, "--from", "azure", "--region", "azure/westeurope")
    assert result.rc == 0, result.stderr
    assert "armRegionName eq 'westeurope'" in hosts.asked[0]
    assert "serviceName eq 'Virtual Machines'" in hosts.asked[0]
    assert len(hosts.asked) == -(-len(items) // 400)
    told = offer(rt, hosts, "azure", "westeurope", name)
    assert told["min_price_ondemand"] == 0.25 and told["spot_saving_percent"] == 80
    assert (told["price_source"], told["price_quality"]) == ("azure-retail", "exact")
    assert f"{len(items) - len(traps) - 1} prices of azure, {len(traps)} rows left out" in result.stdout
    kept = hosts.cache / "prices.tsv"
    assert kept.stat().st_mode & 0o777 == 0o600 and list(hosts.cache.iterdir()) == [kept]
    info = rt.run("catalog", "info", "--json", env=hosts.env).json()
    assert "azure-retail" in {source["id"] for source in info["sources"]}
    assert info["prices_file"] == str(kept)


def test_a_page_that_is_busy_is_asked_for_again(rt, hosts):
    page = azure_pages([azure_item(n, u) for n, u in table(rt, "azure", "westeurope").items()])
    asked = []

    def at_times(query):
        asked.append(query)
        return 429 if len(asked) in (2, 3) else page(query)

    hosts.documents[AZURE] = at_times
    result = update(rt, hosts, "--from", "azure", "--region", "azure/westeurope")
    assert result.rc == 0, result.stderr
    assert result.stderr.count("next try in a minute") == 2 and asked[1] == asked[3]
    # Not for ever.
    hosts.documents[AZURE] = lambda query: 503
    result = update(rt, hosts, "--from", "azure", "--region", "azure/westeurope")
    assert result.rc == 1 and "busy (503)" in result.stderr
    assert result.stderr.count("next try in a minute") == 3


@pytest.mark.parametrize("link", ["https://prices.azure.com.example.org/x", "http://127.0.0.1/x",
                                  "file:///etc/passwd"])
def test_a_next_page_of_another_host_is_not_asked(rt, hosts, link):
    hosts.documents[AZURE] = {"Items": [azure_item("Standard_D4s_v3", 0.2)], "NextPageLink": link}
    result = update(rt, hosts, "--from", "azure", "--region", "azure/westeurope")
    assert result.rc == 1 and "next page is not read" in result.stderr
    assert len(hosts.asked) == 1 and not hosts.built.exists()


def test_pages_without_end_are_given_up(rt, hosts, monkeypatch):
    monkeypatch.setattr(prices, "PAGES_MAX", 20)
    hosts.documents[AZURE] = {"Items": [], "NextPageLink":
                              "https://prices.azure.com/api/retail/prices?$skip=1"}
    result = update(rt, hosts, "--from", "azure", "--region", "azure/westeurope")
    assert result.rc == 1 and "too many pages" in result.stderr


# ---- Amazon ----

AWS = ("/b0.p.awsstatic.com/pricing/2.0/meteredUnitMaps/ec2/USD/current/ec2-ondemand-without-sec-sel/"
       "{}/Linux/index.json")


def aws_list(region, prices):
    return {"manifest": {"serviceId": "ec2"}, "sets": {}, "regions": {region: {
        f"{name} x": {"rateCode": "A.B.C", "price": f"{usd:.10f}", "Location": region,
                      "Instance Type": name, "Operating System": "Linux", "vCPU": "2",
                      "Memory": "8 GiB", "Storage": "EBS only"} for name, usd in prices.items()}}}


def test_amazons_list_is_asked_by_its_long_names(rt, hosts):
    before = offer(rt, hosts, "aws", "eu-west-1", "m5.large")
    assert before["price_quality"] == "est" and before["spot_saving_percent"] > 0
    prices = {**table(rt, "aws", "eu-west-1"), "m5.large": 0.107, "z9.new": 0.01}
    hosts.documents[AWS.format("EU (Ireland)")] = aws_list("EU (Ireland)", prices)
    result = update(rt, hosts, "--from", "aws", "--region", "aws/eu-west-1")
    assert result.rc == 0, result.stderr
    told = offer(rt, hosts, "aws", "eu-west-1", "m5.large")
    assert (told["min_price_ondemand"], told["price_source"], told["price_quality"]) == (
        0.107, "aws-list", "exact")
    # The list tells nothing of spot machines: what is known of them stays.
    for key in ("spot_saving_percent", "spot_interruption_class"):
        assert told[key] == before[key]
    # And other regions stay as they were.
    assert offer(rt, hosts, "aws", "us-east-1", "m5.large")["price_source"] != "aws-list"


ADVISOR = "/spot-bid-advisor.s3.amazonaws.com/spot-advisor-data.json"


def advisor(rt, saving, klass, names=None):
    """The Spot Advisor's document; `names`: only these types."""
    regions = ["us-east-1", "us-east-2", "us-west-2", "eu-west-1", "eu-central-1"] + [
        "af-south-1", "ap-east-1", "ap-northeast-1", "ap-northeast-2", "ap-northeast-3", "ap-south-1",
        "ap-southeast-1", "ap-southeast-2", "ca-central-1", "eu-north-1", "eu-south-1", "eu-west-2",
        "eu-west-3", "sa-east-1", "us-west-1"]
    linux = {name: {"s": saving, "r": klass} for name in names or table(rt, "aws", "us-east-1")}
    return {"ranges": [{"index": 0, "label": "<5%", "dots": 0, "max": 5}],
            "instance_types": {"m5.large": {"cores": 2, "emr": True, "ram_gb": 8.0}},
            "spot_advisor": {g: {"Linux": linux, "Windows": {n: {"s": 1, "r": 4} for n in linux}}
                             for g in regions}}


def test_the_spot_advisor_changes_savings_and_no_price(rt, hosts):
    before = offer(rt, hosts, "aws", "us-east-1", "m5.large")
    hosts.documents[ADVISOR] = advisor(rt, 37, 3)
    result = update(rt, hosts, "--from", "aws-spot")
    assert result.rc == 0, result.stderr
    assert " savings of aws-spot" in result.stdout
    told = offer(rt, hosts, "aws", "us-east-1", "m5.large")
    assert (told["spot_saving_percent"], told["spot_interruption_class"]) == (37, 3)
    for key in ("min_price_ondemand", "price_source", "price_date"):
        assert told[key] == before[key]
    # They belong to newer prices, too.
    hosts.documents[AWS.format("EU (Ireland)")] = aws_list(
        "EU (Ireland)", {**table(rt, "aws", "eu-west-1"), "m5.large": 0.108})
    assert update(rt, hosts, "--from", "aws-spot", "--from", "aws", "--region", "aws/eu-west-1").rc == 0
    told = offer(rt, hosts, "aws", "eu-west-1", "m5.large")
    assert (told["min_price_ondemand"], told["spot_saving_percent"]) == (0.108, 37)
    info = rt.run("catalog", "info", "--json", env=hosts.env).json()
    assert {"aws-list", "aws-spot-advisor"} <= {source["id"] for source in info["sources"]}


def test_a_spot_advisor_that_lost_most_needs_force(rt, hosts):
    hosts.documents[ADVISOR] = advisor(rt, 37, 3, ["m5.large", "m5.xlarge"])
    result = update(rt, hosts, "--from", "aws-spot")
    assert result.rc == 1 and "savings in the answer" in result.stderr and "--force" in result.stderr
    hosts.documents[ADVISOR] = advisor(rt, 100, 9)  # out of range
    assert update(rt, hosts, "--from", "aws-spot").rc == 1
    assert not hosts.built.exists() and not hosts.cache.exists()


# ---- lists that are whole ----

def test_googles_calculator_is_read_with_spot_prices(rt, hosts):
    regions = ["us-central1", "europe-west3"]
    prices = {g: {**table(rt, "gcp", g), "e2-standard-4": 0.2, "x9-new-1": 1.0} for g in regions}
    lines = ["---", "# Prices", "about:", "  generated: 2026", "compute:", "  instance:"]
    for name in sorted(set().union(*prices.values())):
        lines += [f"    {name}:", "      cpu: 4", "      cost:"]
        for g in regions:
            if name in prices[g]:
                lines += [f"        {g}:", f"          hour: {prices[g][name]}",
                          f"          hour_spot: {prices[g][name] * 0.3}",
                          f"          month: {prices[g][name] * 730}"]
    lines += ["  storage:", "    local-ssd:", "      cost:", "        us-central1:",
              "          month: 0.08", ""]
    path = "/raw.githubusercontent.com/Cyclenerd/google-cloud-pricing-cost-calculator/master/pricing.yml"
    hosts.documents[path] = "\n".join(lines)
    result = update(rt, hosts, "--from", "gcp", "--force")
    assert result.rc == 0, result.stderr
    told = offer(rt, hosts, "gcp", "europe-west3", "e2-standard-4")
    assert (told["min_price_ondemand"], told["spot_saving_percent"]) == (0.2, 70)
    assert told["price_source"] == "gcp-calculator"


def test_vultrs_plans_have_exact_prices_by_the_hour(rt, hosts):
    plans = [{"id": name, "vcpu_count": 1, "ram": 1024, "disk": 25, "disk_count": 1,
              "bandwidth": 1024, "monthly_cost": round(usd * 672, 2), "hourly_cost": usd,
              "type": "vc2", "locations": ["ewr", "ams"]}
             for name, usd in table(rt, "vultr", "global").items()]
    next(p for p in plans if p["id"] == "vc2-1c-1gb")["hourly_cost"] = 0.007
    hosts.documents["/api.vultr.com/v2/plans"] = {
        "plans": plans, "meta": {"total": len(plans), "links": {"next": "", "prev": ""}}}
    result = update(rt, hosts, "--from", "vultr")
    assert result.rc == 0, result.stderr
    told = offer(rt, hosts, "vultr", "ewr", "vc2-1c-1gb")
    assert (told["min_price_ondemand"], told["price_quality"]) == (0.007, "exact")


SKYPILOT = "/raw.githubusercontent.com/skypilot-org/skypilot-catalog/master/catalogs/{}/{}/vms.csv"
HEAD = ("InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,"
        "Region,AvailabilityZone,Arch\n")


def sky_rows(rt, vendor, region):
    return "".join(f"{name},,,2.0,8.0,,{usd},,{region},zone-{zone},x86_64\n"
                   for name, usd in table(rt, vendor, region).items() for zone in (1, 2))


def test_skypilots_tables_take_the_lowest_zone_and_older_versions(rt, hosts):
    hosts.documents[SKYPILOT.format("v8", "aws")] = (
        HEAD + sky_rows(rt, "aws", "us-east-1").replace("\n", "\r\n")
        + 'g4dn.xlarge,T4,1.0,4.0,16.0,"{\'Gpus\': [{\'Name\': \'T4\'}], \'x\': 1}",0.5,0.25,us-east-1,'
          "use1-az9,x86_64\n"
        + ",T4,1.0,,,,0.01,0.01,us-east-1,use1-az1,\n")
    hosts.documents[SKYPILOT.format("v8", "azure")] = HEAD + sky_rows(rt, "azure", "eastus")
    # Nothing of Google in v8 and v7; its machines with GPUs stand there without their GPUs.
    hosts.documents[SKYPILOT.format("v6", "gcp")] = (
        HEAD + "e2-standard-4,,,4.0,16.0,,0.1,0.03,us-central1,us-central1-a,\n"
        + "a2-highgpu-1g,,,12.0,85.0,,0.9,0.3,us-central1,us-central1-a,\n")
    result = update(rt, hosts, "--from", "skypilot", "--force")
    assert result.rc == 0, result.stderr
    gpu = offer(rt, hosts, "aws", "us-east-1", "g4dn.xlarge")
    assert (gpu["min_price_ondemand"], gpu["spot_saving_percent"]) == (0.5, 50)
    assert offer(rt, hosts, "gcp", "us-central1", "e2-standard-4")["price_source"] == "skypilot"
    a2 = offer(rt, hosts, "gcp", "us-central1", "a2-highgpu-1g")
    assert a2["price_source"] != "skypilot" and a2["min_price_ondemand"] > 3
    assert [p for p in hosts.asked if "/gcp/" in p] == [
        SKYPILOT.format(v, "gcp") for v in ("v8", "v7", "v6")]


def test_karpenters_table_is_read_by_regions(rt, hosts):
    lines = ["package pricing", "", "var InitialOnDemandPricesAWS = map[string]map[ec2types."
             "InstanceType]float64{"]
    for region in ("us-east-1", "us-gov-west-1"):
        prices = {**table(rt, "aws", region), "m5.large": 0.097}
        lines += [f"\t// {region}", f'\t"{region}": {{', "\t\t// a1 family"]
        items = [f'"{name}": {usd:f}' for name, usd in prices.items()]
        lines += ["\t\t" + ", ".join(items[i:i + 3]) + "," for i in range(0, len(items), 3)]
        lines.append("\t},")
    path = ("/raw.githubusercontent.com/aws/karpenter-provider-aws/main/pkg/providers/pricing/"
            "zz_generated.pricing_aws.go")
    hosts.documents[path] = "\n".join(lines + ["}", ""])
    result = update(rt, hosts, "--from", "karpenter")
    assert result.rc == 0, result.stderr
    for region in ("us-east-1", "us-gov-west-1"):
        assert offer(rt, hosts, "aws", region, "m5.large")["min_price_ondemand"] == 0.097


# ---- judging ----

def test_a_list_that_lost_or_moved_too_much_needs_force(rt, hosts):
    prices = table(rt, "aws", "eu-west-1")
    path = AWS.format("EU (Ireland)")
    flags = ["--from", "aws", "--region", "aws/eu-west-1"]
    few = dict(list(prices.items())[: len(prices) // 3])
    dear = {name: usd * 1.4 for name, usd in prices.items()}
    hosts.documents[path] = aws_list("EU (Ireland)", prices)
    assert update(rt, hosts, *flags).rc == 0
    kept = hosts.built
    before = kept.read_bytes()
    for wrong, words in ((few, "aws (eu-west-1) has"), (dear, "median price of aws (eu-west-1)")):
        hosts.documents[path] = aws_list("EU (Ireland)", wrong)
        result = update(rt, hosts, *flags)
        assert result.rc == 1 and words in result.stderr and "--force" in result.stderr
        assert kept.read_bytes() == before
    assert update(rt, hosts, *flags, "--force").rc == 0
    assert kept.read_bytes() != before
    # One more region is no loss of the first.
    hosts.documents[AWS.format("EU (Paris)")] = aws_list("EU (Paris)", table(rt, "aws", "eu-west-3"))
    assert update(rt, hosts, "--from", "aws", "--region", "aws/eu-west-3").rc == 0


@pytest.mark.parametrize("body,words", [
    (b"<html>Sign in</html>", "not a JSON document"),
    (b'{"regions": {"EU (Ireland)": {"a', "not a JSON document"),
    ({"regions": [1, 2]}, "not a list of regions"),
    ([], "not a list of regions"),
    ({"regions": {"EU (Ireland)": {"k": {"price": "1e9", "Instance Type": "m5.large"}}}}, "no price"),
    ({"regions": {"Atlantis": {"k": {"price": "1.0", "Instance Type": "m5.large"}}}}, "no price"),
    ({"regions": {"EU (Ireland)": {"k": {"price": 7, "Instance Type": {}}, "l": 3}}}, "no price"),
    (b"", "not a JSON document"),
    (None, "answered 404"),
])
def test_a_wrong_document_changes_nothing(rt, hosts, body, words):
    hosts.documents[AWS.format("EU (Ireland)")] = body
    result = update(rt, hosts, "--from", "aws", "--region", "aws/eu-west-1")
    assert result.rc == 1
    assert words in result.stderr and "nothing was written" in result.stderr
    assert result.stderr.count("\n") == 1
    assert not hosts.built.exists() and not hosts.cache.exists()


@pytest.mark.parametrize("list_id", sorted(feeds.LISTS))
@pytest.mark.parametrize("body", ["<html>\n<body>Sign in</body>\n</html>\n", "", "\0\0\n\ufffd", "{}", "[]",
                                  "[" * 100000, '{"products": [7], "addons": [7], "Items": [7], "plans": [7]}'])
def test_what_is_no_list_is_refused(list_id, body):
    rows = feeds.Rows(Known(), 1.16)
    page = [1] if list_id == "scaleway" else []
    with pytest.raises(Refused):
        feeds.LISTS[list_id].read(rows, "aws", body, *page)
        rows.complete()


@pytest.mark.parametrize("flags,words", [
    ([], "needs --from LIST or --csv FILE"),
    (["--from", "acme"], "invalid choice: 'acme'"),
    (["--from", "vultr", "--eur-usd", "1.16"], "for lists in EUR"),
    (["--from", "ovh", "--eur-usd", "116"], "not the price of a euro"),
    (["--from", "ovh", "--eur-usd", "x"], "not the price of a euro"),
    (["--from", "ovh", "--region", "ovh/eu"], "no list of --from has one answer a region of ovh"),
    (["--from", "azure"], "Try: --region azure/NAME"),
    (["--from", "azure", "--region", "aws/us-east-1"], "no list of --from has one answer a region of aws"),
    (["--from", "azure", "--region", "azure/atlantis"], "unknown region atlantis"),
    (["--from", "azure", "--region", "acme/x"], "unknown vendor acme"),
    (["--from", "azure", "--region", "westeurope"], "not of the form VENDOR/REGION"),
])
def test_wrong_flags_are_told(rt, hosts, flags, words):
    result = update(rt, hosts, *flags)
    assert result.rc == 2 and words in result.stderr
    assert hosts.asked == []


def test_of_two_lists_the_later_price_counts(rt, hosts):
    hosts.documents[AWS.format("EU (Ireland)")] = aws_list(
        "EU (Ireland)", {**table(rt, "aws", "eu-west-1"), "m5.large": 0.108})
    hosts.documents[SKYPILOT.format("v8", "aws")] = (
        HEAD + "m5.large,,,2.0,8.0,,0.2,,eu-west-1,a,\nm5.xlarge,,,2.0,8.0,,0.4,,eu-west-1,a,\n")
    for vendor in ("azure", "gcp"):
        hosts.documents[SKYPILOT.format("v8", vendor)] = HEAD
    lists = (["--from", "aws", "--region", "aws/eu-west-1"], ["--from", "skypilot"])
    own = hosts.built.with_name("own.csv")
    own.write_text("vendor,region,type,price\naws,eu-west-1,m5.xlarge,0.001\n", encoding="utf-8")
    for order, price, source in ((lists, 0.2, "skypilot"), (lists[::-1], 0.108, "aws-list")):
        result = update(rt, hosts, *order[0], *order[1], "--csv", own, "--force")
        assert result.rc == 0, result.stderr
        told = offer(rt, hosts, "aws", "eu-west-1", "m5.large")
        assert (told["min_price_ondemand"], told["price_source"]) == (price, source)
        told = offer(rt, hosts, "aws", "eu-west-1", "m5.xlarge")  # an own price before all
        assert (told["min_price_ondemand"], told["price_quality"]) == (0.001, "negotiated")
