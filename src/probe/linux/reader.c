#include "probe/reader.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"
#include "probe/linux/worker.h"

/* How long an answer is waited for: while the worker waits in the kernel, and in any case. */
#define BLOCKED_NS (30 * TRK_NS_PER_MS)
#define WAIT_NS    (200 * TRK_NS_PER_MS)
/* All waits together: this much, and 1/CREDIT_PART of the time. On a busy machine the workers may get
 * a CPU late, and the tracker must not wait for each of many processes. */
#define CREDIT_NS (300 * TRK_NS_PER_MS)
/* After a worker could not be started: a limit of processes, which the job needs itself. */
#define PAUSE_NS (30 * TRK_NS_PER_S)
enum { CREDIT_PART = 4 };

enum { PATH_SIZE = 64, WAIT_MS = 10, ARGUMENTS_MAX = 256 };

enum reading_kind { READ_FILE, READ_SIZES };

/* Shared with a worker. The tracker writes a question, sends a byte, and leaves the slot alone until
 * the worker has answered with a byte. */
struct slot {
	_Atomic uint64_t since_ns; /* when the worker began to read; 0: it has not */
	enum reading_kind kind;
	char path[PATH_SIZE]; /* READ_FILE: below /proc */
	size_t size;          /* READ_SIZES: of text */
	ssize_t result;
	uint64_t sum_bytes, cost_ns;
	char text[TRK_READING_MAX]; /* the content; READ_SIZES: paths, each with a NUL */
};

struct reading {
	struct trk_worker worker;
	struct slot *slot; /* owned; NULL: the worker was never started */
	uint64_t key;
	bool is_asked; /* the answer was not taken yet */
};

struct trk_reader {
	struct trk_env env;
	bool as_thread;
	uint64_t credit_ns, credit_at_ns; /* remaining time for waits, and when it was computed */
	uint64_t start_at_ns;             /* no worker is started before */
	struct reading reading[TRK_READERS_MAX];
};

/* ---- the worker ---- */

struct serve {
	struct trk_env env;
	struct slot *slot; /* borrowed: stays mapped while a thread may block */
};

static void read_sizes(struct slot *s)
{
	struct stat st;

	s->sum_bytes = 0;
	for (size_t at = 0; at < s->size; at += strlen(s->text + at) + 1)
		if (stat(s->text + at, &st) == 0 && S_ISREG(st.st_mode))
			s->sum_bytes += (uint64_t) st.st_size;
}

static void serve(int fd, void *data)
{
	const struct serve *w = data;
	struct slot *s = w->slot;
	char byte;

	while (trk__worker_receive(fd, &byte, 1)) {
		uint64_t start_ns = trk__clock_thread_cpu_ns();

		atomic_store(&s->since_ns, trk__clock_monotonic_ns());
		if (s->kind == READ_SIZES)
			read_sizes(s);
		else
			s->result = trk__read_once_at(w->env.proc_fd, s->path, s->text,
						      sizeof(s->text));
		s->cost_ns = trk__clock_thread_cpu_ns() - start_ns;
		if (!trk__worker_send(fd, &byte, 1))
			return;
	}
}

/* ---- the tracker ---- */

struct trk_reader *trk__reader_new(const struct trk_env *env, bool as_thread)
{
	struct trk_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->env = *env;
	r->as_thread = as_thread;
	r->credit_ns = CREDIT_NS;
	r->credit_at_ns = trk__clock_monotonic_ns();
	for (int i = 0; i < TRK_READERS_MAX; i++)
		r->reading[i].worker = TRK_WORKER_NONE;
	return r;
}

/* A thread that blocks goes on using its slot. */
static void stop(const struct trk_reader *r, struct reading *g)
{
	trk__worker_end(&g->worker);
	if (g->slot && !(r->as_thread && g->is_asked))
		(void) munmap(g->slot, sizeof(*g->slot));
	g->slot = NULL;
	g->is_asked = false;
}

void trk__reader_free(struct trk_reader *r)
{
	if (!r)
		return;
	for (int i = 0; i < TRK_READERS_MAX; i++)
		stop(r, &r->reading[i]);
	free(r);
}

static int start(const struct trk_reader *r, struct reading *g)
{
	struct serve *data = malloc(sizeof(*data));
	struct trk_worker_options options = {
		.name = "rt-reader",
		.env = &r->env,
		.as_thread = r->as_thread,
		.run = serve,
		.data = data,
		.release = free,
	};
	void *at = mmap(NULL, sizeof(*g->slot), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);

	if (!data || at == MAP_FAILED) {
		free(data);
		if (at != MAP_FAILED)
			(void) munmap(at, sizeof(*g->slot));
		return -ENOMEM;
	}
	g->slot = at;
	*data = (struct serve){r->env, g->slot};
	return trk__worker_start(&g->worker, &options);
}

/* Take the worker's byte, waiting for up to wait_ms. True: it has answered. */
static bool has_answered(struct reading *g, int wait_ms)
{
	struct pollfd answer = {.fd = g->worker.fd, .events = POLLIN};
	char byte;

	if (!g->is_asked)
		return true;
	if (poll(&answer, 1, wait_ms) <= 0 || recv(g->worker.fd, &byte, 1, MSG_DONTWAIT) != 1)
		return false;
	g->is_asked = false;
	return true;
}

/* 0, -EINPROGRESS, or -EIO if the worker has ended. */
static int await_until(const struct trk_reader *r, struct reading *g, uint64_t until_ns)
{
	for (;;) {
		uint64_t now_ns = trk__clock_monotonic_ns(), since_ns;

		if (has_answered(g, now_ns < until_ns ? WAIT_MS : 0))
			return 0;
		now_ns = trk__clock_monotonic_ns();
		since_ns = atomic_load(&g->slot->since_ns);
		if (trk__worker_has_ended(&g->worker))
			return -EIO;
		if (now_ns >= until_ns || (since_ns && now_ns > since_ns + BLOCKED_NS &&
					   !trk__worker_runs(&g->worker, &r->env)))
			return -EINPROGRESS;
	}
}

static int await(struct trk_reader *r, struct reading *g)
{
	uint64_t now_ns = trk__clock_monotonic_ns(), used_ns;
	int error;

	r->credit_ns += (now_ns - r->credit_at_ns) / CREDIT_PART;
	if (r->credit_ns > CREDIT_NS)
		r->credit_ns = CREDIT_NS;
	error = await_until(r, g, now_ns + (r->credit_ns < WAIT_NS ? r->credit_ns : WAIT_NS));
	r->credit_at_ns = trk__clock_monotonic_ns();
	used_ns = r->credit_at_ns - now_ns;
	r->credit_ns -= used_ns < r->credit_ns ? used_ns : r->credit_ns;
	return error;
}

static bool is_same(const struct reading *g, enum reading_kind kind, uint64_t key, const char *path)
{
	return g->slot && g->key == key && g->slot->kind == kind && !strcmp(g->slot->path, path);
}

/* A reading with this question that blocked before. NULL: none. */
static struct reading *find(struct trk_reader *r, enum reading_kind kind, uint64_t key,
			    const char *path)
{
	for (int i = 0; i < TRK_READERS_MAX; i++)
		if (r->reading[i].is_asked && is_same(&r->reading[i], kind, key, path))
			return &r->reading[i];
	return NULL;
}

/* A worker without a question, started if there is none. NULL: all are blocked. */
static struct reading *idle(struct trk_reader *r)
{
	for (int i = 0; i < TRK_READERS_MAX; i++) {
		struct reading *g = &r->reading[i];

		if (g->slot && trk__worker_has_ended(&g->worker))
			stop(r, g);
		if (!g->slot && trk__clock_monotonic_ns() < r->start_at_ns)
			return NULL;
		if (!g->slot && start(r, g) < 0) {
			r->start_at_ns = trk__clock_monotonic_ns() + PAUSE_NS;
			stop(r, g);
			return NULL;
		}
		if (has_answered(g, 0)) /* also an answer that was not asked for again */
			return g;
	}
	return NULL;
}

static int ask(struct trk_reader *r, struct reading *g, enum reading_kind kind, uint64_t key,
	       const char *path)
{
	g->key = key;
	g->slot->kind = kind;
	(void) snprintf(g->slot->path, sizeof(g->slot->path), "%s", path);
	atomic_store(&g->slot->since_ns, 0);
	if (send(g->worker.fd, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT) != 1)
		return -EAGAIN;
	g->is_asked = true;
	return await(r, g);
}

/* A reading that blocked before, or a new one. 0 with *ret, or as trk__reader_read(); -ENOLCK: there
 * is no worker. */
static int get_answer(struct trk_reader *r, uint64_t key, const char *path, struct reading **ret)
{
	struct reading *g = find(r, READ_FILE, key, path);
	int error = 0;

	if (!g) {
		g = idle(r);
		if (!g)
			return r->reading[0].slot ? -EAGAIN : -ENOLCK;
		error = ask(r, g, READ_FILE, key, path);
	} else if (!has_answered(g, 0)) {
		error = trk__worker_has_ended(&g->worker) ? -EIO : -EINPROGRESS;
	}
	if (error == -EIO)
		stop(r, g);
	*ret = g;
	return error;
}

static ssize_t read_directly(const struct trk_env *env, const char *path, char *text, size_t size,
			     uint64_t *ret_ns)
{
	uint64_t start_ns = env->thread_cpu_ns();
	ssize_t len = trk__read_once_at(env->proc_fd, path, text, size);

	*ret_ns = env->thread_cpu_ns() - start_ns;
	return len;
}

ssize_t trk__reader_read(struct trk_reader *r, const struct trk_env *env, uint64_t key,
			 const char *path, char *text, size_t size, uint64_t *ret_ns)
{
	uint64_t start_ns = env->thread_cpu_ns();
	struct reading *g = NULL;
	int error = r ? get_answer(r, key, path, &g) : -ENOLCK;
	ssize_t len;

	*ret_ns = 0;
	if (error == -ENOLCK)
		return read_directly(env, path, text, size, ret_ns);
	if (error < 0)
		return error;
	len = g->slot->result;
	*ret_ns = g->slot->cost_ns + env->thread_cpu_ns() - start_ns;
	if (len >= (ssize_t) size)
		len = -EFBIG;
	if (len >= 0 || len == -EFBIG) {
		memcpy(text, g->slot->text, size < TRK_READING_MAX ? size : TRK_READING_MAX);
		text[len >= 0 ? (size_t) len : size - 1] = '\0';
	}
	return len;
}

/* The paths that the arguments name, as arguments or after a '=' in an option, each with a NUL.
 * Those that do not fit are left out. Returns the size of all; `text` may be NULL. */
static size_t gather_paths(char *const argv[], char text[TRK_READING_MAX])
{
	size_t used = 0;

	for (int i = 1; i <= ARGUMENTS_MAX && argv[i]; i++) {
		const char *equals = argv[i][0] == '-' ? strchr(argv[i], '=') : NULL;
		const char *path = equals ? equals + 1 : argv[i];
		size_t len = strlen(path) + 1;

		if (!*path || *path == '-' || used + len > TRK_READING_MAX)
			continue;
		if (text)
			memcpy(text + used, path, len);
		used += len;
	}
	return used;
}

uint64_t trk__reader_input_bytes(struct trk_reader *r, char *const argv[])
{
	struct reading *g;

	if (!r || !argv[0] || gather_paths(argv, NULL) == 0)
		return 0;
	g = idle(r);
	if (!g)
		return 0;
	g->slot->size = gather_paths(argv, g->slot->text);
	if (ask(r, g, READ_SIZES, 0, "") < 0)
		return 0;
	return g->slot->sum_bytes;
}
