/* What the files of the nvidia-smi source share. */
#ifndef TRK_PROBE_GPU_NVIDIA_SMI_PRIVATE_H
#define TRK_PROBE_GPU_NVIDIA_SMI_PRIVATE_H

#include <pthread.h>

#include "probe/gpu/nvidia_smi.h"
#include "probe/tool.h"

enum {
	TRK_SMI_OUTPUT_MAX = 256 * 1024,
	TRK_SMI_PROCESSES_MAX = 1024,
	TRK_SMI_INSTANCES_MAX = 32,
	TRK_SMI_FIELDS = 18,
};

/* What a round has found. */
struct trk_smi_found {
	uint64_t stale_ns; /* when it is too old; 0: nothing was found yet */
	size_t gpus, processes, instances;
	struct trk_smi_gpu gpu[TRK_GPUS_MAX];
	struct trk_smi_process process[TRK_SMI_PROCESSES_MAX];
	struct trk_smi_instance instance[TRK_SMI_INSTANCES_MAX];
	bool knows_processes, knows_shares;
	bool first;  /* the round that does not wait for what processes do */
	bool strays; /* processes on an instance that is not listed */
};

struct trk_smi {
	struct trk_env env; /* borrowed */
	char file[512];
	char *environment[4]; /* owned */
	uint64_t patience_ns, period_ns;
	int stop_fd;

	/* Of the worker alone. */
	bool refused[TRK_SMI_FIELDS], no_pmon;
	struct trk_tool tool;
	char *text;                 /* owned: TRK_SMI_OUTPUT_MAX */
	struct trk_smi_found *work; /* owned */

	pthread_mutex_t lock; /* of all that follows */
	pthread_cond_t changed;
	bool ended, left;
	struct trk_smi_found *found; /* owned */
	char wrong[TRK_GPU_TEXT_SIZE];
};

/* One round: s->found is new, and *s->wrong empty. Else a negative error, and why in *s->wrong. */
int trk__smi_round(struct trk_smi *s);
/* Wait so long, or until the source is closed: true. */
bool trk__smi_is_stopped(struct trk_smi *s, uint64_t wait_ns);
/* Is that process on this GPU (0), or on which instance of it (1 and up)? -1: neither. */
int trk__smi_place_on(const struct trk_smi_found *f, const struct trk_smi_process *p,
		      const struct trk_smi_gpu *gpu);

#endif
