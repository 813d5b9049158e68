/* What to request for the next run: the parts of src/advise put together for one job, as text, as
 * JSON, and as lines to paste into a batch system's file. */
#ifndef TRK_REPORT_ADVICE_H
#define TRK_REPORT_ADVICE_H

#include "advise/cpu.h"
#include "advise/gpu.h"
#include "advise/memory.h"
#include "advise/original.h"
#include "advise/verdict.h"
#include "base/buf.h"
#include "base/json.h"
#include "history/history.h"

struct trk_advice_input {
	const struct trk_record *record; /* the newest run */
	const struct trk_busy *busy;     /* busy cores of the newest successful run, or NULL */
	const struct trk_past *runs;     /* of the job, oldest first, the newest run included */
	size_t count;
	enum trk_risk risk;
	bool original;      /* the original package's rule instead */
	double input_bytes; /* of the next run; NaN: not known */
};

struct trk_advice {
	bool has_memory, has_cpu, original;
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
	size_t runs;         /* that were looked at */
	char job[TRK_RUN_TEXT_SIZE];
};

/* 0, or -TRK_E_NODATA when neither memory nor CPU of any run is known. */
int trk__advice_make(const struct trk_advice_input *in, struct trk_advice *ret);

/* Advice from this one run, by its statistics: what a summary can say without a look at the others. 0,
 * -TRK_E_NODATA, or -ENOMEM. */
int trk__advice_of_run(const struct trk_record *record, struct trk_advice *ret);

/* The key "advice" and its object. */
void trk__advice_json(struct trk_json *j, const struct trk_advice *a);
void trk__advice_text(struct trk_buf *b, const struct trk_advice *a);
/* "over-provisioned: request 2 CPU, 3.5 GiB next time (now 8 CPU, 32 GiB)". */
void trk__advice_line(struct trk_buf *b, const struct trk_advice *a, const struct trk_run *run);

/* Lines to paste for slurm, k8s, docker, batch, metaflow, nextflow, snakemake, htcondor. False: there
 * is no such kind. */
bool trk__advice_snippet(struct trk_buf *b, const struct trk_advice *a, const char *kind);
extern const char *const trk__advice_kinds[]; /* NULL-terminated */

/* Earlier runs as the advice on memory takes them. */
struct trk_past_run trk__advice_past_run(const struct trk_past *run);

#endif
