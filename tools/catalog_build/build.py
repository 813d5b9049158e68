"""Reads the inputs and builds one Catalogue per vendor."""

import csv
import gzip
import re
from collections import defaultdict
from pathlib import Path

import disks
import places
import rules

# id -> (date of the facts, licence, title)
SOURCES = {
    "karpenter-aws": ("2026-07-20", "Apache-2.0", "aws/karpenter-provider-aws, pricing tables"),
    "karpenter-azure": ("2026-06-18", "Apache-2.0",
                        "Azure/karpenter-provider-azure, pricing tables"),
    "cyclenerd-gcp": ("2026-07-30", "Apache-2.0, parts CC-BY-4.0",
                      "Cyclenerd/google-cloud-pricing-cost-calculator"),
    "cyclenerd-coremark": ("2026-03-01", "Apache-2.0, parts CC-BY-4.0",
                           "Cyclenerd/google-cloud-compute-machine-types"),
    "libcloud-aws": ("2023-08-06", "Apache-2.0", "apache/libcloud, ratios between regions only"),
    "autoscaler-aws": ("2026-01-22", "Apache-2.0", "kubernetes/autoscaler, AWS types"),
    "autoscaler-azure": ("2026-03-17", "Apache-2.0", "kubernetes/autoscaler, Azure types"),
    "spot-advisor": ("2025-06-28", "Apache-2.0",
                     "AWS Spot Advisor as stored by alexei-led/spotinfo"),
    "vantage-aws": ("2026-07-06", "MIT", "vantage-sh/ec2instances.info, CoreMark runs"),
    "own": ("2026-11-01", "facts", "naming rules and public documentation of the vendors"),
    "list-hetzner": ("2026-08-17", "facts", "list prices of Hetzner in EUR at 1.1567"),
    "list-ovh": ("2026-08-14", "facts", "list prices of OVHcloud in EUR at 1.1567"),
    "list-upcloud": ("2026-06-15", "facts", "list prices of UpCloud in EUR at 1.1567"),
    "list-scaleway": ("2026-08-14", "facts", "list prices of Scaleway in EUR at 1.1567"),
    "list-vultr": ("2025-12-18", "facts", "list prices of Vultr, month / 672 h"),
    "sparecores": ("2026-01-31", "CC-BY-SA-4.0", "Spare Cores, SpareCores/sc-data-dumps"),
    "sparecores-inspector": ("2026-08-22", "CC-BY-SA-4.0",
                             "Spare Cores, SpareCores/sc-inspector-data"),
}

COLUMNS = {
    "servers": "type vcpus memory_mib arch allocation threads_per_core flags",
    "gpus": "type count model vram_mib_each fraction",
    "memory": "type usable_mib",
    "storage": "type local_gb",
    "coremark": "type iterations_per_s",
    "stressng": "type one_thread all_threads",
    "prices": "type usd_per_hour spot_saving_percent interruption_class",
}


def read(folder, name):
    path = Path(folder) / name
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8", newline="") as f:
        yield from csv.DictReader(f)


class Catalogue:
    """The known facts about one vendor's servers. Every fact is in a block that names its source."""

    def __init__(self, vendor):
        self.vendor = vendor
        self.blocks = defaultdict(dict)  # (kind, region, source, quality, spot source) -> rows
        self.specs = {}  # type -> (vCPU, MiB)
        self.dropped = defaultdict(int)
        self.unsized = set()  # types with a price and without a specification
        self.priced = defaultdict(dict)  # type -> region -> units
        self.scored = set()

    def add(self, kind, name, values, source, quality="exact", region="-", spot="-"):
        self.blocks[kind, region, source, quality, spot][name] = tuple(values)

    def drop(self, why):
        self.dropped[why] += 1

    def server(self, name, vcpus, memory_mib, source, arch="x86_64", category="",
               quality="exact"):
        if name in self.specs:
            return
        arch = rules.arch(self.vendor, name, arch)
        self.specs[name] = (vcpus, memory_mib)
        threads = rules.threads_per_core(self.vendor, name, arch)
        self.add("servers", name,
                 (vcpus, memory_mib, arch, rules.allocation(self.vendor, name, category),
                  threads or "-", self.flags(name)), source, quality)

    def flags(self, name):
        """The column `flags`: flags of the hardware, and whether the type is of a previous generation."""
        found = [] if rules.flags(self.vendor, name) == "-" else [rules.flags(self.vendor, name)]
        if rules.is_previous_generation(self.vendor, name):
            found.append("previous")
        return ",".join(found) or "-"

    def price(self, region, name, units, source, quality="exact", saving=None, klass=None,
              spot="-"):
        if name not in self.specs:
            self.unsized.add(name)
            return self.drop("price of a type without specification")
        if saving is not None and not 0 <= saving < 100:
            saving, klass = None, None  # the spot price exceeds the on-demand price
            self.drop("spot saving out of range")
        if saving is None:
            spot = "-"
        self.priced[name][region] = units
        self.add("prices", name, (units, "-" if saving is None else saving,
                                  "-" if klass is None else klass), source, quality, region, spot)
        return None

    def gpus(self, table):
        for name in self.specs:
            if re.search(r"accel|fpga", rules.flags(self.vendor, name)):
                continue
            found = rules.gpus(self.vendor, name, table)
            if found:
                self.add("gpus", name, (found[0], found[1], found[2], found[3] or "-"), "own")

    def disks(self):
        for name, (vcpus, _) in self.specs.items():
            found = disks.disk_gb(self.vendor, name, vcpus)
            if found:
                self.add("storage", name, (found,), "own", "rule")

    def coremark(self, measured, source):
        vcpus = {name: spec[0] for name, spec in self.specs.items()
                 if rules.flags(self.vendor, name) in ("-", "metal")}
        for name, score in measured.items():
            if name in self.specs:
                self.add("coremark", name, (score,), source)
                self.scored.add(name)
        for name, score in rules.family_scores(self.vendor, measured, vcpus).items():
            self.add("coremark", name, (score,), source, "family")
            self.scored.add(name)

    def mark_low_outliers(self):
        """Move prices far below the type's median over the regions to separate blocks of quality "low". Prices so
        far below that they must be errors are removed."""
        for name, prices in self.priced.items():
            for region in rules.misprints(prices):
                del prices[region]
                self.drop("price far below every other region's")
                for key, rows in self.blocks.items():
                    if key[0] == "prices" and key[1] == region:
                        rows.pop(name, None)
        low = {name: rules.low_outliers(prices) for name, prices in self.priced.items()}
        for key in [k for k in self.blocks if k[0] == "prices"]:
            kind, region, source, _, spot = key
            for name in [n for n in self.blocks[key] if region in low.get(n, ())]:
                self.blocks[kind, region, source, "low", spot][name] = self.blocks[key].pop(name)


def gpu_table(folder):
    rows = [(r["vendor"], r["type_regex"], int(r["gpu_count_if_fixed"] or 0), r["model"],
             int(r["vram_mib_per_gpu_or_share"]), r["fraction_of_gpu"] or "-")
            for r in read(folder, "permissive/gpu_map_own.csv")]
    return rules.MORE_GPUS + rows  # MORE_GPUS first, because its patterns are more specific


def build_aws(folder):
    cat = Catalogue("aws")
    home, gov = {}, defaultdict(dict)
    for r in read(folder, "permissive/aws_ondemand_karpenter_2026-07-20.csv"):
        units = rules.usd(r["ondemand_per_hour"])
        if r["currency"] != "USD":
            cat.drop("not in USD")
        elif units is None:
            cat.drop("price zero")
        elif r["region"] == "us-east-1":
            home[r["instance_type"]] = units
        else:
            gov[r["region"]][r["instance_type"]] = units
    for r in read(folder, "permissive/specs_k8s_autoscaler.csv"):
        if r["vendor"] == "aws":
            cat.server(r["instance_type"], int(r["vcpu"]), int(r["memory_mib"]),
                       "autoscaler-aws", r["arch"])
    for name in {*home, *(n for prices in gov.values() for n in prices)}:
        found = rules.aws_by_name(name)
        if found:
            cat.server(name, *found, "own", quality="rule")
    seen = {}  # type -> (threads, MiB of memory that the guest sees)
    for r in read(folder, "permissive/aws_coremark_vantage_2026-07-06.csv"):
        seen[r["instance_type"]] = (int(r["threads"]), int(r["memory_total_mb_in_guest"] or 0))
    for name, (threads, guest) in seen.items():
        found = rules.aws_by_guest(threads, guest)
        # The guest's data does not name the GPUs of a GPU type. Leave such a type out rather than list it without GPUs.
        if found and not re.match(r"g\d", name):
            cat.server(name, *found, "vantage-aws", quality="rule")
    old, spot = defaultdict(dict), {}
    for r in read(folder, "permissive/aws_ec2_linux_libcloud_2023-08-06.csv.gz"):
        units = rules.usd(r["usd_per_hour"])
        if units and "." in r["instance_type"] and not places.is_restricted("aws", r["region"]):
            old[r["region"]][r["instance_type"]] = units
    for r in read(folder, "permissive/aws_spot_advisor_2025-06-28.csv.gz"):
        spot[r["region"], r["instance_type"]] = (int(r["savings_pct_vs_ondemand"]),
                                                 int(r["interruption_class_0to4"]))
    for name, units in home.items():
        saving, klass = spot.get(("us-east-1", name), (None, None))
        cat.price("us-east-1", name, units, "karpenter-aws", "exact", saving, klass,
                  "spot-advisor")
    for region, prices in gov.items():
        for name, units in prices.items():
            cat.price(region, name, units, "karpenter-aws")
    ratios = rules.region_ratios(old, home)
    for region in sorted(old):
        if region == "us-east-1":
            continue
        for name in sorted(set(home) & (set(old[region]) | {t for r, t in spot if r == region})):
            ratio = rules.region_ratio(ratios, region, rules.family_of("aws", name))
            saving, klass = spot.get((region, name), (None, None))
            if ratio:
                cat.price(region, name, round(home[name] * ratio), "libcloud-aws", "est", saving,
                          klass, "spot-advisor")
    measured = {}
    for r in read(folder, "permissive/aws_coremark_vantage_2026-07-06.csv"):
        name = r["instance_type"]
        measured[name] = int(r["coremark_iter_per_s"])
        guest = seen[name][1]
        if name in cat.specs and 0 < guest <= cat.specs[name][1]:
            cat.add("memory", name, (guest,), "vantage-aws")
    cat.gpus(gpu_table(folder))
    cat.disks()
    cat.coremark(measured, "vantage-aws")
    cat.mark_low_outliers()
    return cat


def build_azure(folder):
    cat = Catalogue("azure")
    rows = []
    for r in read(folder, "permissive/azure_ondemand_karpenter_2026-06-18.csv.gz"):
        units = rules.usd(r["usd_per_hour_corrected"])
        if not rules.is_azure_vm(r["arm_sku_name"]):
            cat.drop("not a plain VM")
        elif units is None:
            cat.drop("price zero")
        else:
            rows.append((r["region"], r["arm_sku_name"], units,
                         "corrected" if r["corrected"] == "1" else "exact"))
    for r in read(folder, "permissive/specs_k8s_autoscaler.csv"):
        if r["vendor"] == "azure" and rules.is_azure_vm(r["instance_type"]):
            vcpus = rules.azure_vcpus(r["instance_type"], int(r["vcpu"]))
            memory_mib = rules.AZURE_MIB.get(r["instance_type"], int(r["memory_mib"]))
            cat.server(r["instance_type"], vcpus, memory_mib, "autoscaler-azure", r["arch"])
    known = dict(cat.specs)
    for name in sorted({row[1] for row in rows} - set(known)):
        found = rules.azure_by_name(name, known)
        if found:
            cat.server(name, *found, "own", quality="rule")
    for region, name, units, quality in rows:
        cat.price(region, name, units, "karpenter-azure", quality)
    cat.gpus(gpu_table(folder))
    cat.disks()
    cat.mark_low_outliers()
    return cat


def build_gcp(folder):
    cat = Catalogue("gcp")
    for r in read(folder, "permissive/gcp_ondemand_spot_cyclenerd_2026-07-30.csv.gz"):
        name, units = r["machine_type"], rules.usd(r["usd_per_hour"])
        if r["offered_in_region"] != "1":
            cat.drop("not offered in the region")
        elif name.startswith("custom") or not float(r["vcpu"] or 0):
            cat.drop("not a machine type")
        elif units is None:
            cat.drop("price zero")
        else:
            cat.server(name, rules.vcpus("gcp", name, r["vcpu"]),
                       round(float(r["memory_gb"]) * 1024), "cyclenerd-gcp")
            spot = rules.usd(r["usd_per_hour_spot"])
            saving = round(100 * (1 - spot / units)) if spot else None
            cat.price(r["region"], name, units, "cyclenerd-gcp", saving=saving,
                      spot="cyclenerd-gcp")
    scores = {r["machine_type"]: int(r["coremark"])
              for r in read(folder, "permissive/gcp_coremark_cyclenerd.csv")}
    for name in scores:
        found = rules.gcp_by_name(name)
        if found:
            cat.server(name, *found, "own", quality="rule")
    cat.gpus(gpu_table(folder))
    cat.disks()
    cat.coremark(scores, "cyclenerd-coremark")
    cat.mark_low_outliers()
    return cat


def build_small(folder):
    cats = {v: Catalogue(v) for v in ("hetzner", "ovh", "scaleway", "upcloud")}
    for r in read(folder, "no-licence-stated/eu_cloud_prices_2026-08-17.csv.gz"):
        cat = cats.get(r["provider"])
        if not cat:
            continue
        if not rules.bills_by_the_hour(r["provider"], r["eur_per_hour"]):
            cat.drop("no price by the hour")
            continue
        if not rules.is_linux_product(r["id"]):
            cat.drop("Windows")
            continue
        source = "list-" + cat.vendor
        cat.server(r["id"], int(float(r["vcpu"])), round(float(r["ram_gb"]) * 1024), source,
                   r["arch"])
        cat.price(r["location"], r["id"], rules.usd(float(r["eur_per_hour"]) * rules.EUR_USD),
                  source)
        if float(r["disk_gb"] or 0) > 0:
            cat.add("storage", r["id"], (round(float(r["disk_gb"])),), source)
    vultr = Catalogue("vultr")
    for r in read(folder, "no-licence-stated/vultr_plans_2025-12-18.csv"):
        units = rules.usd(float(r["usd_per_month"]) / rules.VULTR_HOURS)
        if r["plan_id"].endswith("-sc1"):
            vultr.drop("plan of single locations")
        elif units is None:
            vultr.drop("price zero")
        else:
            vultr.server(r["plan_id"], int(r["vcpu"]), round(float(r["ram_gb"]) * 1024),
                         "list-vultr")
            vultr.price("global", r["plan_id"], units, "list-vultr", "est")
            vultr.add("storage", r["plan_id"], (int(float(r["disk_gb"])),), "list-vultr")
    cats["vultr"] = vultr
    table = gpu_table(folder)
    for cat in cats.values():
        cat.gpus(table)
    return [cats[v] for v in sorted(cats)]


def build_sparecores(folder, cats):
    """The data under CC BY-SA 4.0: stress-ng scores, further types, disks. Returns one Catalogue per vendor."""
    ours = {cat.vendor: cat for cat in cats}
    more = defaultdict(lambda: None)
    rename = {"hcloud": "hetzner"}

    def of(vendor):
        if more[vendor] is None:
            more[vendor] = Catalogue(vendor)
        return more[vendor]

    def spelt(vendor, name):
        """The spelling of a name in this catalogue. The lists of UpCloud types differ in case."""
        if vendor == "upcloud":
            return next((n for n in ours[vendor].specs if n.lower() == name.lower()), name)
        return name

    for r in read(folder, "cc-by-sa-4.0/sparecores_servers_2026-01-31.csv.gz"):
        vendor = rename.get(r["vendor_id"], r["vendor_id"])
        name, cat = spelt(vendor, r["api_reference"]), of(vendor)
        known = ours[vendor].specs if vendor in ours else {}
        if r["status"] != "ACTIVE":
            cat.drop("inactive")
            continue
        if name not in known:
            cat.server(name, int(r["vcpus"]), int(r["memory_amount"]), "sparecores",
                       r["cpu_architecture"], r["cpu_allocation"].lower())
            count = int(float(r["gpu_count"] or 0))
            if count and rules.flags(vendor, name) in ("-", "metal") and r["gpu_model"]:
                total = int(float(r["gpu_memory_total"] or 0))
                cat.add("gpus", name, (count, r["gpu_model"], total // count or "-", "-"),
                        "sparecores")
        disk = round(float(r["storage_size"] or 0))
        has = any(k[0] == "storage" and name in rows
                  for k, rows in (ours[vendor].blocks.items() if vendor in ours else ()))
        if disk and not has:
            cat.add("storage", name, (disk,), "sparecores")
    for r in read(folder, "cc-by-sa-4.0/sparecores_inspector_stressng_2026-08-22.csv.gz"):
        vendor = rename.get(r["vendor_id"], r["vendor_id"])
        name, cat = spelt(vendor, r["api_reference"]), of(vendor)
        known = name in cat.specs or (vendor in ours and name in ours[vendor].specs)
        if not r["stress_ng_best1"] or not r["stress_ng_bestn"]:
            cat.drop("no score")
        elif not known:
            cat.drop("score of an unknown type")
        else:
            best1, bestn = float(r["stress_ng_best1"]), float(r["stress_ng_bestn"])
            cat.add("stressng", name, (round(best1), round(bestn)), "sparecores-inspector")
            cat.scored.add(name)
    for vendor in ("aws", "azure", "gcp"):  # vendors whose families each have one processor
        if not more[vendor]:
            continue
        types = {**ours[vendor].specs, **more[vendor].specs}
        vcpus = {name: spec[0] for name, spec in types.items()
                 if rules.flags(vendor, name) in ("-", "metal")}
        measured = more[vendor].blocks["stressng", "-", "sparecores-inspector", "exact", "-"]
        for name, speeds in rules.family_speeds(vendor, measured, vcpus).items():
            more[vendor].add("stressng", name, speeds, "sparecores-inspector", "family")
            more[vendor].scored.add(name)
    return [more[v] for v in sorted(more) if more[v]]
