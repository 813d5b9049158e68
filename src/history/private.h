/* What the stores of src/history share: the table, and what each of them can do. */
#ifndef TRK_HISTORY_PRIVATE_H
#define TRK_HISTORY_PRIVATE_H

#include "history/history.h"

/* One list makes the table, the order of binding and of reading. */
#define FIGURES_1(X)                                                                               \
	X(start_s)                                                                                 \
	X(duration_s)                                                                              \
	X(cpu_s)                                                                                   \
	X(cpu_mean)                                                                                \
	X(cpu_max)                                                                                 \
	X(peak_memory_mib)                                                                         \
	X(memory_mean_mib)                                                                         \
	X(disk_read_bytes)                                                                         \
	X(disk_write_bytes)                                                                        \
	X(gpu_mean)                                                                                \
	X(gpu_max)                                                                                 \
	X(vram_max_mib)                                                                            \
	X(limit_cpu)                                                                               \
	X(limit_memory_mib)                                                                        \
	X(request_cpu)                                                                             \
	X(request_memory_mib)
#define FIGURES(X) FIGURES_1(X) X(input_bytes) X(cost_usd)
#define TEXTS(X)   X(id) X(job) X(kind) X(command) X(file) X(verdict)

struct trk_history_ops {
	void (*free)(struct trk_history *h);
	/* As trk__history_list and trk__history_forget. */
	int (*list)(struct trk_history *h, const struct trk_job_key *job, size_t max, bool unlisted,
		    trk_past_fn *fn, void *data, struct trk_error *reterr);
	int (*forget)(struct trk_history *h, const char *id, struct trk_error *reterr);
};

/* The first member of each store's own struct. */
struct trk_history {
	const struct trk_history_ops *ops;
	char note[512];
};

struct trk_history *trk__sqlite_open(const char *dir, size_t max_new, struct trk_error *reterr);
struct trk_history *trk__postgres_open(const char *url, const char *dir, size_t max_new,
				       struct trk_error *reterr);

#endif
