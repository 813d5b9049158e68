/* Processes and signals: a part of base/windows/posix.h. Signals have their Linux numbers, as in
 * recordings. */
#ifndef TRK_BASE_WINDOWS_POSIX_PROCESS_H
#define TRK_BASE_WINDOWS_POSIX_PROCESS_H

#define SIGHUP  1
#define SIGQUIT 3
#define SIGKILL 9
#define SIGUSR1 10
#define SIGUSR2 12
#define SIGPIPE 13
#define SIGCHLD 17
#define SIGCONT 18
#define SIGSTOP 19
#define SIGTSTP 20
#define SIGTTIN 21
#define SIGTTOU 22
#define SIGXCPU 24

/* No child is started, so no status is read. */
#define WIFEXITED(status)   ((void) (status), true)
#define WIFSIGNALED(status) ((void) (status), false)
#define WTERMSIG(status)    ((void) (status), 0)
#define WEXITSTATUS(status) (status)

#define getpid() ((pid_t) _getpid())

/* ---- what has no effect ---- */

#define sigset_t trk__sigset_t
typedef unsigned int trk__sigset_t;

#define sigemptyset(set)      (*(set) = 0)
#define sigfillset(set)       (*(set) = UINT32_MAX)
#define sigaddset(set, signo) (*(set) |= 1u << ((signo) &31))

static inline int sigprocmask(int how, const sigset_t *set, sigset_t *before)
{
	if (before)
		*before = 0;
	return 0;
}

#undef pthread_sigmask
#define pthread_sigmask sigprocmask

/* The C library has six signals, and ends a program that passes another one. */
typedef void trk__handler(int signo);
static inline trk__handler *trk__signal(int signo, trk__handler *handler)
{
	return handler;
}
#define signal trk__signal

struct sigaction {
	trk__handler *sa_handler;
};

#endif
