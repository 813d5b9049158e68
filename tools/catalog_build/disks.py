"""Sizes of local disks by server type, in GB, from naming rules and the vendors' public pages. Pure functions."""

import re

import rules

GIB = 1.073741824  # GB

# GB of local NVMe per vCPU in Amazon's families in which the disk is proportional to the vCPUs.
AWS_EVEN = [
    (r"(m5|m5a|m5n|m5zn|r5|r5a|r5n|r5b)d|(m5|r5)dn|(m5|r5)ad", 37.5),
    (r"[cmr][678]gd|[cmr]6id|[cmr]6idn|[cmr]8gd|x2gd", 59.375),
    (r"i3en|i7ie|i8ge", 625), (r"i4i|i4g|i7i|i8g", 234.375),
    (r"im4gn", 468.75), (r"is4gen", 937.5), (r"x2iedn|x2idn", 29.6875), (r"z1d|g4ad", 37.5),
    (r"d3", 1485), (r"d3en", 6990), (r"x8aedz", 79.1667),
]

# GB by size in the other families.
AWS_BY_SIZE = {
    "c5d": {"large": 50, "xlarge": 100, "2xlarge": 200, "4xlarge": 400, "9xlarge": 900,
            "12xlarge": 1800, "18xlarge": 1800, "24xlarge": 3600, "metal": 3600},
    "c5ad": {"large": 75, "xlarge": 150, "2xlarge": 300, "4xlarge": 600, "8xlarge": 1200,
             "12xlarge": 1800, "16xlarge": 2400, "24xlarge": 3800},
    "g4dn": {"xlarge": 125, "2xlarge": 225, "4xlarge": 225, "8xlarge": 900, "12xlarge": 900,
             "16xlarge": 900, "metal": 1800},
    "g5": {"xlarge": 250, "2xlarge": 450, "4xlarge": 600, "8xlarge": 900, "12xlarge": 3800,
           "16xlarge": 1900, "24xlarge": 3800, "48xlarge": 7600},
    "g6": {"xlarge": 250, "2xlarge": 450, "4xlarge": 600, "8xlarge": 900, "12xlarge": 3760,
           "16xlarge": 1880, "24xlarge": 3760, "48xlarge": 7520},
    "i3": {"metal": 15200, "large": 475, "xlarge": 950, "2xlarge": 1900, "4xlarge": 3800,
           "8xlarge": 7600, "16xlarge": 15200},
    "p3dn": {"24xlarge": 1800}, "p4d": {"24xlarge": 8000}, "p4de": {"24xlarge": 8000},
    "p5": {"4xlarge": 3800, "48xlarge": 30400}, "p5e": {"48xlarge": 30400},
    "p5en": {"48xlarge": 30400}, "p6-b200": {"48xlarge": 30400},
}

# GiB of temporary disk per vCPU in Azure's families, including constrained sizes.
AZURE_EVEN_GIB = [
    (r"[DE][a-z]*d[a-z]*_v[45]", 37.5), (r"[DE][a-z]*d[a-z]*_v[67]", 55),
    (r"[DE](_v3|a_v4)", 25), (r"D(as_v4|s_v3)|Fs_v2", 8), (r"E(as_v4|s_v3)", 16),
]
# GB of NVMe disk per vCPU in Azure's storage families.
AZURE_STORAGE = [(r"Las?_v[34]|Ls_v[234]", 240), (r"Laos_v4", 720)]
AZURE_UNEVEN = re.compile(r"Standard_(E64i?(-\d+)?s_v3|E(64|96)(-\d+)?as_v4|E80i?d?s_v4|E104i?ds?_v5|"
                          r"E112i[ab]ds_v5)$")

# Number of disks of 375 GB, by vCPUs.
GCP_LSSD = {
    "c3": {4: 1, 8: 2, 22: 4, 44: 8, 88: 16, 176: 32},
    "c3d": {8: 1, 16: 1, 30: 2, 60: 4, 90: 8, 180: 16, 360: 32},
    "c4": {4: 1, 8: 1, 16: 2, 24: 4, 32: 5, 48: 8, 96: 16, 144: 24, 192: 32, 288: 48},
}
GCP_Z3 = {
    "standardlssd": {14: 3000, 22: 6000, 44: 9000, 88: 18000, 176: 36000},
    "highlssd": {8: 3000, 16: 6000, 22: 9000, 32: 12000, 44: 18000, 88: 36000},
    "highlssd-metal": {192: 72000},
}


def aws_gb(name, vcpus):
    family, _, size = name.partition(".")
    if family in AWS_BY_SIZE:
        return AWS_BY_SIZE[family].get(size)
    for pattern, per_vcpu in AWS_EVEN:
        if re.fullmatch(pattern, family):
            return int(per_vcpu * vcpus)
    return None


def azure_gb(name):
    parts = rules.azure_family(name)
    if not parts or AZURE_UNEVEN.match(name):
        return None
    family, vcpus, _ = parts  # a constrained size has the disk of the full size
    for pattern, gib in AZURE_EVEN_GIB:
        if re.fullmatch(pattern, family):
            return int(gib * vcpus * GIB)
    for pattern, per_vcpu in AZURE_STORAGE:
        if re.fullmatch(pattern, family):
            return per_vcpu * vcpus
    return None


def gcp_gb(name):
    match = re.fullmatch(r"(c3d?|c4)-[a-z]+-(\d+)-lssd", name)
    if match:
        count = GCP_LSSD[match[1]].get(int(match[2]))
        return count and 375 * count
    match = re.fullmatch(r"z3-highmem-(\d+)-([a-z-]+)", name)
    if match:
        return GCP_Z3.get(match[2], {}).get(int(match[1]))
    match = re.fullmatch(r"(a2-ultragpu|a3-highgpu)-(\d)g", name)
    if match:
        return int(match[2]) * (375 if match[1].startswith("a2") else 750)
    return 6000 if name.startswith("a3-megagpu-8g") else None


def disk_gb(vendor, name, vcpus):
    """Size of the local disk in GB, or None if neither naming rules nor public pages give it."""
    if vendor == "aws":
        return aws_gb(name, vcpus)
    if vendor == "azure":
        return azure_gb(name)
    return gcp_gb(name) if vendor == "gcp" else None
