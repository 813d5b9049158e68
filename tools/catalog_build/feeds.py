"""Reads public price lists of vendors, and of projects that collect them.

A reader takes one document as fetched and adds its prices to Rows. Regions and types that the table does not have, and
entries without a usable price (zero, Windows, dedicated hosts), are counted and left out."""

import csv
import io
import json
import math
import re
import urllib.parse
from dataclasses import dataclass

from known import Refused

# ---- rows ----

PRICES = (1e-5, 40000)  # the lowest and highest plausible price of an hour, USD


class Rows:
    """Prices of one list: (vendor, region, type) -> [USD, USD of spot machines]. Of the zones of a region the lowest price
    counts. For a list of savings: -> [percent, class of interruptions]."""

    def __init__(self, known, usd_of_euro=None):
        self.known = known
        self.usd_of_euro = usd_of_euro
        self.found = {}
        self.dropped = 0

    def place(self, vendor, region, name):
        """The key of a row; None, and counted, if the table lacks the region or the type."""
        region = self.known.region(vendor, region) if isinstance(region, str) else None
        name = self.known.server(vendor, name) if isinstance(name, str) else None
        if region is None or name is None:
            self.dropped += 1
            return None
        return vendor, region, name

    def add(self, vendor, region, name, usd, spot_usd=None):
        usd, spot_usd = (p if p is not None and PRICES[0] <= p < PRICES[1] else None for p in (usd, spot_usd))
        if usd is None and spot_usd is None:
            self.dropped += 1
            return
        key = self.place(vendor, region, name)
        if key:
            row = self.found.setdefault(key, [None, None])
            for at, price in enumerate((usd, spot_usd)):
                if price is not None and (row[at] is None or price < row[at]):
                    row[at] = price

    def add_saving(self, vendor, region, name, saving, klass):
        if saving is None or klass is None or not 1 <= saving <= 99 or not 0 <= klass <= 4:
            self.dropped += 1
            return
        key = self.place(vendor, region, name)
        if key:
            self.found[key] = [saving, klass]

    def complete(self):
        """The rows that have a price on demand; the others are counted."""
        good = {key: row for key, row in self.found.items() if row[0] is not None}
        self.dropped += len(self.found) - len(good)
        if not good:
            raise Refused("the answer contains no price of a known type and region")
        return good


# ---- documents ----

def number(value):
    """A number of a JSON document; None for other values."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def number_in(text):
    """The whole text as a plain decimal number; None for other texts."""
    if not isinstance(text, str) or not re.fullmatch(r"-?[0-9.]+(e-?[0-9]+)?", text):
        return None
    try:
        return number(float(text))
    except ValueError:
        return None


def text(value):
    return value if isinstance(value, str) else ""


def inner(value, *keys):
    """The object below these keys; {} if there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def refuse_constant(name):
    raise ValueError(name)


def read_json(document, key, kind, what):
    """The document, and its member `key`, which must be a list or an object."""
    try:
        found = json.loads(document, parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        raise Refused("the answer is not a JSON document") from None
    if not isinstance(found, dict) or not isinstance(found.get(key), kind):
        raise Refused(f"the answer is not {what}")
    return found, found[key]


def read_csv(document, columns, what):
    """The cells of these columns, for each line that has them all."""
    lines = csv.reader(io.StringIO(document.replace("\0", " ")))
    try:
        head = next(lines, [])
        if not set(columns) <= set(head):
            raise Refused(f"the answer is not {what}")
        at = [head.index(column) for column in columns]
        return [[line[i] for i in at] for line in lines if len(line) > max(at)]
    except csv.Error:
        raise Refused(f"the answer is not {what}") from None


# ---- Azure: pages of Items, and NextPageLink ----

# The machine is armSkuName. The same name is used for Windows, for Cloud Services (at the price of Windows) and for Low
# Priority, which only the names of product and meter distinguish.
OTHERS_OF_AZURE = ("Windows", "CloudServices", "Cloud Services", "Low Priority", "Dedicated", "Promo")


def read_azure(rows, vendor, document):
    page, items = read_json(document, "Items", list, "a list of prices")
    for item in items:
        names = [inner(item).get(key) for key in ("productName", "skuName", "meterName")]
        if not all(isinstance(n, str) and not any(o in n for o in OTHERS_OF_AZURE) for n in names) or (
                item.get("type"), item.get("unitOfMeasure"), item.get("currencyCode")) != (
                "Consumption", "1 Hour", "USD"):
            rows.dropped += 1
            continue
        usd, spot = number(item.get("retailPrice")), " Spot" in names[1]
        rows.add(vendor, item.get("armRegionName"), item.get("armSkuName"), None if spot else usd,
                 usd if spot else None)
    return text(page.get("NextPageLink"))


# ---- Amazon: the list behind its price page, and the Spot Advisor ----

AWS_REGIONS = {
    "us-east-1": "US East (N. Virginia)",
    "us-east-2": "US East (Ohio)",
    "us-west-1": "US West (N. California)",
    "us-west-2": "US West (Oregon)",
    "af-south-1": "Africa (Cape Town)",
    "ap-east-1": "Asia Pacific (Hong Kong)",
    "ap-northeast-1": "Asia Pacific (Tokyo)",
    "ap-northeast-2": "Asia Pacific (Seoul)",
    "ap-northeast-3": "Asia Pacific (Osaka)",
    "ap-south-1": "Asia Pacific (Mumbai)",
    "ap-south-2": "Asia Pacific (Hyderabad)",
    "ap-southeast-1": "Asia Pacific (Singapore)",
    "ap-southeast-2": "Asia Pacific (Sydney)",
    "ap-southeast-3": "Asia Pacific (Jakarta)",
    "ap-southeast-4": "Asia Pacific (Melbourne)",
    "ca-central-1": "Canada (Central)",
    "eu-central-1": "EU (Frankfurt)",
    "eu-central-2": "Europe (Zurich)",
    "eu-north-1": "EU (Stockholm)",
    "eu-south-1": "EU (Milan)",
    "eu-south-2": "Europe (Spain)",
    "eu-west-1": "EU (Ireland)",
    "eu-west-2": "EU (London)",
    "eu-west-3": "EU (Paris)",
    "il-central-1": "Israel (Tel Aviv)",
    "me-central-1": "Middle East (UAE)",
    "me-south-1": "Middle East (Bahrain)",
    "sa-east-1": "South America (Sao Paulo)",
    "us-gov-east-1": "AWS GovCloud (US-East)",
    "us-gov-west-1": "AWS GovCloud (US-West)",
}


def read_aws(rows, vendor, document):
    """regions.{long name}.{key}: price (a text) and "Instance Type"."""
    names = {long_name: region for region, long_name in AWS_REGIONS.items()}
    _, regions = read_json(document, "regions", dict, "a list of regions")
    for long_name, region in regions.items():
        for entry in inner(region).values():
            entry = inner(entry)
            rows.add(vendor, names.get(long_name), entry.get("Instance Type"), number_in(entry.get("price")))
    return ""


def read_aws_spot(rows, vendor, document):
    """spot_advisor.{region}.Linux.{type}: s, the saving in percent, and r, the class."""
    _, regions = read_json(document, "spot_advisor", dict, "a list of the Spot Advisor")
    for region, systems in regions.items():
        for name, entry in inner(systems, "Linux").items():
            entry = inner(entry)
            rows.add_saving(vendor, region, name, number(entry.get("s")), number(entry.get("r")))
    return ""


# ---- Google: the pricing calculator of Cyclenerd ----

def read_gcp(rows, vendor, document):
    """compute: instance: TYPE: cost: REGION: hour: 0.1, and hour_spot (YAML). The indentation gives the depth."""
    keys, seen = [], False
    for line in document.splitlines():
        match = re.match(r"( *)([^:# ][^:]*):(.*)", line)
        if not match:
            continue
        depth = len(match[1])
        keys = [*(k for k in keys if k[0] < depth), (depth, match[2])]
        path = [key for _, key in keys[-5:]]
        if len(path) < 5 or (path[0], path[2]) != ("instance", "cost") or path[4] not in ("hour", "hour_spot"):
            continue
        seen, usd = True, number_in(match[3].strip())
        spot = path[4] == "hour_spot"
        rows.add(vendor, path[3], path[1], None if spot else usd, usd if spot else None)
    if not seen:
        raise Refused("the answer is not a list of prices of Google's machines")
    return ""


# ---- Vultr: plans with the locations where they are available now, all with the same price ----

def read_vultr(rows, vendor, document):
    for plan in read_json(document, "plans", list, "a list of plans")[1]:
        plan = inner(plan)
        rows.add(vendor, "global", plan.get("id"), number(plan.get("hourly_cost")))
    return ""


# ---- SkyPilot: tables with a row for each zone ----

def read_skypilot(rows, vendor, document):
    what = "a table with InstanceType, Price, SpotPrice and Region"
    for name, usd, spot, region in read_csv(document, ("InstanceType", "Price", "SpotPrice", "Region"), what):
        if not name:  # the price of a GPU alone
            continue
        if vendor == "gcp" and (vendor, rows.known.server(vendor, name)) in rows.known.gpus:
            rows.dropped += 1  # the list has the price without the GPUs
            continue
        rows.add(vendor, region, name, number_in(usd), number_in(spot))
    return ""


# ---- Karpenter: a table of Amazon's prices, in Go ----

def read_karpenter(rows, vendor, document):
    """`"us-east-1": {` opens a region, `"a1.large": 0.051, "a1.xlarge": 0.102,` are its prices."""
    region, seen = None, False
    for name, value in re.findall(r'"([^"\n]+)"[: ]+(\{|[0-9.e-]+)', document):
        if value == "{":
            region = name
        elif region and number_in(value) is not None:
            seen = True
            rows.add(vendor, region, name, number_in(value))
    if not seen:
        raise Refused("the answer is not a table of prices of Karpenter")
    return ""


# ---- OVHcloud: addons of its order catalogue ----

def read_ovh(rows, vendor, document):
    """The addon "b2-7.consumption" is the machine b2-7 by the hour, in hundred-millionths of a currency unit. Monthly rates,
    Windows and other places have addons with other codes. The catalogue of Ireland is in EUR without tax."""
    catalogue, addons = read_json(document, "addons", list, "a catalogue with addons")
    currency = text(inner(catalogue, "locale").get("currencyCode"))
    if currency != "EUR":
        raise Refused(f"the list is not in EUR but in {currency or 'no known currency'}")
    for addon in addons:
        addon = inner(addon)
        name, dot, kind = text(addon.get("planCode")).rpartition(".")
        if not name or kind != "consumption":
            continue
        pricings = addon.get("pricings")
        prices = [number(p.get("price")) for p in (pricings if isinstance(pricings, list) else [])
                  if isinstance(p, dict) and p.get("type") == "consumption" and p.get("mode", "default") == "default"]
        usd = prices[0] / 1e8 * rows.usd_of_euro if prices and prices[0] is not None else None
        rows.add(vendor, "eu", name, usd)
    return ""


# ---- Scaleway: pages of products, each of one place ----

SCALEWAY_URL = ("https://api.scaleway.com/product-catalog/v2alpha1/public-catalog/products"
                "?page={}&page_size=100")


def scaleway_hour(product):
    """The EUR of an hour; None in another currency or unit. A part of the price that is zero may be left out."""
    price, unit = inner(product, "price", "retail_price"), inner(product, "unit_of_measure")
    units, nanos, size = number(price.get("units")), number(price.get("nanos")), number(unit.get("size"))
    if price.get("currency_code") != "EUR" or not size or size < 1 or (units is None and nanos is None):
        return None
    eur = ((units or 0) + (nanos or 0) / 1e9) / size
    return {"hour": eur, "minute": eur * 60}.get(text(unit.get("unit")))


def read_scaleway(rows, vendor, document, page):
    """A product whose properties have an instance is a machine; others are databases, disks and addresses."""
    answer, products = read_json(document, "products", list, "a list of products")
    for product in products:
        instance = inner(product, "properties").get("instance")
        if not isinstance(instance, dict):
            continue
        if product.get("status", "general_availability") != "general_availability":
            rows.dropped += 1
            continue
        eur = scaleway_hour(product)
        rows.add(vendor, inner(product, "locality").get("zone"), instance.get("offer_id"),
                 None if eur is None else eur * rows.usd_of_euro)
    total = number(answer.get("total_count")) or 0
    return SCALEWAY_URL.format(page + 1) if products and page * 100 < total else ""


# ---- all ----

@dataclass
class PriceList:
    source: str  # in the table
    licence: str
    title: str
    read: object  # (rows, vendor, document) -> URL of the next page, or ""
    urls: dict  # vendor -> addresses, of which the first that is available is read; with {} for a region
    by_region: bool = False  # one request for each named region
    in_euro: bool = False
    has_spots: bool = False  # savings of spot machines and no prices


SKYPILOT_URL = "https://raw.githubusercontent.com/skypilot-org/skypilot-catalog/master/catalogs/{}/{}/vms.csv"

LISTS = {
    "azure": PriceList(
        "azure-retail", "facts", "Azure Retail Prices API", read_azure, {"azure": [
            "https://prices.azure.com/api/retail/prices?api-version=2023-01-01-preview&currencyCode=USD"
            "&$filter=serviceName%20eq%20'Virtual%20Machines'%20and%20priceType%20eq%20'Consumption'"
            "%20and%20armRegionName%20eq%20'{}'"]}, by_region=True),
    "aws": PriceList(
        "aws-list", "facts", "Amazon EC2 on-demand prices", read_aws, {"aws": [
            "https://b0.p.awsstatic.com/pricing/2.0/meteredUnitMaps/ec2/USD/current/"
            "ec2-ondemand-without-sec-sel/{}/Linux/index.json"]}, by_region=True),
    "gcp": PriceList(
        "gcp-calculator", "Apache-2.0", "Cyclenerd/google-cloud-pricing-cost-calculator", read_gcp, {"gcp": [
            "https://raw.githubusercontent.com/Cyclenerd/google-cloud-pricing-cost-calculator/master/pricing.yml"]}),
    "vultr": PriceList(
        "vultr-plans", "facts", "Vultr API, plans", read_vultr, {"vultr": [
            "https://api.vultr.com/v2/plans?per_page=500"]}),
    "skypilot": PriceList(
        "skypilot", "Apache-2.0", "skypilot-org/skypilot-catalog", read_skypilot,
        {vendor: [SKYPILOT_URL.format(version, vendor) for version in ("v8", "v7", "v6", "v5")]
         for vendor in ("aws", "azure", "gcp")}),
    "karpenter": PriceList(
        "karpenter-now", "Apache-2.0", "aws/karpenter-provider-aws, pricing tables as they are now", read_karpenter,
        {"aws": ["https://raw.githubusercontent.com/aws/karpenter-provider-aws/main/pkg/providers/pricing/"
                 "zz_generated.pricing_aws.go"]}),
    "ovh": PriceList(
        "ovh-catalogue", "facts", "OVHcloud order catalogue, cloud", read_ovh, {"ovh": [
            "https://api.ovh.com/v1/order/catalog/public/cloud?ovhSubsidiary=IE"]}, in_euro=True),
    "scaleway": PriceList(
        "scaleway-catalogue", "facts", "Scaleway product catalogue", read_scaleway,
        {"scaleway": [SCALEWAY_URL.format(1)]}, in_euro=True),
    "aws-spot": PriceList(
        "aws-spot-advisor", "facts", "Amazon EC2 Spot Advisor", read_aws_spot, {"aws": [
            "https://spot-bid-advisor.s3.amazonaws.com/spot-advisor-data.json"]}, has_spots=True),
}


def url_for_region(list_id, url, region):
    if list_id == "aws" and region not in AWS_REGIONS:
        raise Refused(f"the list has no region {region}")
    name = AWS_REGIONS[region] if list_id == "aws" else region
    return url.replace("{}", urllib.parse.quote(name, safe=""))


# ---- the price of a euro: the reference rate of the European Central Bank ----

RATE_URL = ("https://data-api.ecb.europa.eu/service/data/EXR/D.USD.EUR.SP00.A"
            "?lastNObservations=1&format=csvdata")


def rate_in(text_):
    """The USD of a euro; None for a text that is not a plausible rate."""
    usd = number_in(text_)
    return usd if usd is not None and 0.5 < usd < 2 else None


def read_rate(document):
    """(USD of a euro, day) of the last row."""
    columns = ("CURRENCY", "CURRENCY_DENOM", "TIME_PERIOD", "OBS_VALUE")
    found = None
    for currency, per, day, value in read_csv(document, columns, "a table of rates"):
        if (currency, per) == ("USD", "EUR") and re.fullmatch(r"\d{4}-\d\d-\d\d", day) and rate_in(value):
            found = rate_in(value), day
    if not found:
        raise Refused("the answer contains no rate of the US dollar to the euro")
    return found
