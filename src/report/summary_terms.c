#include "report/summary_terms.h"

#include <math.h>
#include <string.h>

#define DOT   " \u00b7 "
#define ARROW " \u2192 "

/* Smaller parts are left out. */
static const double LEAST_SHARE = 0.005;

void trk__term_time(struct trk_doc *d, struct trk_doc_section *s,
		    const struct trk_time_breakdown *c)
{
	static const char *const words[TRK_WALL_ITEMS] = {
		[TRK_WALL_ON_CPU] = "computing",        [TRK_WALL_GPU] = "on the GPU",
		[TRK_WALL_DISK] = "waiting for disk",   [TRK_WALL_MEMORY_STALL] = "memory stall",
		[TRK_WALL_CPU_WAIT] = "queued for CPU", [TRK_WALL_OTHER] = "sleeping, other",
	};
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
				      words[best]);
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
