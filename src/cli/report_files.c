#include "cli/report_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/output.h"
#include "cli/catalog_files.h"
#include "cli/past_runs.h"
#include "record/store.h"
#include "report/report.h"

enum {
	PAGE_MAX = 256 << 20,
	PAGE_USUAL = 128 << 10,
	RAW_MAX = 128 << 20,
	EARLIER_MAX = 1 << 20,
	RUNS_MAX = 200
};

static int write_file(const char *via, const char *path, const struct trk_buf *b)
{
	int r;

	if (via)
		(void) unlink(via); /* of a child that was killed while it wrote */
	r = b->error ? b->error
	    : via    ? trk__output_replace_via(via, path, b->data, b->len)
		     : trk__output_replace(path, b->data, b->len);

	if (r == 0)
		return 0;
	cli_complain("%s: cannot write the report: %s", path, trk__strerror(r));
	return r == -EACCES || r == -EPERM ? EXIT_DENIED : EXIT_ERROR;
}

/* ---- gathering ---- */

struct gathered {
	struct trk_record loaded;
	const struct trk_record *record; /* that, or the caller's */
	struct trk_report_rows *rows;
	struct trk_past *runs; /* oldest first */
	size_t count;
	struct cli_catalog catalog;
	bool has_catalog;
	char *raw;
	ssize_t raw_len;
	struct trk_report report;
	struct trk_change change;
};

static int load_rows(const struct cli_report_choice *choice, struct gathered *g)
{
	g->rows = trk__report_rows_new(g->record);
	if (!g->rows) {
		cli_complain("out of memory");
		return EXIT_ERROR;
	}
	return cli_load(choice->dir, choice->reference, NULL, trk__report_rows_take, g->rows);
}

/* The runs of the job up to this one, and what changed since. */
static int load_runs(struct trk_history *h, const char *dir, struct gathered *g)
{
	struct trk_job_key job = trk__job_key(&g->record->run);
	struct cli_past past = {.count = 0};

	if (trk__report_runs(h, g->record, &g->runs, &g->count) < 0) {
		cli_complain("out of memory");
		return EXIT_ERROR;
	}
	if (h && cli_past_load(h, &job, RUNS_MAX, false, &past) == 0) {
		trk__change_from_history(&g->runs[g->count - 1], past.run, past.count, &g->change);
		cli_change_phases(dir, g->record, &past, &g->change);
	}
	cli_past_release(&past);
	return 0;
}

/* The same from a file: who starts us for a job of a workflow knows its runs, and this machine does
 * not. */
static int load_stated_runs(const char *path, struct gathered *g)
{
	char *text = NULL;
	ssize_t len = trk__read_all_at(AT_FDCWD, path, EARLIER_MAX, &text);
	size_t max = 0;

	for (ssize_t i = 0; i < len && max < RUNS_MAX; i++)
		max += text[i] == '{';
	g->runs = calloc(max + 1, sizeof(*g->runs));
	if (!g->runs) {
		free(text);
		cli_complain("out of memory");
		return EXIT_ERROR;
	}
	if (len >= 0)
		g->count = trk__past_from_json(text, (size_t) len, g->runs, max);
	trk__past_from(g->record, "", &g->runs[g->count++]);
	free(text);
	return 0;
}

static int load_raw(const struct cli_report_choice *choice, struct gathered *g)
{
	char text[4096], name[96];
	TRK_FD_CLEANUP int fd = AT_FDCWD;
	const char *path = choice->reference;
	int r = 0;

	if (!cli_is_path(path)) {
		fd = trk__store_open(cli_state_dir(choice->dir, text, sizeof(text)), false, NULL);
		r = fd < 0 ? fd : trk__store_find(fd, path, name, NULL);
		path = name;
	}
	g->raw_len = r < 0 ? r : trk__read_all_at(fd, path, RAW_MAX, &g->raw);
	if (g->raw_len >= 0)
		return 0;
	cli_complain("%s: cannot embed the recording: %s", choice->reference,
		     trk__strerror((int) g->raw_len));
	return EXIT_ERROR;
}

static int make(const struct cli_report_choice *choice, struct trk_history *h, struct gathered *g,
		struct trk_buf *b)
{
	static const struct cli_catalog_choice usual;
	struct trk_report_input in = {.record = g->record, .live_s = choice->live_s};
	int r = load_rows(choice, g);

	if (r == 0 && choice->embed_raw)
		r = load_raw(choice, g);
	if (r != 0)
		return r;
	r = choice->earlier ? load_stated_runs(choice->earlier, g) : load_runs(h, choice->dir, g);
	if (r != 0)
		return r;
	/* Servers are looked for when the figures are final. */
	g->has_catalog = !(in.live_s > 0) && cli_catalog_load(&usual, &g->catalog) == 0;
	in.rows = g->rows;
	in.runs = g->runs;
	in.count = g->count;
	in.change = g->runs ? &g->change : NULL;
	in.catalog = g->has_catalog ? &g->catalog.c : NULL;
	in.raw = g->raw;
	in.raw_len = g->raw ? (size_t) g->raw_len : 0;
	r = trk__report_make(&in, &g->report);
	if (r == 0) {
		r = trk__report_write(b, &g->report, choice->format);
		trk__report_release(&g->report);
	}
	if (r < 0)
		cli_complain("cannot make the report: %s", trk__strerror(r));
	return r < 0 ? EXIT_ERROR : 0;
}

/* A name that does not fit must not become another one. */
static int choose_path(const struct cli_report_choice *choice, const struct gathered *g, char *path,
		       size_t size)
{
	if (!choice->path || !*choice->path) {
		(void) snprintf(path, size, "resource-tracker-%s.%s", g->record->run.id,
				choice->format);
		return 0;
	}
	if (snprintf(path, size, "%s", choice->path) < (int) size)
		return 0;
	cli_complain("%s: cannot write the report: %s", choice->path, trk__strerror(-ENAMETOOLONG));
	return EXIT_ERROR;
}

static int load_make_write(struct cli_report_choice choice, struct trk_history *h,
			   struct gathered *g, char *path, size_t size)
{
	char newest[TRK_RUN_ID_SIZE];
	struct trk_buf b;
	int r;

	/* A name without a sign of a run is a job: its newest run. */
	choice.reference = cli_newest_of(h, choice.reference, "report", newest);
	if (!choice.record) {
		r = cli_load(choice.dir, choice.reference, &g->loaded, NULL, NULL);
		if (r != 0)
			return r;
	}
	g->record = choice.record ? choice.record : &g->loaded;
	r = choose_path(&choice, g, path, size);
	if (r != 0)
		goto release;
	trk__buf_init(&b, PAGE_MAX);
	(void) trk__buf_reserve(&b, PAGE_USUAL);
	r = make(&choice, h, g, &b);
	if (r == 0)
		r = !strcmp(path, "-") ? cli_write(STDOUT_FILENO, &b, "stdout")
				       : write_file(choice.via, path, &b);
	trk__buf_release(&b);
release:
	if (!choice.record)
		trk__record_release(&g->loaded);
	return r;
}

int cli_report_make(const struct cli_report_choice *choice, char *path, size_t size)
{
	struct gathered *g = calloc(1, sizeof(*g));
	struct trk_error error = {.code = 0};
	struct trk_history *h = NULL;
	char text[4096];
	int r;

	if (!g) {
		cli_complain("out of memory");
		return EXIT_ERROR;
	}
	/* A report of one run can be had without a history. */
	if (!choice->earlier && !(choice->live_s > 0))
		h = trk__history_open(cli_state_dir(choice->dir, text, sizeof(text)), &error);
	r = load_make_write(*choice, h, g, path, size);
	trk__history_free(h);
	if (g->has_catalog)
		trk__catalog_release(&g->catalog.c);
	trk__report_rows_free(g->rows);
	free(g->runs);
	free(g->raw);
	free(g);
	return r;
}
