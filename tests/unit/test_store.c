/* The folder of recordings, their names, and how a reference that a user types finds one. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "recording/store.h"
#include "rows.h"

/* Runs of a store, oldest first. */
static const struct {
	uint64_t start_ms;
	const char *id, *job;
} runs[] = {
	{1000, "r-aa000001", "first"}, {2000, "r-aa000002", "align"}, {3000, "r-ab000003", "a@b"},
	{4000, "r-bb000004", "align"}, {5000, "r-cc000005", "first"},
};

enum { RUNS = sizeof(runs) / sizeof(runs[0]) };

struct store {
	struct folder folder;
	char dir[300];
	int fd;
	char name[RUNS][96];
};

static void store_init(struct store *s, int count)
{
	struct trk_run run;

	folder_init(&s->folder);
	(void) snprintf(s->dir, sizeof(s->dir), "%s/a/b", s->folder.path);
	s->fd = trk__store_open(s->dir, true, NULL);
	assert_true(s->fd >= 0);
	for (int i = 0; i < count; i++) {
		struct trk_writer *w;

		run_init(&run);
		run.start_ns = runs[i].start_ms * 1000000;
		(void) snprintf(run.id, sizeof(run.id), "%s", runs[i].id);
		(void) snprintf(run.job, sizeof(run.job), "%s", runs[i].job);
		trk__store_name(&run, s->name[i]);
		w = trk__writer_new(s->fd, s->name[i], &run, 0, NULL);
		assert_non_null(w);
		trk__writer_free(w);
	}
}

static void store_release(struct store *s, int count)
{
	for (int i = 0; i < count; i++)
		assert_int_equal(unlinkat(s->fd, s->name[i], 0), 0);
	trk__close(s->fd);
	assert_int_equal(unlinkat(s->folder.fd, "a/b/runs", AT_REMOVEDIR), 0);
	assert_int_equal(unlinkat(s->folder.fd, "a/b", AT_REMOVEDIR), 0);
	assert_int_equal(unlinkat(s->folder.fd, "a", AT_REMOVEDIR), 0);
	folder_release(&s->folder);
}

static void assert_finds(const struct store *s, const char *reference, int want)
{
	char name[96] = "untouched";

	assert_int_equal(trk__store_find(s->fd, reference, name, NULL, NULL), 0);
	assert_string_equal(name, s->name[want]);
}

static void assert_fails(const struct store *s, const char *reference, int want)
{
	struct trk_error error = {.code = 0};
	char name[96];

	assert_int_equal(trk__store_find(s->fd, reference, name, NULL, &error), want);
	assert_int_equal(error.code, want);
	assert_non_null(strstr(error.message, reference));
}

static void a_new_store_is_private_at_every_level(void **state)
{
	static const char *const levels[] = {"a", "a/b", "a/b/runs"};
	struct store s;
	struct stat st;

	store_init(&s, 0);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(fstatat(s.folder.fd, levels[i], &st, 0), 0);
		assert_int_equal(st.st_mode & 07777, 0700);
	}
	store_release(&s, 0);
}

static void a_store_is_created_only_when_asked(void **state)
{
	struct trk_error error = {.code = 0};
	struct folder f;
	char path[300];

	folder_init(&f);
	(void) snprintf(path, sizeof(path), "%s/none", f.path);
	assert_int_equal(trk__store_open(path, false, &error), -ENOENT);
	assert_int_equal(error.code, -ENOENT);
	assert_non_null(strstr(error.message, path));
	assert_int_equal(faccessat(f.fd, "none", F_OK, 0), -1);
	bytes_put(f.fd, "none", "x", 1);
	assert_int_equal(trk__store_open(path, true, &error), -ENOTDIR);
	assert_int_equal(unlinkat(f.fd, "none", 0), 0);
	folder_release(&f);
}

static void a_path_that_is_too_long_is_an_error(void **state)
{
	char path[5000];

	memset(path, 'x', sizeof(path));
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(trk__store_open(path, true, NULL), -ENAMETOOLONG);
}

static void names_sort_by_start_and_hold_the_id(void **state)
{
	struct trk_run run;
	char name[96], later[96];

	run_init(&run);
	run.start_ns = 999999999999;
	trk__store_name(&run, name);
	assert_string_equal(name, "0000000999999-r-0a1b2c3d.rtrk");
	run.start_ns += 1000000;
	trk__store_name(&run, later);
	assert_true(strcmp(name, later) < 0);
}

static void ids_are_new_each_time(void **state)
{
	struct trk_run one, two;

	run_init(&one);
	run_init(&two);
	trk__store_new_id(&one);
	trk__store_new_id(&two);
	assert_int_equal(strlen(one.id), 10);
	assert_memory_equal(one.id, "r-", 2);
	assert_int_equal(strspn(one.id + 2, "0123456789abcdef"), 8);
	assert_string_not_equal(one.id, two.id);
}

static void an_id_or_its_prefix_finds_the_run(void **state)
{
	struct store s;

	store_init(&s, RUNS);
	assert_finds(&s, "r-bb000004", 3);
	assert_finds(&s, "r-b", 3);
	assert_finds(&s, "bb000004", 3);
	assert_finds(&s, "bb00", 3);
	assert_finds(&s, "r-c", 4);
	assert_fails(&s, "r-a", -TRK_ERR_AMBIGUOUS);
	assert_fails(&s, "aa00", -TRK_ERR_AMBIGUOUS);
	assert_fails(&s, "c", -TRK_ERR_NORUN);
	assert_finds(&s, "r-ab", 2);
	assert_fails(&s, "r-dd", -TRK_ERR_NORUN);
	assert_fails(&s, "r-bb0000045", -TRK_ERR_NORUN);
	store_release(&s, RUNS);
}

static void a_job_with_the_name_of_an_ids_start_is_meant(void **state)
{
	struct trk_run run;
	char later[96], name[96];
	struct trk_writer *w;
	struct store s;

	store_init(&s, RUNS);
	run_init(&run);
	run.start_ns = UINT64_C(6000000000);
	(void) snprintf(run.id, sizeof(run.id), "r-dd000006");
	(void) snprintf(run.job, sizeof(run.job), "bb00");
	trk__store_name(&run, later);
	w = trk__writer_new(s.fd, later, &run, 0, NULL);
	assert_non_null(w);
	trk__writer_free(w);
	assert_int_equal(trk__store_find(s.fd, "bb00", name, NULL, NULL), 0);
	assert_string_equal(name, later);
	assert_finds(&s, "r-bb00", 3);
	assert_finds(&s, "bb000", 3);
	assert_finds(&s, "bb000004", 3);
	assert_int_equal(unlinkat(s.fd, later, 0), 0);
	store_release(&s, RUNS);
}

static void at_counts_from_the_end(void **state)
{
	struct store s;

	store_init(&s, RUNS);
	assert_finds(&s, "@", 4);
	assert_finds(&s, "@1", 4);
	assert_finds(&s, "@2", 3);
	assert_finds(&s, "@-5", 0);
	assert_fails(&s, "@6", -TRK_ERR_NORUN);
	assert_fails(&s, "@0", -TRK_ERR_NORUN);
	assert_fails(&s, "@x", -TRK_ERR_NORUN);
	assert_fails(&s, "@99999999999999999999", -TRK_ERR_NORUN);
	store_release(&s, RUNS);
}

static void a_job_and_at_count_among_its_own_runs(void **state)
{
	struct store s;

	store_init(&s, RUNS);
	assert_finds(&s, "align@", 3);
	assert_finds(&s, "align@-2", 1);
	assert_finds(&s, "first@1", 4);
	assert_finds(&s, "first@2", 0);
	assert_finds(&s, "a@b@", 2);
	assert_fails(&s, "align@3", -TRK_ERR_NORUN);
	assert_fails(&s, "alig@", -TRK_ERR_NORUN);
	assert_fails(&s, "aligns@", -TRK_ERR_NORUN);
	store_release(&s, RUNS);
}

static void an_empty_store_has_no_run(void **state)
{
	struct store s;

	store_init(&s, 0);
	assert_fails(&s, "@", -TRK_ERR_NORUN);
	assert_fails(&s, "r-", -TRK_ERR_NORUN);
	store_release(&s, 0);
}

/* Temporary files of a rewrite, a person's notes, and a recording that lost its head. */
static void other_files_are_passed_over(void **state)
{
	static const char *const others[] = {".tmp-9.rtrk", "9999999999999-r-notes.txt",
					     "notes.rtrk", "9.rtrk.part"};
	struct store s;

	store_init(&s, RUNS);
	for (size_t i = 0; i < 4; i++)
		bytes_put(s.fd, others[i], "x", 1);
	bytes_put(s.fd, "9999999999998-r-ee000009.rtrk", "x", 1);
	assert_finds(&s, "@2", 4);
	assert_finds(&s, "first@", 4);
	assert_fails(&s, "r-notes", -TRK_ERR_NORUN);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(unlinkat(s.fd, others[i], 0), 0);
	assert_int_equal(unlinkat(s.fd, "9999999999998-r-ee000009.rtrk", 0), 0);
	store_release(&s, RUNS);
}

static void a_name_has_one_form(void **state)
{
	static const char *const good[] = {
		"0000000001000-r-aa000001.rtrk",
		"1700000000123-i-0a1b2c3d.rtrk",
		"1-x.rtrk",
	};
	static const char *const bad[] = {
		"",
		".",
		"..",
		"r-aa000001",
		"-r.rtrk",
		"1-.rtrk",
		"1r.rtrk",
		"1-r.rtrk.new",
		"1-r/x.rtrk",
		"../1-r.rtrk",
		"/1-r.rtrk",
		"1-../x.rtrk",
		"1-r.rtrk/",
		".1-r.rtrk",
		"1-r\n.rtrk",
		"1-r x.rtrk",
		"123456789012345678901-r.rtrk",
		"1-\303\244.rtrk",
	};
	char name[200];

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(trk__store_is_name(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(trk__store_is_name(bad[i]));
	(void) snprintf(name, sizeof(name), "1-%0150d.rtrk", 7);
	assert_false(trk__store_is_name(name));
	assert_true(trk__store_is_name_of("1700000000123-r-1.rtrk", "r-1", 1700000000.123456789));
	assert_true(trk__store_is_name_of("1700000000123-r-1.rtrk", "r-1", 1700000000.1239999));
	assert_false(trk__store_is_name_of("1700000000123-r-1.rtrk", "r-1", 1700000000.1));
	assert_false(trk__store_is_name_of("1700000000123-r-1.rtrk", "r-1", NAN));
	assert_false(trk__store_is_name_of("1700000000123-r-1.rtrk", "r-", 1700000000.123));
	assert_false(trk__store_is_name_of("1700000000123-r-1.rtrk", "r-12", 1700000000.123));
	assert_false(trk__store_is_name_of("x/1700000000123-r-1.rtrk", "r-1", 1700000000.123));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_store_is_private_at_every_level),
		cmocka_unit_test(a_store_is_created_only_when_asked),
		cmocka_unit_test(a_path_that_is_too_long_is_an_error),
		cmocka_unit_test(a_name_has_one_form),
		cmocka_unit_test(names_sort_by_start_and_hold_the_id),
		cmocka_unit_test(ids_are_new_each_time),
		cmocka_unit_test(an_id_or_its_prefix_finds_the_run),
		cmocka_unit_test(a_job_with_the_name_of_an_ids_start_is_meant),
		cmocka_unit_test(at_counts_from_the_end),
		cmocka_unit_test(a_job_and_at_count_among_its_own_runs),
		cmocka_unit_test(an_empty_store_has_no_run),
		cmocka_unit_test(other_files_are_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
