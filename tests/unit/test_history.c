/* A history database to which another program has written. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "history/sqlite.h"
#include "rows.h"

#define NAME "0000000001000-r-aa000001.rtrk"

struct database {
	struct folder folder;
	struct trk_sqlite_history *h;
};

static void database_init(struct database *d)
{
	struct trk_error error = {.code = 0};

	folder_init(&d->folder);
	assert_int_equal(fchmod(d->folder.fd, 0700), 0);
	d->h = (struct trk_sqlite_history *) (void *) trk__history_open_at(NULL, d->folder.path, 0,
									   &error);
	if (!d->h)
		fail_msg("%s", error.message);
	assert_string_equal(trk__history_note(&d->h->base), "");
}

static void database_release(struct database *d)
{
	trk__history_free(&d->h->base);
	assert_int_equal(unlinkat(d->folder.fd, "history.sqlite", 0), 0);
	folder_release(&d->folder);
}

static void execute(struct database *d, const char *sql)
{
	struct trk_error error = {.code = 0};

	if (trk__sqlite_execute(d->h, sql, &error) < 0)
		fail_msg("%s: %s", sql, error.message);
}

static void assert_refused(struct database *d, const char *sql, const char *words)
{
	struct trk_error error = {.code = 0};

	assert_true(trk__sqlite_execute(d->h, sql, &error) < 0);
	if (!strstr(error.message, words))
		fail_msg("%s: %s", sql, error.message);
}

static void put_run(struct database *d, const char *id, const char *file)
{
	char sql[512];

	(void) snprintf(sql, sizeof(sql),
			"INSERT INTO run (id, job, kind, command, file, verdict, start_s, ended) "
			"VALUES ('%s', 'job', 'run', '', '%s', 'ok', 1, 1)",
			id, file);
	execute(d, sql);
}

/* ---- rows ---- */

/* With its texts. */
static struct trk_texts texts;

static int take(void *data, const struct trk_past_run *run)
{
	*(struct trk_past_run *) data = *run;
	assert_int_equal(trk__past_run_keep(data, &texts), 0);
	return 1;
}

static struct trk_past_run only_run(struct database *d)
{
	struct trk_past_run run = {.code = -1};

	assert_int_equal(trk__history_list(&d->h->base, NULL, 0, true, take, &run, NULL), 0);
	return run;
}

static void a_file_of_a_row_is_the_name_of_a_recording_or_nothing(void **state)
{
	static const char *const names[] = {
		"../runs/" NAME, "/tmp/" NAME, "notes.txt",    ".",       "..",
		"x" NAME,        NAME "/..",   "\x1b[2J" NAME, NAME "\n", "",
	};
	struct database d;

	database_init(&d);
	put_run(&d, "r-aa000001", NAME);
	assert_string_equal(only_run(&d).file, NAME);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		execute(&d, "DELETE FROM run");
		put_run(&d, "r-aa000001", names[i]);
		assert_string_equal(only_run(&d).file, "");
	}
	database_release(&d);
}

static void words_of_a_row_have_no_hidden_characters(void **state)
{
	struct database d;
	struct trk_past_run run;

	database_init(&d);
	put_run(&d, "r-\x1b]0;x\x07", NAME);
	execute(&d, "UPDATE run SET kind = char(27) || 'k\x7f', verdict = 'v' || char(10)");
	run = only_run(&d);
	assert_string_equal(run.id, "r-??0?x?");
	assert_string_equal(run.kind, "?k?");
	assert_string_equal(run.end_name, "v?");
	assert_string_equal(run.file, NAME);
	execute(&d, "UPDATE run SET id = 'r-' || char(0x202e) || 'b', verdict = x'ff6f6b'");
	run = only_run(&d);
	assert_string_equal(run.id, "r-???b");
	assert_string_equal(run.end_name, "?ok");
	database_release(&d);
}

static void figures_that_no_run_can_have_are_unknown(void **state)
{
	struct database d;
	struct trk_past_run run;

	database_init(&d);
	put_run(&d, "r-aa000001", NAME);
	execute(&d, "UPDATE run SET duration_s = -1, peak_memory_mib = 9e999, cpu_s = -9e999, "
		    "cost_usd = 0, memory_mean_mib = 2.5");
	run = only_run(&d);
	assert_true(isnan(run.duration_s) && isnan(run.memory.bytes) && isnan(run.cpu_s));
	assert_true(run.cost_usd == 0 && run.memory_mean_bytes == 2.5 * TRK_MIB);
	database_release(&d);
}

/* ---- what a schema can run ---- */

/* As another program could add them behind the check of the schema. */
static void triggers_and_views_do_not_run(void **state)
{
	struct database d;

	database_init(&d);
	execute(&d, "CREATE TRIGGER t AFTER INSERT ON run BEGIN UPDATE run SET verdict = 'x'; END");
	put_run(&d, "r-aa000001", NAME);
	assert_string_equal(only_run(&d).end_name, "ok");
	execute(&d, "CREATE VIEW v AS SELECT * FROM run");
	assert_refused(&d, "SELECT * FROM v", "access to view \"v\" prohibited");
	database_release(&d);
}

static void the_schema_cannot_be_edited_and_calls_no_function_that_acts(void **state)
{
	struct database d;
	int on = -1;

	database_init(&d);
	execute(&d, "PRAGMA writable_schema = ON");
	assert_refused(&d, "UPDATE sqlite_master SET sql = 'x'", "may not be modified");
	/* -1 asks. Of SQLite's own functions none is refused by this setting alone. */
	assert_int_equal(d.h->lib.db_config(d.h->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, -1, &on), 0);
	assert_int_equal(on, 0);
	database_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_of_a_row_is_the_name_of_a_recording_or_nothing),
		cmocka_unit_test(words_of_a_row_have_no_hidden_characters),
		cmocka_unit_test(figures_that_no_run_can_have_are_unknown),
		cmocka_unit_test(triggers_and_views_do_not_run),
		cmocka_unit_test(the_schema_cannot_be_edited_and_calls_no_function_that_acts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
