/* Conclusions at the end of a run, and the earlier run times while it runs: in child processes, so
 * that neither waits for a database. */
#include "service/conclusion_child.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/detach.h"
#include "base/file.h"
#include "base/os.h"
#include "service/runs.h"

enum {
	PATIENCE_MS = 300, /* at the end of a run */
	NEW_MAX = 64,      /* recordings that are taken into the history then */
	SEND_PATIENCE_S = 60,
};

/* Read into *ret what the child writes, for 0.3 s. */
static bool read_answer(int fd, struct trk_conclusion *ret)
{
	uint64_t end = trk__clock_monotonic_ns() / TRK_NS_PER_MS + PATIENCE_MS;
	struct trk_conclusion *next = malloc(sizeof(*next));
	bool answered = false;
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
		answered = true;
		len = 0;
	}
	free(next);
	return answered;
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
	bool answered;
	pid_t pid;

	if (trk__os_pipe(ends) < 0)
		return false;
	pid = fork();
	if (pid == 0)
		_exit(trk__conclude(s, record, NEW_MAX, ret, write_conclusion, &ends[1]) ? 1 : 0);
	trk__close(ends[1]);
	answered = pid > 0 && read_answer(ends[0], ret);
	trk__close(ends[0]);
	if (pid > 0) {
		if (!answered)
			(void) kill(pid, SIGKILL);
		(void) waitpid(pid, NULL, 0);
	}
	return answered;
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

/* ---- run times of the earlier runs ---- */

static const double ASKED_S = 30, ASKED_SHARE = 0.1;
enum {
	RUNS_MAX = 100, /* newest runs of the job that are read */
	PATIENCE_S = 60,
};

void trk__earlier_times_init(struct trk_earlier_times *e, int control_fd)
{
	*e = (struct trk_earlier_times){
		.child = {.slot = -1, .fd = -1}, .fd = -1, .control_fd = control_fd};
}

struct times {
	double s[TRK_ALERT_EARLIER_MAX];
	size_t count;
};

static int take(void *data, const struct trk_history_run *run)
{
	struct times *t = data;

	if (run->ended && run->code == 0 && run->signal == 0 && run->duration_s > 0)
		t->s[t->count++] = run->duration_s;
	return t->count == TRK_ALERT_EARLIER_MAX;
}

/* Runs in the child. Without a history it writes nothing. */
static void answer(const struct trk_service *s, const struct trk_record *record, int fd)
{
	struct trk_job_key key = trk__job_key(&record->run);
	struct trk_service quiet = *s;
	struct times t = {.count = 0};
	struct trk_history *h;

	quiet.note = NULL;
	if (trk__runs_history(&quiet, NEW_MAX, &h, NULL) == 0 &&
	    trk__history_list(h, &key, RUNS_MAX, false, take, &t, NULL) == 0)
		(void) trk__write_all(fd, t.s, t.count * sizeof(t.s[0]));
	_exit(0);
}

static void ask(struct trk_earlier_times *e, const struct trk_service *s,
		const struct trk_record *record)
{
	int ends[2];
	pid_t pid;

	e->asked = true;
	if (trk__os_pipe(ends) < 0)
		return;
	pid = trk__helper_process_fork(&e->child);
	if (pid == 0) {
		trk__service_child(e->control_fd);
		(void) alarm(PATIENCE_S);
		answer(s, record, ends[1]);
	}
	trk__close(ends[1]);
	if (pid > 0)
		e->fd = ends[0];
	else
		trk__close(ends[0]);
}

/* The answer fits into the pipe, so that the child ends without being read. */
static void take_answer(struct trk_earlier_times *e, struct trk_alert_live *live)
{
	double s[TRK_ALERT_EARLIER_MAX];
	ssize_t len = read(e->fd, s, sizeof(s));

	if (len > 0)
		trk__alert_live_earlier(live, s, (size_t) len / sizeof(s[0]));
	trk__close(e->fd);
	e->fd = -1;
}

void trk__earlier_times_row(struct trk_earlier_times *e, const struct trk_service *s,
			    const struct trk_record *record, double elapsed_s,
			    struct trk_alert_live *live)
{
	double wait_s = ASKED_SHARE * record->run.request[TRK_REQUEST_TIME_S].value;
	int status;

	if (e->fd >= 0 && trk__helper_process_ended(&e->child, &status))
		take_answer(e, live);
	if (!e->asked && s->dir && *s->dir && record->run.job[0] &&
	    elapsed_s >= (wait_s > ASKED_S ? ASKED_S : wait_s))
		ask(e, s, record);
}

void trk__earlier_times_end(struct trk_earlier_times *e)
{
	int status;

	if (e->fd < 0)
		return;
	trk__helper_process_kill(&e->child);
	(void) trk__helper_process_ended(&e->child, &status);
	trk__close(e->fd);
	e->fd = -1;
}
