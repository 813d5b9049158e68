#include "cli/past_runs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/libc.h"

enum {
	CHANGE_PATIENCE_MS = 300, /* at the end of a run */
	CHANGE_NEW_MAX = 64,      /* recordings that are taken into the history then */
	SEND_PATIENCE_S = 60,
};

const char *cli_history_url(void)
{
	const char *url = getenv("RESOURCE_TRACKER_HISTORY");

	return url && *url ? url : NULL;
}

struct trk_history *cli_history_open(const char *dir, int *ret_status)
{
	struct trk_error error = {.code = 0};
	struct trk_history *h;
	char text[4096];

	dir = cli_state_dir(dir, text, sizeof(text));
	h = trk__history_open_at(cli_history_url(), dir, 0, &error);
	/* What this machine has recorded can be told without the others. */
	if (!h && cli_history_url()) {
		cli_complain("%s; this machine's runs alone follow", error.message);
		h = trk__history_open(dir, &error);
	}
	if (!h) {
		cli_complain("%s", error.message);
		*ret_status = error.code == -TRK_E_NODATA ? EXIT_NODATA : EXIT_ERROR;
		return NULL;
	}
	if (*trk__history_note(h))
		cli_complain("%s", trk__history_note(h));
	return h;
}

static int keep(void *data, const struct trk_past *run)
{
	struct cli_past *p = data;

	if (p->count == p->cap) {
		size_t cap = p->cap ? p->cap * 2 : 32;
		struct trk_past *bigger = realloc(p->run, cap * sizeof(*bigger));

		if (!bigger)
			return 1;
		p->run = bigger;
		p->cap = cap;
	}
	p->run[p->count++] = *run;
	return 0;
}

static int take_id(void *data, const struct trk_past *run)
{
	(void) snprintf(data, TRK_RUN_ID_SIZE, "%s", run->id);
	return 1;
}

const char *cli_newest_of(struct trk_history *h, const char *reference, char id[TRK_RUN_ID_SIZE])
{
	id[0] = '\0';
	if (h)
		(void) trk__history_list(h, reference, 1, false, take_id, id, NULL);
	return id[0] ? id : reference;
}

int cli_past_load(struct trk_history *h, const char *job, size_t max, bool unlisted,
		  struct cli_past *ret)
{
	struct trk_error error = {.code = 0};
	struct cli_past p = {.count = 0};

	if (trk__history_list(h, job, max, unlisted, keep, &p, &error) < 0) {
		cli_complain("%s", error.message);
		cli_past_release(&p);
		return EXIT_ERROR;
	}
	*ret = p;
	return 0;
}

void cli_past_release(struct cli_past *p)
{
	free(p->run);
	*p = (struct cli_past){.count = 0};
}

/* ---- what changed ---- */

int cli_change_of(const char *dir, const struct trk_record *record, size_t max_new,
		  struct trk_change *ret)
{
	struct trk_error error = {.code = 0};
	struct trk_past *now = calloc(1, sizeof(*now));
	struct trk_history *h = NULL;
	struct cli_past p = {.count = 0};
	char text[4096];
	int r = -ENOMEM;

	if (now)
		h = trk__history_open_at(cli_history_url(), cli_state_dir(dir, text, sizeof(text)),
					 max_new, &error);
	if (h)
		r = trk__history_list(h, record->run.job, TRK_CHANGE_EARLIER_MAX + 50, false, keep,
				      &p, &error);
	if (r == 0) {
		trk__past_from(record, "", now);
		trk__change_from_history(now, p.run, p.count, ret);
	}
	cli_past_release(&p);
	trk__history_free(h);
	free(now);
	return r;
}

/* Read into *ret what the child writes, for so long. */
static bool hear(int fd, struct trk_change *ret)
{
	struct pollfd wait = {.fd = fd, .events = POLLIN};

	return poll(&wait, 1, CHANGE_PATIENCE_MS) == 1 &&
	       read(fd, ret, sizeof(*ret)) == (ssize_t) sizeof(*ret);
}

bool cli_change_quickly(const char *dir, const struct trk_record *record, struct trk_change *ret)
{
	int ends[2];
	bool heard;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return false;
	pid = fork();
	if (pid == 0) {
		struct trk_change change;

		_exit(cli_change_of(dir, record, CHANGE_NEW_MAX, &change) == 0 &&
				      write(ends[1], &change, sizeof(change)) ==
					      (ssize_t) sizeof(change)
			      ? 0
			      : 1);
	}
	trk__close(ends[1]);
	heard = pid > 0 && hear(ends[0], ret);
	trk__close(ends[0]);
	if (pid > 0) {
		if (!heard)
			(void) kill(pid, SIGKILL);
		(void) waitpid(pid, NULL, 0);
	}
	return heard;
}

/* ---- sending ---- */

void cli_history_send(const char *dir)
{
	struct trk_error error = {.code = 0};
	char text[4096];
	pid_t pid;
	int null_fd;

	if (!cli_history_url())
		return;
	dir = cli_state_dir(dir, text, sizeof(text));
	pid = fork();
	if (pid > 0)
		(void) waitpid(pid, NULL, 0);
	if (pid != 0)
		return;
	if (setsid() < 0 || fork() != 0)
		_exit(0);
	/* It keeps nothing of the job's from ending, and goes away by itself. */
	null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = 0; fd < 3 && null_fd >= 0; fd++)
		(void) dup2(null_fd, fd);
	trk__close_range(3, ~0u);
	(void) alarm(SEND_PATIENCE_S);
	(void) trk__history_open_at(cli_history_url(), dir, 0, &error);
	_exit(0);
}
