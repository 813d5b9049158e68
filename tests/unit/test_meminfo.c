/* /proc/meminfo, and what counts as used memory. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/env.h"
#include "fixture.h"
#include "probe/linux/meminfo.h"
#include "scratch.h"

static struct trk_meminfo parse_fixture(const char *fixture)
{
	char *text = fixture_text(fixture, "proc/meminfo");
	struct trk_meminfo m = {0};

	assert_int_equal(trk__meminfo_parse(text, &m), 0);
	free(text);
	return m;
}

static void reads_every_figure_in_bytes(void **state)
{
	struct trk_meminfo m = parse_fixture("vm-virtio");

	assert_int_equal(m.total, 32858820ull << 10);
	assert_int_equal(m.free, 3001984ull << 10);
	assert_true(m.has_available);
	assert_int_equal(m.available, 27214312ull << 10);
	assert_int_equal(m.buffers, 1604ull << 10);
	assert_int_equal(m.cached, 24111240ull << 10); /* not SwapCached */
	assert_int_equal(m.reclaimable, 517608ull << 10);
	assert_int_equal(m.active, 13000000ull << 10); /* not Active(anon) */
	assert_int_equal(m.inactive, 14000000ull << 10);
	assert_int_equal(m.shmem, 9976ull << 10);
	assert_int_equal(m.swap_total, 2097148ull << 10);
	assert_int_equal(m.swap_free, 2096148ull << 10);
}

static void counts_the_huge_pages_in_use(void **state)
{
	struct trk_meminfo m;

	assert_int_equal(trk__meminfo_parse("MemTotal: 32858820 kB\nHugePages_Total: 64\n"
					    "HugePages_Free: 40\nHugePages_Rsvd: 0\n"
					    "Hugepagesize: 2048 kB\n",
					    &m),
			 0);
	assert_int_equal(m.huge_pages, 48ull << 20);
	assert_false(m.has_other_huge_pages);
}

static void knows_of_huge_pages_of_another_size(void **state)
{
	struct trk_meminfo m;

	assert_int_equal(trk__meminfo_parse("MemTotal: 32858820 kB\nHugePages_Total: 64\n"
					    "Hugepagesize: 2048 kB\nHugetlb: 131072 kB\n",
					    &m),
			 0);
	assert_false(m.has_other_huge_pages);
	assert_int_equal(trk__meminfo_parse("MemTotal: 32858820 kB\nHugePages_Total: 0\n"
					    "Hugepagesize: 2048 kB\nHugetlb: 1048576 kB\n",
					    &m),
			 0);
	assert_true(m.has_other_huge_pages);
}

static void counts_huge_pages_of_all_sizes(void **state)
{
	struct trk_meminfo m = {.huge_pages = 7, .has_other_huge_pages = false};
	char root[] = "/tmp/trk-meminfo.XXXXXX", command[64];
	struct trk_env env;

	assert_non_null(mkdtemp(root));
	put_below(root, "proc/meminfo", "");
	put_below(root, "sys/fs/cgroup/x", "");
	assert_int_equal(trk__env_init_at(&env, root), 0);
	trk__meminfo_add_huge_pages(env.sys_fd, &m);
	assert_int_equal(m.huge_pages, 7); /* there is one size, which has been read */
	m.has_other_huge_pages = true;
	trk__meminfo_add_huge_pages(env.sys_fd, &m);
	assert_true(m.has_other_huge_pages); /* not readable */
	put_below(root, "sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "64\n");
	put_below(root, "sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "60\n");
	put_below(root, "sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages", "3\n");
	put_below(root, "sys/kernel/mm/hugepages/hugepages-1048576kB/free_hugepages", "2\n");
	trk__meminfo_add_huge_pages(env.sys_fd, &m);
	assert_false(m.has_other_huge_pages);
	assert_int_equal(m.huge_pages, (1024 + 8) * (UINT64_C(1) << 20));
	trk__env_release(&env);
	(void) snprintf(command, sizeof(command), "rm -rf '%s'", root);
	assert_int_equal(system(command), 0);
}

static void takes_what_is_not_available_as_used(void **state)
{
	struct trk_meminfo m = parse_fixture("vm-virtio");

	assert_int_equal(trk__meminfo_used(&m), (32858820ull - 27214312) << 10);
}

static void reckons_used_memory_for_a_kernel_without_available(void **state)
{
	struct trk_meminfo m = parse_fixture("kernel-2.6");

	assert_false(m.has_available);
	assert_int_equal(trk__meminfo_used(&m), (2059760ull - 109760 - 60000 - 900000 - 40000)
							<< 10);
}

static void never_has_less_than_nothing_used(void **state)
{
	const struct trk_meminfo more = {.total = 10, .available = 11, .has_available = true};
	const struct trk_meminfo old = {.total = 10, .free = 5, .cached = 6};

	assert_int_equal(trk__meminfo_used(&more), 0);
	assert_int_equal(trk__meminfo_used(&old), 0);
}

static void tells_no_memory_available_from_not_known(void **state)
{
	struct trk_meminfo m;

	assert_int_equal(
		trk__meminfo_parse("MemTotal: 8 kB\nMemFree: 4 kB\nMemAvailable: 0 kB\n", &m), 0);
	assert_int_equal(trk__meminfo_used(&m), 8192);
}

static void refuses_damaged_text_and_leaves_the_result_alone(void **state)
{
	static const char *const bad[] = {
		"",
		"MemFree: 12 kB\n",
		"MemTotal: x kB\n",
		"MemTotal: 18446744073709551615 kB\n",
		"MemTotal: 12 kB\nCached: 99999999999999999999999 kB\n",
	};
	const struct trk_meminfo before = {.total = 99};
	struct trk_meminfo m = before;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(trk__meminfo_parse(bad[i], &m), -EBADMSG);
		assert_memory_equal(&m, &before, sizeof(m));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_every_figure_in_bytes),
		cmocka_unit_test(counts_the_huge_pages_in_use),
		cmocka_unit_test(knows_of_huge_pages_of_another_size),
		cmocka_unit_test(counts_huge_pages_of_all_sizes),
		cmocka_unit_test(takes_what_is_not_available_as_used),
		cmocka_unit_test(reckons_used_memory_for_a_kernel_without_available),
		cmocka_unit_test(never_has_less_than_nothing_used),
		cmocka_unit_test(tells_no_memory_available_from_not_known),
		cmocka_unit_test(refuses_damaged_text_and_leaves_the_result_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
