/* Parser of the output of nvidia-smi: GPUs, compute processes, and the activity of processes. */
#ifndef TRK_PROBE_GPU_NVIDIA_SMI_TEXT_H
#define TRK_PROBE_GPU_NVIDIA_SMI_TEXT_H

#include "probe/gpu/gpu.h"

enum { TRK_SMI_PROCESSES_MAX = 1024 };

struct trk_smi_process {
	int index;           /* of the GPU; -1: uuid is set */
	char uuid[96];       /* of the GPU or of an instance; empty: index is set */
	pid_t pid;           /* 0: pmon lists a GPU without processes */
	double bytes, share; /* NaN: unknown */
};

/* GPUs are by their index in the program; one that is no longer listed keeps its place. */
struct trk_smi_tables {
	bool knows_gpus, knows_memory;       /* the lists of GPUs and of the memory of processes */
	size_t gpus, processes, memory_cell; /* of a line of pmon; 0: not named yet */
	bool is_listed[TRK_GPUS_MAX];
	struct trk_gpu_device gpu[TRK_GPUS_MAX];
	struct trk_smi_process process[TRK_SMI_PROCESSES_MAX + 1]; /* one more for parsing */
};

/* The queries that the parser expects; all drivers since 346 know these fields. */
#define TRK_SMI_GPUS                                                                               \
	"--query-gpu=index,uuid,pci.bus_id,driver_version,memory.total,memory.used,"               \
	"utilization.gpu,temperature.gpu,power.draw,clocks.sm,"                                    \
	"ecc.errors.corrected.volatile.total,ecc.errors.uncorrected.volatile.total,name"
#define TRK_SMI_APPS "--query-compute-apps=gpu_uuid,pid,used_gpu_memory"

/* Parse the tables of both, and of pmon, one after the other; *t has those of the last round, or zeros. */
void trk__smi_parse(const char *text, struct trk_smi_tables *t);

#endif
