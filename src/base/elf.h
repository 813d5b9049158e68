/* The head of an ELF file, in a file or in the memory of a process that has it mapped: 64 bits, the
 * byte order of this machine. The layout is that of elf(5). */
#ifndef TRK_BASE_ELF_H
#define TRK_BASE_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trk_elf_header {
	unsigned char ident[16];
	uint16_t type, machine;
	uint32_t version;
	uint64_t entry, segments_at, sections_at;
	uint32_t flags;
	uint16_t size, segment_size, segments, section_size, sections, names;
};

struct trk_elf_segment {
	uint32_t type, flags;
	uint64_t offset, address, physical, file_size, memory_size, alignment;
};

enum { TRK_ELF_LOAD = 1, TRK_ELF_DYNAMIC = 2, TRK_ELF_NOTE = 4 }; /* types of segments */
enum { TRK_ELF_SEGMENTS_READ = 64, TRK_ELF_NOTES_MAX = 4096, TRK_ELF_ID_SIZE = 41 };

/* A program or a library. */
bool trk__elf_is_ours(const struct trk_elf_header *h);
/* The build id among the notes of a segment, in hexadecimal digits; id is left as it is if there is
 * none. Pure; the notes may be malformed. */
void trk__elf_build_id(const unsigned char *notes, size_t len, char id[TRK_ELF_ID_SIZE]);

#endif
