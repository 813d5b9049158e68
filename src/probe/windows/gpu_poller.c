/* The poller of GPUs as a thread, which shares a lock with its caller. */
#include "probe/gpu/poller.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "probe/gpu/reader.h"

enum { STACK_SIZE = 1024 * 1024 };

#define END_WAIT_NS (20 * TRK_NS_PER_MS)

struct trk_gpu_poller {
	struct trk_gpu_reader *reader; /* owned; used by the thread only */
	uint64_t (*monotonic_ns)(void);

	pthread_mutex_t lock; /* protects the following members */
	pthread_cond_t changed;
	bool ready, none; /* of the reader */
	bool silent;      /* the newest answer is too old */
	bool stop, ended, left;
	uint64_t asked, answered;    /* numbers of the newest request and reading */
	uint64_t asked_ns, given_up; /* a request for which _take no longer waits */
	pid_t pid[TRK_GPU_PIDS_MAX];
	size_t pids;
	bool has_pids, is_full;
	struct trk_gpu_reading newest;
	char text[TRK_GPU_TEXT_SIZE];

	struct trk_gpu_reading view; /* for the caller of _take */
	char text_view[TRK_GPU_TEXT_SIZE];
};

static void destroy(struct trk_gpu_poller *p)
{
	(void) pthread_cond_destroy(&p->changed);
	(void) pthread_mutex_destroy(&p->lock);
	free(p->reader);
	free(p);
}

/* ---- the thread ---- */

/* With the lock. */
static void publish(struct trk_gpu_poller *p)
{
	p->none = p->reader->none;
	memcpy(p->text, p->reader->text, sizeof(p->text));
	p->ready = true;
	(void) pthread_cond_broadcast(&p->changed);
}

/* Wait for a request; false: the thread must end. The lock is held. */
static bool take_question(struct trk_gpu_poller *p, uint64_t *ret_number)
{
	struct trk_gpu_reader *r = p->reader;

	while (!p->stop && p->asked == p->answered)
		(void) pthread_cond_wait(&p->changed, &p->lock);
	if (p->stop)
		return false;
	*ret_number = p->asked;
	r->reading.at_ns = p->asked_ns;
	r->scan.pids = p->pids;
	r->scan.is_full = p->is_full;
	r->scan.pid = p->has_pids ? r->pid : NULL;
	memcpy(r->pid, p->pid, p->pids * sizeof(p->pid[0]));
	return true;
}

static void answer_questions(struct trk_gpu_poller *p)
{
	uint64_t number;

	(void) pthread_mutex_lock(&p->lock);
	while (take_question(p, &number)) {
		(void) pthread_mutex_unlock(&p->lock);
		trk__gpu_reader_poll(p->reader);
		(void) pthread_mutex_lock(&p->lock);
		p->newest = p->reader->reading;
		p->answered = number;
		publish(p);
		(void) pthread_mutex_unlock(&p->lock);
		trk__gpu_reader_rest(p->reader);
		(void) pthread_mutex_lock(&p->lock);
	}
	(void) pthread_mutex_unlock(&p->lock);
}

static void *run_poller(void *data)
{
	struct trk_gpu_poller *p = data;
	bool left;

	trk__gpu_reader_open(p->reader);
	(void) pthread_mutex_lock(&p->lock);
	publish(p);
	(void) pthread_mutex_unlock(&p->lock);
	if (!p->none)
		answer_questions(p);
	trk__gpu_reader_close(p->reader);
	(void) pthread_mutex_lock(&p->lock);
	p->ended = true;
	left = p->left;
	trk__gpu_count_thread(-1);
	(void) pthread_cond_broadcast(&p->changed);
	(void) pthread_mutex_unlock(&p->lock);
	if (left)
		destroy(p);
	return NULL;
}

/* ---- the caller's side ---- */

static void init_lock(struct trk_gpu_poller *p)
{
	pthread_condattr_t attributes;

	(void) pthread_mutex_init(&p->lock, NULL);
	(void) pthread_condattr_init(&attributes);
	(void) pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	(void) pthread_cond_init(&p->changed, &attributes);
	(void) pthread_condattr_destroy(&attributes);
}

struct trk_gpu_poller *trk__gpu_poller_new(const struct trk_env *env, enum trk_gpu_mode mode,
					   const struct trk_gpu_hints *hints,
					   const struct trk_gpu_ops *const *sources)
{
	struct trk_gpu_reader *reader = trk__gpu_reader_new(env, mode, hints, sources);
	struct trk_gpu_poller *p = reader ? calloc(1, sizeof(*p)) : NULL;

	if (!p) {
		free(reader);
		return NULL;
	}
	p->reader = reader;
	p->monotonic_ns = env->monotonic_ns;
	(void) snprintf(p->text, sizeof(p->text), "the driver has not answered yet");
	init_lock(p);
	if (trk__gpu_start_thread(run_poller, p, STACK_SIZE) < 0) {
		destroy(p);
		return NULL;
	}
	return p;
}

/* After so long, on the clock that init_lock() has set: that of trk__clock_monotonic_ns() may be
 * another one. */
static struct timespec moment_after(uint64_t ns)
{
	struct timespec at;

	(void) clock_gettime(CLOCK_MONOTONIC, &at);
	ns += (uint64_t) at.tv_nsec;
	at.tv_sec += (time_t) (ns / TRK_NS_PER_S);
	at.tv_nsec = (long) (ns % TRK_NS_PER_S);
	return at;
}

void trk__gpu_poller_free(struct trk_gpu_poller *p)
{
	struct timespec until = moment_after(END_WAIT_NS);
	bool ended;

	if (!p)
		return;
	(void) pthread_mutex_lock(&p->lock);
	p->stop = true;
	(void) pthread_cond_broadcast(&p->changed);
	while (!p->ended && pthread_cond_timedwait(&p->changed, &p->lock, &until) != ETIMEDOUT)
		;
	ended = p->ended; /* it may have just ended */
	p->left = !ended;
	(void) pthread_mutex_unlock(&p->lock);
	if (ended)
		destroy(p);
}

void trk__gpu_poller_ask(struct trk_gpu_poller *p, const pid_t *pid, size_t pids)
{
	(void) pthread_mutex_lock(&p->lock);
	p->pids = pids < TRK_GPU_PIDS_MAX ? pids : TRK_GPU_PIDS_MAX;
	p->has_pids = pid != NULL;
	if (pid && pids) {
		memcpy(p->pid, pid, p->pids * sizeof(*pid));
		trk__gpu_sort_pids(p->pid, p->pids);
	}
	p->asked++;
	p->asked_ns = p->monotonic_ns();
	(void) pthread_cond_broadcast(&p->changed);
	(void) pthread_mutex_unlock(&p->lock);
}

void trk__gpu_poller_force_full(struct trk_gpu_poller *p)
{
	(void) pthread_mutex_lock(&p->lock);
	p->is_full = true;
	(void) pthread_mutex_unlock(&p->lock);
}

const struct trk_gpu_reading *trk__gpu_poller_take(struct trk_gpu_poller *p, uint64_t wait_ns,
						   uint64_t max_age_ns)
{
	struct timespec until = moment_after(wait_ns);
	bool is_fresh;

	(void) pthread_mutex_lock(&p->lock);
	/* After a timeout, do not wait again until the thread has answered. */
	if (p->ready && !p->none && (p->given_up == 0 || p->answered >= p->given_up)) {
		while (p->answered != p->asked &&
		       pthread_cond_timedwait(&p->changed, &p->lock, &until) != ETIMEDOUT)
			;
		p->given_up = p->answered == p->asked ? 0 : p->asked;
	}
	is_fresh = p->newest.at_ns && p->monotonic_ns() - p->newest.at_ns <= max_age_ns;
	p->silent = p->ready && !p->none && !is_fresh;
	if (is_fresh)
		p->view = p->newest;
	(void) pthread_mutex_unlock(&p->lock);
	return is_fresh ? &p->view : NULL;
}

const char *trk__gpu_poller_text(struct trk_gpu_poller *p)
{
	(void) pthread_mutex_lock(&p->lock);
	(void) snprintf(p->text_view, sizeof(p->text_view), "%.90s%s%s", p->text,
			p->silent ? ": " : "",
			p->silent ? trk__gpu_why_text(TRK_GPU_NO_ANSWER) : "");
	(void) pthread_mutex_unlock(&p->lock);
	return p->text_view;
}

enum trk_gpu_poller_state trk__gpu_poller_state(struct trk_gpu_poller *p)
{
	enum trk_gpu_poller_state state;

	(void) pthread_mutex_lock(&p->lock);
	state = !p->ready ? TRK_GPU_OPENING : p->none ? TRK_GPU_USELESS : TRK_GPU_OPENED;
	(void) pthread_mutex_unlock(&p->lock);
	return state;
}
