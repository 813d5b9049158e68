/* Facts about this machine and its cloud, for the verb machine and for the C API. */
#ifndef TRK_SERVICE_PLACE_H
#define TRK_SERVICE_PLACE_H

#include "probe/gpu/gpu.h"
#include "service/service.h"
#include "track/discovery.h"

/* Fill record->place with this machine. The record is initialised here; the caller releases it.
 * hints: as of trk__machine_look_gpus(). 0, -ENOMEM, or the error of /proc. */
int trk__place_machine(struct trk_record *record, const struct trk_gpu_hints *hints);

/* Find the cloud, in 1 s at most. If it does not report the server type, use the only type of the
 * service's catalogue that matches the machine. 0, or the error of /proc. */
int trk__place_cloud(const struct trk_service *s, const struct trk_discovery_options *how,
		     struct trk_place *ret);

#endif
