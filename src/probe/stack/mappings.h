/* Maps code addresses of a process to files and offsets.
 *
 * Source: the executable mappings in /proc/PID/maps, which requires permission to trace the process. */
#ifndef TRK_PROBE_STACK_MAPPINGS_H
#define TRK_PROBE_STACK_MAPPINGS_H

#include "base/env.h"
#include "probe/stack/remote.h"

enum { TRK_MAPPINGS = 512 };

struct trk_mapping {
	uint64_t start, end;
	uint64_t offset; /* in the file */
	uint64_t base;   /* where the start of the file is mapped; 0: not mapped */
	char *path;      /* owned; "": generated code; "[vdso]" */
	uint32_t user;   /* for the caller; 0 at first */
};

struct trk_mappings {
	struct trk_mapping *mapping; /* owned; sorted by address */
	size_t count, bytes;         /* bytes: memory of all of it */
};

/* "55d0c0000000-55d0c0021000 r-xp 00001000 fe:01 1234   /usr/bin/python3.11" */
struct trk_maps_line {
	uint64_t start, end, offset;
	bool is_code;
	const char *path; /* no NUL */
	size_t len;
};

/* Parse one line of /proc/PID/maps. Pure. */
bool trk__maps_line_parse(const char *text, struct trk_maps_line *ret);
/* Parse the whole text. Pure. 0 or -ENOMEM; the caller releases. */
int trk__mappings_parse(const char *text, struct trk_mappings *ret);
/* As above, for a process. Also returns the negative errno of reading. */
int trk__mappings_read(const struct trk_env *env, pid_t pid, struct trk_mappings *ret);
void trk__mappings_release(struct trk_mappings *m);
/* The mapping of an address; NULL: no code is mapped there. */
struct trk_mapping *trk__mappings_find(const struct trk_mappings *m, uint64_t address);

#endif
