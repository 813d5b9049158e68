/* The C API, used by several threads at once. The thread sanitizer finds races (tools/test.sh
 * threads); any build finds lost results and hangs. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/columns.h"
#include "resource_tracker.h"

enum { THREADS = 4, ROUNDS = 3, SAMPLES = 3 };

#define PATIENCE_S 60.0 /* a bound for what hangs, not a measure */

/* cmocka's assertions are for the main thread: others note the line of what is wrong. */
static atomic_int wrong;

static void expect_at(bool condition, int line)
{
	int none = 0;

	if (!condition)
		(void) atomic_compare_exchange_strong(&wrong, &none, line);
}

#define expect(condition) expect_at(condition, __LINE__)

static struct trk_tracker_options fast(bool in_thread)
{
	struct trk_tracker_options o = TRK_TRACKER_OPTIONS_INIT;

	o.interval_s = 0.01;
	o.program = TRK_TEST_PROGRAM;
	o.in_thread = in_thread;
	return o;
}

static void run_threads(void *(*body)(void *), void *data, int n)
{
	pthread_t thread[THREADS];

	assert_true(n <= THREADS);
	for (int i = 0; i < n; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, body, data), 0);
	for (int i = 0; i < n; i++)
		assert_int_equal(pthread_join(thread[i], NULL), 0);
}

/* The life of a tracker, from its start to its end. */
static void live(bool in_thread)
{
	struct trk_tracker_options o = fast(in_thread);
	struct trk_recording *r = NULL;
	struct trk_tracker *t = NULL;

	expect(trk_tracker_start(&o, &t, NULL, 0) == 0);
	if (!t)
		return;
	expect(trk_tracker_wait(t, SAMPLES, PATIENCE_S) == 1);
	expect(trk_tracker_mark(t, "here") == 0);
	expect(trk_tracker_stop(t) == 0);
	expect(trk_tracker_running(t) == 0);
	expect(trk_tracker_read(t, &r) == 0);
	if (r) {
		expect(trk_recording_samples(r) >= SAMPLES);
		expect(trk_recording_damaged(r) == 0);
		trk_recording_free(r);
	}
	expect(*trk_tracker_error(t) == '\0');
	trk_tracker_free(t);
}

static void *live_in_turn(void *data)
{
	atomic_int *number = data;

	for (int i = 0; i < ROUNDS; i++)
		live(atomic_fetch_add(number, 1) % 3 != 0); /* every third in a process */
	return NULL;
}

static void trackers_of_several_threads_do_not_meet(void **state)
{
	atomic_int number = 0;

	run_threads(live_in_turn, &number, THREADS);
	assert_int_equal(atomic_load(&number), THREADS * ROUNDS);
	assert_int_equal(atomic_load(&wrong), 0);
}

/* Until it has stopped, and once more after that. */
static void *use(void *data)
{
	struct trk_tracker *t = data;
	bool running;

	do {
		struct trk_recording *r = NULL;

		running = trk_tracker_running(t) != 0;
		(void) trk_tracker_wait(t, 1, 0.01);
		(void) trk_tracker_mark(t, "used");
		expect(trk_tracker_error(t) != NULL);
		expect(*trk_tracker_recording(t) == '/');
		expect(trk_tracker_read(t, &r) == 0 && trk_recording_damaged(r) == 0);
		trk_recording_free(r);
	} while (running);
	return NULL;
}

static void *use_and_stop(void *data)
{
	expect(trk_tracker_wait(data, SAMPLES, PATIENCE_S) == 1);
	expect(trk_tracker_stop(data) == 0);
	return use(data);
}

static void one_tracker_is_used_and_stopped_by_several_threads(void **state)
{
	for (int in_thread = 0; in_thread < 2; in_thread++) {
		struct trk_tracker_options o = fast(in_thread != 0);
		struct trk_tracker *t = NULL;
		pthread_t stopper;

		assert_int_equal(trk_tracker_start(&o, &t, NULL, 0), 0);
		assert_int_equal(pthread_create(&stopper, NULL, use_and_stop, t), 0);
		run_threads(use, t, THREADS);
		assert_int_equal(pthread_join(stopper, NULL), 0);
		assert_int_equal(trk_tracker_running(t), 0);
		assert_true(trk_tracker_samples(t) >= SAMPLES);
		trk_tracker_free(t);
	}
	assert_int_equal(atomic_load(&wrong), 0);
}

static void *wait_for_command(void *data)
{
	int status = 0;

	expect(trk_tracker_wait_command(data, &status) == 0);
	expect(WIFEXITED(status) && WEXITSTATUS(status) == 3);
	return NULL;
}

/* The command ends when a file appears, which is made once its samples were seen: whoever waits for
 * the command must not keep the others from looking. */
static void a_command_is_waited_for_while_others_look(void **state)
{
	struct trk_tracker_options o = fast(false);
	char folder[] = "/tmp/trk-threads-XXXXXX";
	char shell[] = "sh", flag[] = "-c", script[256];
	char *argv[] = {shell, flag, script, NULL};
	struct trk_tracker *t = NULL;
	pthread_t waiter[2];
	char path[64];

	assert_non_null(mkdtemp(folder));
	(void) snprintf(path, sizeof(path), "%s/end", folder);
	(void) snprintf(script, sizeof(script),
			"i=0; while [ ! -d %s ] && [ $((i += 1)) -lt 3000 ]; do sleep 0.02; done; "
			"[ -d %s ] && exit 3",
			path, path);
	o.argv = argv;
	assert_int_equal(trk_tracker_start(&o, &t, NULL, 0), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&waiter[i], NULL, wait_for_command, t), 0);
	assert_int_equal(trk_tracker_wait(t, SAMPLES, PATIENCE_S), 1);
	assert_int_equal(trk_tracker_running(t), 1);
	assert_int_equal(mkdir(path, 0700), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_join(waiter[i], NULL), 0);
	assert_int_equal(trk_tracker_stop(t), 0);
	trk_tracker_free(t);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(rmdir(folder), 0);
	assert_int_equal(atomic_load(&wrong), 0);
}

static void *read_counters(void *data)
{
	double before_s = 0;

	for (int i = 0; i < 50; i++) {
		struct trk_process_counters now;

		expect(trk_counters_process(data, &now) == 0);
		expect(now.user_s + now.system_s >= before_s && now.processes >= 1);
		before_s = now.user_s + now.system_s;
	}
	return NULL;
}

static void counters_are_read_by_several_threads(void **state)
{
	struct trk_counters *c = NULL;

	assert_int_equal(trk_counters_of_process(getpid(), 0, &c), 0);
	run_threads(read_counters, c, THREADS);
	trk_counters_free(c);
	assert_int_equal(atomic_load(&wrong), 0);
}

static void *read_recording(void *data)
{
	size_t column = (size_t) trk__column_find("process_memory_mib");

	for (int i = 0; i < 10; i++) {
		struct trk_column_summary s;
		struct trk_figure figure;
		char *text = trk_recording_summary(data);

		expect(text && strstr(text, "resource-tracker.summary/1"));
		free(text);
		expect(trk_recording_stats(data, column, &s) == 0 && s.max > 0);
		expect(trk_recording_total(data, "peak_memory_mib", &figure) == 0);
		expect(figure.value > 0);
	}
	return NULL;
}

static void a_recording_is_read_by_several_threads(void **state)
{
	struct trk_tracker_options o = fast(true);
	struct trk_recording *r = NULL;
	struct trk_tracker *t = NULL;

	assert_int_equal(trk_tracker_start(&o, &t, NULL, 0), 0);
	assert_int_equal(trk_tracker_wait(t, SAMPLES, PATIENCE_S), 1);
	assert_int_equal(trk_tracker_stop(t), 0);
	assert_int_equal(trk_tracker_read(t, &r), 0);
	run_threads(read_recording, r, THREADS);
	trk_recording_free(r);
	trk_tracker_free(t);
	assert_int_equal(atomic_load(&wrong), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trackers_of_several_threads_do_not_meet),
		cmocka_unit_test(one_tracker_is_used_and_stopped_by_several_threads),
		cmocka_unit_test(a_command_is_waited_for_while_others_look),
		cmocka_unit_test(counters_are_read_by_several_threads),
		cmocka_unit_test(a_recording_is_read_by_several_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
