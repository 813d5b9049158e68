/* What to request for the next run: the parts of src/advise put together for one job, as text, as
 * JSON, and as lines to paste into a batch system's file. */
#ifndef TRK_ANSWER_ADVICE_H
#define TRK_ANSWER_ADVICE_H

#include "advise/cpu.h"
#include "advise/memory.h"
#include "advise/original.h"
#include "advise/verdict.h"
#include "base/buf.h"
#include "base/json.h"
#include "fleet/alike.h"
#include "history/history.h"
#include "model/capacity.h"
#include "answer/cpu_use.h"

struct trk_advice_input {
	const struct trk_record *record; /* the newest run */
	const struct trk_cpu_use *use;   /* of the newest run that has samples, or NULL */
	const struct trk_past_run *runs; /* of the job, oldest first, the newest run included */
	size_t count;
	enum trk_risk risk;
	bool original;      /* the original package's rule instead */
	double input_bytes; /* of the next run; NaN: not known */
	const char
		*tags; /* of the next run, as trk__history_tags makes them; NULL: as the newest */
};

struct trk_advice {
	bool has_memory, has_cpu, original;
	bool held_cpu, held_memory; /* kept at the request of a run that did not end well */
	struct trk_capacity cpu_had, memory_had, gpu_had, time_had;
	double cores;      /* to request; NaN: not known */
	double memory_mib; /* to request; NaN: not known */
	double gpus;       /* 0: none */
	double vram_mib;   /* 0: none */
	double run_time_s; /* predicted with `cores`, or NaN */
	double duration_s; /* of the newest run */
	struct trk_memory_advice memory;
	struct trk_cpu_advice cpu;
	struct trk_sizing_verdict sizing;
	double peak_now_mib; /* of the newest run */
	/* Of the newest run: the upper bound of its peak if the peak is a lower bound; and memory
	 * in tmpfs, /dev/shm and memfds that may belong to the job and is not in the request. NaN:
	 * none, or unknown. */
	double peak_most_mib, possible_shared_mib;
	size_t runs;            /* that the advice is based on */
	struct trk_alike alike; /* the runs among them that memory is advised from */
	char job[TRK_RUN_TEXT_SIZE];
};

/* 0, or -TRK_ERR_NODATA when neither memory nor CPU of any run is known. */
int trk__advice_make(const struct trk_advice_input *in, struct trk_advice *ret);

/* False for a failed run, which may have needed more than it used before it failed. */
bool trk__advice_ended_well(const struct trk_outcome *o);
/* Advice from the statistics of this run only. 0, -TRK_ERR_NODATA, or -ENOMEM. */
int trk__advice_of_run(const struct trk_record *record, struct trk_advice *ret);

/* Expected duration of the next run. If this run waited in a CPU queue, no less than its duration,
 * as the next run may wait as well. */
double trk__advice_expected_s(const struct trk_advice *a);

/* The key "advice" and its object. */
void trk__advice_json(struct trk_json *j, const struct trk_advice *a);
/* The headline: "over-provisioned: request 2 CPU, 3.5 GiB next time (now 8 CPU, 32 GiB)", of what
 * was requested or limited; where nothing was, "Next time request 2 CPU, 3.5 GiB". */
void trk__advice_line(struct trk_buf *b, const struct trk_advice *a);

/* What the request for memory does not cover, in one line without a line end. False: nothing. */
bool trk__advice_memory_note(struct trk_buf *b, const struct trk_advice *a);

/* Growth of the machine's memory in tmpfs, /dev/shm and memfds during the run, which may belong to
 * the job and is not in its peak. NaN if a control group's peak includes it, or if it is
 * negligible. */
double trk__possible_shared_mib(const struct trk_record *record);

#endif
