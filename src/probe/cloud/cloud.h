/* Which cloud this machine stands in: vendor, region, zone, type of instance, spot or on demand.
 *
 * The firmware's texts (DMI) tell first whether a cloud is likely, and which: a machine that is plainly
 * none sends no packet. Else the metadata services that come into question are asked, all at once, on
 * their link-local addresses. Nothing blocks and no thread is started: the caller waits on one
 * descriptor along with its own. */
#ifndef TRK_PROBE_CLOUD_CLOUD_H
#define TRK_PROBE_CLOUD_CLOUD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TRK_CLOUD_VENDOR = 16, TRK_CLOUD_TEXT = 64, TRK_CLOUD_REASON = 160 };

/* Texts are empty where nothing is known. */
struct trk_cloud {
	char vendor[TRK_CLOUD_VENDOR]; /* "aws", "gcp", …, as in the list of vendors */
	char region[TRK_CLOUD_TEXT], zone[TRK_CLOUD_TEXT];
	char instance_type[TRK_CLOUD_TEXT];
	char allocation[16];           /* "ondemand" or "spot" */
	char source[TRK_CLOUD_TEXT];   /* "metadata service", "firmware", "stated", … */
	char reason[TRK_CLOUD_REASON]; /* why something is not known */
	double discovery_time;         /* s that asking took; NaN where nobody was asked */
};

void trk__cloud_clear(struct trk_cloud *c);

#endif
