#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/parse.h"
#include "probe/linux/cgroup.h"
#include "probe/linux/cgroup_private.h"

#define NS_PER_US 1000u

/* More deeply nested groups are assumed to be populated. */
enum { DEPTH_MAX = 32 };

/* ---- Parsers of the files ---- */

static bool keyed_times(const char *text, const char *key, uint64_t factor, uint64_t *ret)
{
	uint64_t value;

	if (trk__cgroup_keyed_parse(text, key, &value) < 0 ||
	    __builtin_mul_overflow(value, factor, &value))
		return false;
	*ret = value;
	return true;
}

/* v1 has the figure of the group alone under the short name, and the one with all groups below it
 * under the long one. */
static bool keyed_memory(const char *text, const char *name, uint64_t *ret)
{
	char total[40];

	(void) snprintf(total, sizeof(total), "total_%s", name);
	return keyed_times(text, total, 1, ret) || keyed_times(text, name, 1, ret);
}

/* Linux 5.18+ has the sum of kernel memory; earlier kernels only list the parts. */
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

	/* Both versions count shared memory as page cache. */
	if ((keyed_memory(text, "cache", &cache) || keyed_memory(text, "file", &cache)) &&
	    keyed_memory(text, "shmem", &u->memory_shmem_bytes)) {
		u->memory_cache_bytes =
			cache > u->memory_shmem_bytes ? cache - u->memory_shmem_bytes : 0;
		u->memory_kernel_bytes = kernel_memory(text);
		fields |= TRK_CGROUP_KNOWS_SHMEM;
	}
	/* Only v1 has it here. */
	if (keyed_memory(text, "swap", &u->swap_bytes))
		fields |= TRK_CGROUP_KNOWS_SWAP;
	return fields;
}

/* What a file holds. */
enum format { NUMBER, CPU_USEC, KILLS, STAT, PRESSURE };

/* The file of each part and version, its fields, and where the figure is kept. */
/* clang-format off */
static const struct source {
	enum trk_cgroup_file file;
	enum trk_cgroup_part part;
	int version;
	const char *name;
	unsigned int fields;
	enum format format;
	size_t to;
} sources[] = {
#define SOURCE(file, part, version, name, fields, format, member) \
	{TRK_CGROUP_FILE_##file, TRK_CGROUP_##part, version, name, fields, format, \
	 offsetof(struct trk_cgroup_usage, member)}
	SOURCE(CPU_STAT, CPUACCT, 2, "cpu.stat", TRK_CGROUP_KNOWS_CPU, CPU_USEC, cpu_ns),
	SOURCE(CPUACCT_USAGE, CPUACCT, 1, "cpuacct.usage", TRK_CGROUP_KNOWS_CPU, NUMBER, cpu_ns),
	SOURCE(MEMORY, MEMORY, 1, "memory.usage_in_bytes", TRK_CGROUP_KNOWS_MEMORY, NUMBER, memory_bytes),
	SOURCE(MEMORY, MEMORY, 2, "memory.current", TRK_CGROUP_KNOWS_MEMORY, NUMBER, memory_bytes),
	SOURCE(MEMORY_PEAK, MEMORY, 1, "memory.max_usage_in_bytes", TRK_CGROUP_KNOWS_PEAK, NUMBER, memory_peak_bytes),
	SOURCE(MEMORY_PEAK, MEMORY, 2, "memory.peak", TRK_CGROUP_KNOWS_PEAK, NUMBER, memory_peak_bytes),
	SOURCE(MEMORY_STAT, MEMORY, 1, "memory.stat", TRK_CGROUP_KNOWS_SHMEM | TRK_CGROUP_KNOWS_SWAP, STAT, known),
	SOURCE(MEMORY_STAT, MEMORY, 2, "memory.stat", TRK_CGROUP_KNOWS_SHMEM, STAT, known),
	SOURCE(MEMORY_EVENTS, MEMORY, 1, "memory.oom_control", TRK_CGROUP_KNOWS_OOM_KILL, KILLS, oom_kill),
	SOURCE(MEMORY_EVENTS, MEMORY, 2, "memory.events", TRK_CGROUP_KNOWS_OOM_KILL, KILLS, oom_kill),
	SOURCE(SWAP, MEMORY, 2, "memory.swap.current", TRK_CGROUP_KNOWS_SWAP, NUMBER, swap_bytes),
	SOURCE(SWAP_PEAK, MEMORY, 2, "memory.swap.peak", TRK_CGROUP_KNOWS_SWAP_PEAK, NUMBER, swap_peak_bytes),
	SOURCE(PIDS, PIDS, 1, "pids.current", TRK_CGROUP_KNOWS_PIDS, NUMBER, pids),
	SOURCE(PIDS, PIDS, 2, "pids.current", TRK_CGROUP_KNOWS_PIDS, NUMBER, pids),
	SOURCE(MEMORY_PRESSURE, UNIFIED, 2, "memory.pressure", TRK_CGROUP_KNOWS_MEMORY_PRESSURE, PRESSURE, memory_pressure),
	SOURCE(IO_PRESSURE, UNIFIED, 2, "io.pressure", TRK_CGROUP_KNOWS_IO_PRESSURE, PRESSURE, io_pressure),
};
/* clang-format on */

/* Returns the fields that were found. */
static unsigned int take(const struct source *s, const char *text, struct trk_cgroup_usage *u)
{
	void *to = (char *) u + s->to;
	bool is_known = false;

	switch (s->format) {
	case NUMBER:
		is_known = trk__cgroup_number_parse(text, to) == 0;
		break;
	case CPU_USEC:
		is_known = keyed_times(text, "usage_usec", NS_PER_US, to);
		break;
	case KILLS:
		is_known = keyed_times(text, "oom_kill", 1, to);
		break;
	case PRESSURE:
		is_known = trk__pressure_parse(text, to) == 0;
		break;
	case STAT:
		return take_memory_stat(text, u);
	}
	return is_known ? s->fields : 0;
}

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

		if (place->version == s->version)
			cg->fd[s->file] =
				openat(cg->cgroup_fd, TRK_PATH("%s/%s", place->dir, s->name),
				       O_RDONLY | O_CLOEXEC | O_NONBLOCK);
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
			u.known |= take(s, text, &u);
	}
	if (removed && u.known == 0)
		return -ENODEV;
	*ret = u;
	return 0;
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

/* True if the list has this process alone. */
static bool lists_only(const char *text, pid_t pid)
{
	uint64_t number;

	return trk__scan_u64(&text, &number) && number == (uint64_t) pid &&
	       *trk__skip_line(text) == '\0';
}

/* True if a group or one below it has a process, or if that cannot be read. */
static bool is_populated(int dirfd, unsigned int depth);

static bool has_populated_children(int dirfd, unsigned int depth)
{
	TRK_DIR_CLEANUP DIR *dir = trk__list_dir_at(dirfd, ".");
	const struct dirent *entry;
	bool found = !dir;

	while (!found && (entry = trk__next_entry(dir))) {
		int child;

		if (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN)
			continue;
		child = trk__open_dir_at(dirfd, entry->d_name);
		/* A removed group had no process; a file is not a group. */
		if (child < 0)
			found = child != -ENOENT && child != -ENOTDIR;
		else
			found = is_populated(child, depth + 1);
		trk__close(child);
	}
	return found;
}

static bool is_populated(int dirfd, unsigned int depth)
{
	char text[256];
	uint64_t populated;
	ssize_t len = trk__read_at(dirfd, "cgroup.events", text, sizeof(text));

	/* In v2 this includes all groups below. */
	if (len >= 0 && trk__cgroup_keyed_parse(text, "populated", &populated) == 0)
		return populated != 0;
	len = trk__read_at(dirfd, "cgroup.procs", text, sizeof(text));
	if (len == -ENODEV)
		return false;
	return len != 0 || depth >= DEPTH_MAX || has_populated_children(dirfd, depth);
}

bool trk__cgroup_is_own(const struct trk_cgroup *cg, enum trk_cgroup_part part, pid_t pid)
{
	const struct trk_cgroup_place *place = &cg->place[part];
	TRK_FD_CLEANUP int fd = -1;
	char text[64]; /* a longer list has other processes */

	if (place->version == 0 || place->fallback || place->machine_root)
		return false;
	fd = trk__open_dir_at(cg->cgroup_fd, place->dir);
	return fd >= 0 && trk__read_at(fd, "cgroup.procs", text, sizeof(text)) > 0 &&
	       lists_only(text, pid) && !has_populated_children(fd, 0);
}
