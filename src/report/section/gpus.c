/* The two tables of GPUs, with a row per device and per MIG instance: use, and hardware with its
 * health. */
#include "report/gpu_summary.h"
#include "report/section/section.h"

static const struct trk_doc_column columns[] = {
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

/* Bytes as text, in binary units. */
static const char *memory_words(char text[TRK_HUMAN_SIZE], double bytes)
{
	return trk__human_memory(text, bytes / TRK_MIB);
}

static struct trk_doc_cell amount(struct trk_doc *d, double value, const char *unit)
{
	return isnan(value)
		       ? trk__doc_cell(NULL, NAN)
		       : trk__doc_cell(trk__doc_print(d, "%s %s",
						      trk__doc_value(d, trk__human_number, value),
						      unit),
				       value);
}

static struct trk_doc_cell name_of(struct trk_doc *d, const struct trk_gpu_total *g)
{
	const char *name = trk__doc_print(d, "%s%s", g->device.parent >= 0 ? "instance: " : "",
					  trk__doc_safe(d, g->device.name, 90));

	return trk__doc_tone(trk__doc_cell(name, NAN), TRK_TONE_STRONG);
}

static void add_gpu(struct trk_doc *d, struct trk_doc_table *t, const struct trk_gpu_total *g)
{
	struct trk_doc_cell *row = trk__doc_row(d, t);
	char slowed[160];

	row[0] = name_of(d, g);
	row[1] = trk__doc_figure(d, trk__human_percent,
				 trk__gpu_total_mean(g, TRK_GPU_UTILIZATION_METRIC));
	row[2] = trk__doc_figure(d, trk__human_percent,
				 trk__gpu_total_mean(g, TRK_GPU_SM_ACTIVITY_METRIC));
	row[3] =
		trk__doc_figure(d, memory_words, trk__gpu_total_max(g, TRK_GPU_MEMORY_USED_METRIC));
	row[4] =
		trk__doc_figure(d, memory_words, trk__gpu_total_max(g, TRK_GPU_TREE_MEMORY_METRIC));
	row[5] = amount(d, trk__gpu_total_mean(g, TRK_GPU_POWER_METRIC), "W");
	row[6] = amount(d, trk__gpu_total_max(g, TRK_GPU_TEMPERATURE_METRIC),
			"\xc2\xb0"
			"C");
	row[7] = trk__doc_figure(d, trk__human_energy, g->energy_j);
	if (g->seconds[TRK_GPU_THROTTLE_METRIC] > 0) {
		trk__gpus_slowed_by(g->throttled, slowed, sizeof(slowed));
		row[8].text = slowed[0] ? trk__doc_print(d, "%s", slowed) : "nothing";
	}
}

/* ---- clocks and health ---- */

static const struct trk_doc_column hardware_columns[] = {
	{"gpu", "GPU", TRK_CELL_TEXT},
	{"clock", "Clock, mean", TRK_CELL_TEXT},
	{"memory_clock", "Memory clock, mean", TRK_CELL_TEXT},
	{"encoder", "Encoder by the job, mean", TRK_CELL_NUMBER},
	{"decoder", "Decoder by the job, mean", TRK_CELL_NUMBER},
	{"ecc", "ECC errors in the run", TRK_CELL_TEXT},
	{"xid", "Xid errors", TRK_CELL_TEXT},
};

static const char *clock_text(struct trk_doc *d, const struct trk_gpu_total *g,
			      enum trk_gpu_metric clock)
{
	double mean = trk__gpu_total_mean(g, clock);

	return isnan(mean) ? NULL : trk__doc_print(d, "%.0f MHz", mean / 1e6);
}

/* Corrected errors are harmless, uncorrected ones are not. */
static const char *ecc_text(struct trk_doc *d, const struct trk_gpu_total *g)
{
	double corrected = trk__gpu_total_increase(g, TRK_GPU_ECC_CORRECTED_METRIC);
	double others = trk__gpu_total_increase(g, TRK_GPU_ECC_UNCORRECTED_METRIC);

	if (isnan(corrected + others))
		return NULL;
	if (corrected + others <= 0)
		return "none";
	return trk__doc_print(d, "%.0f corrected, %.0f not", corrected, others);
}

static const char *xid_text(struct trk_doc *d, const struct trk_gpu_total *g)
{
	double errors = trk__gpu_total_max(g, TRK_GPU_XID_METRIC);

	if (isnan(errors))
		return NULL;
	if (errors <= 0)
		return "none";
	return trk__doc_print(d, "%.0f, the last Xid %.0f", errors,
			      g->device.metric[TRK_GPU_XID_LAST_METRIC].value);
}

static void add_hardware(struct trk_doc *d, struct trk_doc_table *t, const struct trk_gpu_total *g)
{
	struct trk_doc_cell *row = trk__doc_row(d, t);

	row[0] = name_of(d, g);
	row[1].text = clock_text(d, g, TRK_GPU_CLOCK_METRIC);
	row[2].text = clock_text(d, g, TRK_GPU_MEMORY_CLOCK_METRIC);
	row[3] = trk__doc_figure(d, trk__human_percent,
				 trk__gpu_total_mean(g, TRK_GPU_TREE_ENCODER_METRIC));
	row[4] = trk__doc_figure(d, trk__human_percent,
				 trk__gpu_total_mean(g, TRK_GPU_TREE_DECODER_METRIC));
	row[5].text = ecc_text(d, g);
	row[6].text = xid_text(d, g);
}

static bool knows_hardware(const struct trk_gpu_log *log)
{
	for (size_t i = 0; i < log->count; i++) {
		const double *seconds = log->total[i].seconds;

		if (seconds[TRK_GPU_CLOCK_METRIC] > 0 ||
		    seconds[TRK_GPU_ECC_CORRECTED_METRIC] > 0 || seconds[TRK_GPU_XID_METRIC] > 0)
			return true;
	}
	return false;
}

static void add_hardware_table(struct trk_doc *d, const struct trk_gpu_log *log,
			       struct trk_doc_section *s)
{
	struct trk_doc_table *t;

	if (!knows_hardware(log))
		return;
	t = trk__doc_table(d, s, "gpu_hardware", "GPUs: clocks and health", hardware_columns,
			   sizeof(hardware_columns) / sizeof(hardware_columns[0]));
	for (size_t i = 0; i < log->count; i++)
		if (log->total[i].device.parent < 0)
			add_hardware(d, t, &log->total[i]);
}

static void add_notes(struct trk_doc *d, const struct trk_gpu_log *log, struct trk_doc_section *s)
{
	char text[512];

	for (size_t i = 0; trk__gpu_sum_text(log, i, text, sizeof(text)); i++)
		trk__doc_note(d, s, "%s.", text);
}

void trk__section_gpus(struct trk_doc *d, struct trk_doc_section *s,
		       const struct trk_report_work *w)
{
	const struct trk_gpu_log *log = &w->in->record->gpus;
	struct trk_doc_table *t;

	if (!log->count)
		return;
	t = trk__doc_table(d, s, "gpus", NULL, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < log->count; i++)
		add_gpu(d, t, &log->total[i]);
	add_hardware_table(d, log, s);
	add_notes(d, log, s);
}
