#include "service/live_page.h"

#include <time.h>
#include <unistd.h>

#include "base/clock.h"

enum {
	COST_FACTOR = 200, /* at most 1/200 of a core, however long the recording has grown */
	END_STEPS = 1000,  /* of 1 ms, for a killed child to end */
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

static void take_end(struct trk_live_page *l)
{
	uint64_t wait_ns = trk__live_page_used_ns(l) * COST_FACTOR;

	(void) close(l->done_fd);
	l->done_fd = -1;
	l->next_ns = trk__clock_monotonic_ns() + (wait_ns > l->every_ns ? wait_ns : l->every_ns);
}

void trk__live_page_row(struct trk_live_page *l, const struct trk_record *record)
{
	int status;

	if (!l->every_ns)
		return;
	if (l->done_fd >= 0) {
		if (!trk__helper_process_ended(&l->child, &status))
			return;
		take_end(l);
	}
	if (trk__clock_monotonic_ns() >= l->next_ns && trk__live_page_start(l, record) < 0)
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
		take_end(l);
		if (l->via) /* of the child, which may have been killed while it wrote */
			(void) unlink(l->via);
	}
	l->every_ns = 0;
}
