#include "lines/change.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "lines/profile.h"

#define CPU_SHARE 0.05
#define ERRORS    3.0 /* standard errors of sampling */
#define GROWTH    32.0

struct side {
	const struct trk_lines *lines;
	struct trk_profile profile;
};

static const struct trk_lines_function *function_of(const struct side *s, size_t i)
{
	return &s->lines->function[s->lines->node[s->profile.row[i].node].function];
}

static int line_of(const struct side *s, size_t i)
{
	return s->lines->node[s->profile.row[i].node].line;
}

/* The matching row of the other run; NULL: none. */
static const struct trk_profile_row *row_like(const struct side *s, const struct side *other,
					      size_t i)
{
	const struct trk_lines_function *f = function_of(s, i);
	int place = line_of(s, i) - f->first_line;

	for (size_t k = 0; k < other->profile.rows; k++) {
		const struct trk_lines_function *g = function_of(other, k);

		if (line_of(other, k) - g->first_line == place && !strcmp(f->name, g->name) &&
		    !strcmp(f->file, g->file))
			return &other->profile.row[k];
	}
	return NULL;
}

static double cpu_s(const struct trk_profile_row *row)
{
	return row ? (double) row->self.cpu_us / 1e6 : 0;
}

static double growth_mib(const struct trk_profile_row *row)
{
	return row ? (double) (row->self.sure_bytes + row->self.between_bytes) / TRK_MIB : 0;
}

/* The variance of a share of all samples, in seconds of CPU time squared. */
static double variance_of(const struct side *s, const struct trk_profile_row *row)
{
	double all = (double) s->profile.all.cpu_us / 1e6, n = (double) s->profile.all.samples;
	double share = all > 0 ? cpu_s(row) / all : 0;

	if (n < 1)
		return 0;
	/* A line without samples may have run for up to one sample. */
	return all * all * (share * (1 - share) / n + 1 / (n * n));
}

static void copy_end(char to[TRK_LINES_CHANGE_TEXT], const char *text)
{
	size_t len = strlen(text);

	(void) snprintf(to, TRK_LINES_CHANGE_TEXT, "%s",
			len < TRK_LINES_CHANGE_TEXT ? text
						    : text + len - TRK_LINES_CHANGE_TEXT + 1);
}

static void take(struct trk_lines_change_row *list, size_t *count, const struct side *s, size_t i,
		 double before, double now)
{
	size_t at = *count;

	while (at > 0 && fabs(now - before) > fabs(list[at - 1].now - list[at - 1].before)) {
		if (at < TRK_LINES_CHANGES)
			list[at] = list[at - 1];
		at--;
	}
	if (*count < TRK_LINES_CHANGES)
		(*count)++;
	if (at == TRK_LINES_CHANGES)
		return;
	copy_end(list[at].file, function_of(s, i)->file);
	copy_end(list[at].function, function_of(s, i)->name);
	list[at].line = line_of(s, i);
	list[at].before = before;
	list[at].now = now;
}

static void compare_row(struct trk_lines_change *c, const struct side *s, size_t i,
			const struct side *before, const struct trk_profile_row *then,
			const struct side *now, const struct trk_profile_row *here)
{
	double least_s = CPU_SHARE * (double) before->profile.all.cpu_us / 1e6;
	double more_s = cpu_s(here) - cpu_s(then);
	double variance = variance_of(before, then) + variance_of(now, here);

	if (fabs(more_s) >= least_s && more_s * more_s >= ERRORS * ERRORS * variance)
		take(c->cpu, &c->cpus, s, i, cpu_s(then), cpu_s(here));
	if (fabs(growth_mib(here) - growth_mib(then)) >= GROWTH)
		take(c->memory, &c->memories, s, i, growth_mib(then), growth_mib(here));
}

int trk__lines_change_of(const struct trk_lines *before, const struct trk_lines *now,
			 struct trk_lines_change *ret)
{
	const struct trk_profile_options options = {.to_us = INT64_MAX};
	struct side then = {.lines = before}, here = {.lines = now};
	struct trk_lines_change c = {.known = before && now};
	int r = 0;

	if (c.known)
		r = trk__profile_make(before, &options, &then.profile);
	if (c.known && r == 0)
		r = trk__profile_make(now, &options, &here.profile);
	for (size_t i = 0; r == 0 && i < here.profile.rows; i++)
		compare_row(&c, &here, i, &then, row_like(&here, &then, i), &here,
			    &here.profile.row[i]);
	for (size_t i = 0; r == 0 && i < then.profile.rows; i++)
		if (!row_like(&then, &here, i))
			compare_row(&c, &then, i, &then, &then.profile.row[i], &here, NULL);
	trk__profile_release(&then.profile);
	trk__profile_release(&here.profile);
	if (r == 0)
		*ret = c;
	return r;
}

void trk__lines_change_place(const struct trk_lines_change_row *row,
			     char ret[TRK_LINES_CHANGE_PLACE])
{
	const char *slash = strrchr(row->file, '/'), *file = slash ? slash + 1 : row->file;
	const char *end = strchr(row->function, '<') ? "" : "()";

	if (row->line > 0)
		(void) snprintf(ret, TRK_LINES_CHANGE_PLACE, "%s:%d %s%s", file, row->line,
				row->function, end);
	else
		(void) snprintf(ret, TRK_LINES_CHANGE_PLACE, "%s %s%s", file, row->function, end);
}

static void put_rows(struct trk_json *j, const char *key, const struct trk_lines_change_row *row,
		     size_t count, const char *before, const char *now)
{
	trk__json_key_open(j, key, '[');
	for (size_t i = 0; i < count; i++) {
		trk__json_open(j, '{');
		trk__json_key_text(j, "file", row[i].file);
		trk__json_key_double(j, "line", row[i].line > 0 ? row[i].line : (double) NAN);
		trk__json_key_text(j, "function", row[i].function);
		trk__json_key_double(j, before, row[i].before);
		trk__json_key_double(j, now, row[i].now);
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
}

void trk__lines_change_json(struct trk_json *j, const struct trk_lines_change *c)
{
	if (!trk__json_key_object(j, "lines", c->known))
		return;
	put_rows(j, "cpu", c->cpu, c->cpus, "before_s", "now_s");
	put_rows(j, "memory", c->memory, c->memories, "before_mib", "now_mib");
	trk__json_close(j, '}');
}
