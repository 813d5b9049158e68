/* CUDA_VISIBLE_DEVICES, NVIDIA_VISIBLE_DEVICES and devices.list, with any bytes. Every device gets
 * an answer, and an instance is assigned only together with its GPU. */
#include "fuzz.h"

#include "probe/gpu/assigned.h"

enum { DEVICES = 5 };

static void check_answers(const struct trk_gpu_device *d, const enum trk_gpu_given *given)
{
	for (int i = 0; i < DEVICES; i++) {
		FUZZ_CHECK(given[i] <= TRK_GPU_NOT_GIVEN);
		if (given[i] == TRK_GPU_GIVEN && d[i].parent >= 0)
			FUZZ_CHECK(given[d[i].parent] == TRK_GPU_GIVEN);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const uuids[DEVICES] = {"GPU-aa11", "GPU-aa22", "GPU-bb33", "MIG-1",
						   "MIG-GPU-bb33/1/0"};
	char *text = fuzz_text(data, size);
	struct trk_gpu_device d[DEVICES];
	enum trk_gpu_given given[DEVICES];

	memset(d, 0, sizeof(d));
	for (int i = 0; i < DEVICES; i++) {
		memcpy(d[i].uuid, uuids[i], strlen(uuids[i]));
		memcpy(d[i].vendor, "nvidia", 7);
		d[i].parent = i < 3 ? -1 : 2;
	}
	memset(given, 7, sizeof(given));
	trk__gpu_given_by_cuda(text, NULL, d, DEVICES, given);
	check_answers(d, given);
	memset(given, 7, sizeof(given));
	trk__gpu_given_by_nvidia(text, d, DEVICES, given);
	check_answers(d, given);
	FUZZ_CHECK(trk__gpu_given_by_cgroup(text, 1) <= TRK_GPU_NOT_GIVEN);
	FUZZ_CHECK(trk__gpu_given_by_cgroup(text, -1) == TRK_GPU_NO_SAY);
	free(text);
	return 0;
}
