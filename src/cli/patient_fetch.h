/* Fetching for a person who asked for new prices, and can wait. */
#ifndef TRK_CLI_PATIENT_FETCH_H
#define TRK_CLI_PATIENT_FETCH_H

#include "base/buf.h"
#include "base/error.h"

/* As trk__fetch(); who says "not now" (429, 503) is asked again after a minute, three times, and stderr says
 * so. $RESOURCE_TRACKER_FEEDS is where the tests' stand-in for all hosts is; it is asked again at once. */
int cli_patient_fetch(const char *url, unsigned int timeout_s, struct trk_buf *out,
		      struct trk_error *error);

#endif
