#include "base/env.h"

#include <fcntl.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/os.h"

int trk__env_init_at(struct trk_env *env, const char *root)
{
	TRK_FD_CLEANUP int fd = trk__open_dir_at(AT_FDCWD, root);
	int proc_fd;

	if (fd < 0)
		return fd;
	proc_fd = trk__os_has_proc ? trk__open_dir_at(fd, "proc") : -1;
	if (proc_fd < 0 && trk__os_has_proc)
		return proc_fd;
	*env = (struct trk_env){
		.proc_fd = proc_fd,
		.sys_fd = trk__os_has_proc ? trk__open_dir_at(fd, "sys") : -1,
		.cgroup_fd = trk__os_has_proc ? trk__open_dir_at(fd, "sys/fs/cgroup") : -1,
		.monotonic_ns = trk__clock_monotonic_ns,
		.wall_ns = trk__clock_wall_ns,
		.boot_ns = trk__clock_boot_ns,
		.thread_cpu_ns = trk__clock_thread_cpu_ns,
	};
	return 0;
}

int trk__env_init(struct trk_env *env)
{
	return trk__env_init_at(env, "/");
}

void trk__env_release(struct trk_env *env)
{
	trk__close(env->proc_fd);
	trk__close(env->sys_fd);
	trk__close(env->cgroup_fd);
	env->proc_fd = env->sys_fd = env->cgroup_fd = -1;
}

int trk__env_pid_namespace(const struct trk_env *env)
{
	char name[64];
	ssize_t len = trk__read_link_at(env->proc_fd, "self/ns/pid", name, sizeof(name));

	/* PROC_PID_INIT_INO of the kernel: the same on every machine. */
	return len < 0 ? (int) len : strcmp(name, "pid:[4026531836]") != 0;
}
