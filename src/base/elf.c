#include "base/elf.h"

#include <stdio.h>
#include <string.h>

enum { BUILD_ID = 3, EXECUTABLE = 2, LIBRARY = 3 };

bool trk__elf_is_ours(const struct trk_elf_header *h)
{
	const uint16_t one = 1;
	const char *ident = *(const unsigned char *) &one ? "\177ELF\2\1" : "\177ELF\2\2";

	return !memcmp(h->ident, ident, 6) && (h->type == EXECUTABLE || h->type == LIBRARY) &&
	       h->segment_size == sizeof(struct trk_elf_segment);
}

static uint64_t aligned(uint64_t size)
{
	return (size + 3) & ~UINT64_C(3);
}

void trk__elf_build_id(const unsigned char *notes, size_t len, char id[TRK_ELF_ID_SIZE])
{
	struct {
		uint32_t name_size, size, type;
	} n;

	for (uint64_t at = 0, body; at + sizeof(n) <= len; at = body + aligned(n.size)) {
		memcpy(&n, notes + at, sizeof(n));
		body = at + sizeof(n) + aligned(n.name_size);
		if (body + n.size > len)
			return;
		if (n.type != BUILD_ID || n.name_size != 4 ||
		    memcmp(notes + at + sizeof(n), "GNU", 4) != 0)
			continue;
		for (size_t i = 0; i < n.size && i < (TRK_ELF_ID_SIZE - 1) / 2; i++)
			(void) snprintf(id + 2 * i, 3, "%02x", notes[body + i]);
		return;
	}
}
