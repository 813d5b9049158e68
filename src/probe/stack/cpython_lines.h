/* Maps an offset in CPython byte code to its source line.
 *
 * Three formats: co_lnotab (up to 3.9), co_linetable of 3.10 (PEP 626) and of 3.11 and later
 * (Objects/locations.md in CPython's source). */
#ifndef TRK_PROBE_STACK_CPYTHON_LINES_H
#define TRK_PROBE_STACK_CPYTHON_LINES_H

#include <stddef.h>

enum trk_cpython_form { TRK_CPYTHON_LNOTAB, TRK_CPYTHON_RANGES, TRK_CPYTHON_LOCATIONS };

/* The line of the instruction at byte `offset`; 0: it has none, or lies beyond the table. Pure; the
 * table may be malformed. */
int trk__cpython_line(enum trk_cpython_form form, const unsigned char *table, size_t len,
		      int first_line, int offset);

#endif
