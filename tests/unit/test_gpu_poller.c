/* Whether there is a GPU driver, and the worker that queries it: a process, or a thread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "gpu_play.h"

static void signs_of_a_driver(void **state)
{
	struct live live;

	live_init(&live, NULL);
	assert_false(trk__gpu_nvml.is_likely(&live.env));
	assert_null(trk__gpu_poller_new(&live.env, TRK_GPU_AUTO, NULL, NULL)); /* no worker */
	assert_int_equal(trk__worker_threads(), 0);
	assert_null(trk__gpu_poller_new(&live.env, TRK_GPU_AUTO, &no_hints, NULL));
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
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

/* ---- the worker ---- */

enum fate { LIVES, CRASHES, EXITS, CRASHES_AT_OPEN };

/* A source whose poll waits until it is let go. The worker may be another process. */
static struct {
	atomic_bool held;
	atomic_int begun, polls, closed, opened, pid, fate;
} * play;

static bool played_is_likely(const struct trk_env *env)
{
	(void) env;
	return true;
}

/* Signals are blocked in a worker; a fault of the processor ends it all the same. A sanitizer's
 * handler would exit. */
static void crash(void)
{
	sigset_t fault;

	(void) sigemptyset(&fault);
	(void) sigaddset(&fault, SIGSEGV);
	(void) signal(SIGSEGV, SIG_DFL);
	(void) pthread_sigmask(SIG_UNBLOCK, &fault, NULL);
	(void) raise(SIGSEGV);
}

static int played_open(const struct trk_env *env, const struct trk_gpu_hints *hints, void **ret,
		       char why[TRK_GPU_TEXT_SIZE])
{
	(void) env;
	(void) hints;
	(void) why;
	atomic_fetch_add(&play->opened, 1);
	atomic_store(&play->pid, getpid());
	if (atomic_load(&play->fate) == CRASHES_AT_OPEN)
		crash();
	*ret = play;
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

	assert_ptr_equal(source, play);
	d->metric[TRK_GPU_UTILIZATION_METRIC] = trk__gpu_known(0.25);
	atomic_fetch_add(&play->begun, 1);
	while (atomic_load(&play->held))
		nap();
	if (atomic_load(&play->fate) == CRASHES)
		crash();
	if (atomic_load(&play->fate) == EXITS)
		_exit(9);
	atomic_fetch_add(&play->polls, 1);
}

static void played_close(void *source)
{
	(void) source;
	atomic_fetch_add(&play->closed, 1);
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

/* A poller in each of the two forms: a thread has no hints. */
static const struct trk_gpu_hints *const forms[] = {NULL, &no_hints};
enum { THREAD, PROCESS, FORMS };

struct stage {
	struct trk_env env;
	struct trk_gpu_poller *p;
};

static void begin_stage(struct stage *s, int form, enum fate fate)
{
	play = mmap(NULL, sizeof(*play), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(play, MAP_FAILED);
	atomic_store(&play->fate, fate);
	assert_int_equal(trk__env_init(&s->env), 0);
	s->p = trk__gpu_poller_new(&s->env, TRK_GPU_AUTO, forms[form], played_sources);
	assert_non_null(s->p);
	while (fate != CRASHES_AT_OPEN && trk__gpu_poller_state(s->p) == TRK_GPU_OPENING)
		nap();
}

static void end_stage(struct stage *s)
{
	if (s->p)
		trk__gpu_poller_free(s->p);
	while (trk__worker_threads() > 0)
		nap();
	trk__env_release(&s->env);
	while (waitpid(-1, NULL, 0) > 0) /* the worker was killed */
		;
	assert_int_equal(munmap(play, sizeof(*play)), 0);
}

static const struct trk_gpu_reading *ask(struct stage *s)
{
	trk__gpu_poller_ask(s->p, NULL, 0);
	return trk__gpu_poller_take(s->p, LONG_NS, LONG_NS);
}

static void an_answer_in_time_belongs_to_the_question(void **state)
{
	for (int form = 0; form < FORMS; form++) {
		const struct trk_gpu_reading *r = NULL;
		struct stage s;

		begin_stage(&s, form, LIVES);
		for (int i = 0; i < 3; i++) {
			uint64_t asked_ns = trk__clock_monotonic_ns();

			r = ask(&s);
			assert_non_null(r);
			assert_true(r->at_ns >= asked_ns);
		}
		near(r->sums.usage.value, 0.25);
		assert_string_equal(trk__gpu_poller_text(s.p), "played");
		assert_int_equal(atomic_load(&play->pid) == getpid(), form == THREAD);
		assert_int_equal(trk__worker_threads(), form == THREAD);
		trk__gpu_poller_free(s.p);
		s.p = NULL;
		while (trk__worker_threads() > 0)
			nap();
		assert_int_equal(atomic_load(&play->closed), form == THREAD);
		end_stage(&s);
	}
}

static void a_driver_that_hangs_costs_one_wait_and_becomes_unknown(void **state)
{
	for (int form = 0; form < FORMS; form++) {
		struct stage s;
		uint64_t start_ns;
		int before, asked;

		begin_stage(&s, form, LIVES);
		assert_non_null(ask(&s));
		before = atomic_load(&play->polls);
		atomic_store(&play->held, true);
		asked = atomic_load(&play->begun);
		trk__gpu_poller_ask(s.p, NULL, 0);
		while (atomic_load(&play->begun) == asked) /* it hangs now */
			nap();
		/* The old answer stands in while it is young enough. */
		assert_non_null(trk__gpu_poller_take(s.p, TRK_NS_PER_MS, LONG_NS));
		assert_null(trk__gpu_poller_take(s.p, 0, 1));
		assert_string_equal(trk__gpu_poller_text(s.p),
				    "played: the driver does not answer");
		start_ns = trk__clock_monotonic_ns();
		for (int i = 0; i < 100; i++) /* not waited for again: 100 waits would be 2000 s */
			(void) ask(&s);
		assert_true(trk__clock_monotonic_ns() - start_ns < LONG_NS);
		assert_int_equal(atomic_load(&play->polls), before);
		atomic_store(&play->held, false); /* it comes back */
		while (atomic_load(&play->polls) < before + 2)
			(void) ask(&s);
		start_ns = trk__clock_monotonic_ns();
		assert_true(ask(&s)->at_ns >= start_ns);
		end_stage(&s);
	}
}

static void a_worker_that_hangs_at_the_end_is_left_behind(void **state)
{
	for (int form = 0; form < FORMS; form++) {
		struct stage s;

		begin_stage(&s, form, LIVES);
		atomic_store(&play->held, true);
		trk__gpu_poller_ask(s.p, NULL, 0);
		assert_null(trk__gpu_poller_take(s.p, 0, LONG_NS));
		while (atomic_load(&play->begun) == 0) /* it has not begun to hang yet */
			nap();
		trk__gpu_poller_free(s.p);
		s.p = NULL;
		assert_int_equal(trk__worker_threads(), form == THREAD);
		atomic_store(&play->held, false); /* a thread goes when it can, and takes its
						   * things with it */
		end_stage(&s);
	}
}

static void after_a_crash_the_worker_is_started_again(void **state)
{
	const struct trk_gpu_reading *r;
	struct stage s;
	int first;

	begin_stage(&s, PROCESS, LIVES);
	assert_non_null(ask(&s));
	first = atomic_load(&play->pid);
	atomic_store(&play->fate, CRASHES);
	do { /* once it was reaped, nothing is known of the device */
		trk__gpu_poller_ask(s.p, NULL, 0);
		r = trk__gpu_poller_take(s.p, LONG_NS, LONG_NS);
		assert_non_null(r);
	} while (r->sums.usage.why == TRK_GPU_KNOWN && atomic_load(&play->opened) == 1);
	assert_int_equal(r->devices, 1);
	assert_int_equal(r->device[0].metric[TRK_GPU_UTILIZATION_METRIC].why, TRK_GPU_CRASHED);
	atomic_store(&play->fate, LIVES);
	while (ask(&s)->sums.usage.why != TRK_GPU_KNOWN)
		nap();
	assert_int_not_equal(atomic_load(&play->pid), first);
	assert_string_equal(trk__gpu_poller_text(s.p), "played, started again: the driver's "
						       "library crashed (SIGSEGV)");
	end_stage(&s);
}

static void after_its_second_end_the_worker_is_not_started_again(void **state)
{
	static const struct {
		enum fate fate;
		const char *text;
	} cases[] = {
		{CRASHES, "the driver's library crashed (SIGSEGV)"},
		{EXITS, "the driver's library ended the process with exit code 9"},
		{CRASHES_AT_OPEN, "the driver's library crashed (SIGSEGV)"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct stage s;

		begin_stage(&s, PROCESS, cases[i].fate);
		while (trk__gpu_poller_state(s.p) != TRK_GPU_USELESS)
			assert_null(ask(&s)); /* no device was ever seen */
		for (int k = 0; k < 3; k++)
			assert_null(ask(&s));
		assert_int_equal(atomic_load(&play->opened), 2);
		assert_string_equal(trk__gpu_poller_text(s.p), cases[i].text);
		end_stage(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(signs_of_a_driver),
		cmocka_unit_test(an_answer_in_time_belongs_to_the_question),
		cmocka_unit_test(a_driver_that_hangs_costs_one_wait_and_becomes_unknown),
		cmocka_unit_test(a_worker_that_hangs_at_the_end_is_left_behind),
		cmocka_unit_test(after_a_crash_the_worker_is_started_again),
		cmocka_unit_test(after_its_second_end_the_worker_is_not_started_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
