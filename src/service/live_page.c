#include "service/live_page.h"

#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/os.h"
#include "recording/reader.h"

enum {
	COST_FACTOR = 200, /* at most 1/200 of a core, however long the recording has grown */
	END_STEPS = 1000,  /* of 1 ms, for a killed child to end */
	NEW_MAX = 64,      /* recordings that are taken into the history for a page */
};
#define FIRST_NS TRK_NS_PER_S /* so that a job that is killed early leaves a page */

void trk__live_page_init(struct trk_live_page *l, const struct trk_live_page *page)
{
	*l = *page;
	l->child.slot = l->child.fd = l->done_fd = -1;
	l->request.live_s = (double) l->every_ns / 1e9;
	if (l->every_ns)
		l->next_ns = trk__clock_monotonic_ns() +
			     (l->every_ns < FIRST_NS ? l->every_ns : FIRST_NS);
}

/* Runs in the child. Errors are ignored, as the page is soon made again. */
static void make_page(struct trk_live_page *l, const struct trk_run *run)
{
	struct trk_history *h = NULL;
	TRK_BUF_LOCAL(b, TRK_PAGE_MAX);
	char name[96];

	trk__store_name(run, name);
	l->service.note = NULL;
	l->request.dirfd = trk__store_open(l->service.dir, false, NULL);
	l->request.path = name;
	if (!l->request.earlier)
		(void) trk__runs_history(&l->service, NEW_MAX, &h, NULL);
	if (trk__page_make(&l->service, h, &l->request, &b, NULL, NULL) == 0)
		(void) trk__page_save(&b, l->path, true, l->via);
}

static void child(struct trk_live_page *l, const struct trk_run *run, int done_fd)
{
	uint64_t used_ns;

	trk__service_child(l->control_fd);
	make_page(l, run);
	used_ns = trk__clock_process_cpu_ns();
	(void) !write(done_fd, &used_ns, sizeof(used_ns));
	_exit(0);
}

/* Start the child, and set child and done_fd. 0 or a negative errno. */
static int start(struct trk_live_page *l, const struct trk_run *run)
{
	int ends[2], r = trk__os_pipe(ends);
	pid_t pid;

	if (r < 0)
		return r;
	pid = trk__helper_process_fork(&l->child);
	if (pid == 0)
		child(l, run, ends[1]);
	(void) close(ends[1]);
	if (pid > 0)
		l->done_fd = ends[0];
	else
		(void) close(ends[0]);
	return pid < 0 ? (int) pid : 0;
}

/* CPU time of the child that has just ended. */
static uint64_t used_ns_of(const struct trk_live_page *l)
{
	uint64_t used_ns = 0;

	(void) !read(l->done_fd, &used_ns, sizeof(used_ns));
	return used_ns;
}

static void finish_child(struct trk_live_page *l)
{
	uint64_t wait_ns = used_ns_of(l) * COST_FACTOR;

	(void) close(l->done_fd);
	l->done_fd = -1;
	l->next_ns = trk__clock_monotonic_ns() + (wait_ns > l->every_ns ? wait_ns : l->every_ns);
}

void trk__live_page_row(struct trk_live_page *l, const struct trk_run *run)
{
	int status;

	if (!l->every_ns)
		return;
	if (l->done_fd >= 0) {
		if (!trk__helper_process_ended(&l->child, &status))
			return;
		finish_child(l);
	}
	if (trk__clock_monotonic_ns() >= l->next_ns && start(l, run) < 0)
		l->next_ns += l->every_ns;
}

void trk__live_page_end(struct trk_live_page *l)
{
	const struct timespec nap = {.tv_nsec = TRK_NS_PER_MS};
	int status;

	if (l->done_fd >= 0) {
		trk__helper_process_kill(&l->child);
		for (int i = 0; i < END_STEPS && !trk__helper_process_ended(&l->child, &status);
		     i++)
			(void) nanosleep(&nap, NULL);
		finish_child(l);
		if (l->via) /* of the child, which may have been killed while it wrote */
			(void) unlink(l->via);
	}
	l->every_ns = 0;
}
