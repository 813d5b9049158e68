#include "cli/report_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/named_runs.h"

enum { PAGE_USUAL = 128 << 10 };

/* Write the report. A file name that is too long is an error, not truncated. */
static int save(const struct trk_buf *b, const char *id, const char *format, const char *to,
		const char *via, char *path, size_t size)
{
	bool is_named = to && *to;
	int n = is_named ? snprintf(path, size, "%s", to)
			 : snprintf(path, size, "resource-tracker-%s.%s", id, format);
	int r;

	if (!strcmp(path, "-"))
		return cli_print(b);
	r = n < (int) size ? trk__page_save(b, path, is_named, via) : -ENAMETOOLONG;
	if (r == 0)
		return 0;
	cli_complain("%s: cannot write the report: %s", n < (int) size ? path : to,
		     trk__strerror(r));
	return r == -EACCES || r == -EPERM ? EXIT_DENIED : EXIT_ERROR;
}

int cli_report_file(const char *dir, const char *reference, const struct trk_page_request *request,
		    const char *to, const char *via, char *path, size_t size)
{
	struct trk_service s = cli_service(dir), quiet = s;
	struct trk_page_request q = *request;
	struct trk_error error = {.code = 0};
	char newest[TRK_RUN_ID_SIZE], id[TRK_RUN_ID_SIZE];
	struct trk_history *h = NULL;
	struct cli_run_file run;
	TRK_BUF_LOCAL(b, TRK_PAGE_MAX);
	int r;

	quiet.note = NULL; /* the report of one run needs no history */
	if (!q.earlier)
		(void) trk__runs_history(&quiet, 0, &h, NULL);
	/* A plain name is a job: use its newest run. */
	r = cli_run_find(dir, cli_newest_of(h, reference, "report", newest), &run);
	if (r == 0) {
		q.dirfd = run.dirfd;
		q.path = run.path;
		(void) trk__buf_reserve(&b, PAGE_USUAL);
		r = trk__page_make(&s, h, &q, &b, id, &error);
		r = r < 0 ? cli_fail("report", r, &error)
			  : save(&b, id, q.format, to, via, path, size);
		cli_run_close(&run);
	}
	trk__history_free(h);
	return r;
}
