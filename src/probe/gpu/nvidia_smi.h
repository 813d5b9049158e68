/* The text that nvidia-smi prints, of any driver: figures of GPUs (--query-gpu), who computes on them
 * (--query-compute-apps), what each process does (pmon), and instances (-L).
 *
 * Tables are read by the names in their heads, for the order and number of columns differ between
 * drivers. Fields are not quoted there: a name may have commas in it. */
#ifndef TRK_PROBE_GPU_NVIDIA_SMI_H
#define TRK_PROBE_GPU_NVIDIA_SMI_H

#include "probe/gpu/gpu.h"

struct trk_smi_gpu {
	int index;
	struct trk_gpu_device device;
};

struct trk_smi_process {
	int index;     /* of the GPU; -1: uuid names it */
	char uuid[96]; /* of the GPU, or of an instance; empty: index names it */
	pid_t pid;
	double bytes, share; /* NaN: not known */
};

struct trk_smi_instance {
	int index; /* of the GPU that it is part of */
	char name[96], uuid[96];
};

/* All are pure, and give at most `max` entries: the rest of a longer table is left out. 0, or -EBADMSG
 * when the text is no such table, which leaves *ret_count untouched. */

/* With or without units ("nounits"), heads always. */
int trk__smi_gpus_parse(const char *text, struct trk_smi_gpu *gpu, size_t max, size_t *ret_count);
int trk__smi_apps_parse(const char *text, struct trk_smi_process *process, size_t max,
			size_t *ret_count);
int trk__smi_pmon_parse(const char *text, struct trk_smi_process *process, size_t max,
			size_t *ret_count);
int trk__smi_list_parse(const char *text, struct trk_smi_instance *instance, size_t max,
			size_t *ret_count);

/* Does it refuse a field of a query as unknown? Which? */
bool trk__smi_refused(const char *text, char *field, size_t size);
/* The first line that says something, cut, with printable characters only. */
void trk__smi_first_line(const char *text, char *to, size_t size);

#endif
