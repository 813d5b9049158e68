/* From a place in the byte code of CPython to the line of its source.
 *
 * Three forms: co_lnotab (up to 3.9), co_linetable of 3.10 (PEP 626) and that of 3.11 and later
 * (Objects/locations.md in CPython's source). */
#ifndef TRK_PROBE_STACK_CPYTHON_LINES_H
#define TRK_PROBE_STACK_CPYTHON_LINES_H

#include <stddef.h>

enum trk_cpython_form { TRK_CPYTHON_LNOTAB, TRK_CPYTHON_RANGES, TRK_CPYTHON_LOCATIONS };

/* The line of the instruction at byte `offset`; 0: it has none, or the table does not reach so far.
 * Pure; any bytes are allowed. */
int trk__cpython_line(enum trk_cpython_form form, const unsigned char *table, size_t len,
		      int first_line, int offset);

#endif
