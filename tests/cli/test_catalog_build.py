"""Tests the generator of the table of servers and prices (tools/catalog_build): its cleaning rules, and what the
program reads from the table."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/catalog_build"))

import build  # noqa: E402
import disks  # noqa: E402
import places  # noqa: E402
import reach  # noqa: E402
import rules  # noqa: E402


def test_a_price_of_zero_is_no_price():
    for text in ("0", "0.000000", "", None, "-1", "n/a", "0.0000001"):
        assert rules.usd(text) is None, text
    assert rules.usd("0.096") == 9600
    assert rules.usd("0.000011") == 1


def test_windows_and_cloud_services_are_no_linux_products():
    for name in ("Virtual Machines Dv3 Series Windows", "D4 v3 Cloud Services", "CloudServices D1",
                 "D2 v3 Low Priority", "D2 v3 Spot", "Dsv3 Dedicated Host", "POP2-2C-8G-WIN"):
        assert not rules.is_linux_product(name), name
    assert rules.is_linux_product("Virtual Machines Dv3 Series")
    assert rules.is_linux_product("POP2-2C-8G")


def test_only_plain_azure_machines_remain():
    for name in ("Basic_A1", "Standard_D2as_v5_Promo", "Standard_E64is_v4_SPECIAL", "Dsv3_Type1",
                 "ARM_SKU_NAME_PLACEHOLDER", "Standard_E16ds_v4_ADHType1", "L192isv4",
                 "Standard_NM16ads_MA35D  ", "Standard_SQLG7_NVME"):
        assert not rules.is_azure_vm(name), name
    for name in ("Standard_D2s_v3", "Standard_E8-2as_v5", "Standard_NC4as_T4_v3",
                 "Standard_M176ds-44_3_v3"):
        assert rules.is_azure_vm(name), name


def test_vendors_that_bill_by_the_month_are_left_out():
    for vendor in ("contabo", "netcup", "hostinger", "euronodes", "infomaniak", "atlanticcloud"):
        assert not rules.bills_by_the_hour(vendor, "0.01"), vendor
    assert not rules.bills_by_the_hour("hetzner", "")
    assert rules.bills_by_the_hour("hetzner", "0.01")


@pytest.mark.parametrize("vendor,previous,current", [
    ("aws", "t1.micro m1.small m2.xlarge m3.medium m4.large c1.medium c3.large c4.large cc2.8xlarge "
            "r3.large r4.large g2.2xlarge g3.4xlarge g3s.xlarge p2.xlarge i2.xlarge d2.xlarge "
            "h1.2xlarge a1.medium",
     "t2.micro t3.micro m5.large m6g.medium c5.large c6i.large r5.large g4dn.xlarge g5.xlarge "
     "p3.2xlarge i3.large d3.xlarge x1.16xlarge mac1.metal im4gn.large"),
    ("azure", "Basic_A1 Standard_A2 Standard_A2m_v2 Standard_B2ms Standard_B1ls Standard_D2 "
              "Standard_DS3_v2 Standard_DS11-1_v2 Standard_D15i_v2 Standard_D4s_v3 Standard_E8-2s_v3 "
              "Standard_E64is_v3 Standard_F4 Standard_F4s_v2 Standard_G5 Standard_GS5-16 "
              "Standard_L8s Standard_L8s_v2 Standard_HB60rs Standard_HB120-16rs_v2 Standard_HC44rs "
              "Standard_NC6 Standard_NC24rs_v3 Standard_ND40rs_v2 Standard_NV12s_v3 Standard_NV4as_v4",
     "Standard_B2s_v2 Standard_D4_v4 Standard_D4s_v5 Standard_E8-2s_v5 Standard_F2as_v6 "
     "Standard_L8s_v3 Standard_HB120rs_v3 Standard_NC4as_T4_v3 Standard_NC24ads_A100_v4 "
     "Standard_NV6ads_A10_v5 Standard_DC2s_v3 Standard_M128s"),
    ("gcp", "f1-micro g1-small n1-standard-1 m1-ultramem-40",
     "e2-micro n2-standard-2 n2d-standard-2 m2-ultramem-208 c2-standard-4 g2-standard-4"),
    ("hetzner", "cx11 cx22 cpx11 cpx51", "cx23 cpx12 cpx62 ccx13 cax11"),
    ("ovh", "b2-7 c2-15 r2-30", "b3-8 c3-4 r3-16 d2-2"),
    ("scaleway", "START1-S X64-15GB", "DEV1-S PRO2-S STARDUST1-S"),
    ("vultr", "", "vc2-1c-1gb"),
])
def test_previous_generations_are_known_by_name(vendor, previous, current):
    for name in previous.split():
        assert rules.is_previous_generation(vendor, name), name
    for name in current.split():
        assert not rules.is_previous_generation(vendor, name), name


def test_restricted_regions():
    for vendor, region in (("aws", "us-gov-west-1"), ("aws", "cn-north-1"),
                           ("aws", "us-west-2-lax-1"), ("azure", "jioindiawest"),
                           ("azure", "centraluseuap"), ("azure", "usgovvirginia")):
        assert places.is_restricted(vendor, region), region
    for vendor, region in (("aws", "us-east-1"), ("azure", "centralindia"),
                           ("gcp", "northamerica-northeast1")):
        assert not places.is_restricted(vendor, region), region


def test_arm_is_known_by_name_whatever_a_list_says():
    for name in ("c4a-standard-4", "n4a-highmem-8", "t2a-standard-1", "a4x-highgpu-4g"):
        assert rules.arch("gcp", name, "X86_64") == "arm64", name
    for name in ("c4-standard-4", "n4-standard-2", "a2-highgpu-1g", "t2d-standard-1"):
        assert rules.arch("gcp", name) == "x86_64", name
    for name, arch in (("m6g.large", "arm64"), ("c7gn.xlarge", "arm64"), ("a1.large", "arm64"),
                       ("g5g.xlarge", "arm64"), ("t4g.nano", "arm64"), ("g5.xlarge", "x86_64"),
                       ("m5.large", "x86_64"), ("mac1.metal", "x86_64_mac"),
                       ("mac2.metal", "arm64_mac"), ("x2gd.large", "arm64")):
        assert rules.arch("aws", name) == arch, name
    for name, arch in (("Standard_D4ps_v5", "arm64"), ("Standard_E4pds_v5", "arm64"),
                       ("Standard_D4s_v5", "x86_64"), ("Standard_NP10s", "x86_64")):
        assert rules.arch("azure", name) == arch, name


def test_gcp_regions_have_names_and_no_numbers():
    names = {name for name, _, _, _ in places.regions("gcp")}
    assert {"us-central1", "europe-west4", "asia-east1"} <= names
    assert not [name for name in names if name.isdigit()]
    assert len(names) == 43


def test_every_region_has_a_country_of_two_letters():
    for vendor in places.VENDORS:
        for name, country, place, _ in places.regions(vendor):
            assert country == "-" or (len(country) == 2 and country.isupper()), name
            assert place


def test_sizes_by_naming_rule():
    assert rules.aws_by_name("c8id.metal-48xl") == (192, 393216)
    assert rules.aws_by_name("m9g.medium") == (1, 4096)
    assert rules.aws_by_name("r8in.large") == (2, 16384)
    assert rules.aws_by_name("m5.large") is None  # older families are not covered
    assert rules.aws_by_name("g7.xlarge") is None
    assert rules.azure_by_name("Standard_D128ls_v7", {}) == (128, 262144)
    assert rules.azure_by_name("Standard_E96as_v6", {}) == (96, 672 * 1024)
    assert rules.azure_by_name("Standard_E96as_v7", {}) == (96, 768 * 1024)
    known = {"Standard_M96ds_1_v3": (96, 1 << 20)}
    assert rules.azure_by_name("Standard_M96ds-24_1_v3", known) == (24, 1 << 20)
    assert rules.azure_by_name("Standard_L88is_v2", {}) is None
    assert rules.azure_by_name("Standard_E96ias_v5", {}) == (96, 672 * 1024)
    assert rules.gcp_by_name("z3-highmem-88") == (88, 704 * 1024)
    assert rules.gcp_by_name("z3-highmem-88-highlssd") is None


def test_a_size_follows_from_what_the_guest_sees():
    assert rules.aws_by_guest(8, 30792) == (8, 32 << 10)
    assert rules.aws_by_guest(4, 128269) == (4, 128 << 10)
    assert rules.aws_by_guest(192, 2039767) == (192, 2 << 20)  # 10.67 GiB a vCPU
    assert rules.aws_by_guest(8, 20000) is None  # of no size that is sold
    assert rules.aws_by_guest(8, 8 * 33 << 10) is None
    assert rules.aws_by_guest(0, 0) is None


def test_a_constrained_size_has_the_vcpus_of_its_name():
    assert rules.azure_vcpus("Standard_E8-2as_v5", 8) == 2
    assert rules.azure_vcpus("Standard_E8as_v5", 8) == 8


def test_estimates_of_regions_ignore_dedicated_tenancy():
    home = {"m5.large": 100, "m5.xlarge": 200}
    old = {"us-east-1": {"m5.large": 100, "m5.xlarge": 216},  # the second is a dedicated price
           "eu-west-1": {"m5.large": 120, "m5.xlarge": 222}}
    ratios = rules.region_ratios(old, home)
    assert ratios["eu-west-1", "m5"] == pytest.approx(1.11)
    assert rules.region_ratio(ratios, "eu-west-1", "m7i") == pytest.approx(1.11)  # kin
    assert rules.region_ratio(ratios, "eu-west-1", "m7g") is None  # another maker
    assert rules.region_ratio(ratios, "eu-north-1", "m5") is None


def test_low_prices_are_marked_and_misprints_left_out():
    prices = {"a": 100, "b": 110, "c": 55, "d": 105, "e": 10}
    assert rules.low_outliers(prices) == {"c", "e"}
    assert rules.misprints(prices) == {"e"}
    assert rules.low_outliers({"a": 1, "b": 100}) == set()


def test_scores_of_a_family():
    measured = {"m5.large": 100, "m5.xlarge": 220}
    vcpus = {"m5.large": 2, "m5.xlarge": 4, "m5.2xlarge": 8, "c5.large": 2}
    assert rules.family_scores("aws", measured, vcpus) == {"m5.2xlarge": 420}


def test_speeds_of_a_family_and_of_its_kin():
    measured = {"Standard_D4as_v5": (2700, 5400), "Standard_E8ads_v5": (2700, 10800),
                "Standard_D4s_v5": (1900, 3900), "Standard_D2s_v3": (1200, 1600)}
    vcpus = {**{name: int(name[10]) for name in measured}, "Standard_D8as_v5": 8,
             "Standard_DC4ads_v5": 4, "Standard_EC8es_v5": 8, "Standard_E4s_v3": 4,
             "Standard_M8ms": 8, "Standard_D8ps_v5": 8}
    assert rules.family_speeds("azure", measured, vcpus) == {
        "Standard_D8as_v5": (2700, 10800),  # its own family
        "Standard_DC4ads_v5": (2700, 5400),  # the AMD types of that version
        "Standard_EC8es_v5": (1900, 7800),  # the Intel ones
    }
    assert rules.family_speeds("aws", {"m5.large": (1000, 1200)}, {"m5.large": 2, "m5.xlarge": 4}) == {
        "m5.xlarge": (1000, 2400)}


def test_gpus_are_counted_and_accelerators_are_none():
    table = [("azure", r"Standard_NC(6|12)s_v3", 0, "Tesla V100", 16384, "-"),
             ("aws", r"g5\.xlarge", 1, "A10G", 24576, "-")]
    assert rules.gpus("azure", "Standard_NC12s_v3", table) == (2, "Tesla V100", 16384, "-")
    assert rules.gpus("aws", "g5.xlarge", table)[0] == 1
    assert rules.gpus("aws", "m5.large", table) is None
    for name in ("trn1.2xlarge", "inf2.xlarge", "dl1.24xlarge"):
        assert rules.flags("aws", name) == "accel"
    assert rules.flags("aws", "f1.2xlarge") == "fpga"


def test_local_disks_by_the_public_pages():
    for vendor, name, vcpus, gb in (
            ("aws", "m5d.large", 2, 75), ("aws", "c5d.12xlarge", 48, 1800), ("aws", "c5d.9xlarge", 36, 900),
            ("aws", "i3.metal", 72, 15200), ("aws", "i3.large", 2, 475), ("aws", "g5.xlarge", 4, 250),
            ("aws", "p4d.24xlarge", 96, 8000), ("aws", "i4i.xlarge", 4, 937),
            ("azure", "Standard_D2ds_v5", 2, 80), ("azure", "Standard_E8-2ds_v5", 2, 322),
            ("azure", "Standard_D4ads_v6", 4, 236), ("azure", "Standard_D2s_v3", 2, 17),
            ("azure", "Standard_L8s_v3", 8, 1920), ("gcp", "c3-standard-4-lssd", 4, 375),
            ("gcp", "c4-highmem-32-lssd", 32, 1875), ("gcp", "z3-highmem-88-highlssd", 88, 36000),
            ("gcp", "a2-ultragpu-4g", 48, 1500)):
        assert disks.disk_gb(vendor, name, vcpus) == gb, name
    for vendor, name in (("aws", "m5.large"), ("azure", "Standard_D2s_v5"), ("azure", "Standard_D4s_v4"),
                         ("azure", "Standard_E64s_v3"), ("azure", "Standard_D3_v2"),
                         ("azure", "Standard_E104ids_v5"), ("gcp", "c3-standard-4"),
                         ("gcp", "c3-standard-5-lssd"), ("hetzner", "cx23")):
        assert disks.disk_gb(vendor, name, 4) is None, name


def test_a_price_needs_a_specification_and_a_strange_saving_is_dropped():
    cat = build.Catalogue("aws")
    cat.server("m5.large", 2, 8192, "own")
    cat.price("us-east-1", "m5.large", 9600, "own", saving=-62, klass=1, spot="spot-advisor")
    cat.price("us-east-1", "unknown", 1, "own")
    assert cat.blocks["prices", "us-east-1", "own", "exact", "-"] == {"m5.large": (9600, "-", "-")}
    assert cat.dropped == {"price of a type without specification": 1,
                           "spot saving out of range": 1}


def test_the_share_alike_facts_stand_in_their_own_file():
    for path in sorted((ROOT / "data").glob("*.tsv")):
        text = path.read_text(encoding="utf-8")
        assert ("CC-BY-SA" in text) == (path.name == "sparecores.tsv"), path
        assert text.endswith("\nend\n")
    notice = (ROOT / "data/NOTICE").read_text(encoding="utf-8")
    for source, (_, licence, _) in build.SOURCES.items():
        if licence.startswith(("Apache", "MIT")):
            assert build.SOURCES[source][2].split(",")[0].split(" as ")[0].split()[-1] in notice \
                or source == "spot-advisor"


def test_one_machine_has_one_name_in_all_lists():
    lists = "no-licence-stated/eu_cloud_prices_2026-08-17.csv.gz"
    assert reach.row(lists, "azure", {"id": "D4s_v3"}, "id") == ("azure", "Standard_D4s_v3")
    assert reach.machine("azure", "Basic_A1") is None
    assert reach.machine("hcloud", "cx22") == ("hetzner", "cx22")
    assert reach.machine("upcloud", "DEV-1xCPU-1GB") == reach.machine("upcloud", "dev-1xcpu-1gb")
    assert reach.machine("aws", "m5") is None and reach.machine("aws", "m5.large")
    for name in reach.FILES:
        assert name.split("/")[0] in ("permissive", "no-licence-stated", "cc-by-sa-4.0")
    # What is under another licence than the table's is never said to be in it.
    assert not [n for n, rule in reach.FILES.items()
                if rule[0] == reach.IN_TABLE and not n.startswith("permissive/")]


def write_inputs(folder):
    """A few rows of every input, in its layout."""
    files = {
        "permissive/aws_ondemand_karpenter_2026-07-20.csv":
            "region,instance_type,currency,ondemand_per_hour\nus-east-1,m5.large,USD,0.096\n"
            "us-east-1,m9g.large,USD,0.09\nus-east-1,g9.large,USD,0.9\ncn-north-1,m5.large,CNY,0.9\nus-east-1,zero.large,USD,0\n",
        "permissive/specs_k8s_autoscaler.csv":
            "vendor,instance_type,vcpu,memory_mib,gpu,arch\naws,m5.large,2,8192,0,amd64\n"
            "azure,Standard_D2s_v3,2,8192,0,amd64\nazure,Standard_E8-2s_v3,8,65536,0,amd64\n",
        "permissive/aws_ec2_linux_libcloud_2023-08-06.csv":
            "region,instance_type,usd_per_hour\nus-east-1,m5.large,0.096\neu-west-1,m5.large,0.107\n",
        "permissive/aws_spot_advisor_2025-06-28.csv":
            "region,instance_type,savings_pct_vs_ondemand,interruption_class_0to4\n"
            "us-east-1,m5.large,45,2\n",
        "permissive/aws_coremark_vantage_2026-07-06.csv":
            "instance_type,coremark_iter_per_s,threads,memory_total_mb_in_guest,gpu_name,gpu_count,"
            "ran_at\nm5.large,28470,2,7811,,0,2025-12-11\nx9.large,28470,2,64009,,0,2025-12-11\n"
            "g9.large,28470,2,7811,,0,2025-12-11\n",
        "permissive/gpu_map_own.csv":
            "vendor,type_regex,gpu_count_if_fixed,model,vram_mib_per_gpu_or_share,fraction_of_gpu\n",
        "permissive/azure_ondemand_karpenter_2026-06-18.csv":
            "region,arm_sku_name,usd_per_hour_as_published,usd_per_hour_corrected,corrected\n"
            "eastus,Standard_D2s_v3,0.188,0.096,1\neastus,Standard_E8-2s_v3,0.504,0.504,0\n"
            "westus,Standard_D2s_v3,0,0,0\neastus,Basic_A1,0.02,0.02,0\n",
        "permissive/gcp_ondemand_spot_cyclenerd_2026-07-30.csv":
            "region,machine_type,vcpu,memory_gb,usd_per_hour,usd_per_hour_spot,offered_in_region\n"
            "us-central1,c4a-standard-1,1,4,0.0449,0.018,1\n"
            "africa-south1,c4a-standard-1,1,4,0.05,0.02,0\n",
        "permissive/gcp_coremark_cyclenerd.csv": "machine_type,coremark\nc4a-standard-1,25000\n",
        "no-licence-stated/eu_cloud_prices_2026-08-17.csv":
            "provider,id,location,vcpu,ram_gb,disk_gb,disk_type,arch,category,gpu_count,gpu_model,"
            "gpu_memory_gb,eur_per_hour,eur_per_month,usd_per_hour_if_given,fetched_at\n"
            "hetzner,cax11,eu,2,4,40,nvme,arm64,shared,,,,0.0124,7.72,,2026-08-17\n"
            "contabo,vps1,eu,8,32,40,nvme,x86,shared,,,,0.01,7.3,,2026-08-17\n"
            "scaleway,POP2-2C-8G-WIN,fr-par-1,2,8,0,,x86,general,,,,0.1723,125.78,,2026-08-14\n"
            "scaleway,POP2-2C-8G,fr-par-1,2,8,0,,x86,general,,,,0.0735,53.65,,2026-08-14\n"
            "ovh,monthly,eu,8,32,40,nvme,x86,shared,,,,,7.3,,2026-08-17\n",
        "no-licence-stated/vultr_plans_2025-12-18.csv":
            "plan_id,type,vcpu,ram_gb,disk_gb,bandwidth_gb,usd_per_month\n"
            "vc2-1c-0.5gb-free,vc2,1,0.5,10,0,0\nvc2-1c-1gb,vc2,1,1,25,1024,5\n",
        "cc-by-sa-4.0/sparecores_servers_2026-01-31.csv":
            "vendor_id,server_id,api_reference,vcpus,cpu_allocation,cpu_architecture,memory_amount,"
            "gpu_count,gpu_memory_total,gpu_model,storage_size,status\n"
            "aws,m5.large,m5.large,2,DEDICATED,X86_64,8192,0,,,0,ACTIVE\n"
            "alicloud,e.large,e.large,2,SHARED,X86_64,8192,0,,,40,ACTIVE\n",
        "cc-by-sa-4.0/sparecores_inspector_stressng_2026-08-22.csv":
            "vendor_id,api_reference,arch,lscpu_cpus,cpu_model,stressng_max_threads,stress_ng_best1,"
            "stress_ng_bestn,measured_at\naws,m5.large,x86_64,2,X,2,800.4,1000.6,2026-01-01\n",
    }
    import gzip
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        with gzip.open(str(path) + ".gz", "wt", encoding="utf-8") as f:
            f.write(text)


def generate(inputs, out):
    result = subprocess.run(["/usr/bin/python3", str(ROOT / "tools/catalog_build"), str(inputs),
                             str(out)], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return {path.name: path.read_bytes() for path in sorted(out.glob("*.tsv"))}, result.stdout


def test_writes_the_same_bytes_twice_and_only_clean_rows(rt, tmp_path):
    write_inputs(tmp_path / "in")
    first, said = generate(tmp_path / "in", tmp_path / "one")
    second, _ = generate(tmp_path / "in", tmp_path / "two")
    assert first == second
    assert said.splitlines()[0].split() == [
        "vendor", "types", "priced", "unsized", "prices", "with", "spec", "gpus", "coremark", "any",
        "score", "disks"]
    told = {line.split()[0]: line.split() for line in said.splitlines()[1:9]}
    assert set(told) == set(places.VENDORS) - {"alicloud"}
    assert told["aws"] == ["aws", "3", "2", "1", "3", "75.0", "%", "0", "2", "2", "0"]
    assert "check: local disks by rule: 0 of 0" in said
    assert "check: 14 types of these vendors are named by any input" in said
    aws, azure = first["aws.tsv"].decode(), first["azure.tsv"].decode()
    assert "\tm5.large\t0.096\t45\t2\n" in aws
    assert "\tm5.large\t0.107\n" in aws  # eu-west-1, estimated by the ratio
    assert "\tm9g.large\t2\t8192\tarm64\tdedicated\t1\n" in aws  # by its name
    assert "\tx9.large\t2\t65536\tx86_64\t" in aws  # by what its guest saw
    assert "g9.large" not in aws  # whose GPUs nothing tells
    assert "CNY" not in aws and "zero" not in aws
    assert "prices\tazure\teastus\tkarpenter-azure\t2026-06-18\tcorrected\t-\n" \
        "\tStandard_D2s_v3\t0.096\n" in azure
    assert "0.188" not in azure and "Basic" not in azure and "prices\tazure\twestus" not in azure
    assert "\tStandard_E8-2s_v3\t2\t65536\t" in azure
    assert "africa-south1" not in first["gcp.tsv"].decode()
    assert "\tc4a-standard-1\t0.0449\t60\n" in first["gcp.tsv"].decode()
    assert "contabo" not in first["hetzner.tsv"].decode()
    assert "\tmonthly" not in first.get("ovh.tsv", b"").decode()
    assert "\tPOP2-2C-8G\t0.085" in first["scaleway.tsv"].decode()
    assert "WIN" not in first["scaleway.tsv"].decode()
    assert "free" not in first["vultr.tsv"].decode()
    assert "\tm5.large\t800\t1001\n" in first["sparecores.tsv"].decode()
    for name in first:  # and the program reads what was written
        if name != "sparecores.tsv":
            result = rt.run("catalog", "info", "--catalog", tmp_path / "one" / name)
            assert result.rc == 0, result
