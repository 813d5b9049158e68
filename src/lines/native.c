#include "lines/native.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "lines/dwarf.h"
#include "lines/elf_file.h"
#include "lines/source.h"

enum { FILES_MAX = 256, NAME_MAX_BYTES = 400 };
#define UNKNOWN TRK_LINES_OTHER

struct place {
	uint32_t function; /* in the new lines; UNKNOWN: unchanged */
	int line;
};

struct look_up {
	const struct trk_lines *from;
	struct trk_lines *to;
	struct place *place; /* of each node */
	uint32_t *node;      /* nodes of one file, by offset */
	size_t nodes;
	double start_s;
};

/* ---- one file ---- */

/* "[libx.so+0x1234]" */
static uint32_t unnamed(struct look_up *u, const struct trk_lines_function *f, int offset)
{
	const char *slash = strrchr(f->file, '/'), *base = slash ? slash + 1 : f->file;
	char name[NAME_MAX_BYTES];

	if (offset)
		(void) snprintf(name, sizeof(name), "[%.300s+0x%x]", base, (unsigned int) offset);
	else
		(void) snprintf(name, sizeof(name), "[%.300s]", base);
	return trk__lines_function_of(u->to, f->file, trk__elf_is_of_system(f->file), name, 0);
}

static void add_symbols(struct trk_lines *to, const char *file, const char *why, bool is_usual)
{
	struct trk_lines_symbols *more;

	if (to->symbol_files == FILES_MAX)
		return;
	more = realloc(to->symbols, (to->symbol_files + 1) * sizeof(*more));
	if (!more)
		return;
	to->symbols = more;
	more[to->symbol_files] = (struct trk_lines_symbols){strdup(file), why, is_usual};
	to->symbol_files += more[to->symbol_files].file != NULL;
}

/* Open the file if it is the one that ran. NULL, or why it cannot be used. */
static const char *open_file(const struct look_up *u, const struct trk_lines_function *f,
			     struct trk_elf_file *ret)
{
	const char *id;
	size_t len;
	int r = trk__elf_file_open(f->file, u->from->user, ret);

	if (r == -ENOENT || r == -ENOTDIR || f->file[0] != '/')
		return "the file does not exist";
	if (r == -EPERM)
		return "the file belongs to another user";
	if (r == -EACCES)
		return trk__lines_closed_file(u->from->user);
	if (r < 0)
		return "the file cannot be read";
	(void) trk__lines_is_native(f, &id, &len);
	if (len ? strlen(ret->build_id) != len || memcmp(ret->build_id, id, len) != 0
		: ret->changed_s >= u->start_s) {
		trk__elf_file_close(ret);
		return len ? "the file has changed since the run (another build id)"
			   : "the file has changed since the run";
	}
	trk__elf_file_add_debug(ret);
	return NULL;
}

static int compare_lines(const void *a, const void *b)
{
	const struct trk_dwarf_line *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static const struct trk_dwarf_line *line_at(const struct trk_dwarf_line *line, size_t count,
					    uint64_t address)
{
	const struct trk_dwarf_line key = {.address = address};

	return count ? bsearch(&key, line, count, sizeof(key), compare_lines) : NULL;
}

static uint64_t address_of(const struct look_up *u, const struct trk_elf_file *f, size_t i)
{
	uint64_t address;
	int offset = u->from->node[u->node[i]].line;

	return offset && trk__elf_file_address(f, (uint64_t) offset, &address) ? address : 0;
}

/* Look up the lines of all places of the file, and of the starts of their functions. */
static size_t find_lines(const struct look_up *u, const struct trk_elf_file *f,
			 struct trk_dwarf_line *line)
{
	size_t count = 0, unique = 0;

	for (size_t i = 0; i < u->nodes; i++) {
		uint64_t address = address_of(u, f, i);
		const struct trk_elf_symbol *s = trk__elf_file_function(f, address);

		if (address)
			line[count++] = (struct trk_dwarf_line){.address = address};
		if (address && s)
			line[count++] = (struct trk_dwarf_line){.address = s->start};
	}
	qsort(line, count, sizeof(*line), compare_lines);
	for (size_t i = 0; i < count; i++)
		if (i == 0 || line[i].address != line[unique - 1].address)
			line[unique++] = line[i];
	if (f->has_lines)
		trk__dwarf_find(f->fd, line, unique);
	return unique;
}

static void name_place(struct look_up *u, const struct trk_elf_file *f,
		       const struct trk_lines_function *function, size_t i,
		       const struct trk_dwarf_line *line, size_t lines)
{
	uint64_t address = address_of(u, f, i);
	const struct trk_elf_symbol *s = address ? trk__elf_file_function(f, address) : NULL;
	const struct trk_dwarf_line *here = line_at(line, lines, address);
	const struct trk_dwarf_line *first = s ? line_at(line, lines, s->start) : NULL;
	const char *file = first && first->file ? first->file : function->file;
	struct place *place = &u->place[u->node[i]];
	char *name;

	if (!s)
		return;
	name = trk__demangle(f->strings + s->name);
	if (!name)
		return;
	/* Inlined code may be from another file, which the line then refers to. */
	if (here && here->file)
		file = here->file;
	place->function = trk__lines_function_of(
		u->to, file, trk__elf_is_of_system(function->file), name,
		first && first->file && !strcmp(file, first->file) ? first->line : 0);
	u->to->function[place->function].built_s = f->changed_s;
	place->line = here ? here->line : 0;
	free(name);
}

static const char *missing(const struct trk_elf_file *f, bool has_named)
{
	if (!has_named)
		return "the file has no symbols";
	if (f->has_lines && !trk__dwarf_is_there())
		return trk__os_has_stack(TRK_DWARF_STACK_BYTES)
			       ? "functions only: libdw.so.1 is not installed"
			       : "functions only: libdw.so.1 needs a larger stack (ulimit -s)";
	return NULL;
}

static int look_up_file(struct look_up *u, const struct trk_lines_function *function)
{
	struct trk_dwarf_line *line = calloc(2 * u->nodes, sizeof(*line));
	struct trk_elf_file f = {.fd = -1};
	const char *why;
	bool has_named = false, is_open;
	size_t lines;

	if (!line)
		return -ENOMEM;
	why = open_file(u, function, &f);
	is_open = !why;
	if (is_open) {
		lines = find_lines(u, &f, line);
		for (size_t i = 0; i < u->nodes; i++) {
			name_place(u, &f, function, i, line, lines);
			has_named |= u->place[u->node[i]].function != UNKNOWN;
		}
		for (size_t i = 0; i < lines; i++)
			free(line[i].file);
		why = missing(&f, has_named);
		trk__elf_file_close(&f);
	}
	free(line);
	for (size_t i = 0; i < u->nodes; i++) {
		struct place *p = &u->place[u->node[i]];

		if (p->function == UNKNOWN)
			*p = (struct place){unnamed(u, function, u->from->node[u->node[i]].line),
					    0};
	}
	add_symbols(u->to, function->file, why,
		    !has_named && is_open && trk__elf_is_of_system(function->file));
	return 0;
}

/* ---- all files ---- */

static int compare_functions(const void *a, const void *b, void *data)
{
	const struct trk_lines_node *node = data;
	uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;

	if (node[x].function != node[y].function)
		return node[x].function < node[y].function ? -1 : 1;
	return (x > y) - (x < y);
}

static int look_up_files(struct look_up *u)
{
	const struct trk_lines *l = u->from;
	uint32_t *all = malloc(l->nodes * sizeof(*all));
	size_t count = 0, next;
	int r = all ? 0 : -ENOMEM;

	for (uint32_t i = 1; r == 0 && i < l->nodes; i++)
		if (trk__lines_is_native(&l->function[l->node[i].function], NULL, NULL))
			all[count++] = i;
	if (count)
		trk__os_sort(all, count, sizeof(*all), compare_functions, l->node);
	for (size_t i = 0; r == 0 && i < count; i = next) {
		uint32_t function = l->node[all[i]].function;

		for (next = i; next < count && l->node[all[next]].function == function; next++)
			;
		u->node = all + i;
		u->nodes = next - i;
		r = look_up_file(u, &l->function[function]);
	}
	free(all);
	return r;
}

/* ---- the new lines ---- */

/* Map each node to its number in the new lines. */
static void map_nodes(struct look_up *u, uint32_t *map)
{
	const struct trk_lines *l = u->from;

	map[TRK_LINES_ROOT] = TRK_LINES_ROOT;
	for (size_t i = 1; i < l->nodes; i++) {
		const struct trk_lines_function *f = &l->function[l->node[i].function];
		uint32_t function = u->place[i].function;
		int line = u->place[i].line;

		if (function == UNKNOWN) {
			function = trk__lines_function_of(u->to, f->file, f->is_library, f->name,
							  f->first_line);
			line = l->node[i].line;
		}
		map[i] = trk__lines_node(u->to, map[l->node[i].parent], function, line);
	}
}

/* Renumber counts, and add up those of the same place. */
static int renumber(const struct trk_lines_count *count, size_t counts, const uint32_t *map,
		    struct trk_lines_sums *sums)
{
	for (size_t i = 0; i < counts; i++) {
		struct trk_lines_amounts *sum =
			trk__lines_sum(sums, count[i].lane, map[count[i].node]);

		if (!sum)
			return -ENOMEM;
		trk__lines_amounts_add(sum, &count[i].amounts);
	}
	return 0;
}

static int copy_counts(struct look_up *u, const uint32_t *map)
{
	const struct trk_lines *l = u->from;
	struct trk_lines_sums sums = {.counts = 0};
	int r = renumber(l->total, l->totals, map, &sums);

	if (r == 0)
		r = trk__lines_add(u->to, 0, 0, sums.count, sums.counts);
	trk__lines_sums_release(&sums);
	u->to->keeps_windows = l->keeps_windows;
	for (size_t i = 0; r == 0 && i < l->windows; i++) {
		const struct trk_lines_window *w = &l->window[i];

		r = renumber(l->kept + w->first, w->count, map, &sums);
		if (r == 0)
			trk__lines_keep(u->to, w->from_us, w->to_us, sums.count, sums.counts);
		trk__lines_sums_release(&sums);
	}
	return r;
}

static int copy_rest(struct look_up *u, const uint32_t *map)
{
	const struct trk_lines *l = u->from;
	struct trk_lines *to = u->to;
	int r = 0;

	for (size_t i = 1; r == 0 && i < l->lanes; i++)
		r = trk__lines_put_lane(to, i, &l->lane[i]);
	if (r < 0)
		return r;
	memcpy(to->process, l->process, sizeof(to->process));
	to->processes = l->processes;
	for (size_t i = 0; i < l->lanes; i++) {
		struct trk_lines_last last = l->last[i];

		last.node = map[last.node];
		to->last[i] = last;
	}
	to->samples = l->samples;
	to->torn = l->torn;
	to->rate_hz = l->rate_hz;
	to->rounds = l->rounds;
	to->cost_us = l->cost_us;
	to->native = l->native;
	to->user = l->user;
	return 0;
}

static bool has_native(const struct trk_lines *l)
{
	for (size_t i = 0; i < l->functions; i++)
		if (trk__lines_is_native(&l->function[i], NULL, NULL))
			return true;
	return false;
}

int trk__lines_looked_up(const struct trk_lines *l, double start_s, struct trk_lines **ret)
{
	struct look_up u = {.from = l, .start_s = start_s};
	uint32_t *map;
	int r = -ENOMEM;

	*ret = NULL;
	if (!has_native(l))
		return 0;
	u.to = trk__lines_new();
	u.place = calloc(l->nodes, sizeof(*u.place));
	map = malloc(l->nodes * sizeof(*map));
	if (u.to && u.place && map)
		r = look_up_files(&u);
	if (r == 0) {
		map_nodes(&u, map);
		r = copy_rest(&u, map);
	}
	if (r == 0)
		r = copy_counts(&u, map);
	free(u.place);
	free(map);
	if (r < 0)
		trk__lines_free(u.to);
	else
		*ret = u.to;
	return r;
}

int trk__lines_look_up(struct trk_lines **l, double start_s)
{
	struct trk_lines *named = NULL;
	int r = *l ? trk__lines_looked_up(*l, start_s, &named) : 0;

	if (named) {
		trk__lines_free(*l);
		*l = named;
	}
	return r;
}
