"""Tests `catalog_build prices --csv`, a site's own prices, and `catalog update --from` with a built file and its hash."""

import hashlib
import http.server
import threading

import pytest

from feed_hosts import ROOT, build, own_prices

import prices
from known import Known, Refused

HEAD = "vendor,region,type,price\n"


def write(rt, name, text):
    path = rt.home / name
    path.write_text(text, encoding="utf-8")
    return path


def first(rt, *flags):
    return rt.run("servers", "--vendor", "aws", "--region", "us-east-1", "--vcpus", "2", "--json", "-n", "1",
                  *flags).json()["servers"][0]


# ---- own prices ----

def test_own_prices_take_the_place_of_list_prices(rt):
    result = own_prices(rt, write(rt, "p.csv", HEAD + "aws,us-east-1,m5.large,0.001\n"))
    assert "1 price is now in" in result.stderr
    told = first(rt)
    assert (told["api_reference"], told["min_price_ondemand"]) == ("m5.large", 0.001)
    assert told["price_quality"] == "negotiated"
    assert first(rt, "--prices", "none")["api_reference"] != "m5.large"


def test_own_prices_become_a_table(rt):
    text = ("# ours\r\nType,Price,vendor,\"region\",saving\r\n"
            "m5.large,0.05,Amazon,us-east-1b,30\r\n\"M5.XLARGE\",\"1\",AWS,US-EAST-1,\r\n")
    out = rt.home / "out.tsv"
    # Spreadsheets begin with a mark.
    result = build(out, "--csv", write(rt, "p.csv", "\ufeff" + text), "--date", "2026-09-01")
    assert result.rc == 0, result.stderr
    assert out.read_text() == (
        "catalogue\t1\t2026-09-01\nsource\timport\t2026-09-01\town\tprices of this site\n"
        "prices\taws\tus-east-1\timport\t2026-09-01\tnegotiated\timport\n"
        "\tm5.large\t0.05000\t30\n\tm5.xlarge\t1.00000\nend\n")
    digest = hashlib.sha256(out.read_bytes()).hexdigest()
    assert (rt.home / "out.tsv.sha256").read_text() == f"{digest}  out.tsv\n"
    assert f"has SHA-256 {digest}" in result.stdout


AWS = ROOT / "data/aws.tsv"
KNOWN = Known(AWS)


@pytest.mark.parametrize("text,words", [
    ("", ":1: empty"),
    ("vendor,region,type\n", ":1: no column price"),
    ("vendor,region,type,price,colour\n", ":1: unknown column colour"),
    ("vendor,vendor,type,price\n", ":1: column vendor appears twice"),
    ("vendor;region;type;price\naws;us-east-1;m5.large;0.1\n", ":1: cells must be separated by commas"),
    (HEAD, ":2: no prices"),
    (HEAD + "aws,us-east-1,m5.large,0\n", ":2: price: not a price in USD an hour: 0"),
    (HEAD + "aws,us-east-1,m5.large,-1\n", ":2: price: not a price"),
    (HEAD + "aws,us-east-1,m5.large,1e3\n", ":2: price: not a price"),
    (HEAD + "aws,us-east-1,m5.large,nan\n", ":2: price: not a price"),
    (HEAD + "aws,us-east-1,m5.large,\n", ":2: price: not a price in USD an hour: (empty)"),
    (HEAD + "aws,us-east-1,m5.large\n", ":2: too few cells"),
    (HEAD + "aws,us-east-1,m5.large,0.1,EUR\n", ":2: more cells than columns"),
    (HEAD + "aws,us-east-1,m5.lage,1\n", ":2: type: unknown type m5.lage. Try: m5.large"),
    (HEAD + "aws,us-east-9,m5.large,1\n", ":2: region: unknown region us-east-9. Try: us-east-"),
    (HEAD + "awz,us-east-1,m5.large,1\n", ":2: vendor: unknown vendor awz. Try: aws"),
    (HEAD + 'aws,"us-east-1,m5.large,1\n', ":2: a quote that is not closed"),
    (HEAD + 'aws,"us-east-1"x,m5.large,1\n', ":2: a quote that is not closed, or text after it"),
    (HEAD + "aws,us-\teast-1,m5.large,1\n", ":2: a control character"),
    (HEAD + "aws,us-east-1,m5.large,1\naws,us-east-1,m5.large,2\n", ":3: the same vendor, region and type as line 2"),
    ("vendor,region,type,price,saving\naws,us-east-1,m5.large,1,101\n", ":2: saving: not a percentage: 101"),
])
def test_a_mistake_names_file_line_and_column(tmp_path, text, words):
    path = tmp_path / "p.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(Refused) as error:
        prices.read_own(path, KNOWN)
    assert f"p.csv{words}" in str(error.value)


def test_a_mistake_in_the_prices_writes_nothing(rt):
    out = rt.home / "out.tsv"
    assert build(out, "--csv", write(rt, "good.csv", HEAD + "aws,us-east-1,m5.large,0.01\n")).rc == 0
    before = out.read_bytes()
    bad = write(rt, "bad.csv", HEAD + "aws,us-east-1,m5.large,0.02\naws,us-east-1,m5.lage,0.02\n")
    for path in bad, rt.home / "none.csv":
        result = build(out, "--csv", path)
        assert result.rc == 1 and "nothing was written" in result.stderr and out.read_bytes() == before
    for date in ("soon", "2026-13-01", "2026-1-1", "2026- 1- 1", "2026-01-00", "2026-01-011"):
        assert not prices.is_date(date), date
    result = build(out, "--csv", bad, "--date", "soon")
    assert result.rc == 2 and "--date soon: not a date" in result.stderr


# ---- a built file ----

TABLE = ("catalogue\t1\t2026-11-01\nsource\tlist\t2026-11-01\tfacts\tby hand\n"
         "prices\taws\tus-east-1\tlist\t2026-11-01\texact\n\tm5.large\t0.00100\nend\n")


def digest_of(text):
    return hashlib.sha256(text.encode()).hexdigest()


def test_a_file_is_taken_by_the_hash_that_is_given_or_stands_beside_it(rt):
    path = write(rt, "built.tsv", TABLE)
    for flags in ([], ["--sha256", digest_of(TABLE).upper()]):
        if not flags:
            write(rt, "built.tsv.sha256", f"{digest_of(TABLE)}  built.tsv\n")
        result = rt.run("catalog", "update", "--from", path, *flags)
        assert result.rc == 0, result.stderr
        kept = next(rt.home.rglob("prices.tsv"))
        assert f"1 price is now in {kept}\n" in result.stderr
        assert kept.read_text() == TABLE and kept.stat().st_mode & 0o777 == 0o600
        assert [p.name for p in kept.parent.iterdir()] == ["prices.tsv"]  # no temporary file
        told = first(rt)
        assert (told["min_price_ondemand"], told["price_source"]) == (0.001, "list")
        kept.unlink()


@pytest.mark.parametrize("text,beside,flags,words", [
    (TABLE, None, [], "Try: --sha256 HASH"),
    (TABLE, "", [], "does not begin with a SHA-256 hash"),
    (TABLE, "0" * 63, [], "does not begin with a SHA-256 hash"),
    (TABLE, "0" * 64, [], f"built.tsv is another file, or damaged: its SHA-256 is {digest_of(TABLE)}"),
    (TABLE, digest_of(TABLE), ["--sha256", "0" * 64], "its SHA-256 is"),
    (TABLE[:-4], digest_of(TABLE), [], "is another file, or damaged"),
    (TABLE[:-4], digest_of(TABLE[:-4]), [], "cut short"),
    ("not a table\n", digest_of("not a table\n"), [], "not a catalogue"),
    ("", digest_of(""), [], "not a catalogue"),
])
def test_a_file_with_a_wrong_hash_or_content_changes_nothing(rt, text, beside, flags, words):
    path = write(rt, "built.tsv", text)
    if beside is not None:
        write(rt, "built.tsv.sha256", beside)
    result = rt.run("catalog", "update", "--from", path, *flags)
    assert result.rc == 1 and words in result.stderr and "nothing was changed" in result.stderr
    assert result.stderr.count("\n") == 1
    assert not list(rt.home.rglob("prices.tsv"))


def test_a_file_that_is_missing(rt):
    result = rt.run("catalog", "update", "--from", rt.home / "none.tsv", "--sha256", "0" * 64)
    assert result.rc == 1 and "none.tsv: cannot read" in result.stderr


def test_a_file_from_an_address(rt):
    class Host(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = {"/p.tsv": TABLE, "/p.tsv.sha256": digest_of(TABLE) + "  p.tsv\n"}.get(self.path, "").encode()
            self.send_response(200 if body else 404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *words):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Host)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_port}"
    assert rt.run("catalog", "update", "--from", f"{base}/p.tsv").rc == 0
    assert first(rt)["price_source"] == "list"
    result = rt.run("catalog", "update", "--from", f"{base}/none.tsv", "--sha256", digest_of(TABLE))
    assert result.rc == 1 and "answered 404" in result.stderr
    server.shutdown()
    server.server_close()
    for url in ("http://192.0.2.1/p.tsv", "file:///etc/passwd", "http://127.0.0.1@192.0.2.1/p.tsv"):
        result = rt.run("catalog", "update", "--from", url, "--sha256", "0" * 64)
        assert result.rc == 1 and "not an address" in result.stderr


@pytest.mark.parametrize("words,instead", [
    (["import", "own.csv"], "catalog import has gone. Use: python3 tools/catalog_build prices OUT --csv FILE, then"),
    (["update", "--from", "azure"], "python3 tools/catalog_build prices FILE --from azure, then"),
    (["update", "--from", "aws-spot", "--region", "aws/us-east-1"], "prices FILE --from aws-spot, then"),
    (["update", "--eur-usd", "1.16"], "--eur-usd has gone. Use: python3 tools/catalog_build prices OUT --eur-usd RATE"),
    (["update", "--date=2026-01-31"], "--date has gone. Use: python3 tools/catalog_build prices OUT --csv FILE --date DATE"),
    (["update", "--json"], "catalog: --json is for info"),
    (["update", "--from", "x.tsv", "--url", "https://keeper.example"], "--url is for the Keeper"),
    (["update", "--from", "x.tsv", "--region", "aws/us-east-1"], "--region is for the Keeper"),
    (["update", "--from", "x.tsv", "--force"], "--force is for the Keeper"),
    (["update", "--sha256", "0" * 64], "--sha256 is for a file"),
    (["update", "--from", "x.tsv", "--sha256", "0" * 65], "not 64 hexadecimal digits"),
    (["update", "--from", "x.tsv", "--sha256", "x" * 64], "not 64 hexadecimal digits"),
    ([], "needs one of: info, search, update"),
])
def test_what_was_removed_or_does_not_fit_is_told(rt, words, instead):
    result = rt.run("catalog", *words)
    assert result.rc == 2 and instead in result.stderr and result.stderr.count("\n") == 1
