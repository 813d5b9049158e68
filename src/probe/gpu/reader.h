/* The sources of GPU figures: opened, read and described by the one thread or process that may call
 * the drivers (poller.h). Any call may block without a limit, or crash. */
#ifndef TRK_PROBE_GPU_READER_H
#define TRK_PROBE_GPU_READER_H

#include "probe/gpu/poller.h"

enum { TRK_GPU_SOURCES_MAX = 8, TRK_GPU_PIDS_MAX = 8192 };

struct trk_gpu_reader {
	struct trk_env env; /* borrowed */
	struct trk_gpu_hints hints;
	const struct trk_gpu_ops *source[TRK_GPU_SOURCES_MAX];
	int opened[TRK_GPU_SOURCES_MAX];  /* error text of its open */
	void *state[TRK_GPU_SOURCES_MAX]; /* NULL: not open */
	size_t sources;
	bool is_open, none; /* all sources were tried; none of them opened */
	pid_t pid[TRK_GPU_PIDS_MAX];
	struct trk_gpu_scan scan;
	struct trk_gpu_attributor attributor;
	struct trk_gpu_reading reading;
	char text[TRK_GPU_TEXT_SIZE]; /* names the working sources, or says why there is none */
};

/* Arguments as of trk__gpu_poller_new(). NULL where no source is likely, or without memory. Free
 * with free(3). */
struct trk_gpu_reader *trk__gpu_reader_new(const struct trk_env *env, enum trk_gpu_mode mode,
					   const struct trk_gpu_hints *hints,
					   const struct trk_gpu_ops *const *sources);
void trk__gpu_reader_open(struct trk_gpu_reader *r);
/* Read into r->reading the figures of the devices, for the processes in r->scan. */
void trk__gpu_reader_poll(struct trk_gpu_reader *r);
/* The slow work of the sources, when the reading was passed on. */
void trk__gpu_reader_rest(struct trk_gpu_reader *r);
/* Close the sources. */
void trk__gpu_reader_close(struct trk_gpu_reader *r);

#endif
