#include "probe/stack/elf_symbol.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

enum { NOTES_PARTS = 4, DYNAMIC_MAX = 256, CHAIN_MAX = 4096, NAME_MAX_BYTES = 64 };

static int get_header(struct trk_remote *r, uint64_t base, struct trk_elf_header *ret)
{
	return base && trk__remote_get(r, base, ret, sizeof(*ret)) == 0 && trk__elf_is_ours(ret)
		       ? 0
		       : -ENOEXEC;
}

/* False at the end, and where it cannot be read. */
static bool get_segment(struct trk_remote *r, uint64_t base, const struct trk_elf_header *h,
			unsigned int i, struct trk_elf_segment *ret)
{
	return i < h->segments && i < TRK_ELF_SEGMENTS_READ &&
	       trk__remote_get(r, base + h->segments_at + i * sizeof(*ret), ret, sizeof(*ret)) == 0;
}

/* Set e->bias; returns the address of the dynamic section; 0: none. */
static uint64_t find_dynamic(struct trk_remote *r, uint64_t base, const struct trk_elf_header *h,
			     struct trk_elf *e)
{
	struct trk_elf_segment s;
	uint64_t dynamic = 0;
	bool has_bias = false;

	for (unsigned int i = 0; get_segment(r, base, h, i, &s); i++)
		if (s.type == TRK_ELF_LOAD && s.offset < TRK_REMOTE_PAGE && !has_bias) {
			e->bias = base - (s.address - s.offset);
			has_bias = true;
		} else if (s.type == TRK_ELF_DYNAMIC) {
			dynamic = s.address;
		}
	return has_bias && dynamic ? dynamic + e->bias : 0;
}

/* glibc adds the bias to the addresses in the section, musl does not. */
static uint64_t moved(const struct trk_elf *e, uint64_t base, uint64_t addr)
{
	return addr && addr < base ? addr + e->bias : addr;
}

int trk__elf_open(struct trk_remote *r, uint64_t base, struct trk_elf *ret)
{
	struct trk_elf e = {0};
	struct trk_elf_header h;
	uint64_t dynamic;

	if (get_header(r, base, &h) < 0)
		return -ENOEXEC;
	dynamic = find_dynamic(r, base, &h, &e);
	for (int i = 0; dynamic && i < DYNAMIC_MAX; i++) {
		Elf64_Dyn d;

		if (trk__remote_get(r, dynamic + (uint64_t) i * sizeof(d), &d, sizeof(d)) < 0 ||
		    d.d_tag == DT_NULL)
			break;
		if (d.d_tag == DT_SYMTAB)
			e.symbols = moved(&e, base, d.d_un.d_ptr);
		else if (d.d_tag == DT_STRTAB)
			e.strings = moved(&e, base, d.d_un.d_ptr);
		else if (d.d_tag == DT_STRSZ)
			e.strings_size = d.d_un.d_val;
		else if (d.d_tag == DT_GNU_HASH)
			e.gnu_hash = moved(&e, base, d.d_un.d_ptr);
		else if (d.d_tag == DT_HASH)
			e.hash = moved(&e, base, d.d_un.d_ptr);
	}
	if (!e.symbols || !e.strings || (!e.gnu_hash && !e.hash))
		return -ENOEXEC;
	*ret = e;
	return 0;
}

/* The value of symbol number `index` if it is defined and has this name; else 0. */
static uint64_t match(struct trk_remote *r, const struct trk_elf *e, uint32_t index,
		      const char *name)
{
	size_t len = strlen(name) + 1;
	char text[NAME_MAX_BYTES];
	Elf64_Sym s;

	if (trk__remote_get(r, e->symbols + (uint64_t) index * sizeof(s), &s, sizeof(s)) < 0 ||
	    s.st_shndx == SHN_UNDEF || s.st_name >= e->strings_size || len > sizeof(text) ||
	    trk__remote_get(r, e->strings + s.st_name, text, len) < 0)
		return 0;
	return memcmp(text, name, len) == 0 ? s.st_value + e->bias : 0;
}

static uint64_t find_by_gnu_hash(struct trk_remote *r, const struct trk_elf *e, const char *name)
{
	uint32_t table[4], hash = 5381, index;
	uint64_t buckets, chain;

	for (const unsigned char *c = (const unsigned char *) name; *c; c++)
		hash = hash * 33 + *c;
	/* Number of buckets, index of the first hashed symbol, number of filter words; a shift. */
	if (trk__remote_get(r, e->gnu_hash, table, sizeof(table)) < 0 || table[0] == 0)
		return 0;
	buckets = e->gnu_hash + sizeof(table) + (uint64_t) table[2] * 8;
	chain = buckets + (uint64_t) table[0] * 4;
	index = trk__remote_u32(r, buckets + (uint64_t) (hash % table[0]) * 4);
	if (index < table[1])
		return 0;
	for (int i = 0; i < CHAIN_MAX; i++, index++) {
		uint32_t value;
		uint64_t found;

		if (trk__remote_get(r, chain + (uint64_t) (index - table[1]) * 4, &value, 4) < 0)
			return 0;
		found = (value | 1) == (hash | 1) ? match(r, e, index, name) : 0;
		if (found || value & 1)
			return found;
	}
	return 0;
}

static uint64_t find_by_hash(struct trk_remote *r, const struct trk_elf *e, const char *name)
{
	uint32_t table[2], hash = 0, index;

	for (const unsigned char *c = (const unsigned char *) name; *c; c++) {
		uint32_t high;

		hash = (hash << 4) + *c;
		high = hash & 0xf0000000;
		hash = (hash ^ high >> 24) & ~high;
	}
	if (trk__remote_get(r, e->hash, table, sizeof(table)) < 0 || table[0] == 0)
		return 0;
	index = trk__remote_u32(r, e->hash + 8 + (uint64_t) (hash % table[0]) * 4);
	for (int i = 0; i < CHAIN_MAX && index; i++) {
		uint64_t found = match(r, e, index, name);

		if (found)
			return found;
		index = trk__remote_u32(r, e->hash + 8 + ((uint64_t) table[0] + index) * 4);
	}
	return 0;
}

uint64_t trk__elf_symbol(struct trk_remote *r, const struct trk_elf *e, const char *name)
{
	return e->gnu_hash ? find_by_gnu_hash(r, e, name) : find_by_hash(r, e, name);
}

/* Notes are in the first part of the file, which is mapped unchanged; a file has one or two parts with
 * notes. */
void trk__elf_mapped_id(struct trk_remote *r, uint64_t base, char id[TRK_ELF_ID_SIZE])
{
	unsigned char notes[TRK_ELF_NOTES_MAX];
	struct trk_elf_header h;
	struct trk_elf_segment s;
	int parts = 0;

	id[0] = '\0';
	if (get_header(r, base, &h) < 0)
		return;
	for (unsigned int i = 0; parts < NOTES_PARTS && !id[0] && get_segment(r, base, &h, i, &s);
	     i++) {
		parts += s.type == TRK_ELF_NOTE;
		if (s.type == TRK_ELF_NOTE && s.file_size <= sizeof(notes) &&
		    trk__remote_copy(r, base + s.offset, notes, s.file_size) == 0)
			trk__elf_build_id(notes, s.file_size, id);
	}
}
