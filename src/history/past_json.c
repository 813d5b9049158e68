#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json_read.h"
#include "history/history.h"

static const struct {
	const char *key;
	size_t offset;
} figures[] = {
#define X(name)                                                                                    \
	{                                                                                          \
#name, offsetof(struct trk_past, name)                                             \
	}
	X(start_s),          X(duration_s),       X(cpu_s),           X(cpu_mean),
	X(cpu_max),          X(peak_memory_mib),  X(memory_mean_mib), X(disk_read_bytes),
	X(disk_write_bytes), X(gpu_mean),         X(gpu_max),         X(vram_max_mib),
	X(limit_cpu),        X(limit_memory_mib), X(request_cpu),     X(request_memory_mib),
	X(input_bytes),      X(cost_usd),
#undef X
};

static void take(const struct trk_json_doc *d, const struct trk_json_value *v, struct trk_past *ret)
{
	double code = trk__json_get_double(d, v, "code");

	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
		double value = trk__json_get_double(d, v, figures[i].key);

		/* No figure of a run is below zero or without end. */
		if (!(value >= 0) || isinf(value))
			value = NAN;
		memcpy((char *) ret + figures[i].offset, &value, sizeof(value));
	}
	ret->code = code > 0 && code <= 255 ? (int) code : 0;
	(void) snprintf(ret->verdict, sizeof(ret->verdict), "%s",
			trk__verdict_name(TRK_VERDICT_EXITED));
	(void) snprintf(ret->kind, sizeof(ret->kind), "attach");
	ret->ended = true;
}

size_t trk__past_from_json(const char *text, size_t len, struct trk_past *ret, size_t max)
{
	const struct trk_json_limits limits = {.nan_is_null = true};
	TRK_JSON_DOC_CLEANUP struct trk_json_doc d = {.count = 0};
	const struct trk_json_value *root, *v;
	size_t n = 0;

	if (trk__json_read(text, len, &limits, "", &d, NULL) < 0)
		return 0;
	root = trk__json_root(&d);
	if (root->type != TRK_JSON_ARRAY)
		return 0;
	for (v = trk__json_first(&d, root); v && n < max; v = trk__json_next(&d, v))
		if (v->type == TRK_JSON_OBJECT)
			take(&d, v, &ret[n++]);
	return n;
}
