#include "sample/sampler_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "probe/perf.h"
#include "probe/tool.h"
#include "sample/waits.h"

#define SLOW_INTERVAL_NS  (TRK_NS_PER_S) /* what is read less often, at most */
#define PERF_SLACK_NS     (50 * TRK_NS_PER_MS)
#define DROPPED_MIN_NS    (20 * TRK_NS_PER_MS) /* more than what cutting to ticks may hide */
#define QUIET_INTERVAL_NS (5 * TRK_NS_PER_S)   /* the same while no sign says that they moved */

/* ---- helpers ---- */

void trk__sampler_set_delta(struct trk_sampler *s, int column, uint64_t total)
{
	struct counter *last = &s->last[column];

	if (last->valid && s->started)
		trk__sample_set(&s->row, column,
				total > last->value ? (int64_t) (total - last->value) : 0);
	if (!last->valid || total > last->value) /* /proc/stat's iowait may step back */
		last->value = total;
	last->valid = true;
}

void trk__sampler_set_rate(struct trk_sampler *s, int column, int64_t cpu_us, uint64_t over_ns)
{
	if (!s->started || over_ns < s->options.min_interval_ns || over_ns == 0)
		return;
	trk__sample_set(&s->row, column,
			(int64_t) ((double) cpu_us * 1e7 / (double) over_ns + 0.5));
}

void trk__sampler_set_bytes(struct trk_sampler *s, int column, uint64_t bytes)
{
	trk__sample_set(&s->row, column, (int64_t) bytes);
}

bool trk__sampler_is_good_still(uint64_t now_ns, uint64_t at_ns, bool moved)
{
	uint64_t interval_ns = moved ? SLOW_INTERVAL_NS : QUIET_INTERVAL_NS;

	return at_ns != 0 && now_ns < at_ns + interval_ns * 9 / 10;
}

/* ---- the tree and its group ---- */

/* The perf counter runs on the machine's clock: on a virtual machine it holds time that the
 * hypervisor took away, up to some percent. It is believed where the ledger misses more than that, or
 * knows that the kernel dropped some: children that nobody waits for. Programs that we start for
 * ourselves inherit the counter, and are none of the job's. */
static void raise_to_perf(struct trk_sampler *s, const struct trk_tree_state *state,
			  uint64_t perf_ns, uint64_t tools_ns)
{
	uint64_t cpu_ns = state->counter[TRK_TREE_CPU];
	uint64_t slack_ns = cpu_ns / 32 + PERF_SLACK_NS;
	uint64_t known_ns = cpu_ns + state->late_cpu_ns;

	perf_ns -= tools_ns < perf_ns ? tools_ns : perf_ns; /* which counts from the exec on */
	s->perf_ns = (int64_t) perf_ns;
	if (perf_ns <= known_ns + (state->dropped_cpu_ns > DROPPED_MIN_NS ? 0 : slack_ns))
		return;
	if (state->unseen)
		trk__tree_rouse(s->tree); /* it may be theirs */
	else
		trk__tree_raise(s->tree, TRK_TREE_CPU, perf_ns);
}

static void read_tree(struct trk_sampler *s)
{
	const struct trk_tree_state *state;
	uint64_t perf_ns, tools_ns, now_ns = s->env.monotonic_ns();
	const uint64_t *counter;

	if (!s->tree)
		return;
	trk__tree_update_at(s->tree, now_ns, &state);
	if (s->options.perf_fd >= 0 && trk__perf_read(s->options.perf_fd, &perf_ns) == 0 &&
	    trk__tool_cpu_ns(&tools_ns))
		raise_to_perf(s, state, perf_ns, tools_ns);
	counter = state->counter;
	trk__cpu_split(&s->tree_cpu_us, counter[TRK_TREE_CPU] / 1000,
		       counter[TRK_TREE_CPU_SYSTEM] / 1000);
	trk__sampler_set_delta(s, TRK_PROCESS_STIME, s->tree_cpu_us.system);
	trk__sampler_set_delta(s, TRK_PROCESS_UTIME, s->tree_cpu_us.user);
	trk__sampler_set_rate(s, TRK_PROCESS_CPU_USAGE,
			      s->row.value[TRK_PROCESS_UTIME] + s->row.value[TRK_PROCESS_STIME],
			      now_ns - s->tree_ns);
	if (state->unreadable_io == 0 || state->unreadable_io < state->processes) {
		trk__sampler_set_delta(s, TRK_PROCESS_DISK_READ, counter[TRK_TREE_READ_BYTES]);
		trk__sampler_set_delta(s, TRK_PROCESS_DISK_WRITE, counter[TRK_TREE_WRITE_BYTES]);
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
	/* After the last process has gone there is no memory to speak of, and 0 would be a lie about
	 * what it was. */
	if (state->processes > 0) {
		trk__sampler_set_bytes(s, TRK_PROCESS_MEMORY, state->pss_bytes);
		trk__sampler_set_bytes(s, TRK_PROCESS_RSS, state->rss_bytes);
		trk__sampler_set_bytes(s, TRK_PROCESS_MEMORY_ESTIMATED, state->pss_estimated_bytes);
		trk__sample_set(&s->row, TRK_PROCESS_THREADS, (int64_t) state->threads);
	}
	s->tree_ns = now_ns;
}

/* Pressure of the group is nearer to the job than the machine's. */
bool trk__sampler_has_group_pressure(const struct trk_sampler *s)
{
	return s->cgroup.open && !s->cgroup.place[TRK_CGROUP_UNIFIED].machine_root &&
	       s->cgroup.fd[TRK_CGROUP_FILE_IO_PRESSURE] >= 0 &&
	       s->cgroup.fd[TRK_CGROUP_FILE_MEMORY_PRESSURE] >= 0;
}

static unsigned int wanted_of_cgroup(const struct trk_sampler *s, uint64_t now_ns)
{
	unsigned int want = TRK_CGROUP_KNOWS_MEMORY;

	if (!trk__sample_knows(&s->row, TRK_CGROUP_CPU_USAGE))
		want |= TRK_CGROUP_KNOWS_CPU;
	/* A group without a quota has no periods; one may be set while it lives. */
	if (!s->cgroup.place[TRK_CGROUP_CPU].machine_root &&
	    !trk__sampler_is_good_still(now_ns, s->throttling_ns, false))
		want |= TRK_CGROUP_KNOWS_THROTTLING;
	if (s->tree && trk__sampler_has_group_pressure(s))
		want |= TRK_CGROUP_KNOWS_IO_PRESSURE | TRK_CGROUP_KNOWS_MEMORY_PRESSURE;
	return want;
}

static void take_throttling(struct trk_sampler *s, const struct trk_cgroup_usage *usage,
			    uint64_t now_ns)
{
	if (usage->known & TRK_CGROUP_KNOWS_THROTTLING) {
		trk__sampler_set_delta(s, TRK_CGROUP_THROTTLED, usage->throttled_ns / 1000);
		if (usage->periods)
			s->throttling_ns = 0;
		else if (!trk__sampler_is_good_still(now_ns, s->throttling_ns, false))
			s->throttling_ns = now_ns;
	} else if (s->throttling_ns) {
		trk__sampler_set_delta(s, TRK_CGROUP_THROTTLED,
				       s->last[TRK_CGROUP_THROTTLED].value);
	}
}

/* What is in the root group is the machine, whose processors have been looked at and which has no quota. */
static void take_machine_as_group(struct trk_sampler *s)
{
	if (!s->cgroup.open)
		return;
	if (s->cgroup.place[TRK_CGROUP_CPU].machine_root)
		trk__sampler_set_delta(s, TRK_CGROUP_THROTTLED, 0);
	if (s->cgroup.place[TRK_CGROUP_CPUACCT].machine_root &&
	    trk__sample_knows(&s->row, TRK_SYSTEM_CPU_USAGE)) {
		trk__sample_set(&s->row, TRK_CGROUP_CPU_USAGE, s->row.value[TRK_SYSTEM_CPU_USAGE]);
		s->last[TRK_CGROUP_CPU_USAGE].valid = false;
	}
}

static void read_cgroup(struct trk_sampler *s)
{
	struct trk_cgroup_usage usage;
	struct counter *last = &s->last[TRK_CGROUP_CPU_USAGE];
	uint64_t now_ns = s->env.monotonic_ns();

	take_machine_as_group(s);
	if (!s->cgroup.open ||
	    trk__cgroup_usage_some(&s->cgroup, wanted_of_cgroup(s, now_ns), &usage) < 0)
		return;
	now_ns = s->env.monotonic_ns();
	if (usage.known & TRK_CGROUP_KNOWS_MEMORY)
		trk__sampler_set_bytes(s, TRK_CGROUP_MEMORY_COLUMN, usage.memory_bytes);
	take_throttling(s, &usage, now_ns);
	if (usage.known & TRK_CGROUP_KNOWS_IO_PRESSURE)
		s->stall.disk_us = (int64_t) (usage.io_some_ns / 1000);
	if (usage.known & TRK_CGROUP_KNOWS_MEMORY_PRESSURE)
		s->stall.memory_us = (int64_t) (usage.memory_some_ns / 1000);
	if (!(usage.known & TRK_CGROUP_KNOWS_CPU))
		return;
	if (last->valid && usage.cpu_ns >= last->value)
		trk__sampler_set_rate(s, TRK_CGROUP_CPU_USAGE,
				      (int64_t) ((usage.cpu_ns - last->value) / 1000),
				      now_ns - s->cgroup_ns);
	*last = (struct counter){true, usage.cpu_ns};
	s->cgroup_ns = now_ns;
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
	s->stall.queue_us =
		state->queue_refused ? TRK_WAIT_UNKNOWN : (int64_t) (state->queue_ns / 1000);
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
		.blocked_us = since(s->stall.blocked_us, s->stall_before.blocked_us),
		.queue_us = since(s->stall.queue_us, s->stall_before.queue_us),
		.throttled_us = known_us(s, TRK_CGROUP_THROTTLED),
		.touched_disk = moved(s, TRK_PROCESS_DISK_READ) ||
				moved(s, TRK_PROCESS_DISK_WRITE) ||
				moved(s, TRK_PROCESS_MAJOR_FAULTS),
		.touched_memory =
			moved(s, TRK_PROCESS_MAJOR_FAULTS) || moved(s, TRK_PROCESS_MINOR_FAULTS),
		.seen_on_disk = state->waiting_for_disk > 0,
	};
	/* A GPU's use is a mean over the interval; more than one counts as one that was busy. */
	if (trk__sample_knows(&s->row, TRK_PROCESS_GPU_USAGE))
		facts.gpu_us = s->row.value[TRK_PROCESS_GPU_USAGE] * facts.interval_us / 10000;
	s->stall_before = s->stall;
	trk__waits_divide(&facts, &waits);
	for (int i = 0; i < TRK_WAITS; i++)
		if (waits.us[i] >= 0)
			trk__sample_set(&s->row, columns[i], waits.us[i]);
}

/* ---- life ---- */

/* Ours, with the programs that we start for ourselves. */
static void set_own_cpu(struct trk_sampler *s)
{
	uint64_t tools_ns;

	(void) trk__tool_cpu_ns(&tools_ns);
	trk__sampler_set_delta(s, TRK_TRACKER_CPU, (trk__clock_process_cpu_ns() + tools_ns) / 1000);
}

void trk__sampler_tick(struct trk_sampler *s, uint64_t late_ns, const struct trk_sample **ret)
{
	struct trk_sample before = s->row;
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
		trk__sampler_read_system(s, now_ns, &before);
	read_tree(s);
	trk__sampler_ask_gpus(s);
	read_cgroup(s);
	trk__sampler_read_gpus(s);
	read_waits(s);
	set_own_cpu(s);
	s->last_ns = now_ns;
	s->started = true;
	*ret = &s->row;
}

void trk__sampler_rouse(struct trk_sampler *s)
{
	s->throttling_ns = 0;
	if (!s->options.no_system)
		trk__sampler_rouse_system(s);
}

/* What the deltas count from: the counters before anything was started. */
static void take_baseline(struct trk_sampler *s)
{
	struct trk_sample ignored = {0};

	s->start_ns = s->last_ns = s->env.monotonic_ns();
	s->system_ns = s->tree_ns = s->cgroup_ns = s->start_ns;
	if (!s->options.no_system)
		trk__sampler_system_baseline(s);
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
	read_cgroup(s);
	if (s->tree)
		take_stalls(s);
	s->stall_before = s->stall;
	s->row = ignored;
	s->started = true;
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
	s->perf_ns = -1;
	s->tick_us = 1000000 / (uint64_t) sysconf(_SC_CLK_TCK);
	s->stat_fd = s->meminfo_fd = s->loadavg_fd = -1;
	s->disk.fd = s->net.fd = s->space.fd = -1;
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
	if (!options->no_system)
		trk__sampler_open_system(s);
	(void) trk__cgroup_open(&s->cgroup, env, options->tree ? options->tree->root : getpid());
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
	trk__cgroup_release(&s->cgroup);
	trk__sampler_close_system(s);
	free(s->text);
	free(s);
}

struct trk_tree *trk__sampler_tree(struct trk_sampler *s)
{
	return s->tree;
}

const struct trk_cgroup *trk__sampler_cgroup(const struct trk_sampler *s)
{
	return &s->cgroup;
}

const struct trk_gpu_reading *trk__sampler_gpus(const struct trk_sampler *s)
{
	return s->gpus;
}

int64_t trk__sampler_perf_ns(const struct trk_sampler *s)
{
	return s->perf_ns;
}
