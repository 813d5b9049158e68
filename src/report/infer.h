/* The type of a server whose cloud does not name it, found by what the machine has.
 *
 * Only where one type alone of the vendor is like the machine; the evidence is kept with it,
 * since a catalogue does not list what is no longer sold. */
#ifndef TRK_REPORT_INFER_H
#define TRK_REPORT_INFER_H

#include "catalog/catalog.h"
#include "model/place.h"

/* Where the vendor is known and the type is not: fill in cloud->instance_type and `inferred`, or
 * add to `reason` how many types are like this machine, the first of them, what they cost and what
 * to do. Compared are the architecture, the vCPUs, the memory (the kernel keeps a part of it back),
 * a single disk, the maker of the processor and the family where names and firmware tell of them,
 * the processor of two generations of Hetzner's, and whether there is a price in the region. True:
 * a type was found. */
bool trk__infer_type(const struct trk_catalog *c, const struct trk_server *machine,
		     struct trk_cloud *cloud);

#endif
