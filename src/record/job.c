#include "record/job.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"

/* Handled while a job runs, with all real-time signals: what somebody sends to the job's place is the
 * job's to take. Terminal stops are in the list so that we stop only after the job. */
static const int handled[] = {
	SIGCHLD,  SIGTERM, SIGHUP,  SIGINT,    SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM,   SIGCONT,
	SIGWINCH, SIGTSTP, SIGXCPU, SIGVTALRM, SIGPROF, SIGIO,   SIGPWR,  SIGSTKFLT,
};

/* Dispositions that we may have inherited, and what we need instead. An ignored SIGCHLD would make
 * the kernel reap the job, and its result would be lost. SIGPIPE and SIGXFSZ: a reader of the summary
 * that went away, or a limit on the size of files, must not kill us beside a living job. */
static const struct {
	int signo;
	void (*disposition)(int);
} adjusted[TRK_JOB_ADJUSTED] = {
	{SIGCHLD, SIG_DFL},
	{SIGPIPE, SIG_IGN},
	{SIGXFSZ, SIG_IGN},
};

static void adjust_dispositions(struct trk_job *job)
{
	for (size_t i = 0; i < TRK_JOB_ADJUSTED; i++) {
		struct sigaction action = {.sa_handler = adjusted[i].disposition};

		(void) sigaction(adjusted[i].signo, &action, &job->original[i]);
	}
}

static void restore_dispositions(const struct trk_job *job)
{
	for (size_t i = 0; i < TRK_JOB_ADJUSTED; i++)
		(void) sigaction(adjusted[i].signo, &job->original[i], NULL);
}

void trk__job_none(void)
{
	(void) signal(SIGXFSZ, SIG_IGN);
}

int trk__job_prepare(struct trk_job *job)
{
	sigset_t set;

	*job = (struct trk_job){.signal_fd = -1};
	(void) sigemptyset(&set);
	for (size_t i = 0; i < sizeof(handled) / sizeof(handled[0]); i++)
		(void) sigaddset(&set, handled[i]);
	for (int signo = SIGRTMIN; signo <= SIGRTMAX; signo++)
		(void) sigaddset(&set, signo);
	if (sigprocmask(SIG_BLOCK, &set, &job->original_mask) < 0)
		return -errno;
	job->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (job->signal_fd < 0)
		return -errno;
	/* Orphans of the job come to us instead of to init: without it they would be lost. */
	(void) prctl(PR_GET_CHILD_SUBREAPER, &job->was_subreaper, 0, 0, 0);
	(void) prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	return 0;
}

/* The environment with one more variable. The array is the caller's to free; the texts stay where
 * they are. */
static char **environment_with(char *assignment)
{
	size_t n = 0, kept = 0, name = (size_t) (strchr(assignment, '=') - assignment) + 1;
	char **env;

	while (environ && environ[n])
		n++;
	env = malloc((n + 2) * sizeof(*env));
	if (!env)
		return NULL;
	for (size_t i = 0; i < n; i++)
		if (strncmp(environ[i], assignment, name) != 0)
			env[kept++] = environ[i];
	env[kept++] = assignment;
	env[kept] = NULL;
	return env;
}

static _Noreturn void run_child(struct trk_job *job, char *const argv[], char *const env[],
				int error_fd)
{
	int error;

	restore_dispositions(job);
	(void) sigprocmask(SIG_SETMASK, &job->original_mask, NULL);
	(void) execvpe(argv[0], argv, env);
	error = errno;
	(void) trk__write_all(error_fd, &error, sizeof(error));
	_exit(127);
}

/* Returns 0 once the exec has happened, else a negative errno of fork or of the exec. */
static int start(struct trk_job *job, char *const argv[], char *const env[], bool *ret_exec_failed)
{
	int error = 0, fds[2];
	ssize_t n;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	job->pid = fork();
	if (job->pid == 0)
		run_child(job, argv, env, fds[1]);
	error = errno;
	(void) close(fds[1]);
	if (job->pid < 0) {
		(void) close(fds[0]);
		return -error;
	}
	/* Ends at the exec, which closes the pipe. */
	do
		n = read(fds[0], &error, sizeof(error));
	while (n < 0 && errno == EINTR);
	(void) close(fds[0]);
	if (n != sizeof(error))
		return 0;
	*ret_exec_failed = true;
	return -error;
}

int trk__job_spawn(struct trk_job *job, char *const argv[], char *assignment, bool *ret_exec_failed)
{
	char **env = environment_with(assignment);
	int r;

	*ret_exec_failed = false;
	if (!env)
		return -ENOMEM;
	adjust_dispositions(job);
	r = start(job, argv, env, ret_exec_failed);
	if (r < 0)
		restore_dispositions(job);
	free(env);
	return r;
}

/* What the kernel sends comes from the terminal, and the whole group has it, with two exceptions: a
 * timer that was set before we became this program (perl -e 'alarm 5; exec ...') was meant for the
 * job; and a terminal that closes tells the leader of its session alone. */
static bool is_for_us_alone(int signo)
{
	return signo == SIGALRM || ((signo == SIGHUP || signo == SIGCONT) && getsid(0) == getpid());
}

bool trk__job_next_signal(struct trk_job *job, enum trk_job_action *ret, int *ret_signal)
{
	struct signalfd_siginfo info;

	if (read(job->signal_fd, &info, sizeof(info)) != sizeof(info))
		return false;
	*ret_signal = (int) info.ssi_signo;
	if (info.ssi_signo == SIGCHLD)
		*ret = TRK_JOB_CHILD;
	else if (info.ssi_code == SI_KERNEL && !is_for_us_alone((int) info.ssi_signo))
		*ret = TRK_JOB_IGNORE;
	else
		*ret = TRK_JOB_FORWARD;
	return true;
}

void trk__job_stop_self(int signo)
{
	struct sigaction plain = {.sa_handler = SIG_DFL}, before;
	sigset_t set, mask;

	(void) sigemptyset(&set);
	(void) sigaddset(&set, signo);
	(void) sigaction(signo, &plain, &before);
	(void) kill(getpid(), signo);
	(void) sigprocmask(SIG_UNBLOCK, &set, &mask); /* stops here */
	(void) sigprocmask(SIG_SETMASK, &mask, NULL);
	(void) sigaction(signo, &before, NULL);
}

void trk__job_stop_with(struct trk_job *job, int signo)
{
	static const struct timespec now = {0, 0};
	siginfo_t info = {.si_pid = 0};
	sigset_t set;

	trk__job_stop_self(signo);
	/* The signal that continued us is pending. There is none where the kernel did not stop us: in
	 * an orphaned process group, or as PID 1 of a namespace. */
	(void) sigemptyset(&set);
	(void) sigaddset(&set, SIGCONT);
	if (sigtimedwait(&set, NULL, &now) != SIGCONT)
		return;
	/* A shell's fg or bg continues the whole group; kill -CONT of us alone does not. */
	(void) waitid(P_PID, (id_t) job->pid, &info, WCONTINUED | WNOHANG);
	if (info.si_pid == 0) /* nor where that is not to be learnt: it does no harm */
		(void) kill(job->pid, SIGCONT);
}

/* As of waitpid(2). */
static int status_of(const siginfo_t *info)
{
	if (info->si_code == CLD_EXITED)
		return (info->si_status & 0xff) << 8;
	return info->si_status | (info->si_code == CLD_DUMPED ? WCOREFLAG : 0);
}

int trk__job_reap(pid_t pid, int *ret_status, struct rusage *ret_usage)
{
	siginfo_t info = {.si_pid = 0};
	pid_t r = wait4(pid, ret_status, WNOHANG, ret_usage);

	if (r >= 0)
		return r == pid;
	/* The kernel's waitid tells the usage as well, which libc's has no room for. */
	if (syscall(SYS_waitid, P_PID, pid, &info, WEXITED | WNOHANG, ret_usage) < 0)
		return -errno;
	if (info.si_pid == 0)
		return 0;
	*ret_status = status_of(&info);
	return 1;
}

void trk__job_release(struct trk_job *job)
{
	trk__close(job->signal_fd);
	job->signal_fd = -1;
	(void) prctl(PR_SET_CHILD_SUBREAPER, job->was_subreaper, 0, 0, 0);
	(void) sigprocmask(SIG_SETMASK, &job->original_mask, NULL);
}
