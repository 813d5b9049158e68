/* /proc/stat: CPU times of the machine and of its cores. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture.h"
#include "probe/linux/cpu_stat.h"

static void reads_every_column_and_counter(void **state)
{
	char *text = fixture_text("vm-virtio", "proc/stat");
	struct trk_cpu_times cores[4] = {{0}};
	struct trk_cpu_stat s;

	assert_int_equal(trk__cpu_stat_parse(text, &s, cores, 4), 0);
	free(text);
	assert_int_equal(s.all.user, 10132153);
	assert_int_equal(s.all.nice, 290696);
	assert_int_equal(s.all.system, 3084719);
	assert_int_equal(s.all.idle, 46828483);
	assert_int_equal(s.all.iowait, 16683);
	assert_int_equal(s.all.irq, 0);
	assert_int_equal(s.all.softirq, 25195);
	assert_int_equal(s.all.steal, 175628);
	assert_int_equal(s.cores, 2);
	assert_int_equal(cores[0].user, 5091201);
	assert_int_equal(cores[1].user, 5040952);
	assert_int_equal(cores[2].user, 0);
	assert_int_equal(s.forks, 2915);
	assert_int_equal(s.context_switches, 1990473);
}

static void counts_no_steal_as_busy(void **state)
{
	const struct trk_cpu_times t = {.user = 1,
					.nice = 2,
					.system = 4,
					.idle = 1000,
					.iowait = 1000,
					.irq = 8,
					.softirq = 16,
					.steal = 1000};

	assert_int_equal(trk__cpu_times_busy(&t), 31);
}

static void accepts_the_seven_columns_of_an_old_kernel(void **state)
{
	char *text = fixture_text("kernel-2.6", "proc/stat");
	struct trk_cpu_stat s;

	assert_int_equal(trk__cpu_stat_parse(text, &s, NULL, 0), 0);
	free(text);
	assert_int_equal(s.all.softirq, 456);
	assert_int_equal(s.all.steal, 0);
	assert_int_equal(s.cores, 2);
}

static void counts_all_cores_though_the_table_is_short(void **state)
{
	char *text = fixture_text("cores-64", "proc/stat");
	struct trk_cpu_times cores[64], few[2] = {{0}};
	struct trk_cpu_stat s;

	assert_int_equal(trk__cpu_stat_parse(text, &s, cores, 64), 0);
	assert_int_equal(s.cores, 64);
	assert_int_equal(cores[63].user, 630);
	assert_int_equal(s.context_switches, 123456789012);
	assert_int_equal(trk__cpu_stat_parse(text, &s, few, 1), 0);
	assert_int_equal(s.cores, 64);
	assert_int_equal(few[1].system, 0);
	/* No table at all, whatever its size is said to be. */
	assert_int_equal(trk__cpu_stat_parse(text, &s, NULL, 64), 0);
	free(text);
}

static void leaves_out_a_core_that_is_offline(void **state)
{
	char *text = fixture_text("kernel-4.18", "proc/stat");
	struct trk_cpu_times cores[3] = {{0}};
	struct trk_cpu_stat s;

	assert_int_equal(trk__cpu_stat_parse(text, &s, cores, 3), 0);
	free(text);
	assert_int_equal(s.cores, 2);
	assert_int_equal(cores[2].user, 0);
}

static void refuses_damaged_text_and_leaves_the_result_alone(void **state)
{
	static const char *const bad[] = {
		"",
		"cpu0 1 2 3 4\n",                          /* no line of the whole machine */
		"cpu  1 2 3\n",                            /* idle is missing */
		"cpu  1 2 3 x\n",                          /* no number */
		"cpu  1 2 3 4\ncpu0 1 2 3\n",              /* a core without idle */
		"cpu  1 2 3 4\ncpux 1 2 3 4\n",            /* a core without number */
		"cpu  1 2 3 99999999999999999999999999\n", /* too large */
		"CPU  1 2 3 4\n",
	};
	const struct trk_cpu_stat before = {.cores = 99, .forks = 98};
	struct trk_cpu_stat s = before;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(trk__cpu_stat_parse(bad[i], &s, NULL, 0), -EBADMSG);
		assert_memory_equal(&s, &before, sizeof(s));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_every_column_and_counter),
		cmocka_unit_test(counts_no_steal_as_busy),
		cmocka_unit_test(accepts_the_seven_columns_of_an_old_kernel),
		cmocka_unit_test(counts_all_cores_though_the_table_is_short),
		cmocka_unit_test(leaves_out_a_core_that_is_offline),
		cmocka_unit_test(refuses_damaged_text_and_leaves_the_result_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
