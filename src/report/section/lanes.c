#include "report/section/lanes.h"

#include <stdlib.h>
#include <string.h>

#include "base/maths.h"

enum {
	BARS_MAX = 12, /* up to so many processes are all drawn as bars */
	BAR_ROWS_MAX = 6,
	LONG_ROWS_MAX = 4, /* rows of bars of long processes, above the curve of concurrent ones */
	LONG_BARS_MAX = 60,
	MEMBERS_MAX = 8,
	SIBLINGS_MAX = 64,
	ALIVE_MAX = 60000,
	BRIEF_MAX = 1500, /* of a page: 12 kB */
};

#define LEAST_SHARE 0.01
#define LONG_SHARE  0.03 /* of the run: wide enough for a bar */

/* ---- areas ---- */

enum {
	OWN_COLOR = TRK_DOC_AREAS - 1,
	CPU_PERMILLE = 10,    /* of the job's CPU time, for a colour */
	MEMORY_PERMILLE = 30, /* or of its peak */
};

static double cpu_of(const struct trk_program_log *log)
{
	double sum = 0;

	for (size_t i = 0; i < log->count; i++)
		sum += (double) log->program[i].cpu_ns;
	return sum;
}

struct ranked {
	double value;
	size_t at;
};

static int by_value(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return x->value > y->value   ? -1
	       : x->value < y->value ? 1
	       : x->at < y->at       ? -1
				     : x->at > y->at;
}

/* The programs that have a colour of their own: at most five, by their share of CPU time plus half
 * of their share of memory; largest first. Returns how many. */
static size_t choose_colors(const struct trk_record *record, size_t index[TRK_DOC_AREAS])
{
	const struct trk_program_log *log = &record->programs;
	double cpu_ns = cpu_of(log), most_bytes = record->max_memory_mib * 1048576;
	struct ranked list[TRK_PROGRAMS_MAX] = {{.at = 0}};
	size_t count = 0;

	for (size_t i = 1; i < log->count; i++) {
		double cpu = cpu_ns > 0 ? (double) log->program[i].cpu_ns / cpu_ns : 0;
		double memory = most_bytes > 0 ? (double) log->peak_bytes[i] / most_bytes : 0;

		if (cpu * 1000 >= CPU_PERMILLE || memory * 1000 >= MEMORY_PERMILLE)
			list[count++] = (struct ranked){cpu + memory / 2, i};
	}
	qsort(list, count, sizeof(*list), by_value);
	count = count < OWN_COLOR ? count : OWN_COLOR;
	for (size_t i = 0; i < count; i++)
		index[i] = list[i].at;
	return count;
}

/* Cores, or MiB, that a program used in a bucket; 0 where no row covers it. */
static double use_in(const struct trk_doc *d, const struct trk_program_log *log, size_t program,
		     size_t bucket, bool is_cpu)
{
	double width_s = d->duration_s / (double) d->buckets, cpu_s, memory, seconds;

	trk__program_log_use(log, program, (double) bucket * width_s,
			     (double) (bucket + 1) * width_s, &cpu_s, &memory, &seconds);
	return seconds > 0 ? (is_cpu ? cpu_s : memory) / seconds : 0;
}

/* Stack one bucket: the programs' parts, scaled to the job's use, and the rest. */
static void stack_bucket(struct trk_doc_chart *c, size_t bucket, double *use, size_t count)
{
	double job = c->series[0].avg[bucket], sum = 0, at = 0;

	if (c->series[0].avg[bucket] == TRK_DOC_GAP) {
		for (size_t i = 0; i <= count; i++)
			c->area[i].low[bucket] = c->area[i].high[bucket] = TRK_DOC_GAP;
		return;
	}
	for (size_t i = 0; i < count; i++)
		sum += use[i] / c->top * TRK_DOC_STEPS;
	for (size_t i = 0; i <= count; i++) {
		double steps = i < count ? use[i] / c->top * TRK_DOC_STEPS : job - at;

		if (i < count && sum > job)
			steps *= job / sum;
		c->area[i].low[bucket] = (uint16_t) trk__whole(at + 0.5, 0, TRK_DOC_STEPS);
		at += steps > 0 ? steps : 0;
		at = at < TRK_DOC_STEPS ? at : TRK_DOC_STEPS;
		c->area[i].high[bucket] = (uint16_t) trk__whole(at + 0.5, 0, TRK_DOC_STEPS);
	}
}

static void sum_up(struct trk_doc *d, struct trk_doc_chart *c, struct trk_doc_area *a)
{
	double sum = 0, n = 0, most = 0;

	for (size_t b = 0; b < d->buckets; b++) {
		double value = (double) a->high[b] - a->low[b];

		if (a->high[b] == TRK_DOC_GAP)
			continue;
		sum += value;
		most = value > most ? value : most;
		n++;
	}
	a->mean = n > 0 ? sum / n * c->top / TRK_DOC_STEPS : 0;
	a->peak = most * c->top / TRK_DOC_STEPS;
	a->text =
		trk__doc_print(d, "mean %s, peak %s", trk__doc_value(d, trk__human_number, a->mean),
			       trk__doc_value(d, trk__human_number, a->peak));
}

/* Drop areas that are too small to be visible. */
static void drop_small(struct trk_doc_chart *c)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->areas; i++)
		if (c->area[i].peak >= c->top * 0.005) {
			if (kept != i)
				c->area[kept] = c->area[i];
			kept++;
		}
	c->areas = kept;
}

void trk__areas_of_chart(struct trk_doc *d, const struct trk_record *record, bool is_cpu,
			 struct trk_doc_chart *c)
{
	const struct trk_program_log *log = &record->programs;
	size_t index[TRK_DOC_AREAS], count;

	if (!log->program || !log->course.count || !c->series[0].is_job)
		return;
	count = choose_colors(record, index);
	c->area = count ? trk__doc_alloc(d, (count + 1) * sizeof(*c->area)) : NULL;
	if (!c->area)
		return;
	c->areas = count + 1;
	for (size_t i = 0; i <= count; i++) {
		char label[96];

		c->area[i].color = i < count ? (int) i + 1 : TRK_DOC_AREAS;
		c->area[i].name =
			i < count ? trk__doc_safe(d,
						  trk__program_label(&log->program[index[i]], label,
								     sizeof(label)),
						  40)
				  : "the rest";
	}
	for (size_t b = 0; b < d->buckets; b++) {
		double use[TRK_DOC_AREAS];

		for (size_t i = 0; i < count; i++)
			use[i] = use_in(d, log, index[i], b, is_cpu) / c->series[0].factor;
		stack_bucket(c, b, use, count);
	}
	for (size_t i = 0; i <= count; i++)
		sum_up(d, c, &c->area[i]);
	drop_small(c);
}

/* ---- choosing ---- */

static int color_of(size_t program, const size_t *own, size_t owns)
{
	for (size_t i = 0; i < owns; i++)
		if (own[i] == program)
			return (int) i + 1;
	return TRK_DOC_AREAS;
}

/* List a program's processes by CPU time, with their median lifetime. */
static void list_spans(struct trk_doc *d, const struct trk_program_log *log,
		       struct trk_program_story *s)
{
	struct ranked *list = calloc(log->spans + 1, sizeof(*list));
	size_t n = 0;

	s->median_s = NAN;
	for (size_t i = 0; list && i < log->spans; i++)
		if (log->span[i].program == s->index)
			list[n++] = (struct ranked){
				(double) (log->span[i].end_ms - log->span[i].start_ms) / 1e3, i};
	s->span = n ? trk__doc_alloc(d, n * sizeof(*s->span)) : NULL;
	if (s->span) {
		qsort(list, n, sizeof(*list), by_value);
		s->median_s = (list[n / 2].value + list[(n - 1) / 2].value) / 2;
		for (size_t i = 0; i < n; i++)
			list[i].value = (double) log->span[list[i].at].cpu_ms +
					(double) log->span[list[i].at].peak_bytes / 1e15;
		qsort(list, n, sizeof(*list), by_value);
		for (size_t i = 0; i < n; i++)
			s->span[i] = list[i].at;
		s->spans = n;
	}
	free(list);
}

size_t trk__lanes_choose(struct trk_doc *d, const struct trk_record *record,
			 struct trk_program_story *story, size_t *ret_left)
{
	const struct trk_program_log *log = &record->programs;
	double cpu_ns = cpu_of(log), most = record->max_memory_mib * TRK_MIB;
	size_t own[TRK_DOC_AREAS], owns = choose_colors(record, own), count = 0, all = 0;
	struct ranked list[TRK_PROGRAMS_MAX] = {{.at = 0}};

	for (size_t i = 1; i < log->count; i++) {
		const struct trk_program *p = &log->program[i];

		all += p->cpu_ns > 0 || trk__program_processes(p) > 0;
		if ((cpu_ns > 0 && (double) p->cpu_ns >= LEAST_SHARE * cpu_ns) ||
		    (most > 0 && (double) log->peak_bytes[i] >= LEAST_SHARE * most))
			list[count++] = (struct ranked){(double) p->cpu_ns, i};
	}
	qsort(list, count, sizeof(*list), by_value);
	count = count < TRK_LANES_MAX ? count : TRK_LANES_MAX;
	for (size_t i = 0; i < count; i++)
		story[i] = (struct trk_program_story){
			.index = list[i].at,
			.color = color_of(list[i].at, own, owns),
			.share = cpu_ns > 0 ? list[i].value / cpu_ns : (double) NAN,
			.median_s = NAN,
		};
	/* The lifetimes of processes that no sample found are unknown. */
	for (size_t i = 0; i < count; i++)
		if (log->program[story[i].index].kind != TRK_PROGRAM_UNSEEN)
			list_spans(d, log, &story[i]);
	*ret_left = all > count ? all - count : 0;
	return count;
}

/* ---- command lines ---- */

enum { WORDS_MAX = 48, OWN_MAX = 6 };

struct word {
	const char *text;
	size_t len;
	bool own; /* at least one sibling lacks it */
};

static size_t split(const char *command, struct word *word)
{
	size_t n = 0;

	for (const char *at = command; *at && n < WORDS_MAX;) {
		size_t len = strcspn(at, " ");

		if (len)
			word[n++] = (struct word){at, len, false};
		at += len + (at[len] == ' ');
	}
	return n;
}

static bool has_word(const char *command, const struct word *w)
{
	for (const char *at = command; *at;) {
		size_t len = strcspn(at, " ");

		if (len == w->len && !memcmp(at, w->text, len))
			return true;
		at += len + (at[len] == ' ');
	}
	return false;
}

static bool is_temporary(const struct word *w)
{
	return w->len > 5 && (!memcmp(w->text, "/tmp/", 5) || !memcmp(w->text, "/var/t", 6));
}

static bool is_own(const struct word *w, const char *const *siblings, size_t count)
{
	if (is_temporary(w))
		return false;
	for (size_t i = 0; i < count; i++)
		if (siblings[i] && *siblings[i] && !has_word(siblings[i], w))
			return true;
	return false;
}

static struct word last_part(struct word w)
{
	for (size_t i = w.len; i-- > 0;)
		if (w.text[i] == '/' && i + 1 < w.len) {
			w.text += i + 1;
			w.len -= i + 1;
			break;
		}
	return w;
}

static void join(char *text, size_t size, const struct word *w)
{
	size_t len = strlen(text), room = size - len - 1;

	if (len && room) {
		text[len++] = ' ';
		room--;
	}
	memcpy(text + len, w->text, w->len < room ? w->len : room);
	text[len + (w->len < room ? w->len : room)] = '\0';
}

const char *trk__command_words(struct trk_doc *d, const char *command, const char *const *siblings,
			       size_t count, size_t max)
{
	struct word word[WORDS_MAX];
	size_t n = split(command, word), own = 0;
	char first[128] = "", rest[256] = "";

	if (n == 0)
		return NULL;
	for (size_t i = 0; i < n && own < OWN_MAX; i++) {
		word[i].own = is_own(&word[i], siblings, count);
		own += word[i].own;
	}
	for (size_t i = 0; i < n; i++) {
		struct word w = last_part(word[i]);

		if (!word[i].own)
			join(rest, sizeof(rest), i == 0 ? &w : &word[i]);
		else
			join(first, sizeof(first), &w);
	}
	if (own == 0)
		return trk__doc_safe(d, rest, max);
	return trk__doc_print(d, TRK_DOC_STRONG "%s" TRK_DOC_PLAIN " %s",
			      trk__doc_safe(d, first, max / 2),
			      trk__doc_safe(d, rest, max - max / 2));
}

const char *trk__lanes_command(struct trk_doc *d, const struct trk_program_log *log,
			       const struct trk_program_story *story, size_t span, size_t max)
{
	const char *sibling[SIBLINGS_MAX];
	size_t n = 0;

	for (size_t i = 0; i < story->spans && n < SIBLINGS_MAX; i++)
		sibling[n++] = log->span[story->span[i]].command;
	return trk__command_words(d, log->span[span].command, sibling, n, max);
}

/* ---- bars ---- */

/* Position of a moment in the run, 0 to 1. */
static double share_of(const struct trk_doc *d, int64_t at_ms)
{
	double share = (double) at_ms / 1e3 / d->duration_s;

	return share > 1 ? 1 : share > 0 ? share : 0;
}

static struct trk_doc_bar make_bar(struct trk_doc *d, const struct trk_program_log *log,
				   const struct trk_program_story *story, size_t span)
{
	const struct trk_process_span *s = &log->span[span];
	struct trk_doc_bar bar = {.from = share_of(d, s->start_ms),
				  .to = share_of(d, s->end_ms),
				  .cpu_s = (double) s->cpu_ms / 1e3,
				  .peak_mib =
					  s->peak_bytes ? (double) s->peak_bytes / TRK_MIB : NAN,
				  .pid = s->pid};
	const char *command = trk__lanes_command(d, log, story, span, 72);

	if (bar.to < bar.from)
		bar.to = bar.from;
	bar.text = command ? command : trk__doc_print(d, "process %ld", bar.pid);
	return bar;
}

static int by_start(const void *a, const void *b)
{
	double x = ((const struct trk_doc_bar *) a)->from,
	       y = ((const struct trk_doc_bar *) b)->from;

	return x < y ? -1 : x > y;
}

/* Put each bar into the first row that is free at its start. Bars without a free row among `most`
 * rows are dropped. */
static void pack(struct trk_doc_lane *lane, size_t most)
{
	double free_at[BAR_ROWS_MAX] = {0};
	size_t kept = 0;

	qsort(lane->bar, lane->bars, sizeof(*lane->bar), by_start);
	lane->rows = 0;
	for (size_t i = 0; i < lane->bars; i++) {
		struct trk_doc_bar bar = lane->bar[i];
		size_t row = 0;

		while (row < most && free_at[row] > bar.from + 1e-6)
			row++;
		if (row == most)
			continue;
		free_at[row] = bar.to;
		bar.row = row;
		lane->rows = row + 1 > lane->rows ? row + 1 : lane->rows;
		lane->bar[kept++] = bar;
	}
	lane->bars = kept;
}

/* Add bars for all processes, or for the long ones. False: not for all. */
static bool add_bars(struct trk_doc *d, const struct trk_program_log *log,
		     const struct trk_program_story *story, struct trk_doc_lane *lane)
{
	size_t room = story->spans < LONG_BARS_MAX ? story->spans : LONG_BARS_MAX;
	bool all = story->spans <= BARS_MAX && story->spans == lane->processes;

	lane->bar = room ? trk__doc_alloc(d, room * sizeof(*lane->bar)) : NULL;
	for (size_t i = 0; lane->bar && i < story->spans && lane->bars < room; i++) {
		const struct trk_process_span *s = &log->span[story->span[i]];

		if (all || (double) (s->end_ms - s->start_ms) / 1e3 >= LONG_SHARE * d->duration_s)
			lane->bar[lane->bars++] = make_bar(d, log, story, story->span[i]);
	}
	if (!lane->bar)
		return story->spans == 0;
	pack(lane, all ? BAR_ROWS_MAX : LONG_ROWS_MAX);
	return lane->bars == story->spans;
}

/* ---- CPU ---- */

static void add_use(struct trk_doc *d, const struct trk_program_log *log, size_t program,
		    struct trk_doc_lane *lane, double *cores)
{
	lane->use = trk__doc_alloc(d, d->buckets * sizeof(*lane->use));
	for (size_t b = 0; b < d->buckets; b++) {
		cores[b] = use_in(d, log, program, b, true);
		if (cores[b] > lane->use_most)
			lane->use_most = cores[b];
	}
	for (size_t b = 0; lane->use && lane->use_most > 0 && b < d->buckets; b++)
		lane->use[b] = trk__doc_steps(cores[b] / lane->use_most);
}

/* Part of a bucket in which a process was alive. */
static double overlap(const struct trk_doc_bar *bar, size_t bucket, size_t buckets)
{
	double from = (double) bucket / (double) buckets,
	       to = (double) (bucket + 1) / (double) buckets;

	from = bar->from > from ? bar->from : from;
	to = bar->to < to ? bar->to : to;
	return to > from ? (to - from) * (double) buckets : 0;
}

static double mean_cores(const struct trk_doc *d, const struct trk_doc_bar *bar)
{
	double lived_s = (bar->to - bar->from) * d->duration_s;

	return lived_s > 0 ? bar->cpu_s / lived_s : 0;
}

/* Full height: as many whole cores as the largest bucket but two needs. */
static void set_cores(struct trk_doc *d, struct trk_doc_lane *lane, const double *cores, bool alone)
{
	double top[3] = {0}, most = 0;

	for (size_t b = 0; b < d->buckets; b++)
		for (size_t k = 0; k < 3; k++)
			if (cores[b] > top[k]) {
				for (size_t m = 2; m > k; m--)
					top[m] = top[m - 1];
				top[k] = cores[b];
				break;
			}
	for (size_t i = 0; i < lane->bars; i++)
		if (mean_cores(d, &lane->bar[i]) > most)
			most = mean_cores(d, &lane->bar[i]);
	most = alone && top[2] > most ? top[2] : most;
	most = trk__ceil(most - 0.35);
	lane->cores = most >= 1 && most < 1e6 ? most : 1;
	lane->cores_text =
		trk__doc_print(d, "%.0f core%s", lane->cores, lane->cores > 1 ? "s" : "");
}

/* Divide the program's CPU time in each bucket among its processes by their means: exact if one
 * process ran, else an estimate. */
static void fill_bars(struct trk_doc *d, struct trk_doc_lane *lane, const double *cores)
{
	double *all = calloc(d->buckets, sizeof(*all));

	for (size_t i = 0; all && i < lane->bars; i++)
		for (size_t b = 0; b < d->buckets; b++)
			all[b] += overlap(&lane->bar[i], b, d->buckets) *
				  mean_cores(d, &lane->bar[i]);
	for (size_t i = 0; all && i < lane->bars; i++) {
		struct trk_doc_bar *bar = &lane->bar[i];
		int64_t most = (int64_t) d->buckets;
		size_t end = (size_t) trk__whole(bar->to * (double) most + 0.999, 0, most);

		bar->first = (size_t) trk__whole(bar->from * (double) most, 0, most);
		bar->count = end > bar->first ? end - bar->first : 0;
		bar->use = bar->count ? trk__doc_alloc(d, bar->count * sizeof(*bar->use)) : NULL;
		for (size_t b = bar->first; bar->use && b < end; b++) {
			double rate = mean_cores(d, bar);

			/* Processes may lack a bar: each bar gets its part of the program's
			 * rate. */
			if (!lane->alive)
				rate = all[b] > 0 ? cores[b] * rate / all[b] : 0;
			bar->use[b - bar->first] = trk__doc_steps(rate / lane->cores);
		}
	}
	free(all);
}

/* ---- a lane ---- */

static void add_members(struct trk_doc *d, const struct trk_program_log *log,
			const struct trk_program_story *story, struct trk_doc_lane *lane)
{
	size_t n = story->spans < MEMBERS_MAX ? story->spans : MEMBERS_MAX;

	if (story->spans < 2 || (!lane->bars && !lane->alive))
		return;
	lane->member = trk__doc_alloc(d, n * sizeof(*lane->member));
	for (size_t i = 0; lane->member && i < n; i++) {
		struct trk_doc_bar bar = make_bar(d, log, story, story->span[i]);

		lane->member[lane->members++] = bar;
	}
	if (lane->processes > n)
		lane->more = trk__doc_print(
			d, "and %s more, each with at most %s of CPU time",
			trk__doc_value(d, trk__human_count, (double) (lane->processes - n)),
			trk__doc_value(d, trk__human_seconds,
				       (double) log->span[story->span[n - 1]].cpu_ms / 1e3));
}

/* ---- processes that are too many or too short for bars ---- */

/* A start (+1) or an end (-1). */
struct event {
	double at;
	int step;
};

/* At equal times ends precede starts. */
static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at ? 1 : x->step - y->step;
}

static bool is_bar(const struct trk_doc_lane *lane, const struct trk_doc *d,
		   const struct trk_process_span *s)
{
	for (size_t i = 0; i < lane->bars; i++)
		if (lane->bar[i].pid == s->pid && lane->bar[i].from == share_of(d, s->start_ms))
			return true;
	return false;
}

/* For each bucket, the maximum number of concurrent processes. */
static void count_alive(struct trk_doc *d, const struct event *event, size_t events,
			struct trk_doc_lane *lane)
{
	size_t k = 0;
	int now = 0;

	for (size_t b = 0; b < d->buckets; b++) {
		double end = b + 1 < d->buckets ? (double) (b + 1) / (double) d->buckets : 2;
		int most = now;

		for (; k < events && event[k].at < end; k++) {
			now += event[k].step;
			most = now > most ? now : most;
		}
		lane->alive[b] = (uint16_t) (most < ALIVE_MAX ? most : ALIVE_MAX);
		if (lane->alive[b] > lane->alive_most)
			lane->alive_most = lane->alive[b];
	}
}

/* Processes are added in the order of the story: most CPU time first. */
static void add_brief(struct trk_doc *d, const struct trk_process_span *s,
		      struct trk_doc_lane *lane)
{
	double lived_s = (double) (s->end_ms - s->start_ms) / 1e3;
	struct trk_doc_brief *one;

	if (!lane->brief || d->briefs == BRIEF_MAX)
		return;
	one = &lane->brief[lane->briefs++];
	one->from = share_of(d, s->start_ms);
	one->to = share_of(d, s->end_ms);
	one->cores = lived_s > 0 ? (double) s->cpu_ms / 1e3 / lived_s : 0;
	d->briefs++;
}

/* Fill the lane's `alive` and `brief` from the processes without a bar. */
static void add_density(struct trk_doc *d, const struct trk_program_log *log,
			const struct trk_program_story *story, struct trk_doc_lane *lane)
{
	struct event *event = calloc(2 * story->spans + 1, sizeof(*event));
	size_t events = 0, room = BRIEF_MAX - d->briefs;

	room = story->spans < room ? story->spans : room;
	lane->alive = trk__doc_alloc(d, d->buckets * sizeof(*lane->alive));
	lane->brief = room ? trk__doc_alloc(d, room * sizeof(*lane->brief)) : NULL;
	for (size_t i = 0; event && lane->alive && i < story->spans; i++) {
		const struct trk_process_span *s = &log->span[story->span[i]];
		int64_t end_ms = s->end_ms > s->start_ms ? s->end_ms : s->start_ms + 1;

		if (is_bar(lane, d, s))
			continue;
		lane->others++;
		add_brief(d, s, lane);
		event[events++] = (struct event){share_of(d, s->start_ms), 1};
		event[events++] = (struct event){share_of(d, end_ms), -1};
	}
	if (events)
		qsort(event, events, sizeof(*event), by_time);
	if (event && lane->alive)
		count_alive(d, event, events, lane);
	free(event);
}

static void fill_lane(struct trk_doc *d, const struct trk_record *record,
		      const struct trk_program_story *story, struct trk_doc_lane *lane,
		      double *cores)
{
	const struct trk_program_log *log = &record->programs;
	const struct trk_program *p = &log->program[story->index];
	char label[96];
	bool all;

	lane->name = trk__doc_safe(d, trk__program_label(p, label, sizeof(label)), 40);
	lane->color = story->color;
	lane->processes = p->kind == TRK_PROGRAM_UNSEEN ? 0 : trk__program_processes(p);
	lane->cpu_s = (double) p->cpu_ns / 1e9;
	lane->memory_mib = p->largest_bytes ? (double) p->largest_bytes / TRK_MIB : NAN;
	if (lane->processes > 1)
		lane->count = trk__doc_print(
			d, "\u00d7 %s",
			trk__doc_value(d, trk__human_count, (double) lane->processes));
	lane->cpu = trk__doc_value(d, trk__human_seconds, lane->cpu_s);
	if (!isnan(lane->memory_mib))
		lane->memory = trk__doc_value(d, trk__human_memory, lane->memory_mib);
	/* Only the CPU time is known for processes that no sample found. */
	all = story->spans == 0 || add_bars(d, log, story, lane);
	if (!all)
		add_density(d, log, story, lane);
	add_use(d, log, story->index, lane, cores);
	set_cores(d, lane, cores, lane->rows <= 1 && all);
	fill_bars(d, lane, cores);
	lane->is_divided = lane->bars > 1;
	add_members(d, log, story, lane);
}

void trk__lanes_make(struct trk_doc *d, const struct trk_record *record,
		     const struct trk_program_story *story, size_t count)
{
	double *cores;

	if (!d->buckets || !(d->duration_s > 0) || !count)
		return;
	cores = calloc(d->buckets, sizeof(*cores));
	d->lane = trk__doc_alloc(d, count * sizeof(*d->lane));
	for (size_t i = 0; cores && d->lane && i < count; i++)
		fill_lane(d, record, &story[i], &d->lane[d->lanes++], cores);
	free(cores);
}
