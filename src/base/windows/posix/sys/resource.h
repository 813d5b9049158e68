/* Priorities and limits: not changed. */
#ifndef TRK_POSIX_SYS_RESOURCE_H
#define TRK_POSIX_SYS_RESOURCE_H

enum { PRIO_PROCESS, RLIMIT_CORE, RLIMIT_NOFILE };

struct rlimit {
	int rlim_cur, rlim_max;
};

#define setpriority(which, who, nice) trk__no_such_call()
#define setrlimit(what, limit)        ((void) (limit), 0)
#define getrlimit(what, ret)          ((void) (ret), trk__no_such_call())

#endif
