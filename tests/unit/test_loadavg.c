/* /proc/loadavg. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture.h"
#include "probe/linux/loadavg.h"

static void reads_loads_in_hundredths(void **state)
{
	char *text = fixture_text("vm-virtio", "proc/loadavg");
	struct trk_loadavg l;

	assert_int_equal(trk__loadavg_parse(text, &l), 0);
	free(text);
	assert_int_equal(l.load_1m, 20);
	assert_int_equal(l.load_5m, 18);
	assert_int_equal(l.load_15m, 1205);
	assert_int_equal(l.running, 2);
	assert_int_equal(l.threads, 481);
	assert_int_equal(l.last_pid, 11206);
}

static void reads_loads_over_a_hundred(void **state)
{
	char *text = fixture_text("kernel-4.18", "proc/loadavg");
	struct trk_loadavg l;

	assert_int_equal(trk__loadavg_parse(text, &l), 0);
	free(text);
	assert_int_equal(l.load_1m, 10150);
	assert_int_equal(l.running, 97);
}

static void refuses_damaged_text_and_leaves_the_result_alone(void **state)
{
	static const char *const bad[] = {
		"",
		"0.20 0.18",
		"0.20 0.18 0.12 1 80 11206\n",
		"0.20 0.18 0.12 1/80\n",
		"0.20 0.18 0.12 1/80 99999999999\n",
		"a b c 1/80 11206\n",
	};
	const struct trk_loadavg before = {.threads = 99};
	struct trk_loadavg l = before;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(trk__loadavg_parse(bad[i], &l), -EBADMSG);
		assert_memory_equal(&l, &before, sizeof(l));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_loads_in_hundredths),
		cmocka_unit_test(reads_loads_over_a_hundred),
		cmocka_unit_test(refuses_damaged_text_and_leaves_the_result_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
