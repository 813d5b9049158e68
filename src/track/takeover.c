#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/os.h"
#include "probe/helper_process.h"
#include "probe/linux/pid_stat.h"
#include "track/private.h"

enum { STACK_SIZE = 1024 * 1024 };

/* The guard looks at a thread that is still at work so long after it should have begun to wait, and
 * abandons it if it is in the same call at its next look, and does not wait for the CPU. */
#define LATE_NS   (300 * TRK_NS_PER_MS)
#define AGAIN_NS  (150 * TRK_NS_PER_MS)
#define ANSWER_NS (2 * TRK_NS_PER_S) /* after the end of the job nothing else waits */

struct trk_tracking_thread {
	struct trk_blocking noted;
	struct track *track;
	pthread_t id;
	_Atomic pid_t pid; /* of the thread; 0: not known */
};

static void *run(void *data)
{
	struct trk_tracking_thread *own = data;

	atomic_store(&own->pid, trk__job_thread());
	trk__blocking_set(&own->noted);
	if (setjmp(own->noted.end) != 0)
		return NULL;
	trk__track_work(own->track);
	atomic_store(&own->track->is_done, true);
	(void) trk__os_timer_set(own->track->guard_fd, 1);
	return NULL;
}

static int start(struct track *t)
{
	struct trk_tracking_thread *own = calloc(1, sizeof(*own));
	struct trk_tracking_thread *before = t->thread;
	pthread_attr_t attributes;
	int r = own ? pthread_attr_init(&attributes) : ENOMEM;

	if (r == 0) {
		own->track = t;
		t->thread = own; /* the new thread reads it */
		(void) pthread_attr_setstacksize(&attributes, STACK_SIZE);
		r = pthread_create(&own->id, &attributes, run, own);
		(void) pthread_attr_destroy(&attributes);
	}
	if (r != 0) {
		t->thread = before;
		trk__helper_process_note_refusal(r);
		free(own);
	}
	return -r;
}

static void nap(void)
{
	const struct timespec time = {.tv_nsec = AGAIN_NS};

	(void) nanosleep(&time, NULL);
}

/* How long the guard may wait for its timer, in ms: for ever, or briefly if it cannot be set (a
 * sandbox refuses it, or a host program has closed it). */
static int set_guard(struct track *t, uint64_t at_ns)
{
	return trk__os_timer_set(t->guard_fd, at_ns) < 0 ? (int) (AGAIN_NS / TRK_NS_PER_MS) : -1;
}

static uint64_t patience(uint32_t call)
{
	return trk__blocking_kind(call) == TRK_BLOCKING_ANSWER ? ANSWER_NS : AGAIN_NS;
}

static bool waits_for_cpu(const struct track *t)
{
	struct trk_pid_stat stat;

	return t->has_proc &&
	       trk__pid_stat_read(t->env.proc_fd, atomic_load(&t->thread->pid), &stat) == 0 &&
	       stat.state == 'R';
}

/* The abandoned thread keeps its memory. */
static void take_over(struct track *t, uint32_t call)
{
	struct trk_tracking_thread *blocked = t->thread;

	if (!trk__blocking_abandon(&blocked->noted, call))
		return;
	(void) pthread_detach(blocked->id);
	t->is_abandoned = true;
	trk__track_resume(t, trk__blocking_kind(call));
	while (start(t) < 0)
		nap();
}

void trk__track_guard(struct track *t, uint64_t at_ns)
{
	if (t->guard_fd >= 0)
		(void) trk__os_timer_set(t->guard_fd, at_ns + LATE_NS);
}

void trk__track_lost(struct track *t)
{
	t->is_lost = true;
	if (!t->thread)
		t->options->on_lost(t->options->data);
	atomic_store(&t->is_done, true);
	longjmp(t->thread->noted.end, 1);
}

void trk__track_guarded(struct track *t)
{
	struct pollfd late = {.events = POLLIN};
	uint32_t call = 0, before;
	int wait_ms;

	late.fd = t->guard_fd = trk__os_timer();
	if (t->guard_fd < 0 || start(t) < 0) {
		trk__track_work(t);
		return;
	}
	wait_ms = set_guard(t, trk__clock_monotonic_ns() + LATE_NS);
	while (!atomic_load(&t->is_done)) { /* after the timer was set: the end sets it anew */
		if (poll(&late, 1, wait_ms) < 0)
			nap();
		before = call;
		call = trk__blocking_call(&t->thread->noted);
		if (call && call == before && !waits_for_cpu(t))
			take_over(t, call);
		wait_ms = set_guard(t, trk__clock_monotonic_ns() +
					       (call ? patience(call) : TRK_NS_PER_S));
	}
	(void) pthread_join(t->thread->id, NULL);
	if (t->is_lost)
		t->options->on_lost(t->options->data);
	free(t->thread);
}
