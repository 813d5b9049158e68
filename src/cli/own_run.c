#include "cli/own_run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"

enum { PATH_SIZE = 4096, ARGUMENTS_MAX = 24 };

int cli_scratch_folder(char *path, size_t size, const char *usual)
{
	const char *base = getenv("TMPDIR");

	(void) snprintf(path, size, "%.3900s/resource-tracker-check-XXXXXX",
			base && *base ? base : usual);
	return mkdtemp(path) ? 0 : -errno;
}

static _Noreturn void become_tracker(const char *program, char **v, int out_fd)
{
	static char *const environment[] = {(char *) (uintptr_t) "PATH=/usr/bin:/bin",
					    (char *) (uintptr_t) "HOME=/", NULL};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	(void) dup2(null, 0);
	(void) dup2(out_fd >= 0 ? out_fd : null, 1);
	(void) dup2(null, 2);
	(void) execve(program, v, environment);
	_exit(127);
}

int cli_own_run(const char *folder, const char *job, const char *const *arguments, int out_fd,
		struct trk_record *record)
{
	char program[PATH_SIZE];
	ssize_t len = readlink("/proc/self/exe", program, sizeof(program) - 1);
	const char *v[ARGUMENTS_MAX] = {"resource-tracker",
					"run",
					"--no-discovery",
					"--recording",
					folder,
					"--job",
					job,
					"--",
					program};
	int status = 0, n = 9;
	pid_t pid;

	if (len < 0)
		return -errno;
	program[len] = '\0';
	for (; *arguments && n < ARGUMENTS_MAX - 1; arguments++)
		v[n++] = *arguments;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0)
		become_tracker(program, (char **) (uintptr_t) v, out_fd);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	if (status != 0)
		return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return cli_load(folder, "@", record, NULL, NULL) == 0 ? 0 : -EBADMSG;
}
