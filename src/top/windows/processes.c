/* Windows: the view shows the processes that the recording has. */
#include "top/processes.h"

#include <errno.h>

int trk__processes_update(struct trk_processes *p, int proc_fd, pid_t root, uint64_t now_ns)
{
	return -EOPNOTSUPP;
}

void trk__processes_release(struct trk_processes *p)
{
}
