"""Tests `catalog_build prices --from`: lists in EUR, from a local server."""

import json

import pytest

from feed_hosts import hosts, offer, table, update  # noqa: F401

import feeds
from known import Refused


# ---- lists in EUR ----

ECB = "/data-api.ecb.europa.eu/service/data/EXR/D.USD.EUR.SP00.A"
OVH = "/api.ovh.com/v1/order/catalog/public/cloud"
SCALEWAY = "/api.scaleway.com/product-catalog/v2alpha1/public-catalog/products"


def ecb(rate="1.2000", currency="USD", day="2026-11-20"):
    return ("KEY,FREQ,CURRENCY,CURRENCY_DENOM,EXR_TYPE,EXR_SUFFIX,TIME_PERIOD,OBS_VALUE,OBS_STATUS,TITLE\r\n"
            f"EXR.D.{currency}.EUR.SP00.A,D,{currency},EUR,SP00,A,{day},{rate},A,"
            '"US dollar/Euro, ECB reference"\r\n')


def ovh_addon(code, price, kind="consumption"):
    return {"planCode": code, "invoiceName": code.split(".")[0], "product": "publiccloud-instance",
            "pricingType": kind, "pricings": [{
                "capacities": [kind], "commitment": 0, "interval": 0, "intervalUnit": "none",
                "mode": "default", "phase": 0, "price": price, "tax": 0, "type": kind}],
            "blobs": {"technical": {"cpu": {"cores": 2}, "memory": {"size": 7}}}}


def ovh_catalogue(prices, currency="EUR"):
    """The catalogue, from prices in USD an hour at 1.2 USD a euro."""
    addons = [ovh_addon(f"{name}.consumption", round(usd / 1.2 * 1e8)) for name, usd in prices.items()]
    return {"catalogId": 7, "locale": {"currencyCode": currency, "subsidiary": "IE", "taxRate": 23},
            "plans": [{"planCode": "project.2018"}], "products": [], "addons": addons}


def test_ovhs_catalogue_is_in_euro_at_the_banks_rate(rt, hosts):
    prices = {**table(rt, "ovh", "eu"), "b2-7": 0.072}
    document = ovh_catalogue(prices)
    document["addons"] += [
        ovh_addon("win-b2-7.consumption", 1), ovh_addon("b2-7.monthly.postpaid", 2200000000, "rental"),
        ovh_addon("b2-7.consumption.LZ", 1), ovh_addon("snapshot.consumption", 1),
        ovh_addon("b2-15.consumption", 1, "rental"), {"planCode": 7}, "x"]
    hosts.documents[OVH], hosts.documents[ECB] = document, ecb()
    result = update(rt, hosts, "--from", "ovh")
    assert result.rc == 0, result.stderr
    assert [a.split("?")[1] for a in hosts.asked] == ["lastNObservations=1&format=csvdata",
                                                      "ovhSubsidiary=IE"]
    told = offer(rt, hosts, "ovh", "gra", "b2-7")
    assert (told["min_price_ondemand"], told["price_quality"]) == (0.072, "exact")
    assert "3 rows left out" in result.stdout  # Windows, the snapshot, the month
    assert offer(rt, hosts, "ovh", "gra", "b2-15")["min_price_ondemand"] == prices["b2-15"]
    sources = rt.run("catalog", "info", "--json", env=hosts.env).json()["sources"]
    title = next(s["title"] for s in sources if s["id"] == "ovh-catalogue")
    assert title.endswith(", EUR at 1.2000 USD (ECB, 2026-11-20)")


def test_a_rate_can_be_given_and_nobody_is_asked_for_it(rt, hosts):
    hosts.documents[OVH] = ovh_catalogue({**table(rt, "ovh", "eu"), "b2-7": 0.06})
    result = update(rt, hosts, "--from", "ovh", "--eur-usd", "1.1")
    assert result.rc == 0, result.stderr
    assert len(hosts.asked) == 1
    assert offer(rt, hosts, "ovh", "eu", "b2-7")["min_price_ondemand"] == 0.055
    sources = rt.run("catalog", "info", env=hosts.env).stdout
    assert "EUR at 1.1000 USD (given)" in sources
    assert "50 prices of ovh, 0 rows left out" in result.stdout


@pytest.mark.parametrize("body", [
    "", "<html>x</html>", "CURRENCY,CURRENCY_DENOM\nUSD,EUR\n", ecb("0"), ecb("nan"), ecb("117"),
    ecb(currency="JPY"), ecb(day="yesterday"), ecb().splitlines()[0], "\0\ufffd\n\0"])
def test_what_is_no_rate_is_refused(body):
    assert feeds.read_rate(ecb()) == (1.2, "2026-11-20")
    with pytest.raises(Refused):
        feeds.read_rate(body)


@pytest.mark.parametrize("body", [None, ecb("0")])
def test_without_a_rate_no_list_in_euro_is_read(rt, hosts, body):
    hosts.documents[OVH], hosts.documents[ECB] = ovh_catalogue(table(rt, "ovh", "eu")), body
    result = update(rt, hosts, "--from", "ovh")
    assert result.rc == 1 and result.stderr.count("\n") == 1
    assert "the price of a euro is not known" in result.stderr and "--eur-usd" in result.stderr
    assert not hosts.built.exists()


@pytest.mark.parametrize("body,words", [
    (lambda prices: ovh_catalogue(prices, "USD"), "not in EUR but in USD"),
    (lambda prices: {**ovh_catalogue(prices), "locale": None}, "no known currency"),
    (lambda prices: {"addons": {}}, "not a catalogue with addons"),
    (lambda prices: {**ovh_catalogue(prices), "addons": []}, "no price"),
    (lambda prices: ovh_catalogue(dict(list(prices.items())[:10])), "ovh (eu) has 10 prices"),
    (lambda prices: ovh_catalogue({n: 2 * usd for n, usd in prices.items()}), "median price of ovh (eu)"),
    (lambda prices: json.dumps(ovh_catalogue(prices))[:-40], "not a JSON document"),
])
def test_a_wrong_catalogue_of_ovh_changes_nothing(rt, hosts, body, words):
    hosts.documents[OVH] = body(table(rt, "ovh", "eu"))
    result = update(rt, hosts, "--from", "ovh", "--eur-usd", "1.2")
    assert result.rc == 1 and words in result.stderr, result.stderr
    assert not hosts.built.exists()


def scaleway_product(name, eur, unit="hour", **more):
    return {"sku": f"/compute/{name.lower()}/run_par1", "service_category": "Compute",
            "product_category": "Instance", "product": name, "variant": f"{name} - fr-par-1",
            "locality": {"zone": "fr-par-1"}, "status": "general_availability",
            "price": {"retail_price": {"currency_code": "EUR", "units": int(eur),
                                       "nanos": round(eur % 1 * 1e9)}},
            "properties": {"hardware": {"cpu": {"virtual": {"count": 2}}, "ram": {"size": 2147483648}},
                           "instance": {"range": "Development", "offer_id": name}},
            "unit_of_measure": {"unit": unit, "size": 1}, **more}


def scaleway_pages(products, size=100):
    def page(query):
        at = (int(query["page"][0]) - 1) * size
        assert query["page_size"] == [str(size)]
        return {"products": products[at:at + size], "total_count": len(products)}
    return page


def test_scaleways_products_are_read_by_pages(rt, hosts):
    prices = table(rt, "scaleway", "fr-par-1")
    products = [scaleway_product(name, usd / 1.2) for name, usd in prices.items()
                if name not in ("DEV1-S", "DEV1-M")]
    traps = [
        scaleway_product("DEV1-S", 0.001, unit="month"), scaleway_product("DEV1-S", 0.001, status="preview"),
        scaleway_product("DEV1-S", 0.001, locality={"zone": "atlantis-1"}),
        scaleway_product("DEV1-S", 0.001, price={"retail_price": {"currency_code": "USD", "units": 1}}),
        scaleway_product("DEV1-S", 0.001, price={}), scaleway_product("NEW-1", 0.001),
        scaleway_product("DEV1-S", 0.001, unit_of_measure={"unit": "hour", "size": 0})]
    others = [scaleway_product("DEV1-S", 0.001, properties={"object_storage": {}}), 7, None]
    products = products[:50] + traps + others + products[50:]
    products += [scaleway_product("DEV1-S", 0.01), scaleway_product("DEV1-M", 0.02 / 60, unit="minute")]
    hosts.documents[SCALEWAY], hosts.documents[ECB] = scaleway_pages(products), ecb()
    result = update(rt, hosts, "--from", "scaleway")
    assert result.rc == 0, result.stderr
    assert len(hosts.asked) == 1 + -(-len(products) // 100)
    assert offer(rt, hosts, "scaleway", "fr-par", "DEV1-S")["min_price_ondemand"] == 0.012
    assert offer(rt, hosts, "scaleway", "fr-par", "DEV1-M")["min_price_ondemand"] == 0.024
    assert f"{len(traps)} rows left out" in result.stdout
    assert f"{len(prices)} prices of scaleway" in result.stdout


def test_scaleways_total_that_is_never_reached_ends(rt, hosts):
    prices = table(rt, "scaleway", "fr-par-1")
    products = [scaleway_product(name, usd / 1.2) for name, usd in prices.items()]
    hosts.documents[SCALEWAY] = lambda query: {
        "products": products if query["page"] == ["1"] else [], "total_count": 1e9}
    result = update(rt, hosts, "--from", "scaleway", "--eur-usd", "1.2")
    assert result.rc == 0 and len(hosts.asked) == 2
    hosts.documents[SCALEWAY] = {"products": products[:30], "total_count": 30}
    result = update(rt, hosts, "--from", "scaleway", "--eur-usd", "1.2")
    assert result.rc == 1 and "scaleway (fr-par-1) has 30 prices" in result.stderr
