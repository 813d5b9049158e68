"""Writes a file of prices for `resource-tracker catalog update --from FILE`, and its hash into FILE.sha256.

The prices come from public price lists (--from, with --region for those that have one answer a region) and from a site's own
CSV (--csv). Of two prices of one type in one region the later one on the command line counts, and those of the CSV before
all. Nothing is written if an answer is not such a list, if a region lost more than half of its prices, or if the median of
the types with a price before and after moved by more than 30 %; --force accepts a loss and a move."""

import argparse
import csv
import datetime
import hashlib
import os
import re
import statistics
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import feeds
from known import Known, Refused, nearest

DOCUMENT_MAX = 64 << 20
PAGES_MAX = 1000
TIMEOUT_S = 120
TRIES, WAIT_S = 4, 60  # Azure requires a minute after "busy"
DATA = Path(__file__).resolve().parents[2] / "data"


# ---- fetching ----

class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *arguments):
        return None


def fetch(url, mirror):
    """The document of an https address as text; with a mirror: of MIRROR/HOST/PATH."""
    asked = f"{mirror}/{url.removeprefix('https://')}" if mirror else url
    opener = urllib.request.build_opener(NoRedirect)
    request = urllib.request.Request(asked, headers={"User-Agent": "resource-tracker"})
    for attempt in range(TRIES):
        try:
            with opener.open(request, timeout=TIMEOUT_S) as answer:
                document = answer.read(DOCUMENT_MAX + 1)
            break
        except urllib.error.HTTPError as error:
            if error.code not in (429, 503):
                raise Refused(f"{asked}: answered {error.code}") from None
            if attempt == TRIES - 1:
                raise Refused(f"{asked}: busy ({error.code}). Try: again in a minute") from None
            print(f"catalog_build: {asked}: busy, next try in a minute", file=sys.stderr)
            time.sleep(0 if mirror else WAIT_S)
        except (OSError, ValueError) as error:
            raise Refused(f"{asked}: {error}") from None
    if len(document) > DOCUMENT_MAX:
        raise Refused(f"{asked}: the answer is too long")
    return document.decode("utf-8", "replace")


def read_pages(rows, price_list, vendor, url, mirror):
    """A document with the pages that follow it, all from the same host."""
    first = urllib.parse.urlsplit(url)
    for page in range(1, PAGES_MAX + 1):
        document = fetch(url, mirror)
        more = {"page": page} if price_list.read is feeds.read_scaleway else {}
        url = price_list.read(rows, vendor, document, **more)
        if not url:
            return
        try:
            next_page = urllib.parse.urlsplit(url)
        except ValueError:
            next_page = None
        if not next_page or next_page[:2] != first[:2]:
            raise Refused(f"{first.geturl()}: its next page is not read: {url}")
    raise Refused(f"{first.geturl()}: its next page is not read: too many pages")


def read_first(rows, price_list, vendor, urls, mirror):
    """The first available document of a vendor."""
    for url in urls:
        try:
            return read_pages(rows, price_list, vendor, url, mirror)
        except Refused:
            if url == urls[-1]:
                raise
    return None


def read_list(list_id, regions, known, euro, mirror):
    """The rows of a list; `regions`: those of its vendor, for a list by regions."""
    price_list = feeds.LISTS[list_id]
    rows = feeds.Rows(known, euro)
    for vendor, urls in price_list.urls.items():
        if not price_list.by_region:
            read_first(rows, price_list, vendor, urls, mirror)
        for region in regions if price_list.by_region else []:
            url = feeds.url_for_region(list_id, urls[0], region)
            read_pages(rows, price_list, vendor, url, mirror)
    return rows


def find_rate(given, mirror):
    """(USD of a euro, its origin for the title)."""
    if given:
        return feeds.rate_in(given), "given"
    try:
        usd, day = feeds.read_rate(fetch(feeds.RATE_URL, mirror))
    except Refused as why:
        raise Refused(f"the price of a euro is not known: {why}. Try: --eur-usd RATE") from None
    return usd, f"ECB, {day}"


# ---- a site's own prices ----

COLUMNS = {"vendor": "vendor", "vendor_id": "vendor", "region": "region", "region_id": "region", "type": "type",
           "instance_type": "type", "api_reference": "type", "price": "price", "ondemand": "price",
           "usd_per_hour": "price", "saving": "saving"}


def cells_of(line):
    if any(ord(c) < 32 or ord(c) == 127 for c in line):
        raise Refused("a control character")
    try:
        return [cell.strip(" ") for cell in next(csv.reader([line], strict=True))]
    except csv.Error:
        raise Refused("a quote that is not closed, or text after it") from None


def columns_of(line):
    """The column of each cell of the first line."""
    columns = []
    for name in cells_of(line):
        column = COLUMNS.get(name.lower())
        if not column and ";" in name:
            raise Refused("cells must be separated by commas")
        if not column:
            raise Refused(f"unknown column {name}")
        if column in columns:
            raise Refused(f"column {name} appears twice")
        columns.append(column)
    for column in ("vendor", "region", "type", "price"):
        if column not in columns:
            raise Refused(f"no column {column}")
    return columns


def place_of(row, known):
    """(vendor, region, type) of a row of the CSV."""
    vendor = known.vendor(row["vendor"])
    if not vendor:
        raise Refused(f"vendor: unknown vendor {row['vendor']}{nearest(row['vendor'], known.regions)}")
    region = known.region(vendor, row["region"])
    if not region:
        raise Refused(f"region: unknown region {row['region']}{nearest(row['region'], known.regions[vendor])}")
    name = known.server(vendor, row["type"])
    if not name:
        names = [n for (v, _), n in known.servers.items() if v == vendor]
        raise Refused(f"type: unknown type {row['type']}{nearest(row['type'], names)}")
    return vendor, region, name


def price_of(row):
    """(USD an hour, saving in percent or None)."""
    price, saving = row["price"], row.get("saving", "")
    if not re.fullmatch(r"[0-9]+\.?[0-9]*|\.[0-9]+", price) or not feeds.PRICES[0] <= float(price) < feeds.PRICES[1]:
        raise Refused(f"price: not a price in USD an hour: {price or '(empty)'}")
    if saving in ("", "-"):
        return float(price), None
    if not re.fullmatch("[0-9]{1,3}", saving) or int(saving) > 100:
        raise Refused(f"saving: not a percentage: {saving}")
    return float(price), int(saving)


def read_own(path, known):
    """(vendor, region, type) -> (USD, saving), from CSV whose first line names the columns."""
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, ValueError) as error:
        raise Refused(f"{path}: cannot read: {error}") from None
    found, columns = {}, None
    for number, line in enumerate(lines, 1):
        if not line or line.startswith("#"):
            continue
        try:
            if not columns:
                columns = columns_of(line)
                continue
            cells = cells_of(line)
            if len(cells) != len(columns):
                raise Refused("too few cells" if len(cells) < len(columns) else "more cells than columns")
            row = dict(zip(columns, cells))
            place = place_of(row, known)
            if place in found:
                raise Refused(f"the same vendor, region and type as line {found[place][2]}")
            found[place] = (*price_of(row), number)
        except Refused as why:
            raise Refused(f"{path}:{number}: {why}") from None
    if not found:
        raise Refused(f"{path}:{len(lines) + 1}: " + (
            "no prices" if columns else "empty; the first line names the columns"))
    return {place: price[:2] for place, price in found.items()}


# ---- whether new prices are plausible ----

def by_region(prices):
    """(vendor, region) -> {type: USD}."""
    groups = {}
    for (vendor, region, name), usd in prices.items():
        groups.setdefault((vendor, region), {})[name] = usd
    return groups


def judge(price_list, rows, before):
    """Compare the rows of a list with the prices before it; refuse a region that lost or moved too much."""
    old = by_region({place: price[0] for place, price in before.prices.items()})
    new = by_region({place: row[0] for place, row in rows.items()})
    places = set(new)
    if not price_list.by_region:  # such a list has all its regions each time, so that a missing one is a loss
        places |= {place[:2] for place, source in before.sources.items() if source == price_list.source}
    for vendor, region in sorted(places):
        had, has = old.get((vendor, region), {}), new.get((vendor, region), {})
        if len(has) * 2 < len(had):
            raise Refused(f"{vendor} ({region}) has {len(has)} prices in the answer, {len(had)} before. Try: --force")
        both = set(had) & set(has)
        if not both:
            continue
        was, now = (statistics.median(prices[name] for name in both) for prices in (had, has))
        if not 0.7 * was <= now <= 1.3 * was:
            raise Refused(f"the median price of {vendor} ({region}) would go from {was:.4f} to {now:.4f} USD/h. "
                          "Try: --force")


def judge_savings(rows, known):
    """Refuse a list of savings that has less than half of those of the table."""
    for vendor in sorted({place[0] for place in rows}):
        n = sum(1 for place in rows if place[0] == vendor)
        if n * 2 < known.savings_of(vendor):
            raise Refused(f"{vendor} has {n} savings in the answer, {known.savings_of(vendor)} before. Try: --force")


# ---- the file ----

def lines_of_list(price_list, rows, date, known):
    """The blocks of a list, one a region. Where a list has no spot prices, the known saving stays."""
    lines = []
    for vendor, region in sorted({place[:2] for place in rows}):
        group = {place[2]: row for place, row in rows.items() if place[:2] == (vendor, region)}
        if price_list.has_spots:
            lines.append(f"spots\t{vendor}\t{region}\t{price_list.source}\t{date}\texact")
            lines += [f"\t{name}\t{row[0]:.0f}\t{row[1]:.0f}" for name, row in sorted(group.items())]
            continue
        has_spot = any(spot is not None for _, spot in group.values())
        known_ones = {name: known.prices.get((vendor, region, name)) for name in group}
        spot_source = price_list.source if has_spot else next(
            (p[3] for p in known_ones.values() if p and p[1] is not None), "-")
        lines.append(f"prices\t{vendor}\t{region}\t{price_list.source}\t{date}\texact\t{spot_source}")
        for name, (usd, spot) in sorted(group.items()):
            saving, klass = known_ones[name][1:3] if known_ones[name] and not has_spot else (None, None)
            if spot is not None and 0.5 <= 100 * (1 - spot / usd) < 99.5:
                saving = round(100 * (1 - spot / usd))
            cells = [name, f"{usd:.5f}", *(str(c) for c in (saving, klass) if c is not None and saving is not None)]
            lines.append("\t" + "\t".join(cells))
    return lines


def lines_of_own(prices, date):
    lines = []
    for vendor, region in sorted({place[:2] for place in prices}):
        lines.append(f"prices\t{vendor}\t{region}\timport\t{date}\tnegotiated\timport")
        for (_, _, name), (usd, saving) in sorted(p for p in prices.items() if p[0][:2] == (vendor, region)):
            lines.append(f"\t{name}\t{usd:.5f}" + (f"\t{saving}" if saving is not None else ""))
    return lines


def write_file(path, text):
    """Replace a file by a temporary one of the same folder."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_bytes(text.encode())
    os.replace(temporary, path)


def tables_of(options):
    return sorted(Path(options.catalog).glob("*.tsv"))


def build(options, known, regions):
    """The text of the file, and a sentence for each source."""
    before = known
    if options.lists and options.out.exists():
        before = Known(*tables_of(options), options.out)
    today = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    sources, parts, said = [], [], []
    for list_id in options.lists:
        price_list, title = feeds.LISTS[list_id], feeds.LISTS[list_id].title
        euro = None
        if price_list.in_euro:
            euro, origin = find_rate(options.eur_usd, options.mirror)
            title += f", EUR at {euro:.4f} USD ({origin})"
        rows = read_list(list_id, regions.get(list_id, []), known, euro, options.mirror)
        good = rows.complete()
        if not options.force:
            judge_savings(good, known) if price_list.has_spots else judge(price_list, good, before)
        sources.append(f"source\t{price_list.source}\t{today}\t{price_list.licence}\t{title}")
        parts.append((price_list, good))
        said.append(f"{len(good)} {'savings' if price_list.has_spots else 'prices'} of {list_id}, "
                    f"{rows.dropped} rows left out")
    own = read_own(options.csv, known) if options.csv else {}
    if own:
        date = options.date or today
        sources.append(f"source\timport\t{date}\town\tprices of this site")
        said.append(f"{len(own)} prices of {options.csv}")
    lines = []
    taken = set(own)
    for price_list, good in reversed([p for p in parts if not p[0].has_spots]):
        rows = {place: row for place, row in good.items() if place not in taken}
        taken |= set(rows)
        lines = lines_of_list(price_list, rows, today, known) + lines
    lines += lines_of_own(own, options.date or today)
    for price_list, good in parts:  # the savings are added to the prices above
        lines += lines_of_list(price_list, good, today, known) if price_list.has_spots else []
    head = f"catalogue\t1\t{max([today] if parts else [options.date or today])}"
    return "\n".join([head, *sources, *lines, "end", ""]), said


# ---- the command line ----

def parse(arguments):
    parser = argparse.ArgumentParser(prog="catalog_build prices", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, metavar="FILE")
    parser.add_argument("--from", dest="lists", action="append", default=[], choices=sorted(feeds.LISTS))
    parser.add_argument("--region", default="", metavar="VENDOR/NAME,..", help="for lists with one answer a region")
    parser.add_argument("--csv", help="own prices; the first line names vendor, region, type, price and maybe saving")
    parser.add_argument("--date", help="day of the own prices, 2026-01-31 (default: today)")
    parser.add_argument("--eur-usd", metavar="RATE", help="price of a euro (default: the European Central Bank's rate)")
    parser.add_argument("--force", action="store_true", help="accept a list that lost or moved too much")
    parser.add_argument("--catalog", default=DATA, metavar="FOLDER", help="tables of the known types (default: data/)")
    parser.add_argument("--mirror", metavar="URL", help="fetch URL/HOST/PATH instead of https://HOST/PATH")
    options = parser.parse_args(arguments)
    if not options.lists and not options.csv:
        parser.error("needs --from LIST or --csv FILE")
    if options.date and not is_date(options.date):
        parser.error(f"--date {options.date}: not a date such as 2026-01-31")
    if options.eur_usd and feeds.rate_in(options.eur_usd) is None:
        parser.error(f"--eur-usd {options.eur_usd}: not the price of a euro in USD, such as 1.16")
    if options.eur_usd and not any(feeds.LISTS[i].in_euro for i in options.lists):
        parser.error("--eur-usd is for lists in EUR: ovh, scaleway")
    known = Known(*tables_of(options))
    return options, known, regions_of(parser, options, known)


def is_date(text):
    try:
        return bool(re.fullmatch(r"\d{4}-\d\d-\d\d", text)) and bool(datetime.date.fromisoformat(text))
    except ValueError:
        return False


def regions_of(parser, options, known):
    """The regions of each list by regions, from the option --region."""
    regional = {next(iter(feeds.LISTS[i].urls)): i for i in options.lists if feeds.LISTS[i].by_region}
    regions = {list_id: [] for list_id in regional.values()}
    for word in filter(None, options.region.split(",")):
        vendor, slash, name = word.partition("/")
        if not slash:
            parser.error(f"--region {word}: not of the form VENDOR/REGION, such as aws/us-east-1")
        if known.vendor(vendor) is None:
            parser.error(f"unknown vendor {vendor}{nearest(vendor, known.regions)}")
        region = known.region(known.vendor(vendor), name)
        if region is None:
            parser.error(f"unknown region {name}{nearest(name, known.regions[known.vendor(vendor)])}")
        if known.vendor(vendor) not in regional:
            parser.error(f"--region {word}: no list of --from has one answer a region of {vendor}")
        regions[regional[known.vendor(vendor)]].append(region)
    for vendor, list_id in regional.items():
        if not regions[list_id]:
            parser.error(f"--from {list_id} needs regions. Try: --region {vendor}/NAME,..")
    return regions


def main(arguments):
    options, known, regions = parse(arguments)
    try:
        text, said = build(options, known, regions)
        digest = hashlib.sha256(text.encode()).hexdigest()
        write_file(options.out, text)
        write_file(options.out.with_name(options.out.name + ".sha256"), f"{digest}  {options.out.name}\n")
    except (Refused, OSError) as why:
        sys.exit(f"catalog_build: {why}; nothing was written")
    for sentence in said:
        print(sentence)
    print(f"{options.out} has SHA-256 {digest}")
