/* The summary: lines for people, the JSON document, the table of statistics. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/utf8.h"
#include "report/summary.h"
#include "rows.h"

static const struct trk_summary_style plain = {.color = false};
static const struct trk_summary_style utf8 = {.utf8 = true};

/* A run of ten rows of one second: 1.5 cores and 512 MiB of 4 cores and 2 GiB. */
static struct trk_record *record_new(void)
{
	struct trk_record *r = calloc(1, sizeof(*r));
	struct trk_outcome *o;
	struct trk_sample s = {.known = 0};

	assert_non_null(r);
	assert_int_equal(trk__record_init(r), 0);
	run_init(&r->run);
	o = &r->outcome;
	outcome_init(o);
	for (int i = 0; i < TRK_TOTALS; i++)
		trk__quantity_set(&o->total[i], 100 + i, TRK_QUALITY_EXACT, "wait4", NULL);
	trk__quantity_set(&o->total[TRK_TOTAL_CPU_S], 15, TRK_QUALITY_AT_LEAST, "tree", "why");
	trk__quantity_set(&o->total[TRK_TOTAL_PEAK_MEMORY_MIB], 640, TRK_QUALITY_ESTIMATED,
			  "smaps_rollup", "sampled");
	trk__quantity_set(&o->total[TRK_TOTAL_DISK_READ_BYTES], 2500000000, TRK_QUALITY_EXACT, "io",
			  NULL);
	trk__quantity_set(&o->total[TRK_TOTAL_DISK_WRITE_BYTES], 999, TRK_QUALITY_EXACT, "io",
			  NULL);
	trk__quantity_set(&o->total[TRK_TOTAL_MAJOR_FAULTS], NAN, TRK_QUALITY_EXACT, NULL, "gone");
	trk__quantities_clear(&o->total[TRK_TOTAL_PEAK_SWAP_MIB], 1);
	trk__quantities_clear(&o->total[TRK_TOTAL_PEAK_HUGE_PAGES_MIB], 1);
	trk__quantities_clear(&o->total[TRK_TOTAL_PEAK_FILE_PAGES_MIB], 1);
	trk__quantities_clear(&o->total[TRK_TOTAL_FORKS_REFUSED], 1);
	trk__quantity_set(&r->run.limit[TRK_LIMIT_CPU], 4, TRK_QUALITY_EXACT, "cpu.max", NULL);
	trk__quantity_set(&r->run.limit[TRK_LIMIT_MEMORY_MIB], 2048, TRK_QUALITY_EXACT,
			  "memory.max", NULL);
	o->duration_ns = 10000000000;
	o->left_behind = 0;
	trk__sample_set(&s, TRK_INTERVAL, 1000000);
	trk__sample_set(&s, TRK_PROCESS_CPU_USAGE, 15000);
	trk__sample_set(&s, TRK_PROCESS_UTIME, 1500000);
	trk__sample_set(&s, TRK_PROCESS_MEMORY, 512 * 1048576ll);
	for (int i = 1; i <= 10; i++) {
		trk__sample_set(&s, TRK_ELAPSED, i * 1000000);
		trk__record_add(r, 1, &s, &s, &s);
	}
	r->ended = true;
	return r;
}

static void record_free(struct trk_record *r)
{
	trk__record_release(r);
	free(r);
}

/* Owned: the caller frees it. */
static char *text_of(const struct trk_record *r, const struct trk_summary_style *style)
{
	struct trk_buf b;

	trk__buf_init(&b, 1 << 20);
	trk__summary_text(&b, r, style);
	assert_int_equal(b.error, 0);
	return b.data;
}

static char *json_of(const struct trk_record *r)
{
	struct trk_buf b;

	trk__buf_init(&b, 1 << 20);
	trk__summary_json(&b, r, NULL, NULL);
	assert_int_equal(b.error, 0);
	return b.data;
}

static void assert_says(const struct trk_record *r, const struct trk_summary_style *style,
			const char *want)
{
	char *text = text_of(r, style);

	if (!strstr(text, want))
		print_error("%s is not in\n%s", want, text);
	assert_non_null(strstr(text, want));
	free(text);
}

static void assert_silent(const struct trk_record *r, const struct trk_summary_style *style,
			  const char *unwanted)
{
	char *text = text_of(r, style);

	if (strstr(text, unwanted))
		print_error("%s is in\n%s", unwanted, text);
	assert_null(strstr(text, unwanted));
	free(text);
}

static void assert_json(const struct trk_record *r, const char *want)
{
	char *text = json_of(r);

	if (!strstr(text, want))
		print_error("%s is not in\n%s", want, text);
	assert_non_null(strstr(text, want));
	free(text);
}

static size_t lines_of(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

/* ---- text ---- */

static void the_lines_hold_the_figures(void **state)
{
	struct trk_record *r = record_new();

	assert_says(r, &plain,
		    "! exit 3   align   10.0 s                                             "
		    "r-0a1b2c3d\n");
	assert_says(r, &plain,
		    "CPU      1.50 mean  1.50 peak cores  of 4 limit      "
		    "########.............. 38 %\n");
	assert_says(r, &plain,
		    "Memory    512 mean   640 peak MiB    of 2 GiB limit  "
		    "#######............... 31 %\n");
	assert_says(r, &plain, "Disk     2.5 GB read | 999 B written\n");
	assert_says(r, &plain, "Total    at least 15.0 s of CPU | peak memory about 640 MiB\n");
	assert_says(r, &plain, "resource-tracker report r-0a1b2c3d (or show");
	record_free(r);
}

/* No line is longer, none ends in a blank, and no figure stands without its unit. */
static void check_lines(const char *text, size_t width, bool ascii)
{
	while (*text) {
		size_t len = strcspn(text, "\n");
		char line[2048];

		assert_true(len < sizeof(line) && text[len] == '\n');
		memcpy(line, text, len);
		line[len] = '\0';
		if (trk__utf8_columns(line) > width)
			print_error("more than %zu columns: %s\n", width, line);
		assert_true(trk__utf8_columns(line) <= width);
		assert_true(len == 0 || line[len - 1] != ' ');
		for (size_t i = 0; ascii && i < len; i++)
			assert_true((unsigned char) line[i] < 0x80);
		assert_null(strstr(line, "nan"));
		assert_null(strstr(line, "Memory0"));
		if (len > 9 && (!strncmp(line, "Memory", 6) || !strncmp(line, "CPU", 3)))
			assert_true(line[8] == ' ');
		text += len + 1;
	}
}

/* Values that are very large, very small or not known, and names that are long. */
static void make_awkward(struct trk_record *r, int which)
{
	static const double values[] = {0, 1e-9, 9.996, 4999, 1e6, 1e12, 1e300, NAN, INFINITY};
	double value = values[which];

	for (int i = 0; i < TRK_TOTALS; i++)
		trk__quantity_set(&r->outcome.total[i], value,
				  isnan(value) ? TRK_QUALITY_UNKNOWN : TRK_QUALITY_AT_LEAST, "x",
				  NULL);
	r->run.limit[TRK_LIMIT_CPU].value = which % 2 ? value : 4;
	r->run.limit[TRK_LIMIT_MEMORY_MIB].value = which % 3 ? value : 1e9;
	r->outcome.end = (enum trk_end) which;
	r->outcome.signal = 15;
	(void) snprintf(r->outcome.evidence, sizeof(r->outcome.evidence),
			"a-word-that-is-longer-than-forty-columns-and-so-is-cut some more words");
	r->outcome.left_behind = 7;
	r->damaged = 2;
	if (which % 2)
		memset(r->run.job, 'j', sizeof(r->run.job) - 1);
	else
		(void) snprintf(r->run.job, sizeof(r->run.job), "\u6771\u4eac \u6771\u4eac");
}

static void lines_fit_at_any_width_in_either_alphabet(void **state)
{
	static const size_t widths[] = {1, 40, 41, 60, 79, 80, 120, 200, 1000};

	for (int which = 0; which < 9; which++)
		for (size_t w = 0; w < sizeof(widths) / sizeof(widths[0]); w++)
			for (int i = 0; i < 4; i++) {
				struct trk_summary_style style = {
					.width = widths[w], .utf8 = i & 1, .color = i & 2};
				struct trk_record *r = record_new();
				char *text;

				make_awkward(r, which);
				text = text_of(r, &style);
				check_lines(text,
					    widths[w] < 40    ? 40
					    : widths[w] > 200 ? 200
							      : widths[w],
					    !(i & 1));
				free(text);
				record_free(r);
			}
}

static void few_samples_make_two_lines(void **state)
{
	static const struct trk_summary_style brief = {.brief = true};
	struct trk_record *r = record_new();
	char *text = text_of(r, &brief);

	assert_int_equal(lines_of(text), 2);
	free(text);
	r->samples = 2;
	text = text_of(r, &plain);
	assert_int_equal(lines_of(text), 2);
	free(text);
	record_free(r);
}

static void how_it_ended_is_said(void **state)
{
	struct trk_record *r = record_new();
	struct trk_outcome *o = &r->outcome;

	o->end = TRK_END_SIGNALLED;
	o->signal = 15;
	(void) snprintf(o->evidence, sizeof(o->evidence), "killed from outside");
	assert_says(r, &plain, "! signal 15 (TERM)   align   ");
	assert_says(r, &plain, "\n! killed from outside\n");
	o->end = TRK_END_TIMEOUT;
	assert_says(r, &plain, "! timeout   align");
	assert_says(r, &plain, "\n! killed from outside\n");
	o->end = TRK_END_MEMORY_LIMIT;
	assert_says(r, &plain, "! memory limit   align");
	o->end = TRK_END_TRACKER_DIED;
	assert_says(r, &plain,
		    "\n! did not end cleanly; last sample at 10.0 s: killed from outside\n");
	o->end = TRK_END_OUT_OF_MEMORY;
	assert_says(r, &plain,
		    "\n! killed by the kernel: out of memory (limit 2 GiB, peak 640 MiB)\n");
	o->top[0].peak_bytes = 600 << 20;
	assert_says(r, &plain, "\n! largest process: sort -u (pid 7), 600 MiB\n");
	o->end = TRK_END_RUNNING;
	assert_says(r, &plain, "> still running   align   10.0 s so far");
	o->end = TRK_END_EXITED;
	o->code = 0;
	o->evidence[0] = '\0';
	assert_says(r, &plain, "* exit 0   align");
	assert_silent(r, &plain, "! ");
	r->damaged = 1;
	assert_says(r, &plain, "\n! 1 damaged record skipped\n");
	o->left_behind = 2;
	assert_says(r, &plain, "\n! left behind: 2 processes still running\n");
	o->end = TRK_END_STOPPED;
	assert_says(r, &plain, "\n! left behind: 2 processes still running\n");
	(void) snprintf(r->run.kind, sizeof(r->run.kind), "attach");
	assert_silent(r, &plain, "left behind");
	record_free(r);
}

static void what_is_unknown_is_left_out(void **state)
{
	struct trk_record *r = record_new();

	r->outcome.total[TRK_TOTAL_CPU_S].value = NAN;
	r->outcome.total[TRK_TOTAL_DISK_READ_BYTES].value = NAN;
	r->run.limit[TRK_LIMIT_CPU].value = NAN;
	assert_silent(r, &plain, "Total");
	assert_silent(r, &plain, "Disk");
	assert_silent(r, &plain, " of 4");
	assert_silent(r, &plain, "nan");
	r->run.limit[TRK_LIMIT_MEMORY_MIB].value = NAN;
	assert_says(r, &plain, "Memory    512 mean   640 peak MiB\n");
	trk__stats_clear(r->stats);
	assert_silent(r, &plain, "nan");
	record_free(r);
}

static void nothing_of_a_name_reaches_the_terminals_controls(void **state)
{
	struct trk_record *r = record_new();

	(void) snprintf(r->run.job, sizeof(r->run.job), "a\x1b[2J\nb\x7f\xc2\x9b");
	assert_silent(r, &utf8, "\x1b");
	assert_silent(r, &utf8, "\xc2\x9b");
	assert_says(r, &utf8, "a?[2J b??");
	(void) snprintf(r->run.job, sizeof(r->run.job), "caf\xc3\xa9 \xff");
	assert_says(r, &utf8, "caf\xc3\xa9 ?");
	assert_silent(r, &plain, "\xc3");
	record_free(r);
}

static void colour_is_there_when_asked_and_closed(void **state)
{
	static const struct trk_summary_style colour = {.color = true};
	struct trk_record *r = record_new();

	assert_silent(r, &plain, "\033");
	assert_says(r, &colour, "\033[31m! exit 3\033[0m   align");
	assert_says(r, &colour, "\033[34m###");
	r->outcome.code = 0;
	assert_silent(r, &colour, "\033[31m");
	assert_says(r, &colour, "\033[32m* exit 0\033[0m");
	r->outcome.end = TRK_END_TIMEOUT;
	(void) snprintf(r->outcome.evidence, sizeof(r->outcome.evidence), "time limit");
	assert_says(r, &colour, "\n\033[31m!\033[0m \033[31mtime limit\033[0m\n");
	record_free(r);
}

/* ---- JSON ---- */

static void the_document_holds_the_figures(void **state)
{
	struct trk_record *r = record_new();

	assert_json(r, "\"schema\": \"resource-tracker.summary/1\"");
	assert_json(r, "\"id\": \"r-0a1b2c3d\"");
	assert_json(r, "\"command\": [\n   \"sort\",\n   \"-u\"\n  ]");
	assert_json(r, "\"tags\": {\n   \"lane\": \"7\"\n  }");
	assert_json(r, "\"start_time\": 1700000000.123,");
	assert_json(r, "\"duration_s\": 10,");
	assert_json(r, "\"code\": 3,\n   \"signal\": null,\n   \"verdict\": \"exited\"");
	assert_json(r, "\"cpu_s\": {\n   \"value\": 15,\n   \"quality\": \"at_least\",\n"
		       "   \"source\": \"tree\",\n   \"reason\": \"why\"\n  }");
	assert_json(r, "\"process_cpu_usage\": {\n   \"mean\": 1.5,\n   \"max\": 1.5,\n"
		       "   \"min\": 1.5,");
	assert_json(r, "\"process_utime\": {\n   \"mean\": 1.5,\n   \"max\": 1.5,\n"
		       "   \"min\": 1.5,\n");
	assert_json(r, "   \"sum\": 15\n");
	assert_json(r, "\"samples\": 10,");
	assert_json(r, "\"name\": \"sort\",\n   \"command\": \"sort -u\"");
	record_free(r);
}

static void what_is_unknown_is_null(void **state)
{
	struct trk_record *r = record_new();

	assert_json(r, "\"major_faults\": {\n   \"value\": null,\n   \"quality\": \"unknown\",\n"
		       "   \"source\": null,\n   \"reason\": \"gone\"\n  }");
	assert_json(r, "\"process_gpu_usage\": {\n   \"mean\": null,\n   \"max\": null,\n"
		       "   \"min\": null,\n   \"p50\": null,\n   \"p95\": null,\n"
		       "   \"p99\": null,\n   \"sum\": null\n  }");
	r->run.pid = 0;
	r->outcome.code = -1;
	r->outcome.stop_ns = 0;
	r->outcome.total[TRK_TOTAL_CPU_S].value = INFINITY;
	r->outcome.tracker_rss_bytes = 0;
	assert_json(r, "\"pid\": null,");
	assert_json(r, "\"code\": null,");
	assert_json(r, "\"stop_time\": null,");
	assert_json(r, "\"cpu_s\": {\n   \"value\": null,");
	assert_json(r, "\"peak_rss_mib\": null,");
	record_free(r);
}

static void text_from_outside_stays_text(void **state)
{
	struct trk_record *r = record_new();

	(void) snprintf(r->run.job, sizeof(r->run.job), "\"q\"\\\n\xff");
	r->run.command_len = 0;
	r->run.tags_len = 0;
	assert_json(r, "\"job\": \"\\\"q\\\"\\\\\\n\xef\xbf\xbd\"");
	assert_json(r, "\"command\": [],");
	assert_json(r, "\"tags\": {},");
	record_free(r);
}

static void every_kind_of_end_has_its_word(void **state)
{
	static const char *const words[] = {"running", "exited",       "signalled", "out_of_memory",
					    "timeout", "tracker_died", "stopped"};
	struct trk_record *r = record_new();

	for (int i = 0; i < 7; i++) {
		char want[64];

		r->outcome.end = (enum trk_end) i;
		(void) snprintf(want, sizeof(want), "\"verdict\": \"%s\"", words[i]);
		assert_json(r, want);
	}
	record_free(r);
}

static void statistics_stand_alone_too(void **state)
{
	struct trk_record *r = record_new();
	struct trk_buf b;

	trk__buf_init(&b, 1 << 20);
	trk__stats_json(&b, &r->run, r->stats, r->samples);
	assert_non_null(strstr(b.data, "\"schema\": \"resource-tracker.stats/1\""));
	assert_non_null(strstr(b.data, "\"samples\": 10"));
	assert_non_null(strstr(b.data, "\"process_memory_mib\": {\n   \"mean\": 512,"));
	trk__buf_clear(&b);
	trk__stats_text(&b, r->stats, &(struct trk_terminal_style){.width = 120});
	assert_int_equal(lines_of(b.data), 5); /* the head and what was measured */
	assert_non_null(strstr(b.data, "process_utime       s      1.500"));
	assert_null(strstr(b.data, "gpu"));
	trk__buf_release(&b);
	record_free(r);
}

static void swap_huge_pages_files_and_refused_forks_are_told(void **state)
{
	struct trk_record *r = record_new();
	struct trk_quantity *files = &r->outcome.total[TRK_TOTAL_PEAK_FILE_PAGES_MIB];
	struct trk_quantity *huge = &r->outcome.total[TRK_TOTAL_PEAK_HUGE_PAGES_MIB];
	struct trk_quantity *swap = &r->outcome.total[TRK_TOTAL_PEAK_SWAP_MIB];
	struct trk_quantity *forks = &r->outcome.total[TRK_TOTAL_FORKS_REFUSED];

	trk__quantity_set(swap, 246.25, TRK_QUALITY_AT_LEAST, "group", NULL);
	trk__quantity_set(forks, 1, TRK_QUALITY_AT_MOST, "pids.events", NULL);
	trk__quantity_set(&r->run.limit[TRK_LIMIT_PIDS], 20, TRK_QUALITY_EXACT, "p", NULL);
	assert_silent(r, &plain, "Huge");
	assert_silent(r, &plain, "Files");
	trk__quantity_set(files, 63, TRK_QUALITY_ESTIMATED, "smaps_rollup", NULL);
	assert_silent(r, &plain, "Files"); /* programs have as many */
	files->value = 400;
	assert_says(r, &plain, "Files    up to 400 MiB of the peak are pages of mapped files");
	trk__quantity_set(huge, 64, TRK_QUALITY_AT_LEAST, "status", NULL);
	assert_says(r, &plain, "Swap     246 MiB swapped out at the peak");
	assert_says(r, &plain,
		    "Huge     64 MiB in huge pages at the peak, not part of the memory above");
	assert_says(r, &plain, "! 1 fork refused by the limit of processes (pids.max 20)");
	/* Perhaps the swap of others; a limit that is not seen. */
	swap->quality = TRK_QUALITY_ESTIMATED;
	forks->value = 3;
	r->run.limit[TRK_LIMIT_PIDS].value = NAN;
	assert_silent(r, &plain, "Swap");
	assert_says(r, &plain, "! 3 forks refused by the limit of processes\n");
	record_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_lines_hold_the_figures),
		cmocka_unit_test(lines_fit_at_any_width_in_either_alphabet),
		cmocka_unit_test(few_samples_make_two_lines),
		cmocka_unit_test(how_it_ended_is_said),
		cmocka_unit_test(what_is_unknown_is_left_out),
		cmocka_unit_test(nothing_of_a_name_reaches_the_terminals_controls),
		cmocka_unit_test(colour_is_there_when_asked_and_closed),
		cmocka_unit_test(the_document_holds_the_figures),
		cmocka_unit_test(what_is_unknown_is_null),
		cmocka_unit_test(text_from_outside_stays_text),
		cmocka_unit_test(every_kind_of_end_has_its_word),
		cmocka_unit_test(statistics_stand_alone_too),
		cmocka_unit_test(swap_huge_pages_files_and_refused_forks_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
