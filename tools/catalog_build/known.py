"""The facts of a table of servers and prices (data/, or another file of that format) that new prices are matched with."""

import difflib
import re
from pathlib import Path


class Refused(Exception):
    """An input that is not used; the text says why."""


def is_zone_of(region, name):
    """Whether `name`, which begins with the region's name, is one of its zones: us-east-1a, us-central1-a,
    us-east-1-bos-1a. eu-west-9 is not a zone of the region eu."""
    rest = name[len(region):]
    if rest.startswith("-"):
        return "-" in region or len(rest) == 2
    return re.fullmatch("[a-z]", rest) is not None


def is_zone_of_alias(alias, name):
    """The same of another name of a region: fsn1-dc14."""
    return re.fullmatch("|[-0-9].*|[a-z]", name[len(alias):]) is not None


class Known:
    """Vendors, regions and types with their other names, and the prices that the table has."""

    def __init__(self, *paths):
        self.vendors = {}  # id or alias -> id
        self.regions = {}  # vendor -> {id: aliases}
        self.servers = {}  # (vendor, name in lower case) -> name
        self.gpus = set()  # (vendor, name)
        self.prices = {}  # (vendor, region, name) -> (USD, saving, class, source of the saving)
        self.sources = {}  # (vendor, region, name) -> source
        self.looked_up = {}
        for path in paths:
            self.read(path)

    def read(self, path):
        """Add the facts of a file; a later price replaces an earlier one."""
        block = []
        for line in Path(path).read_text(encoding="utf-8").splitlines():
            cells = line.split("\t")
            if not line or line.startswith("#"):
                continue
            if cells[0]:
                block = cells
                self.open(cells)
            else:
                self.row(block, cells)

    def open(self, cells):
        if cells[0] == "vendor":
            for name in [cells[1], *cells[2].split()]:
                if name != "-":
                    self.vendors[name.lower()] = cells[1]
            self.regions.setdefault(cells[1], {})
        elif cells[0] == "region":
            self.regions[cells[1]][cells[2]] = [a.lower() for a in cells[5].split() if a != "-"]

    def row(self, block, cells):
        kind, vendor, name = block[0], block[1], cells[1]
        if kind == "servers":
            self.servers[vendor, name.lower()] = name
        elif kind == "gpus" and int(cells[2]):
            self.gpus.add((vendor, name))
        elif kind == "prices":
            more = [*cells[3:], None, None]
            saving, klass = (None if c in (None, "-", "") else int(c) for c in more[:2])
            spot = block[6] if len(block) > 6 else "-"
            self.prices[vendor, block[2], name] = (float(cells[2]), saving, klass, spot)
            self.sources[vendor, block[2], name] = block[3]

    def vendor(self, name):
        """The id of a vendor, by id or alias; None: unknown."""
        return self.vendors.get(name.lower())

    def region(self, vendor, name):
        """The id of a region, by id, alias or zone; None: unknown."""
        if (vendor, name) not in self.looked_up:
            self.looked_up[vendor, name] = self.find_region(vendor, name)
        return self.looked_up[vendor, name]

    def find_region(self, vendor, name):
        wanted, zone = name.lower(), None
        for region, aliases in self.regions.get(vendor, {}).items():
            id_ = region.lower()
            if wanted == id_:
                return region
            if any(wanted.startswith(a) and is_zone_of_alias(a, wanted) for a in aliases) or (
                    wanted.startswith(id_) and is_zone_of(id_, wanted)):
                zone = region
        return zone

    def server(self, vendor, name):
        """The name of a type, ignoring case; None: unknown."""
        return self.servers.get((vendor, name.lower()))

    def savings_of(self, vendor):
        return sum(1 for (v, _, _), price in self.prices.items() if v == vendor and price[1] is not None)


def nearest(name, names):
    """ " Try: m5.large" for m5.lage; "" if no name is similar."""
    found = difflib.get_close_matches(name, sorted(names), 1)
    return f". Try: {found[0]}" if found else ""
