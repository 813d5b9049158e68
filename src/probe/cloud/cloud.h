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

#include "base/env.h"

struct sockaddr_in;
struct trk_dmi;

enum { TRK_CLOUD_VENDOR = 16, TRK_CLOUD_TEXT = 64, TRK_CLOUD_REASON = 320 };

/* Texts are empty where nothing is known. */
struct trk_cloud {
	char vendor[TRK_CLOUD_VENDOR]; /* "aws", "gcp", …, as in the list of vendors */
	char region[TRK_CLOUD_TEXT], zone[TRK_CLOUD_TEXT];
	char instance_type[TRK_CLOUD_TEXT];
	char allocation[16];           /* "ondemand" or "spot" */
	char source[TRK_CLOUD_TEXT];   /* "metadata service", "firmware", "stated", … */
	char reason[TRK_CLOUD_REASON]; /* why something is not known */
	/* Why that type, where nobody named it: found by what the machine has. */
	char inferred[TRK_CLOUD_REASON];
	double discovery_time; /* s that asking took; NaN where nobody was asked */
};

void trk__cloud_clear(struct trk_cloud *c);
/* What is stated as "VENDOR/REGION/TYPE", of which region or type may be empty or left out. 0 or -EINVAL. */
int trk__cloud_state(const char *text, struct trk_cloud *ret);

/* ---- asking ---- */

struct trk_cloud_probe; /* opaque */

/* Begin to ask whoever comes into question by the firmware. `endpoint` (NULL: the vendors' addresses) is
 * asked instead, for all vendors and whatever the firmware says: tests point it to a server of their
 * own. The caller frees *ret. Where nobody is asked, *ret is NULL and *known says why. Returns 0, or a
 * negative errno when descriptors or memory lack. */
int trk__cloud_probe_new(const struct trk_dmi *dmi, const struct sockaddr_in *endpoint,
			 struct trk_cloud_probe **ret, struct trk_cloud *known);
/* Becomes readable whenever _step has something to do: an answer came, or the second is over. */
int trk__cloud_probe_fd(const struct trk_cloud_probe *p);
/* Go on without blocking. True when all is over: *ret then holds what is known. */
bool trk__cloud_probe_step(struct trk_cloud_probe *p, struct trk_cloud *ret);
void trk__cloud_probe_free(struct trk_cloud_probe *p);

/* How many packets' worth of connections were opened, for tests. */
unsigned int trk__cloud_probe_requests(const struct trk_cloud_probe *p);

/* ---- what was found since the machine was started ---- */

/* The file "cloud" below dirfd: of this boot, our own, for us alone; else -ENOENT. Without discovery
 * time: nobody was asked. */
int trk__cloud_cache_read(const struct trk_env *env, int dirfd, struct trk_cloud *ret);
/* Keep it. 0 or a negative errno. Only what a vendor was found for is kept. */
int trk__cloud_cache_write(const struct trk_env *env, int dirfd, const struct trk_cloud *c);

#endif
