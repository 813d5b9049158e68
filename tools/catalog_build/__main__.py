"""Writes the table of servers and prices (data/) from a folder of inputs.

    python3 tools/catalog_build INPUTS [OUT]       OUT: data/
    python3 tools/catalog_build prices FILE ...    prices of public lists or of a site (prices.py)

The same inputs give the same bytes. docs/catalog.md describes the inputs and the format.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import build  # noqa: E402
import checks  # noqa: E402
import places  # noqa: E402
import prices  # noqa: E402
import reach  # noqa: E402

FORMAT = 1
SHARED = "sparecores.tsv"  # the only file under CC BY-SA 4.0


def natural(name):
    """Sort key by which m5.2xlarge comes before m5.12xlarge."""
    return [(0, int(part), "") if part.isdigit() else (1, 0, part)
            for part in re.findall(r"\d+|\D+", name)], name


def dollars(units):
    whole, part = divmod(units, 100000)
    return f"{whole}.{part:05}".rstrip("0").rstrip(".") if part else str(whole)


def cell(kind, at, value):
    return dollars(value) if kind == "prices" and at == 0 else str(value)


def write_vendor(out, vendor):
    name, aliases, step, minimum, note = places.VENDORS[vendor]
    out.append(f"vendor\t{vendor}\t{aliases}\t{name}\t{step}\t{minimum}\t{note}")


def write_regions(out, cat):
    used = {key[1] for key in cat.blocks if key[0] == "prices"}
    known = {region[0] for region in places.regions(cat.vendor)}
    if used - known:
        sys.exit(f"catalog_build: {cat.vendor}: no place for region {sorted(used - known)}")
    for region, country, place, aliases in places.regions(cat.vendor):
        if region in used:
            flags = "restricted" if places.is_restricted(cat.vendor, region) else "-"
            out.append(f"region\t{cat.vendor}\t{region}\t{country}\t{flags}\t{aliases}\t{place}")


def write_blocks(out, cat):
    order = list(build.COLUMNS)
    for key in sorted(cat.blocks, key=lambda k: (order.index(k[0]), *k[1:])):
        kind, region, source, quality, spot = key
        rows = cat.blocks[key]
        if not rows:
            continue
        where = f"\t{region}" if kind == "prices" else ""
        after = f"\t{spot}" if kind == "prices" else ""
        date = build.SOURCES[source][0]
        out.append(f"{kind}\t{cat.vendor}{where}\t{source}\t{date}\t{quality}{after}")
        for name in sorted(rows, key=natural):
            cells = [name, *(cell(kind, at, value) for at, value in enumerate(rows[name]))]
            while cells[-1] == "-":  # unknown cells at the end of a row are left out
                cells.pop()
            out.append("\t" + "\t".join(cells))


def write_file(path, cats, notes, places_too=True):
    used = sorted({s for cat in cats for k, rows in cat.blocks.items() if rows
                   for s in (k[2], k[4]) if s != "-"})
    newest = max((build.SOURCES[s][0] for s in used if s != "own"),
                 default=build.SOURCES["own"][0])
    out = [f"# {line}" if line else "#" for line in notes]
    out += [f"# {kind}: {columns}" for kind, columns in build.COLUMNS.items()]
    out.append(f"catalogue\t{FORMAT}\t{newest}")
    for source in used:
        out.append("source\t" + "\t".join([source, *build.SOURCES[source]]))
    for cat in cats:
        write_vendor(out, cat.vendor)
        if places_too:
            write_regions(out, cat)
    for cat in cats:
        write_blocks(out, cat)
    out.append("end")
    path.write_text("\n".join(out) + "\n", encoding="utf-8")


def coverage(cat, shared):
    """One line of the printed table: how many types have prices, specifications and scores."""
    priced = set(cat.priced)
    gpus = {n for k, rows in cat.blocks.items() if k[0] == "gpus" for n in rows}
    prices = sum(len(v) for v in cat.priced.values())
    unspecified = cat.dropped.get("price of a type without specification", 0)
    total = prices + unspecified
    unsized = len(cat.unsized)
    stored = sum(len(rows) for key, rows in cat.blocks.items() if key[0] == "storage")
    stressng = set()
    if shared:
        stressng = {n for k, rows in shared.blocks.items() if k[0] == "stressng" for n in rows}
    return (f"{cat.vendor:9} {len(cat.specs):6} {len(priced):7} {unsized:8} {prices:7} "
            f"{100 * prices / total if total else 0:7.1f} % {len(gpus):6} "
            f"{len(cat.scored):9} {len((cat.scored | stressng) & set(cat.specs)):10} {stored:6}")


def main(inputs, out):
    out.mkdir(parents=True, exist_ok=True)
    cats = [build.build_aws(inputs), build.build_azure(inputs), build.build_gcp(inputs),
            *build.build_small(inputs)]
    shared = build.build_sparecores(inputs, cats)
    for cat in cats:
        write_file(out / f"{cat.vendor}.tsv", [cat], [
            f"{places.VENDORS[cat.vendor][0]}: servers and list prices, Linux, USD an hour.",
            "Written by tools/catalog_build; see docs/catalog.md and data/NOTICE.", ""])
    write_file(out / SHARED, shared, [
        "Scores and further server types from Spare Cores (https://sparecores.com).",
        "Licence of this file: CC BY-SA 4.0, https://creativecommons.org/licenses/by-sa/4.0/",
        "Sources: https://github.com/SpareCores/sc-data-dumps and sc-inspector-data.",
        "Changes: columns chosen, known errors of architecture corrected, scores reduced to one",
        "thread (first row) and all threads (maximum); those of quality \"family\" are medians of",
        "the types that share the processor.",
        "Written by tools/catalog_build; an optional file beside the program, never part of it.",
        ""], places_too=False)
    by_vendor = {cat.vendor: cat for cat in shared}
    print("vendor     types  priced  unsized  prices  with spec   gpus  coremark  any score  disks")
    for cat in cats:
        print(coverage(cat, by_vendor.get(cat.vendor)))
    types, prices = sum(len(c.specs) for c in cats), sum(
        len(v) for c in cats for v in c.priced.values())
    extra = sum(len(c.specs) for c in shared)
    print(f"total {types} types and {prices} prices; {SHARED} adds {extra} types "
          f"and {sum(len(c.scored) for c in shared)} scores")
    print(checks.estimates(cats[0], inputs))
    print(checks.naming_rules(cats))
    print(checks.local_disks(cats, inputs))
    print(reach.reach(inputs, cats))
    for cat in [*cats, *shared]:
        for why, count in sorted(cat.dropped.items()):
            print(f"left out, {cat.vendor}: {count} x {why}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["prices"]:
        sys.exit(prices.main(sys.argv[2:]))
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2] if len(sys.argv) > 2 else "data"))
