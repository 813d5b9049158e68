#include "model/place.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

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

void trk__place_take_gpus(struct trk_place *p, const struct trk_gpu_device *device, size_t stride,
			  size_t count)
{
	struct trk_server *s = &p->server;
	double bytes = 0;
	size_t n = 0, gpus = 0, with_memory = 0;

	s->gpu_names[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		const struct trk_gpu_device *d =
			(const struct trk_gpu_device *) (const void *) ((const char *) device +
									i * stride);

		if (d->parent >= 0) /* a MIG instance is not counted in addition to its GPU */
			continue;
		gpus++;
		/* A GPU that uses the memory of the machine does not make the sum unknown. */
		if (d->metric[TRK_GPU_MEMORY_TOTAL_METRIC].why == TRK_GPU_KNOWN ||
		    trk__gpu_is_missing(d, TRK_GPU_MEMORY_TOTAL_METRIC)) {
			bytes += d->metric[TRK_GPU_MEMORY_TOTAL_METRIC].value;
			with_memory++;
		}
		if (n < sizeof(s->gpu_names))
			n += (size_t) snprintf(s->gpu_names + n, sizeof(s->gpu_names) - n, "%s%s",
					       n ? "\n" : "", d->name);
	}
	s->gpu_count = (double) gpus;
	s->gpu_memory_mib = with_memory ? bytes / 1048576.0 : (double) NAN;
	s->gpu_reason[0] = '\0';
}
