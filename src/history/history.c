#include "history/history.h"

#include <math.h>
#include <string.h>

#include "base/utf8.h"
#include "history/private.h"
#include "recording/store.h"

struct trk_history *trk__history_open_at(const char *url, const char *dir, size_t max_new,
					 struct trk_error *reterr)
{
	if (!url || !*url)
		return trk__sqlite_open(dir, max_new, reterr);
	if (!strncmp(url, "postgresql://", 13) || !strncmp(url, "postgres://", 11))
		return trk__postgres_open(url, dir, max_new, reterr);
	(void) trk__error_set(
		reterr, -TRK_ERR_UNSUPPORTED, NULL,
		"history: not a URL of PostgreSQL. Try: postgresql://USER@HOST/DATABASE");
	return NULL;
}

void trk__history_free(struct trk_history *h)
{
	if (h)
		h->ops->free(h);
}

const char *trk__history_note(const struct trk_history *h)
{
	return h->note;
}

const struct trk_store_refused *trk__history_refused(const struct trk_history *h)
{
	return &h->refused;
}

struct trk_job_key trk__job_key(const struct trk_run *run)
{
	return (struct trk_job_key){run->job, run->has_scope ? run->scope : NULL};
}

/* ---- checking rows of a database ---- */

struct cleaning {
	trk_history_run_fn *fn;
	void *data;
};

/* Characters that no id has become '?': see trk__run_is_id(). */
static void make_id(char *id)
{
	for (size_t i = 0; id[i]; i++)
		if (!trk__run_is_id((char[]){id[i], '\0'}) && (i == 0 || id[i] != '-'))
			id[i] = '?';
}

static void clean_text(struct trk_history_row *row, const char *text)
{
	if (*text)
		trk__utf8_clean(row->text + (text - row->text), strlen(text), "");
}

/* Clean a row: a file name that is not that of a recording becomes empty, control and invisible
 * characters become '?', and impossible figures become unknown. */
static int clean_run(void *data, struct trk_history_row *row)
{
	const struct cleaning *c = data;
	struct trk_past_run *run = &row->run;

	if (!trk__store_is_name(run->file))
		run->file = "";
	make_id(run->id);
	clean_text(row, run->kind);
	clean_text(row, run->end_name);
	for (int i = 0; i < TRK_HISTORY_FIELD_COUNT; i++) {
		const struct trk_history_field *f = &trk__history_fields[i];
		double *figure = (double *) (void *) ((char *) run + f->offset);

		if ((f->kind == TRK_HISTORY_REAL || f->kind == TRK_HISTORY_MIB) &&
		    (!isfinite(*figure) || *figure < 0))
			*figure = NAN;
	}
	run->end = trk__past_run_end(run);
	return c->fn(c->data, run);
}

int trk__history_list(struct trk_history *h, const struct trk_job_key *job, size_t max,
		      bool unlisted, trk_history_run_fn *fn, void *data, struct trk_error *reterr)
{
	struct cleaning c = {fn, data};

	return h->ops->list(h, job, max, unlisted, clean_run, &c, reterr);
}

bool trk__history_keeps(struct trk_history *h, const struct trk_past_run *run)
{
	return h->ops->keeps && h->ops->keeps(h, run);
}

bool trk__history_is_of_team(const struct trk_history *h)
{
	return h->is_of_team;
}

int trk__history_forget(struct trk_history *h, const char *id, struct trk_error *reterr)
{
	return h->ops->forget(h, id, reterr);
}
