/* Who is on an NVIDIA GPU: three lists of processes, merged, and samples of what each did. */
#include <errno.h>
#include <stdlib.h>

#include "probe/gpu/nvml_private.h"

enum { LIST_START = 64, LIST_MAX = 16384 };

/* The driver takes a sample of each process every sixth of a second to a second. */
#define FRESH_US 1500000ull

int trk__nvml_make_lists(struct nvml *n)
{
	n->list = calloc(LIST_START, sizeof(*n->list));
	n->samples = calloc(LIST_START, sizeof(*n->samples));
	if (!n->list || !n->samples)
		return -ENOMEM;
	n->list_cap = n->samples_cap = LIST_START;
	return 0;
}

static bool grow(void **list, unsigned int *cap, unsigned int wanted, size_t size)
{
	unsigned int more = wanted > *cap ? wanted + wanted / 4 : *cap * 2;
	void *bigger;

	if (*cap >= LIST_MAX)
		return false;
	if (more > LIST_MAX)
		more = LIST_MAX;
	bigger = realloc(*list, more * size);
	if (!bigger)
		return false;
	*list = bigger;
	*cap = more;
	return true;
}

enum list { COMPUTE, GRAPHICS, MPS, LISTS };

/* One of the three lists; in its first form where the library is old. */
static int get_list(struct nvml *n, nvml_device handle, enum list which, unsigned int *count)
{
	int (*get)(nvml_device, unsigned int *, struct nvml_process *) =
		which == COMPUTE    ? n->f.compute_processes
		: which == GRAPHICS ? n->f.graphics_processes
				    : n->f.mps_processes;
	int (*old)(nvml_device, unsigned int *, struct nvml_process_v1 *) =
		which == COMPUTE    ? n->f.compute_processes_v1
		: which == GRAPHICS ? n->f.graphics_processes_v1
				    : NULL;
	struct nvml_process_v1 *first = (struct nvml_process_v1 *) n->list;
	int r;

	do {
		*count = n->list_cap;
		if (get)
			r = get(handle, count, n->list);
		else if (old)
			r = old(handle, count, first = (struct nvml_process_v1 *) n->list);
		else
			return NVML_ERROR_FUNCTION_NOT_FOUND;
	} while (r == NVML_ERROR_INSUFFICIENT_SIZE &&
		 grow((void **) &n->list, &n->list_cap, *count, sizeof(*n->list)));
	if (r != NVML_SUCCESS)
		return r;
	if (*count > n->list_cap)
		*count = n->list_cap;
	if (!get) /* from the end: the larger form takes more room */
		for (unsigned int i = *count; i-- > 0;) {
			struct nvml_process_v1 one = first[i];

			n->list[i] = (struct nvml_process){one.pid, one.used_memory, UINT32_MAX,
							   UINT32_MAX};
		}
	return 0;
}

/* A process that computes and draws stands in two lists, with the same memory. */
static int add_listed(struct nvml *n, struct trk_gpu_scan *scan, size_t device, nvml_device handle)
{
	int worst = NVML_SUCCESS;

	for (int which = 0; which < LISTS; which++) {
		unsigned int count = 0;
		int r = get_list(n, handle, (enum list) which, &count);

		if (r != NVML_SUCCESS) {
			if (which == COMPUTE)
				worst = r;
			continue;
		}
		for (unsigned int i = 0; i < count; i++) {
			const struct nvml_process *from = &n->list[i];
			struct trk_gpu_process *p = trk__gpu_add_process(
				scan, device, (pid_t) from->pid, from->gpu_instance);

			if (!p)
				return NVML_ERROR_INSUFFICIENT_SIZE;
			scan->device[device].processes += !p->is_listed;
			p->is_listed = true;
			if (from->used_memory != NVML_VALUE_NOT_AVAILABLE &&
			    !(p->bytes >= (double) from->used_memory))
				p->bytes = (double) from->used_memory;
		}
	}
	return worst;
}

static struct trk_gpu_process *first_of(struct trk_gpu_scan *scan, size_t start, pid_t pid)
{
	for (size_t i = start; i < scan->processes; i++)
		if (scan->process[i].pid == pid)
			return &scan->process[i];
	return NULL;
}

static void take_sample(struct trk_gpu_scan *scan, size_t device, size_t start,
			const struct nvml_process_sample *sample)
{
	struct trk_gpu_process *p = first_of(scan, start, (pid_t) sample->pid);

	if (!p) { /* it has ended since */
		p = trk__gpu_add_process(scan, device, (pid_t) sample->pid, UINT32_MAX);
		if (!p)
			return;
		p->bytes = 0;
		p->share = 0;
	}
	if (sample->time_us < p->sample_us)
		return;
	p->sample_us = sample->time_us;
	p->share = sample->sm > 100 ? 1 : sample->sm / 100.0;
}

/* Utilisation of each process. A process without a fresh sample did nothing. */
static void add_samples(struct nvml *n, struct trk_gpu_scan *scan, size_t device, size_t start,
			nvml_device handle)
{
	struct trk_gpu_device *d = &scan->device[device];
	uint64_t since_us = scan->wall_us > FRESH_US ? scan->wall_us - FRESH_US : 0;
	unsigned int count;
	int r;

	if (d->mig) {
		d->metric[TRK_GPU_TREE_SHARE_METRIC] = trk__gpu_unknown(TRK_GPU_MIG);
		return;
	}
	do {
		count = n->samples_cap;
		r = CALL(n, process_samples, handle, n->samples, &count, since_us);
	} while (r == NVML_ERROR_INSUFFICIENT_SIZE && count > n->samples_cap &&
		 grow((void **) &n->samples, &n->samples_cap, count, sizeof(*n->samples)));
	if (r == NVML_ERROR_NOT_FOUND || r == NVML_ERROR_NO_DATA) { /* nobody did anything */
		count = 0;
		r = NVML_SUCCESS;
	}
	if (r != NVML_SUCCESS) {
		d->metric[TRK_GPU_TREE_SHARE_METRIC] = trk__gpu_unknown(trk__nvml_why(r));
		return;
	}
	for (size_t i = start; i < scan->processes; i++)
		scan->process[i].share = 0;
	for (unsigned int i = 0; i < count && i < n->samples_cap; i++)
		/* Old drivers ignore the moment that they are asked for. */
		if (n->samples[i].time_us > since_us && n->samples[i].pid)
			take_sample(scan, device, start, &n->samples[i]);
}

void trk__nvml_processes(struct nvml *n, struct trk_gpu_scan *scan, size_t device,
			 nvml_device handle)
{
	size_t start = scan->processes;
	int r = add_listed(n, scan, device, handle);

	if (r != NVML_SUCCESS) {
		scan->processes = start;
		scan->device[device].metric[TRK_GPU_TREE_SHARE_METRIC] =
			scan->device[device].metric[TRK_GPU_TREE_MEMORY_METRIC] =
				trk__gpu_unknown(trk__nvml_why(r));
		return;
	}
	add_samples(n, scan, device, start, handle);
}
