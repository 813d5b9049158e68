#include "probe/gpu/nvidia_smi.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "probe/gpu/nvidia_smi_text.h"

/* ---- GPUs ---- */

enum column { NONE, INDEX, NAME, UUID, BUS, DRIVER, MIG, METRIC };

static const struct name {
	const char *text;
	enum column column;
	enum trk_gpu_metric metric;
	enum kind kind;
} names[] = {
	/* clang-format off */
	{"index",				INDEX,	0, PLAIN},
	{"name",				NAME,	0, PLAIN},
	{"gpu_name",				NAME,	0, PLAIN},
	{"uuid",				UUID,	0, PLAIN},
	{"gpu_uuid",				UUID,	0, PLAIN},
	{"pci.bus_id",				BUS,	0, PLAIN},
	{"gpu_bus_id",				BUS,	0, PLAIN},
	{"driver_version",			DRIVER,	0, PLAIN},
	{"mig.mode.current",			MIG,	0, PLAIN},
	{"memory.total",			METRIC, TRK_GPU_MEMORY_TOTAL_METRIC, MEBIBYTES},
	{"memory.used",				METRIC, TRK_GPU_MEMORY_USED_METRIC, MEBIBYTES},
	{"utilization.gpu",			METRIC, TRK_GPU_UTILIZATION_METRIC, PERCENT},
	{"utilization.memory",			METRIC, TRK_GPU_MEMORY_ACTIVITY_METRIC, PERCENT},
	{"utilization.encoder",			METRIC, TRK_GPU_ENCODER_METRIC, PERCENT},
	{"utilization.decoder",			METRIC, TRK_GPU_DECODER_METRIC, PERCENT},
	{"temperature.gpu",			METRIC, TRK_GPU_TEMPERATURE_METRIC, PLAIN},
	{"power.draw",				METRIC, TRK_GPU_POWER_METRIC, PLAIN},
	{"clocks.sm",				METRIC, TRK_GPU_CLOCK_METRIC, MEGAHERTZ},
	{"clocks.current.sm",			METRIC, TRK_GPU_CLOCK_METRIC, MEGAHERTZ},
	{"clocks.mem",				METRIC, TRK_GPU_MEMORY_CLOCK_METRIC, MEGAHERTZ},
	{"clocks.current.memory",		METRIC, TRK_GPU_MEMORY_CLOCK_METRIC, MEGAHERTZ},
	{"clocks_event_reasons.active",		METRIC, TRK_GPU_THROTTLE_METRIC, BITS},
	{"clocks_throttle_reasons.active",	METRIC, TRK_GPU_THROTTLE_METRIC, BITS},
	/* clang-format on */
};

struct heads {
	const struct name *of[FIELDS_MAX];
	size_t count, name; /* name: the column that may have commas; count: none */
};

static const struct name *find_name(struct span head)
{
	struct span bare = trk__smi_bare(head);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (trk__smi_is(bare, names[i].text))
			return &names[i];
	return NULL;
}

static bool is_gpu_head(struct span line, struct heads *ret)
{
	struct span field[FIELDS_MAX];
	struct heads h = {.count = trk__smi_split(line, field)};
	bool has_index = false;

	h.name = h.count;
	for (size_t i = 0; i < h.count; i++) {
		h.of[i] = find_name(field[i]);
		if (h.of[i] && h.of[i]->column == NAME)
			h.name = i;
		has_index |= h.of[i] && h.of[i]->column == INDEX;
	}
	if (has_index)
		*ret = h;
	return has_index;
}

static bool take_field(struct trk_smi_gpu *g, const struct name *n, struct span s)
{
	struct trk_gpu_device *d = &g->device;
	uint64_t number;

	switch (n->column) {
	case INDEX:
		if (!trk__smi_integer(s, 1023, &number))
			return false;
		g->index = (int) number;
		break;
	case NAME:
		trk__smi_copy(s, d->name, sizeof(d->name));
		break;
	case UUID:
		trk__smi_copy(s, d->uuid, sizeof(d->uuid));
		break;
	case BUS:
		trk__smi_copy(s, d->bus, sizeof(d->bus));
		break;
	case DRIVER:
		trk__smi_copy(s, d->driver, sizeof(d->driver));
		break;
	case MIG:
		d->mig = trk__smi_is(s, "Enabled");
		break;
	default:
		d->metric[n->metric] = trk__smi_value(s, n->kind);
	}
	return true;
}

static void explain_mig(struct trk_gpu_device *d)
{
	static const enum trk_gpu_metric shares[] = {
		TRK_GPU_UTILIZATION_METRIC, TRK_GPU_MEMORY_ACTIVITY_METRIC, TRK_GPU_ENCODER_METRIC,
		TRK_GPU_DECODER_METRIC};

	for (size_t i = 0; d->mig && i < sizeof(shares) / sizeof(shares[0]); i++)
		if (d->metric[shares[i]].why == TRK_GPU_UNSUPPORTED)
			d->metric[shares[i]] = trk__gpu_unknown(TRK_GPU_MIG);
}

static bool take_gpu(struct span line, const struct heads *h, struct trk_smi_gpu *ret)
{
	struct span field[FIELDS_MAX];
	size_t n = trk__smi_split(line, field);
	struct trk_smi_gpu g;

	if (n == 0 || !trk__smi_join(field, &n, h->count, h->name))
		return false;
	memset(&g, 0, sizeof(g));
	(void) snprintf(g.device.vendor, sizeof(g.device.vendor), "nvidia");
	g.device.parent = g.device.node = -1;
	for (int i = 0; i < TRK_GPU_METRICS; i++)
		g.device.metric[i] = trk__gpu_unknown(TRK_GPU_NOT_ASKED);
	for (size_t i = 0; i < n; i++)
		if (h->of[i] && !take_field(&g, h->of[i], field[i]))
			return false;
	explain_mig(&g.device);
	*ret = g;
	return true;
}

int trk__smi_gpus_parse(const char *text, struct trk_smi_gpu *gpu, size_t max, size_t *ret_count)
{
	bool in_table = false, none = false;
	struct heads heads = {.count = 0};
	size_t n = 0;

	for (; *text && n < max; text = trk__skip_line(text)) {
		struct span line = trk__smi_line(text);

		none |= trk__smi_holds(line, "No devices were found");
		if (!in_table)
			in_table = is_gpu_head(line, &heads);
		else if (take_gpu(line, &heads, &gpu[n]))
			n++;
	}
	if (!in_table && !none)
		return -EBADMSG;
	*ret_count = n;
	return 0;
}

/* ---- complaints ---- */

bool trk__smi_refused(const char *text, char *field, size_t size)
{
	const char *at = strstr(text, "Field \""), *end;

	if (!at)
		return false;
	at += strlen("Field \"");
	end = strchr(at, '"');
	if (!end || end == at || strncmp(end, "\" is not a valid field", 22) != 0 ||
	    (size_t) (end - at) >= size)
		return false;
	trk__smi_copy((struct span){at, (size_t) (end - at)}, field, size);
	return true;
}

void trk__smi_first_line(const char *text, char *to, size_t size)
{
	struct span line = {text, 0};

	for (; *text && line.len == 0; text = trk__skip_line(text)) {
		line = trk__smi_line(text);
		line = trk__smi_trimmed(line.at, line.at + line.len);
	}
	trk__smi_copy(line, to, size);
	for (; *to; to++)
		if ((unsigned char) *to > '~')
			*to = '?';
}
