/* What a snapshot of the Python package holds apart from its samples: how the job ended, its
 * totals, where it ran, its phases. Missing fields keep the values from the samples. */
#ifndef TRK_IMPORT_ABOUT_H
#define TRK_IMPORT_ABOUT_H

#include "base/json_read.h"
#include "import/private.h"

/* Set i->run and i->outcome. Call before the first row. */
void trk__about_run(struct trk_importing *i, const struct trk_json_doc *d);
/* Seconds that the first row covers, from its time on the wall clock; NaN: not known. */
double trk__about_first_interval(const struct trk_json_doc *d, double first_s);
/* Write the machine, the cloud and the phases. Call after the start of the run was written. 0 or a
 * write error. */
int trk__about_place(struct trk_importing *i, const struct trk_json_doc *d);

#endif
