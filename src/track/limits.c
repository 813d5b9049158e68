#include "track/limits.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/os.h"
#include "probe/linux/affinity.h"
#include "probe/linux/meminfo.h"
#include "probe/linux/rlimits.h"
#include "model/capacity.h"
#include "track/request.h"

/* Changes of a limit that are listed one by one. */
enum { CHANGES_TOLD = 3 };

double trk__machine_memory_mib(const struct trk_env *env)
{
	struct trk_meminfo m;
	char text[8192];
	uint64_t bytes;

	if (trk__read_at(env->proc_fd, "meminfo", text, sizeof(text)) >= 0 &&
	    trk__meminfo_parse(text, &m) == 0)
		return (double) m.total / TRK_MIB;
	bytes = trk__os_memory_bytes();
	return bytes ? (double) bytes / TRK_MIB : (double) NAN;
}

/* ---- what holds now ---- */

static bool is_of_machine(const struct trk_run *run)
{
	return !strcmp(run->kind, "system");
}

static void set_limit(struct trk_quantity *q, double value, const char *source, const char *doubt)
{
	trk__quantity_set(q, value, doubt ? TRK_QUALITY_AT_MOST : TRK_QUALITY_EXACT, source, doubt);
}

static void cpu_limit(const struct trk_cgroup *cg, const struct trk_cgroup_limits *limits,
		      const struct trk_run *run, struct trk_quantity *ret)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	/* For a job that the tracker starts: the affinity at the start. If the job narrows its own
	 * affinity, that is not a limit. */
	int affinity = trk__affinity_count(!strcmp(run->kind, "run") ? getpid() : run->pid);
	double cores = online > 0 ? (double) online : NAN;
	const char *source = TRK_SOURCE_ALL_CPUS;

	if (is_of_machine(run)) {
		set_limit(ret, cores, source, NULL);
		return;
	}
	if (affinity > 0 && !(cores <= affinity)) {
		cores = affinity;
		source = "CPU affinity";
	}
	if (limits->cpuset_cpus && !(cores <= limits->cpuset_cpus)) {
		cores = limits->cpuset_cpus;
		source = limits->cpuset_from;
	}
	if (!isnan(limits->cpu_cores) && !(cores <= limits->cpu_cores)) {
		cores = limits->cpu_cores;
		source = limits->cpu_from;
	}
	set_limit(ret, cores, source, trk__cgroup_limits_doubt(cg, TRK_CGROUP_CPU, limits));
}

static void tighten(double *mib, const char **source, uint64_t bytes, const char *from)
{
	if (bytes == TRK_NO_LIMIT || (double) bytes / TRK_MIB >= *mib)
		return;
	*mib = (double) bytes / TRK_MIB;
	*source = from;
}

/* Above memory.high the kernel reclaims memory and throttles the job: it counts as a limit. */
static void memory_limit(const struct trk_env *env, const struct trk_cgroup *cg,
			 const struct trk_cgroup_limits *limits, const struct trk_run *run,
			 uint64_t own_bytes, struct trk_quantity *ret)
{
	double mib = trk__machine_memory_mib(env);
	const char *source = TRK_SOURCE_ALL_MEMORY;
	uint64_t space_bytes;

	if (is_of_machine(run)) {
		set_limit(ret, mib, source, NULL);
		return;
	}
	tighten(&mib, &source, limits->memory_bytes, limits->memory_from);
	tighten(&mib, &source, limits->memory_high_bytes, limits->memory_high_from);
	if (run->pid && trk__rlimits_read(env->proc_fd, run->pid, &space_bytes) == 0)
		tighten(&mib, &source, space_bytes, "ulimit -v, of each process");
	if (own_bytes)
		tighten(&mib, &source, own_bytes, TRK_SOURCE_OWN_LIMIT);
	set_limit(ret, mib, source, trk__cgroup_limits_doubt(cg, TRK_CGROUP_MEMORY, limits));
}

static void other_limit(const struct trk_run *run, uint64_t value, double unit, const char *source,
			const char *none, struct trk_quantity *ret)
{
	if (value != TRK_NO_LIMIT && !is_of_machine(run))
		set_limit(ret, (double) value / unit, source, NULL);
	else
		trk__quantity_unknown(ret, none);
}

static void read_now(struct trk_limits *l, const struct trk_env *env,
		     const struct trk_sampler *sampler, const struct trk_run *run)
{
	const struct trk_cgroup_limits *limits = trk__sampler_limits(sampler, &l->seen);
	const struct trk_cgroup *cg = trk__sampler_cgroup(sampler);

	cpu_limit(cg, limits, run, &l->now[TRK_LIMIT_CPU]);
	memory_limit(env, cg, limits, run, l->own_bytes, &l->now[TRK_LIMIT_MEMORY_MIB]);
	other_limit(run, limits->pids, 1, limits->pids_from, "no pids limit in the control group",
		    &l->now[TRK_LIMIT_PIDS]);
	other_limit(run, limits->memory_high_bytes, TRK_MIB, limits->memory_high_from,
		    "no memory.high in the control group", &l->now[TRK_LIMIT_MEMORY_HIGH_MIB]);
	other_limit(run, limits->swap_bytes, TRK_MIB, limits->swap_from,
		    "no swap limit in the control group", &l->now[TRK_LIMIT_SWAP_MIB]);
}

/* ---- over the run ---- */

static void set_requests(const struct trk_limits *l, struct trk_run *run)
{
	memcpy(run->request, l->stated, sizeof(run->request));
	trk__request_from_limits(run);
}

void trk__limits_begin(struct trk_limits *l, const struct trk_env *env,
		       const struct trk_sampler *sampler, uint64_t own_bytes, struct trk_run *run)
{
	*l = (struct trk_limits){.own_bytes = own_bytes};
	memcpy(l->stated, run->request, sizeof(l->stated));
	read_now(l, env, sampler, run);
	memcpy(run->limit, l->now, sizeof(run->limit));
	l->nearest = l->largest = l->now[TRK_LIMIT_MEMORY_MIB];
	l->cores = l->now[TRK_LIMIT_CPU];
	set_requests(l, run);
}

/* The entries of a list such as "0,1,GPU-5b2d"; CUDA reads it up to the first number below zero. 0:
 * none. */
static double visible_gpus(const char *list)
{
	double n = 0;

	while (*list && *list != '-') {
		size_t len = strcspn(list, ",");

		n += len > 0;
		list += len + (list[len] == ',');
	}
	return n;
}

/* "all" and "void" of a container limit nothing. */
static bool names_gpus(const char *list)
{
	return list && strcmp(list, "all") != 0 && strcmp(list, "void") != 0 &&
	       strcmp(list, "none") != 0 && visible_gpus(list) > 0;
}

void trk__limits_state(struct trk_limits *l, uint64_t time_ns, const struct trk_gpu_hints *gpus,
		       struct trk_run *run)
{
	struct trk_quantity *time = &l->now[TRK_LIMIT_TIME_S], *gpu = &l->now[TRK_LIMIT_GPU];

	trk__quantity_unknown(time, "no time limit was set");
	if (time_ns)
		set_limit(time, (double) time_ns / 1e9, TRK_SOURCE_OWN_LIMIT, NULL);
	trk__quantity_unknown(gpu, "no environment variable names GPUs for the job");
	if (gpus && names_gpus(gpus->cuda_visible))
		set_limit(gpu, visible_gpus(gpus->cuda_visible), "CUDA_VISIBLE_DEVICES", NULL);
	else if (gpus && names_gpus(gpus->nvidia_visible))
		set_limit(gpu, visible_gpus(gpus->nvidia_visible), "NVIDIA_VISIBLE_DEVICES", NULL);
	run->limit[TRK_LIMIT_TIME_S] = *time;
	run->limit[TRK_LIMIT_GPU] = *gpu;
}

static void add_change(struct trk_limit_words *w, double before, const char *unit, double at_s)
{
	size_t len = strlen(w->text);

	if (w->changes++ < CHANGES_TOLD)
		(void) snprintf(w->text + len, sizeof(w->text) - len, "%.4g%s until %.1f s, ",
				before, unit, at_s);
}

static void note_changes(struct trk_limits *l, const struct trk_quantity before[TRK_LIMITS],
			 double at_s)
{
	double cpu = before[TRK_LIMIT_CPU].value, memory = before[TRK_LIMIT_MEMORY_MIB].value;

	if (l->now[TRK_LIMIT_CPU].value != cpu)
		add_change(&l->cpu, cpu, " cores", at_s);
	if (l->now[TRK_LIMIT_MEMORY_MIB].value != memory)
		add_change(&l->memory, memory, " MiB", at_s);
}

static void weigh(struct trk_limits *l, const struct trk_sample *row)
{
	const struct trk_quantity *memory = &l->now[TRK_LIMIT_MEMORY_MIB];
	double share = trk__sample_knows(row, TRK_PROCESS_MEMORY)
			       ? trk__sample_get(row, TRK_PROCESS_MEMORY) / memory->value
			       : (double) NAN;

	if (share >= l->nearest_share) {
		l->nearest_share = share;
		l->nearest = *memory;
	}
	if (memory->value > l->largest.value)
		l->largest = *memory;
	if (l->now[TRK_LIMIT_CPU].value > l->cores.value)
		l->cores = l->now[TRK_LIMIT_CPU];
}

static void set_changed(struct trk_quantity *ret, const struct trk_quantity *now,
			const struct trk_quantity *of_run, const struct trk_limit_words *w,
			const char *unit)
{
	char reason[TRK_RUN_TEXT_SIZE];

	(void) snprintf(reason, sizeof(reason), "changed during the run: %s%s%.4g%s at the end",
			w->text, w->changes > CHANGES_TOLD ? "…, " : "", now->value, unit);
	trk__quantity_set(ret, of_run->value, TRK_QUALITY_ESTIMATED, of_run->source, reason);
}

/* Update the limits with which the run is compared. */
static void set_limits(const struct trk_limits *l, const struct trk_quantity *memory,
		       struct trk_run *run)
{
	const struct trk_quantity *now = l->now;

	memcpy(run->limit, now, sizeof(run->limit));
	if (l->cpu.changes)
		set_changed(&run->limit[TRK_LIMIT_CPU], &now[TRK_LIMIT_CPU], &l->cores, &l->cpu,
			    " cores");
	if (l->memory.changes)
		set_changed(&run->limit[TRK_LIMIT_MEMORY_MIB], &now[TRK_LIMIT_MEMORY_MIB], memory,
			    &l->memory, " MiB");
	set_requests(l, run);
}

bool trk__limits_follow(struct trk_limits *l, const struct trk_env *env,
			const struct trk_sampler *sampler, const struct trk_sample *row,
			struct trk_run *run)
{
	struct trk_quantity before[TRK_LIMITS];
	unsigned int changes;

	(void) trk__sampler_limits(sampler, &changes);
	if (changes == l->seen) {
		weigh(l, row);
		return false;
	}
	memcpy(before, l->now, sizeof(before));
	read_now(l, env, sampler, run);
	note_changes(l, before, trk__sample_get(row, TRK_ELAPSED));
	weigh(l, row);
	set_limits(l, &l->nearest, run);
	return true;
}

bool trk__limits_end(struct trk_limits *l, const struct trk_outcome *o,
		     const struct trk_quantity *killed, struct trk_run *run)
{
	bool is_killed = o->end == TRK_END_OUT_OF_MEMORY;
	const struct trk_quantity *memory = &l->nearest;

	if (is_killed && killed && killed->value < l->now[TRK_LIMIT_MEMORY_MIB].value) {
		l->now[TRK_LIMIT_MEMORY_MIB] = *killed;
		set_limits(l, killed, run);
		return true;
	}
	if (l->cpu.changes + l->memory.changes == 0)
		return false;
	if (is_killed)
		memory = &l->now[TRK_LIMIT_MEMORY_MIB];
	else if (o->total[TRK_TOTAL_PEAK_MEMORY_MIB].value > memory->value)
		memory = &l->largest; /* the peak was between two samples */
	set_limits(l, memory, run);
	return true;
}
