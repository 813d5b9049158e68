#include "lines/elf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/trust.h"
#include "model/lines.h"

/* As in elf(5). */
struct section {
	uint32_t name, type;
	uint64_t flags, address, offset, size;
	uint32_t link, info;
	uint64_t alignment, entry_size;
};
struct symbol {
	uint32_t name;
	unsigned char info, other;
	uint16_t section;
	uint64_t value, size;
};

enum { SECTION_SYMTAB = 2, SECTION_DYNSYM = 11, SECTIONS_MAX = 4096 };
enum { SYMBOL_FUNC = 2, SYMBOL_IFUNC = 10 };
enum { TABLE_MAX = 128 * 1024 * 1024, NAMES_MAX = 64 * 1024 };

static bool read_at(int fd, uint64_t offset, void *to, size_t size)
{
	char *at = to;

	while (size > 0) {
		ssize_t n = offset > INT64_MAX ? 0 : pread(fd, at, size, (off_t) offset);

		if (n <= 0)
			return false;
		at += n;
		offset += (uint64_t) n;
		size -= (size_t) n;
	}
	return true;
}

/* Read a table of the file and append a NUL; NULL: none, or no memory. The caller frees. */
static void *read_table(int fd, uint64_t offset, uint64_t size, uint64_t max)
{
	char *table;

	if (size == 0 || size > max)
		return NULL;
	table = malloc(size + 1);
	if (!table || !read_at(fd, offset, table, size)) {
		free(table);
		return NULL;
	}
	table[size] = '\0';
	return table;
}

/* ---- the head ---- */

static void take_notes(struct trk_elf_file *f, const struct trk_elf_segment *s)
{
	unsigned char *notes = read_table(f->fd, s->offset, s->file_size, TRK_ELF_NOTES_MAX);

	if (notes)
		trk__elf_build_id(notes, s->file_size, f->build_id);
	free(notes);
}

static int take_segments(struct trk_elf_file *f, const struct trk_elf_header *h)
{
	for (unsigned int i = 0; i < h->segments && i < TRK_ELF_SEGMENTS_READ; i++) {
		struct trk_elf_segment s;

		if (!read_at(f->fd, h->segments_at + i * sizeof(s), &s, sizeof(s)))
			return -ENOEXEC;
		if (s.type == TRK_ELF_NOTE && !f->build_id[0])
			take_notes(f, &s);
		if (s.type == TRK_ELF_LOAD && f->segments < TRK_ELF_SEGMENTS) {
			f->segment[f->segments].offset = s.offset;
			f->segment[f->segments].size = s.file_size;
			f->segment[f->segments++].address = s.address;
		}
	}
	return 0;
}

/* ---- functions ---- */

static int compare_symbols(const void *a, const void *b)
{
	const struct trk_elf_symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->size != y->size) /* the largest last: the search finds it */
		return x->size < y->size ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

static void take_symbols(struct trk_elf_file *f, const struct section *table,
			 const struct section *strings)
{
	struct symbol *raw = read_table(f->fd, table->offset, table->size, TABLE_MAX);
	size_t n = raw ? table->size / sizeof(*raw) : 0, count = 0;
	struct trk_elf_symbol *symbol = n ? malloc(n * sizeof(*symbol)) : NULL;
	char *text = symbol ? read_table(f->fd, strings->offset, strings->size, TABLE_MAX) : NULL;

	for (size_t i = 0; text && i < n; i++) {
		unsigned int type = raw[i].info & 15u;

		if ((type == SYMBOL_FUNC || type == SYMBOL_IFUNC) && raw[i].section &&
		    raw[i].name < strings->size)
			symbol[count++] =
				(struct trk_elf_symbol){raw[i].value, raw[i].size, raw[i].name};
	}
	free(raw);
	if (count == 0) {
		free(symbol);
		free(text);
		return;
	}
	qsort(symbol, count, sizeof(*symbol), compare_symbols);
	f->symbol = symbol;
	f->symbols = count;
	f->strings = text;
	f->strings_size = strings->size;
}

static bool is_named(const char *names, uint64_t size, uint32_t at, const char *name)
{
	return names && at < size && !strcmp(names + at, name);
}

static void take_sections(struct trk_elf_file *f, const struct trk_elf_header *h)
{
	unsigned int count = h->sections < SECTIONS_MAX ? h->sections : 0;
	struct section *s =
		h->section_size == sizeof(*s)
			? read_table(f->fd, h->sections_at, count * sizeof(*s), TABLE_MAX)
			: NULL;
	const struct section *symtab = NULL, *dynsym = NULL;
	char *names = s && h->names < count
			      ? read_table(f->fd, s[h->names].offset, s[h->names].size, NAMES_MAX)
			      : NULL;

	for (unsigned int i = 0; s && i < count; i++) {
		uint64_t size = names ? s[h->names].size : 0;

		f->has_lines |= is_named(names, size, s[i].name, ".debug_line");
		if (s[i].type == SECTION_SYMTAB && s[i].link < count)
			symtab = &s[i];
		if (s[i].type == SECTION_DYNSYM && s[i].link < count)
			dynsym = &s[i];
	}
	if (symtab)
		take_symbols(f, symtab, &s[symtab->link]);
	if (dynsym && f->symbols == 0)
		take_symbols(f, dynsym, &s[dynsym->link]);
	free(s);
	free(names);
}

/* ---- opening ---- */

int trk__elf_file_open(const char *path, int64_t user, struct trk_elf_file *ret)
{
	struct trk_elf_file f = {.fd = trk__trust_open_as(user, path)};
	struct trk_elf_header h = {.type = 0};
	struct stat st;
	int r = f.fd < 0 ? f.fd : 0;

	if (r == 0 && fstat(f.fd, &st) < 0)
		r = -errno;
	if (r == 0 && st.st_uid != geteuid() && st.st_uid != 0 && st.st_uid != user)
		r = -EPERM;
	if (r == 0 && (!read_at(f.fd, 0, &h, sizeof(h)) || !trk__elf_is_ours(&h)))
		r = -ENOEXEC;
	if (r == 0)
		r = take_segments(&f, &h);
	if (r < 0) {
		trk__close(f.fd);
		return r;
	}
	f.changed_s = (double) st.st_mtime;
	take_sections(&f, &h);
	*ret = f;
	return 0;
}

void trk__elf_file_add_debug(struct trk_elf_file *f)
{
	struct trk_elf_file debug;
	char path[128];

	if (f->has_lines || strlen(f->build_id) < 4)
		return;
	(void) snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%.2s/%s.debug", f->build_id,
			f->build_id + 2);
	if (trk__elf_file_open(path, geteuid(), &debug) < 0)
		return;
	if (strcmp(debug.build_id, f->build_id) != 0) {
		trk__elf_file_close(&debug);
		return;
	}
	/* Use the segments of the file itself: those of the debug file are empty. */
	memcpy(debug.segment, f->segment, sizeof(debug.segment));
	debug.segments = f->segments;
	debug.changed_s = f->changed_s;
	trk__elf_file_close(f);
	*f = debug;
}

void trk__elf_file_close(struct trk_elf_file *f)
{
	trk__close(f->fd);
	free(f->symbol);
	free(f->strings);
	*f = (struct trk_elf_file){.fd = -1};
}

bool trk__elf_file_address(const struct trk_elf_file *f, uint64_t offset, uint64_t *ret)
{
	for (size_t i = 0; i < f->segments; i++)
		if (offset >= f->segment[i].offset &&
		    offset - f->segment[i].offset < f->segment[i].size) {
			*ret = offset - f->segment[i].offset + f->segment[i].address;
			return true;
		}
	return false;
}

const struct trk_elf_symbol *trk__elf_file_function(const struct trk_elf_file *f, uint64_t address)
{
	size_t low = 0, high = f->symbols;
	const struct trk_elf_symbol *s;

	while (low < high) { /* the first that starts after it */
		size_t middle = low + (high - low) / 2;

		if (f->symbol[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return NULL;
	s = &f->symbol[low - 1];
	return s->size == 0 || address - s->start < s->size ? s : NULL;
}

bool trk__elf_is_of_system(const char *path)
{
	static const char *const places[] = {
		"/usr/lib",    "/usr/bin/", "/usr/sbin/",    "/usr/share/", "/usr/include/",
		"/usr/src/",   "/lib",      "/bin/",         "/sbin/",      "/nix/store/",
		"/gnu/store/", "/rustc/",   "/usr/local/go/"};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (!strncmp(path, places[i], strlen(places[i])))
			return true;
	return path[0] != '/' || strstr(path, "/rustlib/") || strstr(path, "/.cargo/registry/") ||
	       trk__lines_is_library(path);
}
