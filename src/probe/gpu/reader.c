#include "probe/gpu/reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct trk_gpu_reader *trk__gpu_reader_new(const struct trk_env *env, enum trk_gpu_mode mode,
					   const struct trk_gpu_hints *hints,
					   const struct trk_gpu_ops *const *sources)
{
	struct trk_gpu_reader *r = mode == TRK_GPU_NEVER ? NULL : calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	for (sources = sources ? sources : trk__gpu_sources;
	     *sources && r->sources < TRK_GPU_SOURCES_MAX; sources++)
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
static bool is_wanted(const struct trk_gpu_reader *r, size_t index)
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
static void describe(struct trk_gpu_reader *r, const char *why)
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

void trk__gpu_reader_open(struct trk_gpu_reader *r)
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

void trk__gpu_reader_poll(struct trk_gpu_reader *r)
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

void trk__gpu_reader_rest(struct trk_gpu_reader *r)
{
	for (size_t i = 0; i < r->sources; i++)
		if (r->state[i] && r->source[i]->rest)
			r->source[i]->rest(r->state[i]);
}

void trk__gpu_reader_close(struct trk_gpu_reader *r)
{
	for (size_t i = 0; i < r->sources; i++)
		if (r->state[i])
			r->source[i]->close(r->state[i]);
}
