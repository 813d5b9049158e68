/* The cloud that this machine belongs to: vendor, region, zone, type of instance, spot or on
 * demand.
 *
 * The firmware's texts (DMI) first show whether a cloud is likely, and which: no packet is sent
 * where they exclude one. Otherwise all possible metadata services are queried at once, on their
 * link-local addresses. Nothing blocks and no thread is started: the caller polls one
 * descriptor. */
#ifndef TRK_PROBE_CLOUD_CLOUD_H
#define TRK_PROBE_CLOUD_CLOUD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/env.h"
#include "model/cloud.h"

struct sockaddr_in;
struct trk_dmi;

/* ---- queries ---- */

struct trk_cloud_probe; /* opaque */

/* Send requests to the vendors that the firmware allows. `endpoint` (NULL: the vendors' addresses)
 * replaces the addresses of all vendors, whatever the firmware names: tests run their own server.
 * The caller frees *ret with _free. If no request is sent, *ret is NULL and *known has the reason.
 * Returns 0, or a negative errno such as -EMFILE or -ENOMEM. */
int trk__cloud_probe_new(const struct trk_dmi *dmi, const struct sockaddr_in *endpoint,
			 struct trk_cloud_probe **ret, struct trk_cloud *known);
/* Readable whenever _step has something to do: an answer arrived, or the time limit (1 s). */
int trk__cloud_probe_fd(const struct trk_cloud_probe *p);
/* Continue without blocking. True when finished: *ret then holds the result. */
bool trk__cloud_probe_step(struct trk_cloud_probe *p, struct trk_cloud *ret);
void trk__cloud_probe_free(struct trk_cloud_probe *p);

/* ---- the result, cached until the next boot ---- */

/* Read the file "cloud" below dirfd: 0, or -ENOENT unless it was written since boot, belongs to
 * this user and no other user may write it. *ret has no discovery time, as no request was sent. */
int trk__cloud_cache_read(const struct trk_env *env, int dirfd, struct trk_cloud *ret);
/* Write that file if a vendor was found. Returns 0 or a negative errno. */
int trk__cloud_cache_write(const struct trk_env *env, int dirfd, const struct trk_cloud *c);

#endif
