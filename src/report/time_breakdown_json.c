/* The breakdown of a run's time as JSON. */

#include "report/time_breakdown.h"

#define GIB 1073741824.0

static void shares_json(struct trk_json *j, const struct trk_wall_split *split)
{
	static const char *const keys[TRK_WALL_ITEMS] = {
		[TRK_WALL_ON_CPU] = "on_cpu",    [TRK_WALL_GPU] = "on_gpu",
		[TRK_WALL_DISK] = "disk",        [TRK_WALL_MEMORY_STALL] = "memory",
		[TRK_WALL_CPU_WAIT] = "for_cpu", [TRK_WALL_OTHER] = "other",
	};

	trk__json_key_open(j, "share", '{');
	for (int i = 0; i < TRK_WALL_ITEMS; i++)
		trk__json_key_double(j, keys[i], split->share[i]);
	trk__json_close(j, '}');
}

static void bound_json(struct trk_json *j, enum trk_bottleneck bound)
{
	const char *word = trk__bottleneck_word(bound);

	trk__json_key_or_null(j, "bound", word);
}

static void wall_json(struct trk_json *j, const struct trk_time_breakdown *c)
{
	if (!trk__json_key_object(j, "wall", c->has_wall))
		return;
	trk__json_key_double(j, "seconds", c->seconds);
	trk__json_key_text(j, "quality", "estimated");
	shares_json(j, &c->wall);
	trk__json_key_bool(j, "other_holds_unknown", c->wall.other_holds_unknown);
	bound_json(j, c->bound);
	trk__json_key_text(j, "bottleneck", c->bottleneck);
	trk__json_close(j, '}');
}

static void phases_json(struct trk_json *j, const struct trk_time_breakdown *c)
{
	trk__json_key_open(j, "phases", '[');
	for (size_t i = 0; i < c->phase_count; i++) {
		const struct trk_run_phase *p = &c->phase[i];

		trk__json_open(j, '{');
		trk__json_key_or_null(j, "name", p->name);
		trk__json_key_or_null(j, "function", p->function);
		trk__json_key_text(j, "from", c->marked ? "mark" : "figures");
		trk__json_key_double(j, "start_s", p->start_s);
		trk__json_key_double(j, "end_s", p->end_s);
		trk__json_key_u64(j, "later_phases", p->later);
		trk__json_key_double(j, "cpu_mean", p->cores_mean);
		trk__json_key_double(j, "peak_memory_mib", p->memory_peak_mib);
		shares_json(j, &p->split);
		bound_json(j, p->bound);
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
}

static void split_json(struct trk_json *j, const struct trk_time_breakdown *c)
{
	const struct trk_split *s = &c->split;

	if (!trk__json_key_object(j, "split", c->has_split))
		return;
	trk__json_key_bool(j, "pays", s->pays);
	trk__json_key_double(j, "saving", s->saving);
	trk__json_key_or_null(j, "hint", s->hint);
	trk__json_key_or_null(j, "cut", c->cut);
	trk__json_key_double(j, "cut_memory_mib", c->cut_mib);
	trk__json_key_open(j, "pieces", '[');
	for (size_t i = 0; i < s->piece_count; i++) {
		trk__json_open(j, '{');
		trk__json_key_double(j, "seconds", s->piece[i].seconds);
		trk__json_key_double(j, "cpu", s->piece[i].cores);
		trk__json_key_double(j, "memory_mib", s->piece[i].request_bytes / GIB * 1024);
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
	trk__json_close(j, '}');
}

void trk__time_breakdown_json(struct trk_json *j, const struct trk_time_breakdown *c)
{
	wall_json(j, c);
	phases_json(j, c);
	split_json(j, c);
}
