/* The labels of a memory peak: when it is exact, and the bounds. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "track/peak.h"

#define MIB ((uint64_t) 1 << 20)

static struct trk_quantity total[TRK_TOTALS];

/* A run of several processes of which the largest alone is known: 150 MiB, 600 at most. */
static struct trk_sampler_memory memory_of(double cache, double need, double unmapped,
					   double growth)
{
	return (struct trk_sampler_memory){
		.group_cache_bytes = cache,
		.group_need_bytes = need,
		.group_unmapped_bytes = unmapped,
		.shmem_growth_bytes = growth,
		.group_held_bytes = NAN,
		.group_swap_bytes = NAN,
		.outside_growth_bytes = 0,
		.tree_swap_bytes = NAN,
		.tree_huge_bytes = NAN,
		.row_bytes = NAN,
		.file_bytes = NAN,
		.needed_bytes = NAN,
	};
}

static struct trk_peak_facts facts(void)
{
	return (struct trk_peak_facts){
		.tree = {.bytes = 150 * MIB,
			 .source = "ru_maxrss",
			 .is_floor = true,
			 .floor_bytes = 150 * MIB,
			 .most_bytes = 600 * MIB},
		.memory = memory_of(NAN, NAN, NAN, 0),
		.is_run = true,
		.start_bytes = 2 * MIB,
		.group_version = 2,
	};
}

static const struct trk_quantity *judge(const struct trk_peak_facts *f)
{
	trk__quantities_clear(total, TRK_TOTALS);
	trk__peak_judge(f, total);
	trk__peak_outside(f, total);
	return &total[TRK_TOTAL_PEAK_MEMORY_MIB];
}

static double least(void)
{
	return total[TRK_TOTAL_PEAK_MEMORY_AT_LEAST_MIB].value;
}

static double most(void)
{
	return total[TRK_TOTAL_PEAK_MEMORY_AT_MOST_MIB].value;
}

static void the_largest_of_several_is_a_floor(void **state)
{
	struct trk_peak_facts f = facts();
	const struct trk_quantity *q = judge(&f);

	assert_true(q->value == 150);
	assert_int_equal(q->quality, TRK_QUALITY_AT_LEAST);
	assert_true(least() == 150 && most() == 600);
}

static void no_more_can_be_held_than_the_machine_has(void **state)
{
	struct trk_peak_facts f = facts();

	f.tree.most_bytes = 37680 * MIB;
	f.machine_bytes = 24000 * MIB;
	(void) judge(&f);
	assert_true(most() == 24000);
	assert_string_equal(total[TRK_TOTAL_PEAK_MEMORY_AT_MOST_MIB].source,
			    "memory of the machine");
	f.tree.most_bytes = 600 * MIB;
	(void) judge(&f);
	assert_true(most() == 600);
}

static void one_process_alone_is_exact(void **state)
{
	struct trk_peak_facts f = facts();

	f.is_alone = true;
	assert_int_equal(judge(&f)->quality, TRK_QUALITY_EXACT);
	assert_true(least() == 150 && most() == 150);
	f.can_be_missed = true; /* it ignored SIGCHLD: there may have been children */
	assert_int_equal(judge(&f)->quality, TRK_QUALITY_AT_LEAST);
	assert_true(isnan(most()));
}

static void one_process_alone_is_exact_in_a_group_with_page_cache(void **state)
{
	struct trk_peak_facts f = facts();

	f.group = TRK_PEAK_GROUP_OWN;
	f.group_peak_bytes = 400 * MIB;
	f.memory = memory_of(250 * MIB, NAN, 0, 0);
	assert_int_equal(judge(&f)->quality, TRK_QUALITY_ESTIMATED);
	f.is_alone = true;
	assert_int_equal(judge(&f)->quality, TRK_QUALITY_EXACT);
	assert_true(total[TRK_TOTAL_PEAK_MEMORY_MIB].value == 150);
	assert_true(least() == 150 && most() == 150);
	assert_true(total[TRK_TOTAL_PEAK_GROUP_MEMORY_MIB].value == 400);
}

static void memory_in_swap_or_huge_pages_makes_no_figure_exact(void **state)
{
	struct trk_peak_facts f = facts();
	const struct trk_quantity *q;

	f.is_alone = true;
	f.memory.outside_growth_bytes = MIB; /* not notable */
	assert_int_equal(judge(&f)->quality, TRK_QUALITY_EXACT);
	f.memory.outside_growth_bytes = 64 * MIB;
	q = judge(&f);
	assert_true(q->value == 150);
	assert_int_equal(q->quality, TRK_QUALITY_AT_LEAST);
	assert_non_null(strstr(q->reason, "huge pages of the machine grew by up to 64.0 MiB"));
	assert_true(least() == 150 && most() == 214);
	f.memory.tree_huge_bytes = 64 * MIB;
	f.memory.tree_swap_bytes = 0;
	q = judge(&f);
	assert_int_equal(q->quality, TRK_QUALITY_AT_LEAST);
	assert_string_equal(q->reason,
			    "64.0 MiB of the job in swap and huge pages are not part of it");
	f.memory.outside_growth_bytes = NAN;
	q = judge(&f);
	assert_true(q->value == 150);
	assert_int_equal(q->quality, TRK_QUALITY_AT_LEAST);
	assert_string_equal(q->reason, "swap or huge pages are not measured");
	assert_true(least() == 150 && isnan(most()));
}

static void what_is_needed_is_the_largest_sum_of_memory_swap_and_huge_pages(void **state)
{
	const struct trk_quantity *needed = &total[TRK_TOTAL_PEAK_NEEDED_MIB];
	const struct trk_quantity *huge = &total[TRK_TOTAL_PEAK_HUGE_PAGES_MIB];
	const struct trk_quantity *swap = &total[TRK_TOTAL_PEAK_SWAP_MIB];
	struct trk_peak_facts f = facts();

	f.is_alone = true;
	f.memory.tree_huge_bytes = f.memory.tree_swap_bytes = 0;
	f.memory.row_bytes = f.memory.needed_bytes = 140 * MIB;
	(void) judge(&f); /* it used neither */
	assert_true(needed->value == 150 && huge->value == 0 && swap->value == 0);
	assert_int_equal(needed->quality, TRK_QUALITY_EXACT);
	f.memory.tree_huge_bytes = 100 * MIB;
	f.memory.tree_swap_bytes = 30 * MIB;
	f.memory.needed_bytes = 250 * MIB; /* not all at the same time */
	(void) judge(&f);
	assert_true(huge->value == 100 && swap->value == 30);
	assert_int_equal(huge->quality, TRK_QUALITY_AT_LEAST);
	assert_int_equal(swap->quality, TRK_QUALITY_AT_LEAST);
	assert_true(needed->value == 260); /* the peak is 10 above the samples */
	assert_int_equal(needed->quality, TRK_QUALITY_ESTIMATED);
	f.memory.misses_outside = true;
	(void) judge(&f);
	assert_true(needed->value == 150);
	assert_int_equal(needed->quality, TRK_QUALITY_AT_LEAST);
	assert_string_equal(needed->reason,
			    "swap and huge pages of the processes were not measured");
}

static void swap_is_that_of_the_group_if_the_job_is_alone_in_it(void **state)
{
	const struct trk_quantity *swap = &total[TRK_TOTAL_PEAK_SWAP_MIB];
	struct trk_peak_facts f = facts();

	(void) judge(&f);
	assert_int_equal(swap->quality, TRK_QUALITY_UNKNOWN);
	f.memory.tree_swap_bytes = 30 * MIB;
	f.memory.group_swap_bytes = 90 * MIB;
	(void) judge(&f); /* other processes are in the group */
	assert_true(swap->value == 30);
	f.group = TRK_PEAK_GROUP_OWN;
	(void) judge(&f);
	assert_true(swap->value == 90);
	assert_int_equal(swap->quality, TRK_QUALITY_AT_LEAST);
	f.memory.swap_is_peak = true;
	(void) judge(&f);
	assert_int_equal(swap->quality, TRK_QUALITY_AT_MOST);
}

static void the_largest_of_several_is_not_a_floor_where_the_kernel_counts_in_large_batches(
	void **state)
{
	struct trk_peak_facts f = facts();
	const struct trk_quantity *q;

	f.rss_slack_bytes = 24 * MIB;
	q = judge(&f);
	assert_true(q->value == 150);
	assert_int_equal(q->quality, TRK_QUALITY_ESTIMATED);
	assert_non_null(strstr(q->reason, "the largest process"));
	assert_non_null(strstr(q->reason, "within 24.0 MiB"));
	assert_true(least() == 126 && most() == 624);
	f.rss_slack_bytes = MIB; /* not notable */
	assert_int_equal(judge(&f)->quality, TRK_QUALITY_AT_LEAST);
	assert_true(least() == 150 && most() == 600);
}

static void one_process_alone_is_not_exact_where_the_kernel_counts_in_large_batches(void **state)
{
	struct trk_peak_facts f = facts();
	const struct trk_quantity *q;

	f.is_alone = true;
	f.rss_slack_bytes = 24 * MIB;
	q = judge(&f);
	assert_int_equal(q->quality, TRK_QUALITY_ESTIMATED);
	assert_non_null(strstr(q->reason, "counts pages in batches"));
	assert_true(q->value == 150 && least() == 126 && most() == 174);
	f.tree.floor_bytes = f.tree.bytes = 2400 * MIB; /* 1 % of it is not notable */
	assert_int_equal(judge(&f)->quality, TRK_QUALITY_EXACT);
	assert_true(least() == 2400 && most() == 2400);
	f.tree.floor_bytes = f.tree.bytes = 8 * MIB;
	assert_int_equal(judge(&f)->quality, TRK_QUALITY_ESTIMATED);
	assert_true(isnan(least()) && most() == 32);
}

static void no_larger_than_a_forked_child_is_an_upper_bound_for_one_process_alone(void **state)
{
	struct trk_peak_facts f = facts();

	f.tree.bytes = f.tree.floor_bytes = MIB;
	f.tree.most_bytes = 5 * MIB;
	f.is_alone = true;
	assert_int_equal(judge(&f)->quality, TRK_QUALITY_AT_MOST);
	assert_true(isnan(least()));
	f.rss_slack_bytes = 24 * MIB; /* the kernel may have counted as much less */
	assert_int_equal(judge(&f)->quality, TRK_QUALITY_AT_MOST);
	assert_true(isnan(least()));
	assert_true(most() == 25);
	f.rss_slack_bytes = 0;
	f.is_alone = false; /* two may have lived at once */
	assert_int_equal(judge(&f)->quality, TRK_QUALITY_ESTIMATED);
	assert_true(most() == 5);
}

static void shared_memory_beside_the_processes_forbids_exact_and_at_most(void **state)
{
	struct trk_peak_facts f = facts();
	const struct trk_quantity *q;

	f.is_alone = true;
	f.memory.shmem_growth_bytes = 300.0 * (double) MIB;
	q = judge(&f);
	assert_int_equal(q->quality, TRK_QUALITY_AT_LEAST);
	assert_non_null(strstr(q->reason, "300.0 MiB"));
	assert_true(isnan(most()));
	assert_true(total[TRK_TOTAL_PEAK_SHARED_FILES_MIB].value == 300);
	f.tree.floor_bytes = f.tree.bytes = MIB;
	assert_int_equal(judge(&f)->quality, TRK_QUALITY_ESTIMATED);
	f = facts();
	f.is_alone = true;
	f.memory.shmem_growth_bytes = NAN; /* nobody looked */
	assert_int_equal(judge(&f)->quality, TRK_QUALITY_AT_LEAST);
}

static void the_jobs_own_group_tells_the_peak(void **state)
{
	struct trk_peak_facts f = facts();
	const struct trk_quantity *q;

	f.group = TRK_PEAK_GROUP_OWN;
	f.group_peak_bytes = 602 * MIB;
	f.memory = memory_of(0, 602.0 * (double) MIB, 0, 900.0 * (double) MIB);
	q = judge(&f);
	assert_true(q->value == 602);
	assert_int_equal(q->quality, TRK_QUALITY_EXACT);
	assert_string_equal(q->source, "memory.peak of the job's own group");
	assert_int_equal(total[TRK_TOTAL_PEAK_GROUP_MEMORY_MIB].quality, TRK_QUALITY_EXACT);
	assert_true(total[TRK_TOTAL_PEAK_SHARED_FILES_MIB].value ==
		    0); /* the machine's were others' */
}

static void page_cache_in_the_group_is_no_need(void **state)
{
	struct trk_peak_facts f = facts();
	const struct trk_quantity *q;

	f.group = TRK_PEAK_GROUP_OWN;
	f.group_peak_bytes = 1000 * MIB;
	f.io_bytes = 800 * MIB;
	f.memory = memory_of(700.0 * (double) MIB, 300.0 * (double) MIB, 0, 0);
	q = judge(&f);
	assert_true(q->value == 300);
	assert_int_equal(q->quality, TRK_QUALITY_ESTIMATED);
	assert_true(least() == 200 && most() == 1000);
}

static void a_group_with_the_tracker_in_it_is_no_exact_figure(void **state)
{
	struct trk_peak_facts f = facts();

	f.group = TRK_PEAK_GROUP_ALONE;
	f.group_peak_bytes = 602 * MIB;
	f.tracker_bytes = 2 * MIB; /* half of it are files, which may be charged to another group */
	f.tracker_anon_bytes = MIB;
	f.memory = memory_of(0, 602.0 * (double) MIB, 0, 0);
	assert_true(judge(&f)->value == 601);
	assert_int_equal(total[TRK_TOTAL_PEAK_MEMORY_MIB].quality, TRK_QUALITY_ESTIMATED);
	assert_true(least() == 600 && most() == 602);
}

static void a_group_that_the_job_left_tells_nothing(void **state)
{
	struct trk_peak_facts f = facts();

	f.group = TRK_PEAK_GROUP_OWN;
	f.group_peak_bytes = 10 * MIB;
	f.memory = memory_of(0, 10.0 * (double) MIB, 0, 0);
	assert_true(judge(&f)->value == 150);
	assert_int_equal(total[TRK_TOTAL_PEAK_MEMORY_MIB].quality, TRK_QUALITY_AT_LEAST);
	assert_true(isnan(total[TRK_TOTAL_PEAK_GROUP_MEMORY_MIB].value));
}

static void what_was_attached_to_has_no_upper_bound(void **state)
{
	struct trk_peak_facts f = facts();

	f.is_run = false;
	(void) judge(&f);
	assert_true(isnan(most()));
}

static void files_of_another_group_are_above_the_groups_peak_and_inferred_memory_is_not(
	void **state)
{
	struct trk_peak_facts f = facts();
	const struct trk_quantity *q;

	f.group = TRK_PEAK_GROUP_OWN;
	f.group_peak_bytes = 409 * MIB;
	f.memory = memory_of(0, 409.0 * (double) MIB, 0, 0);
	f.tree.bytes = 501 * MIB;
	f.tree.is_floor = false;
	f.tree.floor_bytes = 417 * MIB;
	q = judge(&f);
	assert_true(q->value == 417 && least() == 417);
	assert_int_equal(q->quality, TRK_QUALITY_ESTIMATED);
	assert_non_null(strstr(q->reason, "the group's own peak is 409.0 MiB"));
	f.tree.floor_bytes = 300 * MIB;
	q = judge(&f);
	assert_true(q->value == 409 && most() == 409);
}

static void memory_that_no_process_maps_counts_where_the_group_tells_it(void **state)
{
	struct trk_peak_facts f = facts();
	const struct trk_quantity *q;

	f.memory.group_held_bytes = 700.0 * (double) MIB;
	f.memory.shmem_growth_bytes = 550.0 * (double) MIB;
	q = judge(&f);
	assert_true(q->value == 150); /* the group is not the job's */
	f.group = TRK_PEAK_GROUP_ALONE;
	q = judge(&f);
	assert_true(q->value == 700);
	assert_int_equal(q->quality, TRK_QUALITY_ESTIMATED);
	assert_true(isnan(most()));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_largest_of_several_is_a_floor),
		cmocka_unit_test(no_more_can_be_held_than_the_machine_has),
		cmocka_unit_test(one_process_alone_is_exact),
		cmocka_unit_test(one_process_alone_is_exact_in_a_group_with_page_cache),
		cmocka_unit_test(
			the_largest_of_several_is_not_a_floor_where_the_kernel_counts_in_large_batches),
		cmocka_unit_test(
			one_process_alone_is_not_exact_where_the_kernel_counts_in_large_batches),
		cmocka_unit_test(
			no_larger_than_a_forked_child_is_an_upper_bound_for_one_process_alone),
		cmocka_unit_test(shared_memory_beside_the_processes_forbids_exact_and_at_most),
		cmocka_unit_test(the_jobs_own_group_tells_the_peak),
		cmocka_unit_test(page_cache_in_the_group_is_no_need),
		cmocka_unit_test(a_group_with_the_tracker_in_it_is_no_exact_figure),
		cmocka_unit_test(a_group_that_the_job_left_tells_nothing),
		cmocka_unit_test(memory_that_no_process_maps_counts_where_the_group_tells_it),
		cmocka_unit_test(memory_in_swap_or_huge_pages_makes_no_figure_exact),
		cmocka_unit_test(what_is_needed_is_the_largest_sum_of_memory_swap_and_huge_pages),
		cmocka_unit_test(swap_is_that_of_the_group_if_the_job_is_alone_in_it),
		cmocka_unit_test(what_was_attached_to_has_no_upper_bound),
		cmocka_unit_test(
			files_of_another_group_are_above_the_groups_peak_and_inferred_memory_is_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
