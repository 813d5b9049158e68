#include "record/place.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "probe/gpu/poller.h"

enum { LOOK_STEPS = 400 };
#define LOOK_NS TRK_NS_PER_S

#define NUMBER(part, member, field)                                                                \
	{                                                                                          \
#field, TRK_PLACE_##part, true, offsetof(struct trk_place, member.field),          \
			sizeof(double)                                                             \
	}
#define TEXT(part, member, field)                                                                  \
	{                                                                                          \
#field, TRK_PLACE_##part, false, offsetof(struct trk_place, member.field),         \
			sizeof(((struct trk_place *) NULL)->member.field)                          \
	}

/* The keys are those of the files and of the JSON. */
const struct trk_place_field trk__place_fields[] = {
	TEXT(SERVER, server, os),
	TEXT(SERVER, server, kernel),
	TEXT(SERVER, server, arch),
	TEXT(SERVER, server, cpu_model),
	TEXT(SERVER, server, cpu_vendor),
	NUMBER(SERVER, server, vcpus),
	NUMBER(SERVER, server, cores),
	NUMBER(SERVER, server, sockets),
	NUMBER(SERVER, server, threads_per_core),
	NUMBER(SERVER, server, numa_nodes),
	NUMBER(SERVER, server, memory_mib),
	NUMBER(SERVER, server, disks),
	NUMBER(SERVER, server, disk_gb),
	TEXT(SERVER, server, virtualization),
	TEXT(SERVER, server, virtualization_from),
	TEXT(SERVER, server, container),
	TEXT(SERVER, server, container_from),
	TEXT(SERVER, server, maker),
	TEXT(SERVER, server, product),
	NUMBER(SERVER, server, cpu_limit),
	TEXT(SERVER, server, cpu_limit_from),
	NUMBER(SERVER, server, memory_limit_mib),
	TEXT(SERVER, server, memory_limit_from),
	NUMBER(SERVER, server, gpu_count),
	TEXT(SERVER, server, gpu_names),
	NUMBER(SERVER, server, gpu_memory_mib),
	TEXT(SERVER, server, gpu_reason),
	TEXT(CLOUD, cloud, vendor),
	TEXT(CLOUD, cloud, region),
	TEXT(CLOUD, cloud, zone),
	TEXT(CLOUD, cloud, instance_type),
	TEXT(CLOUD, cloud, allocation),
	TEXT(CLOUD, cloud, source),
	NUMBER(CLOUD, cloud, discovery_time),
	TEXT(CLOUD, cloud, reason),
	TEXT(CLOUD, cloud, inferred),
	NUMBER(COST, cost, usd),
	NUMBER(COST, cost, usd_per_hour),
	NUMBER(COST, cost, billed_s),
	NUMBER(COST, cost, idle_cpu_usd),
	NUMBER(COST, cost, idle_memory_usd),
	TEXT(COST, cost, price_source),
	TEXT(COST, cost, price_date),
	TEXT(COST, cost, price_quality),
	TEXT(COST, cost, best_vendor),
	TEXT(COST, cost, best_type),
	TEXT(COST, cost, best_region),
	NUMBER(COST, cost, best_usd),
	NUMBER(COST, cost, best_usd_per_hour),
	NUMBER(COST, cost, best_run_s),
	NUMBER(COST, cost, saving_usd),
	TEXT(COST, cost, best_price_source),
	TEXT(COST, cost, best_price_date),
	TEXT(COST, cost, reason),
};

const size_t trk__place_field_count = sizeof(trk__place_fields) / sizeof(trk__place_fields[0]);

_Static_assert(sizeof(struct trk_place) <= UINT16_MAX, "offsets of its fields have 16 bits");

double trk__place_number(const struct trk_place *p, const struct trk_place_field *f)
{
	double value;

	if (!f->is_number)
		return NAN;
	memcpy(&value, (const char *) p + f->offset, sizeof(value));
	return value;
}

const char *trk__place_text(const struct trk_place *p, const struct trk_place_field *f)
{
	return f->is_number ? "" : (const char *) p + f->offset;
}

void trk__place_init(struct trk_place *p)
{
	const double unknown = NAN;

	memset(p, 0, sizeof(*p));
	for (size_t i = 0; i < trk__place_field_count; i++)
		if (trk__place_fields[i].is_number)
			memcpy((char *) p + trk__place_fields[i].offset, &unknown, sizeof(unknown));
}

void trk__place_look(struct trk_place *p, const struct trk_env *env)
{
	trk__server_read(env, &p->server);
	p->has_server = true;
}

static bool has_part(const struct trk_place *p, enum trk_place_part part)
{
	return part == TRK_PLACE_SERVER  ? p->has_server
	       : part == TRK_PLACE_CLOUD ? p->has_cloud
					 : p->has_cost;
}

/* Eight bytes, the lowest first, whatever the machine's own order is. */
static void put_number(struct trk_buf *b, double value)
{
	unsigned char bytes[8];
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	for (int i = 0; i < 8; i++)
		bytes[i] = (unsigned char) (bits >> (8 * i));
	trk__buf_bytes(b, bytes, sizeof(bytes));
}

static double get_number(const char *value)
{
	uint64_t bits = 0;
	double number;

	for (int i = 0; i < 8; i++)
		bits |= (uint64_t) (unsigned char) value[i] << (8 * i);
	memcpy(&number, &bits, sizeof(number));
	return number;
}

void trk__place_format(struct trk_buf *b, const struct trk_place *p, enum trk_place_part part)
{
	if (!has_part(p, part))
		return;
	trk__buf_varint(b, part);
	for (size_t i = 0; i < trk__place_field_count; i++) {
		const struct trk_place_field *f = &trk__place_fields[i];
		double value = trk__place_number(p, f);
		const char *text = trk__place_text(p, f);

		if (f->part != part || (f->is_number ? isnan(value) : !*text))
			continue;
		trk__buf_bytes(b, f->key, strlen(f->key));
		if (f->is_number)
			put_number(b, value);
		else
			trk__buf_bytes(b, text, strlen(text));
	}
}

static const struct trk_place_field *find(uint64_t part, const char *key, size_t len)
{
	for (size_t i = 0; i < trk__place_field_count; i++)
		if (trk__place_fields[i].part == part && strlen(trk__place_fields[i].key) == len &&
		    !memcmp(trk__place_fields[i].key, key, len))
			return &trk__place_fields[i];
	return NULL;
}

static void take(struct trk_place *p, const struct trk_place_field *f, const char *value,
		 size_t len)
{
	char *to = (char *) p + f->offset;
	double number;

	if (f->is_number && len == sizeof(number)) {
		number = get_number(value);
		memcpy(to, &number, sizeof(number));
	} else if (!f->is_number) {
		if (len >= f->size)
			len = f->size - 1u;
		memcpy(to, value, len);
		to[len] = '\0';
	}
}

int trk__place_parse(const void *data, size_t len, struct trk_place *p)
{
	struct trk_cursor c = {data, (const unsigned char *) data + len, 0};
	uint64_t part = trk__cursor_varint(&c);

	if (c.bad)
		return -EBADMSG;
	if (part >= TRK_PLACE_PARTS)
		return 0; /* of a newer version */
	while (c.at < c.end) {
		size_t key_len, value_len;
		const char *key = trk__cursor_bytes(&c, &key_len);
		const char *value = trk__cursor_bytes(&c, &value_len);
		const struct trk_place_field *f;

		if (c.bad)
			return -EBADMSG;
		f = find(part, key, key_len);
		if (f)
			take(p, f, value, value_len);
	}
	p->has_server |= part == TRK_PLACE_SERVER;
	p->has_cloud |= part == TRK_PLACE_CLOUD;
	p->has_cost |= part == TRK_PLACE_COST;
	return 0;
}

/* ---- GPUs ---- */

void trk__place_take_gpus(struct trk_place *p, const struct trk_gpu_device *device, size_t stride,
			  size_t count)
{
	struct trk_server *s = &p->server;
	double bytes = 0;
	size_t n = 0, gpus = 0;

	s->gpu_names[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		const struct trk_gpu_device *d =
			(const struct trk_gpu_device *) (const void *) ((const char *) device +
									i * stride);

		if (d->parent >= 0) /* an instance of a GPU is none beside it */
			continue;
		gpus++;
		bytes += d->metric[TRK_GPU_MEMORY_TOTAL_METRIC].value;
		if (n < sizeof(s->gpu_names))
			n += (size_t) snprintf(s->gpu_names + n, sizeof(s->gpu_names) - n, "%s%s",
					       n ? "\n" : "", d->name);
	}
	s->gpu_count = (double) gpus;
	s->gpu_memory_mib = bytes / 1048576.0;
	s->gpu_reason[0] = '\0';
}

bool trk__place_look_gpus(struct trk_place *p, const struct trk_env *env, bool always,
			  const struct trk_gpu_hints *hints)
{
	struct trk_gpu_poller *poller =
		trk__gpu_poller_new(env, always ? TRK_GPU_ALWAYS : TRK_GPU_AUTO, hints, NULL);
	const struct timespec step = {0, (long) (LOOK_NS / LOOK_STEPS)};
	const struct trk_gpu_reading *reading = NULL;
	uint64_t until_ns = trk__clock_monotonic_ns() + 2 * LOOK_NS;

	if (!poller)
		return true;
	/* One that starts a program answers at once, and has its devices later. */
	while (!(reading && reading->devices) && trk__clock_monotonic_ns() < until_ns) {
		(void) nanosleep(&step, NULL);
		if (!trk__gpu_poller_is_ready(poller))
			continue;
		if (trk__gpu_poller_is_useless(poller))
			break;
		trk__gpu_poller_ask(poller, NULL, 0);
		reading = trk__gpu_poller_take(poller, LOOK_NS, 2 * LOOK_NS);
	}
	if (reading && reading->devices)
		trk__place_take_gpus(p, reading->device, sizeof(reading->device[0]),
				     reading->devices);
	else {
		p->server.gpu_count = p->server.gpu_memory_mib = NAN;
		(void) snprintf(p->server.gpu_reason, sizeof(p->server.gpu_reason), "%s",
				trk__gpu_poller_text(poller));
	}
	trk__gpu_poller_free(poller);
	return trk__gpu_threads() == 0;
}
