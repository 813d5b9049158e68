/* How busy a run kept its cores, and whether its threads waited for a CPU: the input of all advice
 * on CPU. */
#ifndef TRK_ANSWER_CPU_USE_H
#define TRK_ANSWER_CPU_USE_H

#include "advise/cpu.h"
#include "model/run.h"

struct trk_cpu_use {
	/* Corrected for the queue if its cause is known: as if no thread had waited. Else as
	 * `seen`. */
	struct trk_busy busy;
	struct trk_busy seen; /* as measured */
	struct trk_cpu_queue queue;
};

/* From the statistics and the outline of a run; *ret is empty where nothing is known. */
void trk__cpu_use_of(const struct trk_record *record, struct trk_cpu_use *ret);

/* Multiply all times, so that the run takes this long. */
void trk__cpu_use_scale(struct trk_cpu_use *use, double seconds);

/* The queue alone. */
struct trk_cpu_queue trk__cpu_queue_of(const struct trk_record *record);

#endif
