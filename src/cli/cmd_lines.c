/* resource-tracker lines: which lines of a run's programs used CPU time and memory. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/parse.h"
#include "cli/cli.h"
#include "lines/write.h"
#include "service/lines.h"

enum { OUTPUT_MAX = 256 * 1024 * 1024, TOP_DEFAULT = 15 };

enum format { TEXT, JSON, FOLDED, SPEEDSCOPE };

struct settings {
	const char *dir, *phase, *color;
	enum trk_lines_by by;
	enum trk_lines_order order;
	enum format format;
	uint64_t since_ns, until_ns; /* until 0: the end */
	uint64_t top;
	bool all_frames;
};

/* clang-format off */
static const struct cli_option options[] = {
	{"by", 0, "line|function|file|thread|process|phase", "what a row is (line)", cli_set_choice, AT(by)},
	{"sort", 0, "cpu|wall|memory", "by CPU time, wall time with waiting, or growth of memory (cpu)", cli_set_choice, AT(order)},
	{"number", 'n', "N", "number of rows of a table; 0: all (15)", cli_set_count, AT(top)},
	{"all-frames", 0, NULL, "count libraries separately, not for the line that called them", cli_set_flag, AT(all_frames)},
	{"since", 0, "DUR", "only from this time after the start", cli_set_duration, AT(since_ns)},
	{"until", 0, "DUR", "only up to this time after the start", cli_set_duration, AT(until_ns)},
	{"phase", 0, "NAME", "only from the mark of this name to the next one", cli_set_text, AT(phase)},
	{"format", 'f', "text|json|folded|speedscope", "format of the output; folded is for flame graphs (text)", cli_set_choice, AT(format)},
	{"json", 0, NULL, "same as --format json", cli_set_same, 0},
	{"color", 0, CLI_COLORS, "plain: print ASCII; the text has no colour (auto)", cli_set_word, AT(color)},
	{"recording", 0, "DIR", "directory of the recordings", cli_set_text, AT(dir)},
	CLI_MORE_OPTIONS,
	{"cpu", 0, NULL, "same as --sort cpu", cli_set_same, 0},
	{"wall", 0, NULL, "same as --sort wall", cli_set_same, 0},
	{"memory", 0, NULL, "same as --sort memory", cli_set_same, 0},
	{"top", 0, "N", "same as --number", cli_set_same, 0},
	{"plain", 0, NULL, "same as --color plain", cli_set_same, 0},
	{NULL, 0, NULL, NULL, NULL, 0},
};
/* clang-format on */

/* ---- output ---- */

static int write_table(const struct settings *s, const struct trk_run_lines *l,
		       const struct trk_profile_options *o, struct trk_buf *b)
{
	const struct trk_run_lines_style style = {.top = s->top ? s->top : UINT64_MAX,
						  .json = s->format == JSON,
						  .source = true,
						  .utf8 = cli_use_utf8(s->color)};

	if (trk__run_lines_write(l, o, &style, b) == 0)
		return 0;
	return cli_reject(EXIT_ERROR, "lines: %s", trk__strerror(ENOMEM));
}

static int print(const struct settings *s, const struct trk_run_lines *l, struct trk_buf *b)
{
	const struct trk_run *run = &l->record->run;
	struct trk_profile_options o = {.by = s->by,
					.order = s->order,
					.all_frames = s->all_frames,
					.from_us = (int64_t) (s->since_ns / 1000),
					.to_us = s->until_ns ? (int64_t) (s->until_ns / 1000)
							     : INT64_MAX};

	if (s->phase && trk__run_lines_phase(l->record, s->phase, &o) < 0)
		return cli_reject(EXIT_NODATA,
				  "lines: --phase %s: the run has no mark of this name", s->phase);
	switch (s->format) {
	case FOLDED:
		trk__lines_folded(b, l->lines, &o);
		return 0;
	case SPEEDSCOPE:
		trk__lines_speedscope(b, l->lines, &o, *run->job ? run->job : run->id);
		return 0;
	default:
		return write_table(s, l, &o, b);
	}
}

/* Report why there are no lines. */
static int nothing(const struct trk_record *r)
{
	if (!strcmp(r->run.kind, "import"))
		return cli_reject(EXIT_NODATA,
				  "lines: %s: no stacks: another tool recorded the run", r->run.id);
	if (!strcmp(r->run.kind, "system"))
		return cli_reject(
			EXIT_NODATA,
			"lines: %s: no stacks: the run tracked the whole machine, not a job",
			r->run.id);
	cli_complain(r->lines ? "lines: %s: no process of the run was read as Python"
			      : "lines: %s: no stacks. The run had --lines off, or ran no Python "
				"and used hardly any CPU time or was interrupted too often",
		     r->run.id);
	if (r->lines)
		cli_complain("native code: %s", trk__native_why_text(r->lines->native.why));
	for (size_t i = 0; r->lines && i < r->lines->processes; i++)
		if (r->lines->process[i].why > TRK_STACK_NOT_PYTHON)
			cli_complain("%s (%d): %s", trk__lines_process_name(&r->lines->process[i]),
				     (int) r->lines->process[i].pid,
				     trk__stack_why_text(r->lines->process[i].why));
	return EXIT_NODATA;
}

/* Print the lines of a record. Returns an exit status. */
static int show(const struct settings *s, const struct trk_record *record)
{
	struct trk_run_lines lines;
	TRK_BUF_LOCAL(b, OUTPUT_MAX);
	int status;

	if (!record->lines || record->lines->totals == 0)
		return nothing(record);
	if (trk__run_lines_read(record, &lines) < 0)
		return cli_reject(EXIT_ERROR, "lines: %s", trk__strerror(ENOMEM));
	status = print(s, &lines, &b);
	if (status == 0)
		status = cli_write(STDOUT_FILENO, &b, "stdout");
	trk__run_lines_release(&lines);
	return status;
}

static int run(int argc, char **argv)
{
	static struct trk_record record; /* static: an empty one may be released */
	struct settings s = {.top = TOP_DEFAULT};
	int at = cli_options(&cli_lines, argc, argv, &s);
	int status = cli_load(s.dir, at < argc ? argv[at] : "@", &record, NULL, NULL);

	if (status == 0)
		status = show(&s, &record);
	trk__record_release(&record);
	return status;
}

const struct cli_command cli_lines = {
	.name = "lines",
	.usage = "lines [OPTIONS] [RUN]",
	.summary = "Print the CPU time and memory of each line of the run's programs.",
	.example = "resource-tracker lines --by function @",
	.options = options,
	.operands = 1,
	.run = run,
};
