/* The report: its text for each kind of end, that text from outside cannot break out of its place,
 * and that its two forms have the same contents. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

#include "base/utf8.h"
#include "report_fixture.h"

static struct row_list list;

static void assert_holds(const char *text, const char *want)
{
	if (!strstr(text, want))
		print_error("%s is not in\n%s", want, text);
	assert_non_null(strstr(text, want));
}

static void assert_lacks(const char *text, const char *unwanted)
{
	const char *at = strstr(text, unwanted);

	if (at)
		print_error("%s is in\n%.200s", unwanted, at);
	assert_null(at);
}

/* Fails unless the record's report of this format holds the text. */
static void assert_report(const struct trk_record *r, const char *format, const char *want)
{
	struct trk_report_rows *rows = rows_make(r, &list);
	struct trk_report_input in = {.record = r, .rows = rows};
	char *text = report_text(&in, format);

	assert_holds(text, want);
	free(text);
	trk__report_rows_free(rows);
}

static bool report_holds(const struct trk_record *r, const char *want)
{
	struct trk_report_rows *rows = rows_make(r, &list);
	struct trk_report_input in = {.record = r, .rows = rows};
	char *text = report_text(&in, "text");
	bool holds = strstr(text, want);

	free(text);
	trk__report_rows_free(rows);
	return holds;
}

static int setup(void **state)
{
	rows_fill(&list, 60);
	*state = record_make(&list);
	return 0;
}

static int teardown(void **state)
{
	record_drop(*state);
	return 0;
}

/* ---- ends ---- */

static void a_finished_run_says_so(void **state)
{
	assert_report(*state, "html", "\u2713 exit 0");
	assert_report(*state, "text", "Used at most 1.5 of 4 cores and 640 MiB of 2 GiB");
}

static void a_failed_run_never_lowers_a_request(void **state)
{
	struct trk_record *r = *state;

	r->outcome.code = 3;
	assert_report(r, "text", "\u2717 exit 3");
	assert_report(r, "text", "Request at least 4 CPU, 2 GiB next time");
	assert_report(r, "text", "Not enough data.");
	assert_report(r, "text", "--cpus=4 --memory=2048m");
}

static void the_size_of_the_machine_is_no_request(void **state)
{
	struct trk_record *r = *state;

	r->outcome.code = 3;
	trk__quantity_set(&r->run.limit[TRK_LIMIT_CPU], 64, TRK_QUALITY_EXACT, "online CPUs", NULL);
	trk__quantity_set(&r->run.limit[TRK_LIMIT_MEMORY_MIB], 262144, TRK_QUALITY_EXACT,
			  "MemTotal", NULL);
	assert_report(r, "text", "Request at least 2 CPU, 896 MiB next time");
	assert_report(r, "html", "64 cores in this machine");
}

static void waits_of_others_are_not_the_jobs(void **state)
{
	struct trk_record *r;

	for (size_t i = 0; i < list.count; i++)
		trk__sample_set(&list.row[i], TRK_SYSTEM_PRESSURE_IO_SOME, 600000);
	for (size_t i = 0; i < list.count; i++)
		trk__sample_set(&list.row[i], TRK_PROCESS_CPU_USAGE, 2000);
	r = record_make(&list);
	assert_report(r, "text", "Other processes did more on this machine than the job");
	assert_report(r, "text", " other 80 %, 48.0 s");
	record_drop(r);
	for (size_t i = 0; i < list.count; i++)
		trk__sample_set(&list.row[i], TRK_SYSTEM_CPU_USAGE, 3000);
	r = record_make(&list);
	assert_report(r, "text", " waiting for disk 60 %, 36.0 s");
	record_drop(r);
}

static void a_run_that_waited_for_a_cpu_says_how_long_it_takes_without(void **state)
{
	struct trk_record *r;

	assert_false(report_holds(*state, "waited for a CPU"));
	for (size_t i = 0; i < list.count; i++) {
		trk__sample_set(&list.row[i], TRK_PROCESS_UTIME, 400000);
		trk__sample_set(&list.row[i], TRK_PROCESS_STIME, 0);
		trk__sample_set(&list.row[i], TRK_PROCESS_CPU_USAGE, 4000);
		trk__sample_set(&list.row[i], TRK_PROCESS_CPU_QUEUE, 1600000);
		trk__sample_set(&list.row[i], TRK_SYSTEM_UTIME, 4000000);
		trk__sample_set(&list.row[i], TRK_SYSTEM_STIME, 0);
	}
	r = record_make(&list);
	assert_report(r, "text",
		      "Its threads waited for a CPU 80 % of the time that they could run, behind "
		      "other work.");
	assert_report(r, "text", "2 cores: about 12.0 s without the queue; it took 1 m 0 s");
	assert_report(r, "text", "--cpus=2 ");      /* two threads wanted to run */
	assert_report(r, "text", "--time=0:02:00"); /* the next run may wait as long */
	assert_report(r, "text", "next time (about 12.0 s without the queue)");
	record_drop(r);
	for (size_t i = 0; i < list.count; i++)
		trk__sample_set(&list.row[i], TRK_SYSTEM_UTIME, 410000);
	r = record_make(&list);
	assert_report(r, "text", "behind its other threads.");
	record_drop(r);
	for (size_t i = 0; i < list.count; i++)
		trk__sample_set(&list.row[i], TRK_PROCESS_CPU_QUEUE, 80000);
	r = record_make(&list);
	assert_false(report_holds(r, "waited for a CPU"));
	assert_report(r, "text", "--cpus=1 ");
	record_drop(r);
}

static void many_waiting_threads_do_not_hide_other_work(void **state)
{
	struct trk_record *r;

	for (size_t i = 0; i < list.count; i++) {
		trk__sample_set(&list.row[i], TRK_PROCESS_UTIME, 1500000);
		trk__sample_set(&list.row[i], TRK_PROCESS_STIME, 0);
		trk__sample_set(&list.row[i], TRK_PROCESS_CPU_USAGE, 15000);
		trk__sample_set(&list.row[i], TRK_PROCESS_CPU_QUEUE, 22500000);
		trk__sample_set(&list.row[i], TRK_SYSTEM_UTIME, 4000000);
		trk__sample_set(&list.row[i], TRK_SYSTEM_STIME, 0);
	}
	/* Of 24 threads four could have run at once, and 1.5 did. */
	r = record_make(&list);
	assert_report(r, "text",
		      "Its threads waited for a CPU 62 % of the time that they could run, behind "
		      "other work.");
	record_drop(r);
	for (size_t i = 0; i < list.count; i++)
		trk__sample_set(&list.row[i], TRK_PROCESS_UTIME, 3800000);
	r = record_make(&list);
	assert_report(r, "text",
		      "Its threads waited for a CPU 86 % of the time that they could run, behind "
		      "its other threads.");
	record_drop(r);
}

static void a_run_that_ended_well_may_lower_it(void **state)
{
	assert_report(*state, "text", "Over-provisioned.");
	assert_report(*state, "text", "Request 2 CPU, 896 MiB next time");
}

static void the_price_of_fewer_cores_is_told(void **state)
{
	struct trk_record *r;

	for (size_t i = 0; i < list.count; i++)
		trk__sample_set(&list.row[i], TRK_PROCESS_CPU_USAGE, i % 5 ? 6000 : 18000);
	r = record_make(&list);
	assert_report(r, "text", "Request 1 CPU, 896 MiB next time (run time +16 %)");
	assert_report(r, "text", "1 core: the run takes about 16 % longer, and costs least");
	record_drop(r);
}

static void without_a_request_or_a_limit_the_headline_is_the_next_request(void **state)
{
	struct trk_record *r = *state;

	trk__quantity_set(&r->run.limit[TRK_LIMIT_CPU], 64, TRK_QUALITY_EXACT, "online CPUs", NULL);
	trk__quantity_set(&r->run.limit[TRK_LIMIT_MEMORY_MIB], 262144, TRK_QUALITY_EXACT,
			  "MemTotal", NULL);
	assert_report(r, "text",
		      "Next time request 2 CPU, 896 MiB. Used at most 1.5 of "
		      "64 cores and 640 MiB of 256 GiB of memory.");
	assert_report(r, "text", "256 GiB in this machine");
	assert_false(report_holds(r, "ver-provisioned"));
}

static void out_of_memory_names_limit_peak_and_largest_process(void **state)
{
	struct trk_record *r = *state;

	r->outcome.end = TRK_END_OUT_OF_MEMORY;
	r->outcome.code = -1;
	r->outcome.signal = 9;
	r->outcome.top[0].peak_bytes = 600ull << 20;
	assert_report(r, "text", "at a limit of 2 GiB; the largest use that was seen is 640 MiB");
	assert_report(r, "text", "The largest process was sort with 600 MiB");
	assert_report(r, "text", "killed at its limit: the job needs more than that");
	assert_report(r, "text", "Under-provisioned.");
}

static void every_other_end_has_words_of_its_own(void **state)
{
	static const struct {
		enum trk_end end;
		int signal;
		const char *want;
	} table[] = {
		{TRK_END_SIGNALLED, 15, "signal 15 (TERM)"},
		{TRK_END_TIMEOUT, 15, "timeout"},
		{TRK_END_MEMORY_LIMIT, 15, "memory limit"},
		{TRK_END_STOPPED, 0, "\u25a0 stopped"},
		{TRK_END_VANISHED, 0, "ended unexpectedly"},
		{TRK_END_FAILED, 0, "The job failed. What it used until then"},
		{TRK_END_RUNNING, 0, "those up to 1 m 0 s after its start"},
		{TRK_END_TRACKER_DIED, 0, "how the job ended is not known"},
	};
	struct trk_record *r = *state;

	r->outcome.code = -1;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		r->outcome.end = table[i].end;
		r->outcome.signal = table[i].signal;
		assert_report(r, "html", table[i].want);
		assert_report(r, "md", table[i].want);
		assert_report(r, "text", table[i].want);
	}
}

static void a_job_that_says_that_it_failed_has_failed(void **state)
{
	static const struct {
		enum trk_end end, want;
		int code, want_code;
	} table[] = {
		{TRK_END_EXITED, TRK_END_FAILED, 0, -1},
		{TRK_END_STOPPED, TRK_END_FAILED, -1, -1},
		{TRK_END_EXITED, TRK_END_EXITED, 3, 3}, /* which tells more */
		{TRK_END_OUT_OF_MEMORY, TRK_END_OUT_OF_MEMORY, -1, -1},
	};
	struct trk_record *r = *state;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		r->outcome.end = table[i].end;
		r->outcome.code = table[i].code;
		trk__record_fail(r);
		assert_int_equal(r->outcome.end, table[i].want);
		assert_int_equal(r->outcome.code, table[i].want_code);
	}
	assert_false(report_holds(r, "\"sizing\": \"over-provisioned\""));
}

static void a_damaged_recording_says_what_is_lost(void **state)
{
	struct trk_record *r = *state;

	r->damaged = 2;
	assert_report(r, "html", "2 places in it could not be read and were left out");
}

static void a_run_without_samples_draws_nothing(void **state)
{
	struct row_list none = {.count = 0};
	struct trk_record *r = record_make(&none);
	struct trk_report_rows *rows = trk__report_rows_new(r);
	struct trk_report_input in = {.record = r, .rows = rows};
	char *text = report_text(&in, "html");

	assert_holds(text, "No sample was taken, so there is nothing to draw.");
	assert_lacks(text, "<figure");
	free(text);
	trk__report_rows_free(rows);
	record_drop(r);
}

static void one_sample_is_called_a_moment(void **state)
{
	rows_fill(&list, 1);
	{
		struct trk_record *r = record_make(&list);

		assert_report(r, "html", "it shows a moment, not a course");
		assert_report(r, "html", "<figure");
		record_drop(r);
	}
}

static void what_is_absent_is_told_in_one_line(void **state)
{
	assert_report(*state, "html", "This is the first known run of the job");
	assert_report(*state, "html", "does not describe its server or cloud");
	assert_report(*state, "html", "No catalogue of servers was available.");
	assert_report(*state, "html",
		      "Not measured in this run: Disk write, Disk space, Network in,"
		      " Network out, GPU use, Video memory, GPUs in use.");
}

/* ---- what comes from outside ---- */

static const char hostile[] =
	"</script><script>alert(1)</script><img src=x onerror=\"a('b')\">&amp;"
	"\x1b[31m\xe2\x80\xae"
	"desrever\xff\xfe | `x` [l](http://a.b) @all #1\r\n# head";

static void give_hostile_names(struct trk_record *r)
{
	struct trk_mark mark = {.elapsed_ns = 20000000000};

	(void) snprintf(r->run.job, sizeof(r->run.job), "%s", hostile);
	memcpy(r->run.command, hostile, sizeof(hostile));
	r->run.command_len = sizeof(hostile);
	(void) snprintf(r->run.tags, sizeof(r->run.tags), "k=%s", hostile);
	r->run.tags_len = strlen(r->run.tags) + 1;
	(void) snprintf(r->run.version, sizeof(r->run.version), "%s", hostile);
	(void) snprintf(r->outcome.evidence, sizeof(r->outcome.evidence), "%s", hostile);
	(void) snprintf(r->outcome.sources[0][0], sizeof(r->outcome.sources[0][0]), "%.100s",
			hostile);
	(void) snprintf(r->outcome.top[0].name, sizeof(r->outcome.top[0].name), "%.60s", hostile);
	(void) snprintf(r->outcome.top[0].command, sizeof(r->outcome.top[0].command), "%.150s",
			hostile);
	(void) snprintf(mark.name, sizeof(mark.name), "%.120s", hostile);
	assert_int_equal(trk__record_mark(r, &mark), 0);
	r->outcome.end = TRK_END_SIGNALLED;
	r->outcome.signal = 15;
}

static size_t count_of(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

static void set_cloud(struct trk_record *r, const char *vendor, const char *region,
		      const char *type)
{
	struct trk_cloud *c = &r->place.cloud;

	r->place.has_cloud = true;
	(void) snprintf(c->vendor, sizeof(c->vendor), "%s", vendor);
	(void) snprintf(c->region, sizeof(c->region), "%s", region);
	(void) snprintf(c->instance_type, sizeof(c->instance_type), "%s", type);
}

static void hostile_names_stay_text_in_the_page(void **state)
{
	struct trk_record *r = *state;
	struct trk_report_rows *rows = rows_make(r, &list);
	struct trk_report_input in = {.record = r, .rows = rows};
	char *text;

	give_hostile_names(r);
	r->place.has_server = true;
	(void) snprintf(r->place.server.cpu_model, sizeof(r->place.server.cpu_model), "%s",
			hostile);
	set_cloud(r, hostile, hostile, hostile);
	text = report_text(&in, "html");
	assert_lacks(text, "<img");
	assert_lacks(text, "alert(1)</script>");
	assert_int_equal(count_of(text, "<script"), 2); /* the data and ours */
	assert_int_equal(count_of(text, "</script"), 2);
	assert_holds(text, "&lt;/script&gt;&lt;script&gt;alert(1)");
	assert_lacks(text, "\x1b");
	assert_lacks(text, "\xe2\x80\xae");
	assert_lacks(text, "\xff");
	assert_lacks(text, "onerror=\"");
	/* All of it is UTF-8. */
	for (size_t i = 0, len = strlen(text); i < len;) {
		size_t n = trk__utf8_length(text + i, len - i);

		assert_true(n > 0);
		i += n;
	}
	free(text);
	trk__report_rows_free(rows);
}

static void hostile_names_mean_nothing_in_markdown(void **state)
{
	struct trk_record *r = *state;
	struct trk_report_input in = {.record = r};
	char *text;

	give_hostile_names(r);
	text = report_text(&in, "md");
	assert_lacks(text, " @all");
	assert_lacks(text, " #1");
	assert_lacks(text, "[l]");
	assert_lacks(text, "http:/");
	assert_lacks(text, "\n# head");
	assert_holds(text, "\\</script\\>\\<script\\>");
	assert_lacks(text, "\x1b");
	free(text);
}

static void long_names_are_cut(void **state)
{
	struct trk_record *r = *state;

	memset(r->run.command, 'y', sizeof(r->run.command) - 1);
	r->run.command_len = sizeof(r->run.command);
	assert_report(r, "text", "yyyy\u2026 ");
}

static void odd_values_make_no_odd_text(void **state)
{
	static const double values[] = {0, 1e-9, 1e15, 1e300, -1, INFINITY, NAN};
	struct trk_record *r = *state;
	struct trk_catalog catalog;

	trk__catalog_embedded(&catalog);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		struct trk_report_rows *rows = rows_make(r, &list);
		struct trk_report_input in = {.record = r, .rows = rows, .catalog = &catalog};
		char *text;

		for (int t = 0; t < TRK_TOTALS; t++)
			trk__quantity_set(&r->outcome.total[t], values[i], TRK_QUALITY_EXACT, "x",
					  NULL);
		trk__quantity_set(&r->run.limit[TRK_LIMIT_CPU], values[i], TRK_QUALITY_EXACT, "x",
				  NULL);
		text = report_text(&in, "html");
		assert_lacks(text, ">nan");
		assert_lacks(text, "\"-nan");
		assert_lacks(text, "=\"inf");
		free(text);
		trk__report_rows_free(rows);
	}
}

/* ---- the page ---- */

static void the_page_asks_for_nothing(void **state)
{
	struct trk_report_rows *rows = rows_make(*state, &list);
	struct trk_report_input in = {.record = *state, .rows = rows};
	char *text = report_text(&in, "html");

	assert_holds(text, "content=\"default-src 'none'; style-src 'sha256-");
	assert_lacks(text, "unsafe-");
	assert_lacks(text, "http:");
	assert_lacks(text, "https:");
	assert_lacks(text, " style=");
	assert_lacks(text, " onclick=");
	free(text);
	trk__report_rows_free(rows);
}

static void an_embedded_recording_comes_as_base64(void **state)
{
	struct trk_report_input in = {.record = *state, .raw = "RTRK\x01", .raw_len = 5};
	char *text = report_text(&in, "html");

	assert_holds(text, "id=\"raw\">UlRSSwE=</script>");
	free(text);
}

static void the_known_place_gives_the_cost_of_the_run(void **state)
{
	struct trk_catalog catalog;
	struct trk_report_input in = {.record = *state, .catalog = &catalog};
	char *text;

	set_cloud(*state, "aws", "us-east-1", "c7i.xlarge");
	trk__catalog_embedded(&catalog);
	text = report_text(&in, "text");
	assert_holds(text, "instead of $");
	assert_holds(text, "this run, as it was");
	free(text);
}

static void earlier_runs_are_compared_with(void **state)
{
	struct trk_history_row row;
	struct trk_past_run runs[7];
	struct trk_report_input in = {.record = *state, .runs = runs, .count = 7};
	char *text;

	trk__history_run_from(*state, "", &row);
	for (int i = 0; i < 7; i++) {
		runs[i] = row.run;
		runs[i].start_s += i;
		runs[i].id[0] = (char) ('a' + i);
		runs[i].duration_s = i < 6 ? 30 + i % 2 : 60;
	}
	text = report_text(&in, "text");
	assert_holds(text, "higher than usual");
	assert_holds(text, "+97 %"); /* 60 beside a median of 30.5 */
	free(text);
	in.count = 3;
	text = report_text(&in, "text");
	assert_holds(text, "too few runs to tell (5 needed)");
	free(text);
}

static void the_detected_system_comes_first(void **state)
{
	struct trk_record *r = *state;
	struct trk_report_input in = {.record = r};
	char *text;

	trk__quantity_set(&r->run.request[TRK_REQUEST_CPU], 4, TRK_QUALITY_EXACT, "MEMORY_LIMIT",
			  NULL);
	text = report_text(&in, "html");
	assert_true(strstr(text, "snippet-k8s") < strstr(text, "snippet-slurm"));
	free(text);
}

static void an_unknown_format_is_refused(void **state)
{
	struct trk_doc *report = calloc(1, sizeof(*report));
	struct trk_report_input in = {.record = *state};
	struct trk_buf b;

	trk__buf_init(&b, 1 << 20);
	assert_non_null(report);
	assert_int_equal(trk__report_make(&in, report), 0);
	assert_int_equal(trk__report_write(&b, report, "pdf"), -EINVAL);
	assert_int_equal(b.len, 0);
	trk__doc_release(report);
	free(report);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_finished_run_says_so),
		CASE(a_failed_run_never_lowers_a_request),
		CASE(a_run_that_waited_for_a_cpu_says_how_long_it_takes_without),
		CASE(the_size_of_the_machine_is_no_request),
		CASE(waits_of_others_are_not_the_jobs),
		CASE(a_run_that_ended_well_may_lower_it),
		CASE(many_waiting_threads_do_not_hide_other_work),
		CASE(the_price_of_fewer_cores_is_told),
		CASE(without_a_request_or_a_limit_the_headline_is_the_next_request),
		CASE(out_of_memory_names_limit_peak_and_largest_process),
		CASE(every_other_end_has_words_of_its_own),
		CASE(a_job_that_says_that_it_failed_has_failed),
		CASE(a_damaged_recording_says_what_is_lost),
		CASE(a_run_without_samples_draws_nothing),
		CASE(one_sample_is_called_a_moment),
		CASE(what_is_absent_is_told_in_one_line),
		CASE(hostile_names_stay_text_in_the_page),
		CASE(hostile_names_mean_nothing_in_markdown),
		CASE(long_names_are_cut),
		CASE(odd_values_make_no_odd_text),
		CASE(the_page_asks_for_nothing),
		CASE(an_embedded_recording_comes_as_base64),
		CASE(the_known_place_gives_the_cost_of_the_run),
		CASE(earlier_runs_are_compared_with),
		CASE(the_detected_system_comes_first),
		CASE(an_unknown_format_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
