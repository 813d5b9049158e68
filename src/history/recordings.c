/* The history without a database: the runs of the recordings, which each question reads anew. It
 * serves where libsqlite3 cannot be loaded, as in the static program. Runs whose recordings were
 * deleted are missing. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "base/os.h"
#include "history/private.h"
#include "recording/store.h"

enum { NAME_SIZE = 96 };

struct recordings_history {
	struct trk_history base;
	int runs_fd;
	size_t read_max; /* newest recordings that a question reads; 0: all */
};

struct names {
	char (*name)[NAME_SIZE]; /* owned; oldest first */
	size_t count, cap;
};

static int take_name(void *data, const char *name)
{
	struct names *n = data;

	if (trk__array_reserve(&n->name, &n->cap, n->count + 1, sizeof(*n->name)) < 0)
		return 1;
	(void) snprintf(n->name[n->count++], NAME_SIZE, "%s", name);
	return 0;
}

static bool is_wanted(const struct trk_past_run *run, const struct trk_job_key *job, bool unlisted)
{
	if (!unlisted && !strcmp(run->kind, TRK_KIND_UNLISTED))
		return false;
	return !job || (!strcmp(run->job, job->job) &&
			(!job->scope || !run->has_scope || !strcmp(run->scope, job->scope)));
}

static int list_runs(struct trk_history *base, const struct trk_job_key *job, size_t max,
		     bool unlisted, trk_history_row_fn *fn, void *data, struct trk_error *reterr)
{
	struct recordings_history *h = (struct recordings_history *) (void *) base;
	struct trk_record *record = calloc(1, sizeof(*record));
	struct names names = {.name = NULL};
	size_t given = 0, read = 0;
	struct trk_history_row row;
	int r = record ? 0 : -ENOMEM;

	if (r == 0)
		r = trk__store_each(h->runs_fd, take_name, &names, &base->refused);
	for (size_t i = names.count;
	     r == 0 && i-- > 0 && (!max || given < max) && (!h->read_max || read < h->read_max);
	     read++) {
		if (!trk__history_read(h->runs_fd, names.name[i], record, &row) ||
		    !is_wanted(&row.run, job, unlisted))
			continue;
		given++;
		if (fn(data, &row) != 0)
			break;
	}
	free(names.name);
	free(record);
	return r < 0 ? trk__error_set(reterr, r, NULL, "history: %s", trk__strerror(r)) : 0;
}

/* Nothing is kept but the recording, which the caller deletes. */
static int forget_run(struct trk_history *base, const char *id, struct trk_error *reterr)
{
	return 0;
}

static void free_history(struct trk_history *base)
{
	struct recordings_history *h = (struct recordings_history *) (void *) base;

	trk__close(h->runs_fd);
	free(h);
}

static const struct trk_history_ops ops = {
	.free = free_history,
	.list = list_runs,
	.forget = forget_run,
};

struct trk_history *trk__recordings_open(const char *dir, size_t read_max, struct trk_error *reterr)
{
	struct recordings_history *h = calloc(1, sizeof(*h));

	if (!h) {
		(void) trk__error_set(reterr, -ENOMEM, NULL, "out of memory");
		return NULL;
	}
	h->base.ops = &ops;
	h->read_max = read_max;
	h->runs_fd = trk__store_open(dir, false, reterr);
	if (h->runs_fd < 0) {
		if (h->runs_fd == -ENOENT)
			(void) trk__error_set(reterr, -TRK_ERR_NODATA, dir, "%s: no runs yet", dir);
		free(h);
		return NULL;
	}
	(void) snprintf(h->base.note, sizeof(h->base.note),
			"libsqlite3.so.0 cannot be loaded: runs whose recordings were deleted are "
			"missing. %s",
			trk__os_library_advice("Try: apt install libsqlite3-0"));
	return &h->base;
}
