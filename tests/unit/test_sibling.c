/* Rows in the formats of the Rust sibling: JSON Lines and CSV. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sink/sibling.h"

#include "fixture.h"
#include "rows.h"

static uint64_t clock_ns;

static uint64_t fixed_clock(void)
{
	return clock_ns;
}

static char *line_of(const struct trk_sample *row, const struct trk_detail *d,
		     const struct trk_sibling_line *line, struct trk_buf *b)
{
	struct trk_run run;

	run_init(&run);
	trk__buf_init(b, 1 << 20);
	trk__sibling_json_row(b, &run, row, d, line);
	assert_int_equal(b->error, 0);
	trk__buf_putc(b, '\0');
	return (char *) b->data;
}

static void an_empty_row_is_null_and_never_zero(void **state)
{
	struct trk_sample row = {0};
	struct trk_detail d = {.cores = 0};
	struct trk_buf b;

	trk__sample_set(&row, TRK_TIMESTAMP, 1700000000999);
	assert_string_equal(
		line_of(&row, &d, &(struct trk_sibling_line){.is_first = true}, &b),
		"{\"cpu\":{\"cgroup_usage_secs\":null,\"cgroup_utilization_pct\":null,"
		"\"per_core_pct\":[],\"per_core_steal_time_pct\":[],"
		"\"process_child_count\":null,\"process_cores_used\":null,"
		"\"process_count\":null,\"process_disk_read_bytes\":null,"
		"\"process_disk_write_bytes\":null,\"process_gpu_usage\":null,"
		"\"process_gpu_utilized\":null,\"process_gpu_vram_mib\":null,"
		"\"process_pss_mib\":null,\"process_rss_mib\":null,\"process_stime_secs\":null,"
		"\"process_utime_secs\":null,\"steal_time_pct\":null,"
		"\"steal_time_secs\":null,\"stime_secs\":null,\"utilization_pct\":null,"
		"\"utime_secs\":null},\"disk\":[],\"gpu\":[],\"job_name\":null,"
		"\"memory\":{\"active_mib\":null,\"available_mib\":null,\"buffers_mib\":null,"
		"\"cached_mib\":null,\"free_mib\":null,\"inactive_mib\":null,"
		"\"swap_total_mib\":null,\"swap_used_mib\":null,\"swap_used_pct\":null,"
		"\"total_mib\":null,\"used_mib\":null,\"used_pct\":null},\"network\":[],"
		"\"resource-tracker-version\":\"1.2.3\",\"timestamp_secs\":1700000000,"
		"\"tracked_pid\":4242}\n");
	trk__buf_release(&b);
}

static void has(const char *line, const char *text)
{
	if (!strstr(line, text))
		fail_msg("%s is not in %s", text, line);
}

static void figures_come_in_the_siblings_units(void **state)
{
	struct trk_sample row = {0};
	double share[2] = {0.1234, NAN}, steal[2] = {0.05, NAN};
	struct trk_sibling_line style = {.job = "named"};
	struct trk_detail d = {
		.cores = 2,
		.core_share = share,
		.core_steal_share = steal,
		.steal_share = 0.025,
		.has_memory = true,
		.memory = {.total = 8ull << 30,
			   .free = 1ull << 30,
			   .available = 6ull << 30,
			   .has_available = true,
			   .cached = 2ull << 30,
			   .reclaimable = 1ull << 20,
			   .swap_total = 4ull << 30,
			   .swap_free = 3ull << 30},
	};
	struct trk_buf b;
	const char *line;

	trk__sample_set(&row, TRK_INTERVAL, 2000400);
	trk__sample_set(&row, TRK_SYSTEM_CPU_USAGE, 12345);
	trk__sample_set(&row, TRK_CGROUP_CPU_USAGE, 5000);
	trk__sample_set(&row, TRK_PROCESS_MEMORY, 1572864);
	trk__sample_set(&row, TRK_SYSTEM_STEAL, 100000);
	line = line_of(&row, &d, &style, &b);
	has(line, "{\"actual_interval_ms\":2000,");
	has(line, "\"utilization_pct\":1.2345,");
	has(line, "\"cgroup_usage_secs\":1.0002,\"cgroup_utilization_pct\":0.5,");
	has(line, "\"per_core_pct\":[12.34,null],\"per_core_steal_time_pct\":[],");
	has(line, "\"steal_time_pct\":2.5,\"steal_time_secs\":0.1,");
	has(line, "\"job_name\":\"named\",");
	has(line, "\"process_pss_mib\":2,");
	has(line, "\"cached_mib\":2049,\"free_mib\":1024,");
	has(line, "\"swap_used_mib\":1024,\"swap_used_pct\":25,\"total_mib\":8192,"
		  "\"used_mib\":2048,\"used_pct\":25}");
	trk__buf_release(&b);
	style.steal_of_cores = true;
	d.memory.swap_total = 0;
	line = line_of(&row, &d, &style, &b);
	has(line, "\"per_core_steal_time_pct\":[5,null],");
	has(line, "\"swap_used_mib\":0,\"swap_used_pct\":0,");
	trk__buf_release(&b);
}

static void a_csv_row_has_the_siblings_decimals(void **state)
{
	struct trk_sample row = {0};
	struct trk_buf b;

	trk__sample_set(&row, TRK_TIMESTAMP, 1700000000120);
	trk__sample_set(&row, TRK_SYSTEM_PROCESSES, 7);
	trk__sample_set(&row, TRK_SYSTEM_UTIME, 500000);
	trk__sample_set(&row, TRK_SYSTEM_CPU_USAGE, 5000);
	trk__sample_set(&row, TRK_SYSTEM_MEMORY_FREE, 1572864);
	trk__sample_set(&row, TRK_SYSTEM_SPACE_TOTAL, 1500000000);
	trk__sample_set(&row, TRK_SYSTEM_STEAL, 250000);
	trk__sample_set(&row, TRK_PROCESS_PID, 42);
	trk__sample_set(&row, TRK_PROCESS_UTIME, 20050);
	trk__sample_set(&row, TRK_PROCESS_MEMORY, 1048576);
	trk__buf_init(&b, 4096);
	trk__sibling_csv_row(&b, &row);
	trk__buf_putc(&b, '\0');
	/* 1.5 MiB of the machine are cut to 1. */
	assert_string_equal(
		(char *) b.data,
		"1700000000.120,7,0.500,,0.5000,1,,,,,,,,1.500000,,,,,,,,42,,0.0201,,,1,"
		",,,,,0.250\n");
	trk__buf_release(&b);
}

static struct trk_traffic only_entry(const struct trk_traffic_list *list)
{
	assert_int_equal(list->count, 1);
	return list->count ? list->entry[0] : (struct trk_traffic){.in_bytes = 0};
}

static void update(struct trk_detail *d, struct trk_machine_now *now)
{
	trk__machine_now_read(now);
	trk__detail_update(d, now);
}

/* What goes through dm goes through the disk below. */
static void lists_disks_once_and_their_rates_over_real_time(void **state)
{
	struct trk_machine_now now;
	struct trk_detail d;
	struct trk_traffic disk;
	struct live live;

	live_init(&live, "lvm-luks");
	live.env.monotonic_ns = fixed_clock;
	live_write(&live, "diskstats",
		   "259 0 nvme0n1 1 0 8 1 1 0 16 1 0 1 1\n253 0 dm-0 1 0 8 1 1 0 16 1 0 1 1\n");
	clock_ns = 1000000000;
	assert_int_equal(trk__machine_now_open(&now, &live.env), 0);
	assert_int_equal(trk__detail_init(&d), 0);
	update(&d, &now);
	disk = only_entry(&d.disks);
	assert_string_equal(disk.name, "nvme0n1");
	assert_string_equal(disk.device.disk.type, "nvme");
	assert_int_equal(disk.in_bytes, 4096);
	assert_true(isnan(disk.in_rate));
	live_write(&live, "diskstats",
		   "259 0 nvme0n1 1 0 24 1 1 0 16 1 0 1 1\n253 0 dm-0 1 0 24 1 1 0 16 1 0 1 1\n");
	clock_ns = 3000000000;
	update(&d, &now);
	disk = only_entry(&d.disks);
	assert_true(disk.in_rate > 4095.9 && disk.in_rate < 4096.1);
	assert_true(disk.out_rate > -0.1 && disk.out_rate < 0.1);
	live_write(&live, "diskstats", "");
	update(&d, &now);
	assert_int_equal(d.disks.count, 0);
	trk__detail_release(&d);
	trk__machine_now_close(&now);
	live_release(&live);
}

/* Of 1 s of two cores the first one lost 0.4 of its half to other machines. */
static void steal_is_a_part_of_all_time_and_of_each_core(void **state)
{
	struct trk_machine_now now;
	struct trk_detail d;
	struct live live;

	live_init(&live, "lvm-luks");
	live.env.monotonic_ns = fixed_clock;
	live_write(&live, "stat",
		   "cpu 100 0 0 100 0 0 0 5 0 0\ncpu0 50 0 0 50 0 0 0 5 0 0\n"
		   "cpu1 50 0 0 50 0 0 0 0 0 0\n");
	assert_int_equal(trk__machine_now_open(&now, &live.env), 0);
	assert_int_equal(trk__detail_init(&d), 0);
	update(&d, &now);
	assert_true(isnan(d.steal_share) && isnan(d.core_steal_share[0]));
	live_write(&live, "stat",
		   "cpu 110 0 0 170 0 0 0 25 0 0\ncpu0 50 0 0 80 0 0 0 25 0 0\n"
		   "cpu1 60 0 0 90 0 0 0 0 0 0\n");
	update(&d, &now);
	assert_int_equal(d.cores, 2);
	assert_true(fabs(d.steal_share - 0.2) < 1e-9);
	assert_true(fabs(d.core_steal_share[0] - 0.4) < 1e-9);
	assert_true(fabs(d.core_steal_share[1]) < 1e-9);
	assert_true(fabs(d.core_share[1] - 0.2) < 1e-9);
	trk__detail_release(&d);
	trk__machine_now_close(&now);
	live_release(&live);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_row_is_null_and_never_zero),
		cmocka_unit_test(figures_come_in_the_siblings_units),
		cmocka_unit_test(a_csv_row_has_the_siblings_decimals),
		cmocka_unit_test(steal_is_a_part_of_all_time_and_of_each_core),
		cmocka_unit_test(lists_disks_once_and_their_rates_over_real_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
