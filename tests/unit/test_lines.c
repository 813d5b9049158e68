/* Lines of a program: the tree of stacks, its form in a recording, and the charges of a profile. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/json_read.h"
#include "lines/cut.h"
#include "lines/dominant.h"
#include "lines/highlights.h"
#include "lines/tree.h"
#include "lines/write.h"
#include "recording/line_record.h"
#include "rows.h"

/* main.py:1 -> train.py:10 step -> torch/nn.py:5 linear, and train.py:11 beside it. */
struct made {
	struct trk_lines *l;
	uint32_t lane, other_lane, main_line, step, next, torch;
};

static void make(struct made *m)
{
	struct trk_lines *l = trk__lines_new();
	uint32_t main_py, train, torch;

	assert_non_null(l);
	main_py = trk__lines_function(l, "/home/u/main.py", "<module>", 1);
	train = trk__lines_function(l, "/home/u/train.py", "step", 9);
	torch = trk__lines_function(l, "/opt/v/lib/python3.11/site-packages/torch/nn.py", "linear",
				    4);
	m->l = l;
	m->lane = trk__lines_lane(l, 100, 100, "python3");
	m->other_lane = trk__lines_lane(l, 200, 201, "worker");
	m->main_line = trk__lines_node(l, TRK_LINES_ROOT, main_py, 1);
	m->step = trk__lines_node(l, m->main_line, train, 10);
	m->next = trk__lines_node(l, m->main_line, train, 11);
	m->torch = trk__lines_node(l, m->step, torch, 5);
}

static struct trk_lines_count count(uint32_t lane, uint32_t node, uint64_t cpu_us, uint64_t sure)
{
	return (struct trk_lines_count){
		lane,
		node,
		{.samples = 1, .cpu_us = cpu_us, .wall_us = cpu_us * 2, .sure_bytes = sure}};
}

static void equal_stacks_share_their_nodes(void **state)
{
	struct made m;
	uint32_t again;

	make(&m);
	again = trk__lines_function(m.l, "/home/u/train.py", "step", 9);
	assert_int_equal(trk__lines_node(m.l, m.main_line, again, 10), m.step);
	assert_int_not_equal(trk__lines_node(m.l, m.step, again, 10), m.step);
	assert_int_equal(trk__lines_lane(m.l, 100, 100, "python3"), m.lane);
	assert_int_equal(trk__lines_common(m.l, m.torch, m.next), m.main_line);
	assert_int_equal(trk__lines_common(m.l, m.torch, m.step), m.step);
	assert_int_equal(trk__lines_user(m.l, m.torch), m.step);
	assert_int_equal(trk__lines_user(m.l, m.next), m.next);
	trk__lines_free(m.l);
}

static void a_record_may_be_released_twice(void **state)
{
	static struct trk_record r;
	struct made m;

	assert_int_equal(trk__record_init(&r), 0);
	make(&m);
	r.lines = m.l;
	trk__record_release(&r);
	trk__record_release(&r);
	assert_null(r.lines);
}

static void tables_are_bounded(void **state)
{
	struct trk_lines *l = trk__lines_new();
	uint32_t function, last = 0;

	function = trk__lines_function(l, "a.py", "f", 1);
	for (int i = 1; i < TRK_LINES_NODES + 100; i++)
		last = trk__lines_node(l, TRK_LINES_ROOT, function, i);
	assert_int_equal(last, TRK_LINES_ROOT); /* no room: the caller */
	assert_int_equal(l->nodes, TRK_LINES_NODES);
	for (int i = 1; i < TRK_LINES_LANES + 10; i++)
		last = trk__lines_lane(l, i, i, "p");
	assert_int_equal(last, TRK_LINES_OTHER);
	trk__lines_free(l);
}

static void installed_packages_and_the_standard_library_are_libraries(void **state)
{
	static const char *const libraries[] = {"/usr/lib/python3.11/json/decoder.py",
						"/root/v/lib/python3.12/site-packages/a/b.py",
						"/usr/lib/python3/dist-packages/apt/cache.py",
						"<frozen importlib._bootstrap>"};
	static const char *const own[] = {"/home/u/train.py", "<stdin>", "<string>", "train.py",
					  "/home/u/lib/python_tools/x.py"};

	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++)
		assert_true(trk__lines_is_library(libraries[i]));
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		assert_false(trk__lines_is_library(own[i]));
}

/* All of `l` through a recording's payloads. */
static struct trk_lines *copy(const struct trk_lines *l, const struct trk_lines_count *counts,
			      size_t n)
{
	struct trk_lines_written from = {0};
	struct trk_lines *back = trk__lines_new();
	struct trk_buf b;

	back->keeps_windows = true;
	trk__buf_init(&b, 1 << 20);
	while (trk__format_line_names(&b, l, &from)) {
		assert_int_equal(trk__parse_line_names(b.data, b.len, back), 0);
		trk__buf_clear(&b);
	}
	trk__format_line_counts(&b, 1000000, 6000000, counts, n);
	assert_int_equal(trk__parse_line_counts(b.data, b.len, back), 0);
	trk__buf_clear(&b);
	trk__format_line_state(&b, l);
	assert_int_equal(trk__parse_line_state(b.data, b.len, back), 0);
	trk__buf_release(&b);
	return back;
}

static void the_user_is_known_only_if_it_is_one(void **state)
{
	const int64_t users[][2] = {{1000, 1001}, {0, 1000}, {1000, TRK_LINES_SEVERAL_USERS}};
	struct trk_lines *l, *back;

	for (size_t i = 0; i < 3; i++) {
		l = trk__lines_new();
		assert_int_equal(l->user, TRK_LINES_USER_UNKNOWN);
		trk__lines_add_user(l, users[i][0]);
		trk__lines_add_user(l, users[i][1]);
		trk__lines_add_user(l, users[i][0]);
		back = copy(l, NULL, 0);
		assert_int_equal(back->user, TRK_LINES_SEVERAL_USERS); /* also in a new worker */
		trk__lines_free(l);
		trk__lines_free(back);
	}
}

static void stacks_come_back_from_a_recording(void **state)
{
	const struct trk_lines_process process = {
		.pid = 100, .why = TRK_STACK_FREE_THREADED, .version = 0x30d00, .name = "python3"};
	struct trk_lines_count counts[2];
	struct trk_lines *back;
	struct made m;

	make(&m);
	counts[0] = count(m.lane, m.torch, 500, 1 << 20);
	counts[1] = count(m.other_lane, m.next, 7, 0);
	m.l->samples = 42;
	m.l->torn = 1;
	m.l->rate_hz = 20;
	trk__lines_add_user(m.l, 0);
	trk__lines_add_user(m.l, 0);
	trk__lines_process(m.l, &process);
	trk__lines_note_last(m.l, &(struct trk_lines_last){m.lane, m.step, 5000, true});
	back = copy(m.l, counts, 2);
	assert_int_equal(back->nodes, m.l->nodes);
	assert_int_equal(back->user, 0);
	assert_string_equal(back->function[back->node[m.torch].function].name, "linear");
	assert_true(back->function[back->node[m.torch].function].is_library);
	assert_int_equal(back->node[m.step].line, 10);
	assert_string_equal(back->lane[m.other_lane].process, "worker");
	assert_int_equal(back->totals, 2);
	assert_memory_equal(&back->total[0], &counts[0], sizeof(counts[0]));
	assert_memory_equal(&back->total[1], &counts[1], sizeof(counts[1]));
	assert_int_equal(back->windows, 1);
	assert_true(back->window[0].from_us == 1000000 && back->window[0].to_us == 6000000);
	assert_true(back->samples == 42 && back->torn == 1 && back->rate_hz == 20);
	assert_int_equal(back->process[0].why, TRK_STACK_FREE_THREADED);
	assert_int_equal(back->last[m.lane].node, m.step);
	trk__lines_free(back);
	trk__lines_free(m.l);
}

static void a_lost_record_of_names_shifts_no_name(void **state)
{
	struct trk_lines_written from = {0}, second;
	struct trk_lines *back = trk__lines_new();
	struct made m;
	struct trk_buf b;
	uint32_t late;

	make(&m);
	trk__buf_init(&b, 1 << 20);
	assert_true(trk__format_line_names(&b, m.l, &from));
	second = from;
	late = trk__lines_node(m.l, m.step, trk__lines_function(m.l, "/home/u/late.py", "late", 3),
			       4);
	trk__buf_clear(&b);
	assert_true(trk__format_line_names(&b, m.l, &second));
	assert_int_equal(trk__parse_line_names(b.data, b.len, back), 0);
	assert_int_equal(back->nodes, late + 1);
	assert_string_equal(back->function[back->node[late].function].name, "late");
	assert_string_equal(back->function[1].name, "?");
	assert_false(trk__format_line_names(&b, m.l, &second));
	trk__buf_release(&b);
	trk__lines_free(back);
	trk__lines_free(m.l);
}

static void cut_payloads_are_refused(void **state)
{
	struct trk_lines_written from = {0};
	struct trk_lines *back = trk__lines_new();
	struct trk_lines_count c;
	struct made m;
	struct trk_buf b;

	make(&m);
	trk__buf_init(&b, 1 << 20);
	(void) trk__format_line_names(&b, m.l, &from);
	for (size_t len = 0; len + 1 < b.len; len++)
		assert_true(trk__parse_line_names(b.data, len, back) < 0);
	trk__buf_clear(&b);
	c = count(m.lane, m.torch, 500, 1 << 20);
	trk__format_line_counts(&b, 0, 1, &c, 1);
	for (size_t len = 0; len < b.len; len++)
		assert_true(trk__parse_line_counts(b.data, len, back) < 0);
	assert_int_equal(back->totals, 0);
	/* Counts of a node that no record has named. */
	c.node = TRK_LINES_NODES - 1;
	trk__buf_clear(&b);
	trk__format_line_counts(&b, 0, 1, &c, 1);
	assert_int_equal(trk__parse_line_counts(b.data, b.len, back), -EBADMSG);
	trk__buf_release(&b);
	trk__lines_free(back);
	trk__lines_free(m.l);
}

/* Rows and counts until the file was thinned several times: nothing of the sums is lost, the file
 * stays in its bound, and the windows become longer. */
static void thinning_keeps_the_sums(void **state)
{
	enum { ROWS = 3000, BOUND = 256 * 1024 };
	struct trk_lines_written written = {0};
	struct trk_record *record = calloc(1, sizeof(*record));
	struct trk_outcome *o = calloc(1, sizeof(*o));
	struct trk_lines_count c;
	struct trk_writer *w;
	struct trk_sample row;
	struct trk_run run;
	struct folder f;
	struct made m;

	make(&m);
	folder_init(&f);
	run_init(&run);
	outcome_init(o);
	w = trk__writer_new(f.fd, "1.rtrk", &run, BOUND, NULL);
	assert_non_null(w);
	for (int64_t i = 0; i < ROWS; i++) {
		row_init(&row, i);
		assert_int_equal(trk__writer_row(w, &row), 0);
		c = count(i % 2 ? m.lane : m.other_lane, i % 3 ? m.torch : m.next, 10, 1);
		assert_int_equal(
			trk__writer_lines(w, m.l, &written, i * 1000000, (i + 1) * 1000000, &c, 1),
			0);
	}
	assert_int_equal(trk__writer_end(w, o), 0);
	trk__writer_free(w);
	assert_int_equal(trk__record_read(f.fd, "1.rtrk", record, NULL, NULL, NULL), 0);
	assert_non_null(record->lines);
	assert_int_equal(record->damaged, 0);
	assert_int_equal(record->lines->totals, 4);
	for (size_t i = 0, sum = 0; i < 4; i++) {
		sum += record->lines->total[i].amounts.cpu_us;
		if (i == 3)
			assert_int_equal(sum, ROWS * 10);
	}
	assert_true(record->lines->windows < ROWS * 3 / 4);
	assert_true(record->lines->window[0].from_us == 0);
	assert_true(record->lines->window[0].to_us > 4 * 1000000);
	trk__record_release(record);
	free(record);
	free(o);
	trk__lines_free(m.l);
	assert_int_equal(unlinkat(f.fd, "1.rtrk", 0), 0);
	folder_release(&f);
}

static const struct trk_profile_row *row_at(const struct trk_profile *p, const struct made *m,
					    uint32_t node)
{
	for (size_t i = 0; i < p->rows; i++)
		if (m->l->node[p->row[i].node].function == m->l->node[node].function &&
		    m->l->node[p->row[i].node].line == m->l->node[node].line)
			return &p->row[i];
	return NULL;
}

static void a_library_is_charged_to_the_line_that_called_it(void **state)
{
	struct trk_profile_options o = {.to_us = INT64_MAX};
	struct trk_lines_count counts[2];
	struct trk_profile p;
	struct made m;

	make(&m);
	counts[0] = count(m.lane, m.torch, 700, 3 << 20);
	counts[1] = count(m.lane, m.next, 300, 0);
	assert_int_equal(trk__lines_add(m.l, 0, 10, counts, 2), 0);
	assert_int_equal(trk__profile_make(m.l, &o, &p), 0);
	assert_int_equal(p.all.cpu_us, 1000);
	assert_int_equal(p.row[0].self.cpu_us, 700);
	assert_int_equal(m.l->node[p.row[0].node].line, 10);
	assert_int_equal(p.row[0].below, m.torch);
	assert_int_equal(row_at(&p, &m, m.main_line)->self.cpu_us, 0);
	assert_int_equal(row_at(&p, &m, m.main_line)->with_callees.cpu_us, 1000);
	assert_null(row_at(&p, &m, m.torch));
	trk__profile_release(&p);
	o.all_frames = true;
	assert_int_equal(trk__profile_make(m.l, &o, &p), 0);
	assert_int_equal(row_at(&p, &m, m.torch)->self.cpu_us, 700);
	assert_int_equal(row_at(&p, &m, m.step)->self.cpu_us, 0);
	assert_int_equal(row_at(&p, &m, m.step)->with_callees.cpu_us, 700);
	trk__profile_release(&p);
	o = (struct trk_profile_options){
		.to_us = INT64_MAX, .order = TRK_LINES_MEMORY, .by = TRK_LINES_BY_FUNCTION};
	assert_int_equal(trk__profile_make(m.l, &o, &p), 0);
	assert_true(p.row[0].self.sure_bytes == 3 << 20 && p.row[0].self.cpu_us == 1000);
	trk__profile_release(&p);
	trk__lines_free(m.l);
}

static void recursion_counts_once_with_callees(void **state)
{
	struct trk_profile_options o = {.to_us = INT64_MAX, .by = TRK_LINES_BY_FUNCTION};
	struct trk_profile p;
	struct trk_lines_count c;
	struct made m;
	uint32_t node;

	make(&m);
	node = m.step;
	for (int i = 0; i < 50; i++)
		node = trk__lines_node(m.l, node, m.l->node[m.step].function, 20 + i % 2);
	c = count(m.lane, node, 100, 0);
	assert_int_equal(trk__lines_add(m.l, 0, 10, &c, 1), 0);
	assert_int_equal(trk__profile_make(m.l, &o, &p), 0);
	assert_int_equal(p.row[0].self.cpu_us, 100);
	assert_int_equal(p.row[0].with_callees.cpu_us, 100);
	trk__profile_release(&p);
	trk__lines_free(m.l);
}

static void a_part_of_the_run_and_its_processes_are_told_apart(void **state)
{
	struct trk_profile_options o = {.by = TRK_LINES_BY_PROCESS, .from_us = 100, .to_us = 200};
	struct trk_lines_count c;
	struct trk_profile p;
	struct made m;

	make(&m);
	m.l->keeps_windows = true;
	for (int i = 0; i < 3; i++) {
		c = count(i == 1 ? m.other_lane : m.lane, m.step, 10u << i, 0);
		assert_int_equal(trk__lines_add(m.l, i * 100, i * 100 + 100, &c, 1), 0);
	}
	assert_int_equal(trk__profile_make(m.l, &o, &p), 0);
	assert_int_equal(p.rows, 1);
	assert_int_equal(p.all.cpu_us, 20);
	assert_int_equal(m.l->lane[p.row[0].lane].pid, 200);
	trk__profile_release(&p);
	o.from_us = 0;
	o.to_us = INT64_MAX;
	assert_int_equal(trk__profile_make(m.l, &o, &p), 0);
	assert_int_equal(p.rows, 2);
	assert_int_equal(p.row[0].self.cpu_us, 50);
	trk__profile_release(&p);
	trk__lines_free(m.l);
}

static void phases_are_rows_in_the_order_of_time(void **state)
{
	const struct trk_lines_phase phases[] = {
		{"load", 0, 100}, {"", 100, 150}, {"train", 150, 300}};
	struct trk_profile_options o = {
		.by = TRK_LINES_BY_PHASE, .to_us = INT64_MAX, .phase = phases, .phases = 3};
	struct trk_lines_count c;
	struct trk_profile p;
	struct made m;

	make(&m);
	m.l->keeps_windows = true;
	for (int i = 0; i < 3; i++) {
		c = count(m.lane, i == 0 ? m.step : m.next, 10u << i, 0);
		assert_int_equal(trk__lines_add(m.l, i * 100, i * 100 + 100, &c, 1), 0);
	}
	assert_int_equal(trk__profile_make(m.l, &o, &p), 0);
	assert_int_equal(p.rows, 3);
	assert_int_equal(p.all.cpu_us, 70);
	assert_string_equal(p.row[0].phase->name, "load");
	assert_int_equal(p.row[0].self.cpu_us, 10);
	assert_int_equal(p.row[0].node, m.step);
	assert_int_equal(p.row[1].node, TRK_LINES_ROOT); /* no window has its middle there */
	assert_int_equal(p.row[2].self.cpu_us, 60);
	assert_int_equal(p.row[2].node, m.next);
	assert_int_equal(p.to_us, 300);
	trk__profile_release(&p);
	o.to_us = 90;
	assert_int_equal(trk__profile_make(m.l, &o, &p), 0);
	assert_int_equal(p.rows, 1);
	trk__profile_release(&p);
	trk__lines_free(m.l);
}

/* Windows of 10 s, on node `first` for the first half and `then` after it. */
static uint32_t cut_between(struct made *m, uint32_t lane, uint32_t first, uint32_t then)
{
	m->l->keeps_windows = true;
	for (int i = 0; i < 8; i++) {
		struct trk_lines_count c = count(lane, i < 4 ? first : then, 1000, 0);

		assert_int_equal(trk__lines_add(m->l, i * 10000000, (i + 1) * 10000000, &c, 1), 0);
	}
	return trk__lines_cut(m->l, 40);
}

static void a_cut_is_at_the_line_that_runs_next(void **state)
{
	struct made m;

	make(&m);
	/* In step(), which goes on; not in the library that line 10 called. */
	assert_int_equal(cut_between(&m, m.lane, m.torch, m.next), m.next);
	assert_int_equal(trk__lines_cut(m.l, 20), TRK_LINES_ROOT); /* nothing changes there */
	assert_int_equal(trk__lines_cut(m.l, 1000), TRK_LINES_ROOT);
	trk__lines_free(m.l);
}

static void a_cut_needs_a_main_thread_and_a_function_that_goes_on(void **state)
{
	struct made m;
	uint32_t other;

	make(&m);
	assert_int_equal(cut_between(&m, m.other_lane, m.step, m.next), TRK_LINES_ROOT);
	trk__lines_free(m.l);
	make(&m);
	other = trk__lines_node(m.l, TRK_LINES_ROOT,
				trk__lines_function(m.l, "/home/u/next.py", "<module>", 1), 3);
	assert_int_equal(cut_between(&m, m.lane, m.step, other), TRK_LINES_ROOT);
	trk__lines_free(m.l);
	make(&m);
	assert_int_equal(trk__lines_cut(m.l, 40), TRK_LINES_ROOT); /* no windows */
	trk__lines_free(m.l);
}

static void a_part_is_named_after_the_windows_inside_it(void **state)
{
	struct trk_lines_count c;
	char name[64];
	uint32_t load;
	struct made m;

	make(&m);
	m.l->keeps_windows = true;
	load = trk__lines_node(m.l, TRK_LINES_ROOT,
			       trk__lines_function(m.l, "/home/u/load.py", "load", 1), 2);
	c = count(m.other_lane, load, 90000000, 0);
	c.amounts.samples = 100;
	assert_int_equal(trk__lines_add(m.l, 0, 10000000, &c, 1), 0);
	/* Loading goes on until 12 s; the middle of this window is after that. */
	assert_int_equal(trk__lines_add(m.l, 10000000, 16000000, &c, 1), 0);
	c = count(m.lane, m.step, 9000000, 0);
	c.amounts.samples = 100;
	assert_int_equal(trk__lines_add(m.l, 16000000, 24000000, &c, 1), 0);
	assert_int_equal(trk__lines_dominant(m.l, 0, 12, name, sizeof(name)), 0);
	assert_string_equal(name, "load");
	assert_int_equal(trk__lines_dominant(m.l, 12, 24, name, sizeof(name)), 0);
	assert_string_equal(name, "step");
	assert_int_equal(trk__lines_dominant(m.l, 12, 15, name, sizeof(name)), 0);
	assert_string_equal(name, ""); /* no window is inside */
	trk__lines_free(m.l);
}

static void a_base_name_remembers_whether_it_is_of_a_library(void **state)
{
	struct trk_lines *l = trk__lines_new(), *back;
	uint32_t own, library;

	own = trk__lines_base_function(l, "/home/u/__init__.py", "<module>", 1);
	library = trk__lines_base_function(l, "/v/site-packages/a/__init__.py", "<module>", 1);
	assert_int_not_equal(own, library);
	assert_int_equal(
		trk__lines_base_function(l, "/v/site-packages/a/__init__.py", "<module>", 1),
		library);
	assert_string_equal(l->function[library].file, "__init__.py");
	back = copy(l, NULL, 0);
	assert_int_equal(back->functions, l->functions);
	assert_true(back->function[library].is_library);
	assert_false(back->function[own].is_library);
	assert_string_equal(back->function[library].file, "__init__.py");
	trk__lines_free(back);
	trk__lines_free(l);
}

static void names_from_outside_are_harmless(void **state)
{
	struct trk_profile_options o = {.to_us = INT64_MAX};
	struct trk_lines *l = trk__lines_new();
	uint32_t function, node;
	struct trk_lines_count c;
	struct trk_buf b;
	char text[64];

	function = trk__lines_function(l, "/tmp/a;b\x1b[31m\xff\n</script>.py", "f;g", 1);
	node = trk__lines_node(l, TRK_LINES_ROOT, function, 7);
	assert_null(strpbrk(trk__lines_name(l, node, text, sizeof(text)), "\x1b\n\xff"));
	c = count(trk__lines_lane(l, 5, 5, "p;q\x1b"), node, 5000, 0);
	assert_int_equal(trk__lines_add(l, 0, 10, &c, 1), 0);
	trk__buf_init(&b, 1 << 16);
	trk__lines_folded(&b, l, &o);
	assert_null(strpbrk(b.data, "\x1b\xff"));
	assert_ptr_equal(strchr(b.data, '\n'), b.data + b.len - 1);
	assert_non_null(strstr(b.data, ";script>.py:7 f:g() 5\n"));
	trk__buf_release(&b);
	trk__lines_free(l);
}

static void highlights_name_the_hottest_line_and_where_memory_grew(void **state)
{
	struct trk_lines_highlights h;
	struct trk_lines_count counts[3];
	struct made m;

	make(&m);
	counts[0] = count(m.lane, m.torch, 3000, 64 << 20);
	counts[1] = count(m.lane, m.next, 2000, 0);
	counts[1].amounts.between_bytes = 100 << 20; /* less than what is sure, twice */
	counts[2] = count(m.lane, m.main_line, 0, 1 << 20);
	assert_int_equal(trk__lines_add(m.l, 0, 1000000, counts, 3), 0);
	assert_int_equal(trk__lines_highlights_of(m.l, 0, &h), 0);
	assert_int_equal(h.hottest, m.step); /* the user's line, not the library's */
	assert_int_equal(h.hottest_cpu_us, 3000);
	assert_int_equal(h.cpu_us, 5000);
	assert_int_equal(h.growths, 2);
	assert_int_equal(h.growth[0].node, m.step);
	assert_int_equal(h.growth[1].node, m.next);
	assert_true(trk__lines_growth_counts(&h.growth[0], 1e12));
	assert_int_equal(h.lasts, 0);
	trk__lines_free(m.l);
	assert_int_equal(trk__lines_highlights_of(NULL, 0, &h), 0);
	assert_int_equal(h.hottest, TRK_LINES_ROOT);
}

static void highlights_tell_what_threads_did_in_the_last_second(void **state)
{
	struct trk_lines_highlights h;
	struct made m;
	uint32_t third, old;

	make(&m);
	third = trk__lines_lane(m.l, 100, 103, "python3");
	old = trk__lines_lane(m.l, 100, 104, "python3");
	trk__lines_note_last(m.l, &(struct trk_lines_last){m.lane, m.next, 9500000, false});
	trk__lines_note_last(m.l, &(struct trk_lines_last){third, m.torch, 9600000, true});
	trk__lines_note_last(m.l, &(struct trk_lines_last){old, m.main_line, 8000000, true});
	trk__lines_note_last(m.l, &(struct trk_lines_last){m.other_lane, m.step, 20000000, true});
	assert_int_equal(trk__lines_highlights_of(m.l, 100, &h), 0);
	assert_int_equal(h.lasts, 2);
	assert_int_equal(h.last[0].node, m.step); /* it runs */
	assert_int_equal(h.last[0].below, m.torch);
	assert_int_equal(h.last[0].running, 1);
	assert_int_equal(h.last[1].node, m.next);
	assert_int_equal(h.last_us, 9600000);
	/* A process that was not read: the newest of any. */
	assert_int_equal(trk__lines_highlights_of(m.l, 999, &h), 0);
	assert_int_equal(h.lasts, 1);
	assert_int_equal(h.last_us, 20000000);
	trk__lines_note_last(m.l, &(struct trk_lines_last){m.lane, m.torch, 9600000, true});
	assert_int_equal(trk__lines_highlights_of(m.l, 100, &h), 0);
	assert_int_equal(h.lasts, 1);
	assert_int_equal(h.last[0].threads, 2);
	trk__lines_free(m.l);
}

/* Many lines of many functions, in windows; names that could end a script element. */
static struct trk_lines *make_large(void)
{
	struct trk_lines *l = trk__lines_new();
	uint32_t lane = trk__lines_lane(l, 1, 1, "python3");

	l->keeps_windows = true;
	for (int w = 0; w < 40; w++) {
		struct trk_lines_count counts[200];
		char name[64];

		for (int i = 0; i < 200; i++) {
			uint32_t f, node;

			(void) snprintf(name, sizeof(name), "</script><b>%d \"\\", i);
			f = trk__lines_function(l, "/home/u/a.py", name, i + 1);
			node = trk__lines_node(l, TRK_LINES_ROOT, f, i + 1);
			node = trk__lines_node(l, node, f, 1000 + (w * 200 + i) % 900);
			counts[i] = count(lane, node, 1000u + (uint64_t) i, 0);
		}
		assert_int_equal(trk__lines_add(l, w * 1000000, (w + 1) * 1000000, counts, 200), 0);
	}
	return l;
}

static void the_tree_of_a_page_is_bounded_and_safe(void **state)
{
	struct trk_lines *l = make_large();
	const struct trk_json_value *nodes, *node;
	struct trk_json_doc d;
	struct trk_buf b;
	double top = 0;

	trk__buf_init(&b, 1 << 20);
	assert_true(trk__lines_tree_json(&b, l, 12000));
	assert_true(b.len > 6000 && b.len <= 12000);
	trk__buf_release(&b);
	trk__buf_init(&b, 1 << 20);
	assert_true(trk__lines_tree_json(&b, l, 1 << 17));
	assert_null(memchr(b.data, '<', b.len));
	assert_int_equal(trk__json_read(b.data, b.len, NULL, "", &d, NULL), 0);
	nodes = trk__json_get(&d, trk__json_root(&d), "nodes");
	assert_true(nodes->count <= TRK_LINES_TREE_NODES);
	for (node = trk__json_first(&d, nodes); node; node = trk__json_next(&d, node)) {
		const struct trk_json_value *parent = trk__json_first(&d, node);
		const struct trk_json_value *ms =
			trk__json_next(&d, trk__json_next(&d, trk__json_next(&d, parent)));

		if (trk__json_as_double(parent) < 0)
			top += trk__json_as_double(ms);
	}
	/* What callers used is whole though some lines below them are left out. */
	assert_true(top > 0.99 * trk__json_get_double(&d, trk__json_root(&d), "ms"));
	assert_int_equal(trk__json_get(&d, trk__json_root(&d), "bins")->count, 21);
	trk__json_doc_release(&d);
	trk__buf_release(&b);
	trk__buf_init(&b, 1 << 20);
	assert_false(trk__lines_tree_json(&b, l, 20)); /* no room */
	assert_int_equal(b.len, 0);
	trk__buf_release(&b);
	trk__lines_free(l);
}

static void the_machinery_of_imports_is_no_box(void **state)
{
	struct trk_lines *l = trk__lines_new();
	struct trk_lines_count counts[1];
	uint32_t node;
	struct trk_buf b;

	node = trk__lines_node(l, TRK_LINES_ROOT, trk__lines_function(l, "/h/a.py", "main", 1), 1);
	for (int i = 0; i < 5; i++)
		node = trk__lines_node(
			l, node,
			trk__lines_function(l, "<frozen importlib._bootstrap>", "_load", i), i);
	node = trk__lines_node(l, node, trk__lines_function(l, "/h/b.py", "<module>", 1), 7);
	counts[0] = count(trk__lines_lane(l, 1, 1, "p"), node, 5000, 0);
	assert_int_equal(trk__lines_add(l, 0, 1000000, counts, 1), 0);
	trk__buf_init(&b, 1 << 16);
	assert_true(trk__lines_tree_json(&b, l, 4096));
	trk__buf_putc(&b, '\0');
	assert_non_null(strstr(b.data, "\"nodes\":[[-1,0,1,5,[]],[0,1,7,5,[]]]"));
	assert_null(strstr(b.data, "importlib"));
	trk__buf_release(&b);
	trk__lines_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_stacks_share_their_nodes),
		cmocka_unit_test(tables_are_bounded),
		cmocka_unit_test(installed_packages_and_the_standard_library_are_libraries),
		cmocka_unit_test(a_record_may_be_released_twice),
		cmocka_unit_test(stacks_come_back_from_a_recording),
		cmocka_unit_test(the_user_is_known_only_if_it_is_one),
		cmocka_unit_test(a_lost_record_of_names_shifts_no_name),
		cmocka_unit_test(cut_payloads_are_refused),
		cmocka_unit_test(thinning_keeps_the_sums),
		cmocka_unit_test(a_library_is_charged_to_the_line_that_called_it),
		cmocka_unit_test(recursion_counts_once_with_callees),
		cmocka_unit_test(a_part_of_the_run_and_its_processes_are_told_apart),
		cmocka_unit_test(phases_are_rows_in_the_order_of_time),
		cmocka_unit_test(a_cut_is_at_the_line_that_runs_next),
		cmocka_unit_test(a_cut_needs_a_main_thread_and_a_function_that_goes_on),
		cmocka_unit_test(a_part_is_named_after_the_windows_inside_it),
		cmocka_unit_test(a_base_name_remembers_whether_it_is_of_a_library),
		cmocka_unit_test(names_from_outside_are_harmless),
		cmocka_unit_test(highlights_name_the_hottest_line_and_where_memory_grew),
		cmocka_unit_test(highlights_tell_what_threads_did_in_the_last_second),
		cmocka_unit_test(the_tree_of_a_page_is_bounded_and_safe),
		cmocka_unit_test(the_machinery_of_imports_is_no_box),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
