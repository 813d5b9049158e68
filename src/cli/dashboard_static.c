#include "cli/dashboard_static.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/output_names.h"
#include "fleet/runs.h"
#include "service/page.h"

enum { PAGE_MAX = 512 * 1024 * 1024, PATH_SIZE = 4096 };

static int fail(const char *path, int error)
{
	cli_complain("dashboard: %s: %s", path, trk__strerror(error));
	return error == -EACCES || error == -EPERM ? EXIT_DENIED : EXIT_ERROR;
}

static int put_file(const char *path, const struct trk_buf *b)
{
	int r;

	if (!strcmp(path, "-"))
		return cli_write(STDOUT_FILENO, b, "stdout");
	r = trk__page_save(b, path, true, NULL);
	return r < 0 ? fail(path, r) : 0;
}

static int put_page(const struct trk_dashboard *d, const char *path)
{
	struct trk_buf b;
	int r;

	trk__buf_init(&b, PAGE_MAX);
	r = trk__dashboard_html(d, &b);
	r = r < 0 ? fail(path, r) : put_file(path, &b);
	trk__buf_release(&b);
	return r;
}

/* ---- a folder ---- */

struct folder {
	const struct trk_service *service;
	const char *path;
	struct trk_history *history; /* NULL: there is none */
	int runs_fd;
	char (*id)[TRK_RUN_ID_SIZE]; /* owned; of the reports that were written */
	size_t count;
};

static int put_report(struct folder *f, const char *id)
{
	struct trk_page_request request = {.dirfd = f->runs_fd, .format = "html"};
	struct trk_error error = {.code = 0};
	char name[96], path[PATH_SIZE];
	struct trk_buf b;
	int r;

	if (trk__store_find(f->runs_fd, id, name, NULL, NULL) < 0)
		return 0; /* it was removed, or was on another machine */
	if (snprintf(path, sizeof(path), "%s/runs/%s.html", f->path, id) >= PATH_SIZE)
		return fail(f->path, -ENAMETOOLONG);
	request.path = name;
	trk__buf_init(&b, TRK_PAGE_MAX);
	r = trk__page_make(f->service, f->history, &request, &b, NULL, &error);
	if (r < 0) {
		cli_complain("dashboard: %s: no report: %s", id,
			     error.message[0] ? error.message : trk__strerror(r));
		r = 0;
	} else {
		r = put_file(path, &b);
		if (r == 0)
			(void) snprintf(f->id[f->count++], TRK_RUN_ID_SIZE, "%s", id);
	}
	trk__buf_release(&b);
	return r;
}

static int put_reports(struct folder *f, const struct trk_fleet_rows *rows, size_t most)
{
	struct trk_fleet_run_filter newest = {.end = -1, .before_s = NAN, .max = most};
	struct trk_fleet_run_page page;
	int r = trk__fleet_run_page_make(rows, &newest, &page);

	if (r < 0)
		return fail(f->path, r);
	f->id = calloc(page.count + 1, sizeof(*f->id));
	r = f->id ? 0 : fail(f->path, -ENOMEM);
	for (size_t i = 0; r == 0 && i < page.count; i++)
		r = put_report(f, page.run[i]->id);
	trk__fleet_run_page_release(&page);
	return r;
}

static int make_folder(const char *path)
{
	char runs[PATH_SIZE];

	if (snprintf(runs, sizeof(runs), "%s/runs", path) >= PATH_SIZE)
		return fail(path, -ENAMETOOLONG);
	if ((mkdir(path, 0755) < 0 && errno != EEXIST) ||
	    (mkdir(runs, 0755) < 0 && errno != EEXIST))
		return fail(path, -errno);
	return 0;
}

static int put_folder(struct trk_dashboard *d, const struct trk_service *service, const char *path,
		      size_t reports)
{
	struct folder f = {.service = service, .path = path, .runs_fd = -1};
	char index[PATH_SIZE];
	int r = make_folder(path);

	if (r != 0)
		return r;
	(void) snprintf(index, sizeof(index), "%.4000s/index.html", path);
	f.runs_fd = *service->dir ? trk__store_open(service->dir, false, NULL) : -1;
	(void) trk__runs_history(service, 0, &f.history, NULL);
	if (f.runs_fd >= 0 && reports)
		r = put_reports(&f, d->rows, reports);
	if (r == 0) {
		d->kind = TRK_DASHBOARD_FOLDER;
		d->reported = (const char(*)[TRK_RUN_ID_SIZE]) f.id;
		d->reported_count = f.count;
		r = put_page(d, index);
		d->reported = NULL;
		d->reported_count = 0;
	}
	if (r == 0)
		cli_complain("wrote %s and %zu report%s", index, f.count, f.count == 1 ? "" : "s");
	trk__history_free(f.history);
	trk__close(f.runs_fd);
	free(f.id);
	return r;
}

int cli_dashboard_write(struct trk_dashboard *d, const struct trk_service *service,
			const char *path, size_t reports)
{
	const char *extension = cli_extension(path);

	if (!strcmp(path, "-") || !strcmp(extension, "html") || !strcmp(extension, "htm")) {
		d->kind = TRK_DASHBOARD_FILE;
		return put_page(d, path);
	}
	return put_folder(d, service, path, reports);
}
