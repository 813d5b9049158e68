/* Which cloud this machine belongs to: vendor, region, zone, type of instance, spot or on demand.
 *
 * The firmware's texts (DMI) show first whether a cloud is likely, and which: a machine that is
 * plainly none sends no packet. Else the metadata services that are possible are queried, all
 * at once, on their link-local addresses. Nothing blocks and no thread is started: the caller waits
 * on one descriptor along with its own. */
#ifndef TRK_PROBE_CLOUD_CLOUD_H
#define TRK_PROBE_CLOUD_CLOUD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/env.h"
#include "model/cloud.h"

struct sockaddr_in;
struct trk_dmi;

/* ---- asking ---- */

struct trk_cloud_probe; /* opaque */

/* Send requests to the vendors that the firmware allows. `endpoint` (NULL: the vendors' addresses)
 * replaces the addresses of all vendors, whatever the firmware names: tests run their own server.
 * The caller frees *ret. If no request is sent, *ret is NULL and *known has the reason. Returns 0,
 * or a negative errno without descriptors or memory. */
int trk__cloud_probe_new(const struct trk_dmi *dmi, const struct sockaddr_in *endpoint,
			 struct trk_cloud_probe **ret, struct trk_cloud *known);
/* Becomes readable whenever _step has something to do: an answer came, or the second is over. */
int trk__cloud_probe_fd(const struct trk_cloud_probe *p);
/* Go on without blocking. True when all is over: *ret then holds what is known. */
bool trk__cloud_probe_step(struct trk_cloud_probe *p, struct trk_cloud *ret);
void trk__cloud_probe_free(struct trk_cloud_probe *p);

/* ---- what was found since the machine was started ---- */

/* The file "cloud" below dirfd: of this boot, owned and readable by this user alone; else -ENOENT.
 * Without discovery time, as no request was sent. */
int trk__cloud_cache_read(const struct trk_env *env, int dirfd, struct trk_cloud *ret);
/* Keep it. 0 or a negative errno. Only what a vendor was found for is kept. */
int trk__cloud_cache_write(const struct trk_env *env, int dirfd, const struct trk_cloud *c);

#endif
