"""Tests `cloud-info`, and discovery during a run, with local servers that answer as the vendors document, and with
servers that do not."""

import contextlib
import http.server
import json
import pathlib
import socket
import threading
import time

import pytest

from conftest import TIMEOUT_S

TOKEN = "QAAAAL1ZvVh+abc/def=="


class Metadata(http.server.BaseHTTPRequestHandler):
    """Answers from `routes`: (method, path) -> body, or a function of the handler that gives it."""

    protocol_version = "HTTP/1.1"
    routes, asked, server_headers = {}, [], {}

    def answer(self):
        type(self).asked.append((self.command, self.path))
        route = self.routes.get((self.command, self.path))
        if callable(route):
            route = route(self)
        if route is None:
            self.send_error(404)
            return
        body = route.encode() if isinstance(route, str) else json.dumps(route).encode()
        self.send_response(200)
        for name, value in self.server_headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_PUT = answer

    def log_message(self, *arguments):
        pass


@contextlib.contextmanager
def serving(routes, headers=None):
    """A metadata service; gives its address and the list of what it was asked."""
    handler = type("Handler", (Metadata,),
                   {"routes": routes, "asked": [], "server_headers": headers or {}})
    kind = type("Server", (http.server.ThreadingHTTPServer,), {"request_queue_size": 128})
    server = kind(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"127.0.0.1:{server.server_port}", handler.asked
    finally:
        server.shutdown()
        server.server_close()


@contextlib.contextmanager
def raw(behave):
    """A server of plain sockets: behave(connection) in a thread for each."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)

    def accept():
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                threading.Thread(target=run, args=(connection,), daemon=True).start()

    def run(connection):
        try:
            behave(connection)
        except OSError:
            pass
        finally:
            connection.close()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.close()


def with_header(name, value, body):
    """The body only for requests that carry the header."""
    return lambda handler: body if handler.headers.get(name) == value else None


def aws(version):
    data = {
        "services/domain": "amazonaws.com",
        "placement/region": "eu-central-1",
        "placement/availability-zone": "eu-central-1b",
        "instance-type": "c7i.4xlarge",
        "instance-life-cycle": "spot",
    }
    if version == 1:
        return {("GET", f"/latest/meta-data/{k}"): v for k, v in data.items()}
    routes = {("GET", f"/latest/meta-data/{k}"): with_header("X-aws-ec2-metadata-token", TOKEN, v)
              for k, v in data.items()}
    routes["PUT", "/latest/api/token"] = with_header("X-aws-ec2-metadata-token-ttl-seconds",
                                                     "21600", TOKEN)
    return routes


def gcp():
    base = "/computeMetadata/v1/instance/"
    return {("GET", base + path): with_header("Metadata-Flavor", "Google", body) for path, body in {
        "machine-type": "projects/123456/machineTypes/n2-standard-8",
        "zone": "projects/123456/zones/us-central1-a",
        "scheduling/preemptible": "FALSE",
    }.items()}


AZURE = {
    "compute": {"azEnvironment": "AzurePublicCloud", "location": "westeurope",
                "vmSize": "Standard_D4s_v5", "zone": "2", "priority": "Spot",
                "tags": "", "vmId": "02aab8a4-74ef-476e-8182-f6d2ba4166a6"},
    "network": {"interface": [{"ipv4": {"ipAddress": [{"privateIpAddress": "10.0.0.4"}]}}]},
}
HETZNER = """availability-zone: fsn1-dc14
hostname: my-server
instance-id: 42
local-ipv4: ''
public-ipv4: 1.2.3.4
region: eu-central
vendor_data: |
  region: wrong
"""
UPCLOUD = {"cloud_name": "upcloud", "instance_id": "00f6c3d8", "hostname": "test",
           "region": "fi-hel2", "platform": "servers", "public_keys": []}
DIGITALOCEAN = {"droplet_id": 2756294, "hostname": "sample-droplet", "region": "nyc3",
                "features": {"dhcp_enabled": True}}
VULTR = {"bgp": {"ipv4": {}}, "hostname": "guest", "instanceid": "a747bfz6385e",
         "instance-v2-id": "cb676a46-66fd-4dfb", "region": {"countrycode": "US",
                                                           "regioncode": "EWR"}}
SCALEWAY = {"id": "b62cd6a5", "commercial_type": "DEV1-S", "zone": "fr-par-1",
            "location": {"zone_id": "fr-par-1", "hypervisor_id": "1902"}}
ORACLE = {"availabilityDomain": "EMIr:PHX-AD-1", "shape": "VM.Standard.E4.Flex",
          "canonicalRegionName": "us-phoenix-1", "region": "phx",
          "shapeConfig": {"ocpus": 2.0, "memoryInGBs": 16.0}}
LINODE = {"id": 12345, "label": "my-linode", "region": "us-east", "type": "g6-standard-2",
          "specs": {"vcpus": 2, "memory": 4096}}
OVH = {
    ("GET", "/openstack/latest/network_data.json"):
        {"links": [], "services": [{"address": "213.186.33.99", "type": "dns"}]},
    ("GET", "/openstack/latest/meta_data.json"):
        {"uuid": "83679162", "availability_zone": "eu-west-par-a", "name": "b3"},
    ("GET", "/latest/meta-data/instance-type"): "b3-8",
}
ALICLOUD = {
    ("PUT", "/latest/api/token"):
        with_header("X-aliyun-ecs-metadata-token-ttl-seconds", "21600", TOKEN),
    ("GET", "/latest/meta-data/region-id"):
        with_header("X-aliyun-ecs-metadata-token", TOKEN, "cn-hangzhou"),
    ("GET", "/latest/meta-data/zone-id"):
        with_header("X-aliyun-ecs-metadata-token", TOKEN, "cn-hangzhou-i"),
    ("GET", "/latest/meta-data/instance/instance-type"):
        with_header("X-aliyun-ecs-metadata-token", TOKEN, "ecs.g7.large"),
}
EXOSCALE = {
    ("GET", "/latest/meta-data/cloud-identifier"): "CloudStack-{e026d51d-25ba}",
    ("GET", "/latest/meta-data/service-offering"): "Medium",
    ("GET", "/latest/meta-data/availability-zone"): "ch-gva-2",
}
LINODE_ROUTES = {
    ("PUT", "/v1/token"): with_header("Metadata-Token-Expiry-Seconds", "300", "abcdef0123"),
    ("GET", "/v1/instance"): with_header("Metadata-Token", "abcdef0123", json.dumps(LINODE)),
}

# routes, extra headers, and vendor, region, zone, type, allocation that must come out.
VENDORS = {
    "aws-v2": (aws(2), None,
               ("aws", "eu-central-1", "eu-central-1b", "c7i.4xlarge", "spot")),
    "aws-v1": (aws(1), None,
               ("aws", "eu-central-1", "eu-central-1b", "c7i.4xlarge", "spot")),
    "gcp": (gcp(), {"Metadata-Flavor": "Google"},
            ("gcp", "us-central1", "us-central1-a", "n2-standard-8", "ondemand")),
    "azure": ({("GET", "/metadata/instance?api-version=2021-02-01"):
               with_header("Metadata", "true", json.dumps(AZURE))}, None,
              ("azure", "westeurope", "2", "Standard_D4s_v5", "spot")),
    "hetzner": ({("GET", "/hetzner/v1/metadata"): HETZNER}, None,
                ("hetzner", "eu-central", "fsn1-dc14", None, None)),
    "upcloud": ({("GET", "/metadata/v1.json"): UPCLOUD}, None,
                ("upcloud", "fi-hel2", None, None, None)),
    "digitalocean": ({("GET", "/metadata/v1.json"): DIGITALOCEAN}, None,
                     ("digitalocean", "nyc3", None, None, None)),
    "vultr": ({("GET", "/v1.json"): VULTR}, None, ("vultr", "EWR", None, None, None)),
    "scaleway": ({("GET", "/conf?format=json"): SCALEWAY}, None,
                 ("scaleway", "fr-par", "fr-par-1", "DEV1-S", None)),
    "oracle": ({("GET", "/opc/v2/instance/"):
                with_header("Authorization", "Bearer Oracle", json.dumps(ORACLE))}, None,
               ("oracle", "us-phoenix-1", "EMIr:PHX-AD-1", "VM.Standard.E4.Flex", None)),
    "linode": (LINODE_ROUTES, None, ("linode", "us-east", None, "g6-standard-2", None)),
    "ovh": (OVH, None, ("ovh", "eu-west-par-a", None, "b3-8", None)),
    "alicloud": (ALICLOUD, None,
                 ("alicloud", "cn-hangzhou", "cn-hangzhou-i", "ecs.g7.large", None)),
    "exoscale": (EXOSCALE, None, ("exoscale", "ch-gva-2", "ch-gva-2", "Medium", None)),
}

KEYS = ("vendor", "region", "zone", "instance_type", "allocation")


def track(rt, address, *command):
    """A run that asks; the fixture's own track() does not."""
    return rt.run("run", "--summary-json", rt.summary_file, "--", *command,
                  env={"RESOURCE_TRACKER_METADATA": address, "TRACKER_NO_DISCOVERY": None})


@pytest.fixture
def found(rt, clock):
    """The JSON about a service that answers: the second that it has takes a minute."""
    return lambda address, *flags: ask(rt, address, *flags, env={"LD_PRELOAD": clock, "TRK_CLOCK": "0:0:0:0.017"}).json()


def ask(rt, address, *flags, env=()):
    return rt.run("cloud-info", "--json", *flags, env={"RESOURCE_TRACKER_METADATA": address, **dict(env)})


@pytest.mark.parametrize("name", VENDORS)
def test_every_vendor_is_known_by_its_answers(found, name):
    routes, headers, expected = VENDORS[name]
    with serving(routes, headers) as (address, asked):
        told = found(address)
    if told["inferred"]:  # the machine of the test happens to be like one of its types
        told["instance_type"] = None
    assert tuple(told[key] for key in KEYS) == expected
    assert told["source"] == "metadata service"
    assert told["discovery_time"] >= 0
    assert asked
    # Where these services hand out the tokens and keys of the machine's role.
    for _, path in asked:
        for word in ("credentials", "/iam", "/ram", "oauth2", "service-accounts", "user-data", "vendor-data"):
            assert word not in path.lower()


def test_hetzner_has_no_type_and_says_why(found):
    with serving(VENDORS["hetzner"][0]) as (address, _):
        told = found(address)
    assert told["instance_type"] is None or told["inferred"]
    assert "does not name the type" in told["reason"]


def like_this_machine(rt, names):
    """A cache with a vendor whose types of these names are all like the machine of the test."""
    machine = rt.run("server-info", "--json").json()
    mib = round(machine["memory_mib"] / 0.97)
    arch = "arm64" if machine["arch"] == "aarch64" else "x86_64"
    lines = ["catalogue\t1\t2026-08-17", "source\tsite\t2026-08-17\tfacts\tby hand",
             "vendor\tacme\t-\tAcme\t60\t60\t-", "region\tacme\tmoon\t-\t-\t-\tMoon",
             "servers\tacme\tsite\t2026-08-17\texact"]
    lines += [f"\t{name}\t{machine['vcpus']:.0f}\t{mib}\t{arch}\tdedicated" for name in names]
    lines += ["prices\tacme\tmoon\tsite\t2026-08-17\texact"]
    lines += [f"\t{name}\t0.6" for name in names] + ["end", ""]
    folder = rt.home / "cache" / "resource-tracker"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "update.tsv").write_text("\n".join(lines))
    return {"XDG_CACHE_HOME": str(rt.home / "cache")}


def test_the_one_type_that_is_like_the_machine_is_inferred(rt):
    env = like_this_machine(rt, ["like.this"])
    told = rt.run("cloud-info", "--json", "--instance", "acme/moon", env=env).json()
    assert told["instance_type"] == "like.this"
    assert "the only known type of acme like this machine" in told["inferred"]
    text = rt.run("cloud-info", "--instance", "acme/moon", env=env).stdout
    assert "inferred" in text and "like.this" in text
    # A run has it, with its cost, and a later reader too.
    summary = rt.track("true", flags=["--instance", "acme/moon", "-n", "job"], env=env).summary
    assert summary["cloud"]["instance_type"] == "like.this"
    assert summary["cost"]["usd"] == pytest.approx(0.01)
    assert "the type is inferred" in summary["cost"]["reason"]
    again = rt.run("show", "--json", env=env).json()
    assert again["cloud"] == summary["cloud"] and again["cost"] == summary["cost"]


def test_of_two_types_like_the_machine_none_is_taken(rt):
    env = like_this_machine(rt, ["like.this", "like.that"])
    told = rt.run("cloud-info", "--json", "--instance", "acme/moon", env=env).json()
    assert told["instance_type"] is None and told["inferred"] is None
    assert "2 known types are like this machine: like.this, like.that" in told["reason"]
    # What is stated is not asked after.
    told = rt.run("cloud-info", "--json", "--instance", "acme/moon/like.that", env=env).json()
    assert (told["instance_type"], told["inferred"]) == ("like.that", None)


def test_another_cloud_with_the_paths_of_ec2_is_not_amazon(found):
    routes = {key: value for key, value in aws(1).items() if "domain" not in key[1]}
    with serving(routes) as (address, _):
        assert found(address)["vendor"] is None
    routes["GET", "/latest/meta-data/services/domain"] = "example.com"
    with serving(routes) as (address, _):
        assert found(address)["vendor"] is None


def test_an_answer_without_googles_header_is_not_google(found):
    with serving(gcp()) as (address, _):
        assert found(address)["vendor"] is None


def test_openstack_of_somebody_else_is_not_ovh(found):
    routes = dict(OVH)
    routes["GET", "/openstack/latest/network_data.json"] = {"services": [{"type": "dns",
                                                                        "address": "8.8.8.8"}]}
    with serving(routes) as (address, _):
        assert found(address)["vendor"] is None


def test_a_token_that_never_comes_is_gone_without(rt, clock):
    """As in a container, where the answer to PUT is dropped on the way."""
    data = {path: body for (_, path), body in aws(1).items()}

    def behave(connection):
        method, path, _ = connection.recv(4096).decode().split(" ", 2)
        if method == "PUT":
            time.sleep(100)
        elif path in data:
            body = data[path]
            connection.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n{body}"
                               .encode())

    with raw(behave) as address:
        told = ask(rt, address, env={"LD_PRELOAD": clock, "TRK_CLOCK": "0:0:0:0.2"}).json()
    assert (told["vendor"], told["instance_type"]) == ("aws", "c7i.4xlarge")
    assert told["discovery_time"] > 0.2


# ---- what goes wrong ----

HTML = "<!DOCTYPE html><html><body>Please sign in</body></html>"


def everything(body):
    class Always(dict):
        def get(self, key, default=None):
            return body
    return Always()


def send(payload):
    def behave(connection):
        connection.recv(4096)
        connection.sendall(payload)
    return behave


def hang(connection):
    time.sleep(1000)


def trickle(connection):
    connection.recv(4096)
    for byte in b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nuniverse!":
        connection.sendall(bytes([byte]))
        time.sleep(0.2)


def gigabyte(connection):
    connection.recv(4096)
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    block = b"x" * (1 << 20)
    for _ in range(1024):
        connection.sendall(block)


HOSTILE = {
    "hangs": hang,
    "sends a byte now and then": trickle,
    "sends a gigabyte": gigabyte,
    "announces a gigabyte": send(b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\nx"),
    "head without end": send(b"HTTP/1.1 200 OK\r\n" + b"X-A: b\r\n" * 20000),
    "no HTTP": send(b"SSH-2.0-OpenSSH_9.2\r\n\r\n"),
    "closes at once": lambda connection: None,
    "redirect": send(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n"
                     b"Content-Length: 0\r\n\r\n"),
    "cut": send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\namazonaws.com"),
    "bad chunks": send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
    "endless chunks": send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                           + b"ffff\r\n" + b"x" * 65535 + b"\r\nffff\r\n"),
}


@pytest.mark.parametrize("how", HOSTILE)
def test_a_hostile_service_is_no_cloud_and_costs_a_second_at_most(rt, how):
    with raw(HOSTILE[how]) as address:
        result = ask(rt, address)
    told = result.json()
    assert result.rc == 0
    assert all(told[key] is None for key in KEYS)
    assert "no metadata service" in told["reason"]
    assert told["discovery_time"] < TIMEOUT_S  # a second or what a busy machine needs; the service would hang for longer


@pytest.mark.parametrize("body", [HTML, {"cloud_name": 7, "compute": [], "region": {}}, [],
                                  "null", "{", "\x00\x01", "amazonaws.com\nx"])
def test_pages_and_wrong_documents_are_no_cloud(rt, body):
    with serving(everything(body)) as (address, _):
        told = ask(rt, address).json()
    assert all(told[key] is None for key in KEYS), told


def test_an_answer_in_chunks_is_joined(found):
    document = json.dumps(UPCLOUD)
    half = len(document) // 2
    chunks = "".join(f"{len(part):x}\r\n{part}\r\n" for part in (document[:half],
                                                               document[half:], ""))
    payload = f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}".encode()

    def behave(connection):
        if b"/metadata/v1.json" in connection.recv(4096):
            connection.sendall(payload)

    with raw(behave) as address:
        assert found(address)["vendor"] == "upcloud"


# ---- who is asked, and how often ----

def test_no_discovery_sends_nothing(rt):
    with serving(aws(1)) as (address, asked):
        told = ask(rt, address, "--no-discovery").json()
        assert told["vendor"] is None and "--no-discovery" in told["reason"]
        env = {"RESOURCE_TRACKER_METADATA": address, "TRACKER_NO_DISCOVERY": None}
        assert rt.run("run", "--no-discovery", "--", "sleep", "0.3", env=env).rc == 0
        env["TRACKER_NO_DISCOVERY"] = "1"
        assert rt.run("run", "--", "sleep", "0.3", env=env).rc == 0
    assert asked == []


def test_only_this_machine_is_taken_for_the_test_server(rt):
    told = ask(rt, "192.0.2.1:80").json()
    assert told["vendor"] is None


def test_the_answer_is_kept_for_the_boot(rt, found):
    with serving(aws(1)) as (address, _):
        found(address)
        again = ask(rt, address).json()
        assert again["instance_type"] == "c7i.4xlarge" and again["discovery_time"] is None
        assert "earlier" in again["source"]
        fresh = found(address, "--recording", rt.home / "elsewhere")
        assert fresh["source"] == "metadata service"
    kept = pathlib.Path(rt.state) / "cloud"
    assert kept.stat().st_mode & 0o777 == 0o600
    boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    text = kept.read_text()
    kept.write_text(text.replace(boot, "00000000-0000-0000-0000-000000000000"))
    assert ask(rt, "127.0.0.1:1").json()["vendor"] is None
    kept.write_text(text)
    kept.chmod(0o666)  # anybody may have written it
    assert ask(rt, "127.0.0.1:1").json()["vendor"] is None
    kept.chmod(0o600)
    assert ask(rt, "127.0.0.1:1").json()["vendor"] == "aws"
    kept.write_text(text.replace("aws\n", "<script>\n"))
    assert ask(rt, "127.0.0.1:1").json()["vendor"] is None


def test_nothing_is_kept_where_no_cloud_was_found(rt):
    with serving({}) as (address, _):
        ask(rt, address)
    assert not (pathlib.Path(rt.state) / "cloud").exists()


def test_what_is_stated_holds(rt, found):
    with serving(aws(1)) as (address, asked):
        told = found(address, "--instance", "gcp/us-central1/n2-standard-8")
        assert asked == []
        assert (told["vendor"], told["region"], told["instance_type"], told["source"]) == (
            "gcp", "us-central1", "n2-standard-8", "stated")
        found(address)
        told = ask(rt, address, "--instance", "aws//m5.large").json()
        assert (told["region"], told["instance_type"]) == ("eu-central-1", "m5.large")
        told = ask(rt, address, "--instance", "azure/westeurope").json()
        assert (told["region"], told["zone"], told["instance_type"]) == ("westeurope", None, None)
    for wrong in ("aws", "/x/y", "aws/us east/x", "aws/us-east-1/<b>"):
        result = rt.run("cloud-info", "--instance", wrong)
        assert result.rc == 2 and result.stderr.count("\n") == 1


# ---- beside a run ----

def test_a_run_remembers_its_cloud(rt, found):
    with serving(aws(2)) as (address, _):
        found(address)
        result = track(rt, address, "sleep", "0.1")
    assert result.summary["cloud"]["instance_type"] == "c7i.4xlarge"
    shown = rt.run("show", "--json", "@").json()
    assert shown["cloud"] == result.summary["cloud"]


def test_a_service_that_hangs_does_not_hold_up_the_end_of_a_job(rt):
    with raw(hang) as address:
        result = track(rt, address, "true")
    assert result.rc == 0
    reason = result.summary["cloud"]["reason"]
    assert "before a metadata service" in reason or "within a second" in reason  # on a busy machine


def test_samples_go_on_while_a_service_hangs(rt):
    with raw(hang) as address:
        result = track(rt, address, "sleep", "1.5")
    assert result.summary["tracker"]["samples"] >= 3
    assert "within a second" in result.summary["cloud"]["reason"]
