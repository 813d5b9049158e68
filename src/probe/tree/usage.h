/* Usage of a process and of its reaped descendants, as wait4(2) reports it: struct rusage with
 * units that are the same on all systems. */
#ifndef TRK_PROBE_TREE_USAGE_H
#define TRK_PROBE_TREE_USAGE_H

#include <stdint.h>

struct trk_usage {
	uint64_t user_ns, system_ns;
	uint64_t read_bytes, write_bytes; /* at the storage layer; 0 where the system has none */
	uint64_t major_faults, minor_faults;
	uint64_t peak_bytes; /* of the largest one of these processes */
	uint64_t switches;   /* context switches, voluntary and involuntary */
};

#endif
