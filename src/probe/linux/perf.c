#include "probe/perf.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

int trk__perf_open(pid_t pid, enum trk_perf_scope scope)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.disabled = 1,
		.enable_on_exec = 1,
		.inherit = 1,
		.inherit_thread = scope == TRK_PERF_THREADS,
		/* Required at paranoid level 2; kernel time still counts. */
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	long fd = syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int) fd;
}

int trk__perf_read(int fd, uint64_t *ret_ns)
{
	uint64_t value;
	ssize_t n = read(fd, &value, sizeof(value));

	if (n < 0)
		return -errno;
	if (n != sizeof(value))
		return -EIO;
	*ret_ns = value;
	return 0;
}
