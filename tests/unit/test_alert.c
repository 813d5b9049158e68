/* Alerts of a running job: which rules fire, when, and how often. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alert/deliver.h"
#include "alert/hook.h"
#include "alert/live.h"

static struct trk_alert_live live;
static struct trk_record record;
static struct trk_sample row;
static struct trk_alert fired[64];
static size_t count;

static void take(void *data, const struct trk_record *r, const struct trk_alert *alert)
{
	(void) data;
	assert_ptr_equal(r, &record);
	assert_true(count < 64);
	fired[count++] = *alert;
}

static int begin(void **state)
{
	trk__alert_live_init(&live);
	memset(&record, 0, sizeof(record));
	trk__quantities_clear(record.run.limit, TRK_LIMITS);
	trk__quantities_clear(record.run.request, TRK_REQUESTS);
	record.run.limit[TRK_LIMIT_MEMORY_MIB].value = 1000;
	record.run.limit[TRK_LIMIT_CPU].value = 2;
	record.memory_limit_hits = NAN;
	count = 0;
	return 0;
}

static void set(int column, double value)
{
	trk__sample_set(&row, column, (int64_t) (value * (double) trk__columns[column].divisor));
}

/* A row a second; what the job does besides is set by the caller. */
static void pass(double at_s, double memory_mib)
{
	row.known = 0;
	set(TRK_ELAPSED, at_s);
	set(TRK_INTERVAL, 1);
	set(TRK_PROCESS_MEMORY, memory_mib);
	set(TRK_PROCESS_CPU_USAGE, 1);
	set(TRK_PROCESS_DISK_READ, 0);
	set(TRK_PROCESS_DISK_WRITE, 0);
	set(TRK_SYSTEM_SWAP_USED, 10);
	trk__alert_live_row(&live, &record, &row, NULL, 0, take, NULL);
}

static const struct trk_alert *find(enum trk_alert_rule rule)
{
	for (size_t i = 0; i < count; i++)
		if (fired[i].rule == rule)
			return &fired[i];
	return NULL;
}

static void a_job_that_grows_to_its_limit_is_told_before_it(void **state)
{
	double told_at = NAN;

	for (int t = 0; t < 600 && 100 + 2.0 * t < 1000; t++) {
		pass(t, 100 + 2.0 * t);
		if (isnan(told_at) && find(TRK_ALERT_OOM_RISK))
			told_at = t;
	}
	/* 60 % are reached at 250 s, with 200 s to the limit; it must hold for 10 s. */
	assert_true(told_at >= 260 && told_at <= 263);
	assert_int_equal(fired[0].rule, TRK_ALERT_OOM_RISK);
	assert_true(fired[0].firing);
	assert_non_null(strstr(fired[0].text, "of 1000 MiB"));
	assert_non_null(strstr(fired[0].text, "which is reached in about"));
	assert_non_null(strstr(fired[0].fix, "request 1.25 GiB or more"));
	/* And once. */
	for (size_t i = 0, n = 0; i < count; i++)
		assert_true((n += fired[i].rule == TRK_ALERT_OOM_RISK) <= 1);
}

static void a_job_that_levels_out_or_is_small_is_left_alone(void **state)
{
	for (int t = 0; t < 3000; t++)
		pass(t, t < 300 ? 100 + 1.5 * t : 550);
	assert_int_equal(count, 0);
	/* A spike is no trend. */
	for (int t = 3000; t < 4000; t++)
		pass(t, t % 50 == 0 ? 850 : 550);
	assert_int_equal(count, 0);
}

static void a_job_that_uses_what_it_asked_for_steadily_is_no_risk(void **state)
{
	for (int t = 0; t < 3000; t++)
		pass(t, 850 + (t % 7));
	assert_int_equal(count, 0);
}

static int times(enum trk_alert_rule rule, struct trk_alert *last)
{
	int n = 0;

	for (size_t i = 0; i < count; i++) {
		if (fired[i].rule != rule)
			continue;
		n++;
		*last = fired[i];
	}
	return n;
}

static void near_the_limit_it_is_told_after_half_a_minute_and_resolved_later(void **state)
{
	struct trk_alert last = {.firing = false};

	for (int t = 0; t < 30; t++)
		pass(t, 950);
	assert_null(find(TRK_ALERT_MEM_NEAR_LIMIT));
	pass(30, 950);
	assert_non_null(find(TRK_ALERT_MEM_NEAR_LIMIT));
	assert_true(fired[0].limit == 1000);
	assert_true(fabs(fired[0].value - 950) < 0.01);
	/* Down for 4 minutes, up again: not resolved, not told again. */
	for (int t = 31; t < 271; t++)
		pass(t, 500);
	for (int t = 271; t < 400; t++)
		pass(t, 950);
	assert_int_equal(times(TRK_ALERT_MEM_NEAR_LIMIT, &last), 1);
	for (int t = 400; t < 702; t++)
		pass(t, 500);
	assert_int_equal(times(TRK_ALERT_MEM_NEAR_LIMIT, &last), 2);
	assert_false(last.firing);
	/* Within half an hour it does not fire again, after that it does. */
	for (int t = 702; t < 1829; t++)
		pass(t, 950);
	assert_int_equal(times(TRK_ALERT_MEM_NEAR_LIMIT, &last), 2);
	for (int t = 1829; t < 1840; t++)
		pass(t, 950);
	assert_int_equal(times(TRK_ALERT_MEM_NEAR_LIMIT, &last), 3);
	assert_true(last.firing);
}

static void without_a_limit_nothing_is_near_it(void **state)
{
	record.run.limit[TRK_LIMIT_MEMORY_MIB].value = NAN;
	record.run.limit[TRK_LIMIT_CPU].value = NAN;
	for (int t = 0; t < 2000; t++)
		pass(t, 1e6);
	assert_int_equal(count, 0);
}

static void the_requested_time_is_told_at_once_at_nine_tenths(void **state)
{
	record.run.request[TRK_REQUEST_TIME_S].value = 100;
	for (int t = 0; t < 90; t++)
		pass(t, 10);
	assert_int_equal(count, 0);
	pass(90, 10);
	assert_int_equal(count, 1);
	assert_int_equal(fired[0].rule, TRK_ALERT_TIME_LIMIT);
}

static void the_time_of_earlier_runs_is_compared_with_the_request(void **state)
{
	const double earlier_s[] = {90, 70, 110, 120, 80, 100};

	record.run.request[TRK_REQUEST_TIME_S].value = 92;
	/* Four are too few. */
	trk__alert_live_earlier(&live, earlier_s, 4);
	pass(1, 10);
	assert_int_equal(count, 0);
	trk__alert_live_earlier(&live, earlier_s, 6);
	pass(2, 10);
	assert_int_equal(count, 1);
	assert_int_equal(fired[0].rule, TRK_ALERT_TIME_LIMIT);
	assert_true(fired[0].value == 95 && fired[0].limit == 92);
	assert_string_equal(fired[0].text, "the run is expected to take 1 m 35 s, from 6 earlier "
					   "runs, and 1 m 32 s are requested");
	assert_string_equal(fired[0].fix, "write a checkpoint, and request 2 minutes or more next "
					  "time (Slurm: --time=2)");
	/* Those that took less than this one has taken count no more: 110 s are left. */
	(void) begin(state);
	record.run.request[TRK_REQUEST_TIME_S].value = 105;
	trk__alert_live_earlier(&live, earlier_s, 6);
	for (int t = 0; t < 90; t++)
		pass(t, 10);
	assert_int_equal(count, 0);
	pass(90, 10);
	assert_int_equal(count, 1);
	assert_true(fired[0].value == 110);
}

static void a_run_that_is_expected_to_end_in_time_may_use_it(void **state)
{
	const double earlier_s[] = {95, 95, 96, 96, 97};

	record.run.request[TRK_REQUEST_TIME_S].value = 100;
	trk__alert_live_earlier(&live, earlier_s, 5);
	for (int t = 0; t < 97; t++)
		pass(t, 10);
	assert_int_equal(count, 0);
	/* It has taken longer than all of them. */
	pass(97, 10);
	assert_int_equal(count, 1);
	assert_non_null(strstr(fired[0].text, "of the requested 1 m 40 s have passed"));
}

static void a_limit_that_is_hit_again_and_again_is_a_risk(void **state)
{
	/* Once is none. */
	for (int t = 0; t < 20; t++) {
		record.memory_limit_hits = t < 3 ? 5 : 8;
		pass(t, 910);
	}
	assert_null(find(TRK_ALERT_OOM_RISK));
	/* Nor where the job is not near it. */
	for (int t = 20; t < 40; t++) {
		record.memory_limit_hits = NAN;
		pass(t, 500);
	}
	assert_null(find(TRK_ALERT_OOM_RISK));
	for (int t = 40; t < 54; t++) {
		record.memory_limit_hits = 8 + t / 2;
		pass(t, 910);
	}
	assert_non_null(find(TRK_ALERT_OOM_RISK));
	assert_non_null(strstr(find(TRK_ALERT_OOM_RISK)->text,
			       "and the kernel reclaims memory at the limit again and again"));
}

static void nothing_is_done(double t)
{
	row.known = 0;
	set(TRK_ELAPSED, t);
	set(TRK_INTERVAL, 1);
	set(TRK_PROCESS_CPU_USAGE, 0.001);
	set(TRK_PROCESS_DISK_READ, 0);
	set(TRK_PROCESS_DISK_WRITE, 0);
	trk__alert_live_row(&live, &record, &row, NULL, 0, take, NULL);
}

static void a_job_that_waits_as_it_has_marked_has_not_stalled(void **state)
{
	struct trk_mark marks[] = {{.name = "load"}, {.name = "Wait for the other nodes"}};

	record.mark = marks;
	record.marks = 2;
	for (int t = 0; t < 2000; t++)
		nothing_is_done(t);
	assert_int_equal(count, 0);
	record.marks = 1;
	for (int t = 2000; t <= 2900; t++)
		nothing_is_done(t);
	assert_int_equal(count, 1);
	assert_int_equal(fired[0].rule, TRK_ALERT_STALLED);
}

static void what_a_process_waits_for_has_a_name(void **state)
{
	static const char *const cases[][2] = {
		{"hrtimer_nanosleep", "a timer (sleep)"},
		{"anon_pipe_read", "a pipe"},
		{"futex_wait_queue", "a lock or another thread"},
		{"do_wait", "a child process"},
		{"poll_schedule_timeout.constprop.0", "sockets, pipes or a timer (poll, select)"},
		{"ep_poll", "sockets, pipes or a timer (poll, select)"},
		{"nfs4_proc_getattr", "a network file system"},
		{"unix_stream_read_generic", "a socket"},
		{"a_new_function", "function a_new_function of the kernel"},
		{"0", ""},
		{"", ""},
	};
	char text[96];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		trk__alert_wait_name('S', cases[i][0], text, sizeof(text));
		assert_string_equal(text, cases[i][1]);
	}
	trk__alert_wait_name('D', "0", text, sizeof(text));
	assert_string_equal(text, "a disk or a network file system");
	trk__alert_wait_name('T', "do_signal_stop", text, sizeof(text));
	assert_string_equal(text, "SIGCONT: it is stopped");
}

static void a_job_that_does_nothing_has_stalled(void **state)
{
	for (int t = 0; t < 1200; t++) {
		row.known = 0;
		set(TRK_ELAPSED, t);
		set(TRK_INTERVAL, 1);
		set(TRK_PROCESS_MEMORY, 10);
		set(TRK_PROCESS_CPU_USAGE, t < 100 ? 1 : 0.001);
		set(TRK_PROCESS_DISK_READ, 0);
		set(TRK_PROCESS_DISK_WRITE, 0);
		trk__alert_live_row(&live, &record, &row, NULL, 0, take, NULL);
		if (t < 1000)
			assert_int_equal(count, 0);
	}
	assert_int_equal(count, 1);
	assert_int_equal(fired[0].rule, TRK_ALERT_STALLED);
}

static void held_back_on_two_cpus_is_told_by_the_share_of_both(void **state)
{
	for (int t = 0; t < 800; t++) {
		row.known = 0;
		set(TRK_ELAPSED, t);
		set(TRK_INTERVAL, 1);
		/* Half of the time of one of two CPUs, later of both. */
		set(TRK_PROCESS_UTIME, t < 400 ? 1.5 : 0.8);
		set(TRK_CGROUP_THROTTLED, t < 400 ? 0.48 : 1.2);
		trk__alert_live_row(&live, &record, &row, NULL, 0, take, NULL);
		if (t < 700)
			assert_int_equal(count, 0);
	}
	assert_int_equal(count, 1);
	assert_int_equal(fired[0].rule, TRK_ALERT_CPU_THROTTLED);
}

static void many_threads_are_held_back_for_less_than_all_of_the_time(void **state)
{
	/* The kernel adds up eight CPUs, of which the quota allows one. */
	record.run.limit[TRK_LIMIT_CPU].value = 1;
	for (int t = 0; t < 400; t++) {
		row.known = 0;
		set(TRK_ELAPSED, t);
		set(TRK_INTERVAL, 1);
		set(TRK_PROCESS_UTIME, 1);
		set(TRK_CGROUP_THROTTLED, 7);
		trk__alert_live_row(&live, &record, &row, NULL, 0, take, NULL);
	}
	assert_int_equal(count, 1);
	assert_int_equal(fired[0].rule, TRK_ALERT_CPU_THROTTLED);
	assert_true(fired[0].value > 0.874 && fired[0].value < 0.876);
	assert_non_null(strstr(fired[0].text, "for 88 % of the time"));
}

static void a_disk_that_fills_is_told_half_an_hour_before(void **state)
{
	double told_at = NAN;

	for (int t = 0; t < 4000; t++) {
		row.known = 0;
		set(TRK_ELAPSED, t);
		set(TRK_INTERVAL, 1);
		set(TRK_SYSTEM_SPACE_TOTAL, 400);
		/* 75 % are used at the start; full after 3500 s. */
		set(TRK_SYSTEM_SPACE_FREE, 99.9 - t * 99.9 / 3500 > 0 ? 99.9 - t * 99.9 / 3500 : 0);
		trk__alert_live_row(&live, &record, &row, NULL, 0, take, NULL);
		if (isnan(told_at) && count)
			told_at = t;
	}
	assert_true(told_at >= 1760 && told_at <= 1770);
	assert_int_equal(fired[0].rule, TRK_ALERT_DISK_FULL);
	assert_non_null(strstr(fired[0].text, "of 400 GB are left on the local disks"));
	/* Much space that shrinks as fast, and little that does not: neither is told. */
	(void) begin(state);
	for (int t = 0; t < 1000; t++) {
		row.known = 0;
		set(TRK_ELAPSED, t);
		set(TRK_INTERVAL, 1);
		set(TRK_SYSTEM_SPACE_TOTAL, 400);
		set(TRK_SYSTEM_SPACE_FREE, t < 500 ? 200 - t * 0.15 : 5);
		trk__alert_live_row(&live, &record, &row, NULL, 0, take, NULL);
	}
	assert_int_equal(count, 0);
}

static struct trk_gpu_device gpu(double usage, double job_bytes, double used_bytes)
{
	struct trk_gpu_device d = {.parent = -1};

	for (int i = 0; i < TRK_GPU_METRICS; i++)
		d.metric[i] = trk__gpu_unknown(TRK_GPU_NOT_ASKED);
	d.metric[TRK_GPU_UTILIZATION_METRIC] = trk__gpu_known(usage);
	d.metric[TRK_GPU_TREE_MEMORY_METRIC] = trk__gpu_known(job_bytes);
	d.metric[TRK_GPU_MEMORY_USED_METRIC] = trk__gpu_known(used_bytes);
	d.metric[TRK_GPU_MEMORY_TOTAL_METRIC] = trk__gpu_known(80e9);
	return d;
}

static void run_with_gpus(const struct trk_gpu_device *d, size_t n, int seconds)
{
	for (int t = 0; t < seconds; t++) {
		row.known = 0;
		set(TRK_ELAPSED, t);
		set(TRK_INTERVAL, 1);
		set(TRK_PROCESS_CPU_USAGE, 1);
		trk__alert_live_row(&live, &record, &row, d, n, take, NULL);
	}
}

static void a_gpu_is_idle_or_full_only_where_the_job_uses_it(void **state)
{
	struct trk_gpu_device two[] = {gpu(0, 0, 79e9), gpu(0.9, 10e9, 11e9)};

	run_with_gpus(two, 2, 2000);
	assert_int_equal(count, 0);
	(void) begin(state);
	two[1] = gpu(0, 10e9, 79e9);
	run_with_gpus(two, 2, 2000);
	assert_non_null(find(TRK_ALERT_GPU_IDLE));
	assert_non_null(find(TRK_ALERT_VRAM_NEAR_LIMIT));
	assert_int_equal(count, 2);
	/* Unknown is not idle. */
	(void) begin(state);
	two[1] = gpu(NAN, 10e9, 11e9);
	run_with_gpus(two, 2, 2000);
	assert_int_equal(count, 0);
}

static void gpus_that_are_idle_for_an_hour_fire_again(void **state)
{
	struct trk_gpu_device idle = gpu(0, 10e9, 11e9), busy = gpu(1, 10e9, 11e9);

	run_with_gpus(&idle, 1, 3600);
	assert_int_equal(count, 1);
	assert_non_null(strstr(fired[0].text, "1 GPU of the job has computed nothing for 15 m"));
	for (int t = 3600; t < 9000; t++) {
		row.known = 0;
		set(TRK_ELAPSED, t);
		set(TRK_INTERVAL, 1);
		trk__alert_live_row(&live, &record, &row, &idle, 1, take, NULL);
	}
	assert_int_equal(count, 2);
	assert_true(fired[1].firing);
	assert_non_null(strstr(fired[1].text, "has computed nothing for 1 h"));
	/* A new hour begins when it was busy, even if the alert is still open. */
	(void) begin(state);
	for (int t = 0; t < 5400; t++) {
		row.known = 0;
		set(TRK_ELAPSED, t);
		set(TRK_INTERVAL, 1);
		trk__alert_live_row(&live, &record, &row, t == 1800 ? &busy : &idle, 1, take, NULL);
	}
	assert_int_equal(count, 1);
}

/* ---- commands ---- */

static char words[512];

static void hear(void *data, const char *text)
{
	(void) data;
	strncat(words, text, sizeof(words) - strlen(words) - 1);
}

static void commands_get_the_alert_in_their_environment(void **state)
{
	struct trk_alert_hooks *h = calloc(1, sizeof(*h));
	struct trk_alert alert = {
		.rule = TRK_ALERT_SWAP, .firing = true, .value = 80, .limit = NAN};
	char path[] = "/tmp/trk-alert-XXXXXX", command[200], text[600] = "";
	int fd = mkstemp(path);

	(void) snprintf(command, sizeof(command),
			"swap=echo \"$RT_RULE,$RT_STATE,$RT_VALUE,$RT_LIMIT,$RT_PID,$RT_JSON\" >%s",
			path);
	assert_int_equal(trk__alert_hooks_add(h, command), 0);
	assert_int_equal(trk__alert_hooks_add(h, "all=exit 3"), 0);
	assert_int_equal(trk__alert_hooks_add(h, "stalled=exit 4"), 0);
	assert_int_equal(trk__alert_hooks_add(h, "stall=exit 4"), -EINVAL);
	assert_int_equal(trk__alert_hooks_add(h, "stalled="), -EINVAL);
	assert_int_equal(trk__alert_hooks_add(h, "stalled"), -EINVAL);
	record.run.pid = 77;
	trk__alert_hooks_call(h, &alert);
	words[0] = '\0';
	for (int i = 0; i < 12000 && (h->waits || h->running[0].hook || h->running[1].hook || !i);
	     i++) {
		trk__alert_hooks_turn(h, &record, 1, hear, NULL);
		(void) usleep(10000);
	}
	assert_string_equal(words, "--on-alert all: exit status 3");
	assert_true(pread(fd, text, sizeof(text) - 1, 0) > 0);
	assert_non_null(strstr(text, "swap,firing,80,,77,{"));
	assert_non_null(strstr(text, "\"limit\":null"));
	trk__alert_hooks_release(h);
	(void) close(fd);
	(void) unlink(path);
	free(h);
}

static void a_command_that_takes_too_long_is_killed(void **state)
{
	struct trk_alert_hooks *h = calloc(1, sizeof(*h));
	struct trk_alert alert = {.rule = TRK_ALERT_SWAP, .firing = true};

	assert_int_equal(trk__alert_hooks_add(h, "swap=sleep 1000"), 0);
	trk__alert_hooks_call(h, &alert);
	trk__alert_hooks_turn(h, &record, 10, hear, NULL);
	assert_non_null(h->running[0].hook);
	words[0] = '\0';
	trk__alert_hooks_turn(h, &record, 69, hear, NULL);
	assert_string_equal(words, "");
	for (int i = 0; i < 12000 && h->running[0].hook; i++) {
		trk__alert_hooks_turn(h, &record, 71 + i, hear, NULL);
		(void) usleep(10000);
	}
	assert_null(h->running[0].hook);
	assert_string_equal(words, "--on-alert swap: killed after 60 s"
				   "--on-alert swap: ended by signal 9");
	free(h);
}

static void what_fires_is_posted_again_to_an_alertmanager_alone(void **state)
{
	struct trk_alert_hooks *h = calloc(1, sizeof(*h));
	struct trk_alert alert = {.rule = TRK_ALERT_SWAP, .firing = true};
	double hour = 3600;

	/* Both places are taken, so that no sink is started. */
	assert_int_equal(trk__alert_hooks_add(h, "swap=sleep 1000"), 0);
	assert_int_equal(trk__alert_hooks_add(h, "swap=exec sleep 1000"), 0);
	assert_int_equal(trk__alert_hooks_add_sink(h, "mail:ann@example.org"), 0);
	assert_int_equal(trk__alert_hooks_add_sink(h, "swap=alertmanager:http://am.example"), 0);
	trk__alert_hooks_call(h, &alert);
	trk__alert_hooks_turn(h, &record, 10, hear, NULL);
	assert_int_equal(h->waits, 2);
	for (size_t i = 0; i < 2; i++)
		h->running[i].started_s = INFINITY;
	trk__alert_hooks_turn(h, &record, 7.9 * hour, hear, NULL);
	assert_int_equal(h->waits, 2);
	trk__alert_hooks_turn(h, &record, 8.1 * hour, hear, NULL);
	trk__alert_hooks_turn(h, &record, 8.2 * hour, hear, NULL);
	assert_int_equal(h->waits, 3);
	assert_string_equal(h->waiting[2].hook->sink, "alertmanager:http://am.example");
	assert_true(h->waiting[2].alert.firing);
	trk__alert_hooks_turn(h, &record, 16.2 * hour, hear, NULL);
	assert_int_equal(h->waits, 4);
	alert.firing = false;
	trk__alert_hooks_call(h, &alert);
	assert_int_equal(h->waits, 8);
	trk__alert_hooks_turn(h, &record, 90 * hour, hear, NULL);
	trk__alert_hooks_turn(h, &record, 99 * hour, hear, NULL);
	assert_int_equal(h->waits, 8);
	trk__alert_hooks_release(h);
	free(h);
}

/* Names of jobs are text of others. */
static void a_name_adds_no_header_to_a_mail(void **state)
{
	static const char *const fields[] = {"\r\nBcc: eve@example.org", "\nx", "\x1b]0;t\x07"};
	struct trk_alert_message message;
	struct trk_buf mail;

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		message =
			(struct trk_alert_message){.severity = "info", .rule = "r", .firing = true};
		(void) snprintf(message.job, sizeof(message.job), "%s", fields[i]);
		trk__buf_init(&mail, 1 << 16);
		trk__alert_mail(&message, "a@b", "c@d", &mail);
		*strstr(mail.data, "Content-Type") = '\0';
		assert_null(strstr(mail.data, "\nBcc"));
		assert_null(strstr(mail.data, "\nx"));
		assert_null(strchr(mail.data, '\x1b'));
		trk__buf_release(&mail);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_adds_no_header_to_a_mail),
		cmocka_unit_test_setup(a_job_that_grows_to_its_limit_is_told_before_it, begin),
		cmocka_unit_test_setup(a_job_that_levels_out_or_is_small_is_left_alone, begin),
		cmocka_unit_test_setup(a_job_that_uses_what_it_asked_for_steadily_is_no_risk,
				       begin),
		cmocka_unit_test_setup(
			near_the_limit_it_is_told_after_half_a_minute_and_resolved_later, begin),
		cmocka_unit_test_setup(without_a_limit_nothing_is_near_it, begin),
		cmocka_unit_test_setup(the_requested_time_is_told_at_once_at_nine_tenths, begin),
		cmocka_unit_test_setup(the_time_of_earlier_runs_is_compared_with_the_request,
				       begin),
		cmocka_unit_test_setup(a_run_that_is_expected_to_end_in_time_may_use_it, begin),
		cmocka_unit_test_setup(a_limit_that_is_hit_again_and_again_is_a_risk, begin),
		cmocka_unit_test_setup(a_job_that_waits_as_it_has_marked_has_not_stalled, begin),
		cmocka_unit_test(what_a_process_waits_for_has_a_name),
		cmocka_unit_test_setup(gpus_that_are_idle_for_an_hour_fire_again, begin),
		cmocka_unit_test_setup(a_job_that_does_nothing_has_stalled, begin),
		cmocka_unit_test_setup(held_back_on_two_cpus_is_told_by_the_share_of_both, begin),
		cmocka_unit_test_setup(many_threads_are_held_back_for_less_than_all_of_the_time,
				       begin),
		cmocka_unit_test_setup(a_disk_that_fills_is_told_half_an_hour_before, begin),
		cmocka_unit_test_setup(a_gpu_is_idle_or_full_only_where_the_job_uses_it, begin),
		cmocka_unit_test_setup(commands_get_the_alert_in_their_environment, begin),
		cmocka_unit_test_setup(a_command_that_takes_too_long_is_killed, begin),
		cmocka_unit_test_setup(what_fires_is_posted_again_to_an_alertmanager_alone, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
