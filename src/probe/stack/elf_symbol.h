/* Symbols that an ELF file exports, looked up in the memory of a process that has it mapped.
 *
 * What is mapped is what runs, also where the file has been replaced or lies in another mount
 * namespace. Only the dynamic symbols are mapped; they are there in stripped files, too. */
#ifndef TRK_PROBE_STACK_ELF_SYMBOL_H
#define TRK_PROBE_STACK_ELF_SYMBOL_H

#include "probe/stack/remote.h"

struct trk_elf {
	uint64_t bias; /* what is added to an address of the file */
	uint64_t symbols, strings, strings_size;
	uint64_t gnu_hash, hash; /* 0: none */
};

/* The file whose start is mapped at `base`: 64 bits, of this machine's byte order. 0, or -ENOEXEC
 * where there is no such file, or its tables are not as the format says. */
int trk__elf_open(struct trk_remote *r, uint64_t base, struct trk_elf *ret);
/* The address of a defined symbol in the process; 0: it is not there. */
uint64_t trk__elf_symbol(struct trk_remote *r, const struct trk_elf *e, const char *name);

#endif
