/* Whether there is a GPU driver, and the thread that queries it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdatomic.h>
#include <time.h>

#include "gpu_play.h"

static void signs_of_a_driver(void **state)
{
	struct live live;

	(void) state;
	live_init(&live, NULL);
	assert_false(trk__gpu_nvml.is_likely(&live.env));
	assert_null(trk__gpu_poller_new(&live.env, TRK_GPU_AUTO, NULL, NULL)); /* no thread */
	assert_int_equal(trk__gpu_threads(), 0);
	assert_int_equal(mkdirat(live.env.proc_fd, "driver", 0700), 0);
	assert_int_equal(mkdirat(live.env.proc_fd, "driver/nvidia", 0700), 0);
	live_write(&live, "driver/nvidia/version", "NVRM version: 550\n");
	assert_true(trk__gpu_nvml.is_likely(&live.env));
	assert_null(trk__gpu_poller_new(&live.env, TRK_GPU_NEVER, NULL, NULL));
	assert_int_equal(unlinkat(live.env.proc_fd, "driver/nvidia/version", 0), 0);
	assert_int_equal(unlinkat(live.env.proc_fd, "driver/nvidia", AT_REMOVEDIR), 0);
	assert_int_equal(unlinkat(live.env.proc_fd, "driver", AT_REMOVEDIR), 0);
	live_release(&live);
}

/* ---- the thread ---- */

/* A source whose poll waits until it is let go. */
static atomic_bool held;
static atomic_int begun, polls, closed;

static bool played_is_likely(const struct trk_env *env)
{
	(void) env;
	return true;
}

static int played_open(const struct trk_env *env, const struct trk_gpu_hints *hints, void **ret,
		       char why[TRK_GPU_TEXT_SIZE])
{
	(void) env;
	(void) hints;
	(void) why;
	*ret = &held;
	return 0;
}

static void nap(void)
{
	const struct timespec moment = {0, 1000000};

	(void) nanosleep(&moment, NULL);
}

static void played_poll(void *source, struct trk_gpu_scan *scan)
{
	struct trk_gpu_device *d = trk__gpu_add_device(scan, "played");

	assert_ptr_equal(source, &held);
	d->metric[TRK_GPU_UTILIZATION_METRIC] = trk__gpu_known(0.25);
	atomic_fetch_add(&begun, 1);
	while (atomic_load(&held))
		nap();
	atomic_fetch_add(&polls, 1);
}

static void played_close(void *source)
{
	(void) source;
	atomic_fetch_add(&closed, 1);
}

static const struct trk_gpu_ops played = {
	.name = "played",
	.is_likely = played_is_likely,
	.open = played_open,
	.poll = played_poll,
	.close = played_close,
};
static const struct trk_gpu_ops *const played_sources[] = {&played, NULL};

#define LONG_NS (20 * TRK_NS_PER_S)

static void an_answer_in_time_belongs_to_the_question(void **state)
{
	struct trk_env env;
	struct trk_gpu_poller *p;
	const struct trk_gpu_reading *r = NULL;

	(void) state;
	assert_int_equal(trk__env_init(&env), 0);
	p = trk__gpu_poller_new(&env, TRK_GPU_AUTO, NULL, played_sources);
	assert_non_null(p);
	while (trk__gpu_poller_state(p) == TRK_GPU_OPENING)
		nap();
	for (int i = 0; i < 3; i++) {
		uint64_t asked_ns = trk__clock_monotonic_ns();

		trk__gpu_poller_ask(p, NULL, 0);
		r = trk__gpu_poller_take(p, LONG_NS, LONG_NS);
		assert_non_null(r);
		assert_true(r->at_ns >= asked_ns);
	}
	near(r->sums.usage.value, 0.25);
	assert_string_equal(trk__gpu_poller_text(p), "played");
	trk__gpu_poller_free(p);
	while (trk__gpu_threads() > 0)
		nap();
	assert_int_equal(atomic_load(&closed), 1);
	trk__env_release(&env);
}

static void a_driver_that_hangs_costs_one_wait_and_becomes_unknown(void **state)
{
	struct trk_env env;
	struct trk_gpu_poller *p;
	uint64_t start_ns;
	int before, asked;

	(void) state;
	assert_int_equal(trk__env_init(&env), 0);
	p = trk__gpu_poller_new(&env, TRK_GPU_AUTO, NULL, played_sources);
	assert_non_null(p);
	while (trk__gpu_poller_state(p) == TRK_GPU_OPENING)
		nap();
	trk__gpu_poller_ask(p, NULL, 0);
	assert_non_null(trk__gpu_poller_take(p, LONG_NS, LONG_NS));
	before = atomic_load(&polls);
	atomic_store(&held, true);
	asked = atomic_load(&begun);
	trk__gpu_poller_ask(p, NULL, 0);
	while (atomic_load(&begun) == asked) /* else the next question takes its place */
		nap();
	/* The old answer stands in while it is young enough. */
	assert_non_null(trk__gpu_poller_take(p, TRK_NS_PER_MS, LONG_NS));
	assert_null(trk__gpu_poller_take(p, 0, 1));
	assert_string_equal(trk__gpu_poller_text(p), "played: the driver does not answer");
	start_ns = trk__clock_monotonic_ns();
	for (int i = 0; i < 100; i++) { /* not waited for again: 100 waits would be 2000 s */
		trk__gpu_poller_ask(p, NULL, 0);
		(void) trk__gpu_poller_take(p, LONG_NS, LONG_NS);
	}
	assert_true(trk__clock_monotonic_ns() - start_ns < LONG_NS);
	assert_int_equal(atomic_load(&polls), before);
	atomic_store(&held, false); /* it comes back */
	while (atomic_load(&polls) < before + 2)
		nap();
	trk__gpu_poller_ask(p, NULL, 0);
	assert_non_null(trk__gpu_poller_take(p, LONG_NS, LONG_NS));
	trk__gpu_poller_free(p);
	while (trk__gpu_threads() > 0)
		nap();
	trk__env_release(&env);
}

static void a_thread_that_hangs_at_the_end_is_left_behind(void **state)
{
	struct trk_env env;
	struct trk_gpu_poller *p;
	int before = atomic_load(&closed), asked;

	(void) state;
	assert_int_equal(trk__env_init(&env), 0);
	p = trk__gpu_poller_new(&env, TRK_GPU_AUTO, NULL, played_sources);
	assert_non_null(p);
	while (trk__gpu_poller_state(p) == TRK_GPU_OPENING)
		nap();
	atomic_store(&held, true);
	asked = atomic_load(&begun);
	trk__gpu_poller_ask(p, NULL, 0);
	assert_null(trk__gpu_poller_take(p, 0, LONG_NS));
	while (atomic_load(&begun) == asked) /* it has not begun to hang yet */
		nap();
	trk__gpu_poller_free(p);
	assert_int_equal(trk__gpu_threads(), 1);
	atomic_store(&held, false); /* it goes when it can, and takes its things with it */
	while (trk__gpu_threads() > 0)
		nap();
	assert_int_equal(atomic_load(&closed), before + 1);
	trk__env_release(&env);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(signs_of_a_driver),
		cmocka_unit_test(an_answer_in_time_belongs_to_the_question),
		cmocka_unit_test(a_driver_that_hangs_costs_one_wait_and_becomes_unknown),
		cmocka_unit_test(a_thread_that_hangs_at_the_end_is_left_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
