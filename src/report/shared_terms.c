#include "report/shared_terms.h"

#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "lines/highlights.h"
#include "lines/profile.h"
#include "lines/write.h"

#define DOT   " \u00b7 "
#define ARROW " \u2192 "

/* Smaller parts are left out. */
static const double LEAST_SHARE = 0.005;

void trk__tell_state(struct trk_doc *d, const struct trk_record *r, const char *running)
{
	const struct trk_outcome *o = &r->outcome;
	bool unfinished = o->end == TRK_END_RUNNING || o->end == TRK_END_TRACKER_DIED;
	const char *symbol = "\u2717";
	char words[TRK_END_WORDS_SIZE];

	d->state_tone = TRK_TONE_BAD;
	if (o->end == TRK_END_EXITED && o->code == 0) {
		symbol = "\u2713";
		d->state_tone = TRK_TONE_GOOD;
	} else if (o->end == TRK_END_STOPPED || (o->end == TRK_END_EXITED && o->code < 0)) {
		symbol = "\u25a0";
		d->state_tone = TRK_TONE_PLAIN;
	} else if (unfinished) {
		symbol = o->end == TRK_END_RUNNING || r->writing ? running : "?";
		d->state_tone = TRK_TONE_WARN;
	}
	d->state = trk__doc_print(d, "%s %s", symbol, trk__record_end_words(r, words));
}

const char *trk__memory_kill_words(struct trk_doc *d, const struct trk_outcome *o)
{
	unsigned long s = (unsigned long) (o->memory_kill_ms / 1000);
	const char *at = trk__doc_print(d, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60, s % 60);

	if (o->memory_kills == 1)
		return trk__doc_print(d, "A process was killed for memory at %s; the job went on",
				      at);
	return trk__doc_print(
		d, "%llu processes were killed for memory, the first at %s; the job went on",
		(unsigned long long) o->memory_kills, at);
}

void trk__term_time(struct trk_doc *d, struct trk_doc_section *s,
		    const struct trk_time_breakdown *c)
{
	static const char *const words[TRK_WALL_ITEMS] = {
		[TRK_WALL_ON_CPU] = "computing",        [TRK_WALL_GPU] = "on the GPU",
		[TRK_WALL_DISK] = "waiting for disk",   [TRK_WALL_MEMORY_STALL] = "memory stall",
		[TRK_WALL_CPU_WAIT] = "queued for CPU", [TRK_WALL_OTHER] = "sleeping, other",
	};
	/* A thread that waits for a GPU occupies a CPU: CUDA and HIP spin by default. */
	bool spins = c->bound == TRK_BOUND_GPU && c->wall.share[TRK_WALL_ON_CPU] >= 0.5;
	const char *on_cpu = spins ? "on a CPU, GPUs busy" : words[TRK_WALL_ON_CPU];
	bool told[TRK_WALL_ITEMS] = {false};
	struct trk_doc_term *t;

	if (!c->has_wall)
		return;
	t = trk__doc_term(d, s, "Time", DOT);
	for (int n = 0; n < TRK_WALL_ITEMS; n++) {
		int best = TRK_WALL_OTHER;

		for (int i = 0; i < TRK_WALL_OTHER; i++)
			if (!told[i] && c->wall.share[i] >= LEAST_SHARE &&
			    (best == TRK_WALL_OTHER || c->wall.share[i] > c->wall.share[best]))
				best = i;
		told[best] = true;
		if (c->wall.share[best] >= LEAST_SHARE)
			trk__doc_item(d, t, "%s %s",
				      trk__doc_value(d, trk__human_percent, c->wall.share[best]),
				      best == TRK_WALL_ON_CPU ? on_cpu : words[best]);
		if (best == TRK_WALL_OTHER)
			return;
	}
}

void trk__term_phases(struct trk_doc *d, struct trk_doc_section *s,
		      const struct trk_time_breakdown *c)
{
	struct trk_doc_term *t;

	if (c->phase_count < 2)
		return;
	t = trk__doc_term(d, s, "Phases", ARROW);
	for (size_t i = 0; i < c->phase_count; i++) {
		const struct trk_run_phase *p = &c->phase[i];
		struct trk_run_phase alone = *p; /* later ones are counted after its cut name */
		const char *word = trk__bottleneck_word(p->bound);
		char whole[TRK_RUN_PHASE_NAME];
		struct trk_doc_item item = {.text = NULL, .later = p->later};
		const char *name;

		alone.later = 0;
		trk__run_phase_name(&alone, whole);
		name = whole[0] ? trk__doc_safe(d, whole, 24) : "";
		if (*name && p->later)
			name = trk__doc_print(d, "%s and %zu later", name, p->later);
		item.bare = trk__doc_print(
			d, "%s%s%s", name, *name ? " " : "",
			trk__doc_value(d, trk__human_rough_seconds, p->end_s - p->start_s));
		item.brief = *word ? trk__doc_print(d, "%s (%s)", item.bare, word) : item.bare;
		item.text = item.brief;
		if (p->bound != TRK_BOUND_ONE_CORE && p->cores_mean >= 0.05)
			item.text = trk__doc_print(d, "%s (%.2g CPU%s%s)", item.bare, p->cores_mean,
						   *word ? ", " : "", word);
		trk__doc_item_of(d, t, item);
	}
}

const char *trk__split_words(struct trk_doc *d, const struct trk_time_breakdown *c)
{
	const char *held = "";

	if (!c->cut[0])
		return trk__doc_print(d, "%s", c->split.hint);
	if (!isnan(c->cut_mib))
		held = trk__doc_print(d, ", where up to %s is held",
				      trk__doc_value(d, trk__human_memory, c->cut_mib));
	return trk__doc_print(d, "%s; split at the line %s%s", c->split.hint,
			      trk__doc_safe(d, c->cut, TRK_BREAKDOWN_CUT_SIZE), held);
}

void trk__term_split(struct trk_doc *d, struct trk_doc_section *s,
		     const struct trk_time_breakdown *c)
{
	enum { PIECES_SHOWN = 2 };
	const struct trk_split *split = &c->split;
	struct trk_doc_term *t;

	if (!c->has_split || !split->pays)
		return;
	t = trk__doc_term(d, s, "Split", ARROW);
	for (size_t i = 0; i < split->piece_count && i < PIECES_SHOWN; i++) {
		const struct trk_piece *p = &split->piece[i];
		const char *steps = "";

		if (i == 0)
			steps = trk__doc_print(d, "%s cheaper as %zu steps: ",
					       trk__doc_value(d, trk__human_percent, split->saving),
					       split->piece_count);
		trk__doc_item(d, t, "%s%s on %.4g CPU, %s", steps,
			      trk__doc_value(d, trk__human_rough_seconds, p->seconds), p->cores,
			      trk__doc_value(d, trk__human_request, p->request_bytes / 1048576));
	}
	if (split->piece_count > PIECES_SHOWN)
		trk__doc_item(d, t, "\u2026");
	if (c->cut[0])
		trk__doc_item(d, t, "split at %s",
			      trk__doc_safe(d, c->cut, TRK_BREAKDOWN_CUT_SIZE));
}

void trk__term_cost(struct trk_doc *d, struct trk_doc_section *s, const struct trk_place *p)
{
	const struct trk_cost *c = &p->cost;
	bool elsewhere = strcmp(c->best_vendor, p->cloud.vendor) != 0;
	struct trk_doc_term *t;
	const char *here;

	if (!p->has_cost || isnan(c->usd))
		return;
	t = trk__doc_term(d, s, "Cost", ARROW);
	here = trk__doc_print(d, "%s (%s, %s/h)", trk__doc_value(d, trk__human_usd, c->usd),
			      trk__doc_safe(d, p->cloud.instance_type, 24),
			      trk__doc_value(d, trk__human_usd_per_hour, c->usd_per_hour));
	if (c->saving_usd > 0 && c->best_type[0] &&
	    strcmp(c->best_type, p->cloud.instance_type) != 0) {
		const char *best = trk__doc_print(
			d, "about %s on %s%s%s", trk__doc_value(d, trk__human_usd, c->best_usd),
			elsewhere ? trk__doc_safe(d, c->best_vendor, 12) : "", elsewhere ? " " : "",
			trk__doc_safe(d, c->best_type, 24));

		trk__doc_item(d, t, "%s", here);
		here = best;
	}
	trk__doc_item_of(
		d, t,
		(struct trk_doc_item){
			.text = c->price_date[0]
					? trk__doc_print(d, "%s, list %s", here,
							 trk__doc_safe(d, c->price_date, 10))
					: here,
			.brief = here});
}

const char *trk__slept_words(struct trk_doc *d, const struct trk_record *r)
{
	enum { SAMPLES_MIN = 3 }; /* minimum for showing means */
	double cpu_s = r->outcome.total[TRK_TOTAL_CPU_S].value;
	double seconds = (double) r->outcome.duration_ns / 1e9;

	if (r->samples < SAMPLES_MIN || !(cpu_s < 0.01 * seconds) ||
	    trk__outcome_peak_mib(&r->outcome) >= 128)
		return NULL;
	return trk__doc_print(d, "%s of CPU in %s; nothing to size",
			      trk__doc_value(d, trk__human_seconds, cpu_s),
			      trk__doc_value(d, trk__human_seconds, seconds));
}

/* ---- lines of the program ---- */

#define SECOND_S 1.0

enum { NAME_MAX_CHARS = 60, SAMPLES_MIN = 10, KILL_LINES = 4 };

/* ---- names ---- */

/* "train.py:88 step()", without the function if a short form is needed. */
static const char *name_of(struct trk_doc *d, const struct trk_record *r, uint32_t node,
			   bool function)
{
	char text[300];

	(void) trk__lines_name(r->lines, node, text, sizeof(text));
	if (!function && strchr(text, ' ') && r->lines->node[node].line > 0)
		*strchr(text, ' ') = '\0';
	return trk__doc_safe(d, text, NAME_MAX_CHARS);
}

const char *trk__growth_words(struct trk_doc *d, uint64_t sure_bytes, uint64_t between_bytes)
{
	const char *sign;
	uint64_t bytes = trk__profile_growth(sure_bytes, between_bytes, &sign);

	return trk__doc_print(d, "%s%s", sign,
			      trk__doc_value(d, trk__human_memory, (double) bytes / TRK_MIB));
}

static double peak_bytes(const struct trk_record *r)
{
	return trk__outcome_peak_mib(&r->outcome) * TRK_MIB;
}

/* Remark if growth is uncertain, or NULL: a line that reuses memory freed by another line causes no
 * page faults. */
static const char *doubt_of(const struct trk_record *r, const struct trk_lines_highlights *h)
{
	for (size_t i = 0; i < h->growths; i++) {
		const char *sign;

		(void) trk__profile_growth(h->growth[i].sure_bytes, h->growth[i].between_bytes,
					   &sign);
		if (*sign == '~' && trk__lines_growth_counts(&h->growth[i], peak_bytes(r)))
			return "~: likely, unless another line keeps what this one freed";
	}
	return NULL;
}

pid_t trk__kill_pid(const struct trk_record *r)
{
	const struct trk_process_info *biggest = trk__outcome_biggest(&r->outcome);

	return biggest ? biggest->pid : 0;
}

static bool ended_for_memory(const struct trk_record *r)
{
	return r->outcome.end == TRK_END_OUT_OF_MEMORY || r->outcome.end == TRK_END_MEMORY_LIMIT;
}

/* ---- the summary ---- */

static void add_hottest(struct trk_doc *d, struct trk_doc_term *t, const struct trk_record *r,
			const struct trk_lines_highlights *h)
{
	double all = r->outcome.total[TRK_TOTAL_CPU_S].value,
	       own = (double) h->hottest_cpu_us / 1e6;
	const char *share;

	/* CPU time outside of sampled lines belongs to the run as well. */
	if (!(all > (double) h->cpu_us / 1e6))
		all = (double) h->cpu_us / 1e6;
	share = trk__doc_value(d, trk__human_percent, own / all);
	trk__doc_item_of(d, t,
			 (struct trk_doc_item){
				 .text = trk__doc_print(d, "%s %s of CPU",
							name_of(d, r, h->hottest, true), share),
				 .brief = trk__doc_print(d, "%s %s of CPU",
							 name_of(d, r, h->hottest, false), share),
			 });
}

static void add_growth(struct trk_doc *d, struct trk_doc_term *t, const struct trk_record *r,
		       const struct trk_lines_growth *g, bool amount_first)
{
	const char *amount = trk__growth_words(d, g->sure_bytes, g->between_bytes);
	const char *name = name_of(d, r, g->node, true), *brief = name_of(d, r, g->node, false);

	trk__doc_item_of(d, t,
			 (struct trk_doc_item){
				 .text = trk__doc_print(d, "%s %s", amount_first ? amount : name,
							amount_first ? name : amount),
				 .brief = trk__doc_print(d, "%s %s", amount_first ? amount : brief,
							 amount_first ? brief : amount),
			 });
}

void trk__term_lines(struct trk_doc *d, struct trk_doc_section *s, const struct trk_record *r)
{
	struct trk_lines_highlights h;
	struct trk_doc_term *t;
	bool grew;

	if (!r->lines || r->lines->samples < SAMPLES_MIN ||
	    trk__lines_highlights_of(r->lines, 0, &h) < 0)
		return;
	grew = h.growths && trk__lines_growth_counts(&h.growth[0], peak_bytes(r)) &&
	       !ended_for_memory(r);
	if (h.hottest == TRK_LINES_ROOT && !grew)
		return;
	t = trk__doc_term(d, s, "Lines", DOT);
	if (h.hottest != TRK_LINES_ROOT)
		add_hottest(d, t, r, &h);
	if (grew)
		add_growth(d, t, r, &h.growth[0], false);
}

static const char *threads_of(struct trk_doc *d, const struct trk_lines_standing *s)
{
	if (s->threads > 1)
		return trk__doc_print(d, " (%u threads)", s->threads);
	return "";
}

/* Seconds between the last sample of the threads and the end of the run. */
static double age_of(const struct trk_record *r, const struct trk_lines_highlights *h)
{
	double age = ((double) r->outcome.duration_ns / 1e9) - (double) h->last_us / 1e6;

	return age > 0 ? age : 0;
}

void trk__term_kill_lines(struct trk_doc *d, struct trk_doc_section *s, const struct trk_record *r)
{
	struct trk_lines_highlights h;
	struct trk_doc_term *t;

	if (!r->lines || !ended_for_memory(r) ||
	    trk__lines_highlights_of(r->lines, trk__kill_pid(r), &h) < 0)
		return;
	t = NULL;
	for (size_t i = 0; i < h.growths; i++) {
		if (!trk__lines_growth_counts(&h.growth[i], peak_bytes(r)))
			continue;
		t = t ? t : trk__doc_term(d, s, "Grew", DOT);
		add_growth(d, t, r, &h.growth[i], true);
	}
	if (t && doubt_of(r, &h))
		trk__doc_item(d, t, "%s", doubt_of(r, &h));
	if (h.lasts == 0)
		return;
	t = trk__doc_term(d, s, "At kill", DOT);
	for (size_t i = 0; i < h.lasts && i < KILL_LINES; i++)
		trk__doc_item_of(d, t,
				 (struct trk_doc_item){
					 .text = trk__doc_print(d, "%s%s",
								name_of(d, r, h.last[i].node, true),
								threads_of(d, &h.last[i])),
					 .brief = name_of(d, r, h.last[i].node, false),
				 });
	if (age_of(r, &h) > SECOND_S)
		trk__doc_item(d, t, "as seen %s before the end",
			      trk__doc_value(d, trk__human_seconds, age_of(r, &h)));
}

/* ---- the verdict ---- */

static const char *grew_words(struct trk_doc *d, const struct trk_record *r,
			      const struct trk_lines_highlights *h)
{
	const char *text = "", *doubt = doubt_of(r, h);

	for (size_t i = 0; i < h->growths; i++)
		if (trk__lines_growth_counts(&h->growth[i], peak_bytes(r)))
			text = trk__doc_print(d, "%s%s%s at %s", text, *text ? ", " : "",
					      trk__growth_words(d, h->growth[i].sure_bytes,
								h->growth[i].between_bytes),
					      name_of(d, r, h->growth[i].node, true));
	if (doubt)
		text = trk__doc_print(d, "%s (%s)", text, doubt);
	return *text ? trk__doc_print(d, " Memory grew by %s.", text) : "";
}

static const char *last_words(struct trk_doc *d, const struct trk_record *r,
			      const struct trk_lines_highlights *h)
{
	const char *text = "", *when;
	size_t shown = h->lasts < KILL_LINES ? h->lasts : KILL_LINES;
	unsigned int more = h->more_threads;

	if (h->lasts == 0)
		return "";
	for (size_t i = 0; i < shown; i++)
		text = trk__doc_print(d, "%s%s%s%s", text, i ? ", " : "",
				      name_of(d, r, h->last[i].node, true),
				      threads_of(d, &h->last[i]));
	for (size_t i = shown; i < h->lasts; i++)
		more += h->last[i].threads;
	if (more)
		text = trk__doc_print(d, "%s and %u more thread%s elsewhere", text, more,
				      more == 1 ? "" : "s");
	when = age_of(r, h) > SECOND_S
		       ? trk__doc_print(d, "%s before the end",
					trk__doc_value(d, trk__human_seconds, age_of(r, h)))
		       : "In the last second";
	return trk__doc_print(d, " %s it was at %s.", when, text);
}

const char *trk__kill_line_words(struct trk_doc *d, const struct trk_record *r)
{
	struct trk_lines_highlights h;

	if (!r->lines || !ended_for_memory(r) ||
	    trk__lines_highlights_of(r->lines, trk__kill_pid(r), &h) < 0)
		return "";
	return trk__doc_print(d, "%s%s", grew_words(d, r, &h), last_words(d, r, &h));
}
