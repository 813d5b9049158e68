/* Why a recording has no end: whether the kernel killed its tracker together with the job, out of
 * memory.
 *
 * The tracker records the out-of-memory counts at the start: those of the job's control group, of
 * the next group above it that has a count, and of the machine. A reader of a recording without an
 * end compares them with the current counts of the same groups, on the machine that wrote it and
 * before its next boot. */
#ifndef TRK_RECORDING_DEATH_H
#define TRK_RECORDING_DEATH_H

#include "base/env.h"
#include "probe/linux/cgroup.h"
#include "model/run.h"

void trk__death_note(const struct trk_env *env, const struct trk_cgroup *cg,
		     struct trk_run_kills *ret);

/* For a run whose tracker died: set the evidence, and the end where the job most likely ran out
 * of memory. Leaves both untouched without evidence. */
void trk__death_explain(const struct trk_env *env, struct trk_record *record);

#endif
