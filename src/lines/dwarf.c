#include "lines/dwarf.h"

#include <stdlib.h>
#include <string.h>

#include "base/dynamic.h"
#include "base/os.h"
#include "lines/elf_file.h"

/* As in elfutils/libdw.h. */
typedef struct Dwarf Dwarf;
typedef struct Dwarf_Line_s Dwarf_Line;
struct die {
	void *addr, *unit, *abbrev;
	long padding;
};
struct attribute {
	unsigned int code, form;
	void *value, *unit;
};
enum { COMMAND_READ = 0, UNITS_MAX = 50000, CALLS_MAX = 400, LOOKS_MAX = 20000000 };
enum { TAG_INLINED = 0x1d, AT_CALL_FILE = 0x58, AT_CALL_LINE = 0x59 };

static Dwarf *(*dwarf_begin)(int fd, int command);
static int (*dwarf_end)(Dwarf *dwarf);
static int (*dwarf_nextcu)(Dwarf *dwarf, uint64_t at, uint64_t *next, size_t *header,
			   uint64_t *abbrev, uint8_t *address_size, uint8_t *offset_size);
static struct die *(*dwarf_offdie)(Dwarf *dwarf, uint64_t at, struct die *ret);
static ptrdiff_t (*dwarf_ranges)(struct die *die, ptrdiff_t at, uint64_t *base, uint64_t *start,
				 uint64_t *end);
static Dwarf_Line *(*dwarf_getsrc_die)(struct die *unit, uint64_t address);
static int (*dwarf_lineno)(Dwarf_Line *line, int *ret);
static const char *(*dwarf_linesrc)(Dwarf_Line *line, uint64_t *mtime, uint64_t *length);

static int (*dwarf_getscopes)(struct die *unit, uint64_t address, struct die **ret);
static int (*dwarf_getscopes_die)(struct die *die, struct die **ret);
static int (*dwarf_tag)(struct die *die);
static struct attribute *(*dwarf_attr)(struct die *die, unsigned int code, struct attribute *ret);
static int (*dwarf_formudata)(struct attribute *attribute, uint64_t *ret);
static int (*dwarf_getsrcfiles)(struct die *unit, void **ret, size_t *count);
static const char *(*dwarf_filesrc)(void *files, size_t i, uint64_t *mtime, uint64_t *length);

bool trk__dwarf_is_there(void)
{
	static const struct trk_symbol wanted[] = {
		{"dwarf_begin", &dwarf_begin},
		{"dwarf_end", &dwarf_end},
		{"dwarf_nextcu", &dwarf_nextcu},
		{"dwarf_offdie", &dwarf_offdie},
		{"dwarf_ranges", &dwarf_ranges},
		{"dwarf_getsrc_die", &dwarf_getsrc_die},
		{"dwarf_lineno", &dwarf_lineno},
		{"dwarf_linesrc", &dwarf_linesrc},
		{"dwarf_getscopes", &dwarf_getscopes},
		{"dwarf_getscopes_die", &dwarf_getscopes_die},
		{"dwarf_tag", &dwarf_tag},
		{"dwarf_attr", &dwarf_attr},
		{"dwarf_formudata", &dwarf_formudata},
		{"dwarf_getsrcfiles", &dwarf_getsrcfiles},
		{"dwarf_filesrc", &dwarf_filesrc},
	};
	static bool was_tried, is_there;

	if (!was_tried && trk__os_has_stack(TRK_DWARF_STACK_BYTES))
		is_there = trk__library_load("libdw.so.1", wanted,
					     sizeof(wanted) / sizeof(wanted[0])) != NULL;
	was_tried = true;
	return is_there;
}

/* Bounds against files crafted to take long. */
struct work {
	int calls, looks;
};

static bool number_of(struct die *die, unsigned int code, uint64_t *ret)
{
	struct attribute attribute;

	return dwarf_attr(die, code, &attribute) && dwarf_formudata(&attribute, ret) == 0;
}

/* Names without a path are in the folder of the compilation unit. */
static bool is_library(const char *file)
{
	return file[0] == '/' && trk__elf_is_of_system(file);
}

/* For inlined library code, the innermost call in the user's own code. */
static void find_call(struct die *unit, struct trk_dwarf_line *ret)
{
	struct die *innermost = NULL, *scope = NULL;
	void *files;
	size_t names;
	int scopes = 0;

	if (dwarf_getscopes(unit, ret->address, &innermost) > 0)
		scopes = dwarf_getscopes_die(&innermost[0], &scope);
	if (scopes > 0 && dwarf_getsrcfiles(unit, &files, &names) == 0)
		for (int i = 0; i < scopes; i++) {
			uint64_t file, line;
			const char *name;

			if (dwarf_tag(&scope[i]) != TAG_INLINED ||
			    !number_of(&scope[i], AT_CALL_FILE, &file) ||
			    !number_of(&scope[i], AT_CALL_LINE, &line) || file >= names ||
			    line > INT32_MAX)
				continue;
			name = dwarf_filesrc(files, (size_t) file, NULL, NULL);
			if (!name || is_library(name))
				continue;
			free(ret->file);
			ret->file = strdup(name);
			ret->line = ret->file ? (int) line : 0;
			break;
		}
	free(innermost);
	free(scope);
}

static void find_line(struct die *unit, struct trk_dwarf_line *ret, struct work *work)
{
	Dwarf_Line *found = dwarf_getsrc_die(unit, ret->address);
	const char *file;
	int line;

	if (!found || dwarf_lineno(found, &line) != 0 || line <= 0)
		return;
	file = dwarf_linesrc(found, NULL, NULL);
	ret->file = file ? strdup(file) : NULL;
	ret->line = ret->file ? line : 0;
	/* This reads the whole unit each time. */
	if (ret->file && is_library(ret->file) && work->calls++ < CALLS_MAX)
		find_call(unit, ret);
}

/* The first line at or after an address. */
static size_t first_from(const struct trk_dwarf_line *line, size_t count, uint64_t address)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (line[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void look_at_unit(struct die *unit, struct trk_dwarf_line *line, size_t count,
			 struct work *work)
{
	uint64_t base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(unit, at, &base, &start, &end)) > 0)
		for (size_t i = first_from(line, count, start);
		     i < count && line[i].address < end && work->looks++ < LOOKS_MAX; i++)
			if (!line[i].file)
				find_line(unit, &line[i], work);
}

void trk__dwarf_find(int fd, struct trk_dwarf_line *line, size_t count)
{
	Dwarf *dwarf = trk__dwarf_is_there() ? dwarf_begin(fd, COMMAND_READ) : NULL;
	uint64_t at = 0, next;
	size_t header;
	struct work work = {.calls = 0};

	if (!dwarf)
		return;
	/* All units, as not every compiler writes .debug_aranges. */
	for (int i = 0;
	     i < UNITS_MAX && dwarf_nextcu(dwarf, at, &next, &header, NULL, NULL, NULL) == 0; i++) {
		struct die unit;

		if (dwarf_offdie(dwarf, at + header, &unit))
			look_at_unit(&unit, line, count, &work);
		at = next;
	}
	(void) dwarf_end(dwarf);
}

/* ---- names ---- */

enum { NAME_MAX_BYTES = 4096, REFERENCES_MAX = 32 };

static char *(*cxa_demangle)(const char *name, char *to, size_t *size, int *status);

static bool has_demangler(void)
{
	static const struct trk_symbol wanted[] = {{"__cxa_demangle", &cxa_demangle}};
	static bool was_tried, is_there;

	if (!was_tried)
		is_there = trk__library_load("libstdc++.so.6", wanted, 1) != NULL;
	was_tried = true;
	return is_there;
}

/* Cut the parameters of "ns::f<int (*)(int)>(int)" off, and the hash that Rust puts at the end. */
static void cut(char *name)
{
	int depth = 0;
	char *hash;

	for (char *at = name; *at; at++) {
		depth += (*at == '<') - (*at == '>');
		if (*at == '(' && depth == 0 && at != name && strncmp(at, "(anonymous", 10) != 0 &&
		    at[-1] != ' ' && (at - name < 8 || strncmp(at - 8, "operator", 8) != 0)) {
			*at = '\0';
			break;
		}
	}
	hash = strrchr(name, ':');
	if (hash && hash > name && hash[1] == 'h' && strlen(hash + 2) == 16 &&
	    strspn(hash + 2, "0123456789abcdef") == 16)
		hash[-1] = '\0';
}

/* The length of a name without the version of a library's symbol, and without what compilers add to
 * copies of a function that they made for one use: "f.constprop.0", "f.cold". */
static size_t plain_length(const char *name)
{
	static const char *const added[] = {".constprop.", ".isra.", ".part.",
					    ".cold",       ".llvm.", ".lto_priv."};
	size_t len = strcspn(name, "@");

	if (len > NAME_MAX_BYTES)
		len = NAME_MAX_BYTES;
	for (size_t i = 0; i < sizeof(added) / sizeof(added[0]); i++) {
		const char *at = strstr(name, added[i]);

		if (at && at > name && (size_t) (at - name) < len)
			len = (size_t) (at - name);
	}
	return len;
}

/* A mangled name refers to its own parts (S1_, T_), and each reference may double the text. Of
 * 119,000 names of LLVM and other libraries, 10 have more references than this. */
static bool is_bounded(const char *name)
{
	int references = 0;

	for (; (name = strpbrk(name, "ST")) != NULL; name++)
		references +=
			name[1 + strspn(name + 1, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")] == '_';
	return references <= REFERENCES_MAX;
}

char *trk__demangle(const char *name)
{
	char *plain = strndup(name, plain_length(name)), *text = NULL;
	int status;

	if (plain && !strncmp(plain, "_Z", 2) && is_bounded(plain) && has_demangler())
		text = cxa_demangle(plain, NULL, NULL, &status);
	if (!text)
		return plain;
	free(plain);
	cut(text);
	return text;
}
