#include "history/history.h"

#include <string.h>

#include "history/private.h"

struct trk_history *trk__history_open(const char *dir, struct trk_error *reterr)
{
	return trk__sqlite_open(dir, 0, reterr);
}

struct trk_history *trk__history_open_some(const char *dir, size_t max_new,
					   struct trk_error *reterr)
{
	return trk__sqlite_open(dir, max_new, reterr);
}

struct trk_history *trk__history_open_at(const char *url, const char *dir, size_t max_new,
					 struct trk_error *reterr)
{
	if (!url || !*url)
		return trk__sqlite_open(dir, max_new, reterr);
	if (!strncmp(url, "postgresql://", 13) || !strncmp(url, "postgres://", 11))
		return trk__postgres_open(url, dir, max_new, reterr);
	(void) trk__error_set(
		reterr, -TRK_E_UNSUPPORTED, NULL,
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

struct trk_job_key trk__job_key(const struct trk_run *run)
{
	return (struct trk_job_key){run->job, run->has_scope ? run->scope : NULL};
}

int trk__history_list(struct trk_history *h, const struct trk_job_key *job, size_t max,
		      bool unlisted, trk_past_fn *fn, void *data, struct trk_error *reterr)
{
	return h->ops->list(h, job, max, unlisted, fn, data, reterr);
}

int trk__history_forget(struct trk_history *h, const char *id, struct trk_error *reterr)
{
	return h->ops->forget(h, id, reterr);
}
