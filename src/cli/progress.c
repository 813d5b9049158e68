#include "cli/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/utf8.h"
#include "cli/cli.h"

#define FIRST_NS TRK_NS_PER_S          /* shorter work shows nothing */
#define EVERY_NS (200 * TRK_NS_PER_MS) /* faster changes could not be read */

enum { LINE_MAX = 200, FIGURES_MAX = 40, WIDTH_UNKNOWN = 80 };

void cli_progress_begin(struct cli_progress *p, const char *what)
{
	const char *term = getenv("TERM");

	*p = (struct cli_progress){
		.what = what,
		.start_ns = trk__clock_monotonic_ns(),
		.wanted = isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0,
	};
}

static void write_line(const struct cli_progress *p, uint64_t done, uint64_t total)
{
	char line[LINE_MAX], figures[FIGURES_MAX];
	size_t room = cli_width(STDERR_FILENO, WIDTH_UNKNOWN), len = strlen(p->what);
	int n;

	if (total)
		(void) snprintf(figures, sizeof(figures), "%3.0f %% of %.1f MB",
				100 * (double) done / (double) total, (double) total / 1e6);
	else
		(void) snprintf(figures, sizeof(figures), "%.1f MB", (double) done / 1e6);
	/* The end of the name identifies it better than its start. A line that wraps could not be
	 * cleared. */
	room = room < LINE_MAX - 8 ? room : LINE_MAX - 8;
	room = room > strlen(figures) + 3 ? room - strlen(figures) - 3 : 0;
	n = snprintf(line, sizeof(line), "\r%s  %s\033[K", p->what + (len > room ? len - room : 0),
		     figures);
	if (n > 4)
		trk__utf8_clean(line + 1, (size_t) n - 4, "");
	if (n > 0)
		(void) trk__write_all(STDERR_FILENO, line, (size_t) n);
}

void cli_progress_show(void *progress, uint64_t done, uint64_t total)
{
	struct cli_progress *p = progress;
	uint64_t now;

	if (!p->wanted)
		return;
	now = trk__clock_monotonic_ns();
	if (now - p->start_ns < FIRST_NS || now - p->shown_ns < EVERY_NS)
		return;
	p->shown_ns = now;
	p->shown = true;
	write_line(p, done, total);
}

void cli_progress_end(struct cli_progress *p)
{
	if (p->shown)
		(void) trk__write_all(STDERR_FILENO, "\r\033[K", 4);
	p->shown = false;
}
