/* Programs that the tracker starts for itself: none in this build. */
#ifdef _WIN32 /* else a checker of code reads this file with the headers of another system */

#include "probe/helper_process.h"

#include <errno.h>

int trk__helper_process_start(struct trk_helper_process *h, const char *file, char *const argv[],
			      char *const envp[])
{
	(void) h;
	(void) file;
	(void) argv;
	(void) envp;
	return -EOPNOTSUPP;
}

pid_t trk__helper_process_fork(struct trk_helper_process *h)
{
	(void) h;
	return -EOPNOTSUPP;
}

int trk__helper_process_ended(struct trk_helper_process *h, int *ret_status)
{
	(void) h;
	(void) ret_status;
	return 0;
}

void trk__helper_process_kill(const struct trk_helper_process *h)
{
	(void) h;
}

int trk__helper_process_is(pid_t pid)
{
	(void) pid;
	return 0;
}

bool trk__helper_process_reap(pid_t pid)
{
	(void) pid;
	return false;
}

bool trk__helper_process_cpu_ns(uint64_t *ret_ns)
{
	*ret_ns = 0;
	return true;
}

void trk__helper_process_hold(bool hold)
{
	(void) hold;
}

bool trk__helper_process_is_held(void)
{
	return false;
}

#endif
