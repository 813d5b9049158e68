/* The parser of nvidia-smi's output, with any bytes. Accepted values are bounded, rejected text
 * does not change the count, and shares are from 0 to 1. */
#include "fuzz.h"

#include <math.h>

#include "probe/gpu/nvidia_smi_text.h"

enum { ROOM = 4 };

static void check_text(const char *text, size_t size)
{
	FUZZ_CHECK(memchr(text, 0, size));
}

static void check_gpus(const char *text)
{
	struct trk_smi_gpu gpu[ROOM];
	size_t n = 77;

	if (trk__smi_gpus_parse(text, gpu, ROOM, &n) < 0) {
		FUZZ_CHECK(n == 77);
		return;
	}
	FUZZ_CHECK(n <= ROOM);
	for (size_t i = 0; i < n; i++) {
		const struct trk_gpu_device *d = &gpu[i].device;
		struct trk_gpu_value busy = d->metric[TRK_GPU_UTILIZATION_METRIC];

		FUZZ_CHECK(gpu[i].index >= 0 && gpu[i].index < 1024);
		check_text(d->name, sizeof(d->name));
		check_text(d->uuid, sizeof(d->uuid));
		check_text(d->bus, sizeof(d->bus));
		check_text(d->driver, sizeof(d->driver));
		for (int k = 0; k < TRK_GPU_METRICS; k++)
			FUZZ_CHECK(isnan(d->metric[k].value) ==
				   (d->metric[k].why != TRK_GPU_KNOWN));
		FUZZ_CHECK(isnan(busy.value) || (busy.value >= 0 && busy.value <= 1));
	}
}

static void check_processes(const char *text,
			    int (*parse)(const char *, struct trk_smi_process *, size_t, size_t *))
{
	struct trk_smi_process p[ROOM];
	size_t n = 77;

	if (parse(text, p, ROOM, &n) < 0) {
		FUZZ_CHECK(n == 77);
		return;
	}
	FUZZ_CHECK(n <= ROOM);
	for (size_t i = 0; i < n; i++) {
		FUZZ_CHECK(p[i].pid > 0);
		check_text(p[i].uuid, sizeof(p[i].uuid));
		FUZZ_CHECK((p[i].index < 0) == (p[i].uuid[0] != '\0'));
		FUZZ_CHECK(isnan(p[i].bytes) || p[i].bytes >= 0);
		FUZZ_CHECK(isnan(p[i].share) || (p[i].share >= 0 && p[i].share <= 1));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size), field[16], line[16];
	struct trk_smi_instance instance[ROOM];
	size_t n = 77;

	check_gpus(text);
	check_processes(text, trk__smi_apps_parse);
	check_processes(text, trk__smi_pmon_parse);
	if (trk__smi_list_parse(text, instance, ROOM, &n) < 0)
		n = 0;
	FUZZ_CHECK(n <= ROOM);
	for (size_t i = 0; i < n; i++) {
		FUZZ_CHECK(instance[i].index >= 0 && instance[i].uuid[0]);
		check_text(instance[i].uuid, sizeof(instance[i].uuid));
		check_text(instance[i].name, sizeof(instance[i].name));
	}
	if (trk__smi_refused(text, field, sizeof(field)))
		FUZZ_CHECK(field[0]);
	trk__smi_first_line(text, line, sizeof(line));
	check_text(line, sizeof(line));
	free(text);
	return 0;
}
