/* Which part of each device the tracked processes use. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "probe/gpu/gpu.h"

#define INITIAL_PID_NAMESPACE "pid:[4026531836]" /* a constant of the kernel: PROC_PID_INIT_INO */
#define LOOK_NS               (5 * TRK_NS_PER_S)

static int compare_pids(const void *a, const void *b)
{
	pid_t x = *(const pid_t *) a, y = *(const pid_t *) b;

	return (x > y) - (x < y);
}

static bool is_tracked(const struct trk_gpu_scan *scan, pid_t pid)
{
	return scan->pids && bsearch(&pid, scan->pid, scan->pids, sizeof(pid), compare_pids);
}

/* ---- who has a device open ---- */

static void note_holders(struct trk_gpu_attributor *a, const struct trk_gpu_scan *scan, int fd_dir)
{
	bool holds[TRK_GPUS_MAX] = {false};
	DIR *dir = fdopendir(fd_dir);
	struct dirent *entry;
	char link[64], wanted[64];

	if (!dir) {
		trk__close(fd_dir);
		return;
	}
	while ((entry = readdir(dir))) {
		ssize_t len = readlinkat(dirfd(dir), entry->d_name, link, sizeof(link) - 1);

		if (len < 12 || memcmp(link, "/dev/nvidia", 11) != 0)
			continue;
		link[len] = '\0';
		for (size_t i = 0; i < scan->devices; i++) {
			(void) snprintf(wanted, sizeof(wanted), "/dev/nvidia%d",
					scan->device[i].node);
			holds[i] |= scan->device[i].node >= 0 && !strcmp(link, wanted);
		}
	}
	(void) closedir(dir);
	for (size_t i = 0; i < scan->devices; i++)
		a->holders[i] += holds[i];
}

static void look_for_holders(struct trk_gpu_attributor *a, const struct trk_gpu_scan *scan)
{
	if (a->looked_ns && scan->now_ns < a->looked_ns + LOOK_NS)
		return;
	a->looked_ns = scan->now_ns;
	memset(a->holders, 0, sizeof(a->holders));
	for (size_t i = 0; i < scan->pids; i++) {
		char path[32];
		int fd;

		(void) snprintf(path, sizeof(path), "%d/fd", (int) scan->pid[i]);
		fd = trk__open_dir_at(a->env.proc_fd, path);
		if (fd >= 0)
			note_holders(a, scan, fd);
	}
}

static bool is_foreign(struct trk_gpu_attributor *a)
{
	char text[64];
	ssize_t len;

	if (a->known)
		return a->foreign;
	a->known = true;
	len = readlinkat(a->env.proc_fd, "self/ns/pid", text, sizeof(text) - 1);
	if (len > 0) {
		text[len] = '\0';
		a->foreign = strcmp(text, INITIAL_PID_NAMESPACE) != 0;
	}
	return a->foreign;
}

/* ---- the parts ---- */

static void add(struct trk_gpu_value *sum, double value, enum trk_gpu_why why)
{
	if (sum->why != TRK_GPU_KNOWN)
		return;
	if (isnan(value))
		*sum = trk__gpu_unknown(why == TRK_GPU_KNOWN || why == TRK_GPU_NOT_ASKED
						? TRK_GPU_UNSUPPORTED
						: why);
	else
		sum->value += value;
}

/* Returns how many of the device's processes are tracked; *at moves behind the device's. */
static size_t match(struct trk_gpu_scan *scan, size_t device, size_t *at)
{
	struct trk_gpu_value *m = scan->device[device].metric;
	enum trk_gpu_why why = m[TRK_GPU_TREE_SHARE_METRIC].why;
	struct trk_gpu_value share = trk__gpu_known(0), bytes = trk__gpu_known(0);
	size_t matched = 0;

	for (; *at < scan->processes && scan->process[*at].device == device; ++*at) {
		const struct trk_gpu_process *p = &scan->process[*at];

		if (!is_tracked(scan, p->pid))
			continue;
		matched++;
		add(&share, p->share, why);
		add(&bytes, p->bytes, TRK_GPU_UNSUPPORTED);
	}
	if (share.value > 1)
		share.value = 1; /* samples of several processes overlap */
	m[TRK_GPU_TREE_SHARE_METRIC] = share;
	m[TRK_GPU_TREE_MEMORY_METRIC] = bytes;
	return matched;
}

static void take_device(struct trk_gpu_attributor *a, struct trk_gpu_scan *scan, size_t device)
{
	struct trk_gpu_device *d = &scan->device[device];

	look_for_holders(a, scan);
	if (a->holders[device] == 0)
		return; /* none of ours: 0 is right */
	if (d->processes <= 1 || d->processes == a->holders[device]) {
		d->by_device = true;
		d->metric[TRK_GPU_TREE_SHARE_METRIC] = d->metric[TRK_GPU_UTILIZATION_METRIC];
		d->metric[TRK_GPU_TREE_MEMORY_METRIC] = d->metric[TRK_GPU_MEMORY_USED_METRIC];
		return;
	}
	d->metric[TRK_GPU_TREE_SHARE_METRIC] = trk__gpu_unknown(TRK_GPU_FOREIGN_PIDS);
	d->metric[TRK_GPU_TREE_MEMORY_METRIC] = trk__gpu_unknown(TRK_GPU_FOREIGN_PIDS);
}

void trk__gpu_attribute(struct trk_gpu_attributor *a, struct trk_gpu_scan *scan)
{
	size_t at = 0;

	for (size_t i = 0; i < scan->devices; i++) {
		struct trk_gpu_value *m = scan->device[i].metric;
		size_t matched;

		/* A source that sees no process of a device has said why; those of a MIG
		 * instance stand with its GPU. */
		if (scan->device[i].parent >= 0 ||
		    m[TRK_GPU_TREE_MEMORY_METRIC].why != TRK_GPU_NOT_ASKED) {
			while (at < scan->processes && scan->process[at].device == i)
				at++;
			continue;
		}
		matched = match(scan, i, &at);
		if (matched == 0 && scan->pids && scan->device[i].node >= 0 && is_foreign(a))
			take_device(a, scan, i);
	}
}
