#include "sample/stacks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "probe/stack/interpreter.h"
#include "sample/process_files.h"
#include "sample/stack_charge.h"

enum {
	PYTHONS_MAX = 64, /* of these that are read */
	LOOKS_MAX = 4,    /* processes sampled in one round */
	CUTS_MAX = 8,     /* looks at a process that spend their budget: then it is not read */
	FAST_HZ = 100,
	FAULTS_THREADS = 8, /* of a process, whose page faults are counted */
};

#define FAST_NS       (10 * TRK_NS_PER_S) /* at the start, so that short jobs have samples */
#define SETTLE_NS     TRK_NS_PER_S
#define LOOK_NS       (100 * TRK_NS_PER_MS)
#define LOOK_MAX_NS   (60 * TRK_NS_PER_S)
#define LATE_NS       (250 * UINT64_C(1000))
#define LOOKS_MAX_NS  (20 * TRK_NS_PER_MS)  /* of CPU time, before one more process is checked */
#define ROUND_MAX_NS  (100 * TRK_NS_PER_MS) /* of CPU time, before one more is sampled */
#define PERIOD_MAX    (4 * TRK_NS_PER_S)
#define FAULTS_MAX_NS (500 * UINT64_C(1000))
#define PAIR_NS       (200 * UINT64_C(1000))
#define PAIR_MAX_NS   TRK_NS_PER_MS
#define WALL_MAX_NS   (10 * TRK_NS_PER_S)
/* The budget is 0.1 % of a core at TRK_STACKS_HZ, and proportional at other rates. Half of the
 * first minute's budget is there at the start; it grows again in a time without samples. */
#define BUDGET_SHARE 0.001
#define LENT_NS      (30.0 * TRK_NS_PER_MS)
#define LENT_FOR_NS  (60 * TRK_NS_PER_S)
#define SPEND_NS     (10.0 * TRK_NS_PER_S) /* time in which most of the saved budget is spent */
#define ROUND_NS     (50.0 * 1000)         /* cost of a round until it is known */
#define WAKE_MAX_NS  (60 * UINT64_C(1000)) /* a longer gap: the thread did other work */

struct trk_stacks {
	struct trk_stacks_options options;
	struct trk_lines *lines;             /* borrowed */
	struct trk_sampled_process *watched; /* owned: TRK_SAMPLED_PROCESSES */
	size_t pythons;
	struct trk_process_files files;
	struct trk_remote *remote; /* owned */
	struct trk_native *native; /* owned; NULL: none is sampled */
	pid_t remote_pid;
	uint64_t start_ns, next_ns, round_at_ns, settle_ns, period_ns;
	uint64_t probe_ns; /* the next look at memory that grows; UINT64_MAX: none */
	uint64_t cost_ns, paid_cost_ns, rounds;
	size_t turn;               /* the process that the next round begins with */
	uint64_t left_cpu_ns;      /* CPU clock of the thread at the end of the last tick */
	double saved_ns, round_ns; /* remaining budget; recent cost of a round */
	uint64_t probe_cost_ns;    /* bounded by the memory that the job takes, not by the budget */
	uint64_t random;
	struct trk_lines_sums window;
	/* State of the current walk. */
	struct trk_sampled_process *walked;
	uint64_t wall_ns, now_ns;
	bool is_late, is_probe;
};

/* Read a process, and tell the observer which one meanwhile. */
static void read_observed(struct trk_stacks *s, struct trk_sampled_process *w,
			  void (*read)(struct trk_stacks *s, struct trk_sampled_process *w))
{
	trk__stacks_reading_set(s->options.reading, w->pid, s->files.env.monotonic_ns());
	read(s, w);
	trk__stacks_reading_set(s->options.reading, 0, 0);
}

/* ---- which processes ---- */

static void note_process(struct trk_stacks *s, const struct trk_sampled_process *w)
{
	struct trk_lines_process note = {.pid = w->pid, .why = w->why};

	(void) snprintf(note.name, sizeof(note.name), "%s", w->name);
	if (w->python)
		note.version = trk__cpython_version(w->python);
	trk__lines_process(s->lines, &note);
}

static void drop_threads(struct trk_stacks *s, struct trk_sampled_process *w)
{
	for (size_t i = 0; i < w->threads; i++)
		trk__process_file_close(&s->files, &w->thread[i].stat_fd);
	w->threads = 0;
}

static void drop_python(struct trk_stacks *s, struct trk_sampled_process *w)
{
	if (!w->python)
		return;
	trk__growth_settle(&w->growth, s->lines, s->now_ns, true, &s->window);
	w->growth = (struct trk_growth){.lines = 0};
	trk__cpython_free(w->python);
	w->python = NULL;
	s->pythons--;
	drop_threads(s, w);
}

/* Check whether it runs Python, at growing intervals. */
static void look_at(struct trk_stacks *s, struct trk_sampled_process *w)
{
	enum trk_stack_why why;

	drop_python(s, w);
	w->wait_ns = w->wait_ns ? w->wait_ns * 2 : LOOK_NS;
	if (w->wait_ns > LOOK_MAX_NS)
		w->wait_ns = LOOK_MAX_NS;
	w->look_ns = s->now_ns + w->wait_ns;
	w->has_changed = false;
	trk__process_name(&s->files, w->pid, w->name, sizeof(w->name));
	s->remote_pid = w->pid;
	why = s->pythons >= PYTHONS_MAX
		      ? TRK_STACK_TOO_MANY
		      : trk__interpreter_open(&s->files.env, w->pid, s->remote, &w->python);
	s->pythons += w->python != NULL;
	w->is_fresh = true;
	w->why = why;
	note_process(s, w);
	if (w->python)
		trk__process_note_user(&s->files, w->pid, s->lines);
}

static struct trk_sampled_process *find_or_add(struct trk_stacks *s, pid_t pid)
{
	struct trk_sampled_process *free_one = NULL;

	for (size_t i = 0; i < TRK_SAMPLED_PROCESSES; i++) {
		struct trk_sampled_process *w = &s->watched[i];

		if (w->pid == pid)
			return w;
		if (w->pid == 0 && !free_one)
			free_one = w;
	}
	if (free_one)
		*free_one = (struct trk_sampled_process){.pid = pid,
							 .has_changed = true,
							 .statm_fd = -1,
							 .stat_fd = -1,
							 .why = TRK_STACK_STARTING};
	return free_one;
}

static void settle(struct trk_stacks *s, struct trk_sampled_process *w, bool last);

static void forget(struct trk_stacks *s, struct trk_sampled_process *w)
{
	settle(s, w, true);
	drop_python(s, w);
	trk__native_drop(s->native, w);
	trk__process_file_close(&s->files, &w->statm_fd);
	trk__process_file_close(&s->files, &w->stat_fd);
	trk__lines_sums_release(&w->second);
	w->pid = 0;
}

/* Detect an exec by the link to the executable, at most once a second. A process that ends has
 * none. */
static void check_exec(struct trk_stacks *s, struct trk_sampled_process *w)
{
	uint64_t exe = trk__process_exe(&s->files, w->pid);

	if (!exe || exe == w->exe)
		return;
	w->exe = exe;
	w->has_changed = true;
	w->wait_ns = 0;
	trk__native_exec(w);
}

static void look_for_native(struct trk_stacks *s, struct trk_sampled_process *w)
{
	trk__native_look(s->native, w, s->now_ns);
}

/* The number of further looks in this walk of the tree, whose first one began at this CPU time. */
static int looks_left(int looks, uint64_t cpu_ns)
{
	return trk__clock_thread_cpu_ns() - cpu_ns < LOOKS_MAX_NS ? looks : 0;
}

void trk__stacks_follow(struct trk_stacks *s, const pid_t *pid, size_t count, uint64_t now_ns)
{
	uint64_t before = trk__clock_thread_cpu_ns();
	int looks = LOOKS_MAX;

	s->now_ns = now_ns;
	/* While the sampled processes still exist. */
	trk__native_drain(s->native, now_ns, &s->window);
	for (size_t i = 0; i < TRK_SAMPLED_PROCESSES; i++)
		s->watched[i].seen = false;
	for (size_t i = 0; i < count; i++) {
		struct trk_sampled_process *w = find_or_add(s, pid[i]);

		if (!w)
			continue;
		w->seen = true;
		check_exec(s, w);
		if (looks > 0 && (w->has_changed || (!w->python && now_ns >= w->look_ns))) {
			read_observed(s, w, look_at);
			looks = looks_left(looks - 1, before);
		}
		if (!w->has_changed)
			read_observed(s, w, look_for_native);
	}
	for (size_t i = 0; i < TRK_SAMPLED_PROCESSES; i++)
		if (s->watched[i].pid && !s->watched[i].seen)
			forget(s, &s->watched[i]);
	if (s->next_ns == UINT64_MAX && s->pythons)
		s->next_ns = now_ns;
	s->cost_ns += trk__clock_thread_cpu_ns() - before;
}

/* ---- a stack ---- */

static uint32_t function_of(struct trk_stacks *s, struct trk_cpython_code *code)
{
	if (!code->user)
		code->user = 1 + (s->options.base_names ? trk__lines_base_function
							: trk__lines_function)(
					 s->lines, code->file, code->name, code->first_line);
	return code->user - 1;
}

/* During an import, code of libraries is charged to the first module of a library, up to the next
 * code of the user: otherwise the imports of one program have hundreds of stacks. */
static uint32_t node_of(struct trk_stacks *s, const struct trk_stack *stack)
{
	uint32_t node = TRK_LINES_ROOT;
	bool imports = false, is_below = false;

	if (stack->is_cut)
		node = trk__lines_node(s->lines, node,
				       trk__lines_function(s->lines, "", "(more calls)", 0), 0);
	for (unsigned int i = stack->depth; i-- > 0;) {
		uint32_t function = function_of(s, stack->frame[i].code);
		const struct trk_lines_function *f = &s->lines->function[function];

		if (!strncmp(f->file, "<frozen importlib", 17)) {
			imports = true;
			continue;
		}
		if (!f->is_library)
			imports = is_below = false;
		if (is_below)
			continue;
		is_below = imports;
		node = trk__lines_node(s->lines, node, function, stack->frame[i].line);
	}
	return node;
}

static struct trk_sampled_thread *thread_of(struct trk_stacks *s, struct trk_sampled_process *w,
					    const struct trk_stack *stack)
{
	pid_t tid = stack->tid ? stack->tid : stack->is_oldest ? w->pid : 0;
	struct trk_sampled_thread *t;

	for (size_t i = 0; i < w->threads; i++)
		if (w->thread[i].pthread == stack->thread && w->thread[i].tid == tid)
			return &w->thread[i];
	if (w->threads == TRK_STACK_THREADS)
		return NULL;
	t = &w->thread[w->threads++];
	*t = (struct trk_sampled_thread){.pthread = stack->thread, .tid = tid, .stat_fd = -1};
	t->lane = trk__lines_lane(s->lines, w->pid, tid, w->name);
	return t;
}

static void count_thread(struct trk_stacks *s, struct trk_sampled_process *w,
			 struct trk_sampled_thread *t)
{
	struct trk_lines_amounts *sum = trk__lines_sum(&w->second, t->lane, t->node);
	struct trk_lines_last last = {.lane = t->lane,
				      .node = t->node,
				      .at_us = (int64_t) ((s->now_ns - s->start_ns) / 1000),
				      .running = t->score != TRK_SCORE_WAITS};

	trk__lines_note_last(s->lines, &last);
	if (!sum)
		return;
	sum->samples++;
	sum->wall_us += s->wall_ns / 1000;
}

static void take_stack(void *data, struct trk_stack *stack)
{
	struct trk_stacks *s = data;
	struct trk_sampled_process *w = s->walked;
	struct trk_sampled_thread *t = thread_of(s, w, stack);

	if (!t)
		return;
	t->seen = true;
	if (s->is_probe) {
		t->probed_node = node_of(s, stack);
		return;
	}
	t->node = node_of(s, stack);
	if (stack->is_oldest)
		w->oldest_lane = t->lane;
	s->lines->samples++;
}

/* ---- memory ---- */

static void take_memory(struct trk_stacks *s, struct trk_sampled_process *w, bool has_cpu,
			uint64_t used_ns)
{
	struct trk_growth_sample sample = {.now_ns = s->now_ns};
	const struct trk_sampled_thread *t = trk__charge_memory_thread(w, &sample.alone);

	if (!t || trk__process_memory(&s->files, &w->statm_fd, w->pid, &sample.bytes) < 0)
		return;
	sample.node = t->node;
	sample.lane = t->lane;
	sample.is_look = has_cpu && t->ran && t->is_instant;
	sample.sign = trk__charge_sign(t);
	sample.cpu_ns = used_ns;
	sample.sleeps = t->score == TRK_SCORE_WAITS;
	trk__growth_take(&w->growth, s->lines, &sample, &s->window);
}

/* ---- samples ---- */

static void forget_unseen_threads(struct trk_stacks *s, struct trk_sampled_process *w)
{
	for (size_t i = w->threads; i-- > 0;) {
		if (w->thread[i].seen)
			continue;
		trk__process_file_close(&s->files, &w->thread[i].stat_fd);
		w->thread[i] = w->thread[--w->threads];
	}
}

/* Whether it is given up: its last look spent the budget, and so did several ones before. */
static bool takes_too_much(const struct trk_sampled_process *w)
{
	return w->cuts >= CUTS_MAX && w->why == TRK_STACK_TOO_MUCH;
}

/* Read the stacks of a process. False when it cannot be read any more, or takes too much. */
static bool walk(struct trk_stacks *s, struct trk_sampled_process *w)
{
	enum trk_stack_why before = w->why;
	unsigned int torn;
	int n;

	if (takes_too_much(w))
		return false;
	for (size_t i = 0; i < w->threads; i++)
		w->thread[i].seen = false;
	s->walked = w;
	s->remote_pid = w->pid;
	n = trk__cpython_walk(w->python, s->remote, take_stack, s, &torn);
	s->lines->torn += torn;
	w->cuts += s->remote->is_spent;
	w->why = s->remote->is_spent ? TRK_STACK_TOO_MUCH : TRK_STACK_READ;
	if (w->why != before)
		note_process(s, w);
	if (n < 0 || takes_too_much(w))
		return false;
	if (torn == 0 && !s->remote->is_spent && !s->is_probe)
		forget_unseen_threads(s, w);
	return true;
}

static int read_thread(struct trk_stacks *s, const struct trk_sampled_process *w,
		       struct trk_sampled_thread *t, struct trk_pid_stat *ret)
{
	return t->tid ? trk__process_state(&s->files, &t->stat_fd, w->pid, t->tid, ret) : -ENODATA;
}

/* Count the page faults of the threads: the first time for those that are known, then for all of
 * these. Faults of a thread that sleeps right before or after its stack is read were on another
 * line. */
static void count_faults(struct trk_stacks *s, struct trk_sampled_process *w, int round)
{
	struct trk_pid_stat state;

	for (size_t i = 0; i < w->threads && i < FAULTS_THREADS; i++) {
		struct trk_sampled_thread *t = &w->thread[i];

		if (round > 0 && !t->has_faults)
			continue;
		t->has_faults = read_thread(s, w, t, &state) == 0;
		/* A sleeping thread allocates no memory; in state D it may wait for a page. */
		if (!t->has_faults || ((round == 1 || round == 2) && !strchr("RD", state.state)))
			t->ran = false;
		t->faults[round] = t->has_faults ? state.minor_faults : 0;
	}
}

/* Read the stacks, with the page faults around that. False when the process cannot be read any
 * more. */
static bool walk_with_faults(struct trk_stacks *s, struct trk_sampled_process *w)
{
	uint64_t begin_ns = s->files.env.monotonic_ns();

	s->remote_pid = w->pid;
	for (size_t i = 0; i < w->threads; i++)
		w->thread[i].ran = w->thread[i].is_instant = i < FAULTS_THREADS;
	count_faults(s, w, 0);
	count_faults(s, w, 1);
	trk__cpython_fetch(w->python, s->remote);
	count_faults(s, w, 2);
	count_faults(s, w, 3);
	if (!walk(s, w))
		return false;
	if (s->remote->late > 0) { /* the lines were read after that */
		count_faults(s, w, 2);
		count_faults(s, w, 3);
	}
	/* The tracker was preempted in between: the faults may be of later lines. */
	if (s->files.env.monotonic_ns() - begin_ns > FAULTS_MAX_NS)
		for (size_t i = 0; i < w->threads; i++)
			w->thread[i].is_instant = false;
	return true;
}

static void look_at_states(struct trk_stacks *s, struct trk_sampled_process *w, bool has_cpu)
{
	for (size_t i = 0; i < w->threads; i++) {
		struct trk_sampled_thread *t = &w->thread[i];
		bool is_it = has_cpu && w->threads == 1;
		struct trk_pid_stat state;

		if (is_it || (read_thread(s, w, t, &state) == 0 && state.state == 'R'))
			t->score = s->is_late ? TRK_SCORE_LATE
				   : has_cpu  ? TRK_SCORE_HAS_CPU
					      : TRK_SCORE_COULD_RUN;
	}
}

/* Read stacks, states and memory of the process. False when it can no longer be read. */
static bool look(struct trk_stacks *s, struct trk_sampled_process *w, uint64_t used_ns)
{
	uint64_t after_ns;
	bool has_cpu;

	for (size_t i = 0; i < w->threads; i++)
		w->thread[i].ran = false;
	if (trk__growth_is_hot(&w->growth, s->now_ns) ? !walk_with_faults(s, w) : !walk(s, w))
		return false;
	has_cpu = trk__clock_pid_cpu_ns(w->pid, &after_ns) == 0 && after_ns > w->cpu_ns;
	look_at_states(s, w, has_cpu);
	take_memory(s, w, has_cpu, used_ns);
	return true;
}

/* Page faults of all threads of a process. */
static bool read_faults(struct trk_stacks *s, struct trk_sampled_process *w, uint64_t *ret)
{
	struct trk_pid_stat state;

	if (trk__process_state(&s->files, &w->stat_fd, w->pid, 0, &state) < 0)
		return false;
	*ret = state.minor_faults;
	return true;
}

/* Whether the process mostly ran since the previous probe. Stores the time of this one. */
static bool is_pair(struct trk_stacks *s, struct trk_sampled_process *w)
{
	uint64_t now_ns = s->files.env.monotonic_ns(), over_ns = now_ns - w->looked_ns;
	uint64_t cpu_ns = 0, used_ns;

	(void) trk__clock_pid_cpu_ns(w->pid, &cpu_ns);
	used_ns = cpu_ns - w->looked_cpu_ns;
	w->looked_cpu_ns = cpu_ns;
	w->looked_ns = now_ns;
	return over_ns <= PAIR_MAX_NS && used_ns >= over_ns / 2;
}

/* Between two samples, find the line that allocates memory, if there were page faults since the
 * last probe. No other figure is updated, because these moments would count too often. */
static void probe(struct trk_stacks *s, struct trk_sampled_process *w)
{
	uint64_t faults;
	unsigned int best = 0;
	bool pair;

	w->wants_pair = false;
	if (!read_faults(s, w, &faults) || faults == w->looked_faults)
		return;
	w->looked_faults = faults;
	pair = is_pair(s, w);
	if (!walk_with_faults(s, w))
		return;
	for (size_t i = 0; i < w->threads; i++) {
		struct trk_sampled_thread *t = &w->thread[i];
		unsigned int sign = trk__charge_sign(t);

		if (pair && sign == 0)
			sign = trk__sign_of_pair(s->lines, t);
		w->wants_pair |= sign == 0 && t->ran;
		if (sign > best) {
			best = sign;
			trk__growth_note(&w->growth, s->lines, t->probed_node, t->lane, sign,
					 s->now_ns);
		}
		t->looked_node = t->ran ? t->probed_node : TRK_LINES_ROOT;
		t->looked_faults = t->faults[3];
	}
}

/* It can no longer be read: check it again at the next walk of the tree, or much later if reading it
 * takes too much. */
static void look_again(struct trk_stacks *s, struct trk_sampled_process *w)
{
	drop_python(s, w);
	w->wait_ns = takes_too_much(w) ? LOOK_MAX_NS : 0;
	w->look_ns = s->now_ns + w->wait_ns;
}

static void sample(struct trk_stacks *s, struct trk_sampled_process *w)
{
	uint64_t cpu_ns = 0, used_ns;

	if (trk__clock_pid_cpu_ns(w->pid, &cpu_ns) < 0)
		return;
	if (!w->is_fresh && cpu_ns < w->cpu_ns) { /* another process with the same number */
		look_again(s, w);
		return;
	}
	/* CPU time before the first sample is charged to no line. */
	used_ns = w->is_fresh ? 0 : cpu_ns - w->cpu_ns;
	s->wall_ns = w->is_fresh ? 0 : s->now_ns - w->sampled_ns;
	if (s->wall_ns > WALL_MAX_NS)
		s->wall_ns = WALL_MAX_NS;
	w->cpu_ns = cpu_ns;
	w->sampled_before_ns = w->sampled_ns;
	w->sampled_ns = s->now_ns;
	for (size_t i = 0; i < w->threads; i++) {
		w->thread[i].score_before = w->thread[i].score;
		w->thread[i].node_before = w->thread[i].node;
		w->thread[i].score = TRK_SCORE_WAITS;
	}
	/* Without CPU time no stack has changed. */
	if ((used_ns || w->is_fresh) && !look(s, w, used_ns)) {
		look_again(s, w);
		return;
	}
	trk__charge_interval(w, used_ns, s->wall_ns);
	for (size_t i = 0; i < w->threads; i++)
		count_thread(s, w, &w->thread[i]);
	w->is_fresh = false;
}

/* ---- settling ---- */

static void settle(struct trk_stacks *s, struct trk_sampled_process *w, bool last)
{
	trk__growth_settle(&w->growth, s->lines, s->now_ns, last, &s->window);
	if (w->second.counts) {
		trk__charge_oldest(w, w->owed_ns);
		w->owed_ns = 0;
	}
	trk__native_share(w, last);
	for (size_t i = 0; i < w->second.counts; i++) {
		struct trk_lines_count *c = &w->second.count[i];
		struct trk_lines_amounts *sum = trk__lines_sum(&s->window, c->lane, c->node);

		c->amounts.cpu_us /= 1000;
		if (sum)
			trk__lines_amounts_add(sum, &c->amounts);
	}
	trk__lines_sums_release(&w->second);
}

void trk__stacks_settle(struct trk_stacks *s, bool last)
{
	if (last)
		trk__native_drain(s->native, s->now_ns, &s->window);
	s->lines->rounds = s->rounds;
	s->lines->cost_us = (s->cost_ns + s->probe_cost_ns) / 1000;
	for (size_t i = 0; i < TRK_SAMPLED_PROCESSES; i++) {
		settle(s, &s->watched[i], last);
		if (s->watched[i].python) /* its user may change */
			trk__process_note_user(&s->files, s->watched[i].pid, s->lines);
	}
}

/* ---- the rate ---- */

static uint64_t base_period(const struct trk_stacks *s, uint64_t now_ns)
{
	double hz = s->options.hz > 0                ? s->options.hz
		    : now_ns - s->start_ns < FAST_NS ? FAST_HZ
						     : TRK_STACKS_HZ;

	return (uint64_t) (1e9 / hz);
}

/* Choose the period at which rounds of this cost stay in the budget. */
static void adapt(struct trk_stacks *s, uint64_t now_ns, uint64_t over_ns, uint64_t cost_ns)
{
	double parts = (s->options.hz > 0 ? s->options.hz : TRK_STACKS_HZ) / TRK_STACKS_HZ;
	double share = BUDGET_SHARE, lent_ns = LENT_NS * parts, period_ns;
	uint64_t base = base_period(s, now_ns);

	if (now_ns - s->start_ns < LENT_FOR_NS)
		share -= LENT_NS / LENT_FOR_NS;
	share *= parts;
	s->saved_ns += share * (double) over_ns;
	s->saved_ns -= (double) (s->cost_ns - s->paid_cost_ns);
	if (s->saved_ns > lent_ns)
		s->saved_ns = lent_ns;
	s->paid_cost_ns = s->cost_ns;
	s->round_ns += ((double) cost_ns - s->round_ns) / 8;
	/* In debt, half of the budget pays it off. */
	period_ns = s->round_ns / (s->saved_ns > 0 ? share + s->saved_ns / SPEND_NS : share / 2);
	s->period_ns = period_ns < PERIOD_MAX ? (uint64_t) period_ns : PERIOD_MAX;
	if (s->period_ns < base)
		s->period_ns = base;
}

/* Set the time of the next probe of a process whose memory grows. */
static void plan_probe(struct trk_stacks *s, uint64_t now_ns)
{
	s->probe_ns = UINT64_MAX;
	for (size_t i = 0; i < TRK_SAMPLED_PROCESSES; i++) {
		uint64_t period_ns = s->watched[i].growth.period_ns;

		if (s->watched[i].wants_pair && period_ns > PAIR_NS)
			period_ns = PAIR_NS;
		if (s->watched[i].python && period_ns && now_ns + period_ns < s->probe_ns)
			s->probe_ns = now_ns + period_ns;
	}
}

static void plan_next(struct trk_stacks *s, uint64_t now_ns)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	/* Between 3/4 and 5/4 of the period, so that samples do not synchronise with a loop of the
	 * job. */
	s->next_ns = s->pythons ? now_ns + s->period_ns / 4 * 3 + s->random % (s->period_ns / 2 + 1)
				: UINT64_MAX;
	plan_probe(s, now_ns);
}

static void take_samples(struct trk_stacks *s)
{
	uint64_t before = trk__clock_thread_cpu_ns();

	s->is_late = s->now_ns - s->next_ns > LATE_NS;
	s->rounds++;
	for (size_t i = 0; i < TRK_SAMPLED_PROCESSES; i++) {
		struct trk_sampled_process *w = &s->watched[s->turn++ % TRK_SAMPLED_PROCESSES];

		if (!w->python)
			continue;
		read_observed(s, w, sample);
		if (trk__clock_thread_cpu_ns() - before > ROUND_MAX_NS)
			break; /* the next round begins with the others */
	}
}

static void take_probes(struct trk_stacks *s)
{
	s->is_probe = true;
	for (size_t i = 0; i < TRK_SAMPLED_PROCESSES; i++)
		if (s->watched[i].python && s->watched[i].growth.period_ns)
			read_observed(s, &s->watched[i], probe);
	s->is_probe = false;
	plan_probe(s, s->now_ns);
}

/* CPU time since the end of the last tick: for waiting and waking up. */
static uint64_t waking_ns(const struct trk_stacks *s, uint64_t cpu_ns)
{
	uint64_t ns = s->left_cpu_ns ? cpu_ns - s->left_cpu_ns : 0;

	return ns < WAKE_MAX_NS ? ns : WAKE_MAX_NS;
}

static void take_round(struct trk_stacks *s)
{
	take_samples(s);
	trk__native_drain(s->native, s->now_ns, &s->window);
	if (s->now_ns - s->settle_ns >= SETTLE_NS) {
		trk__stacks_settle(s, false);
		s->settle_ns = s->now_ns;
	}
}

void trk__stacks_tick(struct trk_stacks *s, uint64_t now_ns)
{
	uint64_t before = trk__clock_thread_cpu_ns(), cost_ns = waking_ns(s, before);
	uint64_t over_ns = now_ns - s->round_at_ns;
	bool is_round = now_ns >= s->next_ns;

	s->now_ns = now_ns;
	if (is_round)
		take_round(s);
	else if (now_ns >= s->probe_ns)
		take_probes(s);
	s->left_cpu_ns = trk__clock_thread_cpu_ns();
	cost_ns += s->left_cpu_ns - before;
	if (!is_round) {
		s->probe_cost_ns += cost_ns;
		return;
	}
	s->cost_ns += cost_ns;
	s->round_at_ns = now_ns;
	adapt(s, now_ns, over_ns, cost_ns);
	plan_next(s, now_ns);
}

uint64_t trk__stacks_next_ns(const struct trk_stacks *s)
{
	return s->probe_ns < s->next_ns ? s->probe_ns : s->next_ns;
}

struct trk_lines_sums *trk__stacks_window(struct trk_stacks *s)
{
	return &s->window;
}

/* ---- life ---- */

struct trk_stacks *trk__stacks_new(const struct trk_env *env,
				   const struct trk_stacks_options *options,
				   struct trk_lines *lines, uint64_t start_ns)
{
	struct trk_stacks *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->files.env = *env;
	s->options = *options;
	s->lines = lines;
	s->rounds = lines->rounds; /* of an earlier worker, as the cost */
	s->probe_cost_ns = lines->cost_us * 1000;
	s->start_ns = s->round_at_ns = s->settle_ns = start_ns;
	s->saved_ns = LENT_NS * (options->hz > 0 ? options->hz / TRK_STACKS_HZ : 1);
	s->round_ns = ROUND_NS;
	s->next_ns = s->probe_ns = UINT64_MAX;
	s->random = start_ns | 1;
	s->period_ns = base_period(s, start_ns);
	lines->rate_hz = options->hz > 0 ? options->hz : TRK_STACKS_HZ;
	s->watched = calloc(TRK_SAMPLED_PROCESSES, sizeof(*s->watched));
	s->remote = malloc(sizeof(*s->remote));
	if (!s->watched || !s->remote) {
		trk__stacks_free(s);
		return NULL;
	}
	s->native = trk__native_new(
		&(struct trk_native_options){options->base_names, &s->files, s->remote,
					     &s->remote_pid, s->watched, options->reading, lines},
		start_ns);
	trk__remote_init(s->remote, trk__remote_process, &s->remote_pid);
	s->remote->read_ranges = trk__remote_process_ranges;
	return s;
}

void trk__stacks_free(struct trk_stacks *s)
{
	if (!s)
		return;
	for (size_t i = 0; s->watched && i < TRK_SAMPLED_PROCESSES; i++)
		if (s->watched[i].pid)
			forget(s, &s->watched[i]);
	trk__native_free(s->native);
	trk__lines_sums_release(&s->window);
	free(s->watched);
	free(s->remote);
	free(s);
}
