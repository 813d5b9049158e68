/* resource-tracker export: the samples of a run. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/gzip.h"
#include "base/output.h"
#include "cli/cli.h"
#include "sink/snapshot.h"
#include "sink/gpu_table.h"
#include "sink/table.h"

enum { FLUSH_AT = 60 * 1024, TEXT_MAX = 128 * 1024 };

struct settings {
	const char *dir, *columns, *table, *format, *output;
	bool gpus;
};

#define AT(field) offsetof(struct settings, field)

static const struct cli_option options[] = {
	{"columns", 0, "full|0.5|0.4", "which columns (full)", cli_set_text, AT(columns)},
	{"table", 0, "process|system", "of the 0.4 set (process)", cli_set_text, AT(table)},
	{"format", 'f', "csv|jsonl|snapshot",
	 "csv; snapshot: JSON of the Python package (0.5, 0.4)", cli_set_text, AT(format)},
	{"gpus", 0, NULL, "a line a GPU and sample instead: its own series", cli_set_flag,
	 AT(gpus)},
	{"output", 'o', "FILE", "write there instead of stdout; FILE.gz is compressed",
	 cli_set_text, AT(output)},
	{"recording", 0, "DIR", "where recordings lie", cli_set_text, AT(dir)},
	{NULL, 0, NULL, NULL, NULL, 0},
};

struct writing {
	enum trk_column_set set;
	bool json, snapshot;
	bool processes; /* which table of the snapshot */
	struct trk_snapshot shot;
	struct trk_gzip *gzip;
	struct trk_buf buf;
	int fd, status;
	const char *where;
	bool gpus;
	const struct trk_record *record; /* as read so far */
	uint64_t gpu_rows;               /* of it that were written */
};

static int flush(struct writing *w)
{
	if (!w->gzip) {
		w->status = cli_write(w->fd, &w->buf, w->where);
	} else if (w->buf.error || trk__gzip_write(w->gzip, w->buf.data, w->buf.len) < 0) {
		cli_complain("%s: cannot write", w->where);
		w->status = EXIT_ERROR;
	}
	trk__buf_clear(&w->buf);
	return w->status;
}

static int write_row(void *data, uint64_t rows, const struct trk_sample *mean,
		     const struct trk_sample *min, const struct trk_sample *max)
{
	struct writing *w = data;

	(void) rows;
	(void) min;
	(void) max;
	if (w->gpus) {
		if (w->record->gpus.rows != w->gpu_rows)
			trk__gpu_table_rows(&w->buf, &w->record->gpus, mean, w->json);
		w->gpu_rows = w->record->gpus.rows;
		return w->buf.len > FLUSH_AT ? flush(w) : 0;
	}
	if (!w->snapshot && !trk__table_has_row(w->set, mean))
		return 0;
	if (w->snapshot)
		trk__snapshot_row(&w->buf, &w->shot, w->processes, mean);
	else if (w->json)
		trk__table_json_row(&w->buf, w->set, mean);
	else
		trk__table_csv_row(&w->buf, w->set, mean);
	return w->buf.len > FLUSH_AT ? flush(w) : 0;
}

static int bad_choice(const char *option, const char *value, const char *choices)
{
	cli_complain("export: --%s %s: not one of: %s", option, value, choices);
	return EXIT_USAGE;
}

static int choose(const struct settings *s, struct writing *w)
{
	bool system = !strcmp(s->table, "system");

	if (!system && strcmp(s->table, "process") != 0)
		return bad_choice("table", s->table, "process system");
	if (!strcmp(s->columns, "full") && strcmp(s->format, "snapshot") != 0)
		w->set = TRK_SET_FULL;
	else if (!strcmp(s->columns, "0.5"))
		w->set = TRK_SET_05;
	else if (!strcmp(s->columns, "0.4"))
		w->set = system ? TRK_SET_04_SYSTEM : TRK_SET_04_PROCESS;
	else
		return bad_choice("columns", s->columns, "full 0.5 0.4");
	w->snapshot = !strcmp(s->format, "snapshot");
	w->shot.is_04 = !strcmp(s->columns, "0.4");
	w->json = w->snapshot || !strcmp(s->format, "jsonl") || !strcmp(s->format, "json");
	if (!w->json && strcmp(s->format, "csv") != 0)
		return bad_choice("format", s->format, "csv jsonl snapshot");
	return 0;
}

/* The rows of a run, through write_row. 0, or an exit status after having complained. */
static int each_row(const struct settings *s, const char *reference, struct writing *w,
		    struct trk_record *record)
{
	int r = cli_load(s->dir, reference, record, write_row, w);

	if (r == 0)
		trk__record_release(record);
	return r ? r : w->status;
}

static int write_table(const struct settings *s, const char *reference, struct writing *w,
		       struct trk_record *record)
{
	int r;

	if (w->gpus && !w->json)
		trk__gpu_table_head(&w->buf);
	else if (!w->json)
		trk__table_csv_head(&w->buf, w->set);
	r = each_row(s, reference, w, record);
	return r ? r : flush(w);
}

/* Head, process rows, system rows: the recording is gone through three times. */
static int write_snapshot(const struct settings *s, const char *reference, struct writing *w,
			  struct trk_record *record)
{
	char id[TRK_RUN_ID_SIZE];
	int r = cli_load(s->dir, reference, record, NULL, NULL);

	if (r != 0)
		return r;
	trk__snapshot_head(&w->buf, &w->shot, record);
	(void) snprintf(id, sizeof(id), "%s", record->run.id);
	trk__record_release(record);
	if (access(reference, F_OK) != 0 && !strchr(reference, '/'))
		reference = id; /* "@" may be another one by now */
	w->processes = true;
	r = each_row(s, reference, w, record);
	trk__snapshot_middle(&w->buf, &w->shot);
	w->processes = false;
	if (r == 0)
		r = each_row(s, reference, w, record);
	trk__snapshot_end(&w->buf);
	return r ? r : flush(w);
}

static int open_output(const struct settings *s, struct writing *w)
{
	size_t len = strlen(s->output);
	int r;

	w->where = s->output;
	w->fd = trk__output_open(s->output);
	if (w->fd < 0) {
		cli_complain("%s: cannot open for writing: %s", s->output, trk__strerror(w->fd));
		return EXIT_ERROR;
	}
	if (len < 4 || strcmp(s->output + len - 3, ".gz") != 0)
		return 0;
	w->gzip = trk__gzip_open(w->fd, 1, &r);
	if (w->gzip)
		return 0;
	cli_complain("%s: cannot compress: %s", s->output,
		     r == -TRK_E_UNSUPPORTED ? "libz.so.1 is not there" : trk__strerror(r));
	return EXIT_ERROR;
}

static int close_output(const struct settings *s, struct writing *w, int r)
{
	if (w->gzip && trk__gzip_close(w->gzip) < 0 && r == 0) {
		cli_complain("%s: cannot write", w->where);
		r = EXIT_ERROR;
	}
	if (s->output)
		trk__close(w->fd);
	return r;
}

static int run(int argc, char **argv)
{
	struct settings s = {.columns = NULL, .table = "process", .format = "csv"};
	struct writing w = {.fd = STDOUT_FILENO, .where = "stdout"};
	struct trk_record *record;
	int at = cli_options(&cli_export, argc, argv, &s), r;

	if (at < 0)
		return at == CLI_HELP_GIVEN ? EXIT_OK : -at;
	if (at + 1 < argc) {
		cli_complain("export: one run at a time. Try: resource-tracker export --help");
		return EXIT_USAGE;
	}
	if (!s.columns)
		s.columns = !strcmp(s.format, "snapshot") ? "0.5" : "full";
	r = choose(&s, &w);
	if (r != 0)
		return r;
	record = calloc(1, sizeof(*record));
	if (!record)
		return EXIT_ERROR;
	r = s.output ? open_output(&s, &w) : 0;
	w.gpus = s.gpus && !w.snapshot;
	w.record = record;
	trk__buf_init(&w.buf, TEXT_MAX);
	if (r == 0)
		r = (w.snapshot ? write_snapshot : write_table)(&s, at < argc ? argv[at] : "@", &w,
								record);
	r = close_output(&s, &w, r);
	trk__buf_release(&w.buf);
	free(record);
	return r;
}

const struct cli_command cli_export = {
	.name = "export",
	.usage = "export [OPTIONS] [RUN]",
	.summary = "Write the samples of a run as CSV, JSON Lines or a snapshot of the Python "
		   "package.",
	.details =
		"An unknown value is an empty cell or null. Old rows of a very long run stand for "
		"several\nsamples: means, and sums for amounts.",
	.options = options,
	.run = run,
};
