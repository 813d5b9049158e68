/* The table of GPUs: a row a device, and a row an instance. */
#include "report/gpus.h"
#include "report/report_private.h"

static const struct trk_report_column columns[] = {
	{"gpu", "GPU", TRK_CELL_TEXT},
	{"use", "Use, mean", TRK_CELL_NUMBER},
	{"sm_activity", "Multiprocessors, mean", TRK_CELL_NUMBER},
	{"memory", "Memory, peak", TRK_CELL_NUMBER},
	{"job_memory", "of it by the job", TRK_CELL_NUMBER},
	{"power", "Power, mean", TRK_CELL_NUMBER},
	{"temperature", "Hottest", TRK_CELL_NUMBER},
	{"energy", "Energy", TRK_CELL_NUMBER},
	{"slowed_by", "Slowed by", TRK_CELL_TEXT},
};

static struct trk_report_cell share(struct trk_report *r, double value)
{
	return isnan(value) ? trk__report_cell("\xe2\x80\x94", NAN)
			    : trk__report_cell(trk__report_percent(r, value), value);
}

static struct trk_report_cell amount(struct trk_report *r, double value, const char *unit)
{
	return isnan(value)
		       ? trk__report_cell("\xe2\x80\x94", NAN)
		       : trk__report_cell(
				 trk__report_print(r, "%s %s", trk__report_number(r, value), unit),
				 value);
}

static struct trk_report_cell bytes(struct trk_report *r, double value)
{
	return isnan(value) ? trk__report_cell("\xe2\x80\x94", NAN)
			    : trk__report_cell(trk__report_memory(r, value / MIB), value);
}

static void add_gpu(struct trk_report *r, struct trk_report_table *t, const struct trk_gpu_total *g)
{
	struct trk_report_cell *row = trk__report_row(r, t);
	char slowed[160];

	if (!row)
		return;
	row[0] = trk__report_tone(
		trk__report_cell(trk__report_print(r, "%s%s",
						   g->device.parent >= 0 ? "instance: " : "",
						   trk__report_safe(r, g->device.name, 90)),
				 NAN),
		TRK_TONE_STRONG);
	row[1] = share(r, trk__gpu_total_mean(g, TRK_GPU_UTILIZATION_METRIC));
	row[2] = share(r, trk__gpu_total_mean(g, TRK_GPU_SM_ACTIVITY_METRIC));
	row[3] = bytes(r, trk__gpu_total_max(g, TRK_GPU_MEMORY_USED_METRIC));
	row[4] = bytes(r, trk__gpu_total_max(g, TRK_GPU_TREE_MEMORY_METRIC));
	row[5] = amount(r, trk__gpu_total_mean(g, TRK_GPU_POWER_METRIC), "W");
	row[6] = amount(r, trk__gpu_total_max(g, TRK_GPU_TEMPERATURE_METRIC),
			"\xc2\xb0"
			"C");
	row[7] = amount(r, g->energy_j, "J");
	if (g->seconds[TRK_GPU_THROTTLE_METRIC] > 0) {
		trk__gpus_slowed_by(g->throttled, slowed, sizeof(slowed));
		row[8].text = slowed[0] ? trk__report_print(r, "%s", slowed) : "nothing";
	}
}

void trk__report_gpus(struct trk_report *r, const struct trk_record *record,
		      struct trk_report_section *s)
{
	struct trk_report_table *t;

	if (!record->gpus.count)
		return;
	t = trk__report_table(s, "gpus", "GPUs", columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < record->gpus.count; i++)
		add_gpu(r, t, &record->gpus.total[i]);
}
