/* What the environment says about GPUs. */
#ifndef TRK_CLI_GPU_HINTS_H
#define TRK_CLI_GPU_HINTS_H

#include <stdbool.h>

#include "probe/gpu/gpu.h"

/* of_job: our environment is also the job's. */
struct trk_gpu_hints cli_gpu_hints(bool of_job);

#endif
