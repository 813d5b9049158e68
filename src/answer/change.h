/* What changed: a run compared with one before it, or with the earlier runs of its job and their
 * noise. */
#ifndef TRK_ANSWER_CHANGE_H
#define TRK_ANSWER_CHANGE_H

#include "advise/anomaly.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/human.h"
#include "base/json.h"
#include "history/history.h"
#include "answer/time_breakdown.h"

enum {
	TRK_CHANGE_EARLIER_MAX = 50,
	TRK_CHANGE_PHASE_RUNS = 10, /* earlier runs whose phases are compared */
};

/* The figures that are compared: id, key, title, text of a value, member of struct trk_past_run,
 * its unit in the figure, least noise. */
#define TRK_CHANGE_LIST(X)                                                                         \
	X(DURATION, "duration", "run time", trk__human_seconds, duration_s, 1,                     \
	  TRK_ANOMALY_FLOOR_TIME)                                                                  \
	X(CPU, "cpu", "CPU time", trk__human_seconds, cpu_s, 1, TRK_ANOMALY_FLOOR_TIME)            \
	X(CPU_MEAN, "cpu_mean", "cores busy", trk__human_number, cpu_mean, 1,                      \
	  TRK_ANOMALY_FLOOR_TIME)                                                                  \
	X(PEAK_MEMORY, "peak_mem", "peak memory", trk__human_memory, memory.bytes, TRK_MIB,        \
	  TRK_ANOMALY_FLOOR_MEMORY)                                                                \
	X(DISK_READ, "disk_read", "disk read", trk__human_bytes, disk_read_bytes, 1,               \
	  TRK_ANOMALY_FLOOR_TIME)                                                                  \
	X(DISK_WRITE, "disk_write", "disk written", trk__human_bytes, disk_write_bytes, 1,         \
	  TRK_ANOMALY_FLOOR_TIME)

enum trk_change_figure {
#define X(id, key, title, words, member, unit, floor) TRK_CHANGE_##id,
	TRK_CHANGE_LIST(X)
#undef X
		TRK_CHANGE_FIGURES
};

struct trk_change_name {
	const char *key, *title;
	trk_human_fn *words; /* of a value */
};

extern const struct trk_change_name trk__change_names[TRK_CHANGE_FIGURES];

/* The phase in which a figure changed. Marked phases of the same name count as one, and are matched
 * with the earlier runs by name; phases found by the figures are matched by number, in runs with
 * the same number of phases. */
struct trk_change_phase {
	size_t number; /* from 1 in this run; 0: only the earlier runs have the phase */
	char name[TRK_MARK_NAME_SIZE]; /* "": none */
	double before, now; /* s or MiB; before: the median; 0: there was no such phase */
	size_t runs;        /* earlier runs that were compared; 0: no phase is named */
};

struct trk_changed_figure {
	double now, before; /* before: the median of the earlier runs; NaN: not known */
	double share;       /* now / before - 1; NaN: not known */
	double noise_share; /* NaN with fewer than 5 earlier runs */
	enum trk_anomaly_kind kind;
	double drift; /* of trk__anomaly_drift, with this run; 0: none, or not known */
};

struct trk_change {
	size_t runs; /* earlier ones; 0: nothing to compare with */
	struct trk_changed_figure figure[TRK_CHANGE_FIGURES];
	struct trk_change_phase time_phase, memory_phase;
};

/* True for a change whose phase is searched for: an anomaly, a drift, or, with too few runs for a
 * judgement, 5 % and more. */
bool trk__change_is_notable(const struct trk_change *c, enum trk_change_figure figure);
/* Name the phases in which run time and peak memory changed, if one phase accounts for half of a
 * notable change. Compares the phases of this run with those of the newest earlier ones. */
void trk__change_find_phases(struct trk_change *c, const struct trk_time_breakdown *now,
			     const struct trk_time_breakdown *earlier, size_t count);

/* Compare with earlier runs that succeeded: of runs[0..count), oldest first, the newest 50 that
 * began before `now`. */
void trk__change_from_history(const struct trk_past_run *now, const struct trk_past_run *runs,
			      size_t count, struct trk_change *ret);
/* Compare with one run, however it ended. */
void trk__change_from_run(const struct trk_past_run *now, const struct trk_past_run *before,
			  struct trk_change *ret);

/* "higher than usual", "lower than usual", "rising", "falling" (no single run is unusual,
 * but the last few together are), "as usual", or "" where that is not known. */
const char *trk__change_words(const struct trk_change *c, enum trk_change_figure figure);

/* "+6.7 % time vs median of 13 runs (usual ±2.1 %): load +7 m, +20.0 % memory in train". Nothing
 * where there is no earlier run. */
void trk__change_text(struct trk_buf *b, const struct trk_change *c);
/* An object: runs, figures by their keys, phase, memory_phase. */
void trk__change_json(struct trk_json *j, const struct trk_change *c);

/* Write the members phase and memory_phase only. */
void trk__change_phases_json(struct trk_json *j, const struct trk_change *c);

#endif
