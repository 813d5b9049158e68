/* Looks up the exported symbols and the build id of an ELF file in the memory of a process that has
 * it mapped.
 *
 * This works also if the file was replaced or lies in another mount namespace. Only the dynamic
 * symbols are mapped; stripped files have these, too. */
#ifndef TRK_PROBE_STACK_ELF_SYMBOL_H
#define TRK_PROBE_STACK_ELF_SYMBOL_H

#include "base/elf.h"
#include "probe/stack/remote.h"

struct trk_elf {
	uint64_t bias; /* load address minus address in the file */
	uint64_t symbols, strings, strings_size;
	uint64_t gnu_hash, hash; /* 0: none */
};

/* Open the file whose start is mapped at `base`: 64-bit, of this machine's byte order. 0, or
 * -ENOEXEC for another or a malformed file. */
int trk__elf_open(struct trk_remote *r, uint64_t base, struct trk_elf *ret);
/* The address of a defined symbol in the process; 0: not found. */
uint64_t trk__elf_symbol(struct trk_remote *r, const struct trk_elf *e, const char *name);

/* The build id of the file whose start is mapped at `base`, in hexadecimal digits; "": it has none,
 * or it cannot be read. */
void trk__elf_mapped_id(struct trk_remote *r, uint64_t base, char id[TRK_ELF_ID_SIZE]);

#endif
