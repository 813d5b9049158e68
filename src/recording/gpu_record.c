#include "recording/format.h"
#include "base/maths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- bytes ---- */

/* Places 21 to 26, and those from 31 on, are of figures that older versions have recorded: fan, power
 * limit, highest clocks, link, retired pages and remapped rows. */
enum { GONE = 6, PLACES = TRK_GPU_METRICS + GONE };

static int place_of(int metric)
{
	return metric < TRK_GPU_ECC_CORRECTED_METRIC ? metric : metric + GONE;
}

/* The metric of a place; -1: none. */
static int metric_at(int place)
{
	if (place < TRK_GPU_ECC_CORRECTED_METRIC)
		return place;
	place -= GONE;
	return place >= TRK_GPU_ECC_CORRECTED_METRIC && place < TRK_GPU_METRICS ? place : -1;
}

/* The unit of an integer in the file. */
static double scale_of(int metric)
{
	switch (trk__gpu_metric_units[metric][0]) {
	case 's': /* share */
		return 1e4;
	case 'W':
	case 'J':
	case 'd': /* degC */
		return 1e3;
	default:
		return 1;
	}
}

void trk__format_gpus(struct trk_buf *b, const struct trk_gpu_device *device, size_t count)
{
	trk__buf_varint(b, count);
	for (size_t i = 0; i < count; i++) {
		const struct trk_gpu_device *d = &device[i];

		trk__buf_text(b, d->vendor);
		trk__buf_text(b, d->name);
		trk__buf_text(b, d->uuid);
		trk__buf_text(b, d->bus);
		trk__buf_text(b, d->driver);
		trk__buf_svarint(b, d->parent);
		trk__buf_svarint(b, d->node);
		trk__buf_varint(b, (d->mig ? 1u : 0) |
					   (d->by_device ? 2u | (unsigned int) d->basis << 2 : 0));
		trk__buf_varint(b, PLACES);
		for (int place = 0; place < PLACES; place++)
			trk__buf_putc(b, (char) (metric_at(place) < 0
							 ? TRK_GPU_NOT_ASKED
							 : d->metric[metric_at(place)].why));
	}
}

static void get_device(struct trk_cursor *c, struct trk_gpu_device *d)
{
	uint64_t flags, metrics;
	int64_t parent, node;

	memset(d, 0, sizeof(*d));
	trk__cursor_text(c, d->vendor, sizeof(d->vendor));
	trk__cursor_text(c, d->name, sizeof(d->name));
	trk__cursor_text(c, d->uuid, sizeof(d->uuid));
	trk__cursor_text(c, d->bus, sizeof(d->bus));
	trk__cursor_text(c, d->driver, sizeof(d->driver));
	parent = trk__cursor_svarint(c);
	node = trk__cursor_svarint(c);
	flags = trk__cursor_varint(c);
	metrics = trk__cursor_varint(c);
	if (metrics > 64 || (uint64_t) (c->end - c->at) < metrics)
		c->bad = 1;
	if (c->bad)
		return;
	d->parent = parent >= 0 && parent < TRK_GPUS_MAX ? (int) parent : -1;
	d->node = node >= 0 && node < 1024 ? (int) node : -1;
	d->mig = flags & 1;
	d->by_device = flags & 2;
	if (d->by_device && (flags >> 2 & 7) < TRK_GPU_BASES)
		d->basis = (enum trk_gpu_basis)(flags >> 2 & 7);
	for (int k = 0; k < TRK_GPU_METRICS; k++) {
		unsigned int why =
			(uint64_t) place_of(k) < metrics ? c->at[place_of(k)] : TRK_GPU_NOT_ASKED;

		d->metric[k] = trk__gpu_unknown(why == TRK_GPU_KNOWN || why >= TRK_GPU_WHYS
							? TRK_GPU_NOT_ASKED
							: (enum trk_gpu_why) why);
	}
	c->at += metrics;
}

int trk__parse_gpus(const void *data, size_t len, struct trk_gpu_device *device, size_t *ret_count)
{
	struct trk_cursor c = {data, (const unsigned char *) data + len, 0};
	uint64_t count = trk__cursor_varint(&c);
	struct trk_gpu_device *list;

	if (c.bad || count > TRK_GPUS_MAX)
		return -EBADMSG;
	list = calloc(count + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (uint64_t i = 0; i < count && !c.bad; i++)
		get_device(&c, &list[i]);
	if (!c.bad) {
		memcpy(device, list, count * sizeof(*list));
		*ret_count = (size_t) count;
	}
	free(list);
	return c.bad ? -EBADMSG : 0;
}

void trk__format_gpu_row(struct trk_buf *b, const struct trk_gpu_device *device, size_t count,
			 int64_t elapsed_us, int64_t interval_us)
{
	trk__buf_svarint(b, elapsed_us);
	trk__buf_svarint(b, interval_us);
	trk__buf_varint(b, count);
	for (size_t i = 0; i < count; i++) {
		const struct trk_gpu_value *m = device[i].metric;
		uint64_t known = 0;

		for (int k = 0; k < TRK_GPU_METRICS; k++)
			if (m[k].why == TRK_GPU_KNOWN)
				known |= 1ull << place_of(k);
		trk__buf_varint(b, known);
		for (int k = 0; k < TRK_GPU_METRICS; k++)
			if (known >> place_of(k) & 1)
				trk__buf_svarint(b, trk__whole(m[k].value * scale_of(k) + 0.5,
							       INT64_MIN, INT64_MAX));
	}
}

static void skip_values(struct trk_cursor *c)
{
	uint64_t places = trk__cursor_varint(c);

	for (; places && !c->bad; places &= places - 1)
		(void) trk__cursor_svarint(c);
}

static void get_values(struct trk_cursor *c, struct trk_gpu_device *d)
{
	uint64_t places = trk__cursor_varint(c);

	/* The reason of a value that was known is not recorded again. */
	for (; d->known; d->known &= d->known - 1)
		d->metric[__builtin_ctzll(d->known)] = trk__gpu_unknown(TRK_GPU_NOT_ASKED);
	for (; places; places &= places - 1) {
		int k = metric_at(__builtin_ctzll(places));
		int64_t value = trk__cursor_svarint(c);

		if (k < 0)
			continue;
		d->metric[k] = trk__gpu_known((double) value / scale_of(k));
		d->known |= 1ull << k;
	}
}

int trk__parse_gpu_row(const void *data, size_t len, struct trk_gpu_device *device, size_t count,
		       int64_t *ret_elapsed_us, int64_t *ret_interval_us)
{
	struct trk_cursor c = {data, (const unsigned char *) data + len, 0};
	int64_t elapsed_us = trk__cursor_svarint(&c), interval_us = trk__cursor_svarint(&c);
	uint64_t devices = trk__cursor_varint(&c);
	struct trk_cursor first = c;

	if (c.bad || devices != count || count > TRK_GPUS_MAX)
		return -EBADMSG;
	for (size_t i = 0; i < count && !c.bad; i++)
		skip_values(&c);
	if (c.bad || c.at != c.end)
		return -EBADMSG;
	for (size_t i = 0; i < count; i++)
		get_values(&first, &device[i]);
	*ret_elapsed_us = elapsed_us;
	*ret_interval_us = interval_us;
	return 0;
}
