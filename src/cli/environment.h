/* Settings from the environment: the places of recordings, history and prices, the address used as
 * the metadata service of clouds, and hints about GPUs. */
#ifndef TRK_CLI_ENVIRONMENT_H
#define TRK_CLI_ENVIRONMENT_H

#include <netinet/in.h>

#include "probe/gpu/gpu.h"
#include "service/service.h"

/* The service context of interactive verbs: recordings in `dir` or (NULL) the usual place, notes on
 * stderr, a progress line for downloads. Points to static memory. */
struct trk_service cli_service(const char *dir);
/* The note callback of cli_service(): complains. */
void cli_note(void *data, const char *text);

/* The layers of a verb about servers, in static memory. */
struct trk_price_layers cli_price_layers(const struct trk_named_prices *files);

/* The directory of recordings: `dir` if given, else from the environment, in static memory. "",
 * after one complaint, if the usual directory is owned or writable by another user. */
const char *cli_state_dir(const char *dir);

/* $TMPDIR, else `usual`, else /tmp where `usual` cannot be written to. */
const char *cli_temporary_dir(const char *usual);

/* RESOURCE_TRACKER_METADATA=127.0.0.1:PORT: the server that is used in place of those of all
 * vendors. For any other value the address has no listener, so that no vendor is queried by
 * mistake. NULL: not set. */
const struct sockaddr_in *cli_cloud_endpoint(struct sockaddr_in *room);

/* of_job: the environment of this process is also that of the job. */
struct trk_gpu_hints cli_gpu_hints(bool of_job);

#endif
