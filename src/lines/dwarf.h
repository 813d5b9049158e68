/* Source lines of addresses, from the line tables of a file.
 *
 * Uses libdw (elfutils), loaded on first use. It reads the given file and, if that names one, the
 * supplementary debug file; it downloads nothing. */
#ifndef TRK_LINES_DWARF_H
#define TRK_LINES_DWARF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trk_dwarf_line {
	uint64_t address; /* given */
	int line;         /* 0: unknown */
	char *file;       /* owned; NULL: unknown */
};

/* libdw keeps a line table on the stack: 150 KiB. */
enum { TRK_DWARF_STACK_BYTES = 512 * 1024 };

/* Whether libdw can be loaded, and the limit of the stack permits its use. */
bool trk__dwarf_is_there(void);
/* Look up lines, which are sorted by address. For library code inlined into a user's function, the
 * line is that of the call. fd is borrowed. */
void trk__dwarf_find(int fd, struct trk_dwarf_line *line, size_t count);

/* The demangled name of a function, without parameters; libstdc++ (loaded on first use) demangles
 * C++ and Rust. The caller frees. NULL: no memory. */
char *trk__demangle(const char *name);

#endif
