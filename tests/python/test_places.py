"""Tests server_info, cloud_info and keeper: the machine, the cloud and the catalogue."""

import inspect
import os

import pytest

from resource_tracker import (_engine, cloud_info, get_cloud_info, get_server_info, keeper,
                              server_info)


@pytest.fixture
def fresh(monkeypatch):
    monkeypatch.setattr(cloud_info, "_cached", None)


def test_the_machine():
    info = get_server_info()
    assert list(info)[:8] == ["os", "vcpus", "memory_mib", "memory_mb", "gpu_count", "gpu_names",
                              "gpu_name", "gpu_memory_mib"]
    assert info["os"] == os.uname().sysname and info["vcpus"] == os.cpu_count()
    assert server_info.get_total_memory_mib() == server_info.get_total_memory_mb() > 0


def test_gpus_are_those_of_the_program(monkeypatch):
    told = {"gpu_count": 2, "gpu_names": ["A", "A"], "gpu_memory_mib": 2048}
    monkeypatch.setattr(_engine, "ask_program", lambda *a, **k: told)
    info = get_server_info()
    assert info["gpu_names"] == ["A", "A"] and info["details"] == told
    assert (info["gpu_count"], info["gpu_name"], info["gpu_memory_mb"]) == (2, "A", 2048)


def test_gpus_by_nvidia_smi(monkeypatch, tmp_path):
    monkeypatch.setattr(_engine, "has_gpu", lambda: True)
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\necho 'A, B, 1024'\necho 'A, B, 1024'\necho 'C, [N/A]'\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    info = server_info.get_gpu_info()
    assert (info["gpu_count"], info["gpu_name"], info["gpu_memory_mib"]) == (3, "A, B", 2048)
    tool.unlink()
    assert server_info.get_gpu_info()["gpu_count"] == 0


@pytest.mark.parametrize("answer, vendor, kind, region", [
    ({"vendor": "aws", "instance_type": "c5.large", "region": "eu-west-1"}, "aws", "c5.large",
     "eu-west-1"),
    ({"schema": "x", "cloud": {"vendor": "hetzner", "type": "cx22", "region": None}}, "hcloud",
     "cx22", "unknown"),
])
def test_what_the_program_tells(fresh, monkeypatch, answer, vendor, kind, region):
    asked = []
    monkeypatch.setattr(_engine, "ask_program", lambda *a, **k: asked.append(a) or answer)
    info = get_cloud_info()
    assert (info["vendor"], info["instance_type"], info["region"]) == (vendor, kind, region)
    assert info["discovery_time"] >= 0
    info["vendor"] = "changed"
    assert get_cloud_info()["vendor"] == vendor and len(asked) == 1  # remembered


@pytest.mark.parametrize("answer", [None, [], {"vendor": None}])
def test_else_the_firmware_does(fresh, monkeypatch, answer):
    monkeypatch.setattr(_engine, "ask_program", lambda *a, **k: answer)
    texts = {"sys_vendor": "Amazon EC2", "product_name": "c5.large"}
    monkeypatch.setattr(cloud_info, "_firmware", lambda name: texts.get(name, ""))
    info = get_cloud_info()
    assert (info["vendor"], info["instance_type"], info["region"]) == ("aws", "c5.large", "unknown")


@pytest.mark.parametrize("texts, vendor", [
    ({"sys_vendor": "Hetzner"}, "hcloud"), ({"sys_vendor": "Google"}, "gcp"),
    ({"sys_vendor": "Microsoft Corporation"}, "unknown"),
    ({"chassis_asset_tag": "7783-7084-3265-9085-8269-3286-77"}, "azure"), ({}, "unknown")])
def test_firmware(monkeypatch, texts, vendor):
    monkeypatch.setattr(cloud_info, "_firmware", lambda name: texts.get(name, ""))
    assert cloud_info.from_firmware()["vendor"] == vendor


def test_servers():
    assert {name: p.default for name, p in inspect.signature(
        keeper.get_recommended_cloud_servers).parameters.items() if name != "filters"} == {
            "cpu": inspect.Parameter.empty, "memory": inspect.Parameter.empty, "gpu": None,
            "vram": None, "n": 10}
    servers = keeper.get_recommended_cloud_servers(4, 8192)
    assert len(servers) == 10
    prices = [server["min_price_ondemand"] for server in servers]
    assert prices == sorted(prices) and all(s["vcpus"] >= 4 for s in servers)
    gpu = keeper.get_recommended_cloud_servers(1, 1024, gpu=1, vram=20000, n=3)
    assert len(gpu) == 3 and all(s["gpu_count"] >= 1 and s["gpu_memory_min"] >= 20000 for s in gpu)
    two = keeper.get_recommended_cloud_servers(1, 1024, n=50, vendor_id=["hcloud", "ovh"])
    assert {s["vendor_id"] for s in two} <= {"hetzner", "ovh"} and two
    with pytest.raises(TypeError, match="unknown limit"):
        keeper.get_recommended_cloud_servers(1, 1024, colour="red")
    with pytest.raises(ValueError, match="arch"):
        keeper.get_recommended_cloud_servers(1, 1024, architecture="vax")


def test_prices():
    server = keeper.get_recommended_cloud_servers(2, 4096, n=1, vendor_id="aws")[0]
    price = keeper.get_instance_price("aws", server["region_id"], server["api_reference"])
    assert price == server["min_price_ondemand"]
    assert keeper.get_instance_price("aws", "nowhere-1", server["api_reference"]) == price
    assert keeper.get_instance_price("aws", "us-east-1", "none.large") is None
    assert keeper.get_instance_price("nobody", "x", "y") is None


def test_requests_are_answered_from_the_catalogue():
    found = keeper.keeper_request("/servers?vcpus_min=4&memory_min=8&limit=2&order_by=price")
    assert len(found) == 2 and found[0]["vcpus"] >= 4
    name = found[0]
    prices = keeper.keeper_request(
        f"/server/{name['vendor_id']}/{name['api_reference']}/prices")
    assert prices[0]["allocation"] == "ondemand" and prices[0]["price"] > 0
    assert keeper.keeper_request("/other") is None
    assert keeper.keeper_request("/servers?vcpus_min=x") is None


def test_without_the_library(monkeypatch):
    monkeypatch.setattr(_engine, "_core", None)
    with pytest.raises(LookupError, match="the catalogue of servers cannot be read: .*is not in this package"):
        keeper.get_recommended_cloud_servers(1, 1024)
    assert keeper.get_instance_price("aws", "r", "t") is None
