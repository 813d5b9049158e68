"""Compares src/probe/gpu/nvml.h with NVIDIA's header: sizes, offsets, constants and types of functions.

For each header, a generated C program includes both headers, ours with renamed symbols. The compiler and the program
compare them.
"""

import re
import subprocess

import pytest

import nvml_headers
from conftest import ROOT

OURS = ROOT / "src/probe/gpu/nvml.h"

# Our name, NVIDIA's, and the members in pairs.
STRUCTS = {
    "struct nvml_utilization": ("nvmlUtilization_t", "gpu=gpu memory=memory"),
    "struct nvml_memory": ("nvmlMemory_t", "total=total free=free used=used"),
    "struct nvml_memory_v2": ("nvmlMemory_v2_t",
                              "version=version total=total reserved=reserved free=free used=used"),
    "struct nvml_pci_info": (
        "nvmlPciInfo_t", "legacy_bus_id=busIdLegacy domain=domain bus=bus device=device "
        "pci_device_id=pciDeviceId pci_subsystem_id=pciSubSystemId bus_id=busId"),
    "struct nvml_process": (
        "nvmlProcessInfo_v2_t", "pid=pid used_memory=usedGpuMemory gpu_instance=gpuInstanceId "
        "compute_instance=computeInstanceId"),
    "struct nvml_process_v1": ("nvmlProcessInfo_v1_t", "pid=pid used_memory=usedGpuMemory"),
    "struct nvml_process_sample": (
        "nvmlProcessUtilizationSample_t", "pid=pid time_us=timeStamp sm=smUtil memory=memUtil "
        "encoder=encUtil decoder=decUtil"),
    "struct nvml_event": (
        "nvmlEventData_t", "device=device type=eventType data=eventData gpu_instance=gpuInstanceId "
        "compute_instance=computeInstanceId"),
    "struct nvml_process_info": (
        "nvmlProcessUtilizationInfo_v1_t", "time_us=timeStamp pid=pid sm=smUtil memory=memUtil "
        "encoder=encUtil decoder=decUtil jpeg=jpgUtil optical_flow=ofaUtil"),
    "struct nvml_processes_info": (
        "nvmlProcessesUtilizationInfo_v1_t", "version=version count=processSamplesCount "
        "since_us=lastSeenTimeStamp info=procUtilArray"),
    "struct nvml_temperature": (
        "nvmlTemperature_v1_t", "version=version sensor=sensorType celsius=temperature"),
    "struct nvml_field": (
        "nvmlFieldValue_t", "id=fieldId scope=scopeId time_us=timestamp latency_us=latencyUsec "
        "value_type=valueType result=nvmlReturn value=value"),
    "struct nvml_gpm_support": ("nvmlGpmSupport_t", "version=version is_supported=isSupportedDevice"),
    "struct nvml_gpm_metric": (
        "nvmlGpmMetric_t", "id=metricId result=nvmlReturn value=value info=metricInfo "
        "info.short_name=metricInfo.shortName info.long_name=metricInfo.longName "
        "info.unit=metricInfo.unit"),
    "struct nvml_gpm_metrics": (
        "nvmlGpmMetricsGet_t",
        "version=version count=numMetrics sample1=sample1 sample2=sample2 metric=metrics"),
}
GROWING = ("struct nvml_gpm_metrics", "metric")  # ours has room for more
TYPES = {**{ours: theirs for ours, (theirs, _) in STRUCTS.items()},
         "nvml_device": "nvmlDevice_t", "nvml_gpm_sample": "nvmlGpmSample_t",
         "nvml_events": "nvmlEventSet_t"}
ENUMS = {"nvmlDeviceGetTemperature": "nvmlTemperatureSensors_t", "nvmlDeviceGetClockInfo": "nvmlClockType_t",
         "nvmlDeviceGetPcieThroughput": "nvmlPcieUtilCounter_t"}


def functions():
    """Parameters and names of each function of our list."""
    text = re.search(r"#define NVML_FUNCTION_LIST\(X\)(.*?)\n\n#endif", OURS.read_text(), re.S)[1]
    text = " ".join(text.replace("\\\n", " ").split())
    found = re.findall(r'X\(\w+, \(([^()]*)\), "(\w+)", (?:"(\w+)"|NULL)\)', text)
    assert len(found) == text.count("X("), "the list is written in another way than this test reads"
    return found


def renamed():
    text = OURS.read_text().replace("TRK_PROBE_GPU_NVML_H", "OURS_H")
    return re.sub(r"\bnvml_", "ours_nvml_", re.sub(r"\bNVML_", "OURS_NVML_", text))


def numbers():
    """Names of our enumerators, but for what only we have."""
    names = re.findall(r"\b(NVML_\w+) *=", OURS.read_text())
    return [n for n in names if n not in ("NVML_GPM_VERSION", "NVML_GPM_METRICS_ROOM")]


def struct_checks(header):
    for ours, (theirs, members) in STRUCTS.items():
        if theirs not in header:
            continue
        mine = ours.replace("nvml_", "ours_nvml_")
        compare = ">=" if ours == GROWING[0] else "=="
        yield f"CHECK(sizeof({mine}) {compare} sizeof({theirs}));"
        for a, b in (pair.split("=") for pair in members.split()):
            yield f"CHECK(offsetof({mine}, {a}) == offsetof({theirs}, {b}));"
            if (ours, a) != GROWING:
                yield f"CHECK(sizeof((({mine} *) 0)->{a}) == sizeof((({theirs} *) 0)->{b}));"


def number_checks(header):
    for name in numbers():
        if re.search(rf"\b{name}\b", header):
            yield f"CHECK((long long) OURS_{name} == (long long) {name});"
    yield "CHECK(OURS_NVML_EVENT_XID == nvmlEventTypeXidCriticalError);"
    if "nvmlMemory_v2_t" in header:
        yield "CHECK(OURS_NVML_MEMORY_V2 == nvmlMemory_v2);"
    if "nvmlProcessesUtilizationInfo_v1_t" in header:
        yield "CHECK(OURS_NVML_PROCESSES_INFO_V1 == nvmlProcessesUtilizationInfo_v1);"
    if "nvmlTemperature_v1_t" in header:
        yield "CHECK(OURS_NVML_TEMPERATURE_V1 == nvmlTemperature_v1);"
    if "nvmlGpmMetricsGet_t" in header:
        yield "CHECK(OURS_NVML_GPM_VERSION == NVML_GPM_METRICS_GET_VERSION);"
        yield "CHECK(OURS_NVML_GPM_VERSION == NVML_GPM_SUPPORT_VERSION);"


def function_checks(header):
    for parameters, *names in functions():
        for name in filter(None, names):
            if not re.search(rf"\bDECLDIR {name}\(", header):
                continue
            theirs = parameters
            for a, b in sorted(TYPES.items(), key=lambda pair: -len(pair[0])):
                theirs = re.sub(rf"{a}\b", b, theirs)
            if name.endswith("RunningProcesses_v3"):  # its entries vary: the program prefers _v2
                theirs = theirs.replace("nvmlProcessInfo_v2_t", "nvmlProcessInfo_t")
            if name in ENUMS:
                theirs = theirs.replace("unsigned int,", f"{ENUMS[name]},", 1)
            yield (f"{{ nvmlReturn_t (*wanted)({theirs}) = {name}; (void) wanted; checks++; }}")


def program(version):
    header = nvml_headers.header(version).read_text(errors="replace")
    checks = [*struct_checks(header), *number_checks(header), *function_checks(header)]
    return "\n".join([
        "#define NVML_NO_UNVERSIONED_FUNC_DEFS", "#include <stddef.h>", "#include <stdio.h>",
        f'#include "{nvml_headers.header(version)}"', '#include "ours.h"', "static int checks, wrong;",
        '#define CHECK(c) do { checks++; if (!(c)) { wrong++; puts(#c); } } while (0)',
        "int main(void)", "{", *checks, 'printf("%d checks\\n", checks);', "return wrong != 0;", "}", ""])


@pytest.mark.parametrize("version", nvml_headers.VERSIONS)
def test_declarations_are_those_of_the_official_header(tmp_path, version):
    (tmp_path / "ours.h").write_text(renamed())
    (tmp_path / "check.c").write_text(program(version))
    nvml_headers.compile_c("-Wno-unused-function", "-I", tmp_path, "-Wl,--unresolved-symbols=ignore-all",
                           "-o", tmp_path / "check", tmp_path / "check.c")
    result = subprocess.run([tmp_path / "check"], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout
    count = int(result.stdout.split()[-2])
    assert count > 120  # that the program compares something


def test_every_function_and_number_is_in_some_header():
    text = "".join(nvml_headers.header(v).read_text(errors="replace") for v in nvml_headers.VERSIONS)
    names = {name for _, *names in functions() for name in names if name}
    unversioned = {"nvmlInit", "nvmlDeviceGetCount", "nvmlDeviceGetHandleByIndex"}  # by macro
    assert [n for n in names - unversioned if not re.search(rf"\bDECLDIR {n}\(", text)] == []
    assert [n for n in numbers() if not re.search(rf"\b{n}\b", text)] == []
