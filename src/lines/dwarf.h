/* Source lines of addresses, from the line tables of a file.
 *
 * By libdw (elfutils), loaded on first use. It reads the file that it is given and, where that
 * names one, the common part of several debug files; it fetches nothing. */
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

/* Whether libdw can be loaded. */
bool trk__dwarf_is_there(void);
/* Look up lines, which are in the order of their addresses. Of library code that the compiler put
 * into a function of the user's, the line is that of the call. fd is borrowed. */
void trk__dwarf_find(int fd, struct trk_dwarf_line *line, size_t count);

/* The name of a function as its language writes it, without parameters, by libstdc++ (loaded on
 * first use) for mangled names of C++ and Rust. The caller frees. NULL: no memory. */
char *trk__demangle(const char *name);

#endif
