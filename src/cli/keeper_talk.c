#include "cli/keeper_talk.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/clock.h"
#include "catalog/fetch.h"
#include "cli/patient_fetch.h"

enum { ANSWER_MAX = 64 << 20 };

void cli_keeper_talk_init(struct cli_keeper_talk *t, const char *url, unsigned int timeout_s)
{
	*t = (struct cli_keeper_talk){.url = url ? url : TRK_KEEPER_URL, .timeout_s = timeout_s};
	trk__buf_init(&t->text, ANSWER_MAX);
	trk__clock_iso8601(trk__clock_wall_ns(), t->date);
	t->date[10] = '\0';
}

void cli_keeper_talk_release(struct cli_keeper_talk *t)
{
	for (size_t i = 0; i < t->n; i++)
		trk__json_doc_release(&t->answer[i].doc);
	trk__json_doc_release(&t->table);
	trk__buf_release(&t->text);
}

int cli_keeper_get(struct cli_keeper_talk *t, struct trk_json_doc *ret, const char *format, ...)
{
	const struct trk_json_limits limits = {.max_bytes = ANSWER_MAX, .nan_is_null = true};
	char url[2048];
	struct trk_buf body;
	va_list args;
	int r, n;

	n = snprintf(url, sizeof(url), "%.1000s", t->url);
	va_start(args, format);
	(void) vsnprintf(url + n, sizeof(url) - (size_t) n, format, args);
	va_end(args);
	trk__buf_init(&body, ANSWER_MAX);
	r = t->patient ? cli_patient_fetch(url, t->timeout_s, &body, &t->error)
		       : trk__fetch(url, t->timeout_s, &body, &t->error);
	if (r == 0)
		r = trk__json_read(body.data ? body.data : "", body.len, &limits, "the answer", ret,
				   &t->error);
	trk__buf_release(&body);
	return r;
}

/* The Keeper's name of a region, which is a number for some vendors. */
int cli_keeper_region(struct cli_keeper_talk *t, const char *vendor, const char *region, char *name,
		      size_t size)
{
	int r = t->table.count ? 0 : cli_keeper_get(t, &t->table, "/table/region");

	if (r < 0)
		return r;
	if (trk__keeper_region(&t->table, vendor, region, name, size) < 0)
		return trk__error_set(&t->error, -ENOENT, "", "the Keeper has no region %s of %s",
				      region, vendor);
	return 0;
}
