/* The part of NVIDIA's Management Library that is used, declared from its public documentation. The
 * library is loaded at run time; nothing is linked. */
#ifndef TRK_PROBE_GPU_NVML_H
#define TRK_PROBE_GPU_NVML_H

#include <stdint.h>

#define NVML_LIBRARY "libnvidia-ml.so.1"

enum {
	NVML_SUCCESS = 0,
	NVML_ERROR_UNINITIALIZED = 1,
	NVML_ERROR_INVALID_ARGUMENT = 2,
	NVML_ERROR_NOT_SUPPORTED = 3,
	NVML_ERROR_NO_PERMISSION = 4,
	NVML_ERROR_NOT_FOUND = 6,
	NVML_ERROR_INSUFFICIENT_SIZE = 7,
	NVML_ERROR_DRIVER_NOT_LOADED = 9,
	NVML_ERROR_TIMEOUT = 10,
	NVML_ERROR_IRQ_ISSUE = 11,
	NVML_ERROR_FUNCTION_NOT_FOUND = 13,
	NVML_ERROR_GPU_IS_LOST = 15,
	NVML_ERROR_RESET_REQUIRED = 16,
	NVML_ERROR_LIB_RM_VERSION_MISMATCH = 18,
	NVML_ERROR_NO_DATA = 21,
	NVML_ERROR_ARGUMENT_VERSION_MISMATCH = 25,
	NVML_ERROR_UNKNOWN = 999,
};

enum {
	NVML_TEMPERATURE_GPU = 0,
	NVML_CLOCK_SM = 1,
	NVML_CLOCK_MEM = 2,
	NVML_PCIE_UTIL_TX_BYTES = 0,
	NVML_PCIE_UTIL_RX_BYTES = 1,
	NVML_FI_DEV_ECC_SBE_VOL_TOTAL = 3, /* errors since the driver was loaded */
	NVML_FI_DEV_ECC_DBE_VOL_TOTAL = 4,
	NVML_VALUE_TYPE_DOUBLE = 0,
	NVML_VALUE_TYPE_UNSIGNED_INT = 1,
	NVML_VALUE_TYPE_UNSIGNED_LONG = 2,
	/* KiB since an unspecified moment; scope UINT32_MAX: of all links. */
	NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX = 138,
	NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX = 139,
	NVML_GPM_METRIC_SM_UTIL = 2,          /* percent */
	NVML_GPM_METRIC_DRAM_BW_UTIL = 10,    /* percent */
	NVML_GPM_METRIC_PCIE_TX_PER_SEC = 20, /* MiB/s */
	NVML_GPM_METRIC_PCIE_RX_PER_SEC = 21,
	NVML_GPM_VERSION = 1,
};

#define NVML_VALUE_NOT_AVAILABLE UINT64_MAX
#define NVML_EVENT_XID           8ull

typedef struct nvml_device *nvml_device; /* opaque */
typedef struct nvml_gpm_sample *nvml_gpm_sample;
typedef struct nvml_events *nvml_events;

struct nvml_utilization {
	unsigned int gpu, memory; /* percent */
};

struct nvml_memory {
	unsigned long long total, free, used; /* bytes; used includes the driver's reserve */
};

struct nvml_memory_v2 {
	unsigned int version;
	unsigned long long total, reserved, free, used;
};

#define NVML_MEMORY_V2 ((unsigned int) (sizeof(struct nvml_memory_v2) | 2u << 24))

struct nvml_pci_info {
	char legacy_bus_id[16];
	unsigned int domain, bus, device, pci_device_id, pci_subsystem_id;
	char bus_id[32];
};

struct nvml_process { /* of the functions _v2, and of _v3 except in drivers 535.43 to 535.86 */
	unsigned int pid;
	unsigned long long used_memory;
	unsigned int gpu_instance, compute_instance;
};

struct nvml_process_v1 {
	unsigned int pid;
	unsigned long long used_memory;
};

struct nvml_process_sample {
	unsigned int pid;
	unsigned long long time_us;                /* wall clock */
	unsigned int sm, memory, encoder, decoder; /* percent */
};

/* As above, of nvmlDeviceGetProcessesUtilizationInfo (since driver 545). */
struct nvml_process_info {
	unsigned long long time_us;
	unsigned int pid, sm, memory, encoder, decoder, jpeg, optical_flow;
};

struct nvml_processes_info {
	unsigned int version, count;
	unsigned long long since_us;
	struct nvml_process_info *info;
};

#define NVML_PROCESSES_INFO_V1 ((unsigned int) (sizeof(struct nvml_processes_info) | 1u << 24))

struct nvml_temperature { /* of nvmlDeviceGetTemperatureV (since driver 570) */
	unsigned int version, sensor;
	int celsius;
};

#define NVML_TEMPERATURE_V1 ((unsigned int) (sizeof(struct nvml_temperature) | 1u << 24))

struct nvml_event {
	nvml_device device;
	unsigned long long type, data; /* data: the code of an Xid error */
	unsigned int gpu_instance, compute_instance;
};

struct nvml_field {
	unsigned int id, scope;
	long long time_us, latency_us;
	int value_type;
	int result;
	union {
		double d;
		unsigned int ui;
		unsigned long ul;
		unsigned long long ull;
		long long sll;
	} value;
};

struct nvml_gpm_support {
	unsigned int version, is_supported;
};

/* The library may write as many entries as its header declares: 98 in CUDA 11.8, 477 in 13.5. */
enum { NVML_GPM_METRICS_ROOM = 512 };

struct nvml_gpm_metric {
	unsigned int id;
	int result;
	double value;
	struct {
		char *short_name, *long_name, *unit;
	} info;
};

struct nvml_gpm_metrics {
	unsigned int version, count;
	nvml_gpm_sample sample1, sample2;
	struct nvml_gpm_metric metric[NVML_GPM_METRICS_ROOM];
};

/* X(member, parameters, names in the library, best first)
 *
 * Process lists use _v2: drivers 535.43 to 535.86 fill entries of 32 bytes by _v3, all others
 * entries of 24 bytes by both. */
#define NVML_FUNCTION_LIST(X)                                                                      \
	X(init, (void), "nvmlInit_v2", "nvmlInit")                                                 \
	X(shutdown, (void), "nvmlShutdown", NULL)                                                  \
	X(driver_version, (char *, unsigned int), "nvmlSystemGetDriverVersion", NULL)              \
	X(count, (unsigned int *), "nvmlDeviceGetCount_v2", "nvmlDeviceGetCount")                  \
	X(handle, (unsigned int, nvml_device *), "nvmlDeviceGetHandleByIndex_v2",                  \
	  "nvmlDeviceGetHandleByIndex")                                                            \
	X(handle_by_uuid, (const char *, nvml_device *), "nvmlDeviceGetHandleByUUID", NULL)        \
	X(name, (nvml_device, char *, unsigned int), "nvmlDeviceGetName", NULL)                    \
	X(uuid, (nvml_device, char *, unsigned int), "nvmlDeviceGetUUID", NULL)                    \
	X(pci_info, (nvml_device, struct nvml_pci_info *), "nvmlDeviceGetPciInfo_v3", NULL)        \
	X(minor, (nvml_device, unsigned int *), "nvmlDeviceGetMinorNumber", NULL)                  \
	X(memory_v2, (nvml_device, struct nvml_memory_v2 *), "nvmlDeviceGetMemoryInfo_v2", NULL)   \
	X(memory, (nvml_device, struct nvml_memory *), "nvmlDeviceGetMemoryInfo", NULL)            \
	X(utilization, (nvml_device, struct nvml_utilization *), "nvmlDeviceGetUtilizationRates",  \
	  NULL)                                                                                    \
	X(encoder, (nvml_device, unsigned int *, unsigned int *),                                  \
	  "nvmlDeviceGetEncoderUtilization", NULL)                                                 \
	X(decoder, (nvml_device, unsigned int *, unsigned int *),                                  \
	  "nvmlDeviceGetDecoderUtilization", NULL)                                                 \
	X(temperature, (nvml_device, unsigned int, unsigned int *), "nvmlDeviceGetTemperature",    \
	  NULL)                                                                                    \
	X(temperature_v, (nvml_device, struct nvml_temperature *), "nvmlDeviceGetTemperatureV",    \
	  NULL)                                                                                    \
	X(power, (nvml_device, unsigned int *), "nvmlDeviceGetPowerUsage", NULL)                   \
	X(energy, (nvml_device, unsigned long long *), "nvmlDeviceGetTotalEnergyConsumption",      \
	  NULL)                                                                                    \
	X(clock, (nvml_device, unsigned int, unsigned int *), "nvmlDeviceGetClockInfo", NULL)      \
	X(throttle, (nvml_device, unsigned long long *), "nvmlDeviceGetCurrentClocksEventReasons", \
	  "nvmlDeviceGetCurrentClocksThrottleReasons")                                             \
	X(events_new, (nvml_events *), "nvmlEventSetCreate", NULL)                                 \
	X(events_free, (nvml_events), "nvmlEventSetFree", NULL)                                    \
	X(events_of, (nvml_device, unsigned long long, nvml_events), "nvmlDeviceRegisterEvents",   \
	  NULL)                                                                                    \
	X(next_event, (nvml_events, struct nvml_event *, unsigned int), "nvmlEventSetWait_v2",     \
	  NULL)                                                                                    \
	X(pcie, (nvml_device, unsigned int, unsigned int *), "nvmlDeviceGetPcieThroughput", NULL)  \
	X(fields, (nvml_device, int, struct nvml_field *), "nvmlDeviceGetFieldValues", NULL)       \
	X(compute_processes, (nvml_device, unsigned int *, struct nvml_process *),                 \
	  "nvmlDeviceGetComputeRunningProcesses_v2", "nvmlDeviceGetComputeRunningProcesses_v3")    \
	X(graphics_processes, (nvml_device, unsigned int *, struct nvml_process *),                \
	  "nvmlDeviceGetGraphicsRunningProcesses_v2", "nvmlDeviceGetGraphicsRunningProcesses_v3")  \
	X(mps_processes, (nvml_device, unsigned int *, struct nvml_process *),                     \
	  "nvmlDeviceGetMPSComputeRunningProcesses_v2",                                            \
	  "nvmlDeviceGetMPSComputeRunningProcesses_v3")                                            \
	X(compute_processes_v1, (nvml_device, unsigned int *, struct nvml_process_v1 *),           \
	  "nvmlDeviceGetComputeRunningProcesses", NULL)                                            \
	X(graphics_processes_v1, (nvml_device, unsigned int *, struct nvml_process_v1 *),          \
	  "nvmlDeviceGetGraphicsRunningProcesses", NULL)                                           \
	X(process_samples,                                                                         \
	  (nvml_device, struct nvml_process_sample *, unsigned int *, unsigned long long),         \
	  "nvmlDeviceGetProcessUtilization", NULL)                                                 \
	X(processes_info, (nvml_device, struct nvml_processes_info *),                             \
	  "nvmlDeviceGetProcessesUtilizationInfo", NULL)                                           \
	X(mig_mode, (nvml_device, unsigned int *, unsigned int *), "nvmlDeviceGetMigMode", NULL)   \
	X(mig_count, (nvml_device, unsigned int *), "nvmlDeviceGetMaxMigDeviceCount", NULL)        \
	X(mig_handle, (nvml_device, unsigned int, nvml_device *),                                  \
	  "nvmlDeviceGetMigDeviceHandleByIndex", NULL)                                             \
	X(gpm_support, (nvml_device, struct nvml_gpm_support *), "nvmlGpmQueryDeviceSupport",      \
	  NULL)                                                                                    \
	X(gpm_alloc, (nvml_gpm_sample *), "nvmlGpmSampleAlloc", NULL)                              \
	X(gpm_free, (nvml_gpm_sample), "nvmlGpmSampleFree", NULL)                                  \
	X(gpm_get, (nvml_device, nvml_gpm_sample), "nvmlGpmSampleGet", NULL)                       \
	X(gpm_get_instance, (nvml_device, unsigned int, nvml_gpm_sample), "nvmlGpmMigSampleGet",   \
	  NULL)                                                                                    \
	X(instance_id, (nvml_device, unsigned int *), "nvmlDeviceGetGpuInstanceId", NULL)          \
	X(gpm_metrics, (struct nvml_gpm_metrics *), "nvmlGpmMetricsGet", NULL)

#endif
