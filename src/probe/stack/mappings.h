/* Code that a process has mapped: from an address to a place in a file.
 *
 * Source: /proc/PID/maps, its executable parts; the build id of a file from its mapped start. Reading
 * either needs the permission that a debugger needs. */
#ifndef TRK_PROBE_STACK_MAPPINGS_H
#define TRK_PROBE_STACK_MAPPINGS_H

#include "base/env.h"
#include "probe/stack/remote.h"

enum { TRK_MAPPINGS = 512, TRK_BUILD_ID_SIZE = 41 };

struct trk_mapping {
	uint64_t start, end;
	uint64_t offset; /* in the file */
	uint64_t base;   /* where the start of the file is mapped; 0: nowhere */
	char *path;      /* owned; "": generated code; "[vdso]" */
	uint32_t user;   /* of the caller; 0 at first */
};

struct trk_mappings {
	struct trk_mapping *mapping; /* owned; by address */
	size_t count;
};

/* Parse the text of /proc/PID/maps. Pure. 0 or -ENOMEM; the caller releases. */
int trk__mappings_parse(const char *text, struct trk_mappings *ret);
/* The same of a process. Another negative errno where it cannot be read. */
int trk__mappings_read(const struct trk_env *env, pid_t pid, struct trk_mappings *ret);
void trk__mappings_release(struct trk_mappings *m);
/* The mapping of an address; NULL: no code is mapped there. */
struct trk_mapping *trk__mappings_find(const struct trk_mappings *m, uint64_t address);

/* The build id of the file whose start is mapped at `base`, in hexadecimal digits; "": it has none,
 * or it cannot be read. */
void trk__build_id(struct trk_remote *r, uint64_t base, char id[TRK_BUILD_ID_SIZE]);

#endif
