#include "cli/gpu_hints.h"

#include <stdlib.h>

struct trk_gpu_hints cli_gpu_hints(bool of_job)
{
	const char *path = getenv("PATH");
	struct trk_gpu_hints hints = {
		.path = path ? path : "",
		.library_path = getenv("LD_LIBRARY_PATH"),
	};

	if (of_job) {
		hints.cuda_visible = getenv("CUDA_VISIBLE_DEVICES");
		hints.cuda_order = getenv("CUDA_DEVICE_ORDER");
		hints.nvidia_visible = getenv("NVIDIA_VISIBLE_DEVICES");
	}
	return hints;
}
