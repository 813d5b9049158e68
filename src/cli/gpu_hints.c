#include "cli/gpu_hints.h"

#include <stdlib.h>

struct trk_gpu_hints cli_gpu_hints(bool of_job)
{
	const char *path = getenv("PATH");
	struct trk_gpu_hints hints = {
		.path = path ? path : "",
		.library_path = getenv("LD_LIBRARY_PATH"),
	};

	(void) of_job;
	return hints;
}
