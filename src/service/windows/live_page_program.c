/* The page of a running job, made by `resource-tracker report` of its recording. */
#include <errno.h>
#include <stdio.h>

#include "base/os.h"
#include "service/live_page.h"

int trk__live_page_start(struct trk_live_page *l, const struct trk_record *record)
{
	char seconds[32];
	const char *const argv[] = {"resource-tracker",
				    "internal",
				    "report",
				    "--recording",
				    l->service.dir,
				    "--format",
				    l->request.format,
				    "--live",
				    seconds,
				    "--output",
				    l->path,
				    record->run.id,
				    NULL};
	int r;

	(void) snprintf(seconds, sizeof(seconds), "%g", l->request.live_s);
	(void) trk__helper_process_cpu_ns(&l->before_ns);
	r = trk__helper_process_start(&l->child, trk__os_own_file(),
				      (char *const *) (uintptr_t) argv, trk__os_environment());
	if (r == 0)
		l->done_fd = l->child.fd;
	return r;
}

uint64_t trk__live_page_used_ns(const struct trk_live_page *l)
{
	uint64_t now_ns;

	(void) trk__helper_process_cpu_ns(&now_ns);
	return now_ns > l->before_ns ? now_ns - l->before_ns : 0;
}
