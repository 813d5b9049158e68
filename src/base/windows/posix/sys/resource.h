/* Priorities and limits: not changed. */
#ifndef TRK_POSIX_SYS_RESOURCE_H
#define TRK_POSIX_SYS_RESOURCE_H

enum { PRIO_PROCESS, RLIMIT_CORE, RLIMIT_NOFILE };

struct rlimit {
	int rlim_cur, rlim_max;
};

static inline int setpriority(int which, int who, int nice)
{
	return trk__no_such_call();
}

static inline int setrlimit(int what, const struct rlimit *limit)
{
	return 0;
}

static inline int getrlimit(int what, struct rlimit *ret)
{
	return trk__no_such_call();
}

#endif
