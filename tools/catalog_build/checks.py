"""Compares the table with lists that are not among its sources. The results are printed only."""

import build
import rules


def estimates(aws, folder):
    """Compare the estimated prices of eu-central-1 with a list of that region. Returns one line."""
    listed = {r["id"]: rules.usd(float(r["usd_per_hour_if_given"] or 0) or
                                 float(r["eur_per_hour"] or 0) * rules.EUR_USD)
              for r in build.read(folder, "no-licence-stated/eu_cloud_prices_2026-08-17.csv.gz")
              if r["provider"] == "aws" and r["eur_per_hour"]}
    off = sorted(abs(aws.priced[name]["eu-central-1"] / price - 1)
                 for name, price in listed.items()
                 if price and "eu-central-1" in aws.priced.get(name, ()))
    if not off:
        return "check: no list of eu-central-1 to compare with"
    within = {limit: sum(o <= limit for o in off) for limit in (0.005, 0.05)}
    return (f"check: estimates for eu-central-1, {len(off)} types: {within[0.005]} within 0.5 %, "
            f"{within[0.05]} within 5 %, worst {100 * off[-1]:.1f} %")


def local_disks(cats, folder):
    """Compare the local disks that follow from naming and public pages with those of another list. The tolerance of
    6 % covers the difference between GB and GiB. Returns one line."""
    ours = {(cat.vendor, name): row[0] for cat in cats for key, rows in cat.blocks.items()
            if key[0] == "storage" and key[3] == "rule" for name, row in rows.items()}
    near = far = 0
    for r in build.read(folder, "cc-by-sa-4.0/sparecores_servers_2026-01-31.csv.gz"):
        gb = ours.get((r["vendor_id"], r["api_reference"]))
        if gb:
            close = 0.94 < float(r["storage_size"] or 0) / gb < 1.06
            near += close
            far += not close
    return f"check: local disks by rule: {near} of {near + far} as another list has them"


def naming_rules(cats):
    """Compare the naming rules with types whose size is listed. Returns one line."""
    lines = []
    for cat in cats:
        if cat.vendor not in ("aws", "azure"):
            continue
        right = wrong = 0
        for key, rows in cat.blocks.items():
            if key[0] != "servers" or key[3] != "exact":
                continue
            for name, row in rows.items():
                found = (rules.aws_by_name(name) if cat.vendor == "aws"
                         else rules.azure_by_name(name, {}))
                if found:
                    right += found == row[:2]
                    wrong += found != row[:2]
        lines.append(f"{cat.vendor} {right} of {right + wrong}")
    return "check: sizes by naming rule: " + ", ".join(lines)
