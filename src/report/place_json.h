/* Where a run ran and what it cost, as JSON. */
#ifndef TRK_REPORT_PLACE_H
#define TRK_REPORT_PLACE_H

#include "base/json.h"
#include "model/run.h"

/* Whether other processes shared the machine: "dedicated", "shared", or NULL if the samples do not
 * show it; `evidence` receives the reason. Shared: the run had a limit below the machine, or others
 * used on average more than a quarter of a core, or more than half of the used memory (and 512
 * MiB). Without samples (`measured` false) only a limit is evidence. */
const char *trk__allocation_of(const struct trk_record *r, bool measured, char *evidence,
			       size_t size);

/* One document of schema "resource-tracker.server/1", with the keys of all versions of the Python
 * package (`vcpus`, `memory_mb`, `gpu_count`, `gpu_names`, `gpu_memory_mb`; `os`, `memory_mib`,
 * `gpu_name`, `gpu_memory_mib`), and further ones. */
void trk__server_document(struct trk_buf *b, const struct trk_record *r, bool measured);

/* One document of schema "resource-tracker.cloud/1". */
void trk__cloud_document(struct trk_buf *b, const struct trk_place *p);

/* The keys "server", "cloud" and "cost", each an object or null. */
void trk__place_json(struct trk_json *j, const struct trk_record *r);

#endif
