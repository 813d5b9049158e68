/* Earlier runs: one row each, in SQLite below the state directory, or in the PostgreSQL of a team.
 *
 * The database is built from the recordings: a run writes only its recording, and the first query
 * brings the database up to date. So no run is lost if the database is locked, damaged (it is
 * renamed and built anew) or on a full disk, many trackers may end at once, and the end of a run
 * costs nothing. Rows are kept when `history prune` removes recordings.
 *
 * libsqlite3 and libpq are loaded on first use; the program links neither. */
#ifndef TRK_HISTORY_HISTORY_H
#define TRK_HISTORY_HISTORY_H

#include "base/error.h"
#include "base/json.h"
#include "history/fields.def"
#include "model/past_run.h"
#include "recording/store.h"

enum { TRK_HISTORY_TAGS_SIZE = 512 };

/* A run with the room for its texts. */
struct trk_history_row {
	struct trk_past_run run;
	size_t used;
	char text[4096];
};

/* The row of a recording. */
void trk__history_run_from(const struct trk_record *record, const char *file,
			   struct trk_history_row *ret);

/* Write a run as a JSON object. */
void trk__history_run_json(struct trk_json *j, const struct trk_past_run *run);

/* Tags, each key=value ended by a NUL, as one text for comparison: sorted by bytes, each followed
 * by a newline. A tag that does not fit is left out. */
void trk__history_tags(const char *tags, size_t len, char ret[TRK_HISTORY_TAGS_SIZE]);

/* Earlier runs from a JSON array of objects whose members are named as the columns, figures only;
 * missing members and other types are unknown. A run without a `code` succeeded. Other elements are
 * skipped. Fills ret[0..max) in the order of the text and returns how many; 0 for malformed JSON. */
size_t trk__history_runs_from_json(const char *text, size_t len, struct trk_past_run *ret,
				   size_t max);

struct trk_history; /* opaque */

/* Open the database at `url` ("postgresql://user@host/db"); NULL or "": DIR/history.sqlite, which
 * is created if missing. Runs of DIR/runs that the database lacks are added first: at most
 * `max_new` (0: all), which bounds the time; the history may then be incomplete. Where DIR cannot
 * be written, the SQLite database is in memory; without libsqlite3 each question reads the
 * recordings, at most the newest `max_new`. NULL with *reterr: -TRK_ERR_UNSUPPORTED (no libpq, or
 * another kind of URL), -TRK_ERR_VERSION (made by a newer version), or a
 * negative errno. */
struct trk_history *trk__history_open_at(const char *url, const char *dir, size_t max_new,
					 struct trk_error *reterr);
void trk__history_free(struct trk_history *h);

/* A remark about opening, such as a damaged database that was renamed; "" or a view. */
const char *trk__history_note(const struct trk_history *h);
/* The recordings that were refused when new ones were added; a view. */
const struct trk_store_refused *trk__history_refused(const struct trk_history *h);

/* Called for each run, whose texts are views during the call; return non-zero to stop. */
typedef int trk_history_run_fn(void *data, const struct trk_past_run *run);

/* A job: its name, and its scope or NULL for any. Runs without a scope belong to every scope. */
struct trk_job_key {
	const char *job, *scope;
};

/* The job of a run; a view. */
struct trk_job_key trk__job_key(const struct trk_run *run);

/* The newest `max` runs (0: all) of a job (NULL: of all), newest first; unlisted: also unlisted
 * runs. Returns 0 or a negative error, with *reterr. */
int trk__history_list(struct trk_history *h, const struct trk_job_key *job, size_t max,
		      bool unlisted, trk_history_run_fn *fn, void *data, struct trk_error *reterr);

/* Whether the figures of a listed run will still be there without its recording: the database holds
 * them, and not only this process, as where the database is locked, on a full disk or another
 * user's. */
bool trk__history_keeps(struct trk_history *h, const struct trk_past_run *run);
/* Whether it is the database of a team, and not that of this user. */
bool trk__history_is_of_team(const struct trk_history *h);

/* Delete the row of one run. 0, -TRK_ERR_NORUN or another negative error. */
int trk__history_forget(struct trk_history *h, const char *id, struct trk_error *reterr);

#endif
