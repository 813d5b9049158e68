/* Infer the server type from the machine's hardware where the cloud does not report it.
 *
 * A type is inferred only if exactly one type of the vendor matches. The evidence is stored with
 * it, since a catalogue does not list types that are no longer sold. */
#ifndef TRK_ANSWER_INFER_H
#define TRK_ANSWER_INFER_H

#include "catalog/catalog.h"
#include "model/place.h"

/* If the vendor is known and the type is not, set cloud->instance_type and `inferred`, or add to
 * `reason` how many types match this machine, the first of them, what they cost and what to do.
 * Compares the architecture, the vCPUs, the memory (less a part that the kernel reserves), a single
 * disk, the processor's vendor and the family where type names and firmware contain them, the
 * processor of two Hetzner generations, and whether the region has a price. Returns true if a type
 * was found. */
bool trk__infer_type(const struct trk_catalog *c, const struct trk_server *machine,
		     struct trk_cloud *cloud);

#endif
