/* Rows of an SQLite database, whose cells may have any type: a byte for the type, eight for a number,
 * or a text up to a NUL. */
#include "history/sqlite.c"

#include "use_runs.h"

enum { NULLS = 0, NUMBERS = 1, TEXTS = 2 };

struct cell {
	int type;
	int64_t whole;
	double real;
	const char *text;
};

struct sqlite3_stmt {
	struct cell cell[TRK_HISTORY_FIELD_COUNT];
};

static const unsigned char *text_at(struct sqlite3_stmt *s, int at)
{
	return (const unsigned char *) s->cell[at].text;
}

static int64_t whole_at(struct sqlite3_stmt *s, int at)
{
	return s->cell[at].whole;
}

static double real_at(struct sqlite3_stmt *s, int at)
{
	return s->cell[at].real;
}

static int type_at(struct sqlite3_stmt *s, int at)
{
	return s->cell[at].type == NULLS ? SQLITE_TYPE_NULL : SQLITE_TYPE_NULL - 1;
}

/* The next cell; its text is NULL where there is none, as after a failed conversion. */
static void take_cell(const char **at, const char *end, struct cell *ret)
{
	*ret = (struct cell){.type = *at < end ? (unsigned char) *(*at)++ % 3 : NULLS};
	if (ret->type == NUMBERS && end - *at >= 8) {
		memcpy(&ret->whole, *at, 8);
		memcpy(&ret->real, *at, 8);
		*at += 8;
	} else if (ret->type == TEXTS) {
		ret->text = *at;
		*at += strlen(*at);
		*at += *at < end;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct trk_sqlite_history h = {.lib = {.column_text = text_at,
						      .column_int64 = whole_at,
						      .column_double = real_at,
						      .column_type = type_at}};
	static struct trk_history_row run[FUZZ_RUNS_MAX];
	char *text = fuzz_text(data, size);
	const char *at = text;
	size_t rows = 0;

	for (; rows < FUZZ_RUNS_MAX && at < text + size; rows++) {
		struct sqlite3_stmt s;

		for (int i = 0; i < TRK_HISTORY_FIELD_COUNT; i++)
			take_cell(&at, text + size, &s.cell[i]);
		read_run(&h, &s, &run[rows]);
	}
	fuzz_use_runs(run, rows);
	free(text);
	return 0;
}
