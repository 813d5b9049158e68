"""Detects the cloud that the machine runs in: vendor, region and instance type."""

from __future__ import annotations

from time import monotonic
from typing import Any, Dict, Optional

from . import _engine

UNKNOWN = "unknown"
TIMEOUT_S = 8

# Part of the manufacturer's name in the firmware (DMI), in lower case -> vendor.
_MAKERS = (
    ("amazon", "aws"),
    ("google", "gcp"),
    ("hetzner", "hcloud"),
    ("upcloud", "upcloud"),
    ("alibaba", "alicloud"),
    ("ovh", "ovh"),
    ("vultr", "vultr"),
)
# Vendor names of the program -> vendor names that get_cloud_info() returns.
_VENDORS = {"hetzner": "hcloud"}
_AZURE_CHASSIS = "7783-7084-3265-9085-8269-3286-77"

_cached: Optional[Dict[str, Any]] = None


def _firmware(name: str) -> str:
    try:
        with open(f"/sys/class/dmi/id/{name}", encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""


def from_firmware() -> Dict[str, str]:
    """The vendor from the firmware (DMI), and on AWS the instance type. No request is sent. Same keys as
    get_cloud_info() without discovery_time."""
    maker = f"{_firmware('sys_vendor')} {_firmware('board_vendor')}".lower()
    vendor = next((vendor for word, vendor in _MAKERS if word in maker), UNKNOWN)
    kind = UNKNOWN
    if vendor == "aws":
        kind = _firmware("product_name") or UNKNOWN
    elif vendor == UNKNOWN and _firmware("chassis_asset_tag") == _AZURE_CHASSIS:
        vendor = "azure"
    return {"vendor": vendor, "instance_type": kind, "region": UNKNOWN}


def _from_program(answer: Any) -> Optional[Dict[str, str]]:
    """Convert the JSON of `resource-tracker machine --cloud` to the keys of get_cloud_info(); None if it is no dict."""
    if not isinstance(answer, dict):
        return None
    found: Dict[str, Any] = answer
    if isinstance(answer.get("cloud"), dict):
        found = answer["cloud"]
    names = {"vendor": ("vendor", "vendor_id"), "instance_type": ("instance_type", "type"),
             "region": ("region", "region_id")}
    info = {key: next((str(found[name]) for name in either if found.get(name)), UNKNOWN)
            for key, either in names.items()}
    info["vendor"] = _VENDORS.get(info["vendor"], info["vendor"])
    return info


def get_cloud_info() -> Dict[str, Any]:
    """The cloud of this machine. The result is cached for the life of the process.

    Returns:
        a dict: vendor, instance_type, region (str; "unknown" if not known), discovery_time (float; seconds that
        the requests took)
    """
    global _cached
    if _cached is None:
        start = monotonic()
        found = _from_program(_engine.ask_program("cloud-info", "--json", timeout=TIMEOUT_S))
        if found is None or found["vendor"] == UNKNOWN:
            found = from_firmware()
        _cached = {**found, "discovery_time": round(monotonic() - start, 3)}
    return dict(_cached)
