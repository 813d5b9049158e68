/* resource-tracker export: the samples of a run. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/gzip.h"
#include "base/output.h"
#include "cli/cli.h"
#include "cli/progress.h"
#include "lines/native.h"
#include "export/snapshot.h"
#include "report/gpu_summary.h"
#include "export/table.h"

enum { FLUSH_AT = 60 * 1024, TEXT_MAX = 128 * 1024 };

struct settings {
	const char *dir, *columns, *table, *format, *output;
	enum trk_table what;
};

static const struct cli_option options[] = {
	{"columns", 0, "full|0.5|0.4|0.4-system",
	 "set of columns; 0.4 is its table of the process (full)", cli_set_word, AT(columns)},
	{"format", 'f', "csv|tsv|jsonl|snapshot",
	 "csv; snapshot: JSON of the Python package (0.5, 0.4)", cli_set_text, AT(format)},
	{"what", 0, "samples|gpus|programs|processes|lines",
	 "one line per sample; GPU and sample; program and sample; process; line of the job's "
	 "Python programs and period (samples)",
	 cli_set_choice, AT(what)},
	{"output", 'o', "FILE", "write to this file instead of stdout; FILE.gz is compressed",
	 cli_set_text, AT(output)},
	{"recording", 0, "DIR", "directory of the recordings", cli_set_text, AT(dir)},
	CLI_MORE_OPTIONS,
	{"table", 0, "process|system", "system: same as --columns 0.4-system, with 0.4",
	 cli_set_word, AT(table)},
	{"gpus", 0, NULL, "same as --what gpus", cli_set_same, 0},
	{NULL, 0, NULL, NULL, NULL, 0},
};

struct writing {
	enum trk_column_set set;
	const struct trk_line_format *format; /* NULL: a snapshot */
	bool processes;                       /* which table of the snapshot */
	struct trk_snapshot shot;
	struct trk_table_lead lead;
	struct trk_gzip *gzip;
	struct trk_buf buf;
	int fd, status;
	const char *where;
	enum trk_table what;
	const struct trk_record *record;
	uint64_t rows; /* rows of its GPUs or programs that were written */
	struct cli_progress progress;
	uint64_t bytes; /* written, before compression */
};

static int flush(struct writing *w)
{
	if (!w->gzip) {
		w->status = cli_write(w->fd, &w->buf, w->where);
	} else if (w->buf.error || trk__gzip_write(w->gzip, w->buf.data, w->buf.len) < 0) {
		cli_progress_end(&w->progress);
		cli_complain("%s: cannot write", w->where);
		w->status = EXIT_ERROR;
	}
	w->bytes += w->buf.len;
	trk__buf_clear(&w->buf);
	if (w->status == 0)
		cli_progress_show(&w->progress, w->bytes, 0);
	return w->status;
}

static void add_row(struct writing *w, const struct trk_sample *row)
{
	if (!w->format)
		trk__snapshot_row(&w->buf, &w->shot, w->processes, row);
	else
		trk__table_row(&w->buf, w->set, row, w->format);
}

/* Write the GPUs or the programs of a row. */
static void add_others(struct writing *w, const struct trk_sample *row)
{
	const struct trk_record *r = w->record;

	if (w->what == TRK_TABLE_GPUS) {
		if (r->gpus.rows != w->rows)
			trk__gpu_table_rows(&w->buf, &r->gpus, row, w->format);
		w->rows = r->gpus.rows;
	} else if (w->what == TRK_TABLE_PROGRAMS && r->programs.program) {
		trk__program_table_rows(&w->buf, &r->programs, row, r->programs.rows != w->rows,
					w->format);
		w->rows = r->programs.rows;
	}
}

static int write_processes(struct writing *w)
{
	const struct trk_program_log *log = &w->record->programs;

	for (size_t i = 0; i < log->spans; i++) {
		trk__process_table_row(&w->buf, log, i, w->format);
		if (w->buf.len > FLUSH_AT && flush(w) != 0)
			return w->status;
	}
	return 0;
}

/* Write the lines that ran in each window of time. */
static int write_lines(struct writing *w)
{
	const struct trk_lines *l = w->record->lines;

	for (size_t i = 0; l && i < l->windows; i++)
		for (size_t k = 0; k < l->window[i].count; k++) {
			trk__line_table_row(&w->buf, l, &l->window[i],
					    &l->kept[l->window[i].first + k], w->format);
			if (w->buf.len > FLUSH_AT && flush(w) != 0)
				return w->status;
		}
	return 0;
}

static int write_row(void *data, uint64_t rows, const struct trk_sample *mean,
		     const struct trk_sample *min, const struct trk_sample *max)
{
	struct writing *w = data;
	struct trk_sample row = *mean;

	if (w->what != TRK_TABLE_SAMPLES && w->format) {
		add_others(w, mean);
		return w->buf.len > FLUSH_AT ? flush(w) : 0;
	}
	if (w->format && w->set == TRK_SET_05 && !trk__table_begin(&w->lead, TRK_SET_05, &row))
		return 0;
	if (w->format && !trk__table_has_row(w->set, &row))
		return 0;
	add_row(w, &row);
	return w->buf.len > FLUSH_AT ? flush(w) : 0;
}

/* The format of this name, or of files of this extension; NULL: none. */
static const struct trk_line_format *find_format(const char *name)
{
	for (size_t i = 0; i < TRK_LINE_FORMATS; i++)
		if (!strcmp(trk__line_formats[i].name, name) ||
		    cli_is_word_of(trk__line_formats[i].extensions, name))
			return &trk__line_formats[i];
	return NULL;
}

/* The names of all formats, or the extensions of their files. */
static void list_formats(char text[128], bool extensions)
{
	size_t at = 0;

	for (size_t i = 0; i < TRK_LINE_FORMATS && at < 128; i++)
		at += (size_t) snprintf(text + at, 128 - at, "%s%s", i ? " " : "",
					extensions ? trk__line_formats[i].extensions
						   : trk__line_formats[i].name);
}

/* Without --format the file's extension determines the format. */
static int name_format(struct settings *s)
{
	const char *extension = s->output ? cli_extension(s->output) : "";
	const struct trk_line_format *named = find_format(extension);
	char known[128];

	list_formats(known, true);
	if (s->output && cli_is_foreign_format("export", s->output, known))
		return EXIT_USAGE;
	if (!s->format && !strcmp(extension, "json"))
		return cli_reject(EXIT_USAGE,
				  "export: %s: the format is ambiguous. Try: --format snapshot, or "
				  "--format jsonl",
				  s->output);
	if (!s->format)
		s->format = named ? named->name : trk__line_formats[TRK_LINE_CSV].name;
	if (named && named->has_head && find_format(s->format) != named)
		return cli_reject(EXIT_USAGE, "export: %s is not the name of a file of --format %s",
				  s->output, s->format);
	return 0;
}

static int choose_what(const struct settings *s, struct writing *w)
{
	int what = (int) s->what;

	if (!w->format && what >= TRK_TABLE_PROGRAMS)
		return cli_reject(EXIT_USAGE,
				  "export: a snapshot contains no %s. Try: --format csv or jsonl",
				  what == TRK_TABLE_PROGRAMS    ? "programs"
				  : what == TRK_TABLE_PROCESSES ? "processes"
								: "lines");
	w->what = !w->format ? TRK_TABLE_SAMPLES : (enum trk_table) what;
	return 0;
}

static int choose(const struct settings *s, struct writing *w)
{
	bool system = !strcmp(s->table, "system") || !strcmp(s->columns, "0.4-system"),
	     snapshot = !strcmp(s->format, "snapshot");
	char formats[128];

	if (!strcmp(s->columns, "full") && snapshot)
		return cli_reject(EXIT_USAGE, "export: a snapshot has --columns 0.5 or 0.4");
	if (!strcmp(s->columns, "full"))
		w->set = TRK_SET_FULL;
	else if (!strcmp(s->columns, "0.5"))
		w->set = TRK_SET_05;
	else
		w->set = system ? TRK_SET_04_SYSTEM : TRK_SET_04_PROCESS;
	w->shot.is_04 = !strncmp(s->columns, "0.4", 3);
	w->format = snapshot ? NULL : find_format(s->format);
	if (!snapshot && !w->format) {
		list_formats(formats, false);
		return cli_reject(EXIT_USAGE, "export: --format %s: not one of: %s snapshot",
				  s->format, formats);
	}
	return choose_what(s, w);
}

/* Print which columns are sums that lack a GPU. */
static void print_sums(const struct writing *w)
{
	char text[512];

	for (size_t i = 0; trk__gpu_sum_text(&w->record->gpus, i, text, sizeof(text)); i++)
		cli_complain("export: %s", text);
}

/* After the rows of the samples: those of another table, or why it has none. */
static void write_others(struct writing *w, struct trk_record *record)
{
	bool has_lines = record->lines && record->lines->windows > 0;

	switch (w->what) {
	case TRK_TABLE_LINES:
		if (!has_lines)
			cli_complain("export: the recording has no lines: the run used hardly any "
				     "CPU time, or ran with --lines off");
		(void) trk__lines_look_up(&record->lines, (double) record->run.start_ns / 1e9);
		(void) write_lines(w);
		break;
	case TRK_TABLE_PROGRAMS:
	case TRK_TABLE_PROCESSES:
		if (!record->programs.program)
			cli_complain("export: the recording has no programs: an older version made "
				     "it, or it tracked no process");
		if (w->what == TRK_TABLE_PROCESSES)
			(void) write_processes(w);
		break;
	case TRK_TABLE_SAMPLES:
		if (!w->processes)
			print_sums(w);
		break;
	default:
		break;
	}
}

/* Pass the rows of a run to write_row. 0, or an exit status after a complaint. */
static int each_row(const struct settings *s, const char *reference, struct writing *w,
		    struct trk_record *record)
{
	int r = cli_load(s->dir, reference, record, write_row, w);

	if (r != 0)
		return r;
	write_others(w, record);
	trk__record_release(record);
	return w->status;
}

static int write_table(const struct settings *s, const char *reference, struct writing *w,
		       struct trk_record *record)
{
	int r;

	if (w->what == TRK_TABLE_SAMPLES)
		trk__table_head(&w->buf, w->set, w->format);
	else
		trk__other_table_head(&w->buf, w->what, w->format);
	r = each_row(s, reference, w, record);
	if (r == 0 && trk__table_only_row(&w->lead))
		add_row(w, trk__table_only_row(&w->lead));
	return r ? r : flush(w);
}

/* The recording is read three times: for the head, the process rows and the system rows. */
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
		reference = id; /* "@" may name another run by now */
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
	if (w->fd < 0)
		return cli_reject(EXIT_ERROR, "%s: cannot open for writing: %s", s->output,
				  trk__strerror(w->fd));
	if (len < 4 || strcmp(s->output + len - 3, ".gz") != 0)
		return 0;
	w->gzip = trk__gzip_open(w->fd, 1, &r);
	if (w->gzip)
		return 0;
	return cli_reject(EXIT_ERROR, "%s: cannot compress: %s", s->output,
			  r == -TRK_ERR_UNSUPPORTED ? "libz.so.1 is missing" : trk__strerror(r));
}

static int close_output(const struct settings *s, struct writing *w, int r)
{
	if (w->gzip && trk__gzip_close(w->gzip) < 0 && r == 0)
		r = cli_reject(EXIT_ERROR, "%s: cannot write", w->where);
	if (s->output)
		trk__close(w->fd);
	return r;
}

static int run(int argc, char **argv)
{
	static struct trk_record record;
	struct settings s = {.columns = NULL, .table = "process"};
	struct writing w = {.fd = STDOUT_FILENO, .where = "stdout", .record = &record};
	int at = cli_options(&cli_export, argc, argv, &s), r;

	r = name_format(&s);
	if (r != 0)
		return r;
	if (!s.columns)
		s.columns = !strcmp(s.format, "snapshot") ? "0.5" : "full";
	r = choose(&s, &w);
	if (r != 0)
		return r;
	r = s.output ? open_output(&s, &w) : 0;
	trk__buf_init(&w.buf, TEXT_MAX);
	cli_progress_begin(&w.progress, w.where);
	w.progress.wanted &= !isatty(w.fd); /* no progress line between rows on the terminal */
	if (r == 0)
		r = (!w.format ? write_snapshot : write_table)(&s, at < argc ? argv[at] : "@", &w,
							       &record);
	cli_progress_end(&w.progress);
	r = close_output(&s, &w, r);
	trk__buf_release(&w.buf);
	return r;
}

const struct cli_command cli_export = {
	.name = "export",
	.usage = "export [OPTIONS] [RUN]",
	.summary = "Write the samples, programs or processes of a run to a file.",
	.details = "An unknown value is an empty cell or null. In a very long run, an old row "
		   "covers several "
		   "samples: it has\ntheir means, or their sums for amounts.",
	.example = "resource-tracker export --what programs --output run.csv @",
	.options = options,
	.operands = 1,
	.run = run,
};
