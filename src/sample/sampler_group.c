/* The control group of the job, and memory that only the group counts.
 *
 * A scheduler may move the job after its start and change limits at any time: /proc/PID/cgroup is
 * read through a kept descriptor, five times a second at most, and the limits every 5 s, later
 * every 30 s, or as soon as the memory in use exceeds the known limit or a quota throttles. */
#include <fcntl.h>
#include <math.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "model/waits.h"
#include "probe/linux/pid_stat.h"
#include "sample/sampler_private.h"

#define LOOK_INTERVAL_NS (200 * TRK_NS_PER_MS)
/* A walk over the files of four levels costs 0.1 ms: a quarter of that of the ticks in 5 s, 3 % in
 * 30 s. */
#define LIMIT_INTERVAL_NS (5 * TRK_NS_PER_S)
#define LIMIT_LATER_NS    (30 * TRK_NS_PER_S)
#define LIMIT_PHASE_NS    (60 * TRK_NS_PER_S) /* the longer interval applies after this time */

static pid_t pid_of(const struct trk_sampler *s)
{
	return s->options.tree ? s->options.tree->root : getpid();
}

/* A hash of /proc/PID/cgroup; 0: the process has ended. */
static uint64_t read_membership(struct trk_sampler *s)
{
	ssize_t len;

	if (s->group.fd < 0)
		return 0;
	len = trk__read_once_fd(s->group.fd, s->text, SAMPLER_TEXT_SIZE);
	return len > 0 ? trk__text_hash(s->text) : 0;
}

static bool same(const struct trk_cgroup_limits *a, const struct trk_cgroup_limits *b)
{
	bool same_cores = a->cpu_cores == b->cpu_cores ||
			  (a->cpu_cores != a->cpu_cores && b->cpu_cores != b->cpu_cores);

	return same_cores && a->cpuset_cpus == b->cpuset_cpus &&
	       a->memory_bytes == b->memory_bytes && a->memory_high_bytes == b->memory_high_bytes &&
	       a->swap_bytes == b->swap_bytes && a->pids == b->pids;
}

static void read_limits(struct trk_sampler *s, uint64_t now_ns)
{
	struct trk_cgroup_limits limits;

	(void) trk__cgroup_limits(&s->cgroup, &limits);
	s->group.limits_ns = now_ns;
	if (same(&limits, &s->group.limits))
		return;
	s->group.limits = limits;
	s->group.limit_changes++;
}

void trk__sampler_open_group(struct trk_sampler *s)
{
	s->group.fd = openat(s->env.proc_fd, TRK_PATH("%d/cgroup", (int) pid_of(s)),
			     O_RDONLY | O_CLOEXEC);
	s->group.membership = read_membership(s);
	s->group.looked_ns = s->env.monotonic_ns();
	(void) trk__cgroup_open(&s->cgroup, &s->env, pid_of(s));
	trk__throttle_follow(&s->throttle, &s->cgroup);
	trk__cgroup_limits_clear(&s->group.limits);
	read_limits(s, s->group.looked_ns);
	s->group.limit_changes = 0;
}

void trk__sampler_close_group(struct trk_sampler *s)
{
	trk__throttle_release(&s->throttle);
	trk__cgroup_release(&s->cgroup);
	trk__close(s->group.fd);
}

/* True if the group counts its swapped memory. */
static bool group_swaps(const struct trk_sampler *s)
{
	const struct trk_cgroup_place *place = &s->cgroup.place[TRK_CGROUP_MEMORY];

	return place->version != 0 && !place->fallback && !place->machine_root;
}

static void swap_baseline(struct trk_sampler *s)
{
	struct trk_cgroup_usage u;

	s->least_swap_bytes = s->swap_peak_at_start_bytes = 0;
	if (!group_swaps(s) ||
	    trk__cgroup_usage_some(&s->cgroup, TRK_CGROUP_KNOWS_SWAP | TRK_CGROUP_KNOWS_SWAP_PEAK,
				   &u) < 0)
		return;
	if (u.known & TRK_CGROUP_KNOWS_SWAP)
		s->least_swap_bytes = u.swap_bytes;
	if (u.known & TRK_CGROUP_KNOWS_SWAP_PEAK)
		s->swap_peak_at_start_bytes = u.swap_peak_bytes;
}

/* Read the baseline of the new group's deltas. */
static void take_group_baseline(struct trk_sampler *s)
{
	struct trk_cgroup_usage u;

	s->last[TRK_CGROUP_CPU_USAGE].valid = false;
	s->stall_before.high_us = TRK_WAIT_UNKNOWN;
	swap_baseline(s);
	if (!trk__sampler_has_group_pressure(s)) {
		s->stall_before.disk_us = s->stall_before.memory_us = TRK_WAIT_UNKNOWN;
		return;
	}
	if (trk__cgroup_usage_some(&s->cgroup,
				   TRK_CGROUP_KNOWS_IO_PRESSURE | TRK_CGROUP_KNOWS_MEMORY_PRESSURE,
				   &u) < 0)
		return;
	s->stall_before.disk_us = (int64_t) (u.io_pressure.some_ns / 1000);
	s->stall_before.memory_us = (int64_t) (u.memory_pressure.some_ns / 1000);
}

/* On v1 an exiting process shows the root groups from the release of its memory until it is
 * reaped. */
static bool is_ending(const struct trk_sampler *s)
{
	struct trk_pid_stat stat;

	return trk__pid_stat_read(s->env.proc_fd, pid_of(s), &stat) < 0 || stat.is_exiting;
}

static bool is_on_v1(const struct trk_sampler *s)
{
	return s->cgroup.place[TRK_CGROUP_MEMORY].version == 1 ||
	       s->cgroup.place[TRK_CGROUP_CPU].version == 1;
}

static void move(struct trk_sampler *s, uint64_t membership)
{
	struct trk_cgroup cg;

	if (trk__cgroup_open(&cg, &s->env, pid_of(s)) == 0) {
		trk__cgroup_release(&s->cgroup);
		s->cgroup = cg;
		trk__throttle_follow(&s->throttle, &s->cgroup);
		take_group_baseline(s);
		s->options.group_is_own = s->options.cpu_group_is_own = false;
		s->group.moves++;
		s->group.limits_ns = 0;
	}
	s->group.membership = membership;
}

/* More memory in use than the limit allows: the limit was raised. */
static bool exceeds_limit(const struct trk_sampler *s)
{
	uint64_t used = s->tree ? trk__tree_state(s->tree)->pss_bytes : 0;

	return used > s->group.limits.memory_bytes || used > s->group.limits.memory_high_bytes;
}

void trk__sampler_look_at_group(struct trk_sampler *s)
{
	uint64_t now = read_membership(s);

	if (now != 0 && now != s->group.membership && !(is_on_v1(s) && is_ending(s)))
		move(s, now);
}

static bool limits_are_due(const struct trk_sampler *s, uint64_t now_ns)
{
	uint64_t interval_ns =
		now_ns < s->start_ns + LIMIT_PHASE_NS ? LIMIT_INTERVAL_NS : LIMIT_LATER_NS;

	return s->is_last || s->group.limits_ns == 0 || exceeds_limit(s) ||
	       now_ns >= s->group.limits_ns + interval_ns * 9 / 10;
}

void trk__sampler_follow_group(struct trk_sampler *s, uint64_t now_ns)
{
	if (s->is_last || now_ns >= s->group.looked_ns + LOOK_INTERVAL_NS * 9 / 10) {
		s->group.looked_ns = now_ns;
		trk__sampler_look_at_group(s);
	}
	if (limits_are_due(s, now_ns))
		read_limits(s, now_ns);
}

const struct trk_cgroup_limits *trk__sampler_limits(const struct trk_sampler *s,
						    unsigned int *ret_changes)
{
	*ret_changes = s->group.limit_changes;
	return &s->group.limits;
}

unsigned int trk__sampler_group_moves(const struct trk_sampler *s)
{
	return s->group.moves;
}

/* ---- memory outside the pages that processes map ----
 *
 * Files in tmpfs and /dev/shm, memfds that are not mapped, page cache. Only a control group of the
 * job's own counts them for the job; without one only the growth of the machine's shared memory is
 * known. */

/* Smaller amounts are ignored, to save reading the tree. */
static const double SHMEM_MIN_BYTES = 1 << 20;

static void lower_to(uint64_t *least, uint64_t value)
{
	if (value < *least)
		*least = value;
}

static void raise_to(double *most, double value)
{
	if (!(value <= *most))
		*most = value;
}

/* Infinite if unknown now. */
static double mapped_shmem_bytes(const struct trk_sampler *s)
{
	uint64_t bytes = 0;

	if (s->tree && !trk__tree_shmem(s->tree, &bytes))
		return INFINITY;
	return (double) bytes;
}

static bool machine_swaps(const struct trk_sampler *s)
{
	return !trk__sample_knows(&s->row, TRK_SYSTEM_SWAP_USED) ||
	       s->row.value[TRK_SYSTEM_SWAP_USED] > 0;
}

static unsigned int wanted_memory(const struct trk_sampler *s)
{
	unsigned int want =
		s->options.group_is_own ? TRK_CGROUP_KNOWS_PEAK | TRK_CGROUP_KNOWS_SHMEM : 0;

	if (group_swaps(s) && s->is_last)
		want |= TRK_CGROUP_KNOWS_SWAP | TRK_CGROUP_KNOWS_SWAP_PEAK;
	else if (group_swaps(s) && machine_swaps(s))
		want |= TRK_CGROUP_KNOWS_SWAP;
	return want;
}

static void take_swap(struct trk_sampler *s, const struct trk_cgroup_usage *u)
{
	struct trk_sampler_memory *m = &s->memory;

	if (!group_swaps(s))
		return;
	if (u->known & TRK_CGROUP_KNOWS_SWAP) {
		lower_to(&s->least_swap_bytes, u->swap_bytes);
		raise_to(&m->group_swap_bytes, (double) (u->swap_bytes - s->least_swap_bytes));
	}
	if (!(u->known & TRK_CGROUP_KNOWS_SWAP_PEAK))
		return;
	/* The kernel's peak counts only if it rose during the run. */
	if (u->swap_peak_bytes > s->swap_peak_at_start_bytes)
		raise_to(&m->group_swap_bytes, (double) (u->swap_peak_bytes - s->least_swap_bytes));
	m->swap_is_peak = u->swap_peak_bytes > s->swap_peak_at_start_bytes ||
			  s->swap_peak_at_start_bytes == 0;
}

/* The impossible part of the tree's PSS: inferred, and above the peak of the group. PSS that was
 * read is kept: mapped files may be charged to another group. */
static uint64_t excess_bytes(uint64_t pss, uint64_t inferred, const struct trk_cgroup_usage *usage)
{
	uint64_t excess;

	if (!(usage->known & TRK_CGROUP_KNOWS_PEAK) || pss <= usage->memory_peak_bytes)
		return 0;
	excess = pss - usage->memory_peak_bytes;
	return excess < inferred ? excess : inferred;
}

static double unmapped_bytes(const struct trk_sampler *s, const struct trk_cgroup_usage *usage)
{
	double unmapped = (double) usage->memory_shmem_bytes - mapped_shmem_bytes(s);

	return unmapped > 0 ? unmapped : 0;
}

/* Charges of the group other than page cache and pages that processes map: shared memory and kernel
 * memory. Bounded by the group's current usage less the tree's, as the tree's figures may be
 * slightly older. */
static uint64_t unmapped_charges(struct trk_sampler *s, const struct trk_cgroup_usage *usage,
				 uint64_t pss)
{
	double kernel = (double) usage->memory_kernel_bytes, most, charges;

	if (!(s->least_kernel_bytes <= kernel))
		s->least_kernel_bytes = kernel;
	if (!(usage->known & TRK_CGROUP_KNOWS_MEMORY))
		return 0;
	kernel -= s->least_kernel_bytes;
	most = (double) usage->memory_bytes - (double) usage->memory_cache_bytes - (double) pss;
	charges = unmapped_bytes(s, usage) + kernel;
	if (charges > most)
		charges = most;
	return charges > 0 ? (uint64_t) charges : 0;
}

/* What a limit counts of the tree and its group; *ret_excess: the part of the tree's PSS that is left
 * out. */
static uint64_t held_bytes(struct trk_sampler *s, const struct trk_cgroup_usage *usage,
			   uint64_t *ret_excess)
{
	const struct trk_tree_state *state = trk__tree_state(s->tree);
	uint64_t bytes = state->pss_bytes;

	*ret_excess = 0;
	if (!s->options.group_is_own)
		return bytes;
	*ret_excess = excess_bytes(bytes, bytes - state->least_bytes, usage);
	bytes -= *ret_excess;
	if (usage->known & TRK_CGROUP_KNOWS_SHMEM) {
		bytes += unmapped_charges(s, usage, bytes);
		raise_to(&s->memory.group_held_bytes, (double) bytes);
	}
	return bytes;
}

static double known(double bytes)
{
	return bytes > 0 ? bytes : 0;
}

/* What is swapped out and huge pages; held: the other memory. */
static void take_outside(struct trk_sampler *s, const struct trk_cgroup_usage *usage, uint64_t held)
{
	struct trk_sampler_memory *m = &s->memory;
	struct outside now;

	trk__sampler_outside(s, usage, &now);
	if (!isnan(now.swap_bytes))
		trk__sampler_set_bytes(s, TRK_PROCESS_SWAP, (uint64_t) now.swap_bytes);
	if (!isnan(now.huge_bytes))
		trk__sampler_set_bytes(s, TRK_PROCESS_HUGE_PAGES, (uint64_t) now.huge_bytes);
	m->misses_outside |= isnan(now.swap_bytes) || isnan(now.huge_bytes);
	raise_to(&m->tree_swap_bytes, now.swap_least_bytes);
	raise_to(&m->tree_huge_bytes, now.huge_least_bytes);
	raise_to(&m->needed_bytes, (double) held + known(now.swap_bytes) + known(now.huge_bytes));
}

/* The part that the kernel can drop. */
static void take_files(struct trk_sampler *s, uint64_t held)
{
	struct trk_sampler_memory *m = &s->memory;
	uint64_t bytes = trk__tree_file_bytes(s->tree);

	if (bytes > held)
		bytes = held;
	trk__sampler_set_bytes(s, TRK_PROCESS_FILE_PAGES, bytes);
	if ((double) held <= m->row_bytes)
		return;
	m->row_bytes = (double) held;
	m->file_bytes = (double) bytes;
}

/* Without a process that was read the memory is unknown, not 0. */
static void take_held(struct trk_sampler *s, const struct trk_cgroup_usage *usage)
{
	const struct trk_tree_state *state = s->tree ? trk__tree_state(s->tree) : NULL;
	uint64_t excess, held;

	if (!state || state->processes <= state->unread)
		return;
	held = held_bytes(s, usage, &excess);
	trk__sampler_set_bytes(s, TRK_PROCESS_MEMORY, held);
	trk__sampler_set_bytes(s, TRK_PROCESS_MEMORY_ESTIMATED,
			       state->pss_bytes - state->least_bytes - excess);
	if (state->unread == 0)
		trk__sampler_set_bytes(s, TRK_PROCESS_MEMORY_MOST,
				       held + state->most_bytes - state->pss_bytes);
	take_outside(s, usage, held);
	take_files(s, held);
}

void trk__sampler_take_group_memory(struct trk_sampler *s, const struct trk_cgroup_usage *usage)
{
	take_swap(s, usage);
	take_held(s, usage);
	if (!s->options.group_is_own || !(usage->known & TRK_CGROUP_KNOWS_SHMEM))
		return;
	raise_to(&s->memory.group_cache_bytes, (double) usage->memory_cache_bytes);
	raise_to(&s->memory.group_unmapped_bytes, unmapped_bytes(s, usage));
	if (usage->known & TRK_CGROUP_KNOWS_PEAK &&
	    usage->memory_peak_bytes >= usage->memory_cache_bytes)
		raise_to(&s->memory.group_need_bytes,
			 (double) (usage->memory_peak_bytes - usage->memory_cache_bytes));
}

uint64_t trk__sampler_held_bytes(struct trk_sampler *s)
{
	unsigned int want =
		TRK_CGROUP_KNOWS_MEMORY | TRK_CGROUP_KNOWS_PEAK | TRK_CGROUP_KNOWS_SHMEM;
	struct trk_cgroup_usage usage = {.known = 0};
	struct outside now;
	uint64_t excess;

	trk__sampler_refresh_outside(s);
	if (group_swaps(s) && trk__tree_state(s->tree)->swap.most > 0)
		want |= TRK_CGROUP_KNOWS_SWAP;
	if (s->options.group_is_own)
		(void) trk__cgroup_usage_some(&s->cgroup, want, &usage);
	trk__sampler_outside(s, &usage, &now);
	return held_bytes(s, &usage, &excess) +
	       (uint64_t) (known(now.swap_bytes) + known(now.huge_bytes));
}

void trk__sampler_memory_baseline(struct trk_sampler *s)
{
	s->memory = (struct trk_sampler_memory){
		.group_cache_bytes = NAN,
		.group_need_bytes = NAN,
		.group_unmapped_bytes = NAN,
		.shmem_growth_bytes = NAN,
		.group_held_bytes = NAN,
		.group_swap_bytes = NAN,
		.outside_growth_bytes = NAN,
		.tree_swap_bytes = NAN,
		.tree_huge_bytes = NAN,
		.row_bytes = NAN,
		.file_bytes = NAN,
		.needed_bytes = NAN,
	};
	swap_baseline(s);
	s->least_kernel_bytes = NAN;
	s->least_shmem_bytes = s->shmem_bytes;
	s->least_outside_bytes = s->outside_bytes;
	trk__sampler_outside_baseline(s);
}

void trk__sampler_share_group(struct trk_sampler *s)
{
	struct trk_sampler_memory *m = &s->memory;

	s->options.group_is_own = s->options.cpu_group_is_own = false;
	m->group_cache_bytes = m->group_need_bytes = m->group_unmapped_bytes = NAN;
	m->group_held_bytes = NAN;
}

void trk__sampler_take_shmem(struct trk_sampler *s)
{
	double growth, mapped, most;

	if (!s->knows_shmem)
		return;
	lower_to(&s->least_outside_bytes, s->outside_bytes);
	raise_to(&s->memory.outside_growth_bytes,
		 (double) (s->outside_bytes - s->least_outside_bytes));
	lower_to(&s->least_shmem_bytes, s->shmem_bytes);
	growth = (double) (s->shmem_bytes - s->least_shmem_bytes);
	if (growth <= s->memory.shmem_growth_bytes) {
		s->mapped_shmem_bytes = 0;
		return;
	}
	/* A process that has ended since the machine was read still had its memory then. */
	mapped = growth > SHMEM_MIN_BYTES ? mapped_shmem_bytes(s) : 0;
	most = mapped > s->mapped_shmem_bytes ? mapped : s->mapped_shmem_bytes;
	s->mapped_shmem_bytes = mapped;
	raise_to(&s->memory.shmem_growth_bytes, growth > most ? growth - most : 0);
}

void trk__sampler_memory(const struct trk_sampler *s, struct trk_sampler_memory *ret)
{
	*ret = s->memory;
	if (s->has_unread_huge_pages)
		ret->outside_growth_bytes = NAN;
}

/* ---- a tick ---- */

/* Pressure of the group is nearer to the job than the machine's. */
bool trk__sampler_has_group_pressure(const struct trk_sampler *s)
{
	return s->cgroup.open && !s->cgroup.place[TRK_CGROUP_UNIFIED].machine_root &&
	       s->cgroup.fd[TRK_CGROUP_FILE_IO_PRESSURE] >= 0 &&
	       s->cgroup.fd[TRK_CGROUP_FILE_MEMORY_PRESSURE] >= 0;
}

static unsigned int wanted_of_cgroup(const struct trk_sampler *s)
{
	unsigned int want = TRK_CGROUP_KNOWS_MEMORY | wanted_memory(s);

	if (!trk__sample_knows(&s->row, TRK_CGROUP_CPU_USAGE))
		want |= TRK_CGROUP_KNOWS_CPU;
	if (s->tree && trk__sampler_has_group_pressure(s))
		want |= TRK_CGROUP_KNOWS_IO_PRESSURE | TRK_CGROUP_KNOWS_MEMORY_PRESSURE;
	return want;
}

/* A group without a quota has no periods, but may get a quota at any time. */
static void take_throttling(struct trk_sampler *s)
{
	bool any = trk__throttle_read(&s->throttle);

	if (any && !s->has_quota)
		s->group.limits_ns = 0; /* it is new */
	s->has_quota = any;
	if (s->throttle.known)
		trk__sampler_set_delta(s, TRK_CGROUP_THROTTLED, s->throttle.total_ns / 1000);
}

/* The root group is the whole machine, whose CPU time has been read and which has no quota. */
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

void trk__sampler_read_group(struct trk_sampler *s)
{
	struct trk_cgroup_usage usage = {.known = 0};
	struct counter *last = &s->last[TRK_CGROUP_CPU_USAGE];
	uint64_t now_ns;
	bool is_read;

	take_machine_as_group(s);
	take_throttling(s);
	is_read = s->cgroup.open &&
		  trk__cgroup_usage_some(&s->cgroup, wanted_of_cgroup(s), &usage) == 0;
	trk__sampler_take_group_memory(s, &usage);
	if (!is_read)
		return;
	now_ns = s->env.monotonic_ns();
	if (usage.known & TRK_CGROUP_KNOWS_MEMORY)
		trk__sampler_set_bytes(s, TRK_CGROUP_MEMORY_COLUMN, usage.memory_bytes);
	if (usage.known & TRK_CGROUP_KNOWS_IO_PRESSURE)
		s->stall.disk_us = (int64_t) (usage.io_pressure.some_ns / 1000);
	s->stall.high_us = TRK_WAIT_UNKNOWN;
	if (usage.known & TRK_CGROUP_KNOWS_MEMORY_PRESSURE) {
		s->stall.memory_us = (int64_t) (usage.memory_pressure.some_ns / 1000);
		if (s->group.limits.memory_high_bytes != TRK_NO_LIMIT)
			s->stall.high_us = (int64_t) (usage.memory_pressure.full_ns / 1000);
	}
	if (!(usage.known & TRK_CGROUP_KNOWS_CPU))
		return;
	if (last->valid && usage.cpu_ns >= last->value)
		trk__sampler_set_rate(s, TRK_CGROUP_CPU_USAGE,
				      (int64_t) ((usage.cpu_ns - last->value) / 1000),
				      now_ns - s->cgroup_ns, s->machine_cores);
	*last = (struct counter){true, usage.cpu_ns};
	s->cgroup_ns = now_ns;
}
