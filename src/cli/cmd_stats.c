/* resource-tracker stats: statistics of every column of a run, or of a part of it. */
#include <math.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/named_runs.h"
#include "report/summary.h"

enum { TEXT_MAX = 1 << 20 };

struct settings {
	const char *dir, *color;
	uint64_t since_ns, until_ns; /* 0: not stated */
	bool json, plain;
};

/* clang-format off */
static const struct cli_option options[] = {
	{"since", 0, "DUR", "only from this time after the start", cli_set_duration, AT(since_ns)},
	{"until", 0, "DUR", "only up to this time after the start", cli_set_duration, AT(until_ns)},
	{"json", 0, NULL, "print JSON", cli_set_flag, AT(json)},
	{"plain", 0, NULL, "print ASCII", cli_set_flag, AT(plain)},
	{"color", 0, "auto|always|never", "accepted; the text has no colour", cli_set_nothing, 0},
	{"recording", 0, "DIR", "directory of the recordings", cli_set_text, AT(dir)},
	{NULL, 0, NULL, NULL, NULL, 0},
};
/* clang-format on */

/* A part of the run, and the statistics of its rows. */
struct window {
	double from_s, to_s;
	struct trk_stats *stats;
	uint64_t samples;
};

/* A row belongs to the part that contains the middle of its interval. */
static int add_row(void *data, uint64_t rows, const struct trk_sample *mean,
		   const struct trk_sample *min, const struct trk_sample *max)
{
	struct window *w = data;
	double middle =
		trk__sample_get(mean, TRK_ELAPSED) - trk__sample_get(mean, TRK_INTERVAL) / 2;

	if (middle >= w->from_s && middle < w->to_s) {
		trk__stats_add(w->stats, rows, mean, min, max);
		w->samples += rows;
	}
	return 0;
}

static int print(const struct settings *s, const struct trk_run *run, const struct window *w)
{
	struct trk_terminal_style style = cli_style(STDOUT_FILENO, TRK_TERMINAL_MAX);
	TRK_BUF_LOCAL(b, TEXT_MAX);

	style.utf8 &= !s->plain;
	if (s->json)
		trk__stats_json(&b, run, w->stats, w->samples);
	else
		trk__stats_text(&b, w->stats, &style);
	return cli_print(&b);
}

static int load_and_print(const struct settings *s, const char *reference)
{
	static struct trk_record record; /* static: an empty one may be released */
	struct window w = {.from_s = (double) s->since_ns / 1e9,
			   .to_s = s->until_ns ? (double) s->until_ns / 1e9 : (double) INFINITY,
			   .stats = trk__stats_new()};
	bool is_part = s->since_ns || s->until_ns;
	int r = EXIT_ERROR;

	if (w.stats)
		r = cli_load(s->dir, reference, &record, is_part ? add_row : NULL, &w);
	if (r == 0) {
		if (is_part && w.samples == 0) {
			cli_complain("stats: no sample of %s in that part; the run took %.1f s",
				     record.run.id, (double) record.last_elapsed_us / 1e6);
			r = EXIT_NODATA;
		} else {
			struct window whole = {.stats = record.stats, .samples = record.samples};

			r = print(s, &record.run, is_part ? &w : &whole);
		}
	}
	trk__record_release(&record);
	trk__stats_free(w.stats);
	return r;
}

static int run(int argc, char **argv)
{
	struct settings s = {.dir = NULL};
	int at = cli_options(&cli_stats, argc, argv, &s);

	if (s.until_ns && s.until_ns <= s.since_ns)
		return cli_reject(EXIT_USAGE, "stats: --until is not after --since");
	return load_and_print(&s, at < argc ? argv[at] : "@");
}

const struct cli_command cli_stats = {
	.name = "stats",
	.usage = "stats [OPTIONS] [RUN]",
	.summary = "Print statistics per column.",
	.details = CLI_RUN_HELP
	" The report shows the same figures for a part of its charts: #t=12.0,34.5\nin its address "
	"is the same part as --since 12 --until 34.5.",
	.options = options,
	.operands = 1,
	.run = run,
};
