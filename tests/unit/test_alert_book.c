/* The life of an alert across processes (open, sent, closed, silenced, acknowledged), and its file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alert/book.h"
#include "alert/deliver.h"

#define NOON 1795348800.0 /* Sun 22 Nov 2026, 12:00 UTC */
#define HOUR 3600.0
#define DAY  86400.0

static struct trk_alert_book book;
static struct trk_alert_message message;
static struct trk_alert_route ann;

static int begin(void **state)
{
	ann = (struct trk_alert_route){.kind = "mail", .key = 17};
	return trk__alert_book_init(&book);
}

static int end(void **state)
{
	trk__alert_book_release(&book);
	return 0;
}

static const char *sentence = "it is so";

static struct trk_alert_entry *say(const char *rule, const char *job, int severity, bool firing,
				   double at_s)
{
	bool live = !strcmp(rule, "oom-risk") || !strcmp(rule, "stalled");
	struct trk_alert_news news = {
		.rule = rule,
		.job = job,
		.scope = "",
		.run = live ? job : "r-1",
		.host = "",
		.text = sentence,
		.fix = "do that",
		.severity = severity,
		.firing = firing,
		.live = live,
		.value = 1,
		.limit = NAN,
		.new_s = NAN,
	};

	return trk__alert_book_take(&book, &news, at_s);
}

static bool told(double at_s)
{
	return trk__alert_book_collect(&book, &ann, true, at_s, &message);
}

static void it_is_told_once_and_again_when_it_opens_anew_after_the_cool_down(void **state)
{
	assert_non_null(say("will-fail", "train", 1, true, NOON));
	assert_true(told(NOON));
	assert_string_equal(message.rule, "will-fail");
	assert_string_equal(message.fix, "do that");
	for (int day = 1; day < 40; day++) {
		assert_non_null(say("will-fail", "train", 1, true, NOON + day * DAY));
		assert_false(told(NOON + day * DAY));
	}
	assert_non_null(say("will-fail", "train", 1, false, NOON + 40 * DAY));
	assert_non_null(say("will-fail", "train", 1, true, NOON + 41 * DAY));
	assert_true(told(NOON + 41 * DAY));
	/* Within the 7 days of its rule it is not. */
	assert_non_null(say("will-fail", "train", 1, false, NOON + 42 * DAY));
	assert_non_null(say("will-fail", "train", 1, true, NOON + 43 * DAY));
	assert_false(told(NOON + 43 * DAY));
	assert_true(told(NOON + 48.1 * DAY));
	assert_int_equal(book.count, 1);
	assert_int_equal(book.entry[0].times, 3);
}

static void a_higher_severity_is_told_after_the_cool_down(void **state)
{
	(void) say("oom-risk", "train", 1, true, NOON);
	assert_true(told(NOON));
	(void) say("oom-risk", "train", 2, true, NOON + 60);
	assert_false(told(NOON + 60));
	assert_true(told(NOON + 1801));
}

static void a_new_text_of_a_running_job_is_told_after_the_cool_down(void **state)
{
	(void) say("stalled", "train", 1, true, NOON);
	assert_true(told(NOON));
	(void) say("stalled", "train", 1, true, NOON + 2700);
	assert_false(told(NOON + 2700));
	sentence = "it is so for an hour";
	(void) say("stalled", "train", 1, true, NOON + 2760);
	sentence = "it is so";
	assert_true(told(NOON + 2760));
	assert_string_equal(message.text, "it is so for an hour");
	assert_false(told(NOON + 9000));
}

static void a_sink_of_one_job_gets_that_job_only(void **state)
{
	struct trk_alert_route train = {.kind = "slack", .key = 18, .job = "train"};
	struct trk_alert_route other = {.kind = "mail", .key = 19, .job = "eval"};

	(void) say("oom-killed", "train", 2, true, NOON);
	assert_false(trk__alert_book_collect(&book, &other, true, NOON, &message));
	assert_true(trk__alert_book_collect(&book, &train, true, NOON, &message));
}

static void each_sink_is_told(void **state)
{
	struct trk_alert_route bob = {.kind = "slack", .key = 18};

	(void) say("oom-killed", "train", 2, true, NOON);
	assert_true(told(NOON));
	assert_false(told(NOON));
	assert_true(trk__alert_book_collect(&book, &bob, true, NOON, &message));
	assert_false(trk__alert_book_collect(&book, &bob, true, NOON, &message));
}

static void several_are_told_as_one(void **state)
{
	(void) say("stalled", "a", 1, true, NOON);
	(void) say("stalled", "b", 1, true, NOON);
	/* What has ended by then is not told. */
	(void) say("stalled", "d", 1, true, NOON);
	(void) say("stalled", "d", 1, false, NOON + 1);
	assert_true(told(NOON + 2));
	assert_string_equal(message.text, "2 alerts of stalled: a, b");
	assert_non_null(strstr(message.list, "[warning] stalled: a: it is so\nTry: do that\n"));
	assert_null(strstr(message.list, ": d:"));
	assert_false(told(NOON + 3));
	(void) say("slower", "b", 0, true, NOON);
	(void) say("bigger", "c", 2, true, NOON);
	assert_true(told(NOON + 4));
	assert_string_equal(message.text, "2 alerts: b, c");
	assert_string_equal(message.severity, "critical");
}

static void each_alert_is_told_however_many_there_are(void **state)
{
	char job[8] = "j00";
	int messages = 0;

	for (int i = 0; i < 40; i++) {
		job[1] = (char) ('0' + i / 10);
		job[2] = (char) ('0' + i % 10);
		(void) say(i % 2 ? "oom-risk" : "slower", job, i % 3, true, NOON + i);
		messages += told(NOON + i);
	}
	assert_int_equal(messages, 40);
}

static void silences_are_by_rule_and_job_and_end(void **state)
{
	struct trk_alert_silence s = {
		.rule = "will-fail", .job = "a", .made_s = NOON, .until_s = NOON + DAY};
	char id[TRK_ALERT_ID_SIZE], other[TRK_ALERT_ID_SIZE];

	assert_int_equal(trk__alert_book_silence(&book, &s, id), 0);
	(void) say("will-fail", "a", 1, true, NOON);
	assert_false(told(NOON + HOUR));
	assert_true(trk__alert_book_is_silenced(&book, &book.entry[0], NOON + HOUR));
	(void) say("oom-killed", "a", 2, true, NOON);
	assert_true(told(NOON + HOUR));
	assert_true(told(NOON + DAY + 1));
	assert_string_equal(message.rule, "will-fail");
	/* All rules of a job, critical ones as well, until it is taken back. */
	s = (struct trk_alert_silence){.job = "z", .made_s = NOON, .until_s = NOON + 9 * DAY};
	assert_int_equal(trk__alert_book_silence(&book, &s, other), 0);
	assert_string_not_equal(id, other);
	(void) say("oom-killed", "z", 2, true, NOON + 2 * DAY);
	assert_false(told(NOON + 2 * DAY));
	assert_false(trk__alert_book_unsilence(&book, "zzzz"));
	assert_true(trk__alert_book_unsilence(&book, other));
	assert_true(told(NOON + 2 * DAY));
	assert_string_equal(message.job, "z");
}

static void what_is_acknowledged_is_not_told_before_it_has_ended(void **state)
{
	(void) say("oom-killed", "a", 2, true, NOON);
	assert_int_equal(trk__alert_book_ack(&book, "oom-killed:b", NOON), 0);
	assert_int_equal(trk__alert_book_ack(&book, "oom-killed:a", NOON), 1);
	assert_false(told(NOON));
	(void) say("oom-killed", "a", 2, false, NOON + HOUR);
	(void) say("oom-killed", "a", 2, true, NOON + 2 * HOUR);
	assert_true(told(NOON + 2 * HOUR));
	assert_int_equal(trk__alert_book_ack(&book, book.entry[0].id, NOON), 1);
	assert_int_equal(trk__alert_book_ack(&book, "", NOON), 0);
}

static void an_alertmanager_is_told_one_by_one_and_again_in_time(void **state)
{
	struct trk_alert_route am = {.kind = "alertmanager", .key = 5};

	(void) say("will-fail", "a", 1, true, NOON);
	(void) say("will-fail", "b", 1, true, NOON);
	assert_true(trk__alert_book_collect(&book, &am, true, NOON, &message));
	assert_true(trk__alert_book_collect(&book, &am, true, NOON, &message));
	assert_false(trk__alert_book_collect(&book, &am, true, NOON + HOUR, &message));
	assert_true(trk__alert_book_collect(&book, &am, true, NOON + 13 * HOUR, &message));
	assert_true(trk__alert_book_was_told(&book.entry[0], &am));
	assert_false(trk__alert_book_was_told(&book.entry[0], &ann));
}

static void the_end_of_a_run_ends_what_is_about_it(void **state)
{
	(void) say("oom-risk", "a", 2, true, NOON);
	(void) say("stalled", "b", 1, true, NOON);
	(void) say("oom-killed", "a", 2, true, NOON);
	assert_int_equal(trk__alert_book_end_run(&book, "a", NOON + 1), 1);
	assert_true(book.entry[0].ended_s == NOON + 1);
	assert_true(isnan(book.entry[1].ended_s) && isnan(book.entry[2].ended_s));
	trk__alert_book_age(&book, NOON + 8 * DAY);
	assert_true(!isnan(book.entry[1].ended_s));
	assert_true(isnan(book.entry[2].ended_s));
}

static void it_is_bounded(void **state)
{
	char job[16];

	for (int i = 0; i < 3 * TRK_ALERT_ENTRIES_MAX; i++) {
		(void) snprintf(job, sizeof(job), "j%d", i);
		(void) say("oom-killed", job, 2, true, NOON + i);
		if (i % 2)
			(void) say("oom-killed", job, 2, false, NOON + i);
	}
	assert_int_equal(book.count, TRK_ALERT_ENTRIES_MAX);
	/* The last one has ended; the others are the newest that are open. */
	assert_string_equal(book.entry[0].job, "j402");
	assert_true(told(NOON + DAY));
	assert_non_null(strstr(message.text, "399 alerts of oom-killed"));
	assert_non_null(strstr(message.list, "and 359 more"));
}

static void long_alerts_in_one_message_are_listed_or_counted(void **state)
{
	static char text[TRK_ALERT_SENTENCE_SIZE];
	char job[16];
	size_t lines = 0;

	memset(text, 'x', sizeof(text) - 1);
	sentence = text;
	for (int i = 0; i < 30; i++) {
		(void) snprintf(job, sizeof(job), "j%d", i);
		(void) say("oom-killed", job, 2, true, NOON);
	}
	sentence = "it is so";
	assert_true(told(NOON));
	for (const char *at = message.list; *at; at += strcspn(at, "\n") + 1)
		lines += *at == '[';
	(void) snprintf(job, sizeof(job), "and %zu more", 30 - lines);
	assert_non_null(strstr(message.list, job));
}

static void a_digest_counts_as_sent_what_it_lists(void **state)
{
	bool listed[TRK_ALERT_ENTRIES_MAX] = {false, true};

	(void) say("slower", "a", 0, true, NOON);
	(void) say("slower", "b", 0, true, NOON);
	trk__alert_book_digest_told(&book, &ann, listed, NOON);
	assert_false(trk__alert_book_was_told(&book.entry[0], &ann));
	assert_true(trk__alert_book_was_told(&book.entry[1], &ann));
	assert_true(trk__alert_book_digest_has_news(&book, &ann, NOON + 7 * DAY));
}

/* ---- the file ---- */

static void it_is_read_as_it_was_written(void **state)
{
	struct trk_alert_silence s = {.rule = "slower", .made_s = NOON, .until_s = NOON + 0.125};
	struct trk_alert_book again;
	struct trk_buf text, second;
	char id[TRK_ALERT_ID_SIZE];

	trk__buf_init(&text, 1 << 20);
	trk__buf_init(&second, 1 << 20);
	(void) say("oom-risk", "a \"job\" of \xc3\xa4", 2, true, NOON);
	(void) say("slower", "b", 0, true, NOON);
	assert_true(told(NOON));
	(void) say("slower", "b", 0, false, NOON + 0.5);
	assert_int_equal(trk__alert_book_silence(&book, &s, id), 0);
	trk__alert_book_digest_sent(&book, &ann, NOON);
	trk__alert_book_write(&book, &text);
	assert_int_equal(text.error, 0);
	assert_int_equal(trk__alert_book_init(&again), 0);
	assert_int_equal(trk__alert_book_read(text.data, text.len, &again, NULL), 0);
	assert_int_equal(again.count, 2);
	assert_int_equal(again.silences, 1);
	assert_true(trk__alert_book_digest_at(&again, &ann) == NOON);
	assert_memory_equal(&again.entry[0].told, &book.entry[0].told, sizeof(again.entry[0].told));
	assert_true(again.entry[1].ended_s == NOON + 0.5);
	trk__alert_book_write(&again, &second);
	assert_string_equal(second.data, text.data);
	trk__alert_book_release(&again);
	trk__buf_release(&text);
	trk__buf_release(&second);
}

static void what_is_no_book_is_refused_and_odd_entries_are_left_out(void **state)
{
	static const char odd[] =
		"{\"schema\":\"resource-tracker.alerts/1\",\"alerts\":[7,null,{},{\"id\":\"x\"},"
		"{\"id\":\"a\",\"rule\":\"r\",\"opened\":1,\"new\":1e300},"
		"{\"id\":\"b\",\"rule\":\"r\",\"opened\":1,\"new\":1,\"told\":[3,{\"sink\":\"m\"}],"
		"\"times\":-4}],\"silences\":{\"a\":1},\"digests\":3}";
	struct trk_error error;

	assert_int_equal(trk__alert_book_read("{", 1, &book, &error), -EBADMSG);
	assert_int_equal(trk__alert_book_read("{}", 2, &book, &error), -EBADMSG);
	assert_non_null(strstr(error.message, "not of the schema"));
	assert_int_equal(trk__alert_book_read(odd, sizeof(odd) - 1, &book, &error), 0);
	assert_int_equal(book.count, 1);
	assert_string_equal(book.entry[0].id, "b");
	assert_int_equal(book.entry[0].times, 1);
	assert_string_equal(book.entry[0].told[0].sink, "");
}

/* Names of jobs, machines and programs are text of others. */
static void a_name_adds_no_line_and_no_heading(void **state)
{
	trk__alert_text(message.text, sizeof(message.text),
			"a\r\nb\x1b\xc2\x9b"
			"c\xff\xe2\x80\xae");
	assert_string_equal(message.text, "a  b  c  ");
	trk__alert_text(message.rule, 4, "ab\xc3\xa4");
	assert_string_equal(message.rule, "ab");
	message.list[0] = '\0';
	assert_true(trk__alert_message_add(&message, "%s: %s", "$ rm -r x #", "a\n# b"));
	assert_true(trk__alert_message_add(&message, "# %s", "a"));
	assert_true(trk__alert_message_add(&message, "%s", "# a"));
	assert_string_equal(message.list, " $ rm -r x #: a # b\n# a\n # a\n");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(it_is_told_once_and_again_when_it_opens_anew_after_the_cool_down),
		TEST(a_higher_severity_is_told_after_the_cool_down),
		TEST(a_new_text_of_a_running_job_is_told_after_the_cool_down),
		TEST(a_sink_of_one_job_gets_that_job_only),
		TEST(each_sink_is_told),
		TEST(several_are_told_as_one),
		TEST(each_alert_is_told_however_many_there_are),
		TEST(silences_are_by_rule_and_job_and_end),
		TEST(what_is_acknowledged_is_not_told_before_it_has_ended),
		TEST(an_alertmanager_is_told_one_by_one_and_again_in_time),
		TEST(the_end_of_a_run_ends_what_is_about_it),
		TEST(it_is_bounded),
		TEST(long_alerts_in_one_message_are_listed_or_counted),
		TEST(a_digest_counts_as_sent_what_it_lists),
		TEST(it_is_read_as_it_was_written),
		TEST(what_is_no_book_is_refused_and_odd_entries_are_left_out),
		TEST(a_name_adds_no_line_and_no_heading),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
