/* A library that simulates NVIDIA's driver. tests/cli/test_gpu_drivers.py builds it from an
 * official nvml.h. It uses no declarations of src/.
 *
 *     -DHEADER='"…/nvml.h"' -DDRIVER=535 -DDRIVER_TEXT='"535.54.03"'
 *
 * It has the functions of a driver of this version. TRK_PLAY contains words that change what it
 * simulates. TRK_PLAY_PIDS names a file with the pids of the processes on the GPU, which use 1 GiB
 * each. While the file TRK_PLAY_LOST exists, the GPU is lost, and after that until the library is
 * initialised again. The names of called functions are written to TRK_PLAY_CALLS, one per line. */
#define NVML_NO_UNVERSIONED_FUNC_DEFS
#include HEADER

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define GIB 1073741824ull
#define MIB 1048576ull

enum { PIDS_MAX = 4096, INSTANCES = 2, SHARE_PERCENT = 7 };

static char gpu_place, instance_place[INSTANCES];

#define GPU         ((nvmlDevice_t) &gpu_place)
#define INSTANCE(i) ((nvmlDevice_t) &instance_place[i])

static int plays(const char *word)
{
	const char *words = getenv("TRK_PLAY");

	return words && strstr(words, word);
}

/* A container that was given an instance alone has no rights on the GPU itself. */
static int is_closed(nvmlDevice_t device)
{
	return device == GPU && plays("closed");
}

static void note(const char *function)
{
	const char *path = getenv("TRK_PLAY_CALLS");
	FILE *f = path ? fopen(path, "a") : NULL;

	if (!f)
		return;
	(void) fprintf(f, "%s\n", function);
	(void) fclose(f);
}

#define NOTE note(__func__)

static int was_lost;

static int is_lost(void)
{
	const char *path = getenv("TRK_PLAY_LOST");

	if (path && access(path, F_OK) == 0)
		was_lost = 1;
	return was_lost;
}

static unsigned long long wall_us(void)
{
	struct timespec now;

	(void) clock_gettime(CLOCK_REALTIME, &now);
	return (unsigned long long) now.tv_sec * 1000000 + (unsigned long long) now.tv_nsec / 1000;
}

static unsigned int read_pids(unsigned int pid[PIDS_MAX])
{
	const char *path = getenv("TRK_PLAY_PIDS");
	FILE *f = path ? fopen(path, "r") : NULL;
	unsigned int n = 0;

	while (f && n < PIDS_MAX && fscanf(f, "%u", &pid[n]) == 1)
		n++;
	if (f)
		(void) fclose(f);
	return n;
}

/* A process in a session of its own, and another one whose parent has ended. */
static void start_daemons(void)
{
	for (int i = 0; i < 2; i++) {
		char name[32];

		if (fork() != 0)
			continue;
		if (i == 1 && fork() != 0)
			_exit(0);
		(void) setsid();
		(void) snprintf(name, sizeof(name), "daemon:%d", (int) getpid());
		note(name);
		for (;;)
			(void) pause();
	}
}

nvmlReturn_t nvmlInit_v2(void)
{
	NOTE;
	if (plays("daemons"))
		start_daemons();
	was_lost = 0;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlShutdown(void)
{
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlSystemGetDriverVersion(char *to, unsigned int size)
{
	(void) snprintf(to, size, "%s", DRIVER_TEXT);
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int *count)
{
	*count = 1;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *device)
{
	static int asked;

	NOTE;
	if (is_lost())
		return NVML_ERROR_GPU_IS_LOST;
	if (plays("irq") && asked++ == 0)
		return NVML_ERROR_IRQ_ISSUE;
	*device = GPU;
	return index ? NVML_ERROR_INVALID_ARGUMENT : NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device)
{
	NOTE;
	if (is_lost())
		return NVML_ERROR_GPU_IS_LOST;
	*device = GPU;
	return strcmp(uuid, "GPU-1") ? NVML_ERROR_NOT_FOUND : NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char *to, unsigned int size)
{
	(void) snprintf(to, size, "%s",
			device == GPU ? "NVIDIA A100" : "NVIDIA A100 MIG 1c.3g.20gb");
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *to, unsigned int size)
{
	(void) snprintf(to, size, "%s",
			device == GPU           ? "GPU-1"
			: device == INSTANCE(0) ? "MIG-1"
						: "MIG-2");
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *pci)
{
	(void) device;
	memset(pci, 0, sizeof(*pci));
	(void) snprintf(pci->busId, sizeof(pci->busId), "00000000:07:00.0");
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t device, unsigned int *minor)
{
	(void) device;
	*minor = 5;
	return NVML_SUCCESS;
}

/* ---- figures ---- */

static unsigned long long total_bytes(nvmlDevice_t device)
{
	return plays("unified") ? 0 : device == GPU ? 40 * GIB : 20 * GIB;
}

static unsigned long long used_bytes(nvmlDevice_t device)
{
	return plays("unified") ? 0 : device == GPU ? 9 * GIB : 3 * GIB;
}

static unsigned long long reserved_bytes(void)
{
	return plays("unified") ? 0 : 500 * MIB;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory)
{
	if (is_lost())
		return NVML_ERROR_GPU_IS_LOST;
	if (is_closed(device))
		return NVML_ERROR_NO_PERMISSION;
	memory->total = total_bytes(device);
	memory->used = used_bytes(device) + reserved_bytes();
	memory->free = memory->total - memory->used;
	return NVML_SUCCESS;
}

#if DRIVER >= 510
nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory)
{
	if (memory->version != nvmlMemory_v2)
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	if (is_lost())
		return NVML_ERROR_GPU_IS_LOST;
	if (is_closed(device))
		return NVML_ERROR_NO_PERMISSION;
	memory->total = total_bytes(device);
	memory->reserved = reserved_bytes();
	memory->used = used_bytes(device);
	memory->free = memory->total - memory->used - memory->reserved;
	return NVML_SUCCESS;
}
#endif

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *utilization)
{
	(void) device;
	if (plays("mig"))
		return NVML_ERROR_NOT_SUPPORTED;
	utilization->gpu = plays("wild device") ? 4013453 : plays("idle") ? 0 : 57;
	utilization->memory = 20;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetEncoderUtilization(nvmlDevice_t device, unsigned int *percent,
					     unsigned int *period_us)
{
	(void) device;
	*percent = plays("wild device") ? 4013453 : 3;
	*period_us = 166667;
	return NVML_SUCCESS;
}

#if DRIVER < 610 /* the old call is deprecated, and gone here */
nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, nvmlTemperatureSensors_t sensor,
				      unsigned int *celsius)
{
	(void) device;
	*celsius = 44;
	return sensor == NVML_TEMPERATURE_GPU ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}
#endif

#if DRIVER >= 570
nvmlReturn_t nvmlDeviceGetTemperatureV(nvmlDevice_t device, nvmlTemperature_t *temperature)
{
	(void) device;
	if (temperature->version != nvmlTemperature_v1)
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	if (temperature->sensorType != NVML_TEMPERATURE_GPU)
		return NVML_ERROR_INVALID_ARGUMENT;
	temperature->temperature = 44;
	return NVML_SUCCESS;
}
#endif

nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned int *milliwatts)
{
	(void) device;
	*milliwatts = 123456;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t device,
						 unsigned long long *millijoules)
{
	struct timespec now;

	(void) device;
	(void) clock_gettime(CLOCK_MONOTONIC, &now);
	*millijoules = (unsigned long long) now.tv_sec * 123456 +
		       (unsigned long long) now.tv_nsec / 1000 * 123456 / 1000000;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type,
				    unsigned int *megahertz)
{
	(void) device;
	*megahertz = type == NVML_CLOCK_SM ? 1410 : 1215;
	return type == NVML_CLOCK_SM || type == NVML_CLOCK_MEM ? NVML_SUCCESS
							       : NVML_ERROR_INVALID_ARGUMENT;
}

/* ---- what changes seldom ---- */

/* Errors of the memory; no NVLink. Upper halves are not the library's where a value is 32 bits
 * wide. */
nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int count, nvmlFieldValue_t *field)
{
	(void) device;
	for (int i = 0; i < count; i++) {
		field[i].nvmlReturn = NVML_SUCCESS;
		field[i].timestamp = (long long) wall_us();
		field[i].valueType = NVML_VALUE_TYPE_UNSIGNED_LONG_LONG;
		switch (field[i].fieldId) {
		case NVML_FI_DEV_ECC_SBE_VOL_TOTAL:
			NOTE;
			field[i].value.ullVal = 11;
			break;
		case NVML_FI_DEV_ECC_DBE_VOL_TOTAL:
			field[i].value.ullVal = 0xffffffff00000000ull;
			field[i].valueType = NVML_VALUE_TYPE_UNSIGNED_INT;
			field[i].value.uiVal = 2;
			break;
		default:
			field[i].nvmlReturn = NVML_ERROR_NOT_SUPPORTED;
		}
	}
	return NVML_SUCCESS;
}

/* One Xid error and another event, once the GPU has processes. */
static char event_place;
static int events_taken;

nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t *set)
{
	*set = (nvmlEventSet_t) &event_place;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t set)
{
	(void) set;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t device, unsigned long long types,
				      nvmlEventSet_t set)
{
	(void) device;
	if (set != (nvmlEventSet_t) &event_place || types != nvmlEventTypeXidCriticalError)
		return NVML_ERROR_INVALID_ARGUMENT;
	return plays("closed") ? NVML_ERROR_NO_PERMISSION : NVML_SUCCESS;
}

nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t set, nvmlEventData_t *data, unsigned int ms)
{
	unsigned int pid[PIDS_MAX];

	(void) set;
	if (ms != 0)
		return NVML_ERROR_INVALID_ARGUMENT; /* nobody may wait here */
	if (!plays("xid") || events_taken == 2 || read_pids(pid) == 0)
		return NVML_ERROR_TIMEOUT;
	memset(data, 0, sizeof(*data));
	data->device = GPU;
	data->eventType = events_taken ? nvmlEventTypePState : nvmlEventTypeXidCriticalError;
	data->eventData = events_taken ? 0 : 79;
	events_taken++;
	return NVML_SUCCESS;
}

#if DRIVER >= 535
nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t device,
						    unsigned long long *reasons)
#else
nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t device,
						       unsigned long long *reasons)
#endif
{
	(void) device;
	*reasons = 4; /* the cap of power */
	return NVML_SUCCESS;
}

/* ---- processes ---- */

/* `of_entry` is the size that this driver gives an entry. */
static nvmlReturn_t list(nvmlDevice_t device, unsigned int *count, void *entries, size_t of_entry)
{
	unsigned int pid[PIDS_MAX], n = read_pids(pid), room = *count;

	if (is_closed(device))
		return NVML_ERROR_NO_PERMISSION;
	*count = n;
	if (n > room)
		return NVML_ERROR_INSUFFICIENT_SIZE;
	memset(entries, 0, n * of_entry);
	for (unsigned int i = 0; i < n; i++) {
		char *at = (char *) entries + i * of_entry;
		nvmlProcessInfo_v1_t first = {.pid = pid[i], .usedGpuMemory = GIB};
		nvmlProcessInfo_v2_t second = {
			.gpuInstanceId = plays("mig") ? 7 : 0xffffffff,
			.computeInstanceId = plays("mig") ? 0 : 0xffffffff,
		};

		second.pid = pid[i];
		second.usedGpuMemory = GIB;
		memcpy(at, of_entry == sizeof(first) ? (void *) &first : &second,
		       of_entry == sizeof(first) ? sizeof(first) : sizeof(second));
	}
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t device, unsigned int *count,
						  nvmlProcessInfo_v1_t *infos)
{
	return list(device, count, infos, sizeof(*infos));
}

#if DRIVER >= 460
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v2(nvmlDevice_t device, unsigned int *count,
						     nvmlProcessInfo_v2_t *infos)
{
	return list(device, count, infos, sizeof(*infos));
}
#endif

#if DRIVER >= 510
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned int *count,
						     nvmlProcessInfo_t *infos)
{
	return list(device, count, infos, sizeof(*infos));
}
#endif

/* When the newest sample was taken. Played late, a sample is out every two seconds and is 3 s old
 * then. */
static unsigned long long newest_us(void)
{
	unsigned long long now_us = wall_us();

	return plays("late") ? now_us / 2000000 * 2000000 - 3000000 : now_us - 200000;
}

static int counted;

/* What is newer than since_us: 0 where nothing is. *ret is NVML_SUCCESS if there is something to
 * write. */
static unsigned int samples(unsigned int pid[PIDS_MAX], unsigned int room, const void *to,
			    unsigned long long since_us, nvmlReturn_t *ret)
{
	unsigned int n = newest_us() > since_us ? read_pids(pid) : 0;

	if (plays("mig"))
		*ret = NVML_ERROR_NOT_SUPPORTED;
	else if (to && !counted) /* the manual has the room asked for first */
		*ret = NVML_ERROR_INVALID_ARGUMENT;
	else if (!to || n > room)
		*ret = NVML_ERROR_INSUFFICIENT_SIZE;
	else
		*ret = n ? NVML_SUCCESS : NVML_ERROR_NOT_FOUND;
	counted |= !to;
	return to ? n : PIDS_MAX / 64;
}

/* Drivers return such a figure now and then. */
static unsigned int share_of(unsigned int index)
{
	return plays("wild sample") && index == 0 ? 4013453 : SHARE_PERCENT;
}

#if DRIVER < 610 /* and gone here */
nvmlReturn_t nvmlDeviceGetProcessUtilization(nvmlDevice_t device,
					     nvmlProcessUtilizationSample_t *to,
					     unsigned int *count, unsigned long long since_us)
{
	unsigned int pid[PIDS_MAX];
	nvmlReturn_t r;

	(void) device;
	*count = samples(pid, *count, to, since_us, &r);
	for (unsigned int i = 0; r == NVML_SUCCESS && i < *count; i++) {
		memset(&to[i], 0, sizeof(to[i]));
		to[i].pid = pid[i];
		to[i].timeStamp = newest_us();
		to[i].smUtil = share_of(i);
		to[i].encUtil = 2;
		to[i].decUtil = 1;
	}
	return r;
}
#endif

#if DRIVER >= 545
nvmlReturn_t nvmlDeviceGetProcessesUtilizationInfo(nvmlDevice_t device,
						   nvmlProcessesUtilizationInfo_t *get)
{
	unsigned int pid[PIDS_MAX];
	nvmlReturn_t r;

	(void) device;
	if (get->version != nvmlProcessesUtilizationInfo_v1)
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	get->processSamplesCount = samples(pid, get->processSamplesCount, get->procUtilArray,
					   get->lastSeenTimeStamp, &r);
	for (unsigned int i = 0; r == NVML_SUCCESS && i < get->processSamplesCount; i++) {
		nvmlProcessUtilizationInfo_v1_t *to = &get->procUtilArray[i];

		memset(to, 0x5a, sizeof(*to));
		to->pid = pid[i];
		to->timeStamp = newest_us();
		to->smUtil = share_of(i);
		to->encUtil = 2;
		to->decUtil = 1;
	}
	return r;
}
#endif

/* ---- instances ---- */

nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned int *now, unsigned int *pending)
{
	(void) device;
	*now = *pending = plays("mig") != 0;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t device, unsigned int *count)
{
	(void) device;
	*count = 7;
	return NVML_SUCCESS;
}

/* Two compute instances that share one GPU instance, and so its memory. */
nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t device, unsigned int index,
						 nvmlDevice_t *instance)
{
	(void) device;
	if (index >= INSTANCES)
		return NVML_ERROR_NOT_FOUND;
	*instance = INSTANCE(index);
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetGpuInstanceId(nvmlDevice_t device, unsigned int *id)
{
	*id = 7;
	return device == GPU ? NVML_ERROR_INVALID_ARGUMENT : NVML_SUCCESS;
}

/* ---- the performance monitor ---- */

#if DRIVER >= 520
nvmlReturn_t nvmlGpmQueryDeviceSupport(nvmlDevice_t device, nvmlGpmSupport_t *support)
{
	(void) device;
	support->isSupportedDevice = 1;
	return support->version == NVML_GPM_SUPPORT_VERSION ? NVML_SUCCESS
							    : NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
}

nvmlReturn_t nvmlGpmSampleAlloc(nvmlGpmSample_t *sample)
{
	*sample = calloc(1, 64);
	return *sample ? NVML_SUCCESS : NVML_ERROR_MEMORY;
}

nvmlReturn_t nvmlGpmSampleFree(nvmlGpmSample_t sample)
{
	free(sample);
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlGpmSampleGet(nvmlDevice_t device, nvmlGpmSample_t sample)
{
	struct timespec now;

	(void) device;
	NOTE;
	(void) clock_gettime(CLOCK_MONOTONIC, &now);
	*(unsigned long long *) (void *) sample =
		(unsigned long long) now.tv_sec * 1000000 + (unsigned long long) now.tv_nsec / 1000;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlGpmMetricsGet(nvmlGpmMetricsGet_t *get)
{
	if (get->version != NVML_GPM_METRICS_GET_VERSION)
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	/* Samples that are closer than 100 ms hold the same counters. */
	if (*(unsigned long long *) (void *) get->sample2 <
	    *(unsigned long long *) (void *) get->sample1 + 100000)
		NOTE;
	for (unsigned int i = 0; i < get->numMetrics; i++) {
		get->metrics[i].nvmlReturn = NVML_SUCCESS;
		get->metrics[i].value =
			get->metrics[i].metricId == NVML_GPM_METRIC_SM_UTIL ? 62.5 : 30;
	}
	/* All of the array is the library's. */
	for (unsigned int i = get->numMetrics; i < NVML_GPM_METRIC_MAX; i++)
		memset(&get->metrics[i], 0x5a, sizeof(get->metrics[i]));
	return NVML_SUCCESS;
}
#endif
