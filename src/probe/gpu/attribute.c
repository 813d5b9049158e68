/* Determines which part of each device the tracked processes use. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"
#include "probe/gpu/assigned.h"
#include "probe/gpu/gpu.h"
#include "probe/linux/cgroup.h"

#define LOOK_NS (5 * TRK_NS_PER_S)

/* ---- processes that have a device open ---- */

/* True if this process has the device open now, or had it a moment ago. Its number in a list of the
 * driver may be that of another process of the machine. */
static bool is_opener(struct trk_gpu_attributor *a, const struct trk_gpu_scan *scan, int node,
		      pid_t pid)
{
	const char *path = TRK_PATH("/dev/nvidia%d", node);
	TRK_DIR_CLEANUP DIR *dir = NULL;
	struct dirent *entry;
	char link[64];

	for (size_t i = 0; i < TRK_GPU_OPENERS_MAX; i++)
		if (a->opener[i].pid == pid && a->opener[i].node == node &&
		    scan->now_ns < a->opener[i].until_ns)
			return true;
	dir = trk__list_dir_at(a->env.proc_fd, TRK_PATH("%d/fd", (int) pid));
	while (dir && (entry = trk__next_entry(dir))) {
		size_t at = a->next_opener % TRK_GPU_OPENERS_MAX;

		(void) trk__read_link_at(dirfd(dir), entry->d_name, link, sizeof(link));
		if (strcmp(link, path) != 0)
			continue;
		a->opener[at].pid = pid;
		a->opener[at].node = node;
		a->opener[at].until_ns = scan->now_ns + LOOK_NS;
		a->next_opener++;
		return true;
	}
	return false;
}

static void note_holders(struct trk_gpu_attributor *a, const struct trk_gpu_scan *scan, DIR *dir)
{
	bool holds[TRK_GPUS_MAX] = {false};
	struct dirent *entry;
	char link[64];

	while ((entry = trk__next_entry(dir))) {
		(void) trk__read_link_at(dirfd(dir), entry->d_name, link, sizeof(link));
		if (strncmp(link, "/dev/nvidia", 11) != 0)
			continue;
		for (size_t i = 0; i < scan->devices; i++)
			holds[i] |= scan->device[i].node >= 0 &&
				    !strcmp(link, TRK_PATH("/dev/nvidia%d", scan->device[i].node));
	}
	for (size_t i = 0; i < scan->devices; i++)
		a->holders[i] += holds[i];
}

/* ---- devices that the job is assigned ---- */

static void note_given(struct trk_gpu_say *say, enum trk_gpu_given given, enum trk_gpu_basis basis)
{
	if (given == TRK_GPU_NOT_GIVEN)
		say->denied = true;
	if (given != TRK_GPU_GIVEN || say->given)
		return;
	say->given = true;
	say->basis = basis;
}

static void hear_environment(struct trk_gpu_attributor *a, const struct trk_gpu_scan *scan)
{
	const struct trk_gpu_hints *h = &a->hints;
	enum trk_gpu_given cuda[TRK_GPUS_MAX], nvidia[TRK_GPUS_MAX];

	trk__gpu_given_by_cuda(h->cuda_visible, h->cuda_order, scan->device, scan->devices, cuda);
	trk__gpu_given_by_nvidia(h->nvidia_visible, scan->device, scan->devices, nvidia);
	for (size_t i = 0; i < scan->devices; i++) {
		note_given(&a->say[i], cuda[i], TRK_GPU_BY_CUDA);
		note_given(&a->say[i], nvidia[i], TRK_GPU_BY_NVIDIA);
		a->say[i].by_name =
			cuda[i] == TRK_GPU_GIVEN ||
			(nvidia[i] == TRK_GPU_GIVEN && strcmp(h->nvidia_visible, "all") != 0);
	}
}

static void hear_group(struct trk_gpu_attributor *a, const struct trk_gpu_scan *scan)
{
	char text[4096];
	struct trk_cgroup group;
	const struct trk_cgroup_place *place = &group.place[TRK_CGROUP_DEVICES];

	if (trk__cgroup_find(&group, &a->env, scan->pid[0]) == 0 && place->version == 1 &&
	    trk__read_at(a->env.cgroup_fd, TRK_PATH("%s/devices.list", place->dir), text,
			 sizeof(text)) > 0)
		for (size_t i = 0; i < scan->devices; i++)
			note_given(&a->say[i], trk__gpu_given_by_cgroup(text, scan->device[i].node),
				   TRK_GPU_BY_CGROUP);
}

/* v2 has no readable list, but a container has only the device nodes of its own devices. */
static void hear_nodes(struct trk_gpu_attributor *a, const struct trk_gpu_scan *scan)
{
	int pid = (int) scan->pid[0];
	struct stat st;

	if (fstatat(a->env.proc_fd, TRK_PATH("%d/root/dev/nvidiactl", pid), &st, 0) < 0)
		return;
	for (size_t i = 0; i < scan->devices; i++)
		if (scan->device[i].node >= 0 &&
		    fstatat(a->env.proc_fd,
			    TRK_PATH("%d/root/dev/nvidia%d", pid, scan->device[i].node), &st,
			    0) < 0 &&
		    errno == ENOENT)
			a->say[i].denied = true;
}

static void look_for_assignments(struct trk_gpu_attributor *a, const struct trk_gpu_scan *scan)
{
	memset(a->say, 0, sizeof(a->say));
	hear_environment(a, scan);
	hear_group(a, scan);
	hear_nodes(a, scan);
}

static void look_for_holders(struct trk_gpu_attributor *a, const struct trk_gpu_scan *scan)
{
	if (a->looked_ns && scan->now_ns < a->looked_ns + LOOK_NS)
		return;
	a->looked_ns = scan->now_ns;
	memset(a->holders, 0, sizeof(a->holders));
	a->unreadable = false;
	for (size_t i = 0; i < scan->pids; i++) {
		TRK_DIR_CLEANUP DIR *dir =
			trk__list_dir_at(a->env.proc_fd, TRK_PATH("%d/fd", (int) scan->pid[i]));

		a->unreadable |= !dir && errno != ENOENT && errno != ESRCH;
		if (dir)
			note_holders(a, scan, dir);
	}
	look_for_assignments(a, scan);
}

static bool is_foreign(struct trk_gpu_attributor *a)
{
	if (!a->known)
		a->foreign = trk__env_pid_namespace(&a->env) > 0;
	a->known = true;
	return a->foreign;
}

/* ---- the parts ---- */

static struct trk_gpu_value at_most_one(struct trk_gpu_value v)
{
	if (v.value > 1)
		v.value = 1; /* samples of several processes overlap */
	return v;
}

static void add_value(struct trk_gpu_value *sum, double value, enum trk_gpu_why why)
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

/* 0, or unknown on a device whose driver does not divide its use among processes. */
static struct trk_gpu_value none_of(const struct trk_gpu_device *d, enum trk_gpu_why why)
{
	return d->is_undivided ? trk__gpu_unknown(why) : trk__gpu_known(0);
}

/* Returns how many of the device's processes are tracked; *at advances past them. */
static size_t match(struct trk_gpu_attributor *a, struct trk_gpu_scan *scan, size_t device,
		    size_t *at)
{
	const struct trk_gpu_device *d = &scan->device[device];
	struct trk_gpu_value *m = scan->device[device].metric, bytes = trk__gpu_known(0);
	enum trk_gpu_why why = m[TRK_GPU_TREE_SHARE_METRIC].why;
	enum trk_gpu_why video = m[TRK_GPU_TREE_ENCODER_METRIC].why;
	struct trk_gpu_value share = none_of(d, why), encoder = none_of(d, video),
			     decoder = none_of(d, video);
	size_t matched = 0;

	for (; *at < scan->processes && scan->process[*at].device == device; ++*at) {
		const struct trk_gpu_process *p = &scan->process[*at];

		if (isnan(p->bytes))
			add_value(&bytes, NAN, m[TRK_GPU_MEMORY_USED_METRIC].why);
		if (!trk__gpu_is_tracked(scan, p->pid) ||
		    (d->node >= 0 && is_foreign(a) && !is_opener(a, scan, d->node, p->pid)))
			continue;
		matched++;
		add_value(&share, p->share, why);
		add_value(&encoder, p->encoder, video);
		add_value(&decoder, p->decoder, video);
		add_value(&bytes, p->bytes, m[TRK_GPU_MEMORY_USED_METRIC].why);
	}
	m[TRK_GPU_TREE_SHARE_METRIC] = at_most_one(share);
	m[TRK_GPU_TREE_ENCODER_METRIC] = at_most_one(encoder);
	m[TRK_GPU_TREE_DECODER_METRIC] = at_most_one(decoder);
	m[TRK_GPU_TREE_MEMORY_METRIC] = bytes;
	return matched;
}

/* True if an earlier instance with the same memory is also assigned by name. */
static bool is_named_before(const struct trk_gpu_attributor *a, const struct trk_gpu_scan *scan,
			    size_t device)
{
	const struct trk_gpu_device *d = &scan->device[device];

	for (size_t i = 0; i < device && d->gpu_instance != UINT32_MAX; i++)
		if (a->say[i].by_name && scan->device[i].parent == d->parent &&
		    scan->device[i].gpu_instance == d->gpu_instance)
			return true;
	return false;
}

/* The memory of the instances that are assigned by name, or else of all listed ones. */
static struct trk_gpu_value sum_instances(const struct trk_gpu_attributor *a,
					  const struct trk_gpu_scan *scan, size_t device,
					  bool *ret_by_name)
{
	struct trk_gpu_value listed = trk__gpu_known(0), named = trk__gpu_known(0);
	size_t listed_count = 0, named_count = 0;

	for (size_t i = 0; i < scan->devices; i++) {
		struct trk_gpu_value used = scan->device[i].metric[TRK_GPU_MEMORY_USED_METRIC];

		if (scan->device[i].parent != (int) device)
			continue;
		if (!trk__gpu_shares_memory(scan, i))
			add_value(&listed, used.value, used.why);
		listed_count++;
		if (a->say[i].by_name) {
			if (!is_named_before(a, scan, i))
				add_value(&named, used.value, used.why);
			named_count++;
		}
	}
	*ret_by_name = named_count > 0;
	if (listed_count == 0)
		return scan->device[device].metric[TRK_GPU_MEMORY_USED_METRIC];
	return *ret_by_name ? named : listed;
}

static void take_device(struct trk_gpu_attributor *a, struct trk_gpu_scan *scan, size_t device)
{
	struct trk_gpu_device *d = &scan->device[device];
	const struct trk_gpu_say *say = &a->say[device];
	struct trk_gpu_value bytes = d->metric[TRK_GPU_MEMORY_USED_METRIC];
	bool by_name = false, has_it;

	look_for_holders(a, scan);
	if (say->denied || (a->holders[device] == 0 && !a->unreadable))
		return; /* no process of the tree: 0 is right */
	if (d->mig)
		bytes = sum_instances(a, scan, device, &by_name);
	has_it = a->holders[device] ? d->processes <= 1 || d->processes == a->holders[device]
				    : say->given && d->processes <= 1;
	if (!has_it && !by_name) {
		trk__gpu_set_tree_unknown(d, TRK_GPU_FOREIGN_PIDS);
		d->metric[TRK_GPU_TREE_MEMORY_METRIC] = trk__gpu_unknown(TRK_GPU_FOREIGN_PIDS);
		return;
	}
	d->by_device = true;
	d->basis = a->holders[device] && !by_name ? TRK_GPU_BY_OPEN : say->basis;
	d->metric[TRK_GPU_TREE_SHARE_METRIC] = d->metric[TRK_GPU_UTILIZATION_METRIC];
	d->metric[TRK_GPU_TREE_ENCODER_METRIC] = d->metric[TRK_GPU_ENCODER_METRIC];
	d->metric[TRK_GPU_TREE_DECODER_METRIC] = d->metric[TRK_GPU_DECODER_METRIC];
	d->metric[TRK_GPU_TREE_MEMORY_METRIC] = bytes;
}

void trk__gpu_attribute(struct trk_gpu_attributor *a, struct trk_gpu_scan *scan)
{
	size_t at = 0;

	for (size_t i = 0; i < scan->devices; i++) {
		struct trk_gpu_value *m = scan->device[i].metric;
		size_t matched;

		/* A source that cannot list processes of a device has set the reason; processes of
		 * a MIG instance are listed with its GPU. */
		if (scan->device[i].parent >= 0 ||
		    m[TRK_GPU_TREE_MEMORY_METRIC].why != TRK_GPU_NOT_ASKED) {
			while (at < scan->processes && scan->process[at].device == i)
				at++;
			continue;
		}
		matched = match(a, scan, i, &at);
		if (matched == 0 && scan->pids && scan->device[i].node >= 0 && is_foreign(a))
			take_device(a, scan, i);
	}
}
