/* The lines that allocate memory, from synthetic samples of a program whose truth is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "sample/stack_growth.h"

#define MIB (UINT64_C(1) << 20)

/* main.py:1 calls load() at a.py:2, which takes memory, and work() at a.py:3, which takes none. */
struct made {
	struct trk_lines *l;
	struct trk_lines_sums sums;
	struct trk_growth growth;
	uint32_t main_line, load, work;
	uint64_t now_ns, bytes;
};

static void make(struct made *m)
{
	uint32_t f;

	*m = (struct made){.l = trk__lines_new(), .bytes = 10 * MIB};
	assert_non_null(m->l);
	f = trk__lines_function(m->l, "/home/u/main.py", "<module>", 1);
	m->main_line = trk__lines_node(m->l, TRK_LINES_ROOT, f, 1);
	f = trk__lines_function(m->l, "/home/u/a.py", "load", 2);
	m->load = trk__lines_node(m->l, m->main_line, f, 2);
	f = trk__lines_function(m->l, "/home/u/a.py", "work", 3);
	m->work = trk__lines_node(m->l, m->main_line, f, 3);
}

static void release(struct made *m)
{
	trk__lines_sums_release(&m->sums);
	trk__lines_free(m->l);
}

/* 50 ms later the program is at this line, and has taken so much more. */
static void sample_of(struct made *m, uint32_t node, uint64_t more, unsigned int sign, bool sleeps)
{
	struct trk_growth_sample s = {.node = node,
				      .lane = 1,
				      .alone = true,
				      .is_look = true,
				      .sign = sign,
				      .sleeps = sleeps,
				      .cpu_ns = 50 * TRK_NS_PER_MS};

	m->now_ns += 50 * TRK_NS_PER_MS;
	m->bytes += more;
	s.now_ns = m->now_ns;
	s.bytes = m->bytes;
	trk__growth_take(&m->growth, m->l, &s, &m->sums);
}

static void sample(struct made *m, uint32_t node, uint64_t more, unsigned int sign)
{
	sample_of(m, node, more, sign, false);
}

static void settle(struct made *m, bool last)
{
	trk__growth_settle(&m->growth, m->l, m->now_ns, last, &m->sums);
}

static struct trk_lines_amounts at(struct made *m, uint32_t node)
{
	return *trk__lines_sum(&m->sums, 1, node);
}

static void one_long_step_is_sure(void **state)
{
	struct made m;

	make(&m);
	sample(&m, m.work, 0, 0);
	for (int i = 0; i < 6; i++)
		sample(&m, m.load, 50 * MIB, TRK_GROWTH_CLEAR);
	sample(&m, m.work, 2 * MIB, 0);
	settle(&m, false);
	assert_int_equal(at(&m, m.load).sure_bytes, 250 * MIB);
	/* Before the first sample and after the last one other lines may have run. */
	assert_int_equal(at(&m, m.load).between_bytes, 52 * MIB);
	assert_int_equal(at(&m, m.work).sure_bytes + at(&m, m.work).between_bytes, 0);
	release(&m);
}

static void steps_shorter_than_a_sample_go_to_the_line_that_was_seen_taking_memory(void **state)
{
	struct made m;

	make(&m);
	for (int i = 0; i < 20; i++) {
		sample(&m, m.work, 5 * MIB, 0);
		if (i % 5 == 0)
			trk__growth_note(&m.growth, m.l, m.load, 1, TRK_GROWTH_CLEAR, m.now_ns);
	}
	settle(&m, false);
	assert_int_equal(at(&m, m.load).between_bytes, 95 * MIB);
	assert_int_equal(at(&m, m.load).sure_bytes, 0);
	assert_int_equal(at(&m, m.work).sure_bytes + at(&m, m.work).between_bytes, 0);
	release(&m);
}

static void growth_is_not_called_that_of_a_line_that_sleeps(void **state)
{
	struct made m;

	make(&m);
	for (int i = 0; i < 5; i++)
		sample_of(&m, m.load, 200 * MIB, 0, true);
	settle(&m, false);
	assert_int_equal(at(&m, m.load).between_bytes, 0);
	sample(&m, m.work, 0, TRK_GROWTH_CLEAR);
	sample(&m, m.work, 0, TRK_GROWTH_CLEAR);
	settle(&m, true);
	assert_int_equal(at(&m, m.work).between_bytes, 800 * MIB);
	release(&m);
}

/* The first thread waits at main.py:1 for another that starts at thread.py:9, and takes memory. */
static void growth_without_a_sign_is_that_of_the_thread_that_did_not_sleep(void **state)
{
	struct made m;
	uint32_t f, worker;

	make(&m);
	f = trk__lines_function(m.l, "/home/u/thread.py", "run", 9);
	worker = trk__lines_node(m.l, TRK_LINES_ROOT, f, 9);
	for (int i = 0; i < 4; i++) {
		sample_of(&m, worker, 10 * MIB, 0, false);
		sample_of(&m, m.main_line, 10 * MIB, 0, true);
	}
	settle(&m, true);
	assert_int_equal(at(&m, worker).between_bytes, 70 * MIB);
	assert_int_equal(at(&m, m.main_line).between_bytes, 0);
	release(&m);
}

static void fast_growth_at_each_sample_is_likely_that_of_the_line(void **state)
{
	struct made m;

	make(&m);
	for (int i = 0; i < 5; i++)
		sample(&m, m.load, 50 * MIB, 0); /* in 50 ms of CPU time */
	sample(&m, m.work, 0, 0);
	for (int i = 0; i < 5; i++)
		sample(&m, m.work, i % 2 ? 60 * MIB : 20 * MIB, 0);
	settle(&m, true);
	assert_int_equal(at(&m, m.load).between_bytes, 200 * MIB);
	assert_int_equal(at(&m, m.work).between_bytes, 180 * MIB); /* no line is more likely */
	trk__growth_note(&m.growth, m.l, m.load, 1, TRK_GROWTH_CLEAR, m.now_ns);
	for (int i = 0; i < 5; i++)
		sample(&m, m.work, i % 2 ? 60 * MIB : 20 * MIB, 0);
	settle(&m, true);
	assert_int_equal(at(&m, m.load).between_bytes, (200 + 180) * MIB);
	release(&m);
}

static void a_line_that_was_left_and_come_back_to_is_not_sure(void **state)
{
	struct made m;

	make(&m);
	for (int i = 0; i < 3; i++) {
		sample(&m, m.load, 10 * MIB, TRK_GROWTH_CLEAR);
		sample(&m, m.load, 10 * MIB, TRK_GROWTH_CLEAR);
		sample(&m, m.work, 10 * MIB, 0);
	}
	settle(&m, true);
	assert_int_equal(at(&m, m.load).sure_bytes, 0);
	assert_int_equal(at(&m, m.load).between_bytes, 80 * MIB);
	release(&m);
}

static void a_line_that_was_not_seen_taking_memory_is_not_sure(void **state)
{
	struct made m;

	make(&m);
	for (int i = 0; i < 10; i++)
		sample(&m, m.work, 10 * MIB, i == 4);
	settle(&m, true);
	assert_int_equal(at(&m, m.work).sure_bytes, 0);
	assert_int_equal(at(&m, m.work).between_bytes, 90 * MIB);
	release(&m);
}

static void without_a_sign_growth_stands_at_the_common_caller_after_a_while(void **state)
{
	struct made m;

	make(&m);
	for (int i = 0; i < 640; i++) {
		sample(&m, i % 2 ? m.work : m.load, MIB, 0);
		if (i == 20 || i == 630)
			settle(&m, false);
		if (i == 20)
			assert_int_equal(at(&m, m.main_line).between_bytes, 0);
	}
	assert_int_equal(at(&m, m.main_line).between_bytes, 630 * MIB);
	settle(&m, true);
	assert_int_equal(at(&m, m.main_line).between_bytes, 639 * MIB);
	release(&m);
}

static void signs_from_before_it_grew_do_not_count(void **state)
{
	struct made m;

	make(&m);
	for (int i = 0; i < 10; i++)
		sample(&m, m.load, 0, TRK_GROWTH_CLEAR);
	sample(&m, m.work, 0, 0);
	settle(&m, false);
	sample(&m, m.work, 0, 0);
	for (int i = 0; i < 10; i++)
		sample(&m, m.work, 10 * MIB, 0);
	settle(&m, true);
	assert_int_equal(at(&m, m.load).between_bytes, 0);
	assert_int_equal(at(&m, m.load).sure_bytes, 0);
	release(&m);
}

static void looks_are_wanted_while_memory_reaches_new_heights(void **state)
{
	struct made m;

	make(&m);
	sample(&m, m.load, 0, 0);
	assert_int_equal(m.growth.period_ns, 0);
	sample(&m, m.load, 100 * MIB, 0);
	assert_true(m.growth.period_ns > 0 && m.growth.period_ns < 50 * TRK_NS_PER_MS);
	assert_true(trk__growth_is_hot(&m.growth, m.now_ns));
	sample(&m, m.work, 0, 0); /* the next step is to be seen, too */
	assert_true(m.growth.period_ns > 0);
	for (int i = 0; i < 40; i++)
		sample(&m, m.load, 0, 0);
	assert_false(trk__growth_is_hot(&m.growth, m.now_ns));
	assert_int_equal(m.growth.period_ns, 0);
	m.bytes -= 90 * MIB;
	sample(&m, m.load, 0, 0);
	sample(&m, m.load, 50 * MIB, 0); /* not above the highest */
	assert_int_equal(m.growth.period_ns, 0);
	release(&m);
}

/* Whatever the order of lines, threads, signs and settlings: no byte is lost or counted twice. */
static void all_growth_and_all_release_is_charged_once(void **state)
{
	uint64_t grown = 0, released = 0, found = 0, found_released = 0;
	uint32_t node[40];
	struct made m;

	make(&m);
	for (int i = 0; i < 40; i++)
		node[i] = trk__lines_node(m.l, i % 3 ? m.main_line : m.work,
					  trk__lines_function(m.l, "/b.py", "f", i), i + 1);
	srand(1);
	for (int i = 0; i < 20000; i++) {
		struct trk_growth_sample s = {.node = node[rand() % 40],
					      .lane = (uint32_t) rand() % 3,
					      .alone = rand() % 2,
					      .is_look = rand() % 2,
					      .sign = (unsigned int) rand() % 9};
		uint64_t bytes = (uint64_t) (rand() % 100) * MIB;

		grown += i && bytes > m.bytes ? bytes - m.bytes : 0;
		released += i && bytes < m.bytes ? m.bytes - bytes : 0;
		m.bytes = s.bytes = bytes;
		m.now_ns += (uint64_t) (rand() % 100) * TRK_NS_PER_MS;
		s.now_ns = m.now_ns;
		trk__growth_take(&m.growth, m.l, &s, &m.sums);
		if (rand() % 10 == 0)
			trk__growth_note(&m.growth, m.l, node[rand() % 40], 1, 8, m.now_ns);
		if (rand() % 20 == 0)
			settle(&m, rand() % 4 == 0);
	}
	settle(&m, true);
	for (size_t i = 0; i < m.sums.counts; i++) {
		found += m.sums.count[i].amounts.sure_bytes + m.sums.count[i].amounts.between_bytes;
		found_released += m.sums.count[i].amounts.released_bytes;
	}
	assert_int_equal(found, grown);
	assert_int_equal(found_released, released);
	release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_long_step_is_sure),
		cmocka_unit_test(
			steps_shorter_than_a_sample_go_to_the_line_that_was_seen_taking_memory),
		cmocka_unit_test(growth_is_not_called_that_of_a_line_that_sleeps),
		cmocka_unit_test(growth_without_a_sign_is_that_of_the_thread_that_did_not_sleep),
		cmocka_unit_test(fast_growth_at_each_sample_is_likely_that_of_the_line),
		cmocka_unit_test(a_line_that_was_left_and_come_back_to_is_not_sure),
		cmocka_unit_test(a_line_that_was_not_seen_taking_memory_is_not_sure),
		cmocka_unit_test(without_a_sign_growth_stands_at_the_common_caller_after_a_while),
		cmocka_unit_test(signs_from_before_it_grew_do_not_count),
		cmocka_unit_test(looks_are_wanted_while_memory_reaches_new_heights),
		cmocka_unit_test(all_growth_and_all_release_is_charged_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
