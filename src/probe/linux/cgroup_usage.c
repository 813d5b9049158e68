#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/parse.h"
#include "probe/linux/cgroup.h"
#include "probe/linux/cgroup_private.h"
#include "probe/linux/pressure.h"

/* The kernel's USER_HZ: 10 ms. */
#define NS_PER_TICK 10000000u
#define NS_PER_US   1000u

/* A group with a longer list of pids is not taken for the job's own. */
enum { PROCS_MAX = 1 << 22 };

/* Groups are nested less deeply than this; beyond it, populated is assumed. */
enum { DEPTH_MAX = 32 };

/* ---- Parsers of each file; each returns the fields that it found ---- */

static bool keyed_times(const char *text, const char *key, uint64_t factor, uint64_t *ret)
{
	uint64_t value;

	if (trk__cgroup_keyed_parse(text, key, &value) < 0 ||
	    __builtin_mul_overflow(value, factor, &value))
		return false;
	*ret = value;
	return true;
}

static unsigned int take_throttling(const char *text, const char *key, uint64_t factor,
				    struct trk_cgroup_usage *u)
{
	if (!keyed_times(text, "nr_periods", 1, &u->periods) ||
	    !keyed_times(text, "nr_throttled", 1, &u->throttled_periods) ||
	    !keyed_times(text, key, factor, &u->throttled_ns))
		return 0;
	return TRK_CGROUP_KNOWS_THROTTLING;
}

static unsigned int take_cpu_stat_v1(const char *text, struct trk_cgroup_usage *u)
{
	return take_throttling(text, "throttled_time", 1, u);
}

static unsigned int take_cpu_stat_v2(const char *text, struct trk_cgroup_usage *u)
{
	unsigned int fields = take_throttling(text, "throttled_usec", NS_PER_US, u);

	if (keyed_times(text, "usage_usec", NS_PER_US, &u->cpu_ns))
		fields |= TRK_CGROUP_KNOWS_CPU;
	if (keyed_times(text, "user_usec", NS_PER_US, &u->cpu_user_ns) &&
	    keyed_times(text, "system_usec", NS_PER_US, &u->cpu_system_ns))
		fields |= TRK_CGROUP_KNOWS_CPU_SPLIT;
	return fields;
}

static unsigned int take_cpuacct_usage(const char *text, struct trk_cgroup_usage *u)
{
	return trk__cgroup_number_parse(text, &u->cpu_ns) == 0 ? TRK_CGROUP_KNOWS_CPU : 0;
}

static unsigned int take_cpuacct_stat(const char *text, struct trk_cgroup_usage *u)
{
	return keyed_times(text, "user", NS_PER_TICK, &u->cpu_user_ns) &&
			       keyed_times(text, "system", NS_PER_TICK, &u->cpu_system_ns)
		       ? TRK_CGROUP_KNOWS_CPU_SPLIT
		       : 0;
}

static unsigned int take_memory(const char *text, struct trk_cgroup_usage *u)
{
	return trk__cgroup_number_parse(text, &u->memory_bytes) == 0 ? TRK_CGROUP_KNOWS_MEMORY : 0;
}

static unsigned int take_memory_peak(const char *text, struct trk_cgroup_usage *u)
{
	return trk__cgroup_number_parse(text, &u->memory_peak_bytes) == 0 ? TRK_CGROUP_KNOWS_PEAK
									  : 0;
}

/* v1 has the group alone under the short name, and all below it under the long one. */
static bool keyed_memory(const char *text, const char *name, uint64_t *ret)
{
	char total[40];

	(void) snprintf(total, sizeof(total), "total_%s", name);
	return keyed_times(text, total, 1, ret) || keyed_times(text, name, 1, ret);
}

/* Linux 5.18 has the sum of kernel memory; earlier kernels list the parts. */
static uint64_t kernel_memory(const char *text)
{
	static const char *const parts[] = {"kernel_stack", "pagetables", "percpu",
					    "slab_unreclaimable"};
	uint64_t sum = 0, part;

	if (keyed_times(text, "kernel", 1, &sum)) {
		if (keyed_times(text, "slab_reclaimable", 1, &part))
			sum -= part < sum ? part : sum;
	} else {
		for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
			if (keyed_times(text, parts[i], 1, &part))
				sum += part;
	}
	return keyed_times(text, "sock", 1, &part) ? sum + part : sum;
}

static unsigned int take_memory_stat(const char *text, struct trk_cgroup_usage *u)
{
	unsigned int fields = 0;
	uint64_t cache;

	if (keyed_memory(text, "inactive_file", &u->memory_inactive_file_bytes))
		fields |= TRK_CGROUP_KNOWS_INACTIVE_FILE;
	/* Both versions count shared memory as page cache. */
	if ((keyed_memory(text, "cache", &cache) || keyed_memory(text, "file", &cache)) &&
	    keyed_memory(text, "shmem", &u->memory_shmem_bytes)) {
		u->memory_cache_bytes =
			cache > u->memory_shmem_bytes ? cache - u->memory_shmem_bytes : 0;
		u->memory_kernel_bytes = kernel_memory(text);
		fields |= TRK_CGROUP_KNOWS_SHMEM;
	}
	/* v1 alone has it here. */
	if (keyed_memory(text, "swap", &u->swap_bytes))
		fields |= TRK_CGROUP_KNOWS_SWAP;
	return fields;
}

static unsigned int take_swap(const char *text, struct trk_cgroup_usage *u)
{
	return trk__cgroup_number_parse(text, &u->swap_bytes) == 0 ? TRK_CGROUP_KNOWS_SWAP : 0;
}

static unsigned int take_swap_peak(const char *text, struct trk_cgroup_usage *u)
{
	return trk__cgroup_number_parse(text, &u->swap_peak_bytes) == 0 ? TRK_CGROUP_KNOWS_SWAP_PEAK
									: 0;
}

static unsigned int take_events(const char *text, struct trk_cgroup_usage *u)
{
	unsigned int fields = 0;

	if (keyed_times(text, "low", 1, &u->low) && keyed_times(text, "high", 1, &u->high))
		fields |= TRK_CGROUP_KNOWS_LOW_HIGH;
	if (keyed_times(text, "max", 1, &u->max))
		fields |= TRK_CGROUP_KNOWS_MAX;
	if (keyed_times(text, "oom", 1, &u->oom))
		fields |= TRK_CGROUP_KNOWS_OOM;
	if (keyed_times(text, "oom_kill", 1, &u->oom_kill))
		fields |= TRK_CGROUP_KNOWS_OOM_KILL;
	return fields;
}

static unsigned int take_oom_control(const char *text, struct trk_cgroup_usage *u)
{
	return keyed_times(text, "oom_kill", 1, &u->oom_kill) ? TRK_CGROUP_KNOWS_OOM_KILL : 0;
}

static unsigned int take_failcnt(const char *text, struct trk_cgroup_usage *u)
{
	return trk__cgroup_number_parse(text, &u->max) == 0 ? TRK_CGROUP_KNOWS_MAX : 0;
}

static unsigned int take_pids(const char *text, struct trk_cgroup_usage *u)
{
	return trk__cgroup_number_parse(text, &u->pids) == 0 ? TRK_CGROUP_KNOWS_PIDS : 0;
}

static unsigned int take_pressure(const char *text, uint64_t *some_ns, uint64_t *full_ns,
				  unsigned int field)
{
	struct trk_pressure p;

	if (trk__pressure_parse(text, &p) < 0)
		return 0;
	*some_ns = p.some_ns;
	*full_ns = p.full_ns;
	return field;
}

static unsigned int take_cpu_pressure(const char *text, struct trk_cgroup_usage *u)
{
	return take_pressure(text, &u->cpu_some_ns, &u->cpu_full_ns, TRK_CGROUP_KNOWS_CPU_PRESSURE);
}

static unsigned int take_memory_pressure(const char *text, struct trk_cgroup_usage *u)
{
	return take_pressure(text, &u->memory_some_ns, &u->memory_full_ns,
			     TRK_CGROUP_KNOWS_MEMORY_PRESSURE);
}

static unsigned int take_io_pressure(const char *text, struct trk_cgroup_usage *u)
{
	return take_pressure(text, &u->io_some_ns, &u->io_full_ns, TRK_CGROUP_KNOWS_IO_PRESSURE);
}

/* The file of each part and version, and the fields that it has. */
static const struct source {
	enum trk_cgroup_file file;
	enum trk_cgroup_part part;
	int version;
	const char *name;
	unsigned int fields;
	unsigned int (*take)(const char *text, struct trk_cgroup_usage *u);
} sources[] = {
	{TRK_CGROUP_FILE_CPU_STAT, TRK_CGROUP_CPU, 1, "cpu.stat", TRK_CGROUP_KNOWS_THROTTLING,
	 take_cpu_stat_v1},
	{TRK_CGROUP_FILE_CPU_STAT, TRK_CGROUP_CPUACCT, 2, "cpu.stat",
	 TRK_CGROUP_KNOWS_CPU | TRK_CGROUP_KNOWS_CPU_SPLIT | TRK_CGROUP_KNOWS_THROTTLING,
	 take_cpu_stat_v2},
	{TRK_CGROUP_FILE_CPUACCT_USAGE, TRK_CGROUP_CPUACCT, 1, "cpuacct.usage",
	 TRK_CGROUP_KNOWS_CPU, take_cpuacct_usage},
	{TRK_CGROUP_FILE_CPUACCT_STAT, TRK_CGROUP_CPUACCT, 1, "cpuacct.stat",
	 TRK_CGROUP_KNOWS_CPU_SPLIT, take_cpuacct_stat},
	{TRK_CGROUP_FILE_MEMORY, TRK_CGROUP_MEMORY, 1, "memory.usage_in_bytes",
	 TRK_CGROUP_KNOWS_MEMORY, take_memory},
	{TRK_CGROUP_FILE_MEMORY, TRK_CGROUP_MEMORY, 2, "memory.current", TRK_CGROUP_KNOWS_MEMORY,
	 take_memory},
	{TRK_CGROUP_FILE_MEMORY_PEAK, TRK_CGROUP_MEMORY, 1, "memory.max_usage_in_bytes",
	 TRK_CGROUP_KNOWS_PEAK, take_memory_peak},
	{TRK_CGROUP_FILE_MEMORY_PEAK, TRK_CGROUP_MEMORY, 2, "memory.peak", TRK_CGROUP_KNOWS_PEAK,
	 take_memory_peak},
	{TRK_CGROUP_FILE_MEMORY_STAT, TRK_CGROUP_MEMORY, 1, "memory.stat",
	 TRK_CGROUP_KNOWS_INACTIVE_FILE | TRK_CGROUP_KNOWS_SHMEM | TRK_CGROUP_KNOWS_SWAP,
	 take_memory_stat},
	{TRK_CGROUP_FILE_MEMORY_STAT, TRK_CGROUP_MEMORY, 2, "memory.stat",
	 TRK_CGROUP_KNOWS_INACTIVE_FILE | TRK_CGROUP_KNOWS_SHMEM, take_memory_stat},
	{TRK_CGROUP_FILE_MEMORY_EVENTS, TRK_CGROUP_MEMORY, 1, "memory.oom_control",
	 TRK_CGROUP_KNOWS_OOM_KILL, take_oom_control},
	{TRK_CGROUP_FILE_MEMORY_EVENTS, TRK_CGROUP_MEMORY, 2, "memory.events",
	 TRK_CGROUP_KNOWS_LOW_HIGH | TRK_CGROUP_KNOWS_MAX | TRK_CGROUP_KNOWS_OOM |
		 TRK_CGROUP_KNOWS_OOM_KILL,
	 take_events},
	{TRK_CGROUP_FILE_MEMORY_FAILCNT, TRK_CGROUP_MEMORY, 1, "memory.failcnt",
	 TRK_CGROUP_KNOWS_MAX, take_failcnt},
	{TRK_CGROUP_FILE_SWAP, TRK_CGROUP_MEMORY, 2, "memory.swap.current", TRK_CGROUP_KNOWS_SWAP,
	 take_swap},
	{TRK_CGROUP_FILE_SWAP_PEAK, TRK_CGROUP_MEMORY, 2, "memory.swap.peak",
	 TRK_CGROUP_KNOWS_SWAP_PEAK, take_swap_peak},
	{TRK_CGROUP_FILE_PIDS, TRK_CGROUP_PIDS, 1, "pids.current", TRK_CGROUP_KNOWS_PIDS,
	 take_pids},
	{TRK_CGROUP_FILE_PIDS, TRK_CGROUP_PIDS, 2, "pids.current", TRK_CGROUP_KNOWS_PIDS,
	 take_pids},
	{TRK_CGROUP_FILE_CPU_PRESSURE, TRK_CGROUP_UNIFIED, 2, "cpu.pressure",
	 TRK_CGROUP_KNOWS_CPU_PRESSURE, take_cpu_pressure},
	{TRK_CGROUP_FILE_MEMORY_PRESSURE, TRK_CGROUP_UNIFIED, 2, "memory.pressure",
	 TRK_CGROUP_KNOWS_MEMORY_PRESSURE, take_memory_pressure},
	{TRK_CGROUP_FILE_IO_PRESSURE, TRK_CGROUP_UNIFIED, 2, "io.pressure",
	 TRK_CGROUP_KNOWS_IO_PRESSURE, take_io_pressure},
};

enum { SOURCES = sizeof(sources) / sizeof(sources[0]) };

/* ---- Reading them ---- */

void trk__cgroup_usage_open(struct trk_cgroup *cg)
{
	for (int i = 0; i < TRK_CGROUP_FILES; i++)
		cg->fd[i] = -1;
	cg->open = true;
	for (int i = 0; i < SOURCES; i++) {
		const struct source *s = &sources[i];
		const struct trk_cgroup_place *place = &cg->place[s->part];
		char path[TRK_CGROUP_FILE_PATH_SIZE];

		/* cpu.stat has one descriptor: with cpu on v1 and CPU time on v2, v1's stays. */
		if (place->version != s->version || cg->fd[s->file] >= 0)
			continue;
		(void) snprintf(path, sizeof(path), "%s/%s", place->dir, s->name);
		cg->fd[s->file] = openat(cg->cgroup_fd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	}
}

int trk__cgroup_usage_some(const struct trk_cgroup *cg, unsigned int want,
			   struct trk_cgroup_usage *ret)
{
	struct trk_cgroup_usage u = {0};
	bool removed = false;
	char text[8192];

	for (int i = 0; i < SOURCES; i++) {
		const struct source *s = &sources[i];
		ssize_t len;

		if (!(s->fields & want) || cg->place[s->part].version != s->version ||
		    cg->fd[s->file] < 0)
			continue;
		len = trk__read_once_fd(cg->fd[s->file], text, sizeof(text));
		if (len == -ENODEV)
			removed = true;
		else if (len >= 0 || len == -EFBIG)
			u.known |= s->take(text, &u);
	}
	if (removed && u.known == 0)
		return -ENODEV;
	*ret = u;
	return 0;
}

int trk__cgroup_usage_quick(const struct trk_cgroup *cg, struct trk_cgroup_usage *ret)
{
	return trk__cgroup_usage_some(cg, TRK_CGROUP_KNOWS_CPU | TRK_CGROUP_KNOWS_MEMORY, ret);
}

int trk__cgroup_oom_kills(const struct trk_cgroup *cg, uint64_t *ret)
{
	struct trk_cgroup_usage u;
	int r = trk__cgroup_usage_some(cg, TRK_CGROUP_KNOWS_OOM_KILL, &u);

	if (r < 0)
		return r;
	if (!(u.known & TRK_CGROUP_KNOWS_OOM_KILL))
		return trk__cgroup_charged_oom_kills(cg, ret);
	*ret = u.oom_kill;
	return 0;
}

int trk__vmstat_oom_kills(int proc_fd, uint64_t *ret)
{
	char text[16384];
	ssize_t len = trk__read_at(proc_fd, "vmstat", text, sizeof(text));
	int r;

	if (len < 0 && len != -EFBIG)
		return (int) len;
	r = trk__cgroup_keyed_parse(text, "oom_kill", ret);
	return r == -ENOENT ? -EOPNOTSUPP : r;
}

/* ---- Whose group is it? ---- */

static int compare_pids(const void *a, const void *b)
{
	pid_t x = *(const pid_t *) a, y = *(const pid_t *) b;

	return (x > y) - (x < y);
}

/* Does the list name at least one process, and none but those of the sorted array? */
static bool lists_only(const char *text, const pid_t *sorted, size_t n)
{
	bool any = false;
	uint64_t number;

	for (; trk__scan_u64(&text, &number); text = trk__skip_line(text)) {
		pid_t pid = (pid_t) number;

		if (number > INT32_MAX || !bsearch(&pid, sorted, n, sizeof(pid), compare_pids))
			return false;
		any = true;
	}
	return any && *text == '\0';
}

/* Has a group or one below it a process? True when in doubt. */
static bool is_populated(int dirfd, unsigned int depth);

static bool has_populated_children(int dirfd, unsigned int depth)
{
	const struct dirent *entry;
	bool found = false;
	DIR *dir;

	if (trk__list_dir_at(dirfd, ".", &dir) < 0)
		return true;
	while (!found && (entry = readdir(dir))) {
		int child;

		if (entry->d_name[0] == '.' ||
		    (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN))
			continue;
		child = trk__open_dir_at(dirfd, entry->d_name);
		/* A group that was removed meanwhile had no process; a file is no group. */
		if (child < 0)
			found = child != -ENOENT && child != -ENOTDIR;
		else
			found = is_populated(child, depth + 1);
		trk__close(child);
	}
	(void) closedir(dir);
	return found;
}

static bool is_populated(int dirfd, unsigned int depth)
{
	char text[256];
	uint64_t populated;
	ssize_t len = trk__read_at(dirfd, "cgroup.events", text, sizeof(text));

	/* v2 answers for everything below, too. */
	if (len >= 0 && trk__cgroup_keyed_parse(text, "populated", &populated) == 0)
		return populated != 0;
	len = trk__read_at(dirfd, "cgroup.procs", text, sizeof(text));
	if (len == -ENODEV)
		return false;
	return len != 0 || depth >= DEPTH_MAX || has_populated_children(dirfd, depth);
}

bool trk__cgroup_part_is_own(const struct trk_cgroup *cg, enum trk_cgroup_part part,
			     const pid_t *pids, size_t n)
{
	const struct trk_cgroup_place *place = &cg->place[part];
	TRK_FD_CLEANUP int fd = -1;
	pid_t *sorted;
	char *text;
	bool own;

	if (place->version == 0 || place->fallback || place->machine_root || n == 0)
		return false;
	fd = trk__open_dir_at(cg->cgroup_fd, place->dir);
	if (fd < 0 || trk__read_all_at(fd, "cgroup.procs", PROCS_MAX, &text) < 0)
		return false;
	sorted = calloc(n, sizeof(*sorted));
	if (sorted) {
		memcpy(sorted, pids, n * sizeof(*sorted));
		qsort(sorted, n, sizeof(*sorted), compare_pids);
	}
	own = sorted && lists_only(text, sorted, n) && !has_populated_children(fd, 0);
	free(sorted);
	free(text);
	return own;
}

bool trk__cgroup_is_own(const struct trk_cgroup *cg, const pid_t *pids, size_t n)
{
	return trk__cgroup_part_is_own(cg, TRK_CGROUP_MEMORY, pids, n);
}
