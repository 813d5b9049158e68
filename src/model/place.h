/* Where a run ran and what it cost: the machine, the cloud, the price.
 *
 * A recording has separate records for them, pairs of a key and a value: the machine at the start,
 * the cloud when it has answered, the cost at the end. A reader skips unknown keys; a later record
 * adds to an earlier one. Prices are recorded with source and date, so that the cost of an old run
 * does not change with the catalogue. */
#ifndef TRK_MODEL_PLACE_H
#define TRK_MODEL_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/cloud.h"
#include "model/gpu.h"
#include "model/server.h"

/* Numbers are NaN and texts empty where nothing is known. */
struct trk_cost {
	double usd; /* billed cost of this run */
	double usd_per_hour;
	double billed_s;
	double idle_cpu_usd;    /* part of usd, for idle cores */
	double idle_memory_usd; /* part of usd, for memory never used */
	char price_source[64], price_date[16], price_quality[16];
	/* The cheapest server for such a run; empty: not searched, or none fits. */
	char best_vendor[TRK_CLOUD_VENDOR], best_type[TRK_CLOUD_TEXT], best_region[TRK_CLOUD_TEXT];
	double best_usd, best_usd_per_hour, best_run_s;
	double saving_usd; /* with that server; below 0: it would cost more */
	char best_price_source[64], best_price_date[16];
	char reason[TRK_CLOUD_REASON]; /* why nothing is known */
};

struct trk_place {
	bool has_server, has_cloud, has_cost;
	struct trk_server server;
	struct trk_cloud cloud;
	struct trk_cost cost;
};

void trk__place_init(struct trk_place *p);
/* The GPUs of a reading or of a recording: `count` devices, `stride` bytes from one to the next. */
void trk__place_take_gpus(struct trk_place *p, const struct trk_gpu_device *device, size_t stride,
			  size_t count);

enum trk_place_part { TRK_PLACE_SERVER, TRK_PLACE_CLOUD, TRK_PLACE_COST, TRK_PLACE_PARTS };

/* The fields of all parts, for other writers. */
struct trk_place_field {
	const char *key;
	uint8_t part;    /* enum trk_place_part */
	bool is_number;  /* double; else text of `size` bytes */
	uint16_t offset; /* into struct trk_place */
	uint16_t size;
};
extern const struct trk_place_field trk__place_fields[];
extern const size_t trk__place_field_count;
/* The value of a field: NaN or "" where it is unknown or of the other kind. */
double trk__place_number(const struct trk_place *p, const struct trk_place_field *f);
const char *trk__place_text(const struct trk_place *p, const struct trk_place_field *f);

#endif
