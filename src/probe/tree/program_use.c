/* Usage by program: a member's CPU time is added to its program as the ledger counts it, its memory
 * at each call of trk__tree_programs.
 *
 * The usage of a process after its last read arrives in its parent's child counters. Of that, ended
 * members are credited with their probable part (their rate so far, for half of the time since the
 * last read, as the end may be at any moment in it, but for no longer than their age was: of many
 * short ones, one is seen by chance); the rest belongs to children that lived only between two
 * updates, and counts as "short processes of" the parent's program. So the programs sum to the
 * ledger. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "model/program_name.h"
#include "probe/tree/private.h"

#define LASTS_NS (TRK_NS_PER_S) /* a process of this age is listed before its end */

/* ---- names ---- */

static unsigned int find_or_add(struct trk_tree *t, const char *name, enum trk_program_kind kind)
{
	struct programs *g = &t->programs;
	struct trk_program *new;

	if (g->count == 0) {
		(void) snprintf(g->table[TRK_PROGRAM_REST].name, TRK_PROGRAM_NAME_SIZE, "the rest");
		g->count = 1;
	}
	for (unsigned int i = 1; i < g->count; i++)
		if (g->table[i].kind == kind && !strcmp(g->table[i].name, name))
			return i;
	if (g->count == TRK_PROGRAMS_MAX)
		return TRK_PROGRAM_REST;
	new = &g->table[g->count];
	(void) snprintf(new->name, sizeof(new->name), "%s", name);
	new->kind = kind;
	return (unsigned int) g->count++;
}

static unsigned int unseen_of(struct trk_tree *t, unsigned int program)
{
	uint8_t *index = &t->programs.unseen_of[program];

	if (program == TRK_PROGRAM_REST || t->programs.table[program].kind != TRK_PROGRAM_PLAIN)
		return program;
	if (!*index)
		*index = (uint8_t) find_or_add(t, t->programs.table[program].name,
					       TRK_PROGRAM_UNSEEN);
	return *index;
}

/* The parent, if p may be a fork of it that has not executed another program. */
static const struct process *forked_from(struct trk_tree *t, const struct process *p)
{
	const struct process *parent = trk__tree_find(t, p->ppid);

	return parent && parent != p && !strcmp(parent->name, p->name) ? parent : NULL;
}

void trk__programs_exec(struct trk_tree *t, struct process *p)
{
	const struct process *parent = forked_from(t, p);
	char name[TRK_PROGRAM_NAME_SIZE];
	bool is_worker;

	if (t->options.figures_only)
		return;
	p->named_update = t->update;
	p->named_cpu_ns = p->own[TRK_TREE_CPU];
	if (parent && p->fresh) { /* it may be about to execute a program */
		p->program = parent->program;
		return;
	}
	trk__program_name(p->name, NULL, 0, name, &is_worker);
	p->program = (uint8_t) find_or_add(t, name, TRK_PROGRAM_PLAIN);
}

bool trk__programs_needs_command(struct trk_tree *t, const struct process *p)
{
	return trk__program_is_interpreter(p->name) && !forked_from(t, p);
}

/* Index of the program for the workers of `parent`. */
static unsigned int worker_of(struct trk_tree *t, const struct process *parent)
{
	static const char suffix[] = " worker";
	char name[TRK_PROGRAM_NAME_SIZE];
	const char *of = t->programs.table[parent->program].name;
	size_t len = strlen(of), most = sizeof(name) - sizeof(suffix);

	if (parent->program == TRK_PROGRAM_REST ||
	    (len >= sizeof(suffix) - 1 && !strcmp(of + len - (sizeof(suffix) - 1), suffix)))
		return parent->program;
	(void) snprintf(name, sizeof(name), "%.*s%s", (int) (len < most ? len : most), of, suffix);
	return find_or_add(t, name, TRK_PROGRAM_PLAIN);
}

/* Move p to another program, with its usage since it was named in this update, not with earlier
 * usage. */
static void move(struct trk_tree *t, struct process *p, unsigned int program)
{
	struct trk_program *from = &t->programs.table[p->program];
	uint64_t before_ns = p->named_cpu_ns > p->base_cpu_ns ? p->named_cpu_ns : p->base_cpu_ns;
	uint64_t used_ns = p->own[TRK_TREE_CPU] - before_ns;

	if (p->named_update == t->update && from->cpu_ns >= used_ns) {
		from->cpu_ns -= used_ns;
		t->programs.table[program].cpu_ns += used_ns;
	}
	p->program = (uint8_t) program;
}

void trk__programs_command(struct trk_tree *t, struct process *p, const char *args, size_t len)
{
	const struct process *parent = forked_from(t, p);
	const struct process *starter = trk__tree_find(t, p->ppid);
	char name[TRK_PROGRAM_NAME_SIZE];
	bool is_worker;
	unsigned int program;

	while (len > 0 && args[len - 1] != '\0') /* the last argument was cut */
		len--;
	trk__program_name(p->name, args, len, name, &is_worker);
	if (p->pid != t->options.root && starter && starter != p &&
	    (is_worker || (parent && !strcmp(parent->command, p->command))))
		program = worker_of(t, starter);
	else
		program = find_or_add(t, name, TRK_PROGRAM_PLAIN);
	if (program != p->program)
		move(t, p, program);
}

/* ---- ends ---- */

void trk__programs_vanished(struct trk_tree *t, struct process *p, const struct process *heir)
{
	struct programs *g = &t->programs;
	uint64_t own_ns = p->own[TRK_TREE_CPU] - p->base_cpu_ns, threads = p->threads;
	uint64_t seen_ns = t->updated_ns - t->apart_ns, age_ns, lived_ns;
	double rate;

	if (!p->ended_ns)
		p->ended_ns = t->updated_ns;
	else
		return;                             /* a zombie shows its complete usage */
	if (p->fresh && heir && heir != &t->pool) { /* gone before its first read */
		p->program = (uint8_t) unseen_of(t, heir->program);
		return;
	}
	if (!heir || g->tails == TAILS_MAX)
		return;
	age_ns = seen_ns > p->start_ns ? seen_ns - p->start_ns : 0;
	rate = age_ns > TRK_NS_PER_MS ? (double) own_ns / (double) age_ns : 1;
	if (rate > (double) (threads ? threads : 1))
		rate = (double) (threads ? threads : 1);
	lived_ns = age_ns > TRK_NS_PER_MS ? age_ns : TRK_NS_PER_MS;
	if (lived_ns > t->apart_ns / 2)
		lived_ns = t->apart_ns / 2;
	g->tail[g->tails++] = (struct tail){heir, p, (uint64_t) (rate * (double) lived_ns)};
}

void trk__programs_arrived(struct trk_tree *t, const struct process *heir, uint64_t cpu_ns)
{
	struct programs *g = &t->programs;
	uint64_t expected_ns = 0, left_ns = cpu_ns;
	unsigned int program = heir->program;

	if (cpu_ns == 0)
		return;
	for (size_t i = 0; i < g->tails; i++)
		if (g->tail[i].heir == heir)
			expected_ns += g->tail[i].ns;
	for (size_t i = 0; i < g->tails && expected_ns; i++) {
		struct tail *tail = &g->tail[i];
		uint64_t ns = tail->ns;

		if (tail->heir != heir)
			continue;
		if (expected_ns > cpu_ns)
			ns = (uint64_t) ((double) ns * (double) cpu_ns / (double) expected_ns);
		tail->member->tail_ns += ns;
		trk__programs_count(t, tail->member, ns);
		left_ns -= ns < left_ns ? ns : left_ns;
		if (heir == &t->pool) /* the process that reaped its children has ended, too */
			program = tail->member->program;
	}
	if (heir == &t->pool && program == TRK_PROGRAM_REST && t->count)
		program = t->process[0].program;
	g->table[unseen_of(t, program)].cpu_ns += left_ns;
}

static struct trk_process_span *new_span(struct programs *g)
{
	if (g->taken) {
		g->spans = 0;
		g->taken = false;
	}
	if (!g->span)
		g->span = calloc(TRK_SPANS_WAITING_MAX, sizeof(*g->span));
	return g->span && g->spans < TRK_SPANS_WAITING_MAX ? &g->span[g->spans++] : NULL;
}

static int64_t ms_since_start(const struct trk_tree *t, uint64_t ns)
{
	return ((int64_t) ns - (int64_t) t->programs.origin_ns) / (int64_t) TRK_NS_PER_MS;
}

static void fill_span(const struct trk_tree *t, const struct process *p, struct trk_process_span *s)
{
	uint64_t end_ns = p->ended_ns ? p->ended_ns : t->updated_ns;

	*s = (struct trk_process_span){
		.pid = p->pid,
		.program = p->program,
		.start_ms = ms_since_start(t, p->start_ns),
		.end_ms = ms_since_start(t, end_ns),
		.ended = p->ended_ns != 0,
		.listed = p->listed,
		.cpu_ms = (p->own[TRK_TREE_CPU] - p->base_cpu_ns + p->tail_ns) / TRK_NS_PER_MS,
		.peak_bytes = trk__peaks_of(p),
	};
	if (s->end_ms < s->start_ms)
		s->end_ms = s->start_ms;
}

void trk__programs_remember(struct trk_tree *t, const struct process *p)
{
	struct trk_program *g = &t->programs.table[p->program];
	uint64_t peak_bytes = trk__peaks_of(p);
	struct trk_process_span *s;

	if (t->options.figures_only)
		return;
	g->ended++;
	s = new_span(&t->programs);
	if (!s) {
		t->programs.unlisted++;
	} else {
		fill_span(t, p, s);
		/* Of short-lived processes, store the command line of the largest. */
		if (!p->listed && peak_bytes > g->largest_bytes)
			memcpy(s->command, p->command, sizeof(s->command));
	}
	if (peak_bytes > g->largest_bytes)
		g->largest_bytes = peak_bytes;
}

/* ---- the figures of an update ---- */

static void list_lasting(struct trk_tree *t, struct process *p)
{
	struct trk_process_span *s = new_span(&t->programs);

	if (!s)
		return; /* at the next call */
	fill_span(t, p, s);
	memcpy(s->command, p->command, sizeof(s->command));
	p->listed = true;
}

static uint64_t count_members(struct trk_tree *t, bool is_last)
{
	struct programs *g = &t->programs;
	uint64_t sum_bytes = 0;

	for (size_t i = 0; i < t->count; i++) {
		struct process *p = &t->process[i];
		struct trk_program *of = &g->table[p->program];

		of->memory_bytes += p->pss_bytes;
		sum_bytes += p->pss_bytes;
		if (p->zombie)
			continue;
		of->alive++;
		if (p->rss_bytes > of->largest_bytes)
			of->largest_bytes = p->rss_bytes;
		if (!p->listed && (is_last || t->updated_ns >= p->start_ns + LASTS_NS))
			list_lasting(t, p);
	}
	return sum_bytes;
}

/* Shared memory is in the sums of several programs, but once in the tree's. */
static void fit_memory(struct trk_tree *t, uint64_t sum_bytes)
{
	double part = (double) t->state.pss_bytes / (double) (sum_bytes ? sum_bytes : 1);

	if (sum_bytes <= t->state.pss_bytes)
		return;
	for (size_t i = 0; i < t->programs.count; i++)
		t->programs.table[i].memory_bytes =
			(uint64_t) ((double) t->programs.table[i].memory_bytes * part);
}

void trk__tree_programs(struct trk_tree *t, bool is_last, struct trk_programs_now *ret)
{
	struct programs *g = &t->programs;
	uint64_t known_ns = 0;

	if (g->count == 0)
		(void) find_or_add(t, "", TRK_PROGRAM_PLAIN);
	for (size_t i = 0; i < g->count; i++) {
		g->table[i].memory_bytes = g->table[i].alive = 0;
		known_ns += i == TRK_PROGRAM_REST ? 0 : g->table[i].cpu_ns;
	}
	fit_memory(t, count_members(t, is_last));
	/* It already contains its own processes; add all that no program has. */
	if (t->state.counter[TRK_TREE_CPU] > known_ns + g->table[TRK_PROGRAM_REST].cpu_ns)
		g->table[TRK_PROGRAM_REST].cpu_ns = t->state.counter[TRK_TREE_CPU] - known_ns;
	if (g->taken)
		g->spans = 0;
	g->taken = true;
	*ret = (struct trk_programs_now){
		.program = g->table,
		.count = g->count,
		.span = g->span,
		.spans = g->spans,
		.unlisted = g->unlisted,
		.unseen_pids = t->state.unseen_pids,
	};
}

void trk__tree_set_origin(struct trk_tree *t, uint64_t origin_ns)
{
	t->programs.origin_ns = origin_ns;
}
