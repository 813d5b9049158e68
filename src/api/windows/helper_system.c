/* A helper on Windows: a process without a console, which ends when the pipe to this one does. */
#ifdef _WIN32 /* else a checker of code reads this file with the headers of another system */

#include "api/helper_system.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/windows/channel.h"
#include "base/windows/child.h"

const char trk__helper_program[] = "resource-tracker.exe";
const bool trk__helper_forks = false;

/* Handles have 32 bits. */
unsigned long trk__helper_number(int fd)
{
	return (unsigned long) (uintptr_t) trk__channel_handle(fd);
}

static size_t count_of(char *const *words)
{
	size_t n = 0;

	while (words[n])
		n++;
	return n;
}

/* The first word of a command line is the name that the program is looked for by. */
int trk__helper_spawn(const char *program, char *const words[], int fd, bool detached,
		      pid_t *ret_pid)
{
	size_t n = count_of(words);
	const char **line = malloc((n + 1) * sizeof(*line));
	int r;

	if (!line)
		return -ENOMEM;
	for (size_t i = 0; i <= n; i++)
		line[i] = i == 0 ? program : words[i];
	r = trk__child_pass((char **) (void *) line, trk__channel_handle(fd), !detached,
			    detached ? NULL : ret_pid);
	free(line);
	return r;
}

/* What follows marks, children and the job object is there once in a process. */
int trk__helper_thread(struct trk_helper *h, const struct trk_helper_options *o, int fd)
{
	return -TRK_ERR_UNSUPPORTED;
}

#endif
