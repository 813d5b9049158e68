/* What to request for the next run: the parts of src/advise put together for one job, as text, as
 * JSON, and as lines to paste into a batch system's file. */
#ifndef TRK_ANSWER_ADVICE_H
#define TRK_ANSWER_ADVICE_H

#include "advise/cpu.h"
#include "advise/memory.h"
#include "advise/original.h"
#include "advise/time.h"
#include "advise/verdict.h"
#include "base/buf.h"
#include "base/json.h"
#include "fleet/alike.h"
#include "history/history.h"
#include "model/capacity.h"
#include "answer/cpu_use.h"

struct trk_advice_input {
	const struct trk_record *record; /* the newest run */
	/* Of the newest run that has samples, or NULL; it is scaled to the run time to expect. */
	struct trk_cpu_use *use;
	const struct trk_past_run *runs; /* of the job, oldest first, the newest run included */
	size_t count;
	enum trk_risk risk;
	bool original;      /* the original package's rule instead */
	double input_bytes; /* of the next run; NaN: not known */
	const char
		*tags; /* of the next run, as trk__history_tags makes them; NULL: as the newest */
};

struct trk_advice {
	bool has_memory, has_cpu, has_time, original;
	bool held_cpu, held_memory; /* kept at the request of a run that did not end well */
	struct trk_capacity cpu_had, memory_had, gpu_had, time_had;
	double cores;      /* to request; NaN: not known */
	double memory_mib; /* to request; NaN: not known */
	double gpus;       /* 0: none */
	double vram_mib;   /* of each GPU; 0: none */
	double run_time_s; /* predicted with `cores`, or NaN */
	/* Expected run time on the cores that the runs had. If no run ended well or at its time
	 * limit: the run time of the newest one. */
	double usual_s;
	struct trk_memory_advice memory;
	struct trk_time_advice time;
	struct trk_cpu_advice cpu;
	struct trk_sizing_verdict sizing;
	double peak_now_mib; /* of the newest run */
	/* Of the newest run: the upper bound of its peak if the peak is a lower bound; and memory
	 * in tmpfs, /dev/shm and memfds that may belong to the job and is not in the request. NaN:
	 * none, or unknown. */
	double peak_most_mib, possible_shared_mib;
	double file_pages_mib;  /* trk__droppable_files_mib of the newest run */
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

/* The time limit to request with the advised cores. If nothing is known of a good run, that which
 * was requested; NaN: unknown. */
double trk__advice_time_limit_s(const struct trk_advice *a);

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

/* The part of the peak that is unchanged pages of mapped files, which the kernel can drop and read
 * again. NaN if unknown or negligible. */
double trk__droppable_files_mib(const struct trk_record *record);

#endif
