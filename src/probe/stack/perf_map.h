/* Names of code that a process generated at run time, as JIT compilers list them for perf.
 *
 * Source: /tmp/perf-PID.map in the mount namespace of the process, with lines "START SIZE NAME"
 * (hexadecimal) that are appended while it runs. PID is the pid in its innermost namespace. Only a
 * regular file of the process's user or of root is read. */
#ifndef TRK_PROBE_STACK_PERF_MAP_H
#define TRK_PROBE_STACK_PERF_MAP_H

#include "base/env.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { TRK_PERF_MAP_SYMBOLS = 65536 }; /* lines of the file that are parsed */

struct trk_perf_map_symbol {
	uint64_t start, end;
	size_t order;     /* position in the file */
	const char *name; /* points into `text` */
};

/* Zero-initialised: nothing was read yet. */
struct trk_perf_map {
	char *text;                         /* owned; contains the names */
	struct trk_perf_map_symbol *symbol; /* owned; sorted by start, then by order */
	size_t symbols;
	int64_t bytes; /* size of the file when it was read */
};

/* Parse a text, of which the map takes ownership. 0 or -ENOMEM. */
int trk__perf_map_take(struct trk_perf_map *m, char *text);
/* Read the file again if it has grown. 0 or a negative errno. */
int trk__perf_map_read(struct trk_perf_map *m, const struct trk_env *env, pid_t pid);
void trk__perf_map_release(struct trk_perf_map *m);
/* Memory of the text and the symbols. */
size_t trk__perf_map_bytes(const struct trk_perf_map *m);
/* The name of the code at an address; NULL: unknown. Valid until the next reading. */
const char *trk__perf_map_find(const struct trk_perf_map *m, uint64_t address);

#endif
