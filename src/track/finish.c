#include "track/finish.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/os.h"
#include "probe/helper_process.h"
#include "probe/linux/pid_status.h"
#include "track/limits.h"
#include "track/neighbours.h"

#define GPU_SILENCE_US 1000000
/* Each CPU charges a group up to this much in advance. */
#define CHARGE_BATCH_BYTES (64ull * 4096)

/* Time that the machine was suspended since boot: the difference of two clocks. */
static uint64_t asleep_ns(const struct trk_env *env)
{
	uint64_t awake_ns = env->monotonic_ns(), all_ns = env->boot_ns();

	return all_ns > awake_ns ? all_ns - awake_ns : 0;
}

void trk__finish_begin(struct trk_finish *f, const struct trk_env *env, pid_t pid)
{
	pid_t self = getpid();
	struct trk_cgroup_usage usage;
	struct trk_pid_status own;

	f->env = *env;
	f->asleep_ns = asleep_ns(env);
	(void) trk__cgroup_open(&f->group, env, pid ? pid : self);
	trk__group_log_begin(&f->groups, env, pid ? pid : self);
	trk__quantities_clear(&f->killed_limit, 1);
	trk__kills_begin(&f->facts.kills, env, &f->group);
	trk__cgroup_forks(&f->group, &f->forks);
	f->holders = trk__cgroup_is_own(&f->group, TRK_CGROUP_MEMORY, self) ? TRK_PEAK_GROUP_ALONE
									    : TRK_PEAK_GROUP_NONE;
	f->attached_is_alone = pid != 0;
	f->group_is_own = f->holders == TRK_PEAK_GROUP_ALONE &&
			  trk__cgroup_is_own(&f->group, TRK_CGROUP_CPUACCT, self);
	f->own = (struct trk_cgroup_own) TRK_CGROUP_OWN_NONE;
	if (trk__cgroup_usage_some(&f->group, TRK_CGROUP_KNOWS_CPU | TRK_CGROUP_KNOWS_PEAK,
				   &usage) == 0) {
		f->group_cpu_ns = usage.cpu_ns;
		f->own_cpu_ns = trk__own_cpu_ns();
		f->group_peak_bytes = usage.memory_peak_bytes;
	}
	if (trk__pid_status_read(env->proc_fd, self, &own) == 0)
		f->rss_at_start_bytes = own.rss_bytes;
}

void trk__finish_make_group(struct trk_finish *f, const char *id, bool below)
{
	char why[TRK_CGROUP_TEXT_SIZE];

	if (f->holders == TRK_PEAK_GROUP_NONE)
		(void) trk__cgroup_own_make(&f->own, &f->env, &f->group, id, below, why);
}

void trk__finish_enter_group(struct trk_finish *f, bool is_refused)
{
	if (f->own.parent_fd < 0)
		return;
	if (is_refused) {
		trk__cgroup_own_remove(&f->own);
		return;
	}
	trk__cgroup_own_open(&f->own, &f->group);
	f->holders = TRK_PEAK_GROUP_OWN;
	trk__cgroup_forks(&f->group, &f->forks);
	f->forks.refused[0] = 0; /* it is new */
	f->group_peak_bytes = 0;
	/* v1 counts a kill in the victim's group. */
	trk__kills_follow(&f->facts.kills, &f->group);
}

void trk__finish_look(struct trk_finish *f, struct trk_sampler *sampler, bool is_over)
{
	struct trk_tree *tree = trk__sampler_tree(sampler);

	if (!tree)
		return;
	trk__kills_look(&f->facts.kills, &f->group, f->env.monotonic_ns(),
			trk__tree_state(tree)->ended, is_over);
	if (f->holders == TRK_PEAK_GROUP_ALONE && !is_over &&
	    trk__neighbours_look(&f->env, &f->group, tree, 1) > 0) {
		f->holders = TRK_PEAK_GROUP_NONE;
		f->group_is_own = false;
		trk__sampler_share_group(sampler);
	}
	if (f->attached_is_alone && !is_over)
		f->attached_is_alone = trk__neighbours_look(&f->env, &f->group, tree, 0) == 0;
}

void trk__finish_leave_group(struct trk_finish *f, const struct trk_cgroup *now)
{
	trk__cgroup_forks(now, &f->forks);
	f->group_is_own = false;
	if (f->holders == TRK_PEAK_GROUP_ALONE ||
	    (f->holders == TRK_PEAK_GROUP_OWN &&
	     !trk__cgroup_own_holds(&f->own, &now->place[TRK_CGROUP_MEMORY])))
		f->holders = TRK_PEAK_GROUP_NONE;
}

void trk__finish_release(struct trk_finish *f)
{
	trk__cgroup_release(&f->group);
	trk__cgroup_own_remove(&f->own);
}

/* ---- totals ---- */

/* Can the kernel have dropped children whose size is then unknown? */
static bool children_can_be_missed(const struct trk_tree_state *s,
				   const struct trk_cpu_clocks *clocks)
{
	if (trk__tree_dropped(s) || s->has_unread_child)
		return true;
	return trk__tree_has_unseen(s) && (!clocks || trk__cpu_clocks_disagree(clocks));
}

/* Did one process live alone for certain? */
static bool is_alone(const struct trk_finish *f, const struct trk_tree_state *s,
		     const struct trk_cpu_clocks *clocks)
{
	if (!s->alone || f->reaped != 1 || trk__tree_dropped(s))
		return false;
	return !trk__tree_has_unseen(s) || (clocks && trk__cpu_clocks_childless(clocks));
}

/* The peak of the group, if it rose since the start; else 0. */
static uint64_t group_peak_bytes(const struct trk_finish *f)
{
	struct trk_cgroup_usage usage;

	if (f->holders == TRK_PEAK_GROUP_NONE ||
	    trk__cgroup_usage_some(&f->group, TRK_CGROUP_KNOWS_PEAK, &usage) < 0 ||
	    !(usage.known & TRK_CGROUP_KNOWS_PEAK) ||
	    usage.memory_peak_bytes <= f->group_peak_bytes)
		return 0;
	return usage.memory_peak_bytes;
}

static void total_memory(struct trk_finish *f, struct trk_sampler *sampler,
			 struct trk_record *record)
{
	struct trk_tree *tree = trk__sampler_tree(sampler);
	const struct trk_tree_state *s = trk__tree_state(tree);
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct trk_peak_facts facts = {
		.is_run = !strcmp(record->run.kind, "run"),
		.is_alone = is_alone(f, s, trk__sampler_clocks(sampler)),
		.can_be_missed = children_can_be_missed(s, trk__sampler_clocks(sampler)),
		.rss_slack_bytes = trk__tree_rss_slack(tree),
		.start_bytes = f->rss_at_start_bytes,
		.group = f->holders,
		.group_version = f->group.place[TRK_CGROUP_MEMORY].version,
		.group_peak_bytes = group_peak_bytes(f),
		.group_slack_bytes = (uint64_t) (cpus > 0 ? cpus : 1) * CHARGE_BATCH_BYTES,
		.io_bytes = s->counter[TRK_TREE_READ_BYTES] + s->counter[TRK_TREE_WRITE_BYTES],
	};
	double machine_mib = trk__machine_memory_mib(&f->env);
	struct trk_pid_status own;

	if (machine_mib > 0)
		facts.machine_bytes = (uint64_t) (machine_mib * TRK_MIB);
	trk__tree_peak(tree, &facts.tree);
	trk__sampler_memory(sampler, &facts.memory);
	if (!facts.is_run)
		facts.group = TRK_PEAK_GROUP_NONE;
	if (facts.group == TRK_PEAK_GROUP_ALONE &&
	    trk__pid_status_read(f->env.proc_fd, getpid(), &own) == 0) {
		facts.tracker_bytes = own.hwm_bytes;
		facts.tracker_anon_bytes = own.rss_anon_bytes;
	}
	trk__peak_judge(&facts, record->outcome.total);
	trk__peak_outside(&facts, record->outcome.total);
}

/* A file that is removed before the kernel has written it to disk never reaches the disk; the
 * process that removes it need not be the one that wrote it. If more was removed than the job
 * wrote, some is from outside the run, and how much of the job's own never reached a disk is not
 * known. */
static void total_written(const struct trk_tree_state *s, enum trk_quality quality,
			  const char *reason, struct trk_quantity *ret)
{
	uint64_t written = s->counter[TRK_TREE_WRITE_BYTES];
	uint64_t cancelled = s->counter[TRK_TREE_CANCELLED_BYTES];
	bool is_own = cancelled <= written;
	char text[TRK_RUN_TEXT_SIZE];

	if (cancelled == 0) {
		trk__quantity_set(ret, (double) written, quality, trk__tree_sources.disk_total,
				  reason);
		return;
	}
	(void) snprintf(
		text, sizeof(text), "%s%.4g MiB that were removed before they reached a disk%s%s",
		is_own ? "without "
		       : "perhaps not all of it reached a disk: the job wrote less than the ",
		(double) cancelled / TRK_MIB, reason ? "; " : "", reason ? reason : "");
	trk__quantity_set(ret, (double) (is_own ? written - cancelled : written),
			  !is_own && quality == TRK_QUALITY_EXACT ? TRK_QUALITY_AT_MOST
								  : TRK_QUALITY_ESTIMATED,
			  trk__tree_sources.disk_total, text);
}

/* missing: why the figure may be too low; NULL: it is not. */
static void total_switches(const struct trk_finish *f, const struct trk_tree *tree, bool is_run,
			   const char *missing, struct trk_quantity *ret)
{
	if (!missing && trk__tree_pids(tree, NULL, 0) > 0)
		missing = "those of processes that outlived the job are missing";
	if (is_run && f->reaped)
		trk__quantity_set(ret, (double) f->switches,
				  missing ? TRK_QUALITY_AT_LEAST : TRK_QUALITY_EXACT, "wait4",
				  missing);
	else
		trk__quantity_unknown(ret, is_run ? "known when the job has ended"
						  : "only the parent of a process receives it");
}

static void total_rest(struct trk_finish *f, struct trk_sampler *sampler, struct trk_record *record)
{
	const struct trk_tree *tree = trk__sampler_tree(sampler);
	const struct trk_tree_state *s = trk__tree_state(tree);
	struct trk_quantity *total = record->outcome.total;
	bool run = !strcmp(record->run.kind, "run");
	/* The kernel drops all counters of a child alike. */
	bool is_complete = run && total[TRK_TOTAL_CPU_S].quality == TRK_QUALITY_EXACT;
	enum trk_quality quality = is_complete ? TRK_QUALITY_EXACT : TRK_QUALITY_AT_LEAST;
	const char *missing = run ? "children that no parent waited for may be missing"
				  : "attached: orphans and unseen children may be missing";
	const char *reason = is_complete ? NULL : missing;
	enum trk_quality io_quality = quality;
	const char *io_reason = reason;

	if (s->unreadable_io) {
		io_quality = TRK_QUALITY_AT_LEAST;
		io_reason = "disk bytes of processes of another user cannot be read";
	}
	trk__quantity_set(&total[TRK_TOTAL_DISK_READ_BYTES],
			  (double) s->counter[TRK_TREE_READ_BYTES], io_quality,
			  trk__tree_sources.disk_total, io_reason);
	total_written(s, io_quality, io_reason, &total[TRK_TOTAL_DISK_WRITE_BYTES]);
	trk__quantity_set(&total[TRK_TOTAL_MAJOR_FAULTS],
			  (double) s->counter[TRK_TREE_MAJOR_FAULTS], quality,
			  trk__tree_sources.faults_total, reason);
	trk__quantity_set(&total[TRK_TOTAL_PEAK_PROCESSES], (double) s->peak_processes,
			  TRK_QUALITY_AT_LEAST, "samples",
			  "processes that lived between two samples are not seen");
	total_switches(f, tree, run, reason, &total[TRK_TOTAL_CONTEXT_SWITCHES]);
}

/* Forks that failed at the limit of processes: "Resource temporarily unavailable". */
static void total_forks(const struct trk_finish *f, struct trk_sampler *sampler,
			struct trk_record *record)
{
	struct trk_quantity *total = &record->outcome.total[TRK_TOTAL_FORKS_REFUSED];
	unsigned int own = trk__helper_process_refused();
	struct trk_cgroup_forks now;
	uint64_t forks;

	trk__cgroup_forks(trk__sampler_cgroup(sampler), &now);
	forks = now.known ? trk__cgroup_forks_since(&now, &f->forks) : 0;
	if (now.known)
		trk__quantity_set(total, (double) (forks > own ? forks - own : 0),
				  TRK_QUALITY_AT_MOST, "pids.events of the control group",
				  "forks of other members of the group are included");
	else
		trk__quantity_unknown(total, "no control group counts them");
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
		trk__quantity_unknown(
			total, record->gpus.count
				       ? "neither the GPUs nor their driver have an energy counter"
				       : "no GPU is measured");
	else if (gpus_fell_silent(record) || trk__gpu_log_energy_is_cut(&record->gpus))
		trk__quantity_set(total, joules, TRK_QUALITY_ESTIMATED,
				  "energy counters of the GPUs",
				  "a GPU has no energy counter, was lost, or its driver stopped "
				  "answering: its part is missing");
	else
		trk__quantity_set(total, joules, TRK_QUALITY_AT_MOST, "energy counters of the GPUs",
				  all ? "energy of all GPUs: no use of a GPU by the job was seen"
				      : "all energy of the GPUs that the job used");
}

/* VmHWM and not getrusage: the latter starts from the size of the parent process. */
static void tracker_own(struct trk_finish *f, struct trk_outcome *o)
{
	struct trk_pid_status own;

	if (trk__pid_status_read(f->env.proc_fd, getpid(), &own) == 0)
		o->tracker_rss_bytes = own.hwm_bytes;
	else
		o->tracker_rss_bytes = trk__os_own_peak_bytes();
	o->tracker_cpu_ns = trk__own_cpu_ns();
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
	struct trk_tree *tree = trk__sampler_tree(sampler);

	if (tree) {
		trk__total_cpu(f, sampler, record);
		total_memory(f, sampler, record);
		trk__quantity_unknown(&record->outcome.total[TRK_TOTAL_PEAK_COMMIT_MIB],
				      "not measured on Linux");
		total_forks(f, sampler, record);
		total_rest(f, sampler, record);
		total_gpus(record);
		o->top_count = trk__tree_top(tree, o->top, TRK_TOP_MAX);
		o->left_behind = trk__tree_pids(tree, NULL, 0);
		memcpy(o->stuck, trk__tree_state(tree)->stuck, sizeof(o->stuck));
		o->stuck_count = trk__tree_state(tree)->stuck_count;
	}
	copy_sources(sampler, o);
	tracker_own(f, o);
	o->stop_ns = f->env.wall_ns();
	o->duration_ns = (uint64_t) record->last_elapsed_us * 1000;
	o->suspended_ns = suspended_ns(f);
}

/* ---- how it ended ---- */

/* Is the effective memory limit that of the job's own group? */
static bool limit_is_own(const struct trk_finish *f, const struct trk_cgroup_limits *limits)
{
	char path[TRK_CGROUP_TEXT_SIZE];
	size_t len = strlen(limits->memory_from), path_len;

	trk__cgroup_path(&f->group, TRK_CGROUP_MEMORY, path, sizeof(path));
	path_len = strlen(path);
	return path_len > 0 && len > path_len &&
	       !strcmp(limits->memory_from + len - path_len, path) &&
	       limits->memory_from[len - path_len - 1] == ' ';
}

/* The last row read the limits. */
static void get_limits(const struct trk_finish *f, const struct trk_sampler *sampler,
		       struct trk_cgroup_limits *ret)
{
	unsigned int changes;

	if (sampler && trk__sampler_group_moves(sampler) == 0)
		*ret = *trk__sampler_limits(sampler, &changes);
	else
		(void) trk__cgroup_limits(&f->group, ret);
}

static void judge(struct trk_finish *f, const struct trk_sampler *sampler,
		  struct trk_record *record, bool reaped, int status)
{
	struct trk_cgroup_limits limits;
	struct trk_outcome_facts *e = &f->facts;
	double machine_mib = trk__machine_memory_mib(&f->env), limit_mib;
	char entered[TRK_RUN_TEXT_SIZE] = "";

	trk__kills_end(&f->facts.kills, &f->env, &f->group);
	(void) trk__group_log_kills(&f->groups, &f->env, f->facts.kills.on_machine > 0,
				    &f->killed_limit, entered, sizeof(entered));
	get_limits(f, sampler, &limits);
	limit_mib = (double) limits.memory_bytes / TRK_MIB;
	e->reaped = reaped;
	e->wait_status = status;
	e->limit_text = f->limit_text;
	e->entered = entered;
	e->entered_limit_mib = f->killed_limit.value;
	e->is_alone = f->holders != TRK_PEAK_GROUP_NONE || f->attached_is_alone;
	e->limit_is_own = limit_is_own(f, &limits);
	e->held_mib = record->outcome.total[TRK_TOTAL_PEAK_MEMORY_MIB].value;
	e->limit_mib = limit_mib >= machine_mib ? machine_mib : limit_mib;
	trk__outcome_judge(e, &record->outcome);
	e->entered = NULL;
}

void trk__finish(struct trk_finish *f, struct trk_sampler *sampler, struct trk_record *record,
		 bool reaped, int wait_status)
{
	if (sampler)
		trk__finish_totals(f, sampler, record);
	judge(f, sampler, record, reaped, wait_status);
}
