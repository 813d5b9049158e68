/* Logs of the R package autometric:
 * __AUTOMETRIC__|version|pid|name|status|time|core|cpu|rss|vms|phase|__AUTOMETRIC__ with core in
 * percent of one core and rss in bytes. Each process becomes a run named after it; phases become
 * marks. Lines of several processes are interleaved, and may follow other text of a log. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/parse.h"
#include "import/series.h"

static const char sign[] = "__AUTOMETRIC__|";

enum { PID, NAME, TIME, CORE, RSS, PHASE, FIELDS };

struct line {
	char *field[FIELDS];
	double time_s;
	size_t order; /* position in the file */
};

/* Split a line in place. */
static bool take_line(char *at, struct line *ret)
{
	static const int places[FIELDS] = {
		[PID] = 1, [NAME] = 2, [TIME] = 4, [CORE] = 5, [RSS] = 7, [PHASE] = 9};
	char *cells[11];
	size_t n = 0;

	for (char *s = at; n < 11; n++) {
		cells[n] = s;
		s = strchr(s, '|');
		if (!s)
			break;
		*s++ = '\0';
	}
	if (n < 10)
		return false;
	for (int i = 0; i < FIELDS; i++)
		ret->field[i] = cells[places[i]];
	return trk__parse_decimal(ret->field[TIME], &ret->time_s) == 0;
}

/* Sort by process, then by position in the file. */
static int by_process(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	int r = strcmp(x->field[PID], y->field[PID]);

	if (r == 0)
		r = strcmp(x->field[NAME], y->field[NAME]);
	return r ? r : (x->order > y->order) - (x->order < y->order);
}

static int add_line(struct trk_series *s, const struct line *l, const char **phase)
{
	struct trk_sample row = {.known = 0};
	double core = NAN, rss = NAN;
	int r;

	(void) trk__parse_decimal(l->field[CORE], &core);
	(void) trk__parse_decimal(l->field[RSS], &rss);
	if (core >= 0)
		trk__imp_set(&row, TRK_PROCESS_CPU_USAGE, core / 100);
	if (rss >= 0)
		trk__imp_set(&row, TRK_PROCESS_RSS, rss / TRK_MIB);
	r = trk__series_add(s, &row, l->time_s);
	if (r == 0 && s->begun && strcmp(*phase, l->field[PHASE]) != 0) {
		*phase = l->field[PHASE];
		if (**phase && strcmp(*phase, "__DEFAULT__") != 0)
			r = trk__imp_mark(s->i, l->time_s - s->start_s, *phase);
	}
	return r;
}

static int one_process(struct trk_importing *i, const struct line *lines, size_t count)
{
	struct trk_series s;
	const char *phase = "", *name = lines[0].field[NAME];
	uint64_t pid;
	int r = 0;

	trk__imp_clear(i, name);
	if (trk__parse_u64(lines[0].field[PID], &pid) == 0 && pid > 0 && pid <= INT32_MAX)
		i->run.pid = (int32_t) pid;
	trk__series_init(&s, i, NAN);
	s.t.peak_is = "largest resident set of one process";
	for (size_t k = 0; k < count && r == 0; k++)
		r = add_line(&s, &lines[k], &phase);
	if (r < 0)
		return trk__imp_failed(i, r);
	return trk__series_end(&s);
}

int trk__imp_autometric(struct trk_importing *i, char *text, size_t len)
{
	struct line *lines = NULL;
	size_t n = 0, cap = 0;
	int r = 0;

	for (char *at = strstr(text, sign), *next; at; at = next) {
		at += sizeof(sign) - 1;
		next = strstr(at, "\n");
		if (next)
			*next++ = '\0';
		if (trk__array_reserve(&lines, &cap, n + 1, sizeof(*lines)) < 0) {
			free(lines);
			return trk__error_set(i->reterr, -ENOMEM, NULL, "out of memory");
		}
		lines[n].order = n;
		if (take_line(at, &lines[n]))
			n++;
		else
			i->result->skipped++;
		next = next ? strstr(next, sign) : NULL;
	}
	if (n)
		qsort(lines, n, sizeof(*lines), by_process);
	for (size_t from = 0, to; from < n && r == 0; from = to) {
		for (to = from + 1; to < n &&
				    !strcmp(lines[to].field[PID], lines[from].field[PID]) &&
				    !strcmp(lines[to].field[NAME], lines[from].field[NAME]);)
			to++;
		r = one_process(i, &lines[from], to - from);
	}
	free(lines);
	return r;
}
