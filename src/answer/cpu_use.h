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
	/* With a corrected `busy`: the run on the cores that it had takes at least so long, which is
	 * its time less its queue behind other work; else 0. */
	double least_s;
	/* Only totals are known (imported runs): `busy` is the course with this mean that fewer
	 * cores delay most, all cores busy or none. */
	bool only_mean;
	struct trk_cpu_queue queue;
};

/* From the statistics and the outline of a run; *ret is empty where nothing is known. */
void trk__cpu_use_of(const struct trk_record *record, struct trk_cpu_use *ret);

/* Add the use of another run. False, and no change, if their queues have different causes, or only
 * of one of them more than the mean is known. */
bool trk__cpu_use_merge(struct trk_cpu_use *use, const struct trk_cpu_use *more);

/* Multiply all times, so that the run takes this long. */
void trk__cpu_use_scale(struct trk_cpu_use *use, double seconds);

/* The queue alone. */
struct trk_cpu_queue trk__cpu_queue_of(const struct trk_record *record);

#endif
