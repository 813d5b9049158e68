"""Rules that derive facts from the name of a server type, and that reject rows of a price list which are not prices
of a Linux virtual machine. Pure functions, which the tests call directly.
"""

import re
from collections import defaultdict
from statistics import median

EUR_USD = 1.1567  # ECB reference rate of 2026-08-14
VULTR_HOURS = 672  # Vultr's hourly price is its monthly price divided by this number of hours

# Vendors that bill by the month. An hourly figure in a list is their monthly price divided by 730.
MONTHLY_VENDORS = {"contabo", "netcup", "hostinger", "euronodes", "infomaniak", "atlanticcloud"}


def usd(text):
    """A price in units of 1e-5 USD; None if the text is not a price (empty, zero, negative)."""
    try:
        value = float(text)
    except (TypeError, ValueError):
        return None
    units = round(value * 1e5)
    return units if 0 < units < 2**32 else None


def is_linux_product(text):
    """False for names of products and SKUs for Windows, or that are not a virtual machine."""
    return not re.search(r"windows|-win$|cloud ?services|low priority|dedicated ?host|\bspot\b", text,
                         re.IGNORECASE)


def is_azure_vm(name):
    """Whether a name in Azure's price list is a virtual machine that every customer can order."""
    return (bool(re.fullmatch(r"Standard_[A-Z][A-Za-z0-9_-]*", name)) and is_linux_product(name)
            and not re.search(r"_Promo$|_SPECIAL$|_ADHType|_Type|PLACEHOLDER|SQLG7", name))


def bills_by_the_hour(vendor, hourly):
    """False for vendors and plans that are billed by the month."""
    return vendor not in MONTHLY_VENDORS and usd(hourly) is not None


def vcpus(vendor, name, listed):
    """Number of vCPUs that a guest sees. Lists may contain the share of a core that is paid for instead."""
    if vendor == "gcp" and GCP_SHARED_CORE.match(name):
        return 2 if name.startswith("e2-") else 1
    return max(1, round(float(listed)))


# --- architecture ------------------------------------------------------------------------------

GCP_ARM = re.compile(r"(t2a|c4a|n4a|a4x)-")
GCP_SHARED_CORE = re.compile(r"(e2-(micro|small|medium)|f1-micro|g1-small)$")


def arch(vendor, name, listed="x86_64"):
    """x86_64, arm64, x86_64_mac or arm64_mac. The vendor's naming takes precedence over the list."""
    listed = {"amd64": "x86_64", "x86": "x86_64", "": "x86_64"}.get(listed.lower(), listed.lower())
    if vendor == "gcp":
        return "arm64" if GCP_ARM.match(name) else "x86_64"
    if vendor == "aws":
        family = name.split(".")[0]
        if family.startswith("mac"):
            return "x86_64_mac" if family == "mac1" else "arm64_mac"
        match = re.match(r"[a-z]+\d+([a-z]*)", family)
        if family == "a1" or (match and match[1].startswith("g")):
            return "arm64"
        return "x86_64" if listed != "arm64" else "arm64"
    if vendor == "azure":
        match = re.match(r"Standard_[A-Z]+\d+(?:-\d+)?([a-z]*)_v\d", name)
        if match and "p" in match[1]:
            return "arm64"
    return listed


def threads_per_core(vendor, name, architecture):
    """Number of vCPUs that share a core: 2 with SMT, 1 without, None if not known."""
    if architecture.startswith("arm64"):
        return 1
    if vendor == "aws":
        if re.match(r"(c|m|r|hpc)(7a|8a)", name) or name.startswith(("t1.", "m1.", "t2.", "x8aed")):
            return 1
        return 2
    if vendor == "gcp":
        return 1 if name.startswith(("t2d-", "h3-", "h4d-")) else 2
    if vendor == "azure":
        if re.match(r"Standard_(A\d|D\d+_v2|DS\d+_v2|F\d+s?$|HB|HC|H\d)", name):
            return 1
        if re.match(r"Standard_[DEF]\d+(-\d+)?a[a-z]*_v[67]", name):
            return 1 if name.startswith("Standard_F") else 2
        return 2
    return None


def allocation(vendor, name, category=""):
    """dedicated, shared or burstable."""
    if vendor == "aws":
        family = name.split(".")[0]
        return "burstable" if re.match(r"t\d", family) or family.endswith("-flex") else "dedicated"
    if vendor == "azure":
        return "burstable" if re.match(r"Standard_B\d", name) else "dedicated"
    if vendor == "gcp":
        # Shared-core types get an eighth to a half of each vCPU, and can burst above that.
        return "burstable" if GCP_SHARED_CORE.match(name) else "dedicated"
    if vendor == "hetzner":
        return "dedicated" if name.startswith("ccx") else "shared"
    if vendor == "ovh":
        return "shared" if name.startswith("d2-") else "dedicated"
    if vendor == "upcloud":
        return "shared"
    if vendor == "vultr":
        return "dedicated" if name.startswith("voc-") else "shared"
    if vendor == "scaleway":
        return "dedicated" if re.match(r"POP2|STANDARD|COMPUTE|MEMORY|RENDER", name) else "shared"
    return category or "dedicated"


def flags(vendor, name):
    """Special hardware, separated by commas: metal, mac, accel (an accelerator that is not a GPU), fpga; "-" if
    none."""
    found = []
    if ".metal" in name or (vendor == "gcp" and name.endswith("-metal")) or \
            (vendor == "ovh" and name.startswith("bm-")):
        found.append("metal")
    if vendor == "aws":
        if name.startswith("mac"):
            found.append("mac")
        if re.match(r"(inf|trn|dl|vt)\d", name):
            found.append("accel")
        if re.match(r"f\d", name):
            found.append("fpga")
    if vendor == "azure" and re.match(r"Standard_(NP|PB)\d", name):
        found.append("fpga")
    if vendor == "azure" and re.match(r"Standard_NM\d", name):
        found.append("accel")
    if vendor == "gcp" and re.match(r"ct\d", name):
        found.append("accel")
    return ",".join(found) or "-"


# --- previous generations ----------------------------------------------------------------------

# Families that the vendor lists as a previous generation, no longer sells to new customers, or has announced to
# discontinue. From the vendors' public pages, November 2026.
PREVIOUS_GENERATIONS = {
    "aws": r"(t1|m[1-4]|c[134]|cc[12]|cg1|cr1|r[34]|g[23]s?|p2|i2|d2|h1|hs1|hi1|a1|f1)\.",
    "azure": r"(Basic|Standard)_("
             r"A\d+m?(_v2)?$"
             r"|B\d+(ls|ms|s)$"
             r"|DS?\d+(-\d+)?i?(_v2)?$|D\d+s?_v3$|E\d+(-\d+)?i?s?_v3$"
             r"|F\d+s?(_v2)?$|GS?\d+(-\d+)?$|L\d+s(_v2)?$"
             r"|H\d+m?r?$|HB\d+(-\d+)?rs(_v2)?$|HC\d+(-\d+)?rs$"
             r"|NC\d+r?(s_v[23])?$|ND\d+r?s(_v2)?$|NV\d+(s_v[23]|as_v4)?$"
             r"|DC\d+s(_v2)?$|NP\d+s$)",
    "gcp": r"(f1|g1|n1|m1)-",
    "hetzner": r"(cx\d[12]|cpx\d1)$",
    "ovh": r"(b2|c2|r2|s1)-",
    "scaleway": r"START1-|X64-|VC1",
    "alicloud": r"ecs\.(t1|s[123]|m[12]|c[124]|ce4|cm4|n[124]|mn4|xn4|e[34]|sn[12]|se1)\.",
}


def is_previous_generation(vendor, name):
    """Whether the vendor offers a successor of this type's family instead."""
    pattern = PREVIOUS_GENERATIONS.get(vendor)
    return bool(pattern and re.match(pattern, name))


# --- vCPU and memory by name -------------------------------------------------------------------

GIB_PER_VCPU = {"c": 2, "m": 4, "r": 8}

# (vCPUs, GiB) of types that no licensed list contains, from the vendor's public pages.
AWS_PUBLIC = {
    "g2.2xlarge": (8, 15), "g2.8xlarge": (32, 60), "g3s.xlarge": (4, 30.5),
    "g3.4xlarge": (16, 122), "g3.8xlarge": (32, 244), "g3.16xlarge": (64, 488),
    "p2.xlarge": (4, 61), "p2.8xlarge": (32, 488), "p2.16xlarge": (64, 732),
    "cr1.8xlarge": (32, 244), "i3.metal": (72, 512), "u-9tb1.112xlarge": (448, 9216),
    "u-12tb1.112xlarge": (448, 12288), "u-18tb1.112xlarge": (448, 18432),
    "u-24tb1.112xlarge": (448, 24576), "hpc6a.48xlarge": (96, 384),
    "hpc6id.32xlarge": (64, 1024), "hpc7a.12xlarge": (24, 768), "hpc7a.24xlarge": (48, 768),
    "hpc7a.48xlarge": (96, 768), "hpc7a.96xlarge": (192, 768), "p6-b300.48xlarge": (192, 4096),
    "i8g.metal-48xl": (192, 1536), "cc2.8xlarge": (32, 60.5),
}


def aws_by_name(name):
    """(vCPU, MiB) of a c, m or r type of generation 6 or later, or None."""
    if name in AWS_PUBLIC:
        vcpus, gib = AWS_PUBLIC[name]
        return vcpus, int(gib * 1024)
    match = re.fullmatch(r"([cmr])(\d+)[a-z]*(?:-flex)?\.(?:metal-)?(\d*)(medium|large|xlarge|xl)",
                         name)
    if not match or int(match[2]) < 6:
        return None
    letter, _, times, size = match.groups()
    if size in ("xlarge", "xl"):
        vcpus = 4 * int(times or 1)
    elif times:
        return None
    else:
        vcpus = {"medium": 1, "large": 2}[size]
    return vcpus, vcpus * GIB_PER_VCPU[letter] * 1024


# The ratios of GiB to vCPUs that Amazon offers, in ascending order.
AWS_GIB_PER_VCPU = (0.5, 1, 2, 4, 8, 32 / 3, 16, 32)


def aws_by_guest(threads, guest_mib):
    """(vCPU, MiB) of a type from the figures that its guest sees: the smallest offered size that is at least the
    guest's memory; None if the guest's memory is below 90 % of it."""
    for gib in AWS_GIB_PER_VCPU:
        memory_mib = round(threads * gib * 1024)
        if threads and memory_mib >= guest_mib:
            return (threads, memory_mib) if guest_mib >= 0.9 * memory_mib else None
    return None


def gcp_by_name(name):
    """(vCPU, MiB) of Google's storage types, whose names contain the vCPUs, or None."""
    match = re.fullmatch(r"z3-highmem-(\d+)", name)
    return match and (int(match[1]), int(match[1]) * 8 * 1024)


AZURE_NAME = re.compile(r"Standard_([A-Z]+)(\d+)(?:-(\d+))?([a-z]*)"
                        r"(?:-(\d+))?((?:_\d+)?_v\d+)?")


def azure_family(name):
    """(family, vCPUs, constrained vCPUs or None), e.g. Eads_v6, 8, 2; or None."""
    match = AZURE_NAME.fullmatch(name)
    if not match:
        return None
    letters, vcpus, constrained, features, later, version = match.groups()
    constrained = constrained or later
    return letters + features + (version or ""), int(vcpus), constrained and int(constrained)


def azure_gib(family, vcpus):
    """GiB of a D, E or F type of version 6 or 7, or None."""
    match = re.fullmatch(r"([DEF])([a-z]*)_v([67])", family)
    if not match:
        return None
    letter, features, version = match.groups()
    if letter == "E":
        odd = vcpus == 96 and version == "6" and re.search("[ap]", features)
        return 672 if odd else 8 * vcpus
    if letter == "D":
        return 2 * vcpus if "l" in features else 4 * vcpus
    if "l" in features:
        return 2 * vcpus
    return 8 * vcpus if "m" in features else 4 * vcpus


def azure_vcpus(name, listed):
    """Number of vCPUs of a constrained size (2 for E8-2as_v5), else the listed number. Lists contain some constrained
    sizes with the vCPUs of the full size."""
    parts = azure_family(name)
    return parts[2] if parts and parts[2] else listed


# (vCPUs, GiB) of types that no licensed list contains, from the vendor's public pages.
AZURE_PUBLIC = {
    "Standard_D15i_v2": (20, 140), "Standard_DS15i_v2": (20, 140),
    "Standard_E96ias_v5": (96, 672), "Standard_E96iads_v5": (96, 672),
}

# Types of less than 1 GiB, whose memory a list in whole GiB rounds to 0.
AZURE_MIB = {"Standard_B1ls": 512}


def azure_by_name(name, known):
    """(vCPU, MiB) from the full size in `known` (name -> (vCPU, MiB)) or from naming rules, or None."""
    if name in AZURE_PUBLIC:
        vcpus, gib = AZURE_PUBLIC[name]
        return vcpus, gib * 1024
    parts = azure_family(name)
    if not parts:
        return None
    family, vcpus, constrained = parts
    if constrained:
        base = known.get(re.sub(r"-\d+", "", name, count=1))
        if base:
            return constrained, base[1]
    gib = azure_gib(family, vcpus)
    if gib is None:
        return None
    return constrained or vcpus, gib * 1024


# --- GPUs ----------------------------------------------------------------------------

# GPUs that the input file lacks: (vendor, pattern, count, model, MiB each, fraction of a GPU).
MORE_GPUS = [
    ("aws", r"g6f\.x?large", 1, "L4", 2861, "0.125"),
    ("aws", r"g6f\.2xlarge", 1, "L4", 5722, "0.25"),
    ("aws", r"gr?6f\.4xlarge", 1, "L4", 11444, "0.5"),
    ("aws", r"g2\.2xlarge", 1, "GRID K520", 4096, "-"),
    ("aws", r"g2\.8xlarge", 4, "GRID K520", 4096, "-"),
    ("ovh", r"t2-(le-)?45", 1, "Tesla V100S", 32768, "-"),
    ("ovh", r"t2-(le-)?90", 2, "Tesla V100S", 32768, "-"),
    ("ovh", r"t2-(le-)?180", 4, "Tesla V100S", 32768, "-"),
    ("scaleway", r"RENDER-S", 1, "Tesla P100", 16384, "-"),
]

AZURE_GPUS_PER_SIZE = [  # the number of GPUs follows from the size in the name
    (r"Standard_NC(\d+)r?(s_v[23])?", {6: 1, 12: 2, 24: 4}),
    (r"Standard_NC(\d+)as_T4_v3", {4: 1, 8: 1, 16: 1, 64: 4}),
    (r"Standard_NC(\d+)ads_A100_v4", {24: 1, 48: 2, 96: 4}),
    (r"Standard_NC(\d+)adi?s_H100_v5", {40: 1, 80: 2}),
    (r"Standard_NC(\d+)ads_A10_v4", {8: 1, 16: 1, 32: 2}),
    (r"Standard_ND(\d+)r?s", {6: 1, 12: 2, 24: 4}),
    (r"Standard_NV(\d+)(s_v2)?", {6: 1, 12: 2, 24: 4}),
    (r"Standard_NV(\d+)s_v3", {12: 1, 24: 2, 48: 4}),
]


def gpus(vendor, name, table):
    """(count, model, MiB each, fraction or "-") of a type's GPUs, or None. `table`: rows as in MORE_GPUS."""
    for rule in table:
        if rule[0] == vendor and re.fullmatch(rule[1], name):
            count = rule[2]
            if not count and vendor == "azure":
                for pattern, counts in AZURE_GPUS_PER_SIZE:
                    match = re.fullmatch(pattern, name)
                    if match:
                        count = counts.get(int(match[1]), 0)
                        break
            count = count or (1 if vendor == "azure" else 0)
            return (count, rule[3], rule[4], rule[5]) if count else None
    return None


# --- scores and regional prices ----------------------------------------------------------------

def family_of(vendor, name):
    """The family of a type, whose types share a processor: m5 of m5.large, c3 of c3-standard-4."""
    if vendor == "aws":
        return name.split(".")[0]
    if vendor == "gcp":
        return name.split("-")[0]
    if vendor == "azure":
        parts = azure_family(name)
        return parts[0] if parts else name
    return re.split(r"[-.\d]", name)[0]


def family_scores(vendor, measured, vcpus):
    """Estimate scores of types that were not measured, from the family's median score per vCPU.

    measured: {type: score}; vcpus: {type: vCPUs} of every type. Returns {type: score}."""
    per_vcpu = defaultdict(list)
    for name, score in measured.items():
        if vcpus.get(name):
            per_vcpu[family_of(vendor, name)].append(score / vcpus[name])
    found = {}
    for name, count in vcpus.items():
        rates = per_vcpu.get(family_of(vendor, name))
        if name not in measured and rates:
            found[name] = int(median(rates) * count)
    return found


def azure_kin(name):
    """The kin of an Azure type: D, E and F types of one version and processor maker, which share a processor; or None.
    Confidential (DC, EC), low-memory and network types have the same processors."""
    parts = azure_family(name)
    match = parts and re.fullmatch(r"[DEF][A-Z]*([a-z]*)_v(\d+)", parts[0])
    if not match or int(match[2]) < 5:
        return None
    return next((maker for maker in "ap" if maker in match[1]), "i") + match[2]


def family_speeds(vendor, measured, vcpus):
    """Estimate the speeds (one thread, all threads) of types that were not measured, from the medians of the family,
    else of its kin. See family_scores()."""
    kins = [lambda name: family_of(vendor, name)]
    if vendor == "azure":
        kins.append(azure_kin)
    found = {}
    for kin in kins:
        rates = defaultdict(list)
        for name, (one, every) in measured.items():
            if vcpus.get(name) and kin(name):
                rates[kin(name)].append((one, every / vcpus[name]))
        for name, count in vcpus.items():
            known = rates.get(kin(name))
            if name not in measured and name not in found and known:
                found[name] = (round(median(r[0] for r in known)),
                               round(median(r[1] for r in known) * count))
    return found


def aws_maker(family):
    """(class letters, maker of the processor, generation) of an AWS family, or None. Families that agree in the first
    two are kin."""
    match = re.match(r"([a-z]+?)(\d+)([a-z]*)", family)
    if not match:
        return None
    letters, generation, rest = match.groups()
    maker = "arm" if rest.startswith("g") else "amd" if rest.startswith("a") else "intel"
    return letters, maker, int(generation)


def region_ratios(old, exact_home, home="us-east-1"):
    """Price ratio of each AWS region to the region `home`: {(region, family): ratio}.

    old: {region: {type: price}} of one date; exact_home: {type: price} in `home`. Some rows of `old` are prices of
    dedicated tenancy, so the lowest ratio over the sizes of a family is used, in both regions."""
    lowest = defaultdict(dict)
    for region, prices in old.items():
        for name, price in prices.items():
            if exact_home.get(name):
                family = family_of("aws", name)
                ratio = price / exact_home[name]
                lowest[region][family] = min(ratio, lowest[region].get(family, ratio))
    ratios = {}
    for region, families in lowest.items():
        for family, ratio in families.items():
            if region != home and family in lowest[home]:
                ratios[region, family] = ratio / lowest[home][family]
    return ratios


def region_ratio(ratios, region, family):
    """The family's price ratio in the region, else that of its newest kin there, else None."""
    if (region, family) in ratios:
        return ratios[region, family]
    mine = aws_maker(family)
    best = None
    for (place, other), ratio in sorted(ratios.items()):
        kin = aws_maker(other)
        if place == region and mine and kin and kin[:2] == mine[:2]:
            if best is None or kin[2] >= best[0]:
                best = (kin[2], ratio)
    return best[1] if best else None


def low_outliers(prices, share=0.6):
    """Regions in which a type costs less than `share` of its median price. prices: {region: price}."""
    if len(prices) < 3:
        return set()
    limit = share * median(prices.values())
    return {region for region, price in prices.items() if price < limit}


def misprints(prices, share=0.35):
    """Regions whose price is so far below the type's median that it must be the price of another product."""
    return low_outliers(prices, share)
