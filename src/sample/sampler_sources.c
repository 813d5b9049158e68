/* Where the columns of a sampler come from. */
#include <fcntl.h>
#include <unistd.h>

#include "sample/sampler_private.h"

static void add_source(struct trk_source *list, size_t *n, const char *name, const char *text)
{
	if (*n < TRK_SOURCES_MAX)
		list[(*n)++] = (struct trk_source){name, text};
}

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

	/* PID 1 is always there to be seen, but where hidepid hides it. */
	if (faccessat(s->env.proc_fd, "self", F_OK, 0) == 0 &&
	    faccessat(s->env.proc_fd, "1", F_OK, 0) < 0)
		add_source(list, n, "process_tree",
			   "/proc hides processes of other users (hidepid): children that are "
			   "set-user-id programs are not seen");
	add_source(list, n, "process_cpu",
		   s->perf_ns >= 0 ? "CPU clock of each pid, PID/stat, wait4, perf task-clock"
				   : "CPU clock of each pid, PID/stat, wait4 (perf counter not "
				     "permitted)");
	add_source(list, n, "process_memory",
		   state->unreadable_memory ? "PID/smaps_rollup and PID/statm (RSS for "
					      "processes of other users)"
					    : "PID/smaps_rollup and PID/statm");
	add_source(list, n, "process_disk",
		   state->unreadable_io ? "PID/io (not readable for processes of other users)"
					: "PID/io, wait4");
	add_source(list, n, "process_waits", waits_source(s, state));
}

size_t trk__sampler_sources(const struct trk_sampler *s, struct trk_source *list)
{
	size_t n = 0;

	if (s->tree)
		tree_sources(s, list, &n);
	if (!s->options.no_system) {
		add_source(list, &n, "system_cpu", s->stat_fd >= 0 ? "/proc/stat" : "not readable");
		add_source(list, &n, "system_memory",
			   s->meminfo_fd >= 0 ? "/proc/meminfo" : "not readable");
		add_source(list, &n, "system_disk",
			   s->disk_error == 0 ? "/proc/diskstats" : "not readable");
		add_source(list, &n, "system_net",
			   s->net_error == 0 ? "/proc/self/net/dev" : "not readable");
		add_source(list, &n, "system_disk_space",
			   s->space.count ? "statvfs of local file systems"
					  : "no local file system");
		add_source(list, &n, "system_pressure",
			   s->last[TRK_SYSTEM_PRESSURE_CPU_SOME].valid
				   ? "/proc/pressure"
				   : "off or not in this kernel (PSI)");
	}
	add_source(list, &n, "cgroup",
		   !s->cgroup.open                                   ? "no control group found"
		   : s->cgroup.place[TRK_CGROUP_MEMORY].version == 2 ? "cgroup v2"
								     : "cgroup v1");
	add_source(list, &n, "gpu",
		   s->gpu                            ? trk__gpu_poller_text(s->gpu)
		   : s->options.gpu == TRK_GPU_NEVER ? "not asked for"
						     : "none found");
	return n;
}
