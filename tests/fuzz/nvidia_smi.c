/* The parser of nvidia-smi's output, with any bytes. Accepted values are bounded, and shares are from
 * 0 to 1. */
#include "fuzz.h"

#include <math.h>

#include "probe/gpu/nvidia_smi_text.h"

static void check_text(const char *text, size_t size)
{
	FUZZ_CHECK(memchr(text, 0, size));
}

static void check_share(double share)
{
	FUZZ_CHECK(isnan(share) || (share >= 0 && share <= 1));
}

static void check_tables(const struct trk_smi_tables *t)
{
	FUZZ_CHECK(t->gpus <= TRK_GPUS_MAX && t->processes <= TRK_SMI_PROCESSES_MAX);
	for (size_t i = 0; i < t->gpus; i++) {
		const struct trk_gpu_device *d = &t->gpu[i];

		FUZZ_CHECK(d->parent == -1);
		check_text(d->name, sizeof(d->name));
		check_text(d->uuid, sizeof(d->uuid));
		check_text(d->bus, sizeof(d->bus));
		check_text(d->driver, sizeof(d->driver));
		for (int k = 0; k < TRK_GPU_METRICS; k++)
			FUZZ_CHECK(isnan(d->metric[k].value) ==
				   (d->metric[k].why != TRK_GPU_KNOWN));
		check_share(d->metric[TRK_GPU_UTILIZATION_METRIC].value);
	}
	for (size_t i = 0; i < t->processes; i++) {
		FUZZ_CHECK(t->process[i].pid >= 0 && t->process[i].index < TRK_GPUS_MAX);
		check_text(t->process[i].uuid, sizeof(t->process[i].uuid));
		FUZZ_CHECK(isnan(t->process[i].bytes) || t->process[i].bytes >= 0);
		check_share(t->process[i].share);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct trk_smi_tables tables;
	char *text = fuzz_text(data, size);

	memset(&tables, 0, sizeof(tables));
	trk__smi_parse(text, &tables);
	check_tables(&tables);
	trk__smi_parse(text, &tables);
	check_tables(&tables);
	free(text);
	return 0;
}
