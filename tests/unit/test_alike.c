/* The choice of earlier runs that did the same work as the next one. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "answer/advice.h"
#include "base/bytes.h"
#include "fleet/alike.h"
#include "past_runs.h"

enum { RUNS = 40 };

static struct trk_past_run runs[RUNS];
static bool kept[RUNS];
static struct trk_texts texts; /* of the runs */

static void set_run(size_t at, const char *command, const char *tags)
{
	past_run_init(&runs[at]);
	runs[at].memory.bytes = 100 * TRK_MIB;
	runs[at].end_name = "exited";
	runs[at].command = command;
	runs[at].tags = tags;
	assert_int_equal(trk__past_run_keep(&runs[at], &texts), 0);
	runs[at].end = trk__past_run_end(&runs[at]);
}

static void kill_run(size_t at)
{
	runs[at].end_name = "out_of_memory";
	runs[at].code = 137;
	runs[at].end = trk__past_run_end(&runs[at]);
}

static struct trk_alike find(size_t count, const char *tags)
{
	struct trk_alike alike;
	size_t n = 0;

	trk__alike_find(runs, count, tags, kept, &alike);
	for (size_t i = 0; i < count; i++)
		n += kept[i];
	assert_int_equal(n, alike.count);
	return alike;
}

static void tags_are_one_text_in_order(void **state)
{
	static const char raw[] = "size=9\0kind=a\0odd=1\n2\0";
	char text[TRK_HISTORY_TAGS_SIZE], many[4096];
	size_t len = 0;

	trk__history_tags(raw, sizeof(raw) - 1, text);
	assert_string_equal(text, "kind=a\nodd=1 2\nsize=9\n");
	trk__history_tags(NULL, 0, text);
	assert_string_equal(text, "");
	for (int i = 0; i < 100; i++)
		len += (size_t) snprintf(many + len, sizeof(many) - len, "key%02d=value", i) + 1;
	trk__history_tags(many, len, text);
	assert_true(strlen(text) > 480 && strlen(text) < sizeof(text));
	assert_int_equal(strlen(text) % strlen("key00=value\n"), 0); /* whole tags alone */
}

static void a_tag_that_recurs_decides_and_one_that_is_new_each_time_does_not(void **state)
{
	char tags[64];

	for (size_t i = 0; i < 12; i++) {
		(void) snprintf(tags, sizeof(tags), "commit=%zu\nkind=%c\nowner=x\n", i,
				(int) ('a' + i % 3));
		set_run(i, "job", tags);
	}
	assert_int_equal(find(12, NULL).by, TRK_ALIKE_TAGS);
	for (size_t i = 0; i < 12; i++)
		assert_int_equal(kept[i], i % 3 == 2);
	assert_string_equal(find(12, NULL).tags, "kind=c, owner=x");
}

static void where_tags_leave_all_runs_the_arguments_decide(void **state)
{
	for (size_t i = 0; i < 12; i++)
		set_run(i, i % 2 ? "job b" : "job a", "owner=x\n");
	assert_int_equal(find(12, NULL).by, TRK_ALIKE_ARGUMENTS);
	for (size_t i = 0; i < 12; i++)
		assert_int_equal(kept[i], i % 2 == 1);
	for (size_t i = 0; i < 12; i++)
		set_run(i, "job", "");
	assert_int_equal(find(12, NULL).by, TRK_ALIKE_ALL);
	assert_int_equal(find(0, NULL).count, 0);
	assert_int_equal(find(1, NULL).by, TRK_ALIKE_ALL);
}

static void a_tag_that_says_where_it_ran_tells_no_work_apart(void **state)
{
	for (size_t i = 0; i < 10; i++)
		set_run(i, "make", i % 2 ? "kind=a\nnode=n1\n" : "kind=a\nnode=n2\n");
	assert_int_equal(find(10, NULL).count, 10);
	assert_int_equal(find(10, "node=n1\n").count, 5); /* asked for, it counts */
}

static void arguments_that_are_new_in_every_run_tell_nothing_apart(void **state)
{
	char command[32];

	for (size_t i = 0; i < RUNS; i++) {
		(void) snprintf(command, sizeof(command), "job %zu", i);
		set_run(i, command, "");
	}
	assert_int_equal(find(RUNS, NULL).by, TRK_ALIKE_ALL);
	set_run(RUNS - 1, "job 5", ""); /* one that was run again makes no habit */
	assert_int_equal(find(RUNS, NULL).by, TRK_ALIKE_ALL);
}

static void runs_whose_arguments_are_not_known_are_not_left_out(void **state)
{
	for (size_t i = 0; i < 12; i++) /* as of imported runs and of those that a program states */
		set_run(i, i < 11 ? "" : "job a", "");
	assert_int_equal(find(12, NULL).by, TRK_ALIKE_ALL);
	set_run(11, "", "");
	assert_int_equal(find(12, NULL).by, TRK_ALIKE_ALL);
}

static void tags_that_are_stated_need_a_success_and_no_habit(void **state)
{
	struct trk_alike alike;

	for (size_t i = 0; i < 6; i++)
		set_run(i, "job", i == 2 ? "kind=b\n" : "kind=a\n");
	alike = find(6, "kind=b\n");
	assert_true(alike.by == TRK_ALIKE_TAGS && alike.count == 1 && kept[2]);
	kill_run(2);
	alike = find(6, "kind=b\n");
	assert_true(alike.by == TRK_ALIKE_NONE && alike.count == 6);
	assert_int_equal(find(6, "kind=b\nmore=1\n").by, TRK_ALIKE_NONE);
	assert_int_equal(find(6, "kind=a\n").count, 5);
	assert_int_equal(find(6, "kin=a\n").by, TRK_ALIKE_NONE);
}

static void a_kill_of_other_work_asks_for_no_retry(void **state)
{
	struct trk_memory_options o = {.input_bytes = NAN, .machine_bytes = NAN};
	struct trk_memory_advice a;
	struct trk_alike alike;

	for (size_t i = 0; i < 8; i++)
		set_run(i, "job", i % 2 ? "kind=b\n" : "kind=a\n");
	kill_run(7);
	runs[7].memory.bytes = runs[7].limit_memory_bytes = 8000 * TRK_MIB;
	assert_int_equal(trk__advice_memory(runs, 8, NULL, &o, &alike, &a), 0);
	assert_true(a.retry && a.request_bytes > 8000 * 1048576.0 && alike.count == 4);
	assert_int_equal(trk__advice_memory(runs, 8, "kind=a\n", &o, &alike, &a), 0);
	assert_true(!a.retry && a.request_bytes < 300 * 1048576.0 && alike.count == 4);
}

/* ---- runs that were stopped ---- */

static void end_run(size_t at, const char *end, int code, int signal, double peak_mib)
{
	set_run(at, "job", "");
	runs[at].end_name = end;
	runs[at].code = code;
	runs[at].signal = signal;
	runs[at].memory.bytes = peak_mib * TRK_MIB;
	runs[at].end = trk__past_run_end(&runs[at]);
}

/* What is requested after ten runs of 1000 MiB and one that ended so at this peak. */
static double request_after(const char *end, int code, int signal, double peak_mib)
{
	struct trk_memory_options o = {.input_bytes = NAN, .machine_bytes = NAN};
	struct trk_memory_advice a;
	struct trk_alike alike;

	for (size_t i = 0; i < 10; i++)
		end_run(i, "exited", 0, 0, 1000);
	end_run(10, end, code, signal, peak_mib);
	assert_int_equal(trk__advice_memory(runs, 11, NULL, &o, &alike, &a), 0);
	for (size_t i = 0; i < a.reason_count; i++)
		assert_null(strcmp(end, "failed") ? strstr(a.reason[i], "failed") : NULL);
	return a.request_bytes / 1048576.0;
}

static void a_run_that_was_stopped_is_no_failure_of_memory(void **state)
{
	static const struct {
		const char *end;
		int code, signal;
	} ends[] = {{"stopped", -1, 0},     {"timeout", 143, 15},  {"signalled", 130, 2},
		    {"signalled", 143, 15}, {"exited", 130, 0},    {"exited", 143, 0},
		    {"signalled", 129, 1},  {"signalled", 152, 24}};
	double without = request_after("exited", 0, 0, 1000);

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		/* Stopped early: nothing is known that was not known before. */
		assert_true(request_after(ends[i].end, ends[i].code, ends[i].signal, 10) ==
			    without);
		assert_true(request_after(ends[i].end, ends[i].code, ends[i].signal, 990) ==
			    without);
		/* It held more than all others: that much is needed. */
		assert_true(request_after(ends[i].end, ends[i].code, ends[i].signal, 3000) >= 3000);
	}
	assert_true(runs[0].end == TRK_PAST_SUCCEEDED);
	end_run(0, "signalled", 137, 9, 10); /* perhaps for its memory */
	assert_true(runs[0].end == TRK_PAST_FAILED);
	end_run(0, "failed", -1, 0, 10);
	assert_true(runs[0].end == TRK_PAST_FAILED);
}

static void many_stopped_runs_lower_no_request(void **state)
{
	struct trk_memory_options o = {.input_bytes = NAN, .machine_bytes = NAN};
	struct trk_memory_advice before, after;
	struct trk_alike alike;

	for (size_t i = 0; i < RUNS; i++)
		end_run(i, i < 10 ? "exited" : "stopped", i < 10 ? 0 : -1, 0, i < 10 ? 4000 : 50);
	assert_int_equal(trk__advice_memory(runs, 10, NULL, &o, &alike, &before), 0);
	assert_int_equal(trk__advice_memory(runs, RUNS, NULL, &o, &alike, &after), 0);
	assert_true(after.request_bytes == before.request_bytes && after.runs_used == 10);
	/* A kill stays open when the retry was stopped below the limit, not when it went above. */
	end_run(10, "out_of_memory", 137, 9, 5000);
	runs[10].limit_memory_bytes = 5000 * TRK_MIB;
	assert_int_equal(trk__advice_memory(runs, 12, NULL, &o, &alike, &after), 0);
	assert_true(after.retry && after.request_bytes > 5000 * 1048576.0);
	end_run(11, "stopped", -1, 0, 5500);
	assert_int_equal(trk__advice_memory(runs, 12, NULL, &o, &alike, &after), 0);
	assert_true(!after.retry && after.request_bytes >= 5500 * 1048576.0);
	/* Nothing but stopped runs: their peaks are all that there is. */
	for (size_t i = 0; i < 10; i++)
		end_run(i, "stopped", -1, 0, 2000);
	assert_int_equal(trk__advice_memory(runs, 10, NULL, &o, &alike, &after), 0);
	assert_true(after.request_bytes >= 2000 * 1048576.0 && after.runs_used == 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tags_are_one_text_in_order),
		cmocka_unit_test(a_tag_that_recurs_decides_and_one_that_is_new_each_time_does_not),
		cmocka_unit_test(where_tags_leave_all_runs_the_arguments_decide),
		cmocka_unit_test(a_tag_that_says_where_it_ran_tells_no_work_apart),
		cmocka_unit_test(arguments_that_are_new_in_every_run_tell_nothing_apart),
		cmocka_unit_test(runs_whose_arguments_are_not_known_are_not_left_out),
		cmocka_unit_test(tags_that_are_stated_need_a_success_and_no_habit),
		cmocka_unit_test(a_kill_of_other_work_asks_for_no_retry),
		cmocka_unit_test(a_run_that_was_stopped_is_no_failure_of_memory),
		cmocka_unit_test(many_stopped_runs_lower_no_request),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
