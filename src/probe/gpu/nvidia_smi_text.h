/* Parsers of the output of nvidia-smi, for any driver: figures of GPUs (--query-gpu), compute
 * processes (--query-compute-apps), activity of processes (pmon), and MIG instances (-L).
 *
 * Columns are found by their names, because order and number differ between drivers. Fields are not
 * quoted: a name may contain commas. */
#ifndef TRK_PROBE_GPU_NVIDIA_SMI_TEXT_H
#define TRK_PROBE_GPU_NVIDIA_SMI_TEXT_H

#include "probe/gpu/gpu.h"

struct trk_smi_gpu {
	int index;
	bool knows_shares; /* it lists the shares of its processes */
	struct trk_gpu_device device;
};

struct trk_smi_process {
	int index;     /* of the GPU; -1: uuid is set */
	char uuid[96]; /* of the GPU or of an instance; empty: index is set */
	pid_t pid;
	double bytes, share; /* NaN: unknown */
	double encoder, decoder;
	bool is_idle; /* its share is printed as '-' */
};

struct trk_smi_instance {
	int index; /* of the GPU that it is part of */
	char name[96], uuid[96];
};

/* Pure functions that fill in at most `max` entries. Each returns 0, or -EBADMSG for a text in
 * another format and leaves *ret_count untouched. */

/* The text has a head line, and may have units or not ("nounits"). */
int trk__smi_gpus_parse(const char *text, struct trk_smi_gpu *gpu, size_t max, size_t *ret_count);
int trk__smi_apps_parse(const char *text, struct trk_smi_process *process, size_t max,
			size_t *ret_count);
int trk__smi_pmon_parse(const char *text, struct trk_smi_process *process, size_t max,
			size_t *ret_count);
int trk__smi_list_parse(const char *text, struct trk_smi_instance *instance, size_t max,
			size_t *ret_count);

/* The fields of the query, newest name first: the last but one is an older name of the one before.
 */
enum { TRK_SMI_FIELDS = 30 };
const char *trk__smi_field(int index);

/* True if the program rejected a field of the query; `field` receives its name. */
bool trk__smi_refused(const char *text, char *field, size_t size);
/* Copy the printable characters of the first line that is not blank, cut to fit. */
void trk__smi_first_line(const char *text, char *to, size_t size);

#endif
