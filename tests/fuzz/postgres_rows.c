/* Rows that a PostgreSQL server answers with: cells as texts, a line each; "\N" is NULL. A server may
 * send any text in any column. */
#include "history/postgres.c"

#include "use_runs.h"

struct pg_result {
	char *cell[FUZZ_RUNS_MAX * TRK_HISTORY_FIELD_COUNT];
	size_t cells;
};

static char *value_at(const struct pg_result *r, int row, int column)
{
	size_t at = (size_t) row * TRK_HISTORY_FIELD_COUNT + (size_t) column;
	static char none[] = "\\N";

	return at < r->cells ? r->cell[at] : none;
}

static int is_null_at(const struct pg_result *r, int row, int column)
{
	return !strcmp(value_at(r, row, column), "\\N");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct postgres_history h = {.lib = {.getvalue = value_at, .getisnull = is_null_at}};
	static struct trk_history_row run[FUZZ_RUNS_MAX];
	char *text = fuzz_text(data, size);
	struct pg_result r = {.cells = 0};
	size_t rows = 0;

	for (char *line = text; line && r.cells < sizeof(r.cell) / sizeof(r.cell[0]);) {
		char *end = strchr(line, '\n');

		if (end)
			*end = '\0';
		r.cell[r.cells++] = line;
		line = end ? end + 1 : NULL;
	}
	for (; rows * TRK_HISTORY_FIELD_COUNT < r.cells; rows++)
		read_run(&h, &r, (int) rows, &run[rows]);
	fuzz_use_runs(run, rows);
	free(text);
	return 0;
}
