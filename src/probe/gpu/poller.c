#include "probe/gpu/poller.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/libc.h"
#include "base/os.h"
#include "probe/linux/worker.h"

enum { STARTS_MAX = 2, SOURCES_MAX = 8, PIDS_MAX = 8192 };

struct question_head {
	uint64_t at_ns;
	bool has_pids, is_full;
	size_t pids;
};

struct question {
	struct question_head head;
	pid_t pid[PIDS_MAX]; /* sorted; only head.pids of them are sent */
};

struct answer_head {
	char text[TRK_GPU_TEXT_SIZE];
	bool none;
	uint64_t programs_cpu_ns; /* of the programs that the worker has started */
};

/* Sent once the sources were tried, with an empty reading, and in answer to each question. */
struct answer {
	struct answer_head head;
	struct trk_gpu_reading reading;
};

enum {
	QUESTION_HEAD = offsetof(struct question, pid),
	ANSWER_HEAD = offsetof(struct answer, reading),
	READING_HEAD = offsetof(struct trk_gpu_reading, device),
};

struct trk_gpu_poller {
	struct trk_env env; /* borrowed */
	enum trk_gpu_mode mode;
	const struct trk_gpu_hints *hints;        /* borrowed */
	const struct trk_gpu_ops *const *sources; /* borrowed */

	struct trk_worker worker;
	unsigned int starts;
	bool ready, none;       /* all sources were tried; none of them opened, or can be used */
	bool waits, is_pending; /* a question was not answered yet; another one is to be sent */
	bool given_up;          /* _take does not wait until the worker has answered */
	bool silent;            /* the newest answer is too old */
	bool crashed;           /* the worker has ended, and none has answered since */
	struct question next;
	size_t received; /* bytes of the answer that has arrived in part */
	struct answer answer;

	struct trk_gpu_reading newest;
	char text[TRK_GPU_TEXT_SIZE];
	char end[64]; /* how the worker ended; empty: it did not */
	char text_view[TRK_GPU_TEXT_SIZE];
};

/* ---- the worker: it opens the sources and reads the figures of their devices ---- */

struct reader {
	struct trk_env env; /* borrowed */
	struct trk_gpu_hints hints;
	const struct trk_gpu_ops *source[SOURCES_MAX];
	int opened[SOURCES_MAX];  /* error text of its open */
	void *state[SOURCES_MAX]; /* NULL: not open */
	size_t sources;
	bool is_open, none; /* all sources were tried; none of them opened */
	pid_t pid[PIDS_MAX];
	struct trk_gpu_scan scan;
	struct trk_gpu_attributor attributor;
	struct trk_gpu_reading reading;
	char text[TRK_GPU_TEXT_SIZE]; /* names the working sources, or says why there is none */
};

#define X(name) &trk__gpu_##name,
const struct trk_gpu_ops *const trk__gpu_sources[] = {TRK_GPU_SOURCE_LIST(X) NULL};
#undef X

/* NULL where no source is likely, or without memory. Free with free(3). */
static struct reader *reader_new(const struct trk_env *env, enum trk_gpu_mode mode,
				 const struct trk_gpu_hints *hints,
				 const struct trk_gpu_ops *const *sources)
{
	struct reader *r = mode == TRK_GPU_NEVER ? NULL : calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	for (sources = sources ? sources : trk__gpu_sources; *sources && r->sources < SOURCES_MAX;
	     sources++)
		if (mode == TRK_GPU_ALWAYS || (*sources)->is_likely(env))
			r->source[r->sources++] = *sources;
	if (r->sources == 0) {
		free(r);
		return NULL;
	}
	r->env = r->attributor.env = *env;
	if (hints)
		r->hints = r->attributor.hints = *hints;
	return r;
}

/* True without instead_of, or if instead_of was tried and cannot be loaded. */
static bool is_wanted(const struct reader *r, size_t index)
{
	const struct trk_gpu_ops *other = r->source[index]->instead_of;

	for (size_t i = 0; other && i < index; i++)
		if (r->source[i] == other)
			return r->opened[i] == -ELIBACC;
	return !other;
}

static void append(char text[TRK_GPU_TEXT_SIZE], const char *between, const char *more)
{
	size_t used = strlen(text);

	(void) snprintf(text + used, TRK_GPU_TEXT_SIZE - used, "%s%s", used ? between : "", more);
}

/* Describe the working sources, each with its current error; or the reason why there is none. */
static void describe(struct reader *r, const char *why)
{
	r->text[0] = '\0';
	for (size_t i = 0; i < r->sources; i++) {
		char wrong[TRK_GPU_TEXT_SIZE] = "";

		if (!r->state[i])
			continue;
		append(r->text, ", ", r->source[i]->name);
		if (r->source[i]->say)
			r->source[i]->say(r->state[i], wrong);
		if (wrong[0])
			append(r->text, ": ", wrong);
	}
	if (!r->is_open)
		r->none = !r->text[0];
	r->is_open = true;
	if (!r->text[0])
		append(r->text, "", why[0] ? why : "no GPU found");
}

static void open_sources(struct reader *r)
{
	char why[TRK_GPU_TEXT_SIZE] = "";

	for (size_t i = 0; i < r->sources; i++) {
		char reason[TRK_GPU_TEXT_SIZE] = "";

		if (!is_wanted(r, i))
			continue;
		r->opened[i] = r->source[i]->open(&r->env, &r->hints, &r->state[i], reason);
		if (r->opened[i] == 0)
			continue;
		r->state[i] = NULL;
		if (!why[0] || r->source[i]->instead_of)
			append(why, "; ", reason);
	}
	describe(r, why);
}

/* Read the figures of the devices, for the processes in r->scan. */
static void poll_sources(struct reader *r)
{
	r->scan.devices = r->scan.processes = 0;
	r->scan.now_ns = r->env.monotonic_ns();
	r->scan.wall_us = r->env.wall_ns() / 1000;
	for (size_t i = 0; i < r->sources; i++)
		if (r->state[i])
			r->source[i]->poll(r->state[i], &r->scan);
	trk__gpu_attribute(&r->attributor, &r->scan);
	r->reading.devices = r->scan.devices;
	memcpy(r->reading.device, r->scan.device, r->scan.devices * sizeof(r->scan.device[0]));
	trk__gpu_sum(r->reading.device, r->reading.devices, &r->reading.sums);
	describe(r, "");
}

/* The slow work, when the reading was passed on. */
static void rest(struct reader *r)
{
	for (size_t i = 0; i < r->sources; i++)
		if (r->state[i] && r->source[i]->rest)
			r->source[i]->rest(r->state[i]);
}

static void close_sources(struct reader *r)
{
	for (size_t i = 0; i < r->sources; i++)
		if (r->state[i])
			r->source[i]->close(r->state[i]);
}

static bool send_answer(const struct reader *r, int fd)
{
	struct answer_head head = {.none = r->none};

	memcpy(head.text, r->text, sizeof(head.text));
	(void) trk__helper_process_cpu_ns(&head.programs_cpu_ns);
	return trk__worker_send(fd, &head, ANSWER_HEAD) &&
	       trk__worker_send(fd, &r->reading,
				READING_HEAD + r->reading.devices * sizeof(r->reading.device[0]));
}

static bool take_question(struct reader *r, int fd)
{
	struct question_head head;

	if (!trk__worker_receive(fd, &head, QUESTION_HEAD) ||
	    !trk__worker_receive(fd, r->pid, head.pids * sizeof(r->pid[0])))
		return false;
	r->reading.at_ns = head.at_ns;
	r->scan.pid = head.has_pids ? r->pid : NULL;
	r->scan.pids = head.pids;
	r->scan.is_full = head.is_full;
	return true;
}

static void work(int fd, void *data)
{
	struct reader *r = data;

	open_sources(r);
	if (send_answer(r, fd) && !r->none)
		while (take_question(r, fd)) {
			poll_sources(r);
			if (!send_answer(r, fd))
				break;
			rest(r);
		}
	close_sources(r);
}

/* ---- the tracker's side: the life of the worker ---- */

static bool start(struct trk_gpu_poller *p)
{
	struct trk_worker_options options = {
		.name = "rt-gpu",
		.env = &p->env,
		.as_thread = !p->hints,
		.run = work,
		.data = reader_new(&p->env, p->mode, p->hints, p->sources),
		.release = free,
	};

	p->starts++;
	return options.data && trk__worker_start(&p->worker, &options) == 0;
}

static void describe_end(struct trk_gpu_poller *p, int status)
{
	const char *name = WIFSIGNALED(status) ? trk__signal_name(WTERMSIG(status)) : NULL;

	if (!WIFSIGNALED(status))
		(void) snprintf(p->end, sizeof(p->end),
				"the driver's library ended the process with exit code %d",
				WEXITSTATUS(status));
	else
		(void) snprintf(p->end, sizeof(p->end), "the driver's library %s (SIG%s)",
				WTERMSIG(status) == SIGKILL ? "was killed" : "crashed",
				name ? name : "?");
}

static bool is_waiting(const struct trk_gpu_poller *p)
{
	return p->worker.fd >= 0 && (p->waits || p->is_pending);
}

/* All figures of the known devices are unknown from now on. */
static void lose_devices(struct trk_gpu_poller *p)
{
	struct trk_gpu_reading *r = &p->newest;

	for (size_t i = 0; i < r->devices; i++)
		trk__gpu_set_unknown(&r->device[i], TRK_GPU_CRASHED);
	trk__gpu_sum(r->device, r->devices, &r->sums);
	p->crashed = true;
}

/* The stream has ended. The process may still be about to end: then the next call looks again. */
static void lose_worker(struct trk_gpu_poller *p)
{
	trk__worker_end(&p->worker);
	p->received = 0;
	p->waits = p->is_pending = p->given_up = false;
	if (p->none)
		return;
	lose_devices(p);
	memcpy(p->text, p->end, sizeof(p->end));
	p->ready = p->none = p->starts == STARTS_MAX;
}

static void take_end(struct trk_gpu_poller *p)
{
	int status = 0;

	p->waits = p->is_pending = p->given_up = false;
	if (p->worker.process.slot >= 0 && !trk__helper_process_ended(&p->worker.process, &status))
		return;
	describe_end(p, status);
	lose_worker(p);
}

/* ---- questions and answers ---- */

/* A worker that has answered has read all questions: this one has room in the socket. */
static void send_question(struct trk_gpu_poller *p)
{
	if (!p->is_pending || p->waits || p->worker.fd < 0)
		return;
	p->is_pending = false;
	p->waits = true;
	(void) trk__os_send(p->worker.fd, &p->next,
			    QUESTION_HEAD + p->next.head.pids * sizeof(p->next.pid[0]));
}

/* A library that writes where it must not may have damaged the answer. */
static void repair(struct trk_gpu_device *d)
{
	d->name[sizeof(d->name) - 1] = d->uuid[sizeof(d->uuid) - 1] = '\0';
	d->bus[sizeof(d->bus) - 1] = d->driver[sizeof(d->driver) - 1] = '\0';
	d->vendor[sizeof(d->vendor) - 1] = '\0';
	if (d->parent < 0 || d->parent >= TRK_GPUS_MAX)
		d->parent = -1;
	if ((unsigned int) d->basis >= TRK_GPU_BASES)
		d->basis = TRK_GPU_BY_OPEN;
	for (int i = 0; i < TRK_GPU_METRICS; i++)
		if ((unsigned int) d->metric[i].why >= TRK_GPU_WHYS)
			d->metric[i] = trk__gpu_unknown(TRK_GPU_FAILED);
}

static void take_answer(struct trk_gpu_poller *p)
{
	const struct answer *a = &p->answer;

	(void) snprintf(p->text, sizeof(p->text), "%.*s", TRK_GPU_TEXT_SIZE - 1, a->head.text);
	trk__helper_process_started_cpu_ns(&p->worker.process, a->head.programs_cpu_ns);
	p->received = 0;
	if (!p->ready) {
		p->none = a->head.none;
		p->ready = true;
		return;
	}
	p->newest = a->reading;
	for (size_t i = 0; i < p->newest.devices; i++)
		repair(&p->newest.device[i]);
	trk__gpu_sum(p->newest.device, p->newest.devices, &p->newest.sums);
	p->waits = p->given_up = p->crashed = false;
	send_question(p);
}

/* The length of the answer as far as it is known. */
static size_t answer_length(const struct trk_gpu_poller *p)
{
	const struct trk_gpu_reading *r = &p->answer.reading;

	if (p->received < ANSWER_HEAD + READING_HEAD)
		return ANSWER_HEAD + READING_HEAD;
	return ANSWER_HEAD + READING_HEAD +
	       (r->devices < TRK_GPUS_MAX ? r->devices : TRK_GPUS_MAX) * sizeof(r->device[0]);
}

/* Take what the worker has sent, without waiting. */
static void receive(struct trk_gpu_poller *p)
{
	while (p->worker.fd >= 0) {
		ssize_t n = trk__os_receive(p->worker.fd, (char *) &p->answer + p->received,
					    answer_length(p) - p->received);

		if (n == -EAGAIN)
			return;
		if (n <= 0) {
			take_end(p);
			return;
		}
		p->received += (size_t) n;
		if (p->received >= ANSWER_HEAD + READING_HEAD &&
		    p->answer.reading.devices > TRK_GPUS_MAX) {
			(void) snprintf(p->end, sizeof(p->end),
					"the driver's library damaged its figures");
			lose_worker(p);
			return;
		}
		if (p->received == answer_length(p))
			take_answer(p);
	}
}

/* Take what has arrived, and start the worker again after its first end. */
static void follow(struct trk_gpu_poller *p)
{
	receive(p);
	if (p->worker.fd < 0 && !p->none && !start(p))
		p->ready = p->none = true;
}

/* False once the time is over. */
static bool await(const struct trk_gpu_poller *p, uint64_t until_ns)
{
	struct pollfd fd = {.fd = p->worker.fd, .events = POLLIN};
	uint64_t now_ns = trk__clock_monotonic_ns();

	return now_ns < until_ns &&
	       poll(&fd, 1, (int) ((until_ns - now_ns + TRK_NS_PER_MS - 1) / TRK_NS_PER_MS)) > 0;
}

/* ---- for the caller ---- */

struct trk_gpu_poller *trk__gpu_poller_new(const struct trk_env *env, enum trk_gpu_mode mode,
					   const struct trk_gpu_hints *hints,
					   const struct trk_gpu_ops *const *sources)
{
	struct trk_gpu_poller *p = mode == TRK_GPU_NEVER ? NULL : calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->env = *env;
	p->mode = mode;
	p->hints = hints;
	p->sources = sources;
	p->worker = TRK_WORKER_NONE;
	(void) snprintf(p->text, sizeof(p->text), "the driver has not answered yet");
	if (start(p))
		return p;
	free(p);
	return NULL;
}

void trk__gpu_poller_free(struct trk_gpu_poller *p)
{
	if (!p)
		return;
	trk__worker_end(&p->worker);
	free(p);
}

void trk__gpu_poller_ask(struct trk_gpu_poller *p, const pid_t *pid, size_t pids)
{
	struct question *q = &p->next;

	follow(p);
	q->head.pids = pids < PIDS_MAX ? pids : PIDS_MAX;
	q->head.has_pids = pid != NULL;
	if (pid && pids) {
		memcpy(q->pid, pid, q->head.pids * sizeof(*pid));
		trk__gpu_sort_pids(q->pid, q->head.pids);
	}
	q->head.at_ns = p->env.monotonic_ns();
	p->is_pending = true;
	send_question(p);
}

void trk__gpu_poller_force_full(struct trk_gpu_poller *p)
{
	p->next.head.is_full = true;
}

const struct trk_gpu_reading *trk__gpu_poller_take(struct trk_gpu_poller *p, uint64_t wait_ns,
						   uint64_t max_age_ns)
{
	uint64_t until_ns = trk__clock_monotonic_ns() + wait_ns;
	bool is_fresh;

	receive(p);
	/* After a timeout, do not wait again until the worker has answered. */
	if (p->ready && !p->none && !p->given_up) {
		while (is_waiting(p) && await(p, until_ns))
			receive(p);
		p->given_up = is_waiting(p);
	}
	if (p->crashed)
		p->newest.at_ns = p->newest.devices ? p->next.head.at_ns : 0;
	is_fresh = p->newest.at_ns && p->env.monotonic_ns() - p->newest.at_ns <= max_age_ns;
	p->silent = p->ready && !p->none && !is_fresh;
	return is_fresh ? &p->newest : NULL;
}

const char *trk__gpu_poller_text(struct trk_gpu_poller *p)
{
	bool is_again = p->ready && !p->none && p->end[0];

	(void) snprintf(p->text_view, sizeof(p->text_view), "%.90s%s%s%s%s", p->text,
			p->silent ? ": " : "",
			p->silent ? trk__gpu_why_text(TRK_GPU_NO_ANSWER) : "",
			is_again ? ", started again: " : "", is_again ? p->end : "");
	return p->text_view;
}

enum trk_gpu_poller_state trk__gpu_poller_state(struct trk_gpu_poller *p)
{
	follow(p);
	return !p->ready ? TRK_GPU_OPENING : p->none ? TRK_GPU_USELESS : TRK_GPU_OPENED;
}
