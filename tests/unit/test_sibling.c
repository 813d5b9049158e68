/* Rows in the formats of the Rust sibling: JSON Lines and CSV. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "export/sibling.h"

#include "fixture.h"
#include "rows.h"

static uint64_t clock_ns;

static uint64_t fixed_clock(void)
{
	return clock_ns;
}

static char *line_of(const struct trk_sample *row, const struct trk_machine_now *now,
		     const struct trk_sibling_line *line, struct trk_buf *b)
{
	struct trk_run run;

	run_init(&run);
	trk__buf_init(b, 1 << 20);
	trk__sibling_json_row(b, &run, row, now, NULL, line);
	assert_int_equal(b->error, 0);
	trk__buf_putc(b, '\0');
	return (char *) b->data;
}

static void an_empty_row_is_null_and_never_zero(void **state)
{
	struct trk_sample row = {0};
	struct trk_machine_now now = {.has_cpu = false};
	struct trk_buf b;

	trk__sample_set(&row, TRK_TIMESTAMP, 1700000000999);
	assert_string_equal(
		line_of(&row, &now, &(struct trk_sibling_line){.is_first = true}, &b),
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
	/* Of the time of two cores, the second of which has no figures yet. */
	struct trk_cpu_times core[2] = {{.user = 1234, .idle = 8266, .steal = 500}, {.user = 0}};
	struct trk_cpu_times before[2] = {{.user = 0}, {.user = 0}};
	struct trk_sibling_line style = {.job = "named"};
	struct trk_machine_now now = {
		.has_cpu = true,
		.cpu = {.cores = 2, .all = {.user = 975, .steal = 25}},
		.cpu_before = {.cores = 2},
		.core = core,
		.core_before = before,
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
	line = line_of(&row, &now, &style, &b);
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
	now.memory.swap_total = 0;
	line = line_of(&row, &now, &style, &b);
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

static void write_line(struct trk_machine_now *now, struct trk_buf *b)
{
	const struct trk_sample row = {0};

	trk__machine_now_read(now);
	trk__machine_now_devices(now);
	(void) line_of(&row, now, &(struct trk_sibling_line){.steal_of_cores = true}, b);
}

/* What goes through dm goes through the disk below. */
static void lists_disks_once_and_their_rates_over_real_time(void **state)
{
	struct trk_machine_now now;
	struct live live;
	struct trk_buf b;

	live_init(&live, "lvm-luks");
	live.env.monotonic_ns = fixed_clock;
	live_write(&live, "diskstats",
		   "259 0 nvme0n1 1 0 8 1 1 0 16 1 0 1 1\n253 0 dm-0 1 0 8 1 1 0 16 1 0 1 1\n");
	clock_ns = 1000000000;
	assert_int_equal(trk__machine_now_open(&now, &live.env), 0);
	write_line(&now, &b);
	has((char *) b.data, "\"device\":\"nvme0n1\",\"device_type\":\"nvme\",");
	has((char *) b.data, "\"read_bytes_per_sec\":null,\"read_bytes_total\":4096,");
	assert_null(strstr((char *) b.data, "dm-0"));
	trk__buf_release(&b);
	live_write(&live, "diskstats",
		   "259 0 nvme0n1 1 0 24 1 1 0 16 1 0 1 1\n253 0 dm-0 1 0 24 1 1 0 16 1 0 1 1\n");
	clock_ns = 3000000000;
	write_line(&now, &b);
	has((char *) b.data, "\"read_bytes_per_sec\":4096,");
	has((char *) b.data, "\"write_bytes_per_sec\":0,");
	trk__buf_release(&b);
	live_write(&live, "diskstats", "");
	write_line(&now, &b);
	has((char *) b.data, "\"disk\":[],");
	trk__buf_release(&b);
	trk__machine_now_close(&now);
	live_release(&live);
}

/* Of 1 s of two cores the first one lost 0.4 of its half to other machines. */
static void steal_is_a_part_of_all_time_and_of_each_core(void **state)
{
	struct trk_machine_now now;
	struct live live;
	struct trk_buf b;

	live_init(&live, "lvm-luks");
	live.env.monotonic_ns = fixed_clock;
	live_write(&live, "stat",
		   "cpu 100 0 0 100 0 0 0 5 0 0\ncpu0 50 0 0 50 0 0 0 5 0 0\n"
		   "cpu1 50 0 0 50 0 0 0 0 0 0\n");
	assert_int_equal(trk__machine_now_open(&now, &live.env), 0);
	write_line(&now, &b);
	has((char *) b.data, "\"per_core_steal_time_pct\":[null,null],");
	has((char *) b.data, "\"steal_time_pct\":null,");
	trk__buf_release(&b);
	live_write(&live, "stat",
		   "cpu 110 0 0 170 0 0 0 25 0 0\ncpu0 50 0 0 80 0 0 0 25 0 0\n"
		   "cpu1 60 0 0 90 0 0 0 0 0 0\n");
	write_line(&now, &b);
	has((char *) b.data, "\"per_core_pct\":[0,20],\"per_core_steal_time_pct\":[40,0],");
	has((char *) b.data, "\"steal_time_pct\":20,");
	trk__buf_release(&b);
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
