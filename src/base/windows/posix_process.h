/* Processes and signals: a part of base/windows/posix.h. Signals have their Linux numbers, as in
 * recordings. No signal is delivered to a handler: src/track/windows receives the console
 * events. */
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

/* ---- the end of a process ----
 *
 * A status is the exit code. The code of a crash (0xC0000005: access violation) maps to a
 * signal. */
#define WNOHANG             1
#define WSTOPPED            2
#define WEXITED             4
#define WNOWAIT             0x1000000
#define WIFEXITED(status)   (trk__signal_of_status(status) == 0)
#define WIFSIGNALED(status) (trk__signal_of_status(status) != 0)
#define WTERMSIG(status)    trk__signal_of_status(status)
#define WEXITSTATUS(status) trk__code_of_status(status)

enum { CLD_EXITED = 1, CLD_KILLED, CLD_DUMPED, CLD_TRAPPED, CLD_STOPPED };
enum trk__idtype { P_ALL, P_PID };
typedef unsigned int id_t;

typedef struct {
	pid_t si_pid;
	int si_code, si_status;
} siginfo_t;

int trk__signal_of_status(int status);
/* 0 to 2147483647. Other codes, such as -1, are cut to their low eight bits, as on Linux. */
int trk__code_of_status(int status);

/* For children that src/base/windows/child.h has started. waitid() of P_ALL never blocks. */
pid_t waitpid(pid_t pid, int *ret_status, int flags);
int waitid(enum trk__idtype type, id_t id, siginfo_t *ret, int flags);
/* Signal 0 checks whether the process exists. SIGTERM and SIGKILL end it, a child in a job object
 * with all its descendants; where this program has a process group of the console (group.h), SIGTERM
 * asks a child to end. If pid is this process, it exits as its last child did. Other signals
 * are not delivered. */
int kill(pid_t pid, int signo);

#define fork()   trk__no_such_call()
#define setsid() trk__no_such_call()
#define getpid() ((pid_t) _getpid())

/* Start the program, wait for its end, and exit as it did: Windows cannot replace the image of a
 * process. */
int trk__execvp(const char *file, char *const argv[]);
#define execvp trk__execvp

/* ---- what has no effect ---- */

#define alarm(seconds) ((void) (seconds), 0)

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

struct itimerval {
	int unused;
};

/* ---- the machine ---- */

enum { _SC_CLK_TCK, _SC_PAGESIZE, _SC_NPROCESSORS_CONF, _SC_NPROCESSORS_ONLN };
long sysconf(int name);

#endif
