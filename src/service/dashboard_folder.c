#include "service/dashboard_folder.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/trust.h"
#include "fleet/answer.h"
#include "recording/store.h"
#include "service/page.h"

enum { DASHBOARD_MAX = 512 * 1024 * 1024, PATH_SIZE = 4096 };

static int fail(struct trk_error *reterr, const char *path, int error)
{
	return trk__error_set(reterr, error, NULL, "%s: %s", path, trk__strerror(error));
}

struct folder {
	const struct trk_service *service;
	const char *path;
	struct trk_history *history; /* NULL: there is none */
	int runs_fd;
	char (*id)[TRK_RUN_ID_SIZE]; /* owned; of the reports that were written */
	size_t count;
	struct trk_error *reterr;
};

static int put_report(struct folder *f, const char *id)
{
	struct trk_page_request request = {.dirfd = f->runs_fd, .format = "html"};
	struct trk_error error = {.code = 0};
	char name[96], path[PATH_SIZE];
	TRK_BUF_LOCAL(b, TRK_PAGE_MAX);
	int r;

	if (trk__store_find(f->runs_fd, id, name, NULL, NULL) < 0)
		return 0; /* it was removed, or was on another machine */
	if (snprintf(path, sizeof(path), "%s/runs/%s.html", f->path, id) >= PATH_SIZE)
		return fail(f->reterr, f->path, -ENAMETOOLONG);
	request.path = name;
	r = trk__page_make(f->service, f->history, &request, &b, NULL, &error);
	if (r < 0) {
		trk__service_note(f->service, "dashboard: %s: no report: %s", id,
				  trk__error_text(&error, r));
		r = 0;
	} else {
		r = trk__page_save(&b, path, true, NULL);
		if (r < 0)
			(void) fail(f->reterr, path, r);
		else
			(void) snprintf(f->id[f->count++], TRK_RUN_ID_SIZE, "%s", id);
	}
	return r;
}

static int put_reports(struct folder *f, const struct trk_fleet_rows *rows, size_t most)
{
	struct trk_fleet_run_filter newest = {.end = -1, .before_s = NAN, .max = most};
	struct trk_fleet_run_page page;
	int r = trk__fleet_run_page_make(rows, &newest, &page);

	if (r < 0)
		return fail(f->reterr, f->path, r);
	f->id = calloc(page.count + 1, sizeof(*f->id));
	r = f->id ? 0 : fail(f->reterr, f->path, -ENOMEM);
	for (size_t i = 0; r == 0 && i < page.count; i++)
		r = put_report(f, page.run[i]->past.id);
	trk__fleet_run_page_release(&page);
	return r;
}

/* Nothing is made behind a link of another user. */
static int make_folder(const char *path, struct trk_error *reterr)
{
	struct trk_trust_folder at;
	int r = trk__trust_make_named_dir(path, TRK_TRUST_MAKE_LAST, 0755, &at);

	if (r < 0)
		return fail(reterr, path, r);
	trk__close(at.fd);
	return 0;
}

static int make_folders(const char *path, struct trk_error *reterr)
{
	char runs[PATH_SIZE];
	int r;

	if (snprintf(runs, sizeof(runs), "%s/runs", path) >= PATH_SIZE)
		return fail(reterr, path, -ENAMETOOLONG);
	r = make_folder(path, reterr);
	return r < 0 ? r : make_folder(runs, reterr);
}

static int put_index(struct folder *f, struct trk_dashboard *d)
{
	char index[PATH_SIZE];
	TRK_BUF_LOCAL(b, DASHBOARD_MAX);
	int r;

	(void) snprintf(index, sizeof(index), "%.4000s/index.html", f->path);
	d->kind = TRK_DASHBOARD_FOLDER;
	d->reported = (const char(*)[TRK_RUN_ID_SIZE]) f->id;
	d->reported_count = f->count;
	r = trk__dashboard_html(d, &b);
	d->reported = NULL;
	d->reported_count = 0;
	r = r < 0 ? r : trk__page_save(&b, index, true, NULL);
	return r < 0 ? fail(f->reterr, index, r) : 0;
}

int trk__dashboard_folder(const struct trk_service *s, struct trk_dashboard *d, const char *path,
			  size_t reports, size_t *ret_reports, struct trk_error *reterr)
{
	struct folder f = {.service = s, .path = path, .runs_fd = -1, .reterr = reterr};
	int r = make_folders(path, reterr);

	if (r < 0)
		return r;
	f.runs_fd = *s->dir ? trk__store_open(s->dir, false, NULL) : -1;
	(void) trk__runs_history(s, 0, &f.history, NULL);
	if (f.runs_fd >= 0 && reports)
		r = put_reports(&f, d->rows, reports);
	r = r < 0 ? r : put_index(&f, d);
	if (r == 0)
		*ret_reports = f.count;
	trk__history_free(f.history);
	trk__close(f.runs_fd);
	free(f.id);
	return r;
}
