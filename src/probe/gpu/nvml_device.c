/* Reads one NVIDIA GPU through NVML: activity, processes, figures, and MIG instances. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "probe/gpu/nvml_private.h"

enum { LIST_START = 64, LIST_MAX = 16384 };

#define GPM_INTERVAL_NS (100 * TRK_NS_PER_MS)
/* Drivers sample processes every 1/6 s to 1 s and list the active ones. The newest sample is 0.7 to
 * 9 s old, so ages are relative to the newest sample of the device, not to the clock. */
#define SAMPLE_PERIOD_US 1500000ull
#define SAMPLE_AGE_US    10000000ull

/* ---- activity: two samples of the GPU performance monitor (Hopper and later) ---- */

void trk__nvml_free_samples(struct nvml *n, struct watch *w)
{
	for (int k = 0; k < 2; k++) {
		if (w->sample[k])
			(void) CALL(n, gpm_free, w->sample[k]);
		w->sample[k] = NULL;
	}
	w->has_sample = false;
}

void trk__nvml_make_samples(struct nvml *n, struct watch *w)
{
	if (!n->f.gpm_metrics || !n->f.gpm_free)
		return;
	for (int i = 0; i < 2; i++)
		if (CALL(n, gpm_alloc, &w->sample[i]) != NVML_SUCCESS)
			w->sample[i] = NULL;
	if (w->sample[0] && w->sample[1])
		return;
	trk__nvml_free_samples(n, w);
}

static const struct {
	unsigned int id;
	enum trk_gpu_metric metric;
	double scale;
} activities[TRK_NVML_ACTIVITIES] = {
	{NVML_GPM_METRIC_SM_UTIL, TRK_GPU_SM_ACTIVITY_METRIC, 0.01},
	{NVML_GPM_METRIC_DRAM_BW_UTIL, TRK_GPU_MEMORY_ACTIVITY_METRIC, 0.01},
	{NVML_GPM_METRIC_PCIE_RX_PER_SEC, TRK_GPU_PCIE_RX_METRIC, 1048576},
	{NVML_GPM_METRIC_PCIE_TX_PER_SEC, TRK_GPU_PCIE_TX_METRIC, 1048576},
};

/* Compare the new sample in w->sample[1] with the one before. */
static void compare_samples(struct nvml *n, struct watch *w)
{
	struct nvml_gpm_metrics get = {.version = NVML_GPM_VERSION, .count = TRK_NVML_ACTIVITIES};
	nvml_gpm_sample newest = w->sample[1];
	bool is_known = w->has_sample;

	w->sample[1] = w->sample[0];
	w->sample[0] = newest;
	w->has_sample = true;
	w->taken_ns = n->env.monotonic_ns(); /* after the call, which may have been delayed */
	for (int i = 0; i < TRK_NVML_ACTIVITIES; i++) {
		w->activity[i] =
			trk__gpu_unknown(is_known ? TRK_GPU_UNSUPPORTED : TRK_GPU_FIRST_LOOK);
		get.metric[i].id = activities[i].id;
	}
	get.sample1 = w->sample[1];
	get.sample2 = newest;
	if (!is_known || n->f.gpm_metrics(&get) != NVML_SUCCESS)
		return;
	for (int i = 0; i < TRK_NVML_ACTIVITIES; i++)
		if (get.metric[i].result == NVML_SUCCESS && get.metric[i].value >= 0)
			w->activity[i] = trk__gpu_known(get.metric[i].value * activities[i].scale);
}

/* The monitor updates its counters every 100 ms: closer samples yield no or wrong values. Until
 * then the last activity is used. */
static bool is_time(struct nvml *n, const struct watch *w)
{
	return !w->has_sample || n->env.monotonic_ns() > w->taken_ns + GPM_INTERVAL_NS;
}

static void set_activity(const struct watch *w, struct trk_gpu_value *m)
{
	m[TRK_GPU_SM_ACTIVITY_METRIC] = w->activity[0];
	for (int i = 1; i < TRK_NVML_ACTIVITIES; i++)
		if (w->activity[i].why == TRK_GPU_KNOWN)
			m[activities[i].metric] = w->activity[i];
}

static void read_activity(struct nvml *n, struct kept *k, bool mig, struct trk_gpu_value *m)
{
	struct watch *w = &k->watch;

	m[TRK_GPU_PCIE_RX_METRIC] = k->pcie_rx;
	m[TRK_GPU_PCIE_TX_METRIC] = k->pcie_tx;
	m[TRK_GPU_SM_ACTIVITY_METRIC] = trk__gpu_unknown(
		mig             ? TRK_GPU_MIG
		: !w->sample[0] ? (n->f.gpm_support ? TRK_GPU_UNSUPPORTED : TRK_GPU_OLD_LIBRARY)
				: TRK_GPU_FIRST_LOOK);
	if (mig || !w->sample[0])
		return;
	if (is_time(n, w)) {
		if (n->f.gpm_get(k->handle, w->sample[1]) != NVML_SUCCESS)
			return;
		compare_samples(n, w);
	}
	set_activity(w, m);
	k->monitor_lacks_bus = w->activity[2].why == TRK_GPU_UNSUPPORTED;
}

/* As above, for an instance, which has no other source. After a refusal it is not read again. */
static void read_instance_activity(struct nvml *n, nvml_device gpu, nvml_device instance,
				   struct watch *w, struct trk_gpu_device *d)
{
	unsigned int id = 0;
	int r;

	if (strcmp(w->uuid, d->uuid) != 0) { /* a different instance than before */
		memcpy(w->uuid, d->uuid, sizeof(w->uuid));
		w->has_sample = false;
		w->refused = TRK_GPU_KNOWN;
	}
	if (!w->sample[0] && w->refused == TRK_GPU_KNOWN)
		trk__nvml_make_samples(n, w);
	if (!w->sample[0] || !n->f.gpm_get_instance || !n->f.instance_id)
		w->refused = TRK_GPU_OLD_LIBRARY;
	d->metric[TRK_GPU_SM_ACTIVITY_METRIC] =
		trk__gpu_unknown(w->refused ? w->refused : TRK_GPU_FIRST_LOOK);
	if (w->refused)
		return;
	if (!is_time(n, w)) {
		set_activity(w, d->metric);
		return;
	}
	r = n->f.instance_id(instance, &id);
	r = r ? r : n->f.gpm_get_instance(gpu, id, w->sample[1]);
	if (r == NVML_SUCCESS) {
		compare_samples(n, w);
		set_activity(w, d->metric);
		return;
	}
	d->metric[TRK_GPU_SM_ACTIVITY_METRIC] = trk__gpu_unknown(trk__nvml_why(r));
	if (r == NVML_ERROR_NOT_SUPPORTED)
		w->refused = TRK_GPU_UNSUPPORTED;
}

/* ---- processes: three merged lists, and samples of their activity ---- */

int trk__nvml_make_lists(struct nvml *n)
{
	n->list = calloc(LIST_START, sizeof(*n->list));
	n->samples = calloc(LIST_START, sizeof(*n->samples));
	n->infos = calloc(LIST_START, sizeof(*n->infos));
	if (!n->list || !n->samples || !n->infos)
		return -ENOMEM;
	n->list_cap = n->samples_cap = LIST_START;
	return 0;
}

void trk__nvml_free_lists(struct nvml *n)
{
	for (unsigned int i = 0; i < n->count; i++)
		free(n->kept[i].sample);
	free(n->list);
	free(n->samples);
	free(n->infos);
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

/* Read one of the three lists, with the v1 function if the library is old. */
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
	if (!get) /* convert from the end, as the newer struct is larger */
		for (unsigned int i = *count; i-- > 0;) {
			struct nvml_process_v1 one = first[i];

			n->list[i] = (struct nvml_process){one.pid, one.used_memory, UINT32_MAX,
							   UINT32_MAX};
		}
	return 0;
}

/* A process that computes and draws is in two lists, with the same memory. `part` is the instance
 * if the driver names none. */
static int add_listed(struct nvml *n, struct trk_gpu_scan *scan, size_t device, nvml_device handle,
		      unsigned int part)
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
				scan, device, (pid_t) from->pid,
				from->gpu_instance == UINT32_MAX ? part : from->gpu_instance);

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

/* ---- samples ---- */

static bool grow_samples(struct nvml *n, unsigned int wanted)
{
	unsigned int cap = n->samples_cap, same = cap;

	if (!grow((void **) &n->samples, &cap, wanted, sizeof(*n->samples)))
		return false;
	if (!grow((void **) &n->infos, &same, wanted, sizeof(*n->infos)))
		return false;
	n->samples_cap = same;
	return true;
}

/* Read samples with the newer function, which uses another struct. */
static int ask_infos(struct nvml *n, nvml_device handle, bool count_only, unsigned int *count,
		     uint64_t since_us)
{
	struct nvml_processes_info get = {.version = NVML_PROCESSES_INFO_V1,
					  .count = *count,
					  .since_us = since_us,
					  .info = count_only ? NULL : n->infos};
	int r = n->f.processes_info(handle, &get);

	*count = get.count;
	for (unsigned int i = 0; r == NVML_SUCCESS && !count_only && i < *count; i++) {
		const struct nvml_process_info *from = &n->infos[i];

		if (i == n->samples_cap)
			break;
		n->samples[i] = (struct nvml_process_sample){
			.pid = from->pid,
			.time_us = from->time_us,
			.sm = from->sm,
			.memory = from->memory,
			.encoder = from->encoder,
			.decoder = from->decoder,
		};
	}
	return r;
}

static int ask_samples(struct nvml *n, nvml_device handle, bool count_only, unsigned int *count,
		       uint64_t since_us)
{
	if (n->f.processes_info) {
		unsigned int asked = *count;
		int r = ask_infos(n, handle, count_only, count, since_us);

		if (r != NVML_ERROR_NOT_SUPPORTED && r != NVML_ERROR_FUNCTION_NOT_FOUND &&
		    r != NVML_ERROR_ARGUMENT_VERSION_MISMATCH)
			return r;
		*count = asked;
	}
	return CALL(n, process_samples, handle, count_only ? NULL : n->samples, count, since_us);
}

/* Samples newer than since_us, into n->samples. The first call for a device asks for the size only,
 * as the library's manual recommends. */
static int get_samples(struct nvml *n, struct kept *k, uint64_t since_us, unsigned int *ret_count)
{
	unsigned int count = 0;
	int r = NVML_SUCCESS;

	if (!k->counted_samples) {
		r = ask_samples(n, k->handle, true, &count, since_us);
		k->counted_samples = true;
		if (r == NVML_ERROR_INSUFFICIENT_SIZE && count > n->samples_cap &&
		    !grow_samples(n, count))
			return r;
	}
	do {
		count = n->samples_cap;
		r = ask_samples(n, k->handle, false, &count, since_us);
	} while (r == NVML_ERROR_INSUFFICIENT_SIZE && count > n->samples_cap &&
		 grow_samples(n, count));
	if (r == NVML_ERROR_NOT_FOUND || r == NVML_ERROR_NO_DATA) { /* nothing new */
		count = 0;
		r = NVML_SUCCESS;
	}
	*ret_count = count < n->samples_cap ? count : n->samples_cap;
	return r;
}

/* Find the sample of a process, starting at *from, as the driver always uses the same order. */
static struct nvml_process_sample *sample_of(struct kept *k, unsigned int pid, unsigned int *from)
{
	for (unsigned int n = 0, i = *from; n < k->samples; n++, i++) {
		if (i >= k->samples)
			i = 0;
		if (k->sample[i].pid != pid)
			continue;
		*from = i + 1;
		return &k->sample[i];
	}
	return NULL;
}

/* False where there is no room for it. */
static bool keep_sample(struct kept *k, const struct nvml_process_sample *sample,
			unsigned int *from)
{
	struct nvml_process_sample *known = sample_of(k, sample->pid, from), *bigger;

	if (known) {
		if (sample->time_us >= known->time_us)
			*known = *sample;
		return true;
	}
	if (k->samples == LIST_MAX)
		return false;
	if ((k->samples & (k->samples - 1)) == 0) { /* full at each power of two */
		bigger = realloc(k->sample, (k->samples ? 2 * k->samples : 1) * sizeof(*bigger));
		if (!bigger)
			return false;
		k->sample = bigger;
	}
	k->sample[k->samples++] = *sample;
	return true;
}

/* Drop samples older than the newest by more than a period: their processes were idle since. */
static void drop_samples(struct kept *k)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < k->samples; i++)
		if (k->sample[i].time_us + SAMPLE_PERIOD_US > k->sampled_us)
			k->sample[kept++] = k->sample[i];
	k->samples = kept;
}

static bool take_samples(struct nvml *n, struct kept *k, uint64_t since_us, unsigned int count)
{
	uint64_t newest_us = k->sampled_us;
	unsigned int from = 0;
	bool has_room = true;

	for (unsigned int i = 0; i < count; i++) {
		const struct nvml_process_sample *s = &n->samples[i];

		/* Old drivers ignore since_us. */
		if (s->time_us <= since_us || !s->pid)
			continue;
		if (s->time_us > newest_us)
			newest_us = s->time_us;
		has_room &= keep_sample(k, s, &from);
	}
	k->sampled_us = newest_us;
	drop_samples(k);
	return has_room;
}

/* The newest sample of a device is used until the driver has a newer one, but no longer than
 * drivers are known to be late, and only while the GPU is busy. */
static bool is_stale(const struct kept *k, struct trk_gpu_value busy, uint64_t wall_us)
{
	uint64_t age_us = wall_us > k->sampled_us ? wall_us - k->sampled_us : 0;

	return age_us > SAMPLE_AGE_US ||
	       (age_us > SAMPLE_PERIOD_US && busy.why == TRK_GPU_KNOWN && busy.value <= 0);
}

static double process_share(unsigned int percent)
{
	return percent <= 100 ? percent / 100.0 : (double) NAN;
}

static struct trk_gpu_process *first_of(struct trk_gpu_scan *scan, size_t start, pid_t pid)
{
	for (size_t i = start; i < scan->processes; i++)
		if (scan->process[i].pid == pid)
			return &scan->process[i];
	return NULL;
}

static void add_share(struct trk_gpu_scan *scan, size_t device, size_t start,
		      const struct nvml_process_sample *sample)
{
	struct trk_gpu_process *p = first_of(scan, start, (pid_t) sample->pid);

	if (!p) { /* the process has ended */
		p = trk__gpu_add_process(scan, device, (pid_t) sample->pid, UINT32_MAX);
		if (!p)
			return;
		p->bytes = 0;
	}
	/* Drivers sometimes return invalid figures such as 4013453 %. */
	if (sample->sm > 100)
		scan->device[device].metric[TRK_GPU_TREE_SHARE_METRIC] =
			trk__gpu_unknown(TRK_GPU_FAILED);
	p->share = process_share(sample->sm);
	p->encoder = process_share(sample->encoder);
	p->decoder = process_share(sample->decoder);
}

/* Utilisation of each process. A process without a fresh sample did nothing. */
static void add_samples(struct nvml *n, struct trk_gpu_scan *scan, size_t device, size_t start,
			struct kept *k)
{
	struct trk_gpu_device *d = &scan->device[device];
	uint64_t since_us = k->sampled_us;
	unsigned int count = 0;
	int r;

	if (since_us + SAMPLE_AGE_US < scan->wall_us)
		since_us = scan->wall_us - SAMPLE_AGE_US;
	if (d->mig) {
		trk__gpu_set_tree_unknown(d, TRK_GPU_MIG);
		return;
	}
	if (trk__nvml_is_affordable(n, &k->samples_cost, scan)) {
		uint64_t began_cpu_ns = trk__clock_thread_cpu_ns();

		r = get_samples(n, k, since_us, &count);
		trk__nvml_add_cost(&k->samples_cost, began_cpu_ns, scan->now_ns);
		if (r != NVML_SUCCESS) {
			trk__gpu_set_tree_unknown(d, trk__nvml_why(r));
			return;
		}
		if (!take_samples(n, k, since_us, count)) {
			trk__gpu_set_tree_unknown(d, TRK_GPU_FAILED);
			return;
		}
	}
	for (size_t i = start; i < scan->processes; i++)
		scan->process[i].share = scan->process[i].encoder = scan->process[i].decoder = 0;
	if (is_stale(k, d->metric[TRK_GPU_UTILIZATION_METRIC], scan->wall_us))
		return;
	for (unsigned int i = 0; i < k->samples; i++)
		add_share(scan, device, start, &k->sample[i]);
}

static void read_processes(struct nvml *n, struct trk_gpu_scan *scan, size_t device, struct kept *k)
{
	size_t start = scan->processes;
	int r = add_listed(n, scan, device, k->handle, UINT32_MAX);

	if (r != NVML_SUCCESS) {
		scan->processes = start;
		trk__gpu_set_tree_unknown(&scan->device[device], trk__nvml_why(r));
		scan->device[device].metric[TRK_GPU_TREE_MEMORY_METRIC] =
			trk__gpu_unknown(trk__nvml_why(r));
		return;
	}
	add_samples(n, scan, device, start, k);
}

static void open_processes(struct trk_gpu_device *gpu)
{
	gpu->metric[TRK_GPU_TREE_MEMORY_METRIC] = trk__gpu_unknown(TRK_GPU_NOT_ASKED);
	trk__gpu_set_tree_unknown(gpu, TRK_GPU_MIG);
}

/* ---- figures ---- */

/* Drivers sometimes return invalid figures such as 4013453 %. */
static struct trk_gpu_value share_of(int result, unsigned int percent)
{
	if (result == NVML_SUCCESS && percent > 100)
		return trk__gpu_unknown(TRK_GPU_FAILED);
	return trk__nvml_scaled(result, percent / 100.0);
}

static int set_memory(struct nvml *n, nvml_device handle, struct trk_gpu_value *m)
{
	struct nvml_memory_v2 v2 = {.version = NVML_MEMORY_V2};
	struct nvml_memory v1;
	int r = CALL(n, memory_v2, handle, &v2);

	if (r != NVML_SUCCESS &&
	    !trk__nvml_is_gone(r)) { /* older drivers have only this function */
		r = CALL(n, memory, handle, &v1);
		v2.total = r == NVML_SUCCESS ? v1.total : 0;
		v2.used = r == NVML_SUCCESS ? v1.used : 0;
	}
	m[TRK_GPU_MEMORY_USED_METRIC] = trk__nvml_scaled(r, (double) v2.used);
	m[TRK_GPU_MEMORY_TOTAL_METRIC] = trk__nvml_scaled(r, (double) v2.total);
	if (r == NVML_SUCCESS && v2.total == 0)
		m[TRK_GPU_MEMORY_USED_METRIC] = m[TRK_GPU_MEMORY_TOTAL_METRIC] =
			trk__gpu_unknown(TRK_GPU_SHARED_MEMORY);
	return r;
}

static void set_utilization(struct nvml *n, nvml_device handle, bool mig, struct trk_gpu_value *m)
{
	struct nvml_utilization u = {0, 0};
	unsigned int share = 0, period;
	int r;

	if (mig) {
		m[TRK_GPU_UTILIZATION_METRIC] = m[TRK_GPU_MEMORY_ACTIVITY_METRIC] =
			m[TRK_GPU_ENCODER_METRIC] = m[TRK_GPU_DECODER_METRIC] =
				trk__gpu_unknown(TRK_GPU_MIG);
		return;
	}
	r = CALL(n, utilization, handle, &u);
	m[TRK_GPU_UTILIZATION_METRIC] = share_of(r, u.gpu);
	m[TRK_GPU_MEMORY_ACTIVITY_METRIC] = share_of(r, u.memory);
	r = CALL(n, encoder, handle, &share, &period);
	m[TRK_GPU_ENCODER_METRIC] = share_of(r, share);
	r = CALL(n, decoder, handle, &share, &period);
	m[TRK_GPU_DECODER_METRIC] = share_of(r, share);
}

/* ---- MIG ---- */

static bool is_mig(struct nvml *n, nvml_device handle)
{
	unsigned int now = 0, pending;

	return CALL(n, mig_mode, handle, &now, &pending) == NVML_SUCCESS && now == 1;
}

/* An instance has no utilisation. Its memory is that of its GPU instance. */
static struct trk_gpu_device *add_instance(struct nvml *n, struct trk_gpu_scan *scan, size_t parent,
					   nvml_device handle)
{
	struct trk_gpu_device *d = trk__gpu_add_device(scan, "nvidia");

	if (!d)
		return NULL;
	d->parent = (int) parent;
	d->mig = true;
	(void) snprintf(d->driver, sizeof(d->driver), "%s", n->driver);
	(void) CALL(n, name, handle, d->name, sizeof(d->name));
	(void) CALL(n, uuid, handle, d->uuid, sizeof(d->uuid));
	if (CALL(n, instance_id, handle, &d->gpu_instance) != NVML_SUCCESS)
		d->gpu_instance = UINT32_MAX;
	(void) set_memory(n, handle, d->metric);
	set_utilization(n, handle, true, d->metric);
	return d;
}

/* In a container with access to an instance only, the GPU itself may be inaccessible. */
static void set_memory_by_instances(struct trk_gpu_scan *scan, size_t parent)
{
	struct trk_gpu_value *above = scan->device[parent].metric;
	double used = 0, total = 0;

	for (size_t i = parent + 1; i < scan->devices; i++) {
		const struct trk_gpu_value *m = scan->device[i].metric;

		if (trk__gpu_shares_memory(scan, i))
			continue;
		used += m[TRK_GPU_MEMORY_USED_METRIC].value;
		total += m[TRK_GPU_MEMORY_TOTAL_METRIC].value;
	}
	if (scan->devices == parent + 1 || isnan(used + total) ||
	    above[TRK_GPU_MEMORY_USED_METRIC].why == TRK_GPU_KNOWN)
		return;
	above[TRK_GPU_MEMORY_USED_METRIC] = trk__gpu_known(used);
	above[TRK_GPU_MEMORY_TOTAL_METRIC] = trk__gpu_known(total);
}

static void read_instances(struct nvml *n, struct trk_gpu_scan *scan, size_t parent, struct kept *k)
{
	bool is_closed =
		scan->device[parent].metric[TRK_GPU_TREE_MEMORY_METRIC].why != TRK_GPU_NOT_ASKED;
	unsigned int most = 0;
	int listed = NVML_ERROR_NOT_FOUND;

	if (!scan->device[parent].mig || CALL(n, mig_count, k->handle, &most) != NVML_SUCCESS)
		return;
	for (unsigned int i = 0; i < most && i < MIG_INSTANCES_MAX; i++) {
		struct trk_gpu_device *d;
		nvml_device handle;

		if (CALL(n, mig_handle, k->handle, i, &handle) != NVML_SUCCESS)
			continue; /* indices may have gaps */
		d = add_instance(n, scan, parent, handle);
		if (!d)
			break;
		read_instance_activity(n, k->handle, handle, &k->instance[i], d);
		if (is_closed && (listed == NVML_SUCCESS || listed == NVML_ERROR_NOT_FOUND))
			listed = add_listed(n, scan, parent, handle, d->gpu_instance);
	}
	set_memory_by_instances(scan, parent);
	if (is_closed && listed == NVML_SUCCESS)
		open_processes(&scan->device[parent]);
}

int trk__nvml_device(struct nvml *n, struct trk_gpu_scan *scan, size_t device, struct kept *k)
{
	struct trk_gpu_device *d = &scan->device[device];
	int r = set_memory(n, k->handle, d->metric);

	if (trk__nvml_is_gone(r))
		return r;
	d->mig = is_mig(n, k->handle);
	set_utilization(n, k->handle, d->mig, d->metric);
	trk__nvml_board(n, k, scan, d->metric);
	read_activity(n, k, d->mig, d->metric);
	read_processes(n, scan, device, k);
	read_instances(n, scan, device, k);
	return NVML_SUCCESS;
}

void trk__nvml_bus(struct nvml *n, struct kept *k)
{
	if (k->watch.sample[0] && !k->monitor_lacks_bus)
		return;
	k->pcie_rx = k->pcie_tx =
		trk__nvml_figure_of(n->f.pcie, k->handle, NVML_PCIE_UTIL_RX_BYTES, 1024);
	if (k->pcie_rx.why == TRK_GPU_KNOWN)
		k->pcie_tx =
			trk__nvml_figure_of(n->f.pcie, k->handle, NVML_PCIE_UTIL_TX_BYTES, 1024);
}
