/* The live view of a run from its recording: moments, trends, the usual course, frames of several
 * sizes, and following a growing file. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/utf8.h"
#include "recording/follow.h"
#include "report/chart_rows.h"
#include "rows.h"
#include "top/keys.h"
#include "top/session.h"
#include "top/view.h"

enum { OUT_MAX = 1 << 20, SECOND = 1000000 };

static const char name[] = "1700000000123-r-0a1b2c3d.rtrk";

/* ---- recordings ---- */

/* A row of second n: cores, MiB, bytes read. */
static void put_row(struct trk_writer *w, int n, double cores, double mib, int64_t bytes)
{
	struct trk_sample s = {.known = 0};

	trk__sample_set(&s, TRK_TIMESTAMP, 1700000000000 + n * 1000);
	trk__sample_set(&s, TRK_ELAPSED, (n + 1) * (int64_t) SECOND);
	trk__sample_set(&s, TRK_INTERVAL, SECOND);
	trk__sample_set(&s, TRK_PROCESS_CPU_USAGE, (int64_t) (cores * 10000));
	trk__sample_set(&s, TRK_PROCESS_UTIME, (int64_t) (cores * SECOND));
	trk__sample_set(&s, TRK_PROCESS_STIME, 0);
	trk__sample_set(&s, TRK_PROCESS_MEMORY, (int64_t) (mib * 1048576));
	trk__sample_set(&s, TRK_PROCESS_DISK_READ, bytes);
	trk__sample_set(&s, TRK_PROCESS_ON_CPU, (int64_t) (cores < 1 ? cores * SECOND : SECOND));
	trk__sample_set(&s, TRK_PROCESS_DISK_WAIT, bytes ? SECOND / 4 : 0);
	assert_int_equal(trk__writer_row(w, &s), 0);
}

static void put_mark(struct trk_writer *w, int second, const char *text)
{
	struct trk_mark mark = {.elapsed_ns = (uint64_t) second * 1000000000};

	(void) snprintf(mark.name, sizeof(mark.name), "%s", text);
	assert_int_equal(trk__writer_mark(w, &mark), 0);
}

static void put_state(struct trk_writer *w, bool end, uint64_t cpu_ns)
{
	struct trk_outcome *o = calloc(1, sizeof(*o));

	assert_non_null(o);
	outcome_init(o);
	o->code = 0;
	o->left_behind = 0;
	o->duration_ns = 100000000000;
	o->top[0].cpu_ns = cpu_ns;
	assert_int_equal(end ? trk__writer_end(w, o) : trk__writer_state(w, o), 0);
	free(o);
}

/* 100 s: "load" that reads and grows to 6 of 17 MiB, "train" on 2 of 16 cores. */
static void put_run(int dirfd, const char *file, const char *job, double scale)
{
	struct trk_run run;
	struct trk_writer *w;

	run_init(&run);
	(void) snprintf(run.job, sizeof(run.job), "%s", job);
	trk__quantities_clear(run.limit, TRK_LIMITS);
	trk__quantities_clear(run.request, TRK_REQUESTS);
	trk__quantity_set(&run.limit[TRK_LIMIT_CPU], 16, TRK_QUALITY_EXACT, "cpu.max", NULL);
	trk__quantity_set(&run.limit[TRK_LIMIT_MEMORY_MIB], 2048, TRK_QUALITY_EXACT, "--limit",
			  NULL);
	trk__quantity_set(&run.limit[TRK_LIMIT_TIME_S], 3600, TRK_QUALITY_EXACT, "--limit", NULL);
	w = trk__writer_new(dirfd, file, &run, 0, NULL);
	assert_non_null(w);
	put_mark(w, 0, "load");
	for (int i = 0; i < 100; i++) {
		if (i == 40)
			put_mark(w, 40, "train");
		if (i == 50)
			put_state(w, false, 30000000000);
		put_row(w, i, (i < 40 ? 0.5 : 2) * scale, i < 40 ? 100 + 10 * i : 500,
			i < 40 ? 50000000 : 0);
	}
	put_state(w, true, 110000000000);
	trk__writer_free(w);
}

static struct trk_session *session_new(int dirfd, double at_s)
{
	struct trk_session *s = calloc(1, sizeof(*s));
	struct trk_session_options o = {"", dirfd, -1, at_s, TRK_SORT_CPU};

	assert_non_null(s);
	assert_int_equal(trk__session_init(s, &o, name, dirfd, NULL), 0);
	s->view.playing = false;
	return s;
}

static void session_free(struct trk_session *s)
{
	trk__session_release(s);
	free(s);
}

/* The owned text of a frame of that size. */
static char *frame_of(struct trk_session *s, int columns, int rows, bool utf8)
{
	struct trk_frame f;
	struct trk_buf b;

	assert_int_equal(trk__frame_init(&f, columns, rows, utf8), 0);
	trk__session_draw(s, &f);
	trk__buf_init(&b, OUT_MAX);
	trk__frame_lines(&f, false, &b);
	trk__frame_release(&f);
	return b.data ? b.data : calloc(1, 1);
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' is not in\n%s", part, text);
}

/* ---- frames ---- */

static struct folder folder;

static int make_runs(void **state)
{
	folder_init(&folder);
	put_run(folder.fd, name, "align", 1);
	return 0;
}

static int remove_runs(void **state)
{
	assert_int_equal(unlinkat(folder.fd, name, 0), 0);
	folder_release(&folder);
	return 0;
}

static void a_finished_run_is_one_screen(void **state)
{
	struct trk_session *s = session_new(folder.fd, NAN);
	char *text;

	s->view.once = true;
	text = frame_of(s, 80, 24, true);
	assert_has(text, " align  r-0a1b2c3d  exit 0 00:01:40\n");
	assert_has(text, "00:01:40 \u23f8 \u00d71 \u2506\u2501");
	assert_has(text, " CPU      2.0 of 16 ");
	assert_has(text, " memory   500 M of 2 G ");
	assert_has(text, " 24 %\n");
	assert_has(text, " read     0 B/s ");
	assert_has(text, "max 50.0 MB/s");
	assert_has(text, "on CPU 80 %  disk 10  other 10");
	assert_has(text, "phase    load \u2713 40 s \u2502 train \u25b6 60 s");
	/* 80 s of CPU time in the 50 s since the table before. */
	assert_has(text, "sort -u");
	assert_has(text, "1.60");
	free(text);
	session_free(s);
}

static void a_moment_in_the_middle_shows_what_was_known_then(void **state)
{
	struct trk_session *s = session_new(folder.fd, 30);
	char *text = frame_of(s, 80, 24, false);

	assert_has(text, "00:00:30 || x1 |=");
	assert_has(text, " CPU      0.50 of 16 ");
	assert_has(text, " memory   390 M of 2 G ");
	assert_has(text, " read     50.0 MB/s ");
	assert_has(text, "on CPU 50 %  disk 25  other 25");
	assert_has(text, "phase    load > 30 s | train . 60 s");
	assert_has(text, "no table of processes was recorded by then");
	assert_has(text, "space pause");
	free(text);
	session_free(s);
}

static size_t lines_of(const char *text, size_t *ret_widest)
{
	size_t lines = 0, width;

	*ret_widest = 0;
	for (; *text; text += strcspn(text, "\n") + 1, lines++) {
		char line[2048];

		(void) snprintf(line, sizeof(line), "%.*s", (int) strcspn(text, "\n"), text);
		width = trk__utf8_columns(line);
		*ret_widest = width > *ret_widest ? width : *ret_widest;
	}
	return lines;
}

static void any_size_is_filled_and_never_exceeded(void **state)
{
	static const int sizes[][2] = {{60, 15},   {80, 24}, {119, 30}, {120, 30}, {200, 50},
				       {500, 200}, {20, 4},  {1, 1},    {33, 7}};
	struct trk_session *s = session_new(folder.fd, NAN);

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		char *text = frame_of(s, sizes[i][0], sizes[i][1], i % 2);
		size_t widest, lines = lines_of(text, &widest);

		assert_true(lines <= (size_t) sizes[i][1] && widest <= (size_t) sizes[i][0]);
		if (sizes[i][0] >= 60) {
			assert_has(text, "train");
			assert_has(text, "sort -u");
		}
		free(text);
	}
	session_free(s);
}

/* ---- keys ---- */

static void keys_move_the_moment(void **state)
{
	struct trk_session *s = session_new(folder.fd, NAN);

	trk__session_key(s, TRK_KEY_LEFT, 0);
	assert_true(s->t_s == 99);
	trk__session_key(s, TRK_KEY_SHIFT_LEFT, 0);
	assert_true(s->t_s == 39);
	trk__session_key(s, ']', 0);
	assert_true(s->t_s == 40);
	trk__session_key(s, '[', 0);
	assert_true(s->t_s == 0);
	trk__session_key(s, 't', 0);
	assert_true(s->t_s == 40);
	assert_string_equal(s->message, "mark: train");
	trk__session_key(s, 't', 0);
	assert_string_equal(s->message, "no later mark");
	trk__session_key(s, TRK_KEY_END, 0);
	assert_true(s->t_s == 100);
	trk__session_key(s, TRK_KEY_HOME, 0);
	trk__session_key(s, TRK_KEY_LEFT, 0);
	assert_true(s->t_s == 0);
	trk__session_key(s, 'q', 0);
	assert_true(s->quit);
	session_free(s);
}

static void a_replay_moves_with_the_clock_that_it_is_given(void **state)
{
	struct trk_session *s = session_new(folder.fd, 10);
	uint64_t now = 5000000000;

	trk__session_key(s, '>', now); /* 2 s a second */
	trk__session_key(s, ' ', now);
	assert_int_equal(trk__session_update(s, now + 4000000000), 0);
	assert_true(s->t_s == 18);
	trk__session_key(s, ' ', now + 4000000000);
	assert_int_equal(trk__session_update(s, now + 9000000000), 0);
	assert_true(s->t_s == 18);
	trk__session_key(s, ' ', now + 9000000000);
	assert_int_equal(trk__session_update(s, now + 99000000000), 0);
	assert_true(s->t_s == 100 && !s->view.playing);
	trk__session_key(s, ' ', now + 99000000000); /* again from the start */
	assert_true(s->t_s == 0 && s->view.playing);
	session_free(s);
}

static void a_filter_is_typed_and_keeps_what_it_names(void **state)
{
	struct trk_session *s = session_new(folder.fd, NAN);
	char *text;

	for (const char *c = "/xq"; *c; c++)
		trk__session_key(s, *c, 0);
	assert_false(s->quit);
	text = frame_of(s, 80, 24, true);
	assert_has(text, "PROCESS /xq_");
	assert_has(text, "no process has that in its name");
	free(text);
	trk__session_key(s, TRK_KEY_BACKSPACE, 0);
	trk__session_key(s, TRK_KEY_BACKSPACE, 0);
	trk__session_key(s, 's', 0);
	trk__session_key(s, TRK_KEY_ENTER, 0);
	text = frame_of(s, 80, 24, true);
	assert_has(text, "PROCESS /s");
	assert_has(text, "sort -u");
	free(text);
	session_free(s);
}

/* ---- trends ---- */

static void memory_that_grows_evenly_reaches_its_limit_in_time(void **state)
{
	struct trk_session *s = session_new(folder.fd, NAN);

	/* 10 MiB a second, 2048 - 490 MiB left at 40 s. */
	assert_true(fabs(trk__watch_memory_eta(&s->watch, 40) - 155.8) < 1);
	/* 500 MiB for a minute: it does not grow. */
	assert_true(isnan(trk__watch_memory_eta(&s->watch, 100)));
	assert_true(isnan(trk__watch_memory_eta(&s->watch, 5)));
	session_free(s);
}

/* What `top` draws and what the report draws, at the same moments. */
static void page_and_top_have_the_same_usual_course(struct trk_session *s)
{
	const struct trk_record *r = trk__watch_record(&s->watch);
	struct trk_report_rows *rows = trk__report_rows_new(r);
	struct trk_report_input in = {.record = r, .rows = rows, .usual = s->usual};
	struct trk_doc d;

	assert_true(trk__record_read_rows(folder.fd, name, trk__report_rows_take, rows, NULL) >= 0);
	assert_int_equal(trk__report_make(&in, &d), 0);
	for (size_t b = 0; b < d.buckets; b++) {
		double at_s = ((double) b + 0.5) / (double) d.buckets * 100;
		double top = d.chart[0].top / TRK_DOC_STEPS,
		       page = d.chart[0].usual->middle[b] * top;

		assert_true(fabs(page -
				 trk__usual_course_at(s->usual, TRK_FIGURE_CORES, at_s).middle) <=
			    top);
	}
	trk__doc_release(&d);
	trk__report_rows_free(rows);
}

static void the_usual_course_is_the_median_of_earlier_runs(void **state)
{
	static const char earlier[] = "1600000000000-r-0a1b2c3e.rtrk";
	struct trk_session *s = session_new(folder.fd, 30);
	char *text;

	s->usual = calloc(1, sizeof(*s->usual));
	assert_non_null(s->usual);
	for (int i = 0; i < 5; i++) {
		struct trk_record r;

		put_run(folder.fd, earlier, "align", i);
		assert_int_equal(trk__record_read(folder.fd, earlier, &r, NULL, NULL, NULL), 0);
		assert_int_equal(trk__usual_course_add(s->usual, trk__watch_record(&s->watch), &r),
				 0);
		trk__record_release(&r);
		assert_int_equal(unlinkat(folder.fd, earlier, 0), 0);
	}
	assert_true(trk__usual_course_settle(s->usual));
	assert_true(trk__usual_course_seconds(s->usual) == 100);
	assert_true(fabs(trk__usual_course_at(s->usual, TRK_FIGURE_CORES, 20).middle - 1) < 0.01);
	assert_true(fabs(trk__usual_course_at(s->usual, TRK_FIGURE_CORES, 60).middle - 4) < 0.01);
	page_and_top_have_the_same_usual_course(s);
	text = frame_of(s, 80, 24, true);
	assert_has(text, "load \u25b6 30 s (usual 40 s)");
	assert_has(text, "usual: 10");
	free(text);
	session_free(s);
}

/* ---- a file that grows ---- */

struct counted {
	size_t rows, resets;
};

static int count_row(void *data, uint64_t rows, const struct trk_sample *mean,
		     const struct trk_sample *min, const struct trk_sample *max)
{
	struct counted *c = data;

	(void) mean;
	(void) min;
	(void) max;
	c->rows += rows;
	return 0;
}

static void count_reset(void *data)
{
	struct counted *c = data;

	c->rows = 0;
	c->resets++;
}

static void a_follower_reads_each_row_once_whatever_the_pieces(void **state)
{
	static const char copy[] = "1600000000001-r-0a1b2c3f.rtrk";
	struct counted c = {0, 0};
	struct trk_follow_calls calls = {count_reset, count_row, NULL, &c};
	struct trk_follow follow;
	size_t len, at = 300;
	unsigned char *data = bytes_of(folder.fd, name, &len);

	bytes_put(folder.fd, copy, data, at);
	assert_int_equal(trk__follow_open(&follow, folder.fd, copy, 0, &calls, NULL), 0);
	while (at < len) {
		TRK_FD_CLEANUP int fd = openat(folder.fd, copy, O_WRONLY | O_APPEND | O_CLOEXEC);
		size_t piece = len - at < 777 ? len - at : 777;

		assert_true(trk__follow_update(&follow) >= 0 || at < 20000);
		assert_int_equal(trk__write_all(fd, data + at, piece), 0);
		at += piece;
	}
	assert_true(trk__follow_update(&follow) > 0);
	assert_int_equal(trk__follow_update(&follow), 0);
	assert_int_equal(c.rows, 100);
	assert_int_equal(c.resets, 1);
	assert_int_equal(follow.record.samples, 100);
	assert_true(follow.record.ended && follow.record.damaged == 0);
	/* As the writer does when it thins: another file of that name. */
	assert_int_equal(unlinkat(folder.fd, copy, 0), 0);
	put_run(folder.fd, copy, "align", 2);
	assert_true(trk__follow_update(&follow) > 0);
	assert_int_equal(c.resets, 2);
	assert_int_equal(c.rows, 100);
	trk__follow_close(&follow);
	assert_int_equal(unlinkat(folder.fd, copy, 0), 0);
	free(data);
}

/* A follower reports the same number of damaged places as a reader of the whole file. */
static void a_follower_counts_places_of_damage_and_not_their_bytes(void **state)
{
	static const char copy[] = "1600000000001-r-0a1b2c3f.rtrk";
	struct counted c = {0, 0};
	struct trk_follow_calls calls = {count_reset, count_row, NULL, &c};
	struct trk_follow follow;
	struct trk_record record;
	size_t len;
	unsigned char *data = bytes_of(folder.fd, name, &len);

	for (size_t i = 0; i < 40; i++)
		data[len / 2 + i] ^= 0xff;
	bytes_put(folder.fd, copy, data, len);
	assert_int_equal(trk__record_read(folder.fd, copy, &record, NULL, NULL, NULL), 0);
	assert_in_range(record.damaged, 1, 2);
	assert_int_equal(trk__follow_open(&follow, folder.fd, copy, 0, &calls, NULL), 0);
	assert_true(trk__follow_update(&follow) > 0);
	assert_int_equal(follow.record.damaged, record.damaged);
	trk__follow_close(&follow);
	trk__record_release(&record);
	assert_int_equal(unlinkat(folder.fd, copy, 0), 0);
	free(data);
}

static void the_end_of_a_long_recording_is_read_alone(void **state)
{
	struct counted c = {0, 0};
	struct trk_follow_calls calls = {NULL, count_row, NULL, &c};
	struct trk_follow follow;

	assert_int_equal(trk__follow_open(&follow, folder.fd, name, 4000, &calls, NULL), 0);
	assert_true(trk__follow_update(&follow) > 0);
	assert_string_equal(follow.record.run.job, "align");
	assert_true(c.rows > 0 && c.rows < 100);
	assert_true(follow.record.last_elapsed_us == 100 * SECOND);
	trk__follow_close(&follow);
}

static void a_run_without_data_has_no_figure_that_is_0(void **state)
{
	static const char empty[] = "1600000000002-r-0a1b2c40.rtrk";
	struct trk_session_options o = {"", folder.fd, -1, NAN, TRK_SORT_CPU};
	struct trk_session s;
	struct trk_buf b;
	char *text;

	recording_write(folder.fd, empty, 0, false);
	assert_int_equal(trk__session_init(&s, &o, empty, folder.fd, NULL), 0);
	text = frame_of(&s, 80, 24, true);
	assert_has(text, " CPU      not known");
	assert_has(text, " went to  not known");
	free(text);
	trk__buf_init(&b, OUT_MAX);
	trk__session_json(&s, &b);
	assert_has(b.data, "\"read_bytes_per_s\": null");
	trk__buf_release(&b);
	trk__session_release(&s);
	assert_int_equal(unlinkat(folder.fd, empty, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_finished_run_is_one_screen),
		cmocka_unit_test(a_moment_in_the_middle_shows_what_was_known_then),
		cmocka_unit_test(any_size_is_filled_and_never_exceeded),
		cmocka_unit_test(keys_move_the_moment),
		cmocka_unit_test(a_replay_moves_with_the_clock_that_it_is_given),
		cmocka_unit_test(a_filter_is_typed_and_keeps_what_it_names),
		cmocka_unit_test(memory_that_grows_evenly_reaches_its_limit_in_time),
		cmocka_unit_test(the_usual_course_is_the_median_of_earlier_runs),
		cmocka_unit_test(a_follower_reads_each_row_once_whatever_the_pieces),
		cmocka_unit_test(a_follower_counts_places_of_damage_and_not_their_bytes),
		cmocka_unit_test(the_end_of_a_long_recording_is_read_alone),
		cmocka_unit_test(a_run_without_data_has_no_figure_that_is_0),
	};

	return cmocka_run_group_tests(tests, make_runs, remove_runs);
}
