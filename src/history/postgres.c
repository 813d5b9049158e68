/* The history of a team in PostgreSQL, by libpq, which is loaded on first use.
 *
 * It has the same table as SQLite, in a separate schema. Opening the history sends the runs of this
 * machine that the server lacks: after a run in the background, and by every verb that reads it. If
 * the server is down the recordings are sent later. */
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dynamic.h"
#include "base/error.h"
#include "base/file.h"
#include "base/maths.h"
#include "base/os.h"
#include "base/parse.h"
#include "base/utf8.h"
#include "history/private.h"
#include "recording/store.h"

/* Declarations for libpq, from the documentation of its C interface. */
enum { CONNECTION_OK = 0, PGRES_COMMAND_OK = 1, PGRES_TUPLES_OK = 2 };
struct pg_conn;
struct pg_result;

/* X(type, name without "PQ", parameters) */
/* clang-format off */
#define CALLS(X) \
	X(struct pg_conn *, connectdbParams, (const char *const *keys, const char *const *values, int expand)) \
	X(int, status, (const struct pg_conn *c)) \
	X(const char *, errorMessage, (const struct pg_conn *c)) \
	X(void, finish, (struct pg_conn *c)) \
	X(int, sendQuery, (struct pg_conn *c, const char *sql)) \
	X(int, sendQueryParams, (struct pg_conn *c, const char *sql, int n, const unsigned int *types, const char *const *values, const int *lengths, const int *formats, int binary)) \
	X(int, socket, (const struct pg_conn *c)) \
	X(int, consumeInput, (struct pg_conn *c)) \
	X(int, isBusy, (struct pg_conn *c)) \
	X(struct pg_result *, getResult, (struct pg_conn *c)) \
	X(int, resultStatus, (const struct pg_result *r)) \
	X(int, ntuples, (const struct pg_result *r)) \
	X(char *, getvalue, (const struct pg_result *r, int row, int column)) \
	X(int, getisnull, (const struct pg_result *r, int row, int column)) \
	X(void, clear, (struct pg_result *r))
/* clang-format on */
#define CALL(type, name, parameters)   type(*name) parameters;
#define SYMBOL(type, name, parameters) {"PQ" #name, &ret->name},

struct trk_libpq {
	void *handle;
	CALLS(CALL)
};

struct postgres_history {
	struct trk_history base;
	struct trk_libpq lib;
	struct pg_conn *conn;
	bool silent; /* a wait timed out: no further queries */
	int runs_fd;
};

enum {
	NUMBER_SIZE = 32,
	PATIENCE_MS = 10000, /* a little more than the server's statement timeout */
};

static int load_library(struct trk_libpq *ret)
{
	const struct trk_symbol wanted[] = {CALLS(SYMBOL)};

	ret->handle = trk__library_load("libpq.so.5", wanted, sizeof(wanted) / sizeof(wanted[0]));
	return ret->handle ? 0 : -TRK_ERR_UNSUPPORTED;
}

static struct postgres_history *of(struct trk_history *h)
{
	return (struct postgres_history *) (void *) h; /* base comes first */
}

/* ---- asking ---- */

/* The message of the server or the library, on one line. */
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

/* The next result, NULL after the last; false if the server does not answer in time. A live
 * server's statement timeout expires first. */
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

/* The result of the last of several statements, or the first failure. */
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

/* Run a statement. NULL with *reterr if it failed. The caller clears the result. */
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

static int run_command(struct postgres_history *h, const char *sql, int n,
		       const char *const *values, struct trk_error *reterr)
{
	struct pg_result *r = ask(h, sql, n, values, reterr);

	if (!r)
		return -EIO;
	h->lib.clear(r);
	return 0;
}

/* ---- rows ---- */

/* The server accepts only valid UTF-8: other bytes become '?'. */
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

static int send_run(struct postgres_history *h, const char *sql, struct trk_history_row *row,
		    struct trk_error *reterr)
{
	char number[TRK_HISTORY_FIELD_COUNT][NUMBER_SIZE];
	const char *values[TRK_HISTORY_FIELD_COUNT];

	for (size_t at = 0; at < row->used; at += strlen(row->text + at) + 1)
		clean(row->text + at);
	for (int i = 0; i < TRK_HISTORY_FIELD_COUNT; i++) {
		const struct trk_history_field *f = &trk__history_fields[i];
		struct trk_history_value v = trk__history_get(row, f);

		values[i] = v.type == TRK_VALUE_NULL ? NULL : number[i];
		if (v.type == TRK_VALUE_TEXT) {
			values[i] = v.text;
		} else if (f->kind == TRK_HISTORY_FLAG) {
			values[i] = v.whole ? "t" : "f";
		} else if (v.type == TRK_VALUE_REAL) {
			(void) snprintf(number[i], NUMBER_SIZE, "%.17g", v.real);
			for (char *c = number[i]; *c; c++)
				*c = *c == ',' ? '.' : *c; /* locale of the host program */
		} else {
			(void) snprintf(number[i], NUMBER_SIZE, "%" PRId64, v.whole);
		}
	}
	return run_command(h, sql, TRK_HISTORY_FIELD_COUNT, values, reterr);
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

	return isnan(value) ? 0 : trk__whole(value, INT64_MIN, INT64_MAX);
}

static void read_run(struct postgres_history *h, const struct pg_result *r, int row,
		     struct trk_history_row *ret)
{
	trk__history_row_clear(ret);
	for (int i = 0; i < TRK_HISTORY_FIELD_COUNT; i++) {
		enum trk_history_kind kind = trk__history_fields[i].kind;
		struct trk_history_value v = {
			.type = h->lib.getisnull(r, row, i) ? TRK_VALUE_NULL : TRK_VALUE_TEXT,
			.text = text_at(h, r, row, i),
			.real = real_at(h, r, row, i),
			.whole = whole_at(h, r, row, i),
		};

		if (kind == TRK_HISTORY_FLAG)
			v.whole = *v.text == 't';
		else if ((kind == TRK_HISTORY_REAL || kind == TRK_HISTORY_MIB) && isnan(v.real))
			v.type = TRK_VALUE_NULL;
		trk__history_set(ret, &trk__history_fields[i], &v);
	}
}

/* ---- sending new runs ---- */

struct sending {
	struct postgres_history *h;
	struct trk_record *record;
	struct trk_error *reterr;
	const struct pg_result *known; /* names of files, ascending */
	int known_count, at;
	size_t left;
	struct trk_buf sql;
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
	struct trk_history_row row;

	if (is_known(s, file) || s->left == 0 ||
	    !trk__history_read(s->h->runs_fd, file, s->record, &row))
		return 0;
	s->left--;
	s->error = send_run(s->h, s->sql.data, &row, s->reterr);
	return s->error;
}

static int insert_sql(struct trk_buf *b)
{
	trk__buf_init(b, 8192);
	trk__history_insert_sql(b, "INSERT INTO resource_tracker.run", '$');
	trk__buf_puts(b, " ON CONFLICT (file) DO UPDATE SET ");
	for (int i = 0; i < TRK_HISTORY_FIELD_COUNT; i++)
		trk__buf_printf(b, "%s%s = EXCLUDED.%s", i ? ", " : "", trk__history_fields[i].name,
				trk__history_fields[i].name);
	return b->error;
}

static int send_new(struct postgres_history *h, size_t max_new, struct trk_error *reterr)
{
	struct sending s = {.h = h,
			    .record = calloc(1, sizeof(*s.record)),
			    .reterr = reterr,
			    .left = max_new ? max_new : SIZE_MAX};
	struct pg_result *known = NULL;
	int r = insert_sql(&s.sql);

	r = s.record ? r : -ENOMEM;
	if (r == 0)
		known = ask(h,
			    "SELECT file FROM resource_tracker.run WHERE ended ORDER BY file "
			    "COLLATE \"C\"",
			    0, NULL, reterr);
	if (known) {
		s.known = known;
		s.known_count = h->lib.ntuples(known);
		r = run_command(h, "BEGIN", 0, NULL, reterr);
		if (r == 0)
			r = trk__store_each(h->runs_fd, send_file, &s, &h->base.refused);
		r = s.error ? s.error : r;
		if (run_command(h, r == 0 ? "COMMIT" : "ROLLBACK", 0, NULL,
				r == 0 ? reterr : NULL) < 0 &&
		    r == 0)
			r = -EIO;
		h->lib.clear(known);
	} else {
		r = r ? r : -EIO;
	}
	trk__buf_release(&s.sql);
	free(s.record);
	return r;
}

/* ---- questions ---- */

#define OF_JOB TRK_HISTORY_OF_JOB("$3", "$4::text")

static int list_runs(struct trk_history *base, const struct trk_job_key *job, size_t max,
		     bool unlisted, trk_history_row_fn *fn, void *data, struct trk_error *reterr)
{
	struct postgres_history *h = of(base);
	char limit[NUMBER_SIZE], name[TRK_RUN_TEXT_SIZE], scope[TRK_RUN_TEXT_SIZE];
	const char *values[4] = {max ? limit : NULL, unlisted ? "t" : "f", job ? name : NULL,
				 job && job->scope ? scope : NULL};
	struct pg_result *r;
	struct trk_history_row row;
	int rows;

	(void) snprintf(limit, sizeof(limit), "%zu", max);
	(void) snprintf(name, sizeof(name), "%s", job ? job->job : "");
	clean(name);
	(void) snprintf(scope, sizeof(scope), "%s", job && job->scope ? job->scope : "");
	clean(scope);
	r = ask(h,
		"SELECT " TRK_HISTORY_COLUMNS
		" FROM resource_tracker.run WHERE ($2::boolean OR kind <> '" TRK_KIND_UNLISTED
		"') AND ($3::text IS NULL OR (" OF_JOB ")) ORDER BY start_s DESC, file DESC LIMIT "
		"$1::bigint",
		4, values, reterr);
	if (!r)
		return -EIO;
	rows = h->lib.ntuples(r);
	for (int i = 0; i < rows; i++) {
		read_run(h, r, i, &row);
		if (fn(data, &row) != 0)
			break;
	}
	h->lib.clear(r);
	return 0;
}

static int forget_run(struct trk_history *base, const char *id, struct trk_error *reterr)
{
	return run_command(of(base), "DELETE FROM resource_tracker.run WHERE id = $1", 1,
			   (const char *const[]){id}, reterr);
}

/* Every listed row comes from the server. */
static bool keeps_run(struct trk_history *base, const struct trk_past_run *run)
{
	return true;
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
	.keeps = keeps_run,
};

static bool can_read(struct postgres_history *h, struct trk_error *reterr)
{
	return run_command(h, "SELECT " TRK_HISTORY_COLUMNS " FROM resource_tracker.run LIMIT 1", 0,
			   NULL, reterr) == 0;
}

/* Steps may run twice: two trackers may find the same version. The lock orders them. */
static int migrate(struct postgres_history *h, int step, struct trk_error *reterr)
{
	TRK_BUF_LOCAL(sql, 16384);
	struct trk_error error = {.code = 0};
	int r;

	trk__buf_puts(&sql, "SET client_min_messages = warning; SET statement_timeout = '8s';"
			    "BEGIN; SELECT pg_advisory_xact_lock(7237423);"
			    "CREATE SCHEMA IF NOT EXISTS resource_tracker;"
			    "SET LOCAL search_path = resource_tracker;");
	for (; step < trk__history_step_count; step++)
		trk__buf_printf(&sql, "%s;", trk__history_steps[step].postgres);
	trk__buf_printf(&sql,
			"INSERT INTO state VALUES ('version', '%d') ON CONFLICT (key) DO UPDATE "
			"SET value = EXCLUDED.value WHERE state.value::int < EXCLUDED.value::int;"
			"COMMIT;",
			trk__history_version);
	if (sql.error < 0)
		return trk__error_set(reterr, sql.error, NULL, "out of memory");
	r = run_command(h, sql.data, 0, NULL, &error);
	/* A role that may only read needs no migration where the columns are there. */
	if (r < 0 && (run_command(h, "ROLLBACK", 0, NULL, NULL) < 0 || !can_read(h, NULL))) {
		if (reterr)
			*reterr = error;
		return r;
	}
	return 0;
}

static int check_version(struct postgres_history *h, struct trk_error *reterr)
{
	struct pg_result *r = ask(
		h, "SELECT value FROM resource_tracker.state WHERE key = 'version'", 0, NULL, NULL);
	int64_t version = r && h->lib.ntuples(r) ? whole_at(h, r, 0, 0) : 0;
	int step = trk__history_next_step(version, NULL, reterr);

	if (r)
		h->lib.clear(r);
	if (step < 0 || step == trk__history_step_count)
		return step < 0 ? step : 0;
	return migrate(h, step, reterr);
}

/* Whether a text that libpq quotes may be part of a password. libpq takes part of a password for a
 * host, a port or a database if characters of it were not escaped. */
static bool may_be_secret(const char *url, const char *text)
{
	const char *host = strstr(url, "://") + 3, *last = strrchr(host, '@');
	const char *from = strchr(host, ':'), *to = last ? last : host + strcspn(host, "/?#");
	const char *query = strstr(url, "password");

	if (strpbrk(text, "@%=") || (from && from < to && from + strcspn(from, "/?#[ \"") < to))
		return true;
	for (const char *at = url; *text && (at = strstr(at, text)); at++)
		if ((from && at >= from && at < to) || (query && at >= query))
			return true;
	return false;
}

/* Replaces what libpq quotes of a password in a message about the URL. */
static void hide_secrets(const char *url, char *message)
{
	for (char *at = message, *end; (at = strchr(at, '"')); at = *end ? end + 1 : end) {
		bool is_quoted;

		end = strchr(url, '"') ? strrchr(at + 1, '"') : strchr(at + 1, '"');
		is_quoted = end != NULL;
		if (!end)
			end = at + strlen(at);
		*end = '\0';
		if (at[1] && may_be_secret(url, at + 1)) {
			at[1] = '*';
			memmove(at + 2, end, 1 + (is_quoted ? strlen(end + 1) + 1 : 0));
			end = at + 2;
		}
		if (is_quoted)
			*end = '"';
	}
}

static int connect_to(struct postgres_history *h, const char *url, struct trk_error *reterr)
{
	static const char *const keys[] = {"connect_timeout", "application_name", "options",
					   "dbname", NULL};
	const char *const values[] = {"3", "resource-tracker", "-c statement_timeout=8000", url,
				      NULL};

	h->conn = h->lib.connectdbParams(keys, values, 1);
	if (!h->conn || h->lib.status(h->conn) != CONNECTION_OK) {
		int r = fail(h, reterr);

		if (reterr)
			hide_secrets(url, reterr->message);
		return r;
	}
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
	h->base.is_of_team = true;
	h->runs_fd = -1;
	if (load_library(&h->lib) < 0) {
		(void) trk__error_set(reterr, -TRK_ERR_UNSUPPORTED, NULL,
				      "PostgreSQL needs libpq.so.5. %s",
				      trk__os_library_advice("Try: apt install libpq5"));
		goto fail;
	}
	if (connect_to(h, url, reterr) < 0)
		goto fail;
	h->runs_fd = trk__store_open(dir, false, NULL);
	if (h->runs_fd >= 0 && send_new(h, max_new, &error) < 0)
		(void) snprintf(h->base.note, sizeof(h->base.note), "not updated: %s",
				error.message);
	/* Without permission to write, reading may still work; not if the server is stuck. */
	if (!h->base.note[0] || (!h->silent && can_read(h, reterr)))
		return &h->base;
	if (h->silent && reterr)
		*reterr = error;
fail:
	free_history(&h->base);
	return NULL;
}
