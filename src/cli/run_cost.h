/* What a run cost on the server that it ran on, and what it would cost on the cheapest one there. */
#ifndef TRK_CLI_RUN_COST_H
#define TRK_CLI_RUN_COST_H

#include "record/run.h"

/* Fill in record->place.cost from the catalogue, where the cloud is known; says why where nothing can be
 * told. Never complains: it runs at the end of a job. */
void cli_run_cost(void *data, struct trk_record *record);

#endif
