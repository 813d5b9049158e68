/* What was requested for the job: stated by --request, else read from the batch system.
 *
 * Sources: the environment of Slurm (SLURM_CPUS_PER_TASK, SLURM_CPUS_ON_NODE, SLURM_MEM_PER_NODE
 * and SLURM_MEM_PER_CPU in MiB, SLURM_GPUS_ON_NODE, SLURM_JOB_START_TIME and _END_TIME), of PBS
 * (NCPUS), LSF (LSB_DJOB_NUMPROC) and Grid Engine (NSLOTS), and in a pod of Kubernetes the
 * variables CPU_REQUEST and MEMORY_REQUEST, else CPU_LIMIT and MEMORY_LIMIT (cores; bytes), where
 * the downward API is configured to set them. Batch systems of containers (AWS Batch, Metaflow on
 * it) set a control group, whose limit is then used. */
#ifndef TRK_TRACK_REQUEST_H
#define TRK_TRACK_REQUEST_H

#include "model/run.h"

/* Parse "cpu=4,mem=16GiB,gpu=1,time=2h". Returns 0, or -EINVAL and leaves request untouched. */
int trk__request_parse(const char *text, struct trk_quantity request[TRK_REQUESTS]);

/* Fill in unknown requests from the environment of the batch system. */
void trk__request_detect(const char *(*get)(const char *name),
			 struct trk_quantity request[TRK_REQUESTS]);

/* Fill in what is still unknown from limits that are set. */
void trk__request_from_limits(struct trk_run *run);

#endif
