/* Shared by the fuzzers of database rows: what every view makes of the runs. */
#ifndef TRK_TESTS_FUZZ_USE_RUNS_H
#define TRK_TESTS_FUZZ_USE_RUNS_H

#include "base/json_read.h"
#include "fleet/answer.h"
#include "history/private.h"

#include "fuzz.h"

enum { FUZZ_RUNS_MAX = 8, FUZZ_PAGE_MAX = 1 << 24 };

/* The texts of the run end within their fields. */
static inline void fuzz_check_run(struct trk_history_row *row)
{
	for (int i = 0; i < TRK_HISTORY_FIELD_COUNT; i++) {
		const struct trk_history_field *f = &trk__history_fields[i];
		struct trk_history_value v = trk__history_get(row, f);

		FUZZ_CHECK(v.type != TRK_VALUE_TEXT ||
			   strnlen(v.text, TRK_HISTORY_TEXT_SIZE) < TRK_HISTORY_TEXT_SIZE);
	}
}

/* The views of these runs; their JSON is valid. */
static inline void fuzz_use_runs(struct trk_history_row *row, size_t n)
{
	static struct trk_fleet_views v;
	const struct trk_fleet_question q = {.view = TRK_FLEET_VIEW_OVERVIEW};
	struct trk_fleet_rows rows;
	struct trk_json_doc doc;
	struct trk_buf b;

	trk__fleet_rows_init(&rows, 1795334400, 3600);
	for (size_t i = 0; i < n; i++) {
		fuzz_check_run(&row[i]);
		row[i].run.end = trk__past_run_end(&row[i].run);
		FUZZ_CHECK(trk__fleet_rows_add(&rows, &row[i].run) == 0);
	}
	FUZZ_CHECK(trk__fleet_rows_sort(&rows) == 0 &&
		   trk__fleet_views_make(&rows, 30, NULL, &v) == 0);
	trk__buf_init(&b, FUZZ_PAGE_MAX);
	FUZZ_CHECK(trk__fleet_answer(&rows, &v, &q, &b) == 0 &&
		   trk__json_read(b.data, b.len, NULL, "", &doc, NULL) == 0);
	trk__json_doc_release(&doc);
	trk__buf_release(&b);
	trk__fleet_views_release(&v);
	trk__fleet_rows_release(&rows);
}

#endif
