"""Servers and prices, from the catalogue in this package. No request is sent over a network."""

from __future__ import annotations

from typing import Any, Dict, List, Optional

from . import _engine

#: Keyword of get_recommended_cloud_servers -> member of struct trk_server_needs.
FILTERS = {
    "vendor": "vendors",
    "vendor_id": "vendors",
    "region": "regions",
    "region_id": "regions",
    "country": "countries",
    "country_id": "countries",
    "countries": "countries",
    "architecture": "arch",
    "cpu_architecture": "arch",
    "allocation": "allocation",
    "cpu_allocation": "allocation",
    "storage_size": "storage_gb",
    "storage_min": "storage_gb",
    "exclude": "exclude",
    "order_by": "order_by",
}

#: Keywords that are true or false, named as the members are.
FLAGS = ("previous_generation", "spot", "gpu_shares")

# Other names of vendors -> the catalogue's.
VENDORS = {"hcloud": "hetzner"}


def _find(needs: Dict[str, Any], limit: int) -> List[Dict[str, Any]]:
    """Find servers that meet the needs, members of struct trk_server_needs; limit 0: all.

    Raises:
        LookupError: the catalogue cannot be read
        ValueError: the catalogue rejects a value
    """
    try:
        found = _engine.answer_of(_engine.library().servers(needs, limit))
    except (OSError, RuntimeError) as error:
        raise LookupError(f"the catalogue of servers cannot be read: {error}") from error
    servers: List[Dict[str, Any]] = found["servers"]
    return servers


def _all_of(vendor: str, region: Optional[str] = None) -> List[Dict[str, Any]]:
    """All servers of a vendor; none if the catalogue does not contain it or cannot be read."""
    try:
        return _find({"vendors": VENDORS.get(vendor, vendor), "regions": region, "arch": "any",
                      "previous_generation": True}, 0)
    except (LookupError, ValueError):
        return []


def needs_of_filters(filters: Dict[str, Any]) -> Dict[str, Any]:
    """Convert limits on the servers to members of struct trk_server_needs.

    Raises:
        TypeError: an unknown limit
        ValueError: a storage size that is not a number
    """
    needs: Dict[str, Any] = {}
    for name, value in filters.items():
        if name in FLAGS:
            needs[name] = bool(value)
            continue
        if name not in FILTERS:
            raise TypeError(f"unknown limit on servers {name!r}, there are: "
                            + ", ".join(sorted([*FILTERS, *FLAGS])))
        if value is None:
            continue
        member = FILTERS[name]
        if member == "storage_gb":
            needs[member] = float(value)
            continue
        values = value if isinstance(value, (list, tuple, set)) else [value]
        if member == "vendors":
            values = [VENDORS.get(vendor, vendor) for vendor in values]
        needs[member] = ",".join(map(str, values))
    return needs


def get_recommended_cloud_servers(cpu: int, memory: int, gpu: Optional[int] = None,
                                  vram: Optional[int] = None, n: int = 10,
                                  **filters: Any) -> List[Dict[str, Any]]:
    """Find the cheapest servers with at least this many vCPUs, memory (MiB), GPUs and GPU memory (MiB).

    Args:
        cpu: vCPUs
        memory: MiB that are available to the job
        gpu: GPUs
        vram: MiB of each GPU
        n: maximum number of servers
        **filters: vendor_id, region_id, country_id, architecture, allocation, storage_size,
            exclude; a list means any of its values. previous_generation=True also returns types of
            previous generations

    Returns:
        a list of dicts, cheapest first; empty if no server fits

    Raises:
        TypeError: an unknown filter
        ValueError: the catalogue rejects a value
        LookupError: the catalogue cannot be read
    """
    needs = {"vcpus": int(cpu), "memory_mib": int(memory), "gpus": int(gpu or 0),
             "vram_mib": int(vram or 0) if gpu else 0}
    return _find({**needs, **needs_of_filters(filters)}, int(n))


def get_instance_price(vendor_id: str, region_id: str, instance_type: str) -> Optional[float]:
    """On-demand price of a server in USD per hour: in the region, or else in the cheapest region. None if the
    catalogue does not contain it."""
    for region in (region_id, None):
        for server in _all_of(vendor_id, region):
            if server.get("api_reference") == instance_type:
                return server.get("min_price_ondemand")
    return None


def keeper_request(path: str, timeout: int = 2, endpoint: str = "") -> Any:
    """The answers to `/servers?…` and `/server/VENDOR/TYPE/prices`, from the catalogue; None for any other
    path. `timeout` and `endpoint` are ignored."""
    from urllib.parse import parse_qs, urlsplit

    parts = urlsplit(path)
    query = {name: values[0] for name, values in parse_qs(parts.query).items()}
    words = parts.path.strip("/").split("/")
    if words == ["servers"]:
        try:
            return get_recommended_cloud_servers(
                int(query.get("vcpus_min", 1)), int(float(query.get("memory_min", 0)) * 1024),
                int(query.get("gpu_min", 0)) or None,
                int(float(query.get("gpu_memory_total", 0)) * 1024) or None,
                int(query.get("limit", 10)))
        except (ValueError, LookupError):
            return None
    if len(words) == 4 and words[0] == "server" and words[3] == "prices":
        found = [s for s in _all_of(words[1]) if s.get("api_reference") == words[2]]
        return [{"region_id": s.get("region_id"), "allocation": "ondemand",
                 "operating_system": "Linux", "price": s.get("min_price_ondemand")}
                for s in found] or None
    return None
