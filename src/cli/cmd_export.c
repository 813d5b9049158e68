/* resource-tracker export: the samples of a run. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/cli.h"
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
	{"format", 'f', "csv|jsonl", "csv", cli_set_text, AT(format)},
	{"gpus", 0, NULL, "a line a GPU and sample instead: its own series", cli_set_flag,
	 AT(gpus)},
	{"output", 'o', "FILE", "write there instead of stdout", cli_set_text, AT(output)},
	{"recording", 0, "DIR", "where recordings lie", cli_set_text, AT(dir)},
	{NULL, 0, NULL, NULL, NULL, 0},
};

struct writing {
	enum trk_column_set set;
	bool json;
	struct trk_buf buf;
	int fd, status;
	const char *where;
	bool gpus;
	const struct trk_record *record; /* as read so far */
	uint64_t gpu_rows;               /* of it that were written */
};

static int flush(struct writing *w)
{
	w->status = cli_write(w->fd, &w->buf, w->where);
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
	if (!trk__table_has_row(w->set, mean))
		return 0;
	if (w->json)
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
	if (!strcmp(s->columns, "full"))
		w->set = TRK_SET_FULL;
	else if (!strcmp(s->columns, "0.5"))
		w->set = TRK_SET_05;
	else if (!strcmp(s->columns, "0.4"))
		w->set = system ? TRK_SET_04_SYSTEM : TRK_SET_04_PROCESS;
	else
		return bad_choice("columns", s->columns, "full 0.5 0.4");
	w->json = !strcmp(s->format, "jsonl") || !strcmp(s->format, "json");
	if (!w->json && strcmp(s->format, "csv") != 0)
		return bad_choice("format", s->format, "csv jsonl");
	return 0;
}

static int run(int argc, char **argv)
{
	struct settings s = {.columns = "full", .table = "process", .format = "csv"};
	struct writing w = {.fd = STDOUT_FILENO, .where = "stdout"};
	int (*on_row)(void *, uint64_t, const struct trk_sample *, const struct trk_sample *,
		      const struct trk_sample *) = write_row;
	struct trk_record *record;
	void *hook = NULL;
	int at = cli_options(&cli_export, argc, argv, &s), r;

	if (at < 0)
		return at == CLI_HELP_GIVEN ? EXIT_OK : -at;
	if (at + 1 < argc) {
		cli_complain("export: one run at a time. Try: resource-tracker export --help");
		return EXIT_USAGE;
	}
	r = choose(&s, &w);
	if (r != 0)
		return r;
	record = calloc(1, sizeof(*record));
	if (!record)
		return EXIT_ERROR;
	if (s.output) {
		w.where = s.output;
		w.fd = open(s.output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
		if (w.fd < 0) {
			cli_complain("%s: cannot open for writing: %s", s.output,
				     trk__strerror(errno));
			free(record);
			return EXIT_ERROR;
		}
	}
	w.gpus = s.gpus;
	w.record = record;
	trk__buf_init(&w.buf, TEXT_MAX);
	if (s.gpus && !w.json)
		trk__gpu_table_head(&w.buf);
	else if (!w.json)
		trk__table_csv_head(&w.buf, w.set);
	memcpy(&hook, &on_row, sizeof(hook));
	r = cli_load(s.dir, at < argc ? argv[at] : "@", record, hook, &w);
	if (r == 0) {
		r = w.status ? w.status : flush(&w);
		trk__record_release(record);
	}
	trk__buf_release(&w.buf);
	if (s.output)
		trk__close(w.fd);
	free(record);
	return r;
}

const struct cli_command cli_export = {
	.name = "export",
	.usage = "export [OPTIONS] [RUN]",
	.summary = "Write the samples of a run as CSV or JSON Lines.",
	.details =
		"An unknown value is an empty cell or null. Old rows of a very long run stand for "
		"several\nsamples: means, and sums for amounts.",
	.options = options,
	.run = run,
};
