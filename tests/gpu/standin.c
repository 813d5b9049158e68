/* A simulated libnvidia-ml.so.1 (NVIDIA's library), controlled by a script.
 *
 * TRK_STANDIN_NVML names the script, which is read again whenever it has changed. A line is a word
 * and key=value pairs:
 *
 *     driver 550.54.15
 *     device name=H100 uuid=GPU-a bus=00000000:01:00.0 minor=0 total=1000 used=100 util=57 …
 *     instance device=0 name=MIG uuid=MIG-a total=500 used=50 part=1 sm=30
 *     process device=0 pid=42 memory=100 lists=cgm part=1     (c compute, g graphics, m MPS)
 *     sample device=0 pid=42 sm=50 age_ms=100
 *     error nvmlDeviceGetPowerUsage 3          this function fails with this code
 *     error@1 nvmlDeviceGetPowerUsage 15       only on device 1
 *     hang nvmlDeviceGetPowerUsage             never returns
 *     slow nvmlInit_v2 300                     milliseconds
 *     busy nvmlDeviceGetTotalEnergyConsumption 20   milliseconds of CPU time
 *     crash nvmlDeviceGetPowerUsage 1          a fault of the processor, in so many processes
 *     exit nvmlDeviceGetPowerUsage 9           _exit(2) with this code
 *
 * Each end of a process adds a line to the file of the script's name and ".ends".
 *
 * With -DOLD it lacks the functions of newer drivers. */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "probe/gpu/nvml.h"

#define PUBLIC __attribute__((visibility("default")))

enum { DEVICES_MAX = 40, INSTANCES_MAX = 16, LINES_MAX = 4096, RULES_MAX = 64 };

struct nvml_device {
	int index;
	char line[1024];
	struct nvml_device *instance[INSTANCES_MAX];
	int instances;
};

struct nvml_gpm_sample {
	int taken, order;
	const char *line;
};

struct rule {
	char what[16], function[64];
	int device, value;
};

static struct nvml_device device[DEVICES_MAX], instance[DEVICES_MAX];
static int devices, instances;
static struct {
	char line[192];
} process[LINES_MAX], sample[LINES_MAX];
static int processes, samples;
static struct rule rule[RULES_MAX];
static int rules;
static char driver[64];
static struct stat known;
static struct timespec loaded;

/* The number behind "key=", or `otherwise`. */
static unsigned long long number(const char *line, const char *key, unsigned long long otherwise)
{
	char wanted[32];
	const char *at;

	(void) snprintf(wanted, sizeof(wanted), " %s=", key);
	at = strstr(line, wanted);
	return at ? strtoull(at + strlen(wanted), NULL, 10) : otherwise;
}

static int text(const char *line, const char *key, char *to, unsigned int size)
{
	char wanted[32];
	const char *at;
	size_t len;

	(void) snprintf(wanted, sizeof(wanted), " %s=", key);
	at = strstr(line, wanted);
	if (!at)
		return NVML_ERROR_NOT_SUPPORTED;
	at += strlen(wanted);
	len = strcspn(at, " \n");
	if (len >= size)
		return NVML_ERROR_INSUFFICIENT_SIZE;
	for (size_t i = 0; i < len; i++)
		to[i] = (char) (at[i] == '_' ? ' ' : at[i]);
	to[len] = '\0';
	return NVML_SUCCESS;
}

static void take_rule(const char *line)
{
	struct rule *r = &rule[rules];
	char word[16];

	if (rules == RULES_MAX)
		return;
	*r = (struct rule){.device = -1};
	if (sscanf(line, "%15s %63s %d", word, r->function, &r->value) < 2)
		return;
	(void) sscanf(word, "%15[a-z]@%d", r->what, &r->device);
	rules++;
}

static void take_line(const char *line)
{
	unsigned long long parent;

	if (!strncmp(line, "device ", 7) && devices < DEVICES_MAX) {
		device[devices].index = devices;
		device[devices].instances = 0;
		(void) snprintf(device[devices++].line, sizeof(device[0].line), "%s", line);
	} else if (!strncmp(line, "instance ", 9) && instances < DEVICES_MAX) {
		parent = number(line, "device", 0);
		instance[instances].index = -1;
		(void) snprintf(instance[instances].line, sizeof(instance[0].line), "%s", line);
		device[parent].instance[device[parent].instances++] = &instance[instances++];
	} else if (!strncmp(line, "process ", 8) && processes < LINES_MAX) {
		(void) snprintf(process[processes++].line, sizeof(process[0].line), "%s", line);
	} else if (!strncmp(line, "sample ", 7) && samples < LINES_MAX) {
		(void) snprintf(sample[samples++].line, sizeof(sample[0].line), "%s", line);
	} else if (!strncmp(line, "driver ", 7)) {
		(void) sscanf(line, "driver %63s", driver);
	} else {
		take_rule(line);
	}
}

static void read_script(void)
{
	const char *path = getenv("TRK_STANDIN_NVML");
	char line[1024];
	struct stat now;
	FILE *f;

	if (!loaded.tv_sec)
		(void) clock_gettime(CLOCK_MONOTONIC, &loaded);
	if (!path || stat(path, &now) < 0 ||
	    (now.st_size == known.st_size && now.st_mtim.tv_sec == known.st_mtim.tv_sec &&
	     now.st_mtim.tv_nsec == known.st_mtim.tv_nsec))
		return;
	known = now;
	f = fopen(path, "re");
	if (!f)
		return;
	devices = instances = processes = samples = rules = 0;
	while (fgets(line, sizeof(line), f))
		take_line(line);
	(void) fclose(f);
}

static void burn(int ms)
{
	struct timespec now;
	int64_t end = 0;

	do {
		(void) clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
		end = end ? end : now.tv_sec * 1000000000ll + now.tv_nsec + ms * 1000000ll;
	} while (now.tv_sec * 1000000000ll + now.tv_nsec < end);
}

/* A sanitizer's handler of the signal would exit. */
static void crash(void)
{
	sigset_t fault;

	(void) sigemptyset(&fault);
	(void) sigaddset(&fault, SIGSEGV);
	(void) signal(SIGSEGV, SIG_DFL);
	(void) sigprocmask(SIG_UNBLOCK, &fault, NULL);
	(void) raise(SIGSEGV);
}

/* End this process as the rule says, unless enough processes have crashed. */
static void end(const struct rule *r)
{
	bool is_crash = !strcmp(r->what, "crash");
	char path[512];
	int fd;

	(void) snprintf(path, sizeof(path), "%s.ends", getenv("TRK_STANDIN_NVML"));
	fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0 || (is_crash && lseek(fd, 0, SEEK_END) >= r->value))
		return;
	(void) !write(fd, "\n", 1);
	(void) close(fd);
	if (is_crash)
		crash();
	_exit(r->value);
}

/* What the script has for this function: a code, or nothing. */
static int enter(const char *function, int index)
{
	read_script();
	for (int i = 0; i < rules; i++) {
		const struct rule *r = &rule[i];

		if (strcmp(r->function, function) != 0 || (r->device >= 0 && r->device != index))
			continue;
		if (!strcmp(r->what, "error"))
			return r->value;
		if (!strcmp(r->what, "slow"))
			(void) usleep((unsigned int) r->value * 1000);
		if (!strcmp(r->what, "busy"))
			burn(r->value);
		if (!strcmp(r->what, "crash") || !strcmp(r->what, "exit"))
			end(r);
		while (!strcmp(r->what, "hang"))
			(void) pause();
	}
	return NVML_SUCCESS;
}

#define ENTER(index)                                                                               \
	do {                                                                                       \
		int entered = enter(__func__, index);                                              \
		if (entered)                                                                       \
			return entered;                                                            \
	} while (0)

/* A figure of a device: the key's number, or "not supported". */
#define FIGURE(function, type, key)                                                                \
	PUBLIC int function(nvml_device d, type *ret);                                             \
	PUBLIC int function(nvml_device d, type *ret)                                              \
	{                                                                                          \
		unsigned long long value;                                                          \
		ENTER(d->index);                                                                   \
		value = number(d->line, key, UINT64_MAX);                                          \
		if (value == UINT64_MAX)                                                           \
			return NVML_ERROR_NOT_SUPPORTED;                                           \
		*ret = (type) value;                                                               \
		return NVML_SUCCESS;                                                               \
	}

PUBLIC int nvmlInit_v2(void);
PUBLIC int nvmlInit_v2(void)
{
	ENTER(-1);
	return NVML_SUCCESS;
}

PUBLIC int nvmlShutdown(void);
PUBLIC int nvmlShutdown(void)
{
	ENTER(-1);
	return NVML_SUCCESS;
}

PUBLIC int nvmlSystemGetDriverVersion(char *to, unsigned int size);
PUBLIC int nvmlSystemGetDriverVersion(char *to, unsigned int size)
{
	ENTER(-1);
	(void) snprintf(to, size, "%s", driver);
	return NVML_SUCCESS;
}

PUBLIC int nvmlDeviceGetCount_v2(unsigned int *count);
PUBLIC int nvmlDeviceGetCount_v2(unsigned int *count)
{
	ENTER(-1);
	*count = (unsigned int) devices;
	return NVML_SUCCESS;
}

PUBLIC int nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvml_device *ret);
PUBLIC int nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvml_device *ret)
{
	ENTER((int) index);
	if ((int) index >= devices)
		return NVML_ERROR_INVALID_ARGUMENT;
	*ret = &device[index];
	return NVML_SUCCESS;
}

PUBLIC int nvmlDeviceGetName(nvml_device d, char *to, unsigned int size);
PUBLIC int nvmlDeviceGetName(nvml_device d, char *to, unsigned int size)
{
	ENTER(d->index);
	return text(d->line, "name", to, size);
}

PUBLIC int nvmlDeviceGetUUID(nvml_device d, char *to, unsigned int size);
PUBLIC int nvmlDeviceGetUUID(nvml_device d, char *to, unsigned int size)
{
	ENTER(d->index);
	return text(d->line, "uuid", to, size);
}

PUBLIC int nvmlDeviceGetPciInfo_v3(nvml_device d, struct nvml_pci_info *ret);
PUBLIC int nvmlDeviceGetPciInfo_v3(nvml_device d, struct nvml_pci_info *ret)
{
	ENTER(d->index);
	return text(d->line, "bus", ret->bus_id, sizeof(ret->bus_id));
}

FIGURE(nvmlDeviceGetMinorNumber, unsigned int, "minor")

PUBLIC int nvmlDeviceGetMemoryInfo(nvml_device d, struct nvml_memory *ret);
PUBLIC int nvmlDeviceGetMemoryInfo(nvml_device d, struct nvml_memory *ret)
{
	ENTER(d->index);
	ret->total = number(d->line, "total", 0);
	ret->used = number(d->line, "used", 0) + number(d->line, "reserved", 0);
	ret->free = ret->total - ret->used;
	return NVML_SUCCESS;
}

PUBLIC int nvmlDeviceGetUtilizationRates(nvml_device d, struct nvml_utilization *ret);
PUBLIC int nvmlDeviceGetUtilizationRates(nvml_device d, struct nvml_utilization *ret)
{
	ENTER(d->index);
	if (d->index < 0 || number(d->line, "mig", 0) == 1)
		return NVML_ERROR_NOT_SUPPORTED;
	ret->gpu = (unsigned int) number(d->line, "util", 0);
	ret->memory = (unsigned int) number(d->line, "memutil", 0);
	return NVML_SUCCESS;
}

PUBLIC int nvmlDeviceGetEncoderUtilization(nvml_device d, unsigned int *ret, unsigned int *us);
PUBLIC int nvmlDeviceGetEncoderUtilization(nvml_device d, unsigned int *ret, unsigned int *us)
{
	ENTER(d->index);
	*ret = (unsigned int) number(d->line, "encoder", 0);
	*us = 166667;
	return NVML_SUCCESS;
}

PUBLIC int nvmlDeviceGetDecoderUtilization(nvml_device d, unsigned int *ret, unsigned int *us);
PUBLIC int nvmlDeviceGetDecoderUtilization(nvml_device d, unsigned int *ret, unsigned int *us)
{
	ENTER(d->index);
	*ret = (unsigned int) number(d->line, "decoder", 0);
	*us = 166667;
	return NVML_SUCCESS;
}

PUBLIC int nvmlDeviceGetTemperature(nvml_device d, unsigned int sensor, unsigned int *ret);
PUBLIC int nvmlDeviceGetTemperature(nvml_device d, unsigned int sensor, unsigned int *ret)
{
	ENTER(d->index);
	*ret = (unsigned int) number(d->line, "temp", 0);
	return *ret && sensor == NVML_TEMPERATURE_GPU ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
}

FIGURE(nvmlDeviceGetPowerUsage, unsigned int, "power")

/* Grows by what the power says. */
PUBLIC int nvmlDeviceGetTotalEnergyConsumption(nvml_device d, unsigned long long *ret);
PUBLIC int nvmlDeviceGetTotalEnergyConsumption(nvml_device d, unsigned long long *ret)
{
	unsigned long long base = number(d->line, "energy", UINT64_MAX);
	struct timespec now;
	double seconds;

	ENTER(d->index);
	if (base == UINT64_MAX)
		return NVML_ERROR_NOT_SUPPORTED;
	(void) clock_gettime(CLOCK_MONOTONIC, &now);
	seconds = (double) (now.tv_sec - loaded.tv_sec) +
		  (double) (now.tv_nsec - loaded.tv_nsec) / 1e9;
	*ret = base + (unsigned long long) (seconds * (double) number(d->line, "burn", 0));
	return NVML_SUCCESS;
}

PUBLIC int nvmlDeviceGetClockInfo(nvml_device d, unsigned int type, unsigned int *ret);
PUBLIC int nvmlDeviceGetClockInfo(nvml_device d, unsigned int type, unsigned int *ret)
{
	ENTER(d->index);
	*ret = (unsigned int) number(d->line, type == NVML_CLOCK_MEM ? "memclock" : "clock", 0);
	return *ret ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
}

FIGURE(nvmlDeviceGetCurrentClocksThrottleReasons, unsigned long long, "throttle")

PUBLIC int nvmlDeviceGetPcieThroughput(nvml_device d, unsigned int way, unsigned int *ret);
PUBLIC int nvmlDeviceGetPcieThroughput(nvml_device d, unsigned int way, unsigned int *ret)
{
	ENTER(d->index);
	*ret = (unsigned int) number(
		d->line, way == NVML_PCIE_UTIL_RX_BYTES ? "pcie_rx" : "pcie_tx", UINT32_MAX);
	return *ret == UINT32_MAX ? NVML_ERROR_NOT_SUPPORTED : NVML_SUCCESS;
}

/* ---- processes ---- */

static int is_listed(const char *line, const nvml_device d, char list)
{
	char lists[8];

	return number(line, "device", 0) == (unsigned int) d->index &&
	       text(line, "lists", lists, sizeof(lists)) == NVML_SUCCESS && strchr(lists, list);
}

/* The library counts all, and fills what there is room for. */
static unsigned int fill(nvml_device d, char list, unsigned int room, struct nvml_process *to)
{
	unsigned int n = 0;

	for (int i = 0; i < processes; i++) {
		if (!is_listed(process[i].line, d, list))
			continue;
		if (n < room)
			to[n] = (struct nvml_process){
				(unsigned int) number(process[i].line, "pid", 0),
				number(process[i].line, "memory", NVML_VALUE_NOT_AVAILABLE),
				(unsigned int) number(process[i].line, "part", UINT32_MAX),
				UINT32_MAX,
			};
		n++;
	}
	return n;
}

PUBLIC int nvmlDeviceGetProcessUtilization(nvml_device d, struct nvml_process_sample *to,
					   unsigned int *count, unsigned long long since_us);
PUBLIC int nvmlDeviceGetProcessUtilization(nvml_device d, struct nvml_process_sample *to,
					   unsigned int *count, unsigned long long since_us)
{
	struct timespec now;
	unsigned int n = 0, room = *count;

	(void) since_us; /* an old driver gives what it has, however old */
	ENTER(d->index);
	(void) clock_gettime(CLOCK_REALTIME, &now);
	for (int i = 0; i < samples; i++) {
		if (number(sample[i].line, "device", 0) != (unsigned int) d->index)
			continue;
		if (n < room)
			to[n] = (struct nvml_process_sample){
				.pid = (unsigned int) number(sample[i].line, "pid", 0),
				.time_us = (unsigned long long) now.tv_sec * 1000000 +
					   (unsigned long long) now.tv_nsec / 1000 -
					   number(sample[i].line, "age_ms", 0) * 1000,
				.sm = (unsigned int) number(sample[i].line, "sm", 0),
			};
		n++;
	}
	*count = n;
	return n > room ? NVML_ERROR_INSUFFICIENT_SIZE : n ? NVML_SUCCESS : NVML_ERROR_NOT_FOUND;
}

#ifdef OLD

static int fill_v1(nvml_device d, char list, unsigned int *count, struct nvml_process_v1 *to)
{
	unsigned int room = *count, n;
	struct nvml_process *wide = calloc(LINES_MAX, sizeof(*wide));

	if (!wide)
		return NVML_ERROR_UNKNOWN;
	n = fill(d, list, LINES_MAX, wide);
	for (unsigned int i = 0; i < n && i < room; i++)
		to[i] = (struct nvml_process_v1){wide[i].pid, wide[i].used_memory};
	free(wide);
	*count = n;
	return n > room ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_SUCCESS;
}

PUBLIC int nvmlDeviceGetComputeRunningProcesses(nvml_device d, unsigned int *count,
						struct nvml_process_v1 *to);
PUBLIC int nvmlDeviceGetComputeRunningProcesses(nvml_device d, unsigned int *count,
						struct nvml_process_v1 *to)
{
	ENTER(d->index);
	return fill_v1(d, 'c', count, to);
}

PUBLIC int nvmlDeviceGetGraphicsRunningProcesses(nvml_device d, unsigned int *count,
						 struct nvml_process_v1 *to);
PUBLIC int nvmlDeviceGetGraphicsRunningProcesses(nvml_device d, unsigned int *count,
						 struct nvml_process_v1 *to)
{
	ENTER(d->index);
	return fill_v1(d, 'g', count, to);
}

#else

static double fraction(const char *line, const char *key)
{
	char wanted[32];
	const char *at;

	(void) snprintf(wanted, sizeof(wanted), " %s=", key);
	at = strstr(line, wanted);
	return at ? strtod(at + strlen(wanted), NULL) : -1;
}

static int fill_all(nvml_device d, char list, unsigned int *count, struct nvml_process *to)
{
	unsigned int room = *count;

	*count = fill(d, list, room, to);
	return *count > room ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_SUCCESS;
}

PUBLIC int nvmlDeviceGetMemoryInfo_v2(nvml_device d, struct nvml_memory_v2 *ret);
PUBLIC int nvmlDeviceGetMemoryInfo_v2(nvml_device d, struct nvml_memory_v2 *ret)
{
	ENTER(d->index);
	if (ret->version != NVML_MEMORY_V2)
		return NVML_ERROR_INVALID_ARGUMENT;
	ret->total = number(d->line, "total", 0);
	ret->used = number(d->line, "used", 0);
	ret->reserved = number(d->line, "reserved", 0);
	ret->free = ret->total - ret->used - ret->reserved;
	return NVML_SUCCESS;
}

#define LIST(function, list)                                                                       \
	PUBLIC int function(nvml_device d, unsigned int *count, struct nvml_process *to);          \
	PUBLIC int function(nvml_device d, unsigned int *count, struct nvml_process *to)           \
	{                                                                                          \
		ENTER(d->index);                                                                   \
		return fill_all(d, list, count, to);                                               \
	}

LIST(nvmlDeviceGetComputeRunningProcesses_v2, 'c')
LIST(nvmlDeviceGetGraphicsRunningProcesses_v2, 'g')
LIST(nvmlDeviceGetMPSComputeRunningProcesses_v2, 'm')

PUBLIC int nvmlDeviceGetMigMode(nvml_device d, unsigned int *now, unsigned int *pending);
PUBLIC int nvmlDeviceGetMigMode(nvml_device d, unsigned int *now, unsigned int *pending)
{
	ENTER(d->index);
	*now = *pending = (unsigned int) number(d->line, "mig", 0);
	return NVML_SUCCESS;
}

PUBLIC int nvmlDeviceGetMaxMigDeviceCount(nvml_device d, unsigned int *ret);
PUBLIC int nvmlDeviceGetMaxMigDeviceCount(nvml_device d, unsigned int *ret)
{
	ENTER(d->index);
	*ret = 7;
	return NVML_SUCCESS;
}

PUBLIC int nvmlDeviceGetMigDeviceHandleByIndex(nvml_device d, unsigned int index, nvml_device *ret);
PUBLIC int nvmlDeviceGetMigDeviceHandleByIndex(nvml_device d, unsigned int index, nvml_device *ret)
{
	ENTER(d->index);
	if ((int) index >= d->instances)
		return NVML_ERROR_NOT_FOUND;
	*ret = d->instance[index];
	return NVML_SUCCESS;
}

PUBLIC int nvmlDeviceGetFieldValues(nvml_device d, int count, struct nvml_field *field);
PUBLIC int nvmlDeviceGetFieldValues(nvml_device d, int count, struct nvml_field *field)
{
	ENTER(d->index);
	for (int i = 0; i < count; i++) {
		unsigned long long value =
			number(d->line,
			       field[i].id == NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX ? "link_rx"
										    : "link_tx",
			       UINT64_MAX);

		field[i].result = value == UINT64_MAX ? NVML_ERROR_NOT_SUPPORTED : NVML_SUCCESS;
		field[i].value.ull = value;
	}
	return NVML_SUCCESS;
}

PUBLIC int nvmlGpmQueryDeviceSupport(nvml_device d, struct nvml_gpm_support *ret);
PUBLIC int nvmlGpmQueryDeviceSupport(nvml_device d, struct nvml_gpm_support *ret)
{
	ENTER(d->index);
	ret->is_supported = fraction(d->line, "sm") >= 0;
	return NVML_SUCCESS;
}

PUBLIC int nvmlGpmSampleAlloc(nvml_gpm_sample *ret);
PUBLIC int nvmlGpmSampleAlloc(nvml_gpm_sample *ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? NVML_SUCCESS : NVML_ERROR_UNKNOWN;
}

PUBLIC int nvmlGpmSampleFree(nvml_gpm_sample sample_);
PUBLIC int nvmlGpmSampleFree(nvml_gpm_sample sample_)
{
	free(sample_);
	return NVML_SUCCESS;
}

PUBLIC int nvmlGpmSampleGet(nvml_device d, nvml_gpm_sample to);
PUBLIC int nvmlGpmSampleGet(nvml_device d, nvml_gpm_sample to)
{
	static int taken;

	ENTER(d->index);
	*to = (struct nvml_gpm_sample){.taken = 1, .order = ++taken, .line = d->line};
	return NVML_SUCCESS;
}

PUBLIC int nvmlDeviceGetGpuInstanceId(nvml_device d, unsigned int *ret);
PUBLIC int nvmlDeviceGetGpuInstanceId(nvml_device d, unsigned int *ret)
{
	ENTER(d->index);
	*ret = (unsigned int) number(d->line, "part", UINT32_MAX);
	return *ret == UINT32_MAX ? NVML_ERROR_INVALID_ARGUMENT : NVML_SUCCESS;
}

PUBLIC int nvmlGpmMigSampleGet(nvml_device d, unsigned int part, nvml_gpm_sample to);
PUBLIC int nvmlGpmMigSampleGet(nvml_device d, unsigned int part, nvml_gpm_sample to)
{
	static int taken;

	ENTER(d->index);
	for (int i = 0; i < d->instances; i++)
		if (number(d->instance[i]->line, "part", UINT32_MAX) == part) {
			*to = (struct nvml_gpm_sample){
				.taken = 1, .order = ++taken, .line = d->instance[i]->line};
			return fraction(to->line, "sm") < 0 ? NVML_ERROR_NOT_SUPPORTED
							    : NVML_SUCCESS;
		}
	return NVML_ERROR_NOT_FOUND;
}

PUBLIC int nvmlGpmMetricsGet(struct nvml_gpm_metrics *get);
PUBLIC int nvmlGpmMetricsGet(struct nvml_gpm_metrics *get)
{
	const char *line = get->sample1->line;

	ENTER(-1);
	/* Two samples of one device, the older first. */
	if (get->version != NVML_GPM_VERSION || !get->sample1->taken || !get->sample2->taken ||
	    get->sample1->order >= get->sample2->order || line != get->sample2->line)
		return NVML_ERROR_INVALID_ARGUMENT;
	for (unsigned int i = 0; i < get->count; i++) {
		double value = -1;

		if (get->metric[i].id == NVML_GPM_METRIC_SM_UTIL)
			value = fraction(line, "sm");
		else if (get->metric[i].id == NVML_GPM_METRIC_DRAM_BW_UTIL)
			value = fraction(line, "dram");
		get->metric[i].value = value;
		get->metric[i].result = value < 0 ? NVML_ERROR_NOT_SUPPORTED : NVML_SUCCESS;
	}
	return NVML_SUCCESS;
}

#endif
