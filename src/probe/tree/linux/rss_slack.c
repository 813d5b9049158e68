/* How far the kernel's sizes of a process may be off.
 *
 * The kernel counts the resident pages of a process by kind: anonymous, of files, of shared memory.
 * Since Linux 6.2 each CPU counts up to a batch of each by itself (lib/percpu_counter.c), before
 * that each thread (mm/memory.c). RSS, VmHWM and ru_maxrss are sums without what is not in yet, or
 * were when the maximum was taken. */
#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "probe/tree/private.h"

enum { KINDS = 3, BATCH_LEAST = 32, THREAD_BATCH = 64 };

static bool counts_by_cpu(void)
{
	struct utsname system;
	unsigned int major, minor;

	/* An unknown system is taken for a new one. */
	return uname(&system) < 0 || sscanf(system.release, "%4u.%4u", &major, &minor) != 2 ||
	       major > 6 || (major == 6 && minor >= 2);
}

uint64_t trk__tree_rss_slack(const struct trk_tree *t)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t cpus = online > 0 ? (uint64_t) online : 1;
	uint64_t batch = 2 * cpus > BATCH_LEAST ? 2 * cpus : BATCH_LEAST;
	uint64_t threads = t->state.most_threads ? t->state.most_threads : 1;

	return KINDS * t->page_bytes * (counts_by_cpu() ? cpus * batch : threads * THREAD_BATCH);
}
