#ifdef _WIN32 /* else a checker of code reads this file with the headers of another system */

#include "service/check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/os.h"
#include "base/windows/child.h"
#include "recording/store.h"

enum { PATH_SIZE = 4096, ARGUMENTS_MAX = 24 };

int trk__scratch_folder(char *path, size_t size, const char *base)
{
	(void) snprintf(path, size, "%.3900s/resource-tracker-check-XXXXXX", base);
	return mkdtemp(path) ? 0 : -errno;
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
	TRK_FD_CLEANUP int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	const int streams[] = {null_fd, out_fd >= 0 ? out_fd : null_fd, null_fd};
	char program[PATH_SIZE], config[PATH_SIZE];
	const char *v[ARGUMENTS_MAX] = {program, "run",         "--no-discovery", "--config",
					config,  "--recording", folder,           "--job",
					job,     "--",          program};
	int code = 0, n = 11, r = trk__os_program(program, sizeof(program));

	if (r < 0)
		return r;
	(void) snprintf(config, sizeof(config), "%s/none.toml", folder); /* an empty file */
	trk__close(open(config, O_WRONLY | O_CREAT, 0600));
	for (; *arguments && n < ARGUMENTS_MAX - 1; arguments++)
		v[n++] = *arguments;
	r = trk__child_run((char **) (uintptr_t) v, streams, &code);
	if (r < 0 || code != 0)
		return r < 0 ? r : code;
	return read_last(folder, record) < 0 ? -EBADMSG : 0;
}

#endif
