/* make_history DIR [SEED [RUNS_A_DAY [TRUTH]]]: writes a synthetic history of 200 jobs over 90 days
 * (tests/unit/fleet_synthetic.h) to DIR/history.sqlite. TRUTH 0: only noise. The newest run started
 * at 08:00 UTC on 22 Nov 2026 at the latest. */
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../unit/fleet_synthetic.h"
#include "history/sqlite.h"

static void put_value(FILE *to, const struct trk_history_value *v)
{
	if (v->type == TRK_VALUE_NULL)
		(void) fputs("NULL", to);
	else if (v->type == TRK_VALUE_REAL)
		(void) fprintf(to, "%.17g", v->real);
	else if (v->type == TRK_VALUE_WHOLE)
		(void) fprintf(to, "%" PRId64, v->whole);
	else /* no quotes are made up */
		(void) fprintf(to, "'%s'", v->text);
}

static void put_run(FILE *to, const struct trk_past_run *run)
{
	struct trk_history_row row = {.run = *run};
	char file[96];

	(void) snprintf(file, sizeof(file), "%013" PRId64 "-%s.rtrk",
			(int64_t) (run->start_s * 1000), run->id);
	row.run.file = file;
	(void) fputs("INSERT INTO run (" TRK_HISTORY_COLUMNS ") VALUES (", to);
	for (int i = 0; i < TRK_HISTORY_FIELD_COUNT; i++) {
		struct trk_history_value v = trk__history_get(&row, &trk__history_fields[i]);

		(void) fputs(i ? "," : "", to);
		put_value(to, &v);
	}
	(void) fputs(");", to);
}

static int fill(struct trk_sqlite_history *h, struct synthetic *s)
{
	struct trk_error error = {.code = 0};
	int r = trk__sqlite_execute(h, "BEGIN", &error);

	for (size_t i = s->count; r == 0 && i-- > 0;) {
		char *sql = NULL;
		size_t size;
		FILE *to = open_memstream(&sql, &size);

		if (!to)
			return -1;
		put_run(to, &s->run[i]);
		(void) fclose(to);
		r = trk__sqlite_execute(h, sql, &error);
		free(sql);
	}
	if (r == 0)
		r = trk__sqlite_execute(h, "COMMIT", &error);
	if (r < 0)
		(void) fprintf(stderr, "%s\n", error.message);
	return r;
}

int main(int argc, char **argv)
{
	bool put_in = argc < 5 || *argv[4] != '0';
	struct truth t = {
		.seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1,
		.jobs = SYNTHETIC_JOBS,
		.days = SYNTHETIC_DAYS,
		.runs_a_day = argc > 3 ? strtod(argv[3], NULL) : 1.1,
		.failing_share = 0.01,
		.growing = put_in,
		.slower = put_in,
		.cluster = put_in,
		.slow_node = put_in,
		.odd_day = put_in,
		.over = put_in,
	};
	struct trk_error error = {.code = 0};
	struct trk_history *h;
	struct synthetic s;
	int r;

	if (argc < 2) {
		(void) fprintf(stderr, "usage: make_history DIR [SEED [RUNS_A_DAY [TRUTH]]]\n");
		return 2;
	}
	(void) mkdir(argv[1], 0700);
	h = trk__history_open_at(NULL, argv[1], 0, &error);
	if (!h) {
		(void) fprintf(stderr, "%s\n", error.message);
		return 1;
	}
	synthetic_make(&t, &s);
	r = fill((struct trk_sqlite_history *) (void *) h, &s);
	(void) printf("%zu runs\n", s.count);
	synthetic_release(&s);
	trk__history_free(h);
	return r == 0 ? 0 : 1;
}
