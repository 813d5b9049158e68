#include "sink/gpu_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"

/* "utilization_share": the unit stands in the name, as in all tables; counts and numbers have
 * none. */
static void column_name(int metric, char name[64])
{
	const char *unit = trk__gpu_metric_units[metric];

	if (!strcmp(unit, "count") || !strcmp(unit, "number")) {
		(void) snprintf(name, 64, "%s", trk__gpu_metric_keys[metric]);
		return;
	}
	(void) snprintf(name, 64, "%s_%s", trk__gpu_metric_keys[metric],
			!strcmp(unit, "bytes/s") ? "bytes_per_s"
			: !strcmp(unit, "degC")  ? "c"
			: !strcmp(unit, "W")     ? "w"
			: !strcmp(unit, "J")     ? "j"
			: !strcmp(unit, "Hz")    ? "hz"
						 : unit);
}

void trk__gpu_table_head(struct trk_buf *b)
{
	trk__buf_puts(b, "timestamp,elapsed_s,gpu,parent,vendor,name,uuid");
	for (int i = 0; i < TRK_GPU_METRICS; i++) {
		char name[64];

		column_name(i, name);
		trk__buf_printf(b, ",%s", name);
	}
	trk__buf_putc(b, '\n');
}

/* A name of the driver's in a CSV cell. */
static void csv_text(struct trk_buf *b, const char *text)
{
	trk__buf_puts(b, ",\"");
	for (; *text; text++) {
		if (*text == '"')
			trk__buf_putc(b, '"');
		trk__buf_putc(b, *text);
	}
	trk__buf_putc(b, '"');
}

static void csv_row(struct trk_buf *b, const struct trk_gpu_device *d, size_t index, double stamp,
		    double elapsed)
{
	trk__buf_printf(b, "%.3f,%.6f,%zu,", stamp, elapsed, index);
	if (d->parent >= 0)
		trk__buf_printf(b, "%d", d->parent);
	trk__buf_printf(b, ",%s", d->vendor);
	csv_text(b, d->name);
	csv_text(b, d->uuid);
	for (int i = 0; i < TRK_GPU_METRICS; i++) {
		trk__buf_putc(b, ',');
		if (d->metric[i].why == TRK_GPU_KNOWN)
			trk__buf_printf(b, "%.15g", d->metric[i].value);
	}
	trk__buf_putc(b, '\n');
}

static void json_row(struct trk_buf *b, const struct trk_gpu_device *d, size_t index, double stamp,
		     double elapsed)
{
	struct trk_json j;
	char name[64];

	trk__json_init(&j, b, 0);
	trk__json_open(&j, '{');
	trk__json_key_double(&j, "timestamp", stamp);
	trk__json_key_double(&j, "elapsed_s", elapsed);
	trk__json_key_double(&j, "gpu", (double) index);
	trk__json_key_double(&j, "parent", d->parent >= 0 ? d->parent : (double) NAN);
	trk__json_key_text(&j, "vendor", d->vendor);
	trk__json_key_text(&j, "name", d->name[0] ? d->name : NULL);
	trk__json_key_text(&j, "uuid", d->uuid[0] ? d->uuid : NULL);
	for (int i = 0; i < TRK_GPU_METRICS; i++) {
		column_name(i, name);
		trk__json_key_double(&j, name, d->metric[i].value);
	}
	trk__json_close(&j, '}');
	trk__buf_putc(b, '\n');
}

void trk__gpu_table_rows(struct trk_buf *b, const struct trk_gpu_log *log,
			 const struct trk_sample *row, bool json)
{
	double stamp = trk__sample_get(row, TRK_TIMESTAMP),
	       elapsed = (double) log->elapsed_us / 1e6;

	for (size_t i = 0; i < log->count; i++)
		(json ? json_row : csv_row)(b, &log->total[i].device, i, stamp, elapsed);
}
