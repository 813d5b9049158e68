/* The sampler: set-up and ticks, the process tree, GPUs, and how the time of an interval was spent.
 * sampler_system.c reads the machine, sampler_group.c the control group. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/maths.h"
#include "model/waits.h"
#include "probe/helper_process.h"
#include "probe/perf.h"
#include "sample/sampler_private.h"

#define GPU_AGE_NS  (2 * TRK_NS_PER_S) /* an older answer is discarded */
#define HELD_MAX_US 1e6                /* per core: largest delay that was measured */
#define IDLE_US     5000.0             /* of CPU time in an interval: the tree slept */

/* ---- GPUs: each tick starts a reading and takes the newest one ---- */

/* The current processes, or the last ones that were seen: the GPU use of a job can still be read
 * right after its end. */
static void ask_gpus(struct trk_sampler *s)
{
	size_t n;

	if (!s->gpu)
		return;
	if (!s->tree) {
		trk__gpu_poller_ask(s->gpu, NULL, 0);
		return;
	}
	n = trk__tree_pids(s->tree, NULL, 0);
	if (n > 0)
		s->gpu_pids = trk__tree_pids(s->tree, s->gpu_pid, GPU_PIDS_MAX);
	if (s->gpu_pids > GPU_PIDS_MAX)
		s->gpu_pids = GPU_PIDS_MAX;
	trk__gpu_poller_ask(s->gpu, s->gpu_pid, s->gpu_pids);
}

static void set_gpu(struct trk_sampler *s, int column, struct trk_gpu_value v)
{
	if (v.why == TRK_GPU_KNOWN && v.value >= 0)
		trk__sample_set(&s->row, column,
				trk__whole(v.value * (double) trk__columns[column].divisor + 0.5, 0,
					   INT64_MAX));
}

/* v in bytes; the column counts MiB. */
static void set_gpu_bytes(struct trk_sampler *s, int column, struct trk_gpu_value v)
{
	if (v.why == TRK_GPU_KNOWN && v.value >= 0)
		trk__sample_set(&s->row, column, trk__whole(v.value, 0, INT64_MAX));
}

/* The sum of the increases of all counters, as the set of GPUs with a counter may change. */
static void set_gpu_energy(struct trk_sampler *s)
{
	int64_t grown = 0;
	bool any = false;

	for (size_t i = 0; i < s->gpus->devices; i++) {
		struct trk_gpu_value v = s->gpus->device[i].metric[TRK_GPU_ENERGY_METRIC];
		struct counter *last = &s->gpu_millijoules[i];
		uint64_t now;

		if (s->gpus->device[i].parent >= 0 || v.why != TRK_GPU_KNOWN)
			continue;
		now = (uint64_t) trk__whole(v.value * 1000, 0, INT64_MAX);
		if (last->valid && s->started) {
			grown += now > last->value ? (int64_t) (now - last->value) : 0;
			any = true;
		}
		*last = (struct counter){.value = now, .valid = true};
	}
	if (any)
		trk__sample_set(&s->row, TRK_SYSTEM_GPU_ENERGY, grown);
}

static void read_gpus(struct trk_sampler *s)
{
	uint64_t interval_ns = (uint64_t) s->row.value[TRK_INTERVAL] * 1000;
	uint64_t age_ns = 3 * interval_ns > GPU_AGE_NS ? 3 * interval_ns : GPU_AGE_NS;
	const struct trk_gpu_sums *sums;

	if (!s->gpu)
		return;
	s->gpus = trk__gpu_poller_take(s->gpu, s->options.min_interval_ns / 4, age_ns);
	if (!s->gpus)
		return;
	sums = &s->gpus->sums;
	if (!s->options.no_system) {
		set_gpu(s, TRK_SYSTEM_GPU_USAGE, sums->usage);
		set_gpu_bytes(s, TRK_SYSTEM_GPU_VRAM, sums->vram);
		set_gpu(s, TRK_SYSTEM_GPU_UTILIZED, sums->utilized);
		set_gpu(s, TRK_SYSTEM_GPU_SM_ACTIVITY, sums->sm_activity);
		set_gpu(s, TRK_SYSTEM_GPU_POWER, sums->power);
		set_gpu(s, TRK_SYSTEM_GPU_TEMPERATURE, sums->temperature);
		set_gpu_energy(s);
	}
	if (!s->tree)
		return;
	set_gpu(s, TRK_PROCESS_GPU_USAGE, sums->tree_usage);
	set_gpu(s, TRK_PROCESS_GPU_UTILIZED, sums->tree_utilized);
	if (trk__tree_state(s->tree)->processes > 0)
		set_gpu_bytes(s, TRK_PROCESS_GPU_VRAM, sums->tree_vram);
}

/* ---- where the columns come from ---- */

static const char *waits_source(const struct trk_sampler *s, const struct trk_tree_state *state)
{
	if (state->blocked_ns > 0)
		return s->stall.disk_us < 0
			       ? "delay accounting and estimates: PID/stat, PID/schedstat (no PSI)"
			       : "delay accounting and estimates: PID/stat, pressure, "
				 "PID/schedstat";
	if (trk__sampler_has_group_pressure(s))
		return "estimated: pressure of the control group, PID/schedstat";
	if (s->stall.disk_us < 0)
		return "estimated: PID/stat state, PID/schedstat (no PSI)";
	return state->queue_refused ? "estimated: /proc/pressure (no PID/schedstat)"
				    : "estimated: /proc/pressure, PID/schedstat";
}

static void tree_sources(const struct trk_sampler *s, struct trk_source *list, size_t *n)
{
	const struct trk_tree_state *state = trk__tree_state(s->tree);

	/* PID 1 always exists; hidepid may hide it. */
	if (faccessat(s->env.proc_fd, "self", F_OK, 0) == 0 &&
	    faccessat(s->env.proc_fd, "1", F_OK, 0) < 0)
		trk__sampler_add_source(
			list, n, "process_tree",
			"/proc hides processes of other users (hidepid): children that are "
			"set-user-id programs are not seen");
	if (state->pids_unproven)
		trk__sampler_add_source(
			list, n, "process_pids",
			"unproven: /proc/loadavg does not show the kernel's last pid (lxcfs?), so "
			"how many processes started is not known; members are searched for in all "
			"of /proc");
	trk__sampler_add_source(list, n, "process_cpu",
				s->has_perf
					? "CPU clock of each pid, PID/stat, wait4, perf "
					  "task-clock"
					: "CPU clock of each pid, PID/stat, wait4 (perf counter "
					  "not permitted)");
	trk__sampler_add_source(list, n, "process_memory",
				state->unreadable_memory
					? "PID/smaps_rollup and PID/statm (RSS for processes that "
					  "cannot be read)"
					: "PID/smaps_rollup and PID/statm");
	trk__sampler_add_source(list, n, "process_disk",
				state->unreadable_io
					? "PID/io (not readable for processes of other users)"
					: "PID/io, wait4");
	trk__sampler_add_source(list, n, "process_waits", waits_source(s, state));
}

size_t trk__sampler_sources(const struct trk_sampler *s, struct trk_source *list)
{
	size_t n = 0;

	if (s->tree)
		tree_sources(s, list, &n);
	if (!s->options.no_system)
		trk__sampler_system_sources(s, list, &n);
	trk__sampler_add_source(list, &n, "cgroup",
				!s->cgroup.open ? "no control group found"
				: s->cgroup.place[TRK_CGROUP_MEMORY].version == 2 ? "cgroup v2"
										  : "cgroup v1");
	trk__sampler_add_source(list, &n, "gpu",
				s->gpu                            ? trk__gpu_poller_text(s->gpu)
				: s->options.gpu == TRK_GPU_NEVER ? "not requested"
								  : "none found");
	return n;
}

/* ---- the tree ---- */

static uint64_t since_then(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0; /* steal may step back */
}

static void set_stolen(struct trk_sampler *s)
{
	const struct machine_times *now = &s->machine, *before = &s->machine_at_start;

	if (s->options.no_system)
		trk__sampler_read_machine(s);
	s->clocks.knows_stolen = now->known && before->known;
	s->clocks.stolen_ns = since_then(now->stolen_us, before->stolen_us) * 1000;
	s->clocks.machine_ns = since_then(now->busy_us, before->busy_us) * 1000;
}

/* Delayed CPU time is limited to what the processors can have used in an interval. The last row has
 * the rest. */
static uint64_t most_ns(const struct trk_sampler *s, uint64_t now_ns)
{
	uint64_t shown_ns = (s->tree_cpu_us.user + s->tree_cpu_us.system) * 1000;
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	if (s->is_last)
		return UINT64_MAX;
	return shown_ns + (uint64_t) (cores > 0 ? cores : 1) * (now_ns - s->tree_ns);
}

/* Update ledger and perf clock. The clock of the whole job is read first: see
 * trk__cpu_clocks_childless. */
static bool read_clocks(struct trk_sampler *s, const struct trk_tree_state *state)
{
	struct trk_cpu_clocks *c = &s->clocks;
	uint64_t known_ns = state->counter[TRK_TREE_CPU];

	if (s->options.perf_fd < 0 || trk__perf_read(s->options.perf_fd, &c->perf_ns) < 0)
		return false;
	/* A process that may not be traced may have no perf clock either. */
	c->knows_root = s->options.root_perf_fd >= 0 && !state->io_was_denied &&
			trk__perf_read(s->options.root_perf_fd, &c->root_perf_ns) == 0;
	c->root_ns = state->root_cpu_ns;
	c->ledger_ns = known_ns - state->raised_cpu_ns;
	set_stolen(s);
	trk__cpu_clocks_step(c, state->unseen_updates != s->unseen_updates);
	s->unseen_updates = state->unseen_updates;
	s->has_perf = true;
	return true;
}

/* The perf clock is used only with evidence of dropped children, whatever the difference: see
 * cpu_clocks.h. */
static void take_perf(struct trk_sampler *s, const struct trk_tree_state *state, uint64_t now_ns)
{
	uint64_t known_ns = state->counter[TRK_TREE_CPU], estimate_ns;

	if (!read_clocks(s, state) || !trk__tree_dropped(state))
		return;
	estimate_ns = trk__cpu_clocks_estimate(&s->clocks);
	if (estimate_ns > most_ns(s, now_ns))
		estimate_ns = most_ns(s, now_ns);
	if (estimate_ns > known_ns)
		trk__tree_raise(s->tree, estimate_ns);
}

uint64_t trk__own_cpu_ns(void)
{
	uint64_t helpers_ns;

	(void) trk__helper_process_cpu_ns(&helpers_ns);
	return trk__clock_process_cpu_ns() + helpers_ns;
}

/* The job's own control group counts children that the kernel dropped. */
static void take_group_cpu(struct trk_sampler *s, const struct trk_tree_state *state,
			   uint64_t now_ns)
{
	struct trk_cgroup_usage u;
	uint64_t own_ns, job_ns;

	if (!s->options.cpu_group_is_own || !trk__tree_dropped(state) ||
	    trk__cgroup_usage_some(&s->cgroup, TRK_CGROUP_KNOWS_CPU, &u) < 0 ||
	    !(u.known & TRK_CGROUP_KNOWS_CPU))
		return;
	own_ns = since_then(trk__own_cpu_ns(), s->options.own_cpu_ns);
	job_ns = since_then(since_then(u.cpu_ns, s->options.group_cpu_ns), own_ns);
	if (job_ns > most_ns(s, now_ns))
		job_ns = most_ns(s, now_ns);
	if (job_ns > state->counter[TRK_TREE_CPU])
		trk__tree_raise(s->tree, job_ns);
}

/* A job may widen its CPU affinity: then the bound no longer holds. */
static void release_cores(struct trk_sampler *s)
{
	if ((double) s->owed_us[TRK_PROCESS_CPU_USAGE] > s->held_cores * HELD_MAX_US)
		s->held_cores = 0;
}

/* Waiting time of threads per second of running: from the threads sampled in this tick if they did
 * at least half of the work, else from the last samples together. -1: no sample yet. */
static double queue_ratio(struct trk_sampler *s, const struct trk_tree_state *state, double cpu_us)
{
	struct cpu_queue *q = &s->queue;
	double waited_us = (double) (state->queue_ns - q->wait_ns) / 1e3;
	double ran_us = (double) (state->queue_run_ns - q->run_ns) / 1e3;

	if (ran_us > 0) {
		q->wait_us = q->wait_us / 2 + waited_us;
		q->run_us = q->run_us / 2 + ran_us;
		q->wait_ns = state->queue_ns;
		q->run_ns = state->queue_run_ns;
		if (ran_us >= cpu_us / 2)
			return waited_us / ran_us;
	}
	return q->run_us > 0 ? q->wait_us / q->run_us : -1;
}

static void read_queue(struct trk_sampler *s, const struct trk_tree_state *state)
{
	double cpu_us =
		(double) (s->row.value[TRK_PROCESS_UTIME] + s->row.value[TRK_PROCESS_STIME]);
	double ratio = queue_ratio(s, state, cpu_us);

	if (!trk__sample_knows(&s->row, TRK_PROCESS_UTIME) || state->queue_refused)
		return;
	if (ratio < 0 && cpu_us < IDLE_US) /* no thread was worth sampling */
		ratio = 0;
	if (ratio >= 0)
		trk__sample_set(&s->row, TRK_PROCESS_CPU_QUEUE, (int64_t) (cpu_us * ratio + 0.5));
}

static void read_tree(struct trk_sampler *s)
{
	const struct trk_tree_state *state;
	uint64_t now_ns = s->env.monotonic_ns();
	const uint64_t *counter;

	if (!s->tree)
		return;
	trk__tree_update_at(s->tree, now_ns, &state);
	take_perf(s, state, now_ns);
	take_group_cpu(s, state, now_ns);
	counter = state->counter;
	trk__cpu_split(&s->tree_cpu_us, counter[TRK_TREE_CPU] / 1000,
		       counter[TRK_TREE_CPU_SYSTEM] / 1000);
	trk__sampler_set_delta(s, TRK_PROCESS_STIME, s->tree_cpu_us.system);
	trk__sampler_set_delta(s, TRK_PROCESS_UTIME, s->tree_cpu_us.user);
	trk__sampler_set_rate(s, TRK_PROCESS_CPU_USAGE,
			      s->row.value[TRK_PROCESS_UTIME] + s->row.value[TRK_PROCESS_STIME],
			      now_ns - s->tree_ns,
			      s->held_cores > 0 ? s->held_cores : s->machine_cores);
	release_cores(s);
	read_queue(s, state);
	if (state->unreadable_io == 0 || state->unreadable_io < state->processes) {
		trk__sampler_set_delta(s, TRK_PROCESS_DISK_READ, counter[TRK_TREE_READ_BYTES]);
		trk__sampler_set_delta(s, TRK_PROCESS_DISK_WRITE, trk__tree_written(state));
		trk__sampler_set_delta(s, TRK_PROCESS_READ_CHARS, counter[TRK_TREE_READ_CHARS]);
		trk__sampler_set_delta(s, TRK_PROCESS_WRITE_CHARS, counter[TRK_TREE_WRITE_CHARS]);
	}
	trk__sampler_set_delta(s, TRK_PROCESS_MAJOR_FAULTS, counter[TRK_TREE_MAJOR_FAULTS]);
	trk__sampler_set_delta(s, TRK_PROCESS_MINOR_FAULTS, counter[TRK_TREE_MINOR_FAULTS]);
	trk__sample_set(&s->row, TRK_PROCESS_PID, s->options.tree->root);
	if (!s->options.tree->one_process)
		trk__sample_set(
			&s->row, TRK_PROCESS_CHILDREN,
			state->processes > 0 ? (int64_t) state->processes - !state->root_gone : 0);
	if (state->processes > state->unread) {
		trk__sampler_set_bytes(s, TRK_PROCESS_RSS, state->rss_bytes);
		trk__sample_set(&s->row, TRK_PROCESS_THREADS, (int64_t) state->threads);
	}
	s->tree_ns = now_ns;
}

/* ---- where the interval went ---- */

static int64_t since(int64_t now_us, int64_t before_us)
{
	if (now_us < 0 || before_us < 0)
		return TRK_WAIT_UNKNOWN;
	return now_us > before_us ? now_us - before_us : 0;
}

static int64_t known_us(const struct trk_sampler *s, int column)
{
	return trk__sample_knows(&s->row, column) ? s->row.value[column] : TRK_WAIT_UNKNOWN;
}

static bool moved(const struct trk_sampler *s, int column)
{
	return s->row.value[column] > 0; /* an unknown value is 0 */
}

/* Stalls of the control group where they are known, else of the machine. */
static void take_stalls(struct trk_sampler *s)
{
	const struct trk_tree_state *state = trk__tree_state(s->tree);
	const struct counter *disk = &s->last[TRK_SYSTEM_PRESSURE_IO_SOME];
	const struct counter *memory = &s->last[TRK_SYSTEM_PRESSURE_MEMORY_SOME];

	if (!trk__sampler_has_group_pressure(s)) {
		s->stall.disk_us = disk->valid ? (int64_t) disk->value : TRK_WAIT_UNKNOWN;
		s->stall.memory_us = memory->valid ? (int64_t) memory->value : TRK_WAIT_UNKNOWN;
	}
	s->stall.blocked_us = (int64_t) (state->blocked_ns / 1000);
}

static void read_waits(struct trk_sampler *s)
{
	static const int columns[TRK_WAITS] = {
		[TRK_WAIT_ON_CPU] = TRK_PROCESS_ON_CPU,
		[TRK_WAIT_GPU] = TRK_PROCESS_ON_GPU,
		[TRK_WAIT_DISK] = TRK_PROCESS_DISK_WAIT,
		[TRK_WAIT_MEMORY] = TRK_PROCESS_MEMORY_WAIT,
		[TRK_WAIT_FOR_CPU] = TRK_PROCESS_CPU_WAIT,
	};
	const struct trk_tree_state *state;
	struct trk_wait_facts facts;
	struct trk_waits waits;

	if (!s->tree)
		return;
	state = trk__tree_state(s->tree);
	take_stalls(s);
	facts = (struct trk_wait_facts){
		.interval_us = s->row.value[TRK_INTERVAL],
		.cpu_us =
			trk__sample_knows(&s->row, TRK_PROCESS_UTIME)
				? s->row.value[TRK_PROCESS_UTIME] + s->row.value[TRK_PROCESS_STIME]
				: TRK_WAIT_UNKNOWN,
		.gpu_us = TRK_WAIT_UNKNOWN,
		.disk_stall_us = since(s->stall.disk_us, s->stall_before.disk_us),
		.memory_stall_us = since(s->stall.memory_us, s->stall_before.memory_us),
		.high_stall_us = since(s->stall.high_us, s->stall_before.high_us),
		.blocked_us = since(s->stall.blocked_us, s->stall_before.blocked_us),
		.queue_us = known_us(s, TRK_PROCESS_CPU_QUEUE),
		.throttled_us = known_us(s, TRK_CGROUP_THROTTLED),
		.touched_disk = moved(s, TRK_PROCESS_DISK_READ) ||
				moved(s, TRK_PROCESS_DISK_WRITE) ||
				moved(s, TRK_PROCESS_MAJOR_FAULTS),
		.touched_memory =
			moved(s, TRK_PROCESS_MAJOR_FAULTS) || moved(s, TRK_PROCESS_MINOR_FAULTS),
		.seen_on_disk = state->waiting_for_disk > 0,
	};
	/* GPU use is a mean over the interval; a use above 1 counts as one busy GPU. */
	if (trk__sample_knows(&s->row, TRK_PROCESS_GPU_USAGE))
		facts.gpu_us = s->row.value[TRK_PROCESS_GPU_USAGE] * facts.interval_us / 10000;
	s->stall_before = s->stall;
	trk__waits_divide(&facts, &waits);
	for (int i = 0; i < TRK_WAITS; i++)
		if (waits.us[i] >= 0)
			trk__sample_set(&s->row, columns[i], waits.us[i]);
}

/* ---- life ---- */

void trk__sampler_tick(struct trk_sampler *s, uint64_t late_ns, const struct trk_sample **ret)
{
	uint64_t now_ns = s->env.monotonic_ns();

	s->gpus = NULL;
	s->row.known = 0;
	memset(s->row.value, 0, sizeof(s->row.value));
	trk__sample_set(&s->row, TRK_TIMESTAMP, (int64_t) (s->env.wall_ns() / TRK_NS_PER_MS));
	trk__sample_set(&s->row, TRK_ELAPSED, (int64_t) ((now_ns - s->start_ns) / 1000));
	trk__sample_set(
		&s->row, TRK_INTERVAL,
		(int64_t) ((now_ns - s->start_ns) / 1000 - (s->last_ns - s->start_ns) / 1000));
	trk__sample_set(&s->row, TRK_TRACKER_LATE, (int64_t) (late_ns / 1000));
	if (!s->options.no_system)
		trk__sampler_read_system(s, now_ns);
	read_tree(s);
	trk__sampler_look_outside(s);
	trk__sampler_take_shmem(s);
	ask_gpus(s);
	trk__sampler_follow_group(s, now_ns);
	trk__sampler_read_group(s);
	read_gpus(s);
	read_waits(s);
	trk__sampler_set_delta(s, TRK_TRACKER_CPU, trk__own_cpu_ns() / 1000);
	s->last_ns = now_ns;
	s->started = true;
	*ret = &s->row;
}

void trk__sampler_force_full(struct trk_sampler *s)
{
	s->is_last = true;
	if (s->gpu)
		trk__gpu_poller_force_full(s->gpu);
}

/* The baseline of all deltas: the counters before anything was started. */
static void take_baseline(struct trk_sampler *s)
{
	struct trk_sample ignored = {0};

	s->start_ns = s->last_ns = s->env.monotonic_ns();
	s->system_ns = s->tree_ns = s->cgroup_ns = s->start_ns;
	if (!s->options.no_system)
		trk__sampler_system_baseline(s);
	else if (s->options.perf_fd >= 0)
		trk__sampler_read_machine(s);
	s->machine_at_start = s->machine;
	trk__sampler_memory_baseline(s);
	if (s->tree) { /* a tree begins at zero */
		static const int columns[] = {
			TRK_PROCESS_UTIME,        TRK_PROCESS_STIME,        TRK_PROCESS_DISK_READ,
			TRK_PROCESS_DISK_WRITE,   TRK_PROCESS_READ_CHARS,   TRK_PROCESS_WRITE_CHARS,
			TRK_PROCESS_MAJOR_FAULTS, TRK_PROCESS_MINOR_FAULTS,
		};

		for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
			s->last[columns[i]].valid = true;
	}
	s->last[TRK_TRACKER_CPU].valid = true;
	trk__sampler_read_group(s);
	if (s->tree)
		take_stalls(s);
	s->stall_before = s->stall;
	s->row = ignored;
	s->started = true;
	/* All use since the start of the tree belongs to the first interval. */
	if (s->tree && s->options.start_ns && s->options.start_ns < s->start_ns)
		s->start_ns = s->last_ns = s->tree_ns = s->options.start_ns;
	if (s->tree)
		trk__tree_set_origin(s->tree, s->start_ns);
}

struct trk_sampler *trk__sampler_new(const struct trk_env *env,
				     const struct trk_sampler_options *options, int *reterr)
{
	struct trk_sampler *s = calloc(1, sizeof(*s));
	int r = -ENOMEM;

	if (!s)
		goto fail;
	s->env = *env;
	s->options = *options;
	if (options->tree) {
		s->tree_options = *options->tree;
		s->options.tree = &s->tree_options;
	}
	s->machine_cores = (double) sysconf(_SC_NPROCESSORS_CONF);
	s->tick_us = 1000000 / (uint64_t) sysconf(_SC_CLK_TCK);
	s->now = TRK_MACHINE_NOW_NONE;
	s->loadavg_fd = s->group.fd = -1;
	for (int i = 0; i < PRESSURE_FILES; i++)
		s->pressure_fd[i] = -1;
	s->text = malloc(SAMPLER_TEXT_SIZE);
	if (!s->text)
		goto fail;
	if (options->tree) {
		s->tree = trk__tree_new(env, options->tree, &r);
		if (!s->tree)
			goto fail;
	}
	r = options->no_system ? 0 : trk__sampler_open_system(s);
	if (r < 0)
		goto fail;
	trk__sampler_open_group(s);
	take_baseline(s);
	s->gpu = trk__gpu_poller_new(env, options->gpu, options->gpu_hints, NULL);
	if (s->gpu && s->tree) {
		s->gpu_pid = calloc(GPU_PIDS_MAX, sizeof(*s->gpu_pid));
		if (!s->gpu_pid)
			goto fail;
	}
	return s;
fail:
	trk__sampler_free(s);
	*reterr = r;
	return NULL;
}

void trk__sampler_free(struct trk_sampler *s)
{
	if (!s)
		return;
	trk__gpu_poller_free(s->gpu);
	free(s->gpu_pid);
	trk__tree_free(s->tree);
	trk__sampler_close_group(s);
	trk__sampler_close_system(s);
	free(s->text);
	free(s);
}

void trk__sampler_hold_cores(struct trk_sampler *s, double cores)
{
	s->held_cores = cores > 0 ? cores : 0;
}

struct trk_tree *trk__sampler_tree(struct trk_sampler *s)
{
	return s->tree;
}

const struct trk_cgroup *trk__sampler_cgroup(const struct trk_sampler *s)
{
	return &s->cgroup;
}

struct trk_machine_now *trk__sampler_machine(struct trk_sampler *s)
{
	return &s->now;
}

const struct trk_gpu_reading *trk__sampler_gpus(const struct trk_sampler *s)
{
	return s->gpus;
}

const struct trk_cpu_clocks *trk__sampler_clocks(const struct trk_sampler *s)
{
	return s->has_perf ? &s->clocks : NULL;
}
