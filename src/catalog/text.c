#include "catalog/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

enum { FILE_MAX = 64 << 20, CELLS_MAX = 12 };

struct cell {
	const char *at;
	size_t len;
};

struct reading {
	struct trk_catalog_builder *b;
	struct trk_catalog_line in;
	struct cell cells[CELLS_MAX];
	size_t n;
	bool has_head, has_end;
	size_t base_blocks; /* blocks that were there before this file */
	/* The block that rows belong to. */
	int (*row)(struct reading *r);
	const struct figures *figures;
	uint8_t vendor, quality;
	uint16_t source, region;
};

/* ---- cells ---- */

#define mistake(r, ...) trk__catalog_mistake(&(r)->in, __VA_ARGS__)

static bool is(const struct cell *c, const char *word)
{
	return strlen(word) == c->len && !memcmp(c->at, word, c->len);
}

static bool is_unknown(const struct reading *r, size_t cell)
{
	return cell >= r->n || is(&r->cells[cell], "-");
}

static int quoted(const struct cell *c)
{
	return c->len < 60 ? (int) c->len : 60;
}

/* A mistake about a cell as a whole: "WHAT: CELL". */
static int wrong_cell(struct reading *r, const struct cell *c, const char *what)
{
	return mistake(r, c->at, "%s: %.*s", what, quoted(c), c->at);
}

static int needs_cells(struct reading *r, size_t least, const char *names)
{
	if (r->n >= least)
		return 0;
	return mistake(r, r->cells[r->n - 1].at + r->cells[r->n - 1].len,
		       "too few cells; this line has: %s", names);
}

/* An unsigned decimal of at most `max`. Unknown cells leave *ret as it is. */
static int take_number(struct reading *r, size_t cell, uint64_t max, uint64_t *ret)
{
	const struct cell *c = &r->cells[cell];
	uint64_t value = 0;

	if (is_unknown(r, cell))
		return 0;
	for (size_t i = 0; i < c->len; i++) {
		if (c->at[i] < '0' || c->at[i] > '9')
			return mistake(r, c->at + i, "not a whole number: %.*s", quoted(c), c->at);
		value = value * 10 + (uint64_t) (c->at[i] - '0');
		if (value > max)
			return wrong_cell(r, c, "too large");
	}
	if (!c->len)
		return mistake(r, c->at, "an empty cell; unknown is -");
	*ret = value;
	return 0;
}

/* A decimal fraction in units of 10^-decimals; further digits are a mistake. */
static int take_fraction(struct reading *r, size_t cell, unsigned int decimals, uint64_t max,
			 uint64_t *ret)
{
	const struct cell *c = &r->cells[cell];
	uint64_t value = 0;
	unsigned int after = 0;
	bool point = false, digit = false;

	for (size_t i = 0; i < c->len; i++) {
		if (c->at[i] == '.' && !point) {
			point = true;
			continue;
		}
		if (c->at[i] < '0' || c->at[i] > '9')
			return mistake(r, c->at + i, "not a number: %.*s", quoted(c), c->at);
		after += point;
		digit = true;
		value = value * 10 + (uint64_t) (c->at[i] - '0');
		if (value > max || after > decimals)
			return mistake(r, c->at, "too large or more than %u decimals: %.*s",
				       decimals, quoted(c), c->at);
	}
	for (; after < decimals; after++)
		value *= 10;
	if (!digit || value > max)
		return wrong_cell(r, c, "not a number in range");
	*ret = value;
	return 0;
}

static int take_choice(struct reading *r, size_t cell, const char *const *names, size_t n,
		       uint8_t *ret)
{
	for (size_t i = 0; cell < r->n && i < n; i++) {
		if (is(&r->cells[cell], names[i])) {
			*ret = (uint8_t) i;
			return 0;
		}
	}
	return mistake(r, r->cells[cell].at, "unknown word %.*s; one is: %s",
		       quoted(&r->cells[cell]), r->cells[cell].at, names[0]);
}

/* "2026-07-20" as 20260720. */
static int take_date(struct reading *r, size_t cell, uint32_t *ret)
{
	const struct cell *c = &r->cells[cell];
	uint32_t value = 0;

	for (size_t i = 0; i < c->len; i++) {
		bool dash = i == 4 || i == 7;

		if (dash ? c->at[i] != '-' : c->at[i] < '0' || c->at[i] > '9')
			return wrong_cell(r, c, "not a date (2026-01-31)");
		if (!dash && i < 10)
			value = value * 10 + (uint32_t) (c->at[i] - '0');
	}
	if (c->len != 10 || value % 100 < 1 || value % 100 > 31 || value / 100 % 100 < 1 ||
	    value / 100 % 100 > 12)
		return wrong_cell(r, c, "not a date (2026-01-31)");
	*ret = value;
	return 0;
}

static uint32_t text_of(struct reading *r, size_t cell)
{
	if (is_unknown(r, cell))
		return 0;
	return trk__catalog_builder_text(r->b, r->cells[cell].at, r->cells[cell].len);
}

/* Index of the record whose first member is the text of the cell, or -1. `vendor`: of a region. */
static int find(const struct reading *r, const struct trk_buf *table, size_t record, size_t cell,
		int vendor)
{
	for (size_t i = 0; i < table->len / record; i++) {
		const char *at = table->data + i * record;
		uint32_t id;

		memcpy(&id, at, sizeof(id));
		if (vendor >= 0 &&
		    ((const struct trk_catalog_region *) (const void *) at)->vendor != vendor)
			continue;
		if (is(&r->cells[cell], r->b->texts.data + id))
			return (int) i;
	}
	return -1;
}

static int no_line(struct reading *r, size_t cell, const char *what)
{
	const struct cell *c = &r->cells[cell];

	return mistake(r, c->at, "%s %.*s is not defined above", what, quoted(c), c->at);
}

static int find_vendor(struct reading *r, size_t cell)
{
	int at = find(r, &r->b->vendors, sizeof(struct trk_catalog_vendor), cell, -1);

	r->vendor = (uint8_t) at;
	return at < 0 ? no_line(r, cell, "vendor") : 0;
}

static int find_source(struct reading *r, size_t cell, uint16_t *ret)
{
	int at = find(r, &r->b->sources, sizeof(struct trk_catalog_source), cell, -1);

	*ret = (uint16_t) at;
	return at < 0 ? no_line(r, cell, "source") : 0;
}

/* The server that a row is about. */
static struct trk_catalog_server *row_server(struct reading *r, bool add, int *reterror)
{
	int at;

	if (!r->cells[1].len || r->cells[1].len > 200) {
		*reterror = mistake(r, r->cells[1].at, "no type, or a very long one");
		return NULL;
	}
	at = trk__catalog_builder_server(r->b, r->vendor, r->cells[1].at, r->cells[1].len, add);
	if (at == -ENOENT)
		at = mistake(r, r->cells[1].at, "type %.*s is not in a block of servers above",
			     quoted(&r->cells[1]), r->cells[1].at);
	if (at < 0) {
		*reterror = at;
		return NULL;
	}
	return (struct trk_catalog_server *) (void *) r->b->servers.data + at;
}

static int open_block(struct reading *r, size_t cell, uint32_t *retdate)
{
	if (find_source(r, cell, &r->source) < 0 || take_date(r, cell + 1, retdate) < 0)
		return -EBADMSG;
	return take_choice(r, cell + 2, trk__catalog_quality_names, TRK_FACTS, &r->quality);
}

/* ---- facts ---- */

static int take_head(struct reading *r)
{
	uint64_t format = 0;
	uint32_t day = 0;

	if (needs_cells(r, 3, "catalogue format date") < 0 ||
	    take_number(r, 1, 1000000, &format) < 0)
		return -EBADMSG;
	if (format > TRK_CATALOG_FORMAT)
		return trk__error_set(r->in.reterr, -TRK_ERR_VERSION, r->in.file,
				      "%s:%lu:%zu: format %u is newer than this program reads "
				      "(%d). Try: a newer resource-tracker",
				      trk__catalog_file_tail(r->in.file), r->in.line,
				      (size_t) (r->cells[1].at - r->in.line_start) + 1,
				      (unsigned int) format, TRK_CATALOG_FORMAT);
	if (format < TRK_CATALOG_FORMAT)
		return mistake(r, r->cells[1].at, "format %u is older than this program reads (%d)",
			       (unsigned int) format, TRK_CATALOG_FORMAT);
	if (take_date(r, 2, &day) < 0)
		return -EBADMSG;
	if (day > r->b->date)
		r->b->date = day;
	r->has_head = true;
	return 0;
}

static int take_source(struct reading *r)
{
	struct trk_catalog_source s = {0};

	if (needs_cells(r, 5, "source id date licence title") < 0 || take_date(r, 2, &s.date) < 0)
		return -EBADMSG;
	if (find(r, &r->b->sources, sizeof(s), 1, -1) >= 0)
		return 0;
	s.id = text_of(r, 1);
	s.licence = text_of(r, 3);
	s.title = text_of(r, 4);
	trk__buf_add(&r->b->sources, &s, sizeof(s));
	return r->b->sources.error;
}

static int take_vendor(struct reading *r)
{
	struct trk_catalog_vendor v = {0};
	uint64_t step = 0, minimum = 0;

	if (needs_cells(r, 6, "vendor id aliases name step_s minimum_s note") < 0 ||
	    take_number(r, 4, 86400, &step) < 0 || take_number(r, 5, 86400, &minimum) < 0)
		return -EBADMSG;
	if (step == 0)
		return mistake(r, r->cells[4].at, "a billing step of at least 1 s is needed");
	if (find(r, &r->b->vendors, sizeof(v), 1, -1) >= 0)
		return 0;
	v.id = text_of(r, 1);
	v.aliases = text_of(r, 2);
	v.name = text_of(r, 3);
	v.note = text_of(r, 6);
	v.step_s = (uint32_t) step;
	v.minimum_s = (uint32_t) minimum;
	trk__buf_add(&r->b->vendors, &v, sizeof(v));
	return r->b->vendors.error;
}

static int take_region(struct reading *r)
{
	struct trk_catalog_region g = {0};

	if (needs_cells(r, 5, "region vendor id country flags aliases place") < 0 ||
	    find_vendor(r, 1) < 0)
		return -EBADMSG;
	if (find(r, &r->b->regions, sizeof(g), 2, r->vendor) >= 0)
		return 0;
	if (!is_unknown(r, 3)) {
		if (r->cells[3].len != 2)
			return mistake(r, r->cells[3].at, "a country is two letters");
		memcpy(g.country, r->cells[3].at, 2);
	}
	if (!is_unknown(r, 4) && !is(&r->cells[4], "restricted"))
		return mistake(r, r->cells[4].at, "unknown flag; one is: restricted");
	g.restricted = !is_unknown(r, 4);
	g.vendor = r->vendor;
	g.id = text_of(r, 2);
	g.aliases = text_of(r, 5);
	g.place = text_of(r, 6);
	trk__buf_add(&r->b->regions, &g, sizeof(g));
	return r->b->regions.error;
}

/* ---- rows ---- */

#define SERVER(member) offsetof(struct trk_catalog_server, member)

static int take_flags(struct reading *r, size_t cell, uint8_t *ret)
{
	static const char *const names[] = {"metal", "mac", "accel", "fpga", "previous"};
	const size_t count = sizeof(names) / sizeof(names[0]);
	const char *at = cell < r->n ? r->cells[cell].at : "";
	size_t left = is_unknown(r, cell) ? 0 : r->cells[cell].len;

	while (left) {
		const char *comma = memchr(at, ',', left);
		size_t len = comma ? (size_t) (comma - at) : left, i;

		for (i = 0; i < count; i++)
			if (strlen(names[i]) == len && !memcmp(at, names[i], len))
				break;
		if (i == count)
			return mistake(r, at, "unknown flag; known: metal mac accel fpga previous");
		*ret |= (uint8_t) (1u << i);
		left -= len + (comma != NULL);
		at += len + (comma != NULL);
	}
	return 0;
}

static int row_of_servers(struct reading *r)
{
	uint64_t vcpus = 0, memory = 0, threads = 0;
	struct trk_catalog_server *s;
	uint8_t arch = 0, allocation = 0, flags = 0;
	int error = 0;

	if (needs_cells(r, 6, "type vcpus memory_mib arch allocation") < 0 ||
	    take_number(r, 2, 10000, &vcpus) < 0 || take_number(r, 3, UINT32_MAX, &memory) < 0 ||
	    take_choice(r, 4, trk__catalog_arch_names, TRK_ARCHES, &arch) < 0 ||
	    take_choice(r, 5, trk__catalog_allocation_names, TRK_ALLOCATIONS, &allocation) < 0 ||
	    take_number(r, 6, 8, &threads) < 0 || take_flags(r, 7, &flags) < 0)
		return -EBADMSG;
	if (!vcpus)
		return mistake(r, r->cells[2].at, "a server has at least one vCPU");
	if (!memory)
		return mistake(r, r->cells[3].at, "a server has some memory");
	s = row_server(r, true, &error);
	if (!s)
		return error;
	s->vcpus = (uint16_t) vcpus;
	s->memory_mib = (uint32_t) memory;
	s->arch = arch;
	s->allocation = allocation;
	s->threads_per_core = (uint8_t) threads;
	s->flags = flags;
	s->source = r->source;
	s->quality = r->quality;
	return 0;
}

static int row_of_gpus(struct reading *r)
{
	uint64_t count = 0, vram = 0, permille = 1000;
	struct trk_catalog_server *s;
	int error = 0;

	if (needs_cells(r, 3, "type count model vram_mib_each fraction") < 0 ||
	    take_number(r, 2, 64, &count) < 0 || take_number(r, 4, UINT32_MAX, &vram) < 0)
		return -EBADMSG;
	if (!is_unknown(r, 5) && take_fraction(r, 5, 3, 1000, &permille) < 0)
		return -EBADMSG;
	s = row_server(r, false, &error);
	if (!s)
		return error;
	s->gpu_count = (uint8_t) count;
	s->gpu_model = text_of(r, 3);
	s->vram_mib = (uint32_t) vram;
	s->gpu_permille = (uint16_t) permille;
	return 0;
}

/* Blocks with one or two whole numbers of each server. */
static const struct figures {
	const char *word, *columns;
	size_t count;
	size_t at[2];   /* members of struct trk_catalog_server */
	size_t quality; /* member; 0: none */
} figures[] = {
	{"memory", "type value", 1, {SERVER(usable_mib)}, 0},
	{"storage", "type value", 1, {SERVER(storage_gb)}, 0},
	{"coremark", "type value", 1, {SERVER(coremark)}, SERVER(coremark_quality)},
	{"stressng",
	 "type one_thread all_threads",
	 2,
	 {SERVER(one_thread), SERVER(all_threads)},
	 SERVER(stressng_quality)},
	{NULL, NULL, 0, {0}, 0},
};

static int row_of_figures(struct reading *r)
{
	const struct figures *f = r->figures;
	struct trk_catalog_server *s;
	uint64_t value[2] = {0, 0};
	int error = 0;

	if (needs_cells(r, 2 + f->count, f->columns) < 0)
		return -EBADMSG;
	for (size_t i = 0; i < f->count; i++)
		if (take_number(r, 2 + i, UINT32_MAX, &value[i]) < 0)
			return -EBADMSG;
	s = row_server(r, false, &error);
	if (!s)
		return error;
	if (f->at[0] == SERVER(usable_mib) && value[0] > s->memory_mib)
		return mistake(r, r->cells[2].at, "more than the %u MiB that it has",
			       s->memory_mib);
	for (size_t i = 0; i < f->count; i++)
		*(uint32_t *) (void *) ((char *) s + f->at[i]) = (uint32_t) value[i];
	if (f->quality)
		*((uint8_t *) s + f->quality) = r->quality;
	return 0;
}

/* ---- prices and spot savings ---- */

static int row_of_prices(struct reading *r)
{
	struct trk_catalog_block *block =
		(struct trk_catalog_block *) (void *) (r->b->blocks.data + r->b->blocks.len) - 1;
	uint32_t number_of_block = (uint32_t) (r->b->blocks.len / sizeof(*block));
	uint64_t price = 0, saving = TRK_SAVING_UNKNOWN, klass = TRK_CLASS_UNKNOWN;
	struct trk_catalog_price p;
	struct trk_catalog_server *s;
	int error = 0;

	if (needs_cells(r, 3, "type usd_per_hour spot_saving_percent interruption_class") < 0 ||
	    take_fraction(r, 2, 5, UINT32_MAX, &price) < 0 || take_number(r, 3, 100, &saving) < 0 ||
	    take_number(r, 4, 4, &klass) < 0)
		return -EBADMSG;
	if (!price)
		return mistake(r, r->cells[2].at, "a price must be above zero");
	s = row_server(r, false, &error);
	if (!s)
		return error;
	p = (struct trk_catalog_price){
		.price = (uint32_t) price,
		.server =
			(uint16_t) (s - (struct trk_catalog_server *) (void *) r->b->servers.data),
		.saving = (uint8_t) saving,
		.klass = (uint8_t) klass,
	};
	if (r->b->seen[p.server] == number_of_block)
		return mistake(r, r->cells[1].at, "%.*s appears twice in this block",
			       quoted(&r->cells[1]), r->cells[1].at);
	r->b->seen[p.server] = number_of_block;
	if (r->base_blocks)
		trk__catalog_builder_supersede(r->b, r->region, p.server, r->base_blocks);
	block->count++;
	trk__buf_add(&r->b->prices, &p, sizeof(p));
	return r->b->prices.error;
}

/* The spot saving of a server with a price; rows of other types are skipped. */
static int row_of_spots(struct reading *r)
{
	struct trk_catalog_price *prices = (struct trk_catalog_price *) (void *) r->b->prices.data;
	struct trk_catalog_block *block = (struct trk_catalog_block *) (void *) r->b->blocks.data;
	uint64_t saving = TRK_SAVING_UNKNOWN, klass = TRK_CLASS_UNKNOWN;
	uint32_t at;
	int server;

	if (needs_cells(r, 3, "type spot_saving_percent interruption_class") < 0 ||
	    take_number(r, 2, 100, &saving) < 0 || take_number(r, 3, 4, &klass) < 0)
		return -EBADMSG;
	server = trk__catalog_builder_server(r->b, r->vendor, r->cells[1].at, r->cells[1].len,
					     false);
	at = server < 0 ? 0 : r->b->priced[server];
	if (at == 0)
		return 0;
	prices[at - 1].saving = (uint8_t) saving;
	prices[at - 1].klass = (uint8_t) klass;
	while (at - 1 >= block->first + block->count)
		block++;
	block->spot_source = r->source;
	return 0;
}

/* The region of a block, in its third cell. */
static int find_region(struct reading *r)
{
	int region = find_vendor(r, 1);

	if (region < 0)
		return -EBADMSG;
	region = find(r, &r->b->regions, sizeof(struct trk_catalog_region), 2, r->vendor);
	return region < 0 ? no_line(r, 2, "region") : region;
}

static int open_spots(struct reading *r)
{
	uint32_t day;
	int region;

	if (needs_cells(r, 6, "spots vendor region source date quality") < 0)
		return -EBADMSG;
	region = find_region(r);
	if (region < 0 || open_block(r, 3, &day) < 0)
		return -EBADMSG;
	return trk__catalog_builder_find_prices(r->b, (uint16_t) region);
}

static int open_prices(struct reading *r)
{
	struct trk_catalog_block block = {.spot_source = UINT16_MAX};
	int region;

	if (needs_cells(r, 6, "prices vendor region source date quality spot_source") < 0)
		return -EBADMSG;
	region = find_region(r);
	if (region < 0)
		return region;
	if (open_block(r, 3, &block.date) < 0 ||
	    (!is_unknown(r, 6) && find_source(r, 6, &block.spot_source) < 0))
		return -EBADMSG;
	r->region = block.region = (uint16_t) region;
	block.source = r->source;
	block.quality = r->quality;
	block.vendor = r->vendor;
	block.first = (uint32_t) (r->b->prices.len / sizeof(struct trk_catalog_price));
	trk__buf_add(&r->b->blocks, &block, sizeof(block));
	return r->b->blocks.error;
}

/* ---- blocks ---- */

static int open_facts(struct reading *r)
{
	uint32_t day;

	if (needs_cells(r, 5, "kind vendor source date quality") < 0 || find_vendor(r, 1) < 0)
		return -EBADMSG;
	return open_block(r, 2, &day);
}

static int take_end(struct reading *r)
{
	r->has_end = true;
	return 0;
}

static int take_fact(struct reading *r)
{
	static const struct {
		const char *word;
		int (*take)(struct reading *);
		int (*row)(struct reading *); /* of the block that it opens; NULL: none */
	} facts[] = {
		{"servers", open_facts, row_of_servers},
		{"gpus", open_facts, row_of_gpus},
		{"prices", open_prices, row_of_prices},
		{"spots", open_spots, row_of_spots},
		{"catalogue", take_head, NULL},
		{"source", take_source, NULL},
		{"vendor", take_vendor, NULL},
		{"region", take_region, NULL},
		{"end", take_end, NULL},
	};
	const struct cell *c = &r->cells[0];

	r->row = NULL;
	if (!r->has_head && !is(c, "catalogue"))
		return mistake(r, c->at, "not a catalogue: its first line is \"catalogue 1 DATE\"");
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		if (is(c, facts[i].word)) {
			r->row = facts[i].row;
			return facts[i].take(r);
		}
	for (r->figures = figures; r->figures->word; r->figures++)
		if (is(c, r->figures->word)) {
			r->row = row_of_figures;
			return open_facts(r);
		}
	return mistake(r, c->at, "unknown word %.*s", quoted(c), c->at);
}

static int split(struct reading *r, const char *line, size_t len)
{
	const char *end = line + len;

	for (r->n = 0;; r->n++) {
		const char *tab = memchr(line, '\t', (size_t) (end - line));

		if (r->n == CELLS_MAX)
			return mistake(r, line, "too many cells");
		r->cells[r->n] = (struct cell){line, (size_t) ((tab ? tab : end) - line)};
		if (!tab)
			break;
		line = tab + 1;
	}
	r->n++;
	return 0;
}

static int take_line(struct reading *r, const char *line, size_t len)
{
	const char *odd = memchr(line, '\0', len);

	r->in.line_start = line;
	if (odd)
		return mistake(r, odd, "a NUL byte");
	if (len && line[len - 1] == '\r')
		len--;
	if (!len || line[0] == '#')
		return 0;
	if (r->has_end)
		return mistake(r, line, "text after the line \"end\"");
	if (split(r, line, len) < 0)
		return -EBADMSG;
	if (line[0] != '\t')
		return take_fact(r);
	if (!r->row)
		return mistake(r, line, "a row outside of any block");
	return r->row(r);
}

int trk__catalog_text_add(struct trk_catalog_builder *b, const char *file, const char *text,
			  size_t len, struct trk_error *reterr)
{
	struct reading r = {.b = b, .in = {.file = file, .reterr = reterr}};
	const char *end = text + len;

	r.base_blocks = b->blocks.len / sizeof(struct trk_catalog_block);
	while (text < end) {
		const char *stop = memchr(text, '\n', (size_t) (end - text));
		int error;

		r.in.line++;
		error = take_line(&r, text, (size_t) ((stop ? stop : end) - text));
		if (error == -EFBIG)
			return trk__error_set(reterr, error, file, "%s:%lu:1: too large",
					      trk__catalog_file_tail(file), r.in.line);
		if (error < 0)
			return error;
		text = stop ? stop + 1 : end;
	}
	r.in.line++;
	r.in.line_start = end;
	if (!r.has_head)
		return mistake(&r, end, "not a catalogue: empty");
	if (!r.has_end)
		return mistake(&r, end, "cut short: the last line of a catalogue is \"end\"");
	return 0;
}

int trk__catalog_text_load(const struct trk_catalog *base, const char *file, const char *text,
			   size_t len, struct trk_catalog *ret, struct trk_error *reterr)
{
	struct trk_catalog_builder b;
	int error = 0;

	trk__catalog_builder_init(&b);
	if (base)
		error = trk__catalog_builder_copy(&b, base);
	if (error == 0)
		error = trk__catalog_text_add(&b, file, text, len, reterr);
	if (error == 0)
		error = trk__catalog_builder_finish(&b, ret);
	trk__catalog_builder_release(&b);
	if (error < 0 && error != -EBADMSG && error != -EFBIG && error != -TRK_ERR_VERSION)
		return trk__error_set(reterr, error, file, "%s: %s", trk__catalog_file_tail(file),
				      trk__strerror(error));
	return error;
}

int trk__catalog_text_read(const struct trk_catalog *base, int dirfd, const char *path,
			   struct trk_catalog *ret, struct trk_error *reterr)
{
	TRK_FD_CLEANUP int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0)
		return trk__error_set(reterr, -errno, path, "%s: cannot read: %s",
				      trk__catalog_file_tail(path), trk__strerror(-errno));
	return trk__catalog_text_read_fd(base, fd, path, ret, reterr);
}

int trk__catalog_text_read_fd(const struct trk_catalog *base, int fd, const char *path,
			      struct trk_catalog *ret, struct trk_error *reterr)
{
	char *text = NULL;
	ssize_t len = trk__read_all_fd(fd, FILE_MAX, &text);
	int error;

	if (len < 0)
		return trk__error_set(reterr, (int) len, path, "%s: cannot read: %s",
				      trk__catalog_file_tail(path), trk__strerror((int) len));
	error = trk__catalog_text_load(base, path, text, (size_t) len, ret, reterr);
	free(text);
	return error;
}
