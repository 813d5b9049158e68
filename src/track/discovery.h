/* Find the cloud of a run: as stated by the user, as cached since boot, else from the metadata
 * services, whose answers arrive while the job runs. */
#ifndef TRK_TRACK_DISCOVERY_H
#define TRK_TRACK_DISCOVERY_H

#include "model/place.h"

struct trk_discovery_options {
	bool ask;                           /* false: no packet is sent, nor the cache read */
	const struct trk_cloud *stated;     /* fields that are set are final; NULL: none */
	const struct sockaddr_in *endpoint; /* for tests; NULL: the vendors' own */
	const char *dir;                    /* of the cache; NULL: none */
};

struct trk_discovery {
	const struct trk_env *env; /* borrowed */
	const struct trk_discovery_options *options;
	struct trk_cloud_probe *probe; /* owned; NULL: nothing is under way */
	int dir_fd;
};

/* Begin. Sets in `place` what is known at once. */
void trk__discovery_begin(struct trk_discovery *d, const struct trk_env *env,
			  const struct trk_discovery_options *options, struct trk_place *place);
/* The whole discovery in one call: blocks for 1 s at most. */
void trk__discovery_wait(const struct trk_env *env, const struct trk_discovery_options *options,
			 struct trk_place *place);
/* The descriptor to wait for, or -1. */
int trk__discovery_fd(const struct trk_discovery *d);
/* Continue without blocking; true if this call set the answer in `place`. */
bool trk__discovery_step(struct trk_discovery *d, struct trk_place *place);
/* Stop waiting: missing answers become unknown, with the reason. True when `place` was changed. */
bool trk__discovery_end(struct trk_discovery *d, struct trk_place *place);

#endif
