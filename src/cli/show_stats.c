/* resource-tracker show --stats: statistics of every column of a run, or of a part of it. */
#include <math.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/show.h"
#include "report/summary.h"

enum { TEXT_MAX = 1 << 20 };

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

static int print(const struct cli_show_settings *s, const struct trk_run *run,
		 const struct window *w)
{
	struct trk_terminal_style style = cli_style(STDOUT_FILENO, TRK_TERMINAL_MAX);
	TRK_BUF_LOCAL(b, TEXT_MAX);

	style.utf8 = cli_use_utf8(s->color);
	if (s->json)
		trk__stats_json(&b, run, w->stats, w->samples);
	else
		trk__stats_text(&b, w->stats, &style);
	return cli_print(&b);
}

int cli_show_stats(const struct cli_show_settings *s, const char *reference)
{
	static struct trk_record record; /* static: an empty one may be released */
	struct window w = {.from_s = (double) s->since_ns / 1e9,
			   .to_s = s->until_ns ? (double) s->until_ns / 1e9 : (double) INFINITY,
			   .stats = trk__stats_new()};
	bool is_part = s->since_ns || s->until_ns;
	int r = EXIT_ERROR;

	if (s->until_ns && s->until_ns <= s->since_ns)
		r = cli_reject(EXIT_USAGE, "show: --until is not after --since");
	else if (w.stats)
		r = cli_load(s->dir, reference, &record, is_part ? add_row : NULL, &w);
	if (r == 0) {
		if (is_part && w.samples == 0) {
			cli_complain("show: no sample of %s in that part; the run took %.1f s",
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
