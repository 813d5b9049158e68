#include "record/finish.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "probe/tool.h"
#include "probe/linux/affinity.h"
#include "probe/linux/meminfo.h"
#include "probe/linux/pid_status.h"
#include "probe/linux/rlimits.h"

#define MIB            1048576.0
#define GPU_SILENCE_US 1000000

/* Share of the memory that must have been in use for a kill somewhere on the machine to be taken
 * for ours. */
static const double NEAR_LIMIT = 0.5;

/* How long the machine was suspended since its boot: what one clock counts and the other does not. */
static uint64_t asleep_ns(const struct trk_env *env)
{
	uint64_t awake_ns = env->monotonic_ns(), all_ns = env->boot_ns();

	return all_ns > awake_ns ? all_ns - awake_ns : 0;
}

void trk__finish_begin(struct trk_finish *f, const struct trk_env *env)
{
	pid_t self = getpid();
	struct trk_cgroup_usage usage;
	char path[TRK_CGROUP_TEXT_SIZE];
	struct trk_pid_status own;

	f->env = *env;
	f->asleep_ns = asleep_ns(env);
	(void) trk__cgroup_open(&f->group, env, self);
	f->knows_machine_kills = trk__vmstat_oom_kills(env->proc_fd, &f->machine_kills) == 0;
	f->knows_group_kills = trk__cgroup_oom_kills(&f->group, &f->group_kills) == 0;
	f->knows_parent_kills = trk__cgroup_oom_kills_above(&f->group, &f->parent_kills, path) == 0;
	f->group_is_own = trk__cgroup_is_own(&f->group, &self, 1) &&
			  trk__cgroup_part_is_own(&f->group, TRK_CGROUP_CPUACCT, &self, 1);
	if (trk__cgroup_usage_some(&f->group, TRK_CGROUP_KNOWS_CPU | TRK_CGROUP_KNOWS_PEAK,
				   &usage) == 0) {
		f->group_cpu_ns = usage.cpu_ns;
		f->group_peak_bytes = usage.memory_peak_bytes;
	}
	if (trk__pid_status_read(env->proc_fd, self, &own) == 0)
		f->rss_at_start_bytes = own.rss_bytes;
}

void trk__finish_release(struct trk_finish *f)
{
	trk__cgroup_release(&f->group);
}

/* ---- limits ---- */

static double machine_memory_mib(const struct trk_env *env)
{
	char text[8192];
	struct trk_meminfo m;

	if (trk__read_at(env->proc_fd, "meminfo", text, sizeof(text)) < 0 ||
	    trk__meminfo_parse(text, &m) < 0)
		return NAN;
	return (double) m.total / MIB;
}

static void limit_cpu(const struct trk_cgroup_limits *limits, struct trk_run *run)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	int affinity = trk__affinity_count(run->pid);
	double cores = online > 0 ? (double) online : NAN;
	const char *source = "online CPUs";

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
	trk__quantity_set(&run->limit[TRK_LIMIT_CPU], cores, TRK_QUALITY_EXACT, source, NULL);
}

void trk__finish_limits(struct trk_finish *f, struct trk_sampler *sampler, struct trk_run *run)
{
	struct trk_cgroup_limits limits;
	double memory = machine_memory_mib(&f->env);
	const char *source = "MemTotal";
	struct trk_rlimits own;

	(void) trk__cgroup_limits(trk__sampler_cgroup(sampler), &limits);
	limit_cpu(&limits, run);
	if (limits.memory_bytes != TRK_NO_LIMIT &&
	    !((double) limits.memory_bytes / MIB >= memory)) {
		memory = (double) limits.memory_bytes / MIB;
		source = limits.memory_from;
	}
	if (run->pid && trk__rlimits_read(f->env.proc_fd, run->pid, &own) == 0 &&
	    !((double) own.address_space_bytes / MIB >= memory)) {
		memory = (double) own.address_space_bytes / MIB;
		source = "ulimit -v, of each process";
	}
	trk__quantity_set(&run->limit[TRK_LIMIT_MEMORY_MIB], memory, TRK_QUALITY_EXACT, source,
			  NULL);
	if (limits.pids != TRK_NO_LIMIT)
		trk__quantity_set(&run->limit[TRK_LIMIT_PIDS], (double) limits.pids,
				  TRK_QUALITY_EXACT, limits.pids_from, NULL);
	else
		trk__quantity_set(&run->limit[TRK_LIMIT_PIDS], NAN, TRK_QUALITY_UNKNOWN, NULL,
				  "no pids limit in the control group");
}

/* ---- totals ---- */

/* With the programs that we start for ourselves. */
static uint64_t own_cpu_ns(void)
{
	uint64_t tools_ns;

	(void) trk__tool_cpu_ns(&tools_ns);
	return trk__clock_process_cpu_ns() + tools_ns;
}

static void total_cpu(struct trk_finish *f, struct trk_sampler *sampler, struct trk_record *record)
{
	struct trk_quantity *total = record->outcome.total;
	const struct trk_tree_state *s = trk__tree_state(trk__sampler_tree(sampler));
	bool run = !strcmp(record->run.kind, "run");
	int64_t perf_ns = trk__sampler_perf_ns(sampler);
	const char *source = run ? "process tree and wait4" : "process tree";
	const char *reason = NULL;
	enum trk_quality quality = TRK_QUALITY_EXACT;
	struct trk_cgroup_usage usage;
	double cpu, system;

	if (perf_ns > 0 && s->counter[TRK_TREE_CPU] == (uint64_t) perf_ns)
		source = "perf task-clock";
	if (f->group_is_own &&
	    trk__cgroup_usage_some(&f->group, TRK_CGROUP_KNOWS_CPU, &usage) == 0 &&
	    usage.known & TRK_CGROUP_KNOWS_CPU &&
	    usage.cpu_ns - f->group_cpu_ns > s->counter[TRK_TREE_CPU]) {
		uint64_t own = own_cpu_ns(), group = usage.cpu_ns - f->group_cpu_ns;

		if (group > own && group - own > s->counter[TRK_TREE_CPU]) {
			trk__tree_raise(trk__sampler_tree(sampler), TRK_TREE_CPU, group - own);
			source = "cgroup CPU counter of the job's own group";
		}
	}
	if (!run) {
		quality = TRK_QUALITY_AT_LEAST;
		reason = "attached: what orphans and unseen children used may be missing";
	} else if (perf_ns < 0) {
		quality = TRK_QUALITY_AT_LEAST;
		reason = "no perf counter: children of parents that ignore SIGCHLD may be missing";
	}
	cpu = (double) s->counter[TRK_TREE_CPU] / 1e9;
	system = (double) s->counter[TRK_TREE_CPU_SYSTEM] / 1e9;
	if (system > cpu)
		system = cpu;
	trk__quantity_set(&total[TRK_TOTAL_CPU_S], cpu, quality, source, reason);
	trk__quantity_set(&total[TRK_TOTAL_CPU_SYSTEM_S], system, quality, source, reason);
	trk__quantity_set(&total[TRK_TOTAL_CPU_USER_S], cpu - system, quality, source, reason);
}

static void total_memory(struct trk_finish *f, struct trk_sampler *sampler,
			 struct trk_record *record)
{
	const struct trk_tree_state *s = trk__tree_state(trk__sampler_tree(sampler));
	struct trk_quantity *q = &record->outcome.total[TRK_TOTAL_PEAK_MEMORY_MIB];
	double value = s->peak_bytes ? (double) s->peak_bytes / MIB : NAN;
	enum trk_quality quality = s->peak_is_floor ? TRK_QUALITY_AT_LEAST : TRK_QUALITY_ESTIMATED;
	const char *reason = s->peak_is_floor
				     ? "the largest process; others may have held memory beside it"
				     : "sums over the tree are sampled";
	struct trk_cgroup_usage usage;

	if (s->peak_is_floor && s->peak_bytes <= f->rss_at_start_bytes) {
		quality = TRK_QUALITY_AT_MOST;
		reason = "no larger than what a forked child starts from";
	} else if (s->peak_is_floor && s->peak_processes <= 1 && f->reaped == 1) {
		quality = TRK_QUALITY_EXACT;
		reason = NULL;
	}
	trk__quantity_set(q, value, quality, s->peak_source, reason);
	if (f->group_is_own &&
	    trk__cgroup_usage_some(&f->group, TRK_CGROUP_KNOWS_PEAK, &usage) == 0 &&
	    usage.known & TRK_CGROUP_KNOWS_PEAK && usage.memory_peak_bytes > f->group_peak_bytes) {
		size_t len = strlen(q->reason);

		(void) snprintf(q->reason + len, sizeof(q->reason) - len,
				"%sthe group's own peak, page cache included, is %.1f MiB",
				len ? "; " : "", (double) usage.memory_peak_bytes / MIB);
	}
}

static void total_rest(struct trk_finish *f, struct trk_sampler *sampler, struct trk_record *record)
{
	const struct trk_tree_state *s = trk__tree_state(trk__sampler_tree(sampler));
	struct trk_quantity *total = record->outcome.total;
	bool run = !strcmp(record->run.kind, "run");
	enum trk_quality quality = run ? TRK_QUALITY_EXACT : TRK_QUALITY_AT_LEAST;
	const char *reason = run ? NULL : "attached: orphans and unseen children may be missing";
	enum trk_quality io_quality = quality;
	const char *io_reason = reason;

	if (s->unreadable_io) {
		io_quality = TRK_QUALITY_AT_LEAST;
		io_reason = "PID/io of processes of another user cannot be read";
	}
	trk__quantity_set(&total[TRK_TOTAL_DISK_READ_BYTES],
			  (double) s->counter[TRK_TREE_READ_BYTES], io_quality, "PID/io and wait4",
			  io_reason);
	trk__quantity_set(&total[TRK_TOTAL_DISK_WRITE_BYTES],
			  (double) s->counter[TRK_TREE_WRITE_BYTES], io_quality, "PID/io and wait4",
			  io_reason);
	trk__quantity_set(&total[TRK_TOTAL_MAJOR_FAULTS],
			  (double) s->counter[TRK_TREE_MAJOR_FAULTS], quality, "PID/stat and wait4",
			  reason);
	trk__quantity_set(&total[TRK_TOTAL_PEAK_PROCESSES], (double) s->peak_processes,
			  TRK_QUALITY_AT_LEAST, "samples",
			  "processes that lived between two samples are not seen");
	if (run && f->reaped)
		trk__quantity_set(&total[TRK_TOTAL_CONTEXT_SWITCHES], (double) f->switches,
				  TRK_QUALITY_EXACT, "wait4", NULL);
	else
		trk__quantity_set(&total[TRK_TOTAL_CONTEXT_SWITCHES], NAN, TRK_QUALITY_UNKNOWN,
				  NULL,
				  run ? "known when the job has ended"
				      : "only the parent of a process learns it");
}

/* Was the last answer of the GPUs long before the last sample? */
static bool gpus_fell_silent(const struct trk_record *record)
{
	int64_t interval_us = (int64_t) (record->run.interval_ns / 1000);

	return record->last_elapsed_us - record->gpus.elapsed_us > 3 * interval_us + GPU_SILENCE_US;
}

static void total_gpus(struct trk_record *record)
{
	struct trk_quantity *total = &record->outcome.total[TRK_TOTAL_GPU_ENERGY_J];
	bool all;
	double joules = trk__gpu_log_energy(&record->gpus, &all);

	if (record->gpus.count)
		trk__place_take_gpus(&record->place, &record->gpus.total[0].device,
				     sizeof(record->gpus.total[0]), record->gpus.count);
	if (isnan(joules))
		trk__quantity_set(total, joules, TRK_QUALITY_UNKNOWN, NULL,
				  record->gpus.count
					  ? "the GPUs or their driver give no energy counter"
					  : "no GPU is measured");
	else if (gpus_fell_silent(record) || trk__gpu_log_energy_is_cut(&record->gpus))
		trk__quantity_set(total, joules, TRK_QUALITY_ESTIMATED,
				  "energy counters of the GPUs",
				  "a GPU was lost, or its driver fell silent: the rest is missing");
	else
		trk__quantity_set(total, joules, TRK_QUALITY_AT_MOST, "energy counters of the GPUs",
				  all ? "the whole draw of all GPUs: the job is seen on none"
				      : "the whole draw of the GPUs that the job used");
}

/* VmHWM and not getrusage: that one starts from the size of whoever started us. */
static void tracker_own(struct trk_finish *f, struct trk_outcome *o)
{
	struct trk_pid_status own;

	if (trk__pid_status_read(f->env.proc_fd, getpid(), &own) == 0)
		o->tracker_rss_bytes = own.hwm_bytes;
	o->tracker_cpu_ns = own_cpu_ns();
}

static void copy_sources(struct trk_sampler *sampler, struct trk_outcome *o)
{
	struct trk_source list[TRK_SOURCES_MAX];
	size_t n = trk__sampler_sources(sampler, list);

	o->source_count = n < TRK_RUN_SOURCES_MAX ? n : TRK_RUN_SOURCES_MAX;
	for (size_t i = 0; i < o->source_count; i++) {
		(void) snprintf(o->sources[i][0], sizeof(o->sources[i][0]), "%s", list[i].name);
		(void) snprintf(o->sources[i][1], sizeof(o->sources[i][1]), "%s", list[i].text);
	}
}

static uint64_t suspended_ns(const struct trk_finish *f)
{
	uint64_t now_ns = asleep_ns(&f->env);

	/* The clocks are not read at the same moment. */
	return now_ns >= f->asleep_ns + TRK_NS_PER_S ? now_ns - f->asleep_ns : 0;
}

void trk__finish_totals(struct trk_finish *f, struct trk_sampler *sampler,
			struct trk_record *record)
{
	struct trk_outcome *o = &record->outcome;

	if (trk__sampler_tree(sampler)) {
		total_cpu(f, sampler, record);
		total_memory(f, sampler, record);
		total_rest(f, sampler, record);
		total_gpus(record);
		o->top_count = trk__tree_top(trk__sampler_tree(sampler), o->top, TRK_TOP_MAX);
		o->left_behind = trk__tree_pids(trk__sampler_tree(sampler), NULL, 0);
	}
	copy_sources(sampler, o);
	tracker_own(f, o);
	o->stop_ns = f->env.wall_ns();
	o->duration_ns = (uint64_t) record->last_elapsed_us * 1000;
	o->suspended_ns = suspended_ns(f);
}

/* ---- verdict ---- */

/* Kills by the kernel for want of memory since the start; 0 when none is known of. */
static uint64_t kills_since_start(struct trk_finish *f, char *where, size_t size)
{
	char path[TRK_CGROUP_TEXT_SIZE];
	uint64_t now;

	if (f->knows_group_kills && trk__cgroup_oom_kills(&f->group, &now) == 0 &&
	    now > f->group_kills) {
		(void) snprintf(where, size, "oom_kill of the job's control group rose by %llu",
				(unsigned long long) (now - f->group_kills));
		return now - f->group_kills;
	}
	if (f->knows_parent_kills && trk__cgroup_oom_kills_above(&f->group, &now, path) == 0 &&
	    now > f->parent_kills) {
		(void) snprintf(where, size, "oom_kill of control group %.100s rose by %llu", path,
				(unsigned long long) (now - f->parent_kills));
		return now - f->parent_kills;
	}
	return 0;
}

/* A kill somewhere on the machine is ours only if we were killed and had taken most of the memory:
 * somebody else's may have happened in the same time. */
static bool machine_kill_is_ours(struct trk_finish *f, const struct trk_record *record, char *where,
				 size_t size)
{
	double peak = record->outcome.total[TRK_TOTAL_PEAK_MEMORY_MIB].value;
	double limit = record->run.limit[TRK_LIMIT_MEMORY_MIB].value;
	uint64_t now;

	if (!f->knows_machine_kills || trk__vmstat_oom_kills(f->env.proc_fd, &now) < 0 ||
	    now <= f->machine_kills || !(peak >= limit * NEAR_LIMIT))
		return false;
	(void) snprintf(where, size,
			"oom_kill of the machine rose by %llu, and the job held %.0f of %.0f MiB",
			(unsigned long long) (now - f->machine_kills), peak, limit);
	return true;
}

static void judge(struct trk_finish *f, struct trk_record *record, int status)
{
	struct trk_outcome *o = &record->outcome;
	char where[192];
	uint64_t kills = kills_since_start(f, where, sizeof(where));
	bool killed, failed;

	if (WIFSIGNALED(status)) {
		o->verdict = TRK_VERDICT_SIGNALLED;
		o->signal = WTERMSIG(status);
		o->code = 128 + o->signal;
	} else {
		o->verdict = TRK_VERDICT_EXITED;
		o->code = WEXITSTATUS(status);
	}
	/* A shell reports its child's death by KILL as 137. */
	killed = o->signal == SIGKILL || o->code == 128 + SIGKILL;
	failed = o->signal != 0 || o->code != 0;
	if (f->limit != TRK_VERDICT_RUNNING) {
		o->verdict = f->limit;
		(void) snprintf(o->evidence, sizeof(o->evidence), "%s", f->limit_text);
	} else if ((kills && failed) ||
		   (killed && machine_kill_is_ours(f, record, where, sizeof(where)))) {
		o->verdict = TRK_VERDICT_OUT_OF_MEMORY;
		(void) snprintf(o->evidence, sizeof(o->evidence), "%s", where);
	} else if (kills) {
		(void) snprintf(o->evidence, sizeof(o->evidence), "%s, yet the job ended well",
				where);
	} else if (killed) {
		(void) snprintf(o->evidence, sizeof(o->evidence),
				"killed from outside: the kernel counted no out-of-memory kill");
	}
}

/* Attached to: what we know of its end is what others say. */
static void judge_unreaped(struct trk_finish *f, struct trk_outcome *o)
{
	char where[192];

	o->code = f->stated ? f->stated_code : -1;
	if (f->lost) {
		o->verdict = TRK_VERDICT_VANISHED;
		(void) snprintf(o->evidence, sizeof(o->evidence),
				"the job has ended, and something else in the tracker's process "
				"took its exit code");
	} else if (f->stated) {
		o->verdict = TRK_VERDICT_EXITED;
		(void) snprintf(o->evidence, sizeof(o->evidence),
				"the exit code is as the job "
				"has stated it");
	} else if (f->root_ended && kills_since_start(f, where, sizeof(where))) {
		o->verdict = TRK_VERDICT_OUT_OF_MEMORY;
		(void) snprintf(o->evidence, sizeof(o->evidence), "%s", where);
	} else if (f->root_ended && f->abandoned) {
		o->verdict = TRK_VERDICT_VANISHED;
		(void) snprintf(o->evidence, sizeof(o->evidence),
				"it ended without stopping its tracker, as after a kill");
	} else if (f->root_ended) {
		o->verdict = TRK_VERDICT_EXITED;
		(void) snprintf(o->evidence, sizeof(o->evidence),
				"the process has ended; only its parent learns its exit code");
	} else {
		o->verdict = TRK_VERDICT_STOPPED;
		(void) snprintf(o->evidence, sizeof(o->evidence), "tracking was ended");
	}
}

void trk__finish(struct trk_finish *f, struct trk_sampler *sampler, struct trk_record *record,
		 bool reaped, int wait_status)
{
	struct trk_outcome *o = &record->outcome;

	if (sampler)
		trk__finish_totals(f, sampler, record);
	if (reaped) {
		judge(f, record, wait_status);
		return;
	}
	judge_unreaped(f, o);
}
