/* The history of a team in PostgreSQL, by libpq, which is loaded on first use.
 *
 * The same table as in SQLite, in a schema of its own. Runs of this machine that the server does not
 * know are sent when somebody opens the history: after a run in the background, and by every verb
 * that looks at it. The recordings wait for a server that is down. */
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/json.h"
#include "base/parse.h"
#include "history/postgres_library.h"
#include "history/private.h"
#include "record/reader.h"
#include "record/store.h"

struct postgres_history {
	struct trk_history base;
	struct trk_libpq lib;
	struct pg_conn *conn;
	bool silent; /* it was waited for in vain: it is asked no more */
	int runs_fd;
};

#define NAME(field)        #field ", "
#define COLUMN_LIST        TEXTS(NAME) FIGURES(NAME) "code, signal, samples, ended, scope"
#define TEXT_COLUMN(field) ", " #field " TEXT NOT NULL"
#define REAL_COLUMN(field) ", " #field " DOUBLE PRECISION"
#define UPDATE(field)      #field " = EXCLUDED." #field ", "
#define COUNT_ONE(field)   +1

enum {
	VALUES = 5 TEXTS(COUNT_ONE) FIGURES(COUNT_ONE),
	NUMBER_SIZE = 32,
	PATIENCE_MS = 10000, /* a little more than a statement may take */
	SCHEMA_VERSION = 3,  /* counted as that of SQLite */
};

static const char create_sql[] =
	"SET client_min_messages = warning; SET statement_timeout = '8s';"
	"BEGIN; SELECT pg_advisory_xact_lock(7237423);"
	"CREATE SCHEMA IF NOT EXISTS resource_tracker;"
	"CREATE TABLE IF NOT EXISTS resource_tracker.run (n BIGSERIAL PRIMARY KEY" TEXTS(
		TEXT_COLUMN)
		FIGURES(REAL_COLUMN) ", code INTEGER, signal INTEGER, samples BIGINT, ended "
				     "BOOLEAN, scope TEXT);"
				     "CREATE UNIQUE INDEX IF NOT EXISTS run_file ON "
				     "resource_tracker.run (file);"
				     "CREATE INDEX IF NOT EXISTS run_time ON "
				     "resource_tracker.run (start_s);"
				     "CREATE INDEX IF NOT EXISTS run_job ON "
				     "resource_tracker.run (job, start_s);"
				     "CREATE TABLE IF NOT EXISTS resource_tracker.state (key TEXT "
				     "PRIMARY KEY, value TEXT);"
				     "INSERT INTO resource_tracker.state VALUES ('version', '3') "
				     "ON CONFLICT DO NOTHING; COMMIT;";

static struct postgres_history *of(struct trk_history *h)
{
	return (struct postgres_history *) (void *) h; /* base comes first */
}

/* ---- asking ---- */

/* What the server or the library says, on one line. */
static int fail(struct postgres_history *h, struct trk_error *reterr)
{
	const char *text = h->conn ? h->lib.errorMessage(h->conn) : "out of memory";
	char line[200];
	size_t n = 0;

	for (; *text && n < sizeof(line) - 1; text++)
		line[n++] = (unsigned char) *text < 0x20 ? ' ' : *text;
	while (n > 0 && line[n - 1] == ' ')
		n--;
	line[n] = '\0';
	return trk__error_set(reterr, -EIO, NULL, "history: %s", line);
}

static bool is_good(struct postgres_history *h, const struct pg_result *r)
{
	int status = r ? h->lib.resultStatus(r) : -1;

	return status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK;
}

/* The next result, NULL after the last; false where the server falls silent. The server's own
 * bound for a statement comes first, where it is alive. */
static bool next_result(struct postgres_history *h, struct pg_result **ret)
{
	while (h->lib.isBusy(h->conn)) {
		struct pollfd wait = {.fd = h->lib.socket(h->conn), .events = POLLIN};

		if (poll(&wait, 1, PATIENCE_MS) != 1 || !h->lib.consumeInput(h->conn))
			return false;
	}
	*ret = h->lib.getResult(h->conn);
	return true;
}

/* Of several statements the last result, or the first failure. */
static struct pg_result *await(struct postgres_history *h, bool *ret_silent)
{
	struct pg_result *kept = NULL, *r;

	for (;;) {
		*ret_silent = !next_result(h, &r);
		if (*ret_silent || !r)
			return kept;
		if (!kept || is_good(h, kept)) {
			if (kept)
				h->lib.clear(kept);
			kept = r;
		} else {
			h->lib.clear(r);
		}
	}
}

/* NULL with *reterr where the statement failed. The caller clears. */
static struct pg_result *ask(struct postgres_history *h, const char *sql, int n,
			     const char *const *values, struct trk_error *reterr)
{
	bool silent = false;
	int sent = h->silent ? 0
		   : n       ? h->lib.sendQueryParams(h->conn, sql, n, NULL, values, NULL, NULL, 0)
			     : h->lib.sendQuery(h->conn, sql);
	struct pg_result *r = sent ? await(h, &silent) : NULL;

	h->silent = h->silent || silent;
	if (!silent && is_good(h, r))
		return r;
	if (h->silent)
		(void) trk__error_set(reterr, -ETIMEDOUT, NULL,
				      "history: the server does not answer");
	else
		(void) fail(h, reterr);
	if (r)
		h->lib.clear(r);
	return NULL;
}

static int tell(struct postgres_history *h, const char *sql, int n, const char *const *values,
		struct trk_error *reterr)
{
	struct pg_result *r = ask(h, sql, n, values, reterr);

	if (!r)
		return -EIO;
	h->lib.clear(r);
	return 0;
}

/* ---- rows ---- */

/* The server takes whole UTF-8 alone: other bytes are '?'. */
static void clean(char *text)
{
	size_t len = strlen(text);

	for (size_t i = 0; i < len;) {
		size_t size = trk__utf8_length(text + i, len - i);

		if (size == 0)
			text[i] = '?';
		i += size ? size : 1;
	}
}

struct values {
	const char *of[VALUES];
	char number[VALUES][NUMBER_SIZE];
	int n;
};

static void put_real(struct values *v, double value)
{
	if (isnan(value)) {
		v->of[v->n++] = NULL;
		return;
	}
	(void) snprintf(v->number[v->n], NUMBER_SIZE, "%.17g", value);
	for (char *c = v->number[v->n]; *c; c++)
		if (*c == ',') /* the locale of the host program */
			*c = '.';
	v->of[v->n] = v->number[v->n];
	v->n++;
}

static void put_whole(struct values *v, int64_t value)
{
	(void) snprintf(v->number[v->n], NUMBER_SIZE, "%" PRId64, value);
	v->of[v->n] = v->number[v->n];
	v->n++;
}

static int send_run(struct postgres_history *h, const char *sql, struct trk_past *run,
		    struct trk_error *reterr)
{
	struct values v = {.n = 0};

#define PUT_TEXT(field)                                                                            \
	clean(run->field);                                                                         \
	v.of[v.n++] = run->field;
#define PUT_REAL(field) put_real(&v, run->field);
	TEXTS(PUT_TEXT)
	FIGURES(PUT_REAL)
	put_whole(&v, run->code);
	put_whole(&v, run->signal);
	put_whole(&v, (int64_t) run->samples);
	v.of[v.n++] = run->ended ? "t" : "f";
	clean(run->scope);
	v.of[v.n++] = run->has_scope ? run->scope : NULL;
	return tell(h, sql, VALUES, v.of, reterr);
}

static const char *text_at(struct postgres_history *h, const struct pg_result *r, int row, int at)
{
	return h->lib.getisnull(r, row, at) ? "" : h->lib.getvalue(r, row, at);
}

static double real_at(struct postgres_history *h, const struct pg_result *r, int row, int at)
{
	double value;

	return trk__parse_decimal(text_at(h, r, row, at), &value) == 0 ? value : (double) NAN;
}

static int64_t whole_at(struct postgres_history *h, const struct pg_result *r, int row, int at)
{
	double value = real_at(h, r, row, at);

	return isnan(value) ? 0 : (int64_t) value;
}

static void read_run(struct postgres_history *h, const struct pg_result *r, int row,
		     struct trk_past *ret)
{
	int at = 0;

	memset(ret, 0, sizeof(*ret));
#define READ_TEXT(field)                                                                           \
	(void) snprintf(ret->field, sizeof(ret->field), "%s", text_at(h, r, row, at++));
#define READ_REAL(field) ret->field = real_at(h, r, row, at++);
	TEXTS(READ_TEXT)
	FIGURES(READ_REAL)
	ret->code = (int) whole_at(h, r, row, at++);
	ret->signal = (int) whole_at(h, r, row, at++);
	ret->samples = (uint64_t) whole_at(h, r, row, at++);
	ret->ended = *text_at(h, r, row, at++) == 't';
	ret->has_scope = !h->lib.getisnull(r, row, at);
	(void) snprintf(ret->scope, sizeof(ret->scope), "%s", text_at(h, r, row, at));
}

/* ---- sending what is new ---- */

struct sending {
	struct postgres_history *h;
	struct trk_record *record;
	struct trk_error *reterr;
	const struct pg_result *known; /* names of files, ascending */
	int known_count, at;
	size_t left;
	char sql[2048];
	int error;
};

/* Both lists are ascending. */
static bool is_known(struct sending *s, const char *file)
{
	while (s->at < s->known_count && strcmp(s->h->lib.getvalue(s->known, s->at, 0), file) < 0)
		s->at++;
	return s->at < s->known_count && !strcmp(s->h->lib.getvalue(s->known, s->at, 0), file);
}

static int send_file(void *data, const char *file)
{
	struct sending *s = data;
	struct trk_past run;

	if (is_known(s, file) || s->left == 0 ||
	    trk__record_read(s->h->runs_fd, file, s->record, NULL, NULL, NULL) < 0)
		return 0; /* a damaged recording is no run */
	s->left--;
	trk__past_from(s->record, file, &run);
	run.ended = !s->record->writing;
	trk__record_release(s->record);
	s->error = send_run(s->h, s->sql, &run, s->reterr);
	return s->error;
}

static void insert_sql(char *sql, size_t size)
{
	size_t n = (size_t) snprintf(
		sql, size, "INSERT INTO resource_tracker.run (" COLUMN_LIST ") VALUES ($1");

	for (int i = 2; i <= VALUES; i++)
		n += (size_t) snprintf(sql + n, size - n, ",$%d", i);
	(void) snprintf(
		sql + n, size - n,
		") ON CONFLICT (file) DO UPDATE SET " FIGURES(
			UPDATE) "verdict = EXCLUDED.verdict, code = EXCLUDED.code, signal = "
				"EXCLUDED.signal, samples = EXCLUDED.samples, ended = "
				"EXCLUDED.ended");
}

static int send_new(struct postgres_history *h, size_t max_new, struct trk_error *reterr)
{
	struct sending s = {.h = h,
			    .record = calloc(1, sizeof(*s.record)),
			    .reterr = reterr,
			    .left = max_new ? max_new : SIZE_MAX};
	struct pg_result *known = NULL;
	int r = s.record ? 0 : -ENOMEM;

	insert_sql(s.sql, sizeof(s.sql));
	if (r == 0)
		known = ask(h,
			    "SELECT file FROM resource_tracker.run WHERE ended ORDER BY file "
			    "COLLATE \"C\"",
			    0, NULL, reterr);
	if (known) {
		s.known = known;
		s.known_count = h->lib.ntuples(known);
		r = tell(h, "BEGIN", 0, NULL, reterr);
		if (r == 0)
			r = trk__store_each(h->runs_fd, send_file, &s);
		r = s.error ? s.error : r;
		if (tell(h, r == 0 ? "COMMIT" : "ROLLBACK", 0, NULL, r == 0 ? reterr : NULL) < 0 &&
		    r == 0)
			r = -EIO;
		h->lib.clear(known);
	} else {
		r = r ? r : -EIO;
	}
	free(s.record);
	return r;
}

/* ---- questions ---- */

static int list_runs(struct trk_history *base, const struct trk_job_key *job, size_t max,
		     bool unlisted, trk_past_fn *fn, void *data, struct trk_error *reterr)
{
	struct postgres_history *h = of(base);
	char limit[NUMBER_SIZE], name[TRK_RUN_TEXT_SIZE], scope[TRK_RUN_TEXT_SIZE];
	const char *values[4] = {max ? limit : NULL, unlisted ? "t" : "f", job ? name : NULL,
				 job && job->scope ? scope : NULL};
	struct pg_result *r;
	struct trk_past run;
	int rows;

	(void) snprintf(limit, sizeof(limit), "%zu", max);
	(void) snprintf(name, sizeof(name), "%s", job ? job->job : "");
	clean(name);
	(void) snprintf(scope, sizeof(scope), "%s", job && job->scope ? job->scope : "");
	clean(scope);
	r = ask(h,
		"SELECT " COLUMN_LIST
		" FROM resource_tracker.run WHERE ($2::boolean OR kind <> '" TRK_KIND_UNLISTED
		"') AND ($3::text IS NULL OR job = $3) AND ($4::text IS NULL OR scope IS NULL OR "
		"scope = $4) ORDER BY start_s DESC, file DESC LIMIT "
		"$1::bigint",
		4, values, reterr);
	if (!r)
		return -EIO;
	rows = h->lib.ntuples(r);
	for (int i = 0; i < rows; i++) {
		read_run(h, r, i, &run);
		if (fn(data, &run) != 0)
			break;
	}
	h->lib.clear(r);
	return 0;
}

static int forget_run(struct trk_history *base, const char *id, struct trk_error *reterr)
{
	return tell(of(base), "DELETE FROM resource_tracker.run WHERE id = $1", 1,
		    (const char *const[]){id}, reterr);
}

/* ---- life ---- */

static void free_history(struct trk_history *base)
{
	struct postgres_history *h = of(base);

	if (h->conn)
		h->lib.finish(h->conn);
	trk__close(h->runs_fd);
	if (h->lib.handle)
		(void) dlclose(h->lib.handle);
	free(h);
}

static const struct trk_history_ops ops = {
	.free = free_history,
	.list = list_runs,
	.forget = forget_run,
};

/* Who may only read makes no table, and needs none to be made. */
static int check_version(struct postgres_history *h, struct trk_error *reterr)
{
	static const char question[] =
		"SELECT value, EXISTS (SELECT FROM pg_attribute WHERE attrelid = "
		"'resource_tracker.run'::regclass AND attname = 'scope') FROM "
		"resource_tracker.state WHERE key = 'version'";
	struct pg_result *r = ask(h, question, 0, NULL, NULL);
	int64_t version;
	bool has_scope;

	if (!r) {
		if (tell(h, create_sql, 0, NULL, reterr) < 0)
			return -EIO;
		r = ask(h, question, 0, NULL, reterr);
		if (!r)
			return -EIO;
	}
	version = h->lib.ntuples(r) ? whole_at(h, r, 0, 0) : SCHEMA_VERSION;
	has_scope = !h->lib.ntuples(r) || *text_at(h, r, 0, 1) == 't';
	h->lib.clear(r);
	if (version > SCHEMA_VERSION)
		return trk__error_set(reterr, -TRK_E_VERSION, NULL,
				      "history: made by a newer version of resource-tracker");
	/* Older trackers go on beside it: they leave the column empty. */
	return has_scope ? 0
			 : tell(h,
				"ALTER TABLE resource_tracker.run ADD COLUMN IF NOT EXISTS scope "
				"TEXT",
				0, NULL, reterr);
}

static bool can_read(struct postgres_history *h, struct trk_error *reterr)
{
	return tell(h, "SELECT 1 FROM resource_tracker.run LIMIT 1", 0, NULL, reterr) == 0;
}

static int connect_to(struct postgres_history *h, const char *url, struct trk_error *reterr)
{
	static const char *const keys[] = {"connect_timeout", "application_name", "options",
					   "dbname", NULL};
	const char *const values[] = {"3", "resource-tracker", "-c statement_timeout=8000", url,
				      NULL};

	h->conn = h->lib.connectdbParams(keys, values, 1);
	if (!h->conn || h->lib.status(h->conn) != CONNECTION_OK)
		return fail(h, reterr);
	return check_version(h, reterr);
}

struct trk_history *trk__postgres_open(const char *url, const char *dir, size_t max_new,
				       struct trk_error *reterr)
{
	struct postgres_history *h = calloc(1, sizeof(*h));
	struct trk_error error = {.code = 0};

	if (!h) {
		(void) trk__error_set(reterr, -ENOMEM, NULL, "out of memory");
		return NULL;
	}
	h->base.ops = &ops;
	h->runs_fd = -1;
	if (trk__libpq_load(&h->lib) < 0) {
		(void) trk__error_set(reterr, -TRK_E_UNSUPPORTED, NULL,
				      "history in PostgreSQL needs libpq.so.5. Try: apt install "
				      "libpq5");
		goto fail;
	}
	if (connect_to(h, url, reterr) < 0)
		goto fail;
	h->runs_fd = trk__store_open(dir, false, NULL);
	if (h->runs_fd >= 0 && send_new(h, max_new, &error) < 0)
		(void) snprintf(h->base.note, sizeof(h->base.note), "not brought up to date: %s",
				error.message);
	/* Who may not write can still read; of a server that is stuck nothing is to be had. */
	if (!h->base.note[0] || (!h->silent && can_read(h, reterr)))
		return &h->base;
	if (h->silent && reterr)
		*reterr = error;
fail:
	free_history(&h->base);
	return NULL;
}
