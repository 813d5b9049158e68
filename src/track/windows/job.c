/* Windows: the job starts suspended, is added to a job object, and then runs, so that the job
 * object includes its first instruction and all descendants. Console events (Ctrl-C, Ctrl-Break,
 * close) reach the job as well; the tracker only avoids ending by them. When the console is closed,
 * the tracker ends the job before Windows ends both. */
#ifdef _WIN32 /* else a checker of code reads this file with the headers of another system */

#include "track/job_system.h"

#include <errno.h>
#include <stdatomic.h>

#include "base/file.h"
#include "base/windows/child.h"
#include "base/windows/console.h"
#include "base/windows/group.h"
#include "base/windows/wake.h"
#include "probe/windows/nt.h"

/* Windows ends a program 5 s after its console was closed. The job gets the first of them. */
enum { JOB_MS = 3000, END_OF_CONSOLE_MS = 60000 };

/* Set by threads of Windows, taken by the loop. */
static atomic_int child_ended, interrupts, console_ended;
static HANDLE arrived; /* an event: one of them was set */
static HANDLE end_wait;
static pid_t job_pid;
static HANDLE job_process; /* stays open */

static void arrive(atomic_int *what)
{
	atomic_fetch_add(what, 1);
	(void) SetEvent(arrived);
}

static BOOL WINAPI on_console(DWORD event)
{
	if (event == CTRL_C_EVENT || event == CTRL_BREAK_EVENT) {
		trk__group_note_event();
		arrive(&interrupts);
		return TRUE;
	}
	arrive(&console_ended);
	/* With the code that Windows gives to a program which this event ends. */
	if (job_process && WaitForSingleObject(job_process, JOB_MS) == WAIT_TIMEOUT)
		(void) trk__child_end(job_pid, STATUS_CONTROL_C_EXIT);
	Sleep(END_OF_CONSOLE_MS); /* the program ends when this returns */
	return TRUE;
}

static void CALLBACK on_end(void *data, BOOLEAN timed_out)
{
	arrive(&child_ended);
}

/* ---- life ---- */

bool trk__job_can_adopt(void)
{
	return false;
}

void trk__job_none(void)
{
}

int trk__job_prepare(struct trk_job *job)
{
	*job = (struct trk_job) TRK_JOB_NONE;
	job->signal_fd = trk__wake_open(CreateEventW(NULL, TRUE, FALSE, NULL));
	if (job->signal_fd < 0)
		return job->signal_fd;
	arrived = trk__wake_handle(job->signal_fd);
	(void) SetConsoleCtrlHandler(on_console, TRUE);
	return 0;
}

int trk__job_spawn(struct trk_job *job, char *const argv[], char *assignment, bool *ret_exec_failed)
{
	HANDLE process;
	bool in_job = false;
	int r;

	trk__console_give_back();
	r = trk__child_start(argv, assignment, trk__nt_job_make(), &job->pid, &process, &in_job);
	*ret_exec_failed = r == -ENOENT || r == -EACCES || r == -ENOEXEC || r == -EINVAL ||
			   r == -E2BIG || r == -ENAMETOOLONG;
	if (r < 0) {
		(void) trk__console_take();
		return r;
	}
	if (in_job)
		trk__nt_job_begin();
	job_pid = job->pid;
	if (!DuplicateHandle(GetCurrentProcess(), process, GetCurrentProcess(), &job_process, 0,
			     FALSE, DUPLICATE_SAME_ACCESS))
		job_process = NULL;
	if (!RegisterWaitForSingleObject(&end_wait, process, on_end, NULL, INFINITE,
					 WT_EXECUTEONLYONCE | WT_EXECUTEINWAITTHREAD))
		return -trk__windows_errno(GetLastError());
	return 0;
}

/* It runs since it is in the job object. */
void trk__job_let_run(const struct trk_job *job)
{
}

void trk__job_protect_self(struct trk_job *job)
{
}

void trk__job_release(struct trk_job *job)
{
	if (job->signal_fd < 0)
		return;
	(void) SetConsoleCtrlHandler(on_console, FALSE);
	if (end_wait)
		(void) UnregisterWaitEx(end_wait, INVALID_HANDLE_VALUE);
	end_wait = NULL;
	(void) trk__console_take();
	trk__close(job->signal_fd);
	job->signal_fd = -1;
}

/* Of console events, whatever the set. */
int trk__job_open_signals(const sigset_t *set)
{
	struct trk_job job;
	int r = trk__job_prepare(&job);

	return r < 0 ? r : job.signal_fd;
}

/* ---- what has arrived ---- */

static bool take(atomic_int *what)
{
	int n = atomic_load(what);

	return n > 0 && atomic_compare_exchange_strong(what, &n, n - 1);
}

bool trk__job_next_signal(struct trk_job *job, enum trk_job_action *ret, int *ret_signal)
{
	(void) ResetEvent(arrived); /* before the counts are read: none is overlooked */
	if (take(&child_ended)) {
		*ret = TRK_JOB_CHILD;
		*ret_signal = SIGCHLD;
	} else if (take(&interrupts)) {
		*ret = TRK_JOB_IGNORE; /* the job has it as well */
		*ret_signal = SIGINT;
	} else if (take(&console_ended)) {
		*ret = TRK_JOB_IGNORE;
		*ret_signal = SIGHUP;
	} else {
		return false;
	}
	return true;
}

void trk__job_drop_signals(struct trk_job *job, bool hold_term)
{
	enum trk_job_action action;
	int signo;

	while (trk__job_next_signal(job, &action, &signo))
		;
}

/* No process is stopped on Windows. */
void trk__job_stop_self(int signo)
{
}

void trk__job_stop_with(struct trk_job *job, int signo)
{
}

/* ---- its end ---- */

/* Its use is read from the job object, or from the list of processes. */
int trk__job_reap(pid_t pid, int *ret_status, struct trk_usage *ret_usage)
{
	pid_t r = waitpid(pid, ret_status, WNOHANG);

	if (r < 0)
		return -errno;
	if (r != pid)
		return 0;
	*ret_usage = (struct trk_usage){0};
	return 1;
}

#endif
