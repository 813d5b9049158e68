#include "probe/gpu/poller.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

enum {
	SOURCES_MAX = 8,
	PIDS_MAX = 8192,
	STACK_SIZE = 1024 * 1024,
};

#define END_WAIT_NS (20 * TRK_NS_PER_MS)

/* Used by the thread only. */
struct work {
	struct trk_gpu_scan scan;
	struct trk_gpu_attributor attributor;
	struct trk_gpu_reading reading;
	pid_t pid[PIDS_MAX];
};

struct trk_gpu_poller {
	struct trk_env env; /* borrowed */
	struct trk_gpu_hints hints;
	const struct trk_gpu_ops *source[SOURCES_MAX];
	int opened[SOURCES_MAX];  /* error text of its open */
	void *state[SOURCES_MAX]; /* NULL: not open */
	size_t sources;
	struct work *work; /* owned; used by the thread only */

	pthread_mutex_t lock; /* protects the following members */
	pthread_cond_t changed;
	bool ready;  /* all sources were tried */
	bool none;   /* all sources were tried, and none opened */
	bool silent; /* the newest answer is too old */
	bool stop, ended, left;
	uint64_t asked, answered;    /* numbers of the newest request and reading */
	uint64_t asked_ns, given_up; /* a request for which _take no longer waits */
	pid_t pid[PIDS_MAX];
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
	free(p->work);
	free(p);
}

/* ---- the thread ---- */

/* True without instead_of, or if instead_of was tried and cannot be loaded. */
static bool is_wanted(const struct trk_gpu_poller *p, size_t index)
{
	const struct trk_gpu_ops *other = p->source[index]->instead_of;

	for (size_t i = 0; other && i < index; i++)
		if (p->source[i] == other)
			return p->opened[i] == -ELIBACC;
	return !other;
}

static void append(char text[TRK_GPU_TEXT_SIZE], const char *between, const char *more)
{
	size_t used = strlen(text);

	(void) snprintf(text + used, TRK_GPU_TEXT_SIZE - used, "%s%s", used ? between : "", more);
}

/* Describe the working sources, each with its current error; or the reason why there is none. */
static void describe(struct trk_gpu_poller *p, const char *why)
{
	char text[TRK_GPU_TEXT_SIZE] = "";

	for (size_t i = 0; i < p->sources; i++) {
		char wrong[TRK_GPU_TEXT_SIZE] = "";

		if (!p->state[i])
			continue;
		append(text, ", ", p->source[i]->name);
		if (p->source[i]->say)
			p->source[i]->say(p->state[i], wrong);
		if (wrong[0])
			append(text, ": ", wrong);
	}
	(void) pthread_mutex_lock(&p->lock);
	if (!p->ready)
		p->none = !text[0];
	(void) snprintf(p->text, sizeof(p->text), "%s",
			text[0]  ? text
			: why[0] ? why
				 : "no GPU found");
	p->ready = true;
	(void) pthread_cond_broadcast(&p->changed);
	(void) pthread_mutex_unlock(&p->lock);
}

static void open_sources(struct trk_gpu_poller *p)
{
	char why[TRK_GPU_TEXT_SIZE] = "";

	for (size_t i = 0; i < p->sources; i++) {
		char reason[TRK_GPU_TEXT_SIZE] = "";

		if (!is_wanted(p, i))
			continue;
		p->opened[i] = p->source[i]->open(&p->env, &p->hints, &p->state[i], reason);
		if (p->opened[i] == 0)
			continue;
		p->state[i] = NULL;
		if (!why[0] || p->source[i]->instead_of)
			append(why, "; ", reason);
	}
	describe(p, why);
}

static void poll_sources(struct trk_gpu_poller *p)
{
	struct work *w = p->work;

	w->scan.devices = w->scan.processes = 0;
	w->scan.now_ns = p->env.monotonic_ns();
	w->scan.wall_us = p->env.wall_ns() / 1000;
	for (size_t i = 0; i < p->sources; i++)
		if (p->state[i])
			p->source[i]->poll(p->state[i], &w->scan);
	trk__gpu_attribute(&w->attributor, &w->scan);
	w->reading.devices = w->scan.devices;
	memcpy(w->reading.device, w->scan.device, w->scan.devices * sizeof(w->scan.device[0]));
	trk__gpu_sum(w->reading.device, w->reading.devices, &w->reading.sums);
	describe(p, "");
}

/* Wait for a request; false: the thread must end. The lock is held. */
static bool take_question(struct trk_gpu_poller *p, uint64_t *ret_number)
{
	struct work *w = p->work;

	while (!p->stop && p->asked == p->answered)
		(void) pthread_cond_wait(&p->changed, &p->lock);
	if (p->stop)
		return false;
	*ret_number = p->asked;
	w->reading.at_ns = p->asked_ns;
	w->scan.pids = p->pids;
	w->scan.is_full = p->is_full;
	w->scan.pid = p->has_pids ? w->pid : NULL;
	memcpy(w->pid, p->pid, p->pids * sizeof(p->pid[0]));
	return true;
}

static void answer_questions(struct trk_gpu_poller *p)
{
	uint64_t number;

	(void) pthread_mutex_lock(&p->lock);
	while (take_question(p, &number)) {
		(void) pthread_mutex_unlock(&p->lock);
		poll_sources(p);
		(void) pthread_mutex_lock(&p->lock);
		p->newest = p->work->reading;
		p->answered = number;
		(void) pthread_cond_broadcast(&p->changed);
		(void) pthread_mutex_unlock(&p->lock);
		for (size_t i = 0; i < p->sources; i++)
			if (p->state[i] && p->source[i]->rest)
				p->source[i]->rest(p->state[i]);
		(void) pthread_mutex_lock(&p->lock);
	}
	(void) pthread_mutex_unlock(&p->lock);
}

static void *run_poller(void *data)
{
	struct trk_gpu_poller *p = data;
	bool left;

	open_sources(p);
	if (!p->none)
		answer_questions(p);
	for (size_t i = 0; i < p->sources; i++)
		if (p->state[i])
			p->source[i]->close(p->state[i]);
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
	const struct trk_gpu_ops *likely[SOURCES_MAX];
	struct trk_gpu_poller *p;
	size_t n = 0;

	if (mode == TRK_GPU_NEVER)
		return NULL;
	for (sources = sources ? sources : trk__gpu_sources; *sources && n < SOURCES_MAX; sources++)
		if (mode == TRK_GPU_ALWAYS || (*sources)->is_likely(env))
			likely[n++] = *sources;
	if (n == 0)
		return NULL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->work = calloc(1, sizeof(*p->work));
	if (!p->work) {
		free(p);
		return NULL;
	}
	p->env = *env;
	if (hints)
		p->hints = p->work->attributor.hints = *hints;
	p->work->attributor.env = *env;
	for (p->sources = 0; p->sources < n; p->sources++)
		p->source[p->sources] = likely[p->sources];
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
	p->pids = pids < PIDS_MAX ? pids : PIDS_MAX;
	p->has_pids = pid != NULL;
	if (pid && pids) {
		memcpy(p->pid, pid, p->pids * sizeof(*pid));
		trk__gpu_sort_pids(p->pid, p->pids);
	}
	p->asked++;
	p->asked_ns = p->env.monotonic_ns();
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
	is_fresh = p->newest.at_ns && p->env.monotonic_ns() - p->newest.at_ns <= max_age_ns;
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
