/* One watched run: its recording up to now, held in memory so that any moment can be shown.
 *
 * A live view shows the newest moment, a replay any other. Memory is bounded for any length of run
 * (model/course.h). */
#ifndef TRK_TOP_WATCH_H
#define TRK_TOP_WATCH_H

#include "advise/bottleneck.h"
#include "model/capacity.h"
#include "recording/follow.h"
#include "answer/time_breakdown.h"

enum {
	TRK_WATCH_BLOCKS_MAX = 1 << 15,
	TRK_WATCH_TOPS_MAX = 4096, /* tables of top processes */
	TRK_WATCH_GPUS_MAX = 8,    /* devices that are shown */
	TRK_WATCH_GPU_POINTS_MAX = 1 << 14,
};

struct trk_watch_process {
	int32_t pid;
	char name[60]; /* of the command, truncated; else of the process */
	float cpu_s, peak_mib;
	double read_bytes;
	bool alive;
};

/* The top processes, which the tracker records about every 10 s. */
struct trk_watch_top {
	double at_s;
	size_t count;
	struct trk_watch_process process[TRK_TOP_MAX];
};

struct trk_watch_gpu_point {
	double at_s;
	struct {
		float use, memory, power, temperature; /* shares of the device, W, degC */
	} device[TRK_WATCH_GPUS_MAX];
};

struct trk_watch {
	struct trk_follow follow;
	bool open;
	struct trk_outline outline;      /* of the job or, without one, of the machine */
	struct trk_watch_top *top;       /* owned */
	struct trk_watch_gpu_point *gpu; /* owned */
	struct trk_course tops, gpus;
	double row_s; /* end of the newest row */
	/* The breakdown computed at times_s; see trk__watch_times. */
	struct trk_time_breakdown *times; /* owned; NULL: none yet */
	double times_s;
	size_t times_marks;
};

/* recent: as of trk__follow_open. 0, or a negative error with *reterr and nothing to close. */
int trk__watch_open(struct trk_watch *w, int dirfd, const char *path, int64_t recent,
		    struct trk_error *reterr);
void trk__watch_close(struct trk_watch *w);
/* As trk__follow_update. */
long trk__watch_update(struct trk_watch *w);

static inline const struct trk_record *trk__watch_record(const struct trk_watch *w)
{
	return &w->follow.record;
}

/* Seconds since the start of the run that are recorded. */
double trk__watch_end_s(const struct trk_watch *w);
/* Blocks of the outline that end at or before t_s. */
size_t trk__watch_count(const struct trk_watch *w, double t_s);
/* The newest table of processes at t_s, and the one before it; NULL: none. */
const struct trk_watch_top *trk__watch_top_at(const struct trk_watch *w, double t_s,
					      const struct trk_watch_top **ret_before);
const struct trk_watch_gpu_point *trk__watch_gpu_at(const struct trk_watch *w, double t_s);

/* The figure in `bins` equal parts of from_s to to_s, as far as recorded at t_s: peaks of memory,
 * else means. NaN: unknown. Returns the largest value, or NaN. */
double trk__watch_bins(const struct trk_watch *w, enum trk_block_figure figure, double from_s,
		       double to_s, double t_s, double *bin, int bins);

/* Phases and breakdown of time of the whole recording. A view until the next call; computed again
 * when there are new marks, or the recording has grown by 5 %. NULL without memory. */
const struct trk_time_breakdown *trk__watch_times(struct trk_watch *w);

/* Seconds from t_s until memory reaches its limit, if it continues to grow as in the last part of
 * the run; NaN if it does not grow evenly, if no limit is known, or beyond a day. */
double trk__watch_memory_eta(const struct trk_watch *w, double t_s);

#endif
