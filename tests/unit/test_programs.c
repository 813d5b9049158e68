/* Programs: the name of a process's program, and use by program in a recording. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "model/program_name.h"
#include "recording/program_record.h"
#include "rows.h"

/* ---- names ---- */

struct named {
	const char *comm, *args; /* arguments are ended by '|' */
	const char *name;
	bool is_worker;
};

static void check_name(const struct named *n)
{
	char args[512], name[TRK_PROGRAM_NAME_SIZE];
	size_t len = strlen(n->args);
	bool is_worker;

	memcpy(args, n->args, len + 1);
	for (size_t i = 0; i < len; i++)
		if (args[i] == '|')
			args[i] = '\0';
	trk__program_name(n->comm, args, len, name, &is_worker);
	assert_string_equal(name, n->name);
	assert_int_equal(is_worker, n->is_worker);
}

static void a_process_is_named_after_what_it_runs(void **state)
{
	static const struct named cases[] = {
		{"sort", "sort|-k2|", "sort", false},
		{"cc1", "", "cc1", false},
		{"ld.bfd", "/usr/bin/ld.bfd|-o|x|", "ld", false},
		{"collect2", "collect2|", "ld", false},
		{"a_very_long_nam", "/opt/bin/a_very_long_name_of_a_program|x|",
		 "a_very_long_name_of_a_program", false},
		{"a_very_long_nam", "a title with blanks|", "a_very_long_nam", false},
		{"python3.11", "python3.11|-u|/srv/train.py|--epochs|3|", "train.py", false},
		{"python3", "python3|-W|ignore|-X|dev|a/b.py|", "b.py", false},
		{"python3", "python3|-m|pandas.tests|", "pandas.tests", false},
		{"python3", "python3|-c|print(1)|", "python -c", false},
		{"python3", "python3|", "python", false},
		{"python3",
		 "python3|-c|from multiprocessing.spawn import spawn_main; spawn_main(3)|",
		 "python -c", true},
		{"python3", "python3|-m|joblib.externals.loky.backend.popen_loky_posix|", "python",
		 true},
		{"bash", "bash|-c|ls|", "bash -c", false},
		{"bash", "bash|-ec|ls|", "bash -c", false},
		{"bash", "/bin/bash|-e|-o|pipefail|run.sh|x|", "run.sh", false},
		{"sh", "sh|", "sh", false},
		{"R", "/usr/lib/R/bin/exec/R|--no-echo|--file=fit.R|--args|1|", "fit.R", false},
		{"perl", "perl|-w|tool.pl|", "tool.pl", false},
		{"java", "java|-Xmx2g|-cp|a.jar:b.jar|org.apache.spark.deploy.SparkSubmit|x|",
		 "SparkSubmit", false},
		{"java", "java|-jar|/opt/picard.jar|Sort|", "picard.jar", false},
		{"java", "java|--token|[SECRET]|", "java", false},
		{"java", "java|--token|[SECRET]|org.example.Main|", "Main", false},
		{"node", "node|--token|[SECRET]|app.js|", "app.js", false},
		{"node", "node|--max-old-space-size=1|web/build.mjs|", "build.mjs", false},
		{"tab\there", "", "tab?here", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_name(&cases[i]);
}

static void a_command_line_that_was_cut_gives_the_interpreters_name(void **state)
{
	char name[TRK_PROGRAM_NAME_SIZE];
	bool is_worker;

	trk__program_name("python3", "python3\0scri", 12, name, &is_worker);
	assert_string_equal(name, "python");
}

/* ---- recordings ---- */

static struct trk_program table[TRK_PROGRAMS_MAX];

static struct trk_programs_now now_of(size_t count)
{
	return (struct trk_programs_now){
		.program = table, .count = count, .unseen_pids = UINT64_MAX};
}

static void programs_init(size_t count)
{
	memset(table, 0, sizeof(table));
	for (size_t i = 0; i < count; i++)
		(void) snprintf(table[i].name, sizeof(table[i].name), "p%zu", i);
}

static void use_and_processes_come_back_as_written(void **state)
{
	struct trk_programs_written written = {.records = 0};
	struct trk_programs_now now = now_of(3);
	struct trk_process_span span[3] = {
		{.pid = 7, .program = 1, .start_ms = -20, .end_ms = 1000, .command = "p1 --fast a"},
		{.pid = 8, .program = 1, .start_ms = 5, .end_ms = 1000, .command = "p1 --fast b"},
		{.pid = 9,
		 .program = 2,
		 .start_ms = 400,
		 .end_ms = 900,
		 .ended = true,
		 .cpu_ms = 3,
		 .peak_bytes = 5 << 20},
	};
	struct trk_program_log log = {.count = 0};
	struct trk_buf b;

	trk__buf_init(&b, 1 << 16);
	programs_init(3);
	table[1] = (struct trk_program){"p1", .cpu_ns = 1500000000, .memory_bytes = 3 << 20,
					.alive = 2};
	table[2] = (struct trk_program){"p2", .kind = TRK_PROGRAM_UNSEEN, .ended = 4};
	now.span = span;
	now.spans = 3;
	trk__format_programs(&b, &written, &now, 1000, false);
	assert_int_equal(trk__parse_programs(b.data, b.len, &log), 0);
	assert_int_equal(log.count, 3);
	assert_int_equal(log.cpu_ms[1], 1500);
	assert_string_equal(log.program[1].name, "p1");
	assert_int_equal(log.program[1].memory_bytes, 3 << 20);
	assert_int_equal(log.program[1].alive, 2);
	assert_int_equal(log.program[2].kind, TRK_PROGRAM_UNSEEN);
	assert_int_equal(log.program[2].ended, 4);
	assert_int_equal(log.spans, 3);
	assert_string_equal(log.span[1].command, "p1 --fast b");
	assert_int_equal(log.span[0].start_ms, -20);
	assert_false(log.span[0].ended);
	assert_int_equal(log.span[2].peak_bytes, 5 << 20);

	/* Its end brings the process up to date. */
	trk__buf_clear(&b);
	span[0] = (struct trk_process_span){.pid = 7,
					    .program = 1,
					    .start_ms = -20,
					    .end_ms = 1900,
					    .ended = true,
					    .listed = true,
					    .cpu_ms = 1700};
	now.spans = 1;
	table[1].cpu_ns = 1700000000;
	table[1].alive = 1;
	table[1].ended = 1;
	trk__format_programs(&b, &written, &now, 2000, false);
	assert_int_equal(trk__parse_programs(b.data, b.len, &log), 0);
	assert_int_equal(log.spans, 3);
	assert_true(log.span[0].ended && log.span[0].end_ms == 1900 && log.span[0].cpu_ms == 1700);
	assert_string_equal(log.span[0].command, "p1 --fast a");
	assert_int_equal(log.cpu_ms[1], 200);
	assert_int_equal(log.program[1].cpu_ns, 1700000000);
	trk__program_log_release(&log);
	trk__buf_release(&b);
}

static void a_row_without_news_takes_no_byte(void **state)
{
	struct trk_programs_written written = {.records = 0};
	struct trk_programs_now now = now_of(2);
	struct trk_buf b;

	trk__buf_init(&b, 1 << 16);
	programs_init(2);
	table[1].memory_bytes = 100 << 20;
	table[1].alive = 1;
	trk__format_programs(&b, &written, &now, 1000, false);
	assert_true(b.len > 0);
	trk__buf_clear(&b);
	table[1].memory_bytes += 4096; /* no news either */
	trk__format_programs(&b, &written, &now, 2000, false);
	assert_int_equal(b.len, 0);
	trk__format_programs(&b, &written, &now, 3000, true); /* but for the last row */
	assert_true(b.len > 0);
	trk__buf_release(&b);
}

/* Everything moves in each row, and many processes end. */
static void the_size_stays_within_its_bound(void **state)
{
	enum { ROWS = 5000, ENDS = 40 };
	struct trk_programs_written written = {.records = 0};
	struct trk_programs_now now = now_of(TRK_PROGRAMS_MAX);
	struct trk_process_span span[ENDS];
	struct trk_program_log log = {.count = 0};
	uint64_t bytes = 0, ended = 0;
	struct trk_buf b;

	trk__buf_init(&b, 1 << 20);
	programs_init(TRK_PROGRAMS_MAX);
	for (int64_t row = 0; row < ROWS; row++) {
		for (size_t i = 0; i < TRK_PROGRAMS_MAX; i++) {
			table[i].cpu_ns += 10000000;
			table[i].memory_bytes = (uint64_t) (row % 50 + 1) << 22;
			table[i].alive = (uint32_t) (row & 7);
		}
		table[1].ended += ENDS;
		ended += ENDS;
		for (int k = 0; k < ENDS; k++)
			span[k] = (struct trk_process_span){.pid = (pid_t) (row * ENDS + k),
							    .program = 1,
							    .ended = true,
							    .start_ms = row * 1000,
							    .end_ms = row * 1000 + 30};
		now.span = span;
		now.spans = ENDS;
		trk__buf_clear(&b);
		trk__format_programs(&b, &written, &now, row * 1000 + 100, row == ROWS - 1);
		bytes += b.len + 14;
		assert_int_equal(trk__parse_programs(b.data, b.len, &log), 0);
	}
	assert_true(bytes <= TRK_PROGRAMS_START_BYTES + ROWS * TRK_PROGRAMS_TICK_BYTES +
				     TRK_PROGRAMS_LAST_BYTES);
	/* What is not listed is counted. */
	assert_int_equal(log.spans + log.unlisted, ended);
	assert_true(log.spans <= TRK_SPANS_MAX);
	trk__program_log_release(&log);
	trk__buf_release(&b);
}

static void bytes_that_are_cut_or_wrong_are_refused(void **state)
{
	struct trk_programs_written written = {.records = 0};
	struct trk_programs_now now = now_of(4);
	struct trk_process_span span = {.pid = 9, .program = 2, .ended = true, .command = "x y"};
	struct trk_buf b;

	trk__buf_init(&b, 1 << 16);
	programs_init(4);
	for (size_t i = 0; i < 4; i++)
		table[i].memory_bytes = table[i].cpu_ns = 50000000 * (i + 1);
	now.span = &span;
	now.spans = 1;
	trk__format_programs(&b, &written, &now, 1000, false);
	for (size_t cut = 0; cut < b.len; cut++) {
		struct trk_program_log log = {.count = 0};

		assert_int_equal(trk__parse_programs(b.data, cut, &log), -EBADMSG);
		trk__program_log_release(&log);
	}
	trk__buf_release(&b);
}

/* Many rows in a small file: the older ones are merged, and nothing that was used is lost. */
static void merged_rows_keep_cpu_time_and_processes(void **state)
{
	enum { ROWS = 3000 };
	struct trk_process_span span = {.program = 1, .ended = true, .cpu_ms = 5};
	struct trk_programs_now now = now_of(2);
	struct trk_record record;
	struct trk_writer *w;
	struct folder f;
	struct trk_run run;
	uint64_t listed = 0;

	folder_init(&f);
	run_init(&run);
	w = trk__writer_new(f.fd, "1.rtrk", &run, 128 * 1024, NULL);
	assert_non_null(w);
	programs_init(2);
	for (int64_t i = 0; i < ROWS; i++) {
		struct trk_sample row;

		row_init(&row, i);
		table[1].cpu_ns += 7000000;
		table[1].memory_bytes = 200 << 20;
		table[1].alive = 3;
		span.pid = (pid_t) i + 1;
		span.start_ms = i * 1000;
		span.end_ms = i * 1000 + 1500;
		now.span = &span;
		now.spans = i % 100 == 0;
		listed += now.spans;
		assert_int_equal(trk__writer_programs(w, &now, i * 1000000, i == ROWS - 1), 0);
		assert_int_equal(trk__writer_row(w, &row), 0);
	}
	trk__writer_free(w);
	assert_int_equal(trk__record_read(f.fd, "1.rtrk", &record, NULL, NULL, NULL), 0);
	assert_int_equal(record.damaged, 0);
	assert_true(record.samples == ROWS);
	assert_string_equal(record.programs.program[1].name, "p1");
	assert_int_equal(record.programs.program[1].cpu_ns, (uint64_t) ROWS * 7000000);
	assert_int_equal(record.programs.program[1].alive, 3);
	assert_int_equal(record.programs.program[1].memory_bytes, 200 << 20);
	assert_int_equal(record.programs.spans, listed);
	trk__record_release(&record);
	assert_int_equal(unlinkat(f.fd, "1.rtrk", 0), 0);
	folder_release(&f);
}

static void memory_stands_after_the_last_process_has_ended(void **state)
{
	struct trk_program_log log = {.count = 0};
	double cpu_s, memory, seconds;

	assert_int_equal(trk__program_log_init(&log), 0);
	log.count = 2;
	log.program[1].alive = 1;
	log.program[1].memory_bytes = 300 << 20;
	trk__program_log_row(&log, 0, 1, true);
	log.program[1].alive = 0;
	log.program[1].memory_bytes = 0;
	trk__program_log_row(&log, 1, 1.5, true);
	trk__program_log_use(&log, 1, 0, 1.5, &cpu_s, &memory, &seconds);
	assert_true(seconds > 1.49 && seconds < 1.51);
	assert_true(memory / seconds > 299 && memory / seconds < 301);
	trk__program_log_release(&log);
}

/* A forged recording may end any number of processes that it never listed. */
static void the_full_list_is_searched_a_bounded_number_of_times(void **state)
{
	struct trk_program_log log = {.count = 0};
	struct trk_process_span span = {.listed = true};

	for (size_t i = 0; i < 3 * TRK_SPANS_MAX; i++) {
		span.pid = (pid_t) i + 1;
		trk__program_log_span(&log, &span);
	}
	assert_int_equal(log.spans, TRK_SPANS_MAX);
	assert_int_equal(log.unlisted, 2 * TRK_SPANS_MAX);
	assert_int_equal(log.misses, TRK_SPANS_MAX);
	trk__program_log_release(&log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_full_list_is_searched_a_bounded_number_of_times),
		cmocka_unit_test(a_process_is_named_after_what_it_runs),
		cmocka_unit_test(a_command_line_that_was_cut_gives_the_interpreters_name),
		cmocka_unit_test(use_and_processes_come_back_as_written),
		cmocka_unit_test(memory_stands_after_the_last_process_has_ended),
		cmocka_unit_test(a_row_without_news_takes_no_byte),
		cmocka_unit_test(the_size_stays_within_its_bound),
		cmocka_unit_test(bytes_that_are_cut_or_wrong_are_refused),
		cmocka_unit_test(merged_rows_keep_cpu_time_and_processes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
