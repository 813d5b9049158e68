/* Rows as CSV and JSON Lines in every column set: names, order, units, unknown values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "export/table.h"

#define HEAD_04_PROCESS                                                                            \
	"\"timestamp\",\"pid\",\"children\",\"utime\",\"stime\",\"cpu_usage\",\"memory\","         \
	"\"read_bytes\",\"write_bytes\",\"gpu_usage\",\"gpu_vram\",\"gpu_utilized\"\n"
#define HEAD_04_SYSTEM                                                                             \
	"\"timestamp\",\"processes\",\"utime\",\"stime\",\"cpu_usage\",\"memory_free\","           \
	"\"memory_used\",\"memory_buffers\",\"memory_cached\",\"memory_active\","                  \
	"\"memory_inactive\",\"disk_read_bytes\",\"disk_write_bytes\","                            \
	"\"disk_space_total_gb\",\"disk_space_used_gb\",\"disk_space_free_gb\","                   \
	"\"net_recv_bytes\",\"net_sent_bytes\",\"gpu_usage\",\"gpu_vram\",\"gpu_utilized\"\n"
#define HEAD_05                                                                                    \
	"timestamp,system_processes,system_utime,system_stime,system_cpu_usage,"                   \
	"system_memory_free_mib,system_memory_used_mib,system_memory_buffers_mib,"                 \
	"system_memory_cached_mib,system_memory_active_mib,system_memory_inactive_mib,"            \
	"system_disk_read_bytes,system_disk_write_bytes,system_disk_space_total_gb,"               \
	"system_disk_space_used_gb,system_disk_space_free_gb,system_net_recv_bytes,"               \
	"system_net_sent_bytes,system_gpu_usage,system_gpu_vram_mib,system_gpu_utilized,"          \
	"process_pid,process_children,process_utime,process_stime,process_cpu_usage,"              \
	"process_memory_mib,process_disk_read_bytes,process_disk_write_bytes,"                     \
	"process_gpu_usage,process_gpu_vram_mib,process_gpu_utilized,system_steal_time\n"

/* A machine and a process in round and less round figures. */
static void fill(struct trk_sample *s)
{
	memset(s, 0, sizeof(*s));
	trk__sample_set(s, TRK_TIMESTAMP, 1795229731006);
	trk__sample_set(s, TRK_SYSTEM_PROCESSES, 321);
	trk__sample_set(s, TRK_SYSTEM_UTIME, 1230000);
	trk__sample_set(s, TRK_SYSTEM_STIME, 0);
	trk__sample_set(s, TRK_SYSTEM_CPU_USAGE, 12345);
	trk__sample_set(s, TRK_SYSTEM_MEMORY_FREE, 1536 * 1024);
	trk__sample_set(s, TRK_SYSTEM_MEMORY_USED, 3 * 1048576ll + 1024 * 256);
	trk__sample_set(s, TRK_SYSTEM_MEMORY_BUFFERS, 1024);
	trk__sample_set(s, TRK_SYSTEM_MEMORY_CACHED, 1048576);
	trk__sample_set(s, TRK_SYSTEM_MEMORY_ACTIVE, 0);
	trk__sample_set(s, TRK_SYSTEM_MEMORY_INACTIVE, 511);
	trk__sample_set(s, TRK_SYSTEM_DISK_READ, 4096);
	trk__sample_set(s, TRK_SYSTEM_DISK_WRITE, 512);
	trk__sample_set(s, TRK_SYSTEM_SPACE_TOTAL, 500000000000);
	trk__sample_set(s, TRK_SYSTEM_SPACE_USED, 107374182400); /* 100 * 2^30 */
	trk__sample_set(s, TRK_SYSTEM_SPACE_FREE, 1234567890);
	trk__sample_set(s, TRK_SYSTEM_NET_RECV, 7);
	trk__sample_set(s, TRK_SYSTEM_NET_SENT, 8);
	trk__sample_set(s, TRK_SYSTEM_STEAL, 1500000);
	trk__sample_set(s, TRK_PROCESS_PID, 10772);
	trk__sample_set(s, TRK_PROCESS_CHILDREN, 2);
	trk__sample_set(s, TRK_PROCESS_UTIME, 999999);
	trk__sample_set(s, TRK_PROCESS_STIME, 1);
	trk__sample_set(s, TRK_PROCESS_CPU_USAGE, 10000);
	trk__sample_set(s, TRK_PROCESS_MEMORY, 25201664); /* 24611 KiB, 24.0342 MiB */
	trk__sample_set(s, TRK_PROCESS_DISK_READ, 0);
	trk__sample_set(s, TRK_PROCESS_DISK_WRITE, 8192);
}

static void assert_written(int format, enum trk_column_set set, const struct trk_sample *s,
			   const char *want)
{
	struct trk_buf b;

	trk__buf_init(&b, 1 << 16);
	trk__table_row(&b, set, s, &trk__line_formats[format]);
	assert_int_equal(b.error, 0);
	assert_string_equal(b.data, want);
	trk__buf_release(&b);
}

static void assert_head(enum trk_column_set set, const char *want)
{
	struct trk_buf b;

	trk__buf_init(&b, 1 << 16);
	trk__table_head(&b, set, &trk__line_formats[TRK_LINE_CSV]);
	assert_string_equal(b.data, want);
	trk__buf_release(&b);
}

static void each_set_has_its_names_in_their_order(void **state)
{
	assert_head(TRK_SET_04_PROCESS, HEAD_04_PROCESS);
	assert_head(TRK_SET_04_SYSTEM, HEAD_04_SYSTEM);
	assert_head(TRK_SET_05, HEAD_05);
}

static void the_full_set_has_every_column_once(void **state)
{
	struct trk_buf b;
	const char *at;

	trk__buf_init(&b, 1 << 16);
	trk__table_head(&b, TRK_SET_FULL, &trk__line_formats[TRK_LINE_CSV]);
	at = b.data;
	for (int i = 0; i < TRK_COLUMNS; i++) {
		size_t len = strlen(trk__columns[i].name);

		assert_memory_equal(at, trk__columns[i].name, len);
		assert_int_equal(at[len], i == TRK_COLUMNS - 1 ? '\n' : ',');
		at += len + 1;
		assert_int_equal(trk__column_find(trk__columns[i].name), i);
	}
	assert_int_equal(*at, '\0');
	assert_int_equal(trk__column_find("process_memory"), -1);
	trk__buf_release(&b);
}

static void the_04_sets_are_in_kib_and_two_to_the_thirty(void **state)
{
	struct trk_sample s;

	fill(&s);
	assert_written(TRK_LINE_CSV, TRK_SET_04_PROCESS, &s,
		       "1795229731.006,10772,2,0.999999,0.000001,1,24611,0,8192,\"\",\"\",\"\"\n");
	assert_written(TRK_LINE_CSV, TRK_SET_04_SYSTEM, &s,
		       "1795229731.006,321,1.23,0,1.2345,1536,3328,1,1024,0,0,4096,512,465.66,"
		       "464.51,1.15,7,8,\"\",\"\",\"\"\n");
}

static void the_05_set_is_in_mib_and_ten_to_the_nine(void **state)
{
	struct trk_sample s;

	fill(&s);
	assert_written(TRK_LINE_CSV, TRK_SET_05, &s,
		       "1795229731.006,321,1.23,0,1.2345,1.5,3.25,0.001,1,0,0.0005,4096,512,500,"
		       "498.77,1.23,7,8,,,,10772,2,0.999999,0.000001,1,24.0342,0,8192,,,,1.5\n");
}

/* Root's reserve is used space in the sets that came from elsewhere, and not in ours. */
static void used_space_is_by_the_definition_of_the_set(void **state)
{
	struct trk_sample s;

	fill(&s);
	assert_int_equal(trk__table_value(TRK_SET_FULL, &s, TRK_SYSTEM_SPACE_USED), 107374182400);
	assert_int_equal(trk__table_value(TRK_SET_05, &s, TRK_SYSTEM_SPACE_USED),
			 500000000000 - 1234567890);
	assert_int_equal(trk__table_value(TRK_SET_05, &s, TRK_SYSTEM_SPACE_FREE), 1234567890);
}

static void what_is_measured_of_gpus_has_the_units_of_both_sets(void **state)
{
	struct trk_sample s;

	memset(&s, 0, sizeof(s));
	trk__sample_set(&s, TRK_TIMESTAMP, 1000);
	trk__sample_set(&s, TRK_PROCESS_GPU_USAGE, 12500);
	trk__sample_set(&s, TRK_PROCESS_GPU_VRAM, 2 * 1048576 + 524288);
	trk__sample_set(&s, TRK_PROCESS_GPU_UTILIZED, 2);
	assert_written(TRK_LINE_CSV, TRK_SET_04_PROCESS, &s,
		       "1,\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",1.25,2.5,2\n");
	assert_written(TRK_LINE_CSV, TRK_SET_05, &s, "1,,,,,,,,,,,,,,,,,,,,,,,,,,,,,1.25,2.5,2,\n");
}

static void a_known_zero_is_told_from_what_is_unknown(void **state)
{
	struct trk_sample s = {.known = 0};

	assert_written(TRK_LINE_CSV, TRK_SET_04_PROCESS, &s,
		       "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\"\n");
	assert_written(TRK_LINE_CSV, TRK_SET_05, &s, ",,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,\n");
	assert_written(TRK_LINE_JSONL, TRK_SET_04_PROCESS, &s,
		       "{\"timestamp\":null,\"pid\":null,\"children\":null,\"utime\":null,"
		       "\"stime\":null,\"cpu_usage\":null,\"memory\":null,\"read_bytes\":null,"
		       "\"write_bytes\":null,\"gpu_usage\":null,\"gpu_vram\":null,"
		       "\"gpu_utilized\":null}\n");
	trk__sample_set(&s, TRK_PROCESS_MEMORY, 0);
	assert_written(TRK_LINE_CSV, TRK_SET_04_PROCESS, &s,
		       "\"\",\"\",\"\",\"\",\"\",\"\",0,\"\",\"\",\"\",\"\",\"\"\n");
	assert_true(isnan(trk__sample_get(&s, TRK_PROCESS_PID)));
	assert_true(trk__sample_get(&s, TRK_PROCESS_MEMORY) == 0);
}

static void a_json_row_has_the_figures_of_the_csv(void **state)
{
	struct trk_sample s;

	fill(&s);
	assert_written(TRK_LINE_JSONL, TRK_SET_04_PROCESS, &s,
		       "{\"timestamp\":1795229731.006,\"pid\":10772,\"children\":2,"
		       "\"utime\":0.999999,\"stime\":0.000001,\"cpu_usage\":1,\"memory\":24611,"
		       "\"read_bytes\":0,\"write_bytes\":8192,\"gpu_usage\":null,"
		       "\"gpu_vram\":null,\"gpu_utilized\":null}\n");
}

/* Halves go away from zero, and the largest integers do not overflow on the way. */
static void figures_are_rounded_once(void **state)
{
	struct trk_sample s = {.known = 0};

	trk__sample_set(&s, TRK_TIMESTAMP, -1);
	trk__sample_set(&s, TRK_PROCESS_MEMORY, 1536);
	trk__sample_set(&s, TRK_PROCESS_DISK_WRITE, INT64_MAX);
	trk__sample_set(&s, TRK_PROCESS_CPU_USAGE, -5);
	assert_written(TRK_LINE_CSV, TRK_SET_04_PROCESS, &s,
		       "-0.001,\"\",\"\",\"\",\"\",-0.0005,2,\"\",9223372036854775807,\"\",\"\","
		       "\"\"\n");
	trk__sample_set(&s, TRK_PROCESS_MEMORY, 1535);
	assert_written(TRK_LINE_CSV, TRK_SET_04_PROCESS, &s,
		       "-0.001,\"\",\"\",\"\",\"\",-0.0005,1,\"\",9223372036854775807,\"\",\"\","
		       "\"\"\n");
}

static void the_older_sets_begin_with_the_first_interval(void **state)
{
	struct trk_sample s = {.known = 0};

	assert_true(trk__table_has_row(TRK_SET_FULL, &s));
	assert_false(trk__table_has_row(TRK_SET_05, &s));
	assert_false(trk__table_has_row(TRK_SET_04_SYSTEM, &s));
	assert_false(trk__table_has_row(TRK_SET_04_PROCESS, &s));
	trk__sample_set(&s, TRK_PROCESS_CPU_USAGE, 0);
	assert_true(trk__table_has_row(TRK_SET_04_PROCESS, &s));
	assert_false(trk__table_has_row(TRK_SET_04_SYSTEM, &s));
	assert_true(trk__table_has_row(TRK_SET_05, &s)); /* of a run without the system */
	s.known = 0;
	trk__sample_set(&s, TRK_SYSTEM_CPU_USAGE, 0);
	assert_true(trk__table_has_row(TRK_SET_04_SYSTEM, &s));
	assert_true(trk__table_has_row(TRK_SET_05, &s));
}

static void what_comes_before_the_first_interval_counts_in_the_first_row(void **state)
{
	struct trk_table_lead lead = {.has_held = false};
	struct trk_sample s = {.known = 0};

	assert_null(trk__table_only_row(&lead));
	trk__sample_set(&s, TRK_PROCESS_UTIME, 1000);
	trk__sample_set(&s, TRK_SYSTEM_PROCESSES, 7);
	assert_false(trk__table_begin(&lead, TRK_SET_05, &s));
	s.value[TRK_PROCESS_UTIME] = 20;
	s.value[TRK_SYSTEM_PROCESSES] = 8;
	assert_false(trk__table_begin(&lead, TRK_SET_05, &s));
	assert_int_equal(trk__table_only_row(&lead)->value[TRK_PROCESS_UTIME], 1020);
	assert_int_equal(trk__table_only_row(&lead)->value[TRK_SYSTEM_PROCESSES], 8);
	s.value[TRK_PROCESS_UTIME] = 3;
	trk__sample_set(&s, TRK_SYSTEM_CPU_USAGE, 0);
	assert_true(trk__table_begin(&lead, TRK_SET_05, &s));
	assert_int_equal(s.value[TRK_PROCESS_UTIME], 1023);
	assert_null(trk__table_only_row(&lead));
	s.value[TRK_PROCESS_UTIME] = 4;
	assert_true(trk__table_begin(&lead, TRK_SET_05, &s));
	assert_int_equal(s.value[TRK_PROCESS_UTIME], 4);
	lead = (struct trk_table_lead){.has_held = false};
	trk__table_hold(&lead, &s);
	assert_int_equal(trk__table_only_row(&lead)->value[TRK_PROCESS_UTIME], 4);
	assert_true(trk__table_begin(&lead, TRK_SET_05, &s));
	assert_int_equal(s.value[TRK_PROCESS_UTIME], 8);
}

static void a_full_buffer_says_so(void **state)
{
	struct trk_sample s;
	struct trk_buf b;

	fill(&s);
	trk__buf_init(&b, 64);
	trk__table_row(&b, TRK_SET_FULL, &s, &trk__line_formats[TRK_LINE_JSONL]);
	assert_true(b.error < 0);
	trk__buf_release(&b);
}

static void the_page_of_columns_names_each_with_its_sets(void **state)
{
	struct trk_buf b;

	trk__buf_init(&b, 1 << 20);
	trk__table_markdown(&b);
	assert_int_equal(b.error, 0);
	assert_non_null(strstr(b.data, "| `process_memory_mib` | MiB | gauge | "
				       "process_memory_mib | memory | "));
	assert_non_null(strstr(b.data, "| `system_iowait` | s | amount | - | - | "));
	for (int i = 0; i < TRK_COLUMNS; i++)
		assert_non_null(strstr(b.data, trk__columns[i].description));
	trk__buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_set_has_its_names_in_their_order),
		cmocka_unit_test(the_full_set_has_every_column_once),
		cmocka_unit_test(the_04_sets_are_in_kib_and_two_to_the_thirty),
		cmocka_unit_test(the_05_set_is_in_mib_and_ten_to_the_nine),
		cmocka_unit_test(what_is_measured_of_gpus_has_the_units_of_both_sets),
		cmocka_unit_test(a_known_zero_is_told_from_what_is_unknown),
		cmocka_unit_test(a_json_row_has_the_figures_of_the_csv),
		cmocka_unit_test(figures_are_rounded_once),
		cmocka_unit_test(the_older_sets_begin_with_the_first_interval),
		cmocka_unit_test(what_comes_before_the_first_interval_counts_in_the_first_row),
		cmocka_unit_test(used_space_is_by_the_definition_of_the_set),
		cmocka_unit_test(a_full_buffer_says_so),
		cmocka_unit_test(the_page_of_columns_names_each_with_its_sets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
