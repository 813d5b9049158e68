"""Servers and prices, from the catalogue in this package: nothing is asked over the network."""

from __future__ import annotations

from typing import Any, Dict, List, Optional

from . import _engine

#: Keyword of get_recommended_cloud_servers -> option of `resource-tracker servers`.
FILTERS = {
    "vendor": "--vendor",
    "vendor_id": "--vendor",
    "region": "--region",
    "region_id": "--region",
    "country": "--country",
    "country_id": "--country",
    "countries": "--country",
    "architecture": "--arch",
    "cpu_architecture": "--arch",
    "allocation": "--allocation",
    "cpu_allocation": "--allocation",
    "storage_size": "--storage",
    "storage_min": "--storage",
    "exclude": "--exclude",
    "order_by": "--order-by",
}

#: Keyword that is true or false -> option.
FLAGS = {
    "previous_generation": "--previous-generation",
    "spot": "--spot",
    "gpu_shares": "--gpu-shares",
}


# Other names of vendors -> the catalogue's.
VENDORS = {"hcloud": "hetzner"}


def _ask(*arguments: str) -> Optional[List[Dict[str, Any]]]:
    answer = _engine.ask_program("servers", "--json", *arguments)
    return answer.get("servers") if isinstance(answer, dict) else None


def filter_options(filters: Dict[str, Any]) -> List[str]:
    """Options of `servers` and `recommend` for limits on the servers.

    Raises:
        TypeError: a limit that is not known
    """
    options: List[str] = []
    for name, value in filters.items():
        if name in FLAGS:
            options += [FLAGS[name]] if value else []
            continue
        if name not in FILTERS:
            raise TypeError(f"unknown limit on servers {name!r}, there are: "
                            + ", ".join(sorted([*FILTERS, *FLAGS])))
        if value is None:
            continue
        values = value if isinstance(value, (list, tuple, set)) else [value]
        if FILTERS[name] == "--vendor":
            values = [VENDORS.get(vendor, vendor) for vendor in values]
        value = ",".join(map(str, values))
        options += [FILTERS[name], str(value)]
    return options


def get_recommended_cloud_servers(cpu: int, memory: int, gpu: Optional[int] = None,
                                  vram: Optional[int] = None, n: int = 10,
                                  **filters: Any) -> List[Dict[str, Any]]:
    """The cheapest servers with at least so many vCPUs, memory (MiB), GPUs and GPU memory (MiB).

    Args:
        cpu: vCPUs
        memory: MiB that the job gets
        gpu: GPUs
        vram: MiB of each GPU
        n: how many at most
        **filters: vendor_id, region_id, country_id, architecture, allocation, storage_size,
            exclude; lists mean any of them. previous_generation=True offers such types as well

    Returns:
        a list of dicts, cheapest first; empty where none fits

    Raises:
        TypeError: a filter that is not known
        ValueError: the catalogue does not take a value
    """
    options = ["--cpu", str(int(cpu)), "--mem", f"{int(memory)}MiB", "--limit", str(int(n))]
    if gpu:
        options += ["--gpu", str(int(gpu))]
    if gpu and vram:
        options += ["--vram", f"{int(vram)}MiB"]
    options += filter_options(filters)
    servers = _ask(*options)
    if servers is None:
        import subprocess

        try:
            code, _, text = _engine.run_program("servers", "--json", *options)
        except (OSError, subprocess.SubprocessError) as error:
            raise LookupError(f"the catalogue of servers cannot be asked: {error}") from error
        if code == 2:
            raise ValueError(text.strip().splitlines()[0] if text.strip() else "wrong filter")
        return []
    return servers


def get_instance_price(vendor_id: str, region_id: str, instance_type: str) -> Optional[float]:
    """On-demand price of a server, USD an hour: in the region, else where it is cheapest. None
    where the catalogue does not have it."""
    vendor_id = VENDORS.get(vendor_id, vendor_id)
    for place in (["--region", region_id], []):
        for server in _ask("--vendor", vendor_id, *place, "--arch", "any", "--previous-generation",
                           "--limit", "0") or ():
            if server.get("api_reference") == instance_type:
                return server.get("min_price_ondemand")
    return None


def keeper_request(path: str, timeout: int = 2, endpoint: str = "") -> Any:
    """What `/servers?…` and `/server/VENDOR/TYPE/prices` would answer, from the catalogue; None for
    any other path. `timeout` is the program's, `endpoint` is not asked."""
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
        found = [s for s in _ask("--vendor", words[1], "--arch", "any", "--previous-generation",
                           "--limit", "0") or ()
                 if s.get("api_reference") == words[2]]
        return [{"region_id": s.get("region_id"), "allocation": "ondemand",
                 "operating_system": "Linux", "price": s.get("min_price_ondemand")}
                for s in found] or None
    return None
