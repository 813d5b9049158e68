#include "service/check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/os.h"
#include "recording/store.h"

enum { PATH_SIZE = 4096, ARGUMENTS_MAX = 24 };

int trk__scratch_folder(char *path, size_t size, const char *base)
{
	(void) snprintf(path, size, "%.3900s/resource-tracker-check-XXXXXX", base);
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

/* Read the newest recording of a state directory. 0 or a negative error. */
static int read_last(const char *folder, struct trk_record *record)
{
	TRK_FD_CLEANUP int runs_fd = trk__store_open(folder, false, NULL);
	char name[96];
	int r = runs_fd < 0 ? runs_fd : trk__store_find(runs_fd, "@", name, NULL, NULL);

	return r < 0 ? r : trk__record_read(runs_fd, name, record, NULL, NULL, NULL);
}

int trk__own_run(const char *folder, const char *job, const char *const *arguments, int out_fd,
		 struct trk_record *record)
{
	char program[PATH_SIZE];
	const char *v[ARGUMENTS_MAX] = {"resource-tracker",
					"run",
					"--no-discovery",
					"--recording",
					folder,
					"--job",
					job,
					"--",
					program};
	int status = 0, n = 9, r = trk__os_program(program, sizeof(program));
	pid_t pid;

	if (r < 0)
		return r;
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
	return read_last(folder, record) < 0 ? -EBADMSG : 0;
}

/* Whether this program can track a small job. */
void trk__installation_check_job(struct trk_check *f, const char *tmp)
{
	static const char *const version[] = {"version", NULL};
	static const char what[] = "tracked job";
	char folder[PATH_SIZE] = "";
	struct trk_record *record = calloc(1, sizeof(*record));
	int r = record ? trk__scratch_folder(folder, sizeof(folder), tmp) : -ENOMEM;

	if (r < 0) {
		trk__check_fill(f, what, TRK_CHECK_BAD, "%.300s: %s. Try: TMPDIR=DIR", folder,
				trk__strerror(r));
		free(record);
		return;
	}
	r = trk__own_run(folder, "self-check", version, -1, record);
	if (r == -EBADMSG)
		trk__check_fill(f, what, TRK_CHECK_BAD, "its recording cannot be read");
	else if (r != 0)
		trk__check_fill(f, what, TRK_CHECK_BAD,
				"run ended with %d. Try: resource-tracker run -- true", r);
	else
		trk__check_fill(f, what, TRK_CHECK_GOOD, "ran, was recorded and read back");
	if (r == 0)
		trk__record_release(record);
	free(record);
	trk__remove_tree(folder);
}
