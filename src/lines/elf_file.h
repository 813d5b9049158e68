/* Functions of an ELF file.
 *
 * Source: its .symtab, else its .dynsym; those of its separate debug file
 * (/usr/lib/debug/.build-id) if that exists and the file has no line table. The name of the file is
 * from a recording, which may be another user's: only regular files of the effective user, of
 * root or of the job's user are opened, if the job's user could read them. */
#ifndef TRK_LINES_ELF_FILE_H
#define TRK_LINES_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/elf.h"

enum { TRK_ELF_SEGMENTS = 16 };

struct trk_elf_symbol {
	uint64_t start, size; /* size 0: unknown */
	uint32_t name;        /* in strings */
};

struct trk_elf_file {
	int fd;                         /* owned; -1: closed */
	double changed_s;               /* modification time, seconds since 1970 */
	char build_id[TRK_ELF_ID_SIZE]; /* hexadecimal; "": none */
	bool has_lines;                 /* a line table */
	struct {
		uint64_t offset, size, address;
	} segment[TRK_ELF_SEGMENTS];
	size_t segments;
	struct trk_elf_symbol *symbol; /* owned; functions, by start */
	size_t symbols;
	char *strings; /* owned */
	uint64_t strings_size;
};

/* user: trk_lines.user. 0; -ENOENT, -EPERM (of another user), -EACCES, -ENOEXEC, or another negative
 * errno. The caller closes. */
int trk__elf_file_open(const char *path, int64_t user, struct trk_elf_file *ret);
/* If the file has no line table and a debug file exists, use that file's symbols and line table. */
void trk__elf_file_add_debug(struct trk_elf_file *f);
void trk__elf_file_close(struct trk_elf_file *f);

/* The address that an offset of the file is linked at; false: none. */
bool trk__elf_file_address(const struct trk_elf_file *f, uint64_t offset, uint64_t *ret);
/* The function that an address belongs to; NULL: unknown. */
const struct trk_elf_symbol *trk__elf_file_function(const struct trk_elf_file *f, uint64_t address);

/* Whether a program, library or source file belongs to the system, a compiler's library or an
 * installed package. */
bool trk__elf_is_of_system(const char *path);

#endif
