/* Inputs from outside the program: the roots of /proc, /sys and the cgroup file systems, and the
 * clocks. Tests pass captured trees and their own clocks. */
#ifndef TRK_BASE_ENV_H
#define TRK_BASE_ENV_H

#include <stdint.h>

struct trk_env {
	/* Directory descriptor of /proc; -1: not on this system. Copies of the struct borrow it. */
	int proc_fd;
	int sys_fd;    /* of /sys; -1: none */
	int cgroup_fd; /* of /sys/fs/cgroup; -1: none */
	uint64_t (*monotonic_ns)(void);
	uint64_t (*wall_ns)(void);
	uint64_t (*boot_ns)(void);       /* monotonic; includes the time of a suspend */
	uint64_t (*thread_cpu_ns)(void); /* CPU time of the calling thread: the cost of readings */
};

/* Open the real roots. Returns 0, or a negative errno when there is no /proc on a system that has
 * one; the others are optional. */
int trk__env_init(struct trk_env *env);
/* The same below a directory that holds proc/, sys/ and sys/fs/cgroup/. */
int trk__env_init_at(struct trk_env *env, const char *root);
void trk__env_release(struct trk_env *env);
/* The pid namespace of this process: 0 for the machine's initial one, 1 for another one, a negative
 * errno where it is unknown. */
int trk__env_pid_namespace(const struct trk_env *env);

#endif
