#include "probe/gpu/nvidia_smi_text.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/parse.h"

enum { CELLS_MAX = 13, CELL_SIZE = 96 };

struct line {
	size_t n;
	char cell[CELLS_MAX][CELL_SIZE];
};

/* Split a line into cells, and move *text to the next line. The last cell has the rest, as a name
 * may contain commas. ", " separates cells; "120,5" is a number. */
static void split(const char **text, const char *separator, struct line *ret)
{
	const char *at = trk__skip_blanks(*text), *end = at + strcspn(at, "\r\n");

	*text = trk__skip_line(at);
	for (ret->n = 0; at < end && ret->n < CELLS_MAX; ret->n++) {
		const char *stop = memmem(at, (size_t) (end - at), separator, strlen(separator));

		if (!stop || ret->n + 1 == CELLS_MAX)
			stop = end;
		(void) snprintf(ret->cell[ret->n], CELL_SIZE, "%.*s", (int) (stop - at), at);
		for (at = stop; at < end && strchr(", \t", *at);)
			at++;
	}
}

/* A figure in a unit of `scale`; shares are at most 1. */
static struct trk_gpu_value value_of(char *text, double scale)
{
	double value, max = scale < 1 ? 1 : 1e18;

	if (strchr(text, ','))
		*strchr(text, ',') = '.';
	if (trk__parse_decimal(text, &value) == 0 && value >= 0 && value * scale <= max)
		return trk__gpu_known(value * scale);
	if (strstr(text, "N/A") || strstr(text, "Not Supported"))
		return trk__gpu_unknown(TRK_GPU_UNSUPPORTED);
	if (strstr(text, "Permission"))
		return trk__gpu_unknown(TRK_GPU_DENIED);
	return trk__gpu_unknown(strstr(text, "lost") ? TRK_GPU_LOST : TRK_GPU_FAILED);
}

/* Positions in TRK_SMI_GPUS. */
enum { INDEX, UUID, BUS, DRIVER, FIGURES, NAME = CELLS_MAX - 1 };

static void take_gpu(struct line *l, struct trk_smi_tables *t)
{
	static const struct {
		enum trk_gpu_metric metric;
		double scale;
	} figures[NAME - FIGURES] = {
		{TRK_GPU_MEMORY_TOTAL_METRIC, TRK_MIB},
		{TRK_GPU_MEMORY_USED_METRIC, TRK_MIB},
		{TRK_GPU_UTILIZATION_METRIC, 0.01},
		{TRK_GPU_TEMPERATURE_METRIC, 1},
		{TRK_GPU_POWER_METRIC, 1},
		{TRK_GPU_CLOCK_METRIC, 1e6},
		{TRK_GPU_ECC_CORRECTED_METRIC, 1},
		{TRK_GPU_ECC_UNCORRECTED_METRIC, 1},
	};
	struct trk_gpu_device *d;
	uint64_t index;

	if (trk__parse_u64(l->cell[INDEX], &index) < 0 || index >= TRK_GPUS_MAX)
		return;
	while (t->gpus <= index)
		trk__gpu_init_device(&t->gpu[t->gpus++], "nvidia");
	t->is_listed[index] = true;
	d = &t->gpu[index];
	(void) snprintf(d->uuid, sizeof(d->uuid), "%s", l->cell[UUID]);
	(void) snprintf(d->bus, sizeof(d->bus), "%.31s", l->cell[BUS]);
	(void) snprintf(d->driver, sizeof(d->driver), "%.47s", l->cell[DRIVER]);
	(void) snprintf(d->name, sizeof(d->name), "%s", l->cell[NAME]);
	for (size_t i = 0; i < NAME - FIGURES; i++)
		d->metric[figures[i].metric] = value_of(l->cell[FIGURES + i], figures[i].scale);
}

static void take_app(struct line *l, struct trk_smi_tables *t)
{
	struct trk_smi_process *p = &t->process[t->processes];
	uint64_t pid;

	if (trk__parse_u64(l->cell[1], &pid) < 0 || pid == 0 || pid > INT32_MAX)
		return;
	*p = (struct trk_smi_process){.index = -1, .pid = (pid_t) pid, .share = NAN};
	(void) snprintf(p->uuid, sizeof(p->uuid), "%s", l->cell[0]);
	p->bytes = value_of(l->cell[2], TRK_MIB).value;
	t->processes += t->processes < TRK_SMI_PROCESSES_MAX;
}

/* "gpu pid type sm …"; which columns follow differs between drivers: "# gpu pid …" names them. */
static void take_activity(struct line *l, struct trk_smi_tables *t)
{
	struct trk_smi_process *p = &t->process[t->processes];
	uint64_t index, pid = 0;

	for (size_t i = 1; i < l->n && !strcmp(l->cell[0], "#"); i++)
		if (!strcmp(l->cell[i], "fb"))
			t->memory_cell = i - 1;
	if (l->n <= t->memory_cell || t->memory_cell < 4 ||
	    trk__parse_u64(l->cell[0], &index) < 0 || index >= TRK_GPUS_MAX ||
	    (trk__parse_u64(l->cell[1], &pid) < 0 && strcmp(l->cell[1], "-") != 0) ||
	    pid > INT32_MAX)
		return;
	*p = (struct trk_smi_process){.index = (int) index, .pid = (pid_t) pid};
	p->share = value_of(l->cell[3], 0.01).value;
	p->bytes = value_of(l->cell[t->memory_cell], TRK_MIB).value;
	t->processes += t->processes < TRK_SMI_PROCESSES_MAX;
}

void trk__smi_parse(const char *text, struct trk_smi_tables *t)
{
	struct line l;

	t->processes = t->memory_cell = 0;
	memset(t->is_listed, 0, sizeof(t->is_listed));
	t->knows_gpus = strstr(text, "No devices were found");
	/* The memory on an instance is of no known GPU. */
	t->knows_memory = strstr(text, "gpu_uuid, pid") && !strstr(text, "\nMIG-");
	while (*text) {
		const char *line = text;

		split(&text, ", ", &l);
		t->knows_gpus |= l.n == CELLS_MAX && !strcmp(l.cell[INDEX], "index");
		if (l.n == CELLS_MAX)
			take_gpu(&l, t);
		else if (l.n == 3)
			take_app(&l, t);
		else {
			split(&line, " ", &l);
			take_activity(&l, t);
		}
	}
}
