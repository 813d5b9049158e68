/* Each helper is in a job object of its own, which ends with it and with the tracker. */
#ifdef _WIN32 /* else a checker of code reads this file with the headers of another system */

#include "probe/helper_process.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/os.h"
#include "base/windows/child.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	HANDLE process, job;      /* NULL: free */
} slot[TRK_HELPER_PROCESSES_MAX]; /* under the lock, as the rest */
static uint64_t ended_ns;
static bool on_hold;

/* ---- starting ---- */

static int free_slot(void)
{
	for (int i = 0; i < TRK_HELPER_PROCESSES_MAX; i++)
		if (!slot[i].process)
			return i;
	return -EAGAIN;
}

static int start_in(int at, struct trk_beside *what)
{
	int r;

	slot[at].job = what->job = trk__child_job();
	if (!what->job)
		return -ENOMEM;
	r = trk__child_beside(what, &slot[at].process);
	if (r < 0)
		(void) CloseHandle(what->job);
	return r;
}

static int start(struct trk_helper_process *h, struct trk_beside *what)
{
	int fds[2], at, r = trk__os_pipe(fds);

	*h = (struct trk_helper_process){.slot = -1, .fd = -1};
	if (r < 0)
		return r;
	what->output = what->error = trk__handle_of(fds[1]);
	(void) pthread_mutex_lock(&lock);
	at = on_hold ? -ECANCELED : free_slot();
	r = at < 0 ? at : start_in(at, what);
	(void) pthread_mutex_unlock(&lock);
	trk__close(fds[1]);
	if (r < 0)
		trk__close(fds[0]);
	else
		*h = (struct trk_helper_process){.slot = at, .fd = fds[0]};
	return r;
}

int trk__helper_process_start(struct trk_helper_process *h, const char *file, char *const argv[],
			      char *const envp[])
{
	struct trk_beside what = {.file = file, .argv = argv, .environment = envp};

	return start(h, &what);
}

int trk__helper_process_shell(struct trk_helper_process *h, const char *command, char *const envp[])
{
	struct trk_beside what = {.command = command, .environment = envp};

	return start(h, &what);
}

ssize_t trk__helper_process_read(const struct trk_helper_process *h, void *data, size_t size)
{
	DWORD waiting;
	ssize_t n;

	if (!PeekNamedPipe(trk__handle_of(h->fd), NULL, 0, NULL, &waiting, NULL))
		return 0; /* closed at its other end */
	if (waiting == 0)
		return -EAGAIN;
	n = read(h->fd, data, size < waiting ? size : waiting);
	return n < 0 ? -errno : n;
}

/* There is no fork(2). */
pid_t trk__helper_process_fork(struct trk_helper_process *h)
{
	*h = (struct trk_helper_process){.slot = -1, .fd = -1};
	return -EOPNOTSUPP;
}

/* ---- ending ---- */

/* Of all that were ever in its job object. Wine counts nothing there. */
static uint64_t used_ns(int at)
{
	JOBOBJECT_BASIC_ACCOUNTING_INFORMATION used;

	if (!QueryInformationJobObject(slot[at].job, JobObjectBasicAccountingInformation, &used,
				       sizeof(used), NULL))
		return 0;
	return (uint64_t) (used.TotalUserTime.QuadPart + used.TotalKernelTime.QuadPart) * 100;
}

/* What it has started ends with it. */
static void end_slot(int at)
{
	(void) TerminateJobObject(slot[at].job, 1);
	ended_ns += used_ns(at);
	(void) CloseHandle(slot[at].job);
	(void) CloseHandle(slot[at].process);
	slot[at].process = slot[at].job = NULL;
}

int trk__helper_process_ended(struct trk_helper_process *h, int *ret_status)
{
	DWORD code = 0;
	int ended = 0;

	if (h->slot < 0)
		return 0;
	(void) pthread_mutex_lock(&lock);
	if (WaitForSingleObject(slot[h->slot].process, 0) == WAIT_OBJECT_0) {
		(void) GetExitCodeProcess(slot[h->slot].process, &code);
		*ret_status = (int) code;
		end_slot(h->slot);
		h->slot = -1;
		ended = 1;
	}
	(void) pthread_mutex_unlock(&lock);
	return ended;
}

void trk__helper_process_kill(const struct trk_helper_process *h)
{
	if (h->slot < 0)
		return;
	(void) pthread_mutex_lock(&lock);
	(void) TerminateJobObject(slot[h->slot].job, 1);
	(void) pthread_mutex_unlock(&lock);
}

/* ---- for callers that examine children ---- */

/* They have other job objects than the job, and the tracker as their parent: no tree takes them. */
int trk__helper_process_is(pid_t pid)
{
	return 0;
}

bool trk__helper_process_reap(pid_t pid)
{
	return false;
}

unsigned int trk__helper_process_refused(void)
{
	return 0;
}

bool trk__helper_process_cpu_ns(uint64_t *ret_ns)
{
	bool is_all = true;

	(void) pthread_mutex_lock(&lock);
	*ret_ns = ended_ns;
	for (int i = 0; i < TRK_HELPER_PROCESSES_MAX; i++)
		if (slot[i].process) {
			*ret_ns += used_ns(i);
			is_all = false;
		}
	(void) pthread_mutex_unlock(&lock);
	return is_all;
}

/* A helper that is ended stays in its slot until its owner asks. */
void trk__helper_process_hold(bool hold)
{
	(void) pthread_mutex_lock(&lock);
	on_hold = hold;
	for (int i = 0; i < TRK_HELPER_PROCESSES_MAX && hold; i++)
		if (slot[i].process)
			(void) TerminateJobObject(slot[i].job, 1);
	(void) pthread_mutex_unlock(&lock);
}

bool trk__helper_process_is_held(void)
{
	return on_hold;
}

#endif
