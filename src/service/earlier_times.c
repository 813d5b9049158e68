#include "service/earlier_times.h"

#include <unistd.h>

#include "base/file.h"
#include "base/os.h"
#include "service/runs.h"

static const double ASKED_S = 30, ASKED_SHARE = 0.1;
enum {
	RUNS_MAX = 100, /* newest runs of the job that are read */
	NEW_MAX = 64,   /* new recordings that are added to the history */
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
