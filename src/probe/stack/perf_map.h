/* Names of code that a process generated while it ran, as JIT compilers list them for perf.
 *
 * Source: /tmp/perf-PID.map as the process sees it, "START SIZE NAME" a line, hexadecimal, appended
 * to while the process runs. PID is the number in the innermost namespace. Only a regular file of
 * the process's user or of root is read. */
#ifndef TRK_PROBE_STACK_PERF_MAP_H
#define TRK_PROBE_STACK_PERF_MAP_H

#include "base/env.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { TRK_PERF_MAP_SYMBOLS = 65536 };

struct trk_perf_map_symbol {
	uint64_t start, end;
	size_t order;     /* in the file */
	const char *name; /* of `text` */
};

/* Zero-initialised: nothing was read yet. */
struct trk_perf_map {
	char *text;                         /* owned; what the names lie in */
	struct trk_perf_map_symbol *symbol; /* owned; by start, of the same start the newest last */
	size_t symbols;
	int64_t bytes; /* of the file when it was read */
};

/* Take the names of a text, which the map then owns. 0 or -ENOMEM. */
int trk__perf_map_take(struct trk_perf_map *m, char *text);
/* Read the file again if it has grown. 0 or a negative errno. */
int trk__perf_map_read(struct trk_perf_map *m, const struct trk_env *env, pid_t pid);
void trk__perf_map_release(struct trk_perf_map *m);
/* The name of the code at an address; NULL: unknown. Valid until the next reading. */
const char *trk__perf_map_find(const struct trk_perf_map *m, uint64_t address);

#endif
