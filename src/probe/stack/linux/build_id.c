#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "probe/stack/mappings.h"

enum {
	HEADERS_MAX = 64,
	NOTES_MAX = 4, /* parts with notes; a file has one or two */
	NOTES_MAX_BYTES = 4096,
	ID_MAX = (TRK_BUILD_ID_SIZE - 1) / 2,
};

static size_t aligned(size_t len)
{
	return (len + 3) & ~(size_t) 3;
}

/* Find the note of GNU's build id among notes. */
static void find_note(const unsigned char *notes, size_t len, char id[TRK_BUILD_ID_SIZE])
{
	Elf64_Nhdr n;

	for (size_t at = 0; at + sizeof(n) <= len;) {
		size_t body = at + sizeof(n);

		memcpy(&n, notes + at, sizeof(n));
		if (n.n_namesz > len || n.n_descsz > len ||
		    body + aligned(n.n_namesz) + n.n_descsz > len)
			return;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 &&
		    !memcmp(notes + body, "GNU", 4)) {
			size_t bytes = n.n_descsz < ID_MAX ? n.n_descsz : ID_MAX;

			for (size_t i = 0; i < bytes; i++)
				(void) snprintf(id + 2 * i, 3, "%02x", notes[body + 4 + i]);
			return;
		}
		at = body + aligned(n.n_namesz) + aligned(n.n_descsz);
	}
}

void trk__build_id(struct trk_remote *r, uint64_t base, char id[TRK_BUILD_ID_SIZE])
{
	unsigned char notes[NOTES_MAX_BYTES];
	int parts = 0;
	Elf64_Ehdr h;

	id[0] = '\0';
	if (!base || trk__remote_get(r, base, &h, sizeof(h)) < 0 ||
	    memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_ident[EI_CLASS] != ELFCLASS64 ||
	    h.e_phentsize != sizeof(Elf64_Phdr))
		return;
	for (unsigned int i = 0; i < h.e_phnum && i < HEADERS_MAX && parts < NOTES_MAX && !id[0];
	     i++) {
		Elf64_Phdr p;

		if (trk__remote_get(r, base + h.e_phoff + i * sizeof(p), &p, sizeof(p)) < 0)
			return;
		/* Notes are in the first part of the file, which is mapped unchanged. */
		parts += p.p_type == PT_NOTE;
		if (p.p_type == PT_NOTE && p.p_filesz <= sizeof(notes) &&
		    trk__remote_copy(r, base + p.p_offset, notes, p.p_filesz) == 0)
			find_note(notes, p.p_filesz, id);
	}
}
