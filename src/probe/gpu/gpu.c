#include "probe/gpu/gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

void trk__gpu_set_unknown(struct trk_gpu_device *d, enum trk_gpu_why why)
{
	for (int i = 0; i < TRK_GPU_METRICS; i++)
		d->metric[i] = trk__gpu_unknown(why);
}

void trk__gpu_set_tree_unknown(struct trk_gpu_device *d, enum trk_gpu_why why)
{
	d->is_undivided = true;
	d->metric[TRK_GPU_TREE_SHARE_METRIC] = d->metric[TRK_GPU_TREE_ENCODER_METRIC] =
		d->metric[TRK_GPU_TREE_DECODER_METRIC] = trk__gpu_unknown(why);
}

void trk__gpu_init_device(struct trk_gpu_device *d, const char *vendor)
{
	memset(d, 0, sizeof(*d));
	(void) snprintf(d->vendor, sizeof(d->vendor), "%s", vendor);
	d->parent = d->node = -1;
	d->gpu_instance = UINT32_MAX;
	trk__gpu_set_unknown(d, TRK_GPU_NOT_ASKED);
}

struct trk_gpu_device *trk__gpu_add_device(struct trk_gpu_scan *scan, const char *vendor)
{
	struct trk_gpu_device *d;

	if (scan->devices == TRK_GPUS_MAX)
		return NULL;
	d = &scan->device[scan->devices++];
	trk__gpu_init_device(d, vendor);
	return d;
}

/* True if this file of the device's power management begins with the word. NVML's
 * "00000000:01:00.0" is "0000:01:00.0" in sysfs. */
static bool power_is(int sys_fd, const char *bus, const char *file, const char *word)
{
	char path[96], text[32];
	size_t len = strlen(bus);

	if (sys_fd < 0 || len < 12 || len > 16)
		return false;
	(void) snprintf(path, sizeof(path), "bus/pci/devices/%s/power/%s",
			len == 16 ? bus + 4 : bus, file);
	for (char *c = path; *c; c++) /* as the kernel writes it */
		*c = (char) (*c >= 'A' && *c <= 'F' ? *c - 'A' + 'a' : *c);
	return trk__read_at(sys_fd, path, text, sizeof(text)) > 0 &&
	       !strncmp(text, word, strlen(word));
}

bool trk__gpu_is_asleep(int sys_fd, const char *bus)
{
	return power_is(sys_fd, bus, "runtime_status", "suspended");
}

bool trk__gpu_may_sleep(int sys_fd, const char *bus)
{
	return power_is(sys_fd, bus, "control", "auto");
}

bool trk__gpu_nvidia_is_asleep(int sys_fd)
{
	TRK_DIR_CLEANUP DIR *dir = trk__list_dir_at(sys_fd, "bus/pci/drivers/nvidia");
	struct dirent *entry;
	bool any = false, is_awake = false;

	while (!is_awake && (entry = trk__next_entry(dir))) {
		if (!strchr(entry->d_name, ':'))
			continue;
		any = true;
		is_awake = !trk__gpu_is_asleep(sys_fd, entry->d_name);
	}
	return any && !is_awake;
}

void trk__gpu_set_asleep(struct trk_gpu_device *d)
{
	static const enum trk_gpu_metric idle[] = {
		TRK_GPU_UTILIZATION_METRIC, TRK_GPU_MEMORY_ACTIVITY_METRIC,
		TRK_GPU_ENCODER_METRIC,     TRK_GPU_DECODER_METRIC,
		TRK_GPU_TREE_SHARE_METRIC,  TRK_GPU_TREE_ENCODER_METRIC,
		TRK_GPU_TREE_DECODER_METRIC};

	trk__gpu_set_unknown(d, TRK_GPU_ASLEEP);
	for (size_t i = 0; i < sizeof(idle) / sizeof(idle[0]); i++)
		d->metric[idle[i]] = trk__gpu_known(0);
}

static int compare_pids(const void *a, const void *b)
{
	pid_t x = *(const pid_t *) a, y = *(const pid_t *) b;

	return (x > y) - (x < y);
}

void trk__gpu_sort_pids(pid_t *pid, size_t count)
{
	qsort(pid, count, sizeof(*pid), compare_pids);
}

bool trk__gpu_is_tracked(const struct trk_gpu_scan *scan, pid_t pid)
{
	return scan->pid && scan->pids &&
	       bsearch(&pid, scan->pid, scan->pids, sizeof(pid), compare_pids);
}

bool trk__gpu_shares_memory(const struct trk_gpu_scan *scan, size_t device)
{
	const struct trk_gpu_device *d = &scan->device[device];

	for (size_t i = 0; i < device && d->gpu_instance != UINT32_MAX; i++)
		if (scan->device[i].parent == d->parent &&
		    scan->device[i].gpu_instance == d->gpu_instance)
			return true;
	return false;
}

/* Search backwards, as the processes of one device are adjacent. */
struct trk_gpu_process *trk__gpu_add_process(struct trk_gpu_scan *scan, size_t device, pid_t pid,
					     unsigned int part)
{
	struct trk_gpu_process *p;

	for (size_t i = scan->processes; i-- > 0 && scan->process[i].device == device;)
		if (scan->process[i].pid == pid && scan->process[i].part == part)
			return &scan->process[i];
	if (scan->processes == TRK_GPU_PROCESSES_MAX)
		return NULL;
	p = &scan->process[scan->processes++];
	*p = (struct trk_gpu_process){
		.device = device,
		.pid = pid,
		.part = part,
		.bytes = NAN,
		.share = NAN,
		.encoder = NAN,
		.decoder = NAN,
	};
	return p;
}
