#include "api/server_needs.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "answer/offers.h"

enum { OPTIONS_MAX = 4096 /* bytes of the struct of a newer caller */ };

int trk__why(char *why, size_t size, int code, const char *format, ...)
{
	va_list args;

	if (why && size) {
		va_start(args, format);
		trk__message(why, size, format, args);
		va_end(args);
	}
	return code;
}

int trk__options_copy(const char *what, const void *given, size_t least, void *ret, size_t size,
		      char *why, size_t why_size)
{
	size_t given_size = 0;

	if (!given)
		return 0;
	memcpy(&given_size, given, sizeof(given_size));
	if (given_size < least || given_size > OPTIONS_MAX)
		return trk__why(why, why_size, -EINVAL, "%s: size is not set", what);
	memcpy(ret, given, given_size < size ? given_size : size);
	return 0;
}

static bool are_in_range(const struct trk_server_needs *n)
{
	const struct {
		double value, most;
	} numbers[] = {
		{n->vcpus, 1e6},     {n->gpus, 1e6},        {n->memory_mib, 1e12},
		{n->vram_mib, 1e12}, {n->storage_gb, 1e12},
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (!(numbers[i].value >= 0 && numbers[i].value <= numbers[i].most))
			return false;
	return true;
}

int trk__server_needs_read(const struct trk_server_needs *given, struct trk_server_needs *n,
			   char *why, size_t size)
{
	int r;

	*n = (struct trk_server_needs) TRK_SERVER_NEEDS_INIT;
	r = trk__options_copy("needs", given, offsetof(struct trk_server_needs, memory_mib), n,
			      sizeof(*n), why, size);
	if (r < 0)
		return r;
	if (!are_in_range(n))
		return trk__why(why, size, -TRK_ERR_RANGE, "needs: a number is out of range");
	if (trk__offers_order(n->order_by) < 0)
		return trk__why(why, size, -EINVAL,
				"order_by: not one of: price run-cost score-per-price");
	return 0;
}

struct trk_need_words trk__server_words(const struct trk_server_needs *n)
{
	return (struct trk_need_words){
		.arch = n->arch,
		.allocation = n->allocation,
		.vendors = n->vendors,
		.regions = n->regions,
		.countries = n->countries,
		.exclude = n->exclude,
	};
}

/* Round up to whole vCPUs and GPUs. */
static uint32_t round_up(double value)
{
	uint32_t whole = (uint32_t) value;

	return whole < value ? whole + 1 : whole;
}

struct trk_catalog_query trk__server_wishes(const struct trk_server_needs *n)
{
	struct trk_catalog_query q = {
		.vcpus = round_up(n->vcpus),
		.memory_bytes = (uint64_t) (n->memory_mib * 1048576),
		.gpus = round_up(n->gpus),
		.vram_bytes = (uint64_t) (n->vram_mib * 1048576),
		.storage_gb = round_up(n->storage_gb < 4e9 ? n->storage_gb : 4e9),
		.gpu_shares = n->gpu_shares != 0,
		.spot = n->spot != 0,
		.previous_generation = n->previous_generation != 0,
		.today = trk__catalog_today(),
	};

	if (q.vram_bytes && !q.gpus)
		q.gpus = 1;
	return q;
}
