#include "service/conclusion.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/detach.h"
#include "base/file.h"
#include "base/os.h"

enum {
	PATIENCE_MS = 300, /* at the end of a run */
	NEW_MAX = 64,      /* recordings that are taken into the history then */
	SEND_PATIENCE_S = 60,
};

/* Called with what is known so far, and again when the phases of the change are known. */
typedef void tell_fn(void *data, const struct trk_conclusion *c);

static int conclude(const struct trk_service *s, const struct trk_record *record, size_t max_new,
		    struct trk_conclusion *ret, tell_fn *tell, void *data)
{
	struct trk_history *h = NULL;
	struct trk_error team;
	struct trk_job_runs runs = {.count = 0};
	struct trk_advice_input question;
	int r;

	r = trk__runs_history_of(s, max_new, &h, &team, NULL);
	memset(ret, 0, sizeof(*ret));
	/* A server that is down gets the runs later. */
	if (team.code == -TRK_ERR_UNSUPPORTED)
		(void) snprintf(ret->unsent, sizeof(ret->unsent), "%s", team.message);
	r = r ? r : trk__job_runs_read(s, h, NULL, record, &runs);
	r = r ? r : runs.history_error;
	if (r == 0) {
		question = trk__job_runs_question(&runs, record);
		ret->has_advice = trk__advice_make(&question, &ret->advice) == 0;
		ret->busy = runs.use->busy;
		trk__job_runs_change(&runs, &ret->change);
		ret->has_change = true;
		if (tell)
			tell(data, ret);
		trk__job_runs_phases(&runs, s, record, &ret->change);
		if (tell)
			tell(data, ret);
	}
	trk__job_runs_release(&runs);
	trk__history_free(h);
	return r;
}

int trk__conclude(const struct trk_service *s, const struct trk_record *record,
		  struct trk_conclusion *ret)
{
	return conclude(s, record, 0, ret, NULL, NULL);
}

/* Read into *ret what the child writes, for 0.3 s. */
static bool hear(int fd, struct trk_conclusion *ret)
{
	uint64_t end = trk__clock_monotonic_ns() / TRK_NS_PER_MS + PATIENCE_MS;
	struct trk_conclusion *next = malloc(sizeof(*next));
	bool heard = false;
	size_t len = 0;

	/* Twice: the second time with the phases. */
	for (uint64_t now; next && (now = trk__clock_monotonic_ns() / TRK_NS_PER_MS) < end;) {
		struct pollfd wait = {.fd = fd, .events = POLLIN};
		ssize_t n;

		if (poll(&wait, 1, (int) (end - now)) != 1)
			break;
		n = read(fd, (char *) next + len, sizeof(*next) - len);
		if (n <= 0)
			break;
		len += (size_t) n;
		if (len < sizeof(*next))
			continue;
		memcpy(ret, next, sizeof(*next));
		heard = true;
		len = 0;
	}
	free(next);
	return heard;
}

/* The child has the parent's addresses, so that pointers to constant texts stay valid. */
static void write_conclusion(void *data, const struct trk_conclusion *c)
{
	(void) trk__write_all(*(const int *) data, c, sizeof(*c));
}

bool trk__conclude_quickly(const struct trk_service *s, const struct trk_record *record,
			   struct trk_conclusion *ret)
{
	int ends[2];
	bool heard;
	pid_t pid;

	if (trk__os_pipe(ends) < 0)
		return false;
	pid = fork();
	if (pid == 0)
		_exit(conclude(s, record, NEW_MAX, ret, write_conclusion, &ends[1]) ? 1 : 0);
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

void trk__conclusion_send(const struct trk_service *s)
{
	struct trk_error error = {.code = 0};

	if (!s->history_url || !trk__detach())
		return;
	(void) alarm(SEND_PATIENCE_S);
	(void) trk__history_open_at(s->history_url, s->dir ? s->dir : "", 0, &error);
	_exit(0);
}
