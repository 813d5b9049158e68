/* Model and vendor of the processor.
 *
 * Source: /proc/cpuinfo. x86 names the model; ARM has numbers of vendor and core design, which a
 * table translates; POWER, s390x and RISC-V each use other lines. */
#ifndef TRK_PROBE_LINUX_CPUINFO_H
#define TRK_PROBE_LINUX_CPUINFO_H

#include <stdbool.h>

#include "model/server.h"

struct trk_cpuinfo {
	char model[TRK_CPU_MODEL_SIZE];   /* "AMD EPYC 7R13", "ARM Neoverse-N1"; empty: unknown */
	char vendor[TRK_CPU_VENDOR_SIZE]; /* "AuthenticAMD", "ARM", …; empty: unknown */
	bool hypervisor;                  /* x86: the CPU flag that is set in a guest */
};

/* Parse the text of the file, or its start: only the first processor is read. Pure. Returns 0, or
 * -EBADMSG when no line is recognised, and leaves *ret untouched. */
int trk__cpuinfo_parse(const char *text, struct trk_cpuinfo *ret);

#endif
