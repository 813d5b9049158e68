#include "record/job.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/file.h"

/* Handled while a job runs. Terminal stops are in the list so that we stop only after the job. */
static const int handled[] = {
	SIGCHLD, SIGTERM, SIGHUP,  SIGINT,   SIGQUIT, SIGUSR1,
	SIGUSR2, SIGALRM, SIGCONT, SIGWINCH, SIGTSTP,
};

/* Blocked from the job's start to our end, so that they become errors of write: a reader of our output
 * that left, and a limit of the file size, must not end us. The job gets the original mask. */
static void add_write_signals(sigset_t *set)
{
	(void) sigaddset(set, SIGPIPE);
	(void) sigaddset(set, SIGXFSZ);
}

int trk__job_prepare(struct trk_job *job)
{
	sigset_t set, blocked;

	*job = (struct trk_job){.signal_fd = -1};
	(void) sigemptyset(&set);
	for (size_t i = 0; i < sizeof(handled) / sizeof(handled[0]); i++)
		(void) sigaddset(&set, handled[i]);
	blocked = set;
	add_write_signals(&blocked);
	if (sigprocmask(SIG_BLOCK, &blocked, &job->original_mask) < 0)
		return -errno;
	job->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (job->signal_fd < 0)
		return -errno;
	/* Orphans of the job come to us instead of to init: without it they would be lost. */
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

	(void) sigprocmask(SIG_SETMASK, &job->original_mask, NULL);
	(void) execvpe(argv[0], argv, env);
	error = errno;
	(void) trk__write_all(error_fd, &error, sizeof(error));
	_exit(127);
}

int trk__job_spawn(struct trk_job *job, char *const argv[], char *assignment, bool *ret_exec_failed)
{
	char **env = environment_with(assignment);
	int error = 0, fds[2];
	ssize_t n;

	*ret_exec_failed = false;
	if (!env)
		return -ENOMEM;
	if (pipe2(fds, O_CLOEXEC) < 0) {
		error = errno;
		free(env);
		return -error;
	}
	job->pid = fork();
	if (job->pid == 0)
		run_child(job, argv, env, fds[1]);
	error = errno;
	free(env);
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

bool trk__job_next_signal(struct trk_job *job, enum trk_job_action *ret, int *ret_signal)
{
	struct signalfd_siginfo info;

	if (read(job->signal_fd, &info, sizeof(info)) != sizeof(info))
		return false;
	*ret_signal = (int) info.ssi_signo;
	if (info.ssi_signo == SIGCHLD)
		*ret = TRK_JOB_CHILD;
	else if (info.ssi_code == SI_KERNEL) /* from the terminal: the whole group has it */
		*ret = TRK_JOB_IGNORE;
	else
		*ret = TRK_JOB_FORWARD;
	return true;
}

void trk__job_stop_with(struct trk_job *job)
{
	(void) kill(getpid(), SIGSTOP);
	/* Continued. A shell's fg or bg continues the whole group; kill -CONT of us alone does not. */
	(void) kill(job->pid, SIGCONT);
}

void trk__job_release(struct trk_job *job)
{
	sigset_t set = job->original_mask;

	trk__close(job->signal_fd);
	job->signal_fd = -1;
	add_write_signals(&set); /* the summary is still to be written */
	(void) sigprocmask(SIG_SETMASK, &set, NULL);
}
