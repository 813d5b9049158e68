"""Counts the server types that each input names, to show how many types each of them could add under its licence."""

import build
import rules

IN_TABLE = "in the table"
SHARE_ALIKE = "CC BY-SA: the separate file"
FACTS = "single facts of named vendors"

# file -> (how its licence permits to use it, column of the vendor or "=" and the vendor, column of the type)
FILES = {
    "permissive/aws_ondemand_karpenter_2026-07-20.csv": (IN_TABLE, "=aws", "instance_type"),
    "permissive/aws_spot_advisor_2025-06-28.csv.gz": (IN_TABLE, "=aws", "instance_type"),
    "permissive/aws_ec2_linux_libcloud_2023-08-06.csv.gz": (IN_TABLE, "=aws", "instance_type"),
    "permissive/aws_coremark_vantage_2026-07-06.csv": (IN_TABLE, "=aws", "instance_type"),
    "permissive/azure_ondemand_karpenter_2026-06-18.csv.gz": (IN_TABLE, "=azure", "arm_sku_name"),
    "permissive/gcp_ondemand_spot_cyclenerd_2026-07-30.csv.gz": (IN_TABLE, "=gcp", "machine_type"),
    "permissive/gcp_coremark_cyclenerd.csv": (IN_TABLE, "=gcp", "machine_type"),
    "permissive/specs_k8s_autoscaler.csv": (IN_TABLE, "vendor", "instance_type"),
    "permissive/alicloud_ecs_libcloud-mistcommunity_2020-05_STALE.csv":
        ("stale: no price to show", "=alicloud", "instance_type"),
    "no-licence-stated/eu_cloud_prices_2026-08-17.csv.gz": (FACTS, "provider", "id"),
    "no-licence-stated/vultr_plans_2025-12-18.csv": (FACTS, "=vultr", "plan_id"),
    "cc-by-sa-4.0/sparecores_servers_2026-01-31.csv.gz": (SHARE_ALIKE, "vendor_id", "api_reference"),
    "cc-by-sa-4.0/sparecores_inspector_stressng_2026-08-22.csv.gz":
        (SHARE_ALIKE, "vendor_id", "api_reference"),
}


def machine(vendor, name):
    """(vendor, type) in a form in which all lists can be compared; None if the name is not a single server type."""
    vendor = {"hcloud": "hetzner"}.get(vendor, vendor)
    if vendor == "azure":
        return (vendor, name) if rules.is_azure_vm(name) else None
    if vendor == "aws" and "." not in name:  # a family instead of a type
        return None
    return vendor, name.lower() if vendor == "upcloud" else name


def row(file, vendor, r, column):
    name = r[column]
    if file.startswith("no-licence") and vendor == "azure":
        name = "Standard_" + name  # this list omits the prefix
    return machine(vendor, name)


def named(folder):
    """{file: {(vendor, type)}}. Missing input files are left out."""
    found = {}
    for name, (_, vendor, column) in FILES.items():
        try:
            rows = list(build.read(folder, name))
        except FileNotFoundError:
            continue
        found[name] = {row(name, vendor[1:] if vendor[0] == "=" else r[vendor], r, column)
                       for r in rows}
        found[name].discard(None)
    return found


def reach(folder, cats):
    """Text lines: for each input, the number of types of the table's vendors, and of those that the table lacks."""
    have = {machine(cat.vendor, name) for cat in cats for name in cat.specs}
    vendors = {cat.vendor for cat in cats}
    every = set()
    lines = ["input: types of the table's vendors, not in the table, of other vendors"]
    for name, machines in named(folder).items():
        ours = {m for m in machines if m[0] in vendors}
        every |= ours
        lines.append(f"{len(ours):6} {len(ours - have):6} {len(machines - ours):6}  {name} "
                     f"({FILES[name][0]})")
    lines.append(f"check: {len(every | have)} types of these vendors are named by any input, under "
                 f"whatever licence; {len(have)} are in the table")
    return "\n".join(lines)
