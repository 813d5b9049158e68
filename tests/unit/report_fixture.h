/* Records and reports for the tests of the report. Include it after <cmocka.h>. */
#ifndef TRK_TESTS_REPORT_FIXTURE_H
#define TRK_TESTS_REPORT_FIXTURE_H

#include <math.h>

#include "report/report.h"
#include "rows.h"

struct row_list {
	struct trk_sample row[400];
	uint64_t stands_for[400];
	size_t count;
};

/* Rows of one second: 1.5 cores and 512 MiB of 4 cores and 2 GiB; reads 3 MB each. */
static inline void rows_fill(struct row_list *list, size_t count)
{
	list->count = count;
	for (size_t i = 0; i < count; i++) {
		struct trk_sample *s = &list->row[i];

		memset(s, 0, sizeof(*s));
		list->stands_for[i] = 1;
		trk__sample_set(s, TRK_TIMESTAMP, 1700000001123 + (int64_t) i * 1000);
		trk__sample_set(s, TRK_ELAPSED, (int64_t) (i + 1) * 1000000);
		trk__sample_set(s, TRK_INTERVAL, 1000000);
		trk__sample_set(s, TRK_PROCESS_CPU_USAGE, 15000);
		trk__sample_set(s, TRK_PROCESS_MEMORY, 512 * 1048576ll);
		trk__sample_set(s, TRK_PROCESS_DISK_READ, 3000000);
		trk__sample_set(s, TRK_SYSTEM_CPU_USAGE, 20000);
	}
}

/* A record of these rows, exited with 0; the caller releases with record_drop(). */
static inline struct trk_record *record_make(const struct row_list *list)
{
	struct trk_record *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	assert_int_equal(trk__record_init(r), 0);
	run_init(&r->run);
	outcome_init(&r->outcome);
	r->outcome.code = 0;
	r->outcome.left_behind = 0;
	r->outcome.missed = 0;
	for (int i = 0; i < TRK_REQUESTS; i++)
		trk__quantity_set(&r->run.request[i], NAN, TRK_QUALITY_UNKNOWN, NULL, NULL);
	trk__quantity_set(&r->run.limit[TRK_LIMIT_CPU], 4, TRK_QUALITY_EXACT, "cpu.max", NULL);
	trk__quantity_set(&r->run.limit[TRK_LIMIT_MEMORY_MIB], 2048, TRK_QUALITY_EXACT,
			  "memory.max", NULL);
	trk__quantity_set(&r->outcome.total[TRK_TOTAL_PEAK_MEMORY_MIB], 640, TRK_QUALITY_EXACT,
			  "smaps_rollup", NULL);
	for (size_t i = 0; i < list->count; i++)
		trk__record_add(r, list->stands_for[i], &list->row[i], &list->row[i],
				&list->row[i]);
	r->outcome.duration_ns = (uint64_t) r->last_elapsed_us * 1000;
	r->ended = true;
	return r;
}

static inline void record_drop(struct trk_record *r)
{
	trk__record_release(r);
	free(r);
}

static inline struct trk_report_rows *rows_make(const struct trk_record *record,
						const struct row_list *list)
{
	struct trk_report_rows *rows = trk__report_rows_new(record);

	assert_non_null(rows);
	for (size_t i = 0; i < list->count; i++)
		assert_int_equal(trk__report_rows_take(rows, list->stands_for[i], &list->row[i],
						       &list->row[i], &list->row[i]),
				 0);
	return rows;
}

/* Whether `at` begins with the word; moves it behind that. */
static inline bool passes(const char **at, const char *word)
{
	bool is = !strncmp(*at, word, strlen(word));

	*at += is ? strlen(word) : 0;
	return is;
}

/* Reduce a page to what it says: without tags, styles and scripts. */
static inline void page_keep_text(char *page)
{
	static const char *const entities[][2] = {
		{"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}, {"&quot;", "\""}, {"&#39;", "'"}};
	const char *at = page;
	char *to = page;

	while (*at) {
		const char *end = passes(&at, "<script")  ? strstr(at, "</script>")
				  : passes(&at, "<style") ? strstr(at, "</style>")
				  : *at == '<'            ? strchr(at, '>')
							  : NULL;
		size_t i = 0;

		if (end) {
			at = *end == '>' ? end + 1 : end;
			continue;
		}
		while (i < 5 && !passes(&at, entities[i][0]))
			i++;
		*to++ = i < 5 ? *entities[i][1] : *at++;
	}
	*to = '\0';
}

/* The page, or another form; "text": the text of the page. Owned: the caller frees it. */
static inline char *report_text(const struct trk_report_input *in, const char *format)
{
	struct trk_doc *report = calloc(1, sizeof(*report));
	struct trk_buf b;

	assert_non_null(report);
	trk__buf_init(&b, 16 << 20);
	assert_int_equal(trk__report_make(in, report), 0);
	assert_int_equal(trk__report_write(&b, report, !strcmp(format, "text") ? "html" : format),
			 0);
	trk__doc_release(report);
	free(report);
	if (!strcmp(format, "text"))
		page_keep_text(b.data);
	return b.data;
}

#endif
