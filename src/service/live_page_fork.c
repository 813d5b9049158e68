/* The page of a running job, made by a child that fork(2) gives the tracker's record. */
#include <unistd.h>

#include "base/clock.h"
#include "base/os.h"
#include "recording/reader.h"
#include "service/live_page.h"

enum { NEW_MAX = 64 }; /* recordings that are taken into the history for a page */

/* Runs in the child. Errors are ignored, as the page is soon made again. */
static void make_page(struct trk_live_page *l, const struct trk_record *record)
{
	static struct trk_record now; /* what it points to is the child's own */
	struct trk_history *h = NULL;
	TRK_BUF_LOCAL(b, TRK_PAGE_MAX);
	char name[96];

	now = *record;
	now.writing = true;
	trk__record_recover(&now);
	trk__store_name(&now.run, name);
	l->service.note = NULL;
	l->request.dirfd = trk__store_open(l->service.dir, false, NULL);
	l->request.path = name;
	l->request.record = &now;
	if (!l->request.earlier)
		(void) trk__runs_history(&l->service, NEW_MAX, &h, NULL);
	if (trk__page_make(&l->service, h, &l->request, &b, NULL, NULL) == 0)
		(void) trk__page_save(&b, l->path, true, l->via);
}

static void child(struct trk_live_page *l, const struct trk_record *record, int done_fd)
{
	uint64_t used_ns;

	trk__service_child(l->control_fd);
	make_page(l, record);
	used_ns = trk__clock_process_cpu_ns();
	(void) !write(done_fd, &used_ns, sizeof(used_ns));
	_exit(0);
}

int trk__live_page_start(struct trk_live_page *l, const struct trk_record *record)
{
	int ends[2], r = trk__os_pipe(ends);
	pid_t pid;

	if (r < 0)
		return r;
	pid = trk__helper_process_fork(&l->child);
	if (pid == 0)
		child(l, record, ends[1]);
	(void) close(ends[1]);
	if (pid > 0)
		l->done_fd = ends[0];
	else
		(void) close(ends[0]);
	return pid < 0 ? (int) pid : 0;
}

uint64_t trk__live_page_used_ns(const struct trk_live_page *l)
{
	uint64_t used_ns = 0;

	(void) !read(l->done_fd, &used_ns, sizeof(used_ns));
	return used_ns;
}
