/* What a process and the children that it has waited for have used, as wait4(2) reports it when it
 * is reaped: struct rusage in the units of this project, which differ between systems there. */
#ifndef TRK_PROBE_TREE_USAGE_H
#define TRK_PROBE_TREE_USAGE_H

#include <stdint.h>

struct trk_usage {
	uint64_t user_ns, system_ns;
	uint64_t read_bytes, write_bytes; /* at the storage layer; 0 where the system has none */
	uint64_t major_faults, minor_faults;
	uint64_t peak_bytes; /* of the largest one of them */
	uint64_t switches;   /* of context, voluntary and not */
};

#endif
