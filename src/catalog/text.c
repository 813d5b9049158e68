#include "catalog/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "catalog/text_cells.h"

enum { FILE_MAX = 64 << 20 };

/* ---- facts ---- */

static int take_head(struct trk_text_reading *r)
{
	uint64_t format = 0;
	uint32_t day = 0;

	if (trk__text_needs_cells(r, 3, "catalogue format date") < 0 ||
	    trk__text_number(r, 1, 1000000, &format) < 0)
		return -EBADMSG;
	if (format > TRK_CATALOG_FORMAT)
		return trk__error_set(r->reterr, -TRK_ERR_VERSION, r->file,
				      "%s:%lu:%zu: format %u is newer than this program reads "
				      "(%d). Try: a newer resource-tracker",
				      trk__catalog_file_tail(r->file), r->line,
				      (size_t) (r->cells[1].at - r->line_start) + 1,
				      (unsigned int) format, TRK_CATALOG_FORMAT);
	if (format < TRK_CATALOG_FORMAT)
		return trk__text_mistake(r, r->cells[1].at,
					 "format %u is older than this program reads (%d)",
					 (unsigned int) format, TRK_CATALOG_FORMAT);
	if (trk__text_date(r, 2, &day) < 0)
		return -EBADMSG;
	if (day > r->b->date)
		r->b->date = day;
	r->has_head = true;
	return 0;
}

static int take_source(struct trk_text_reading *r)
{
	struct trk_catalog_source s = {0};

	if (trk__text_needs_cells(r, 5, "source id date licence title") < 0 ||
	    trk__text_date(r, 2, &s.date) < 0)
		return -EBADMSG;
	if (trk__text_find(r, &r->b->sources, sizeof(s), 1, -1) >= 0)
		return 0;
	s.id = trk__text_text(r, 1);
	s.licence = trk__text_text(r, 3);
	s.title = trk__text_text(r, 4);
	trk__buf_add(&r->b->sources, &s, sizeof(s));
	return r->b->sources.error;
}

static int take_vendor(struct trk_text_reading *r)
{
	struct trk_catalog_vendor v = {0};
	uint64_t step = 0, minimum = 0;

	if (trk__text_needs_cells(r, 6, "vendor id aliases name step_s minimum_s note") < 0 ||
	    trk__text_number(r, 4, 86400, &step) < 0 || trk__text_number(r, 5, 86400, &minimum) < 0)
		return -EBADMSG;
	if (step == 0)
		return trk__text_mistake(r, r->cells[4].at,
					 "a billing step of at least 1 s is needed");
	if (trk__text_find(r, &r->b->vendors, sizeof(v), 1, -1) >= 0)
		return 0;
	v.id = trk__text_text(r, 1);
	v.aliases = trk__text_text(r, 2);
	v.name = trk__text_text(r, 3);
	v.note = trk__text_text(r, 6);
	v.step_s = (uint32_t) step;
	v.minimum_s = (uint32_t) minimum;
	trk__buf_add(&r->b->vendors, &v, sizeof(v));
	return r->b->vendors.error;
}

static int take_region(struct trk_text_reading *r)
{
	struct trk_catalog_region g = {0};

	if (trk__text_needs_cells(r, 5, "region vendor id country flags aliases place") < 0 ||
	    trk__text_find_vendor(r, 1) < 0)
		return -EBADMSG;
	if (trk__text_find(r, &r->b->regions, sizeof(g), 2, r->vendor) >= 0)
		return 0;
	if (!trk__text_is_unknown(r, 3)) {
		if (r->cells[3].len != 2)
			return trk__text_mistake(r, r->cells[3].at, "a country is two letters");
		memcpy(g.country, r->cells[3].at, 2);
	}
	if (!trk__text_is_unknown(r, 4) && !trk__text_is(&r->cells[4], "restricted"))
		return trk__text_mistake(r, r->cells[4].at, "unknown flag; one is: restricted");
	g.restricted = !trk__text_is_unknown(r, 4);
	g.vendor = r->vendor;
	g.id = trk__text_text(r, 2);
	g.aliases = trk__text_text(r, 5);
	g.place = trk__text_text(r, 6);
	trk__buf_add(&r->b->regions, &g, sizeof(g));
	return r->b->regions.error;
}

/* ---- rows ---- */

static int take_flags(struct trk_text_reading *r, size_t cell, uint8_t *ret)
{
	static const char *const names[] = {"metal", "mac", "accel", "fpga", "previous"};
	const size_t count = sizeof(names) / sizeof(names[0]);
	const char *at = cell < r->n ? r->cells[cell].at : "";
	size_t left = trk__text_is_unknown(r, cell) ? 0 : r->cells[cell].len;

	while (left) {
		const char *comma = memchr(at, ',', left);
		size_t len = comma ? (size_t) (comma - at) : left, i;

		for (i = 0; i < count; i++)
			if (strlen(names[i]) == len && !memcmp(at, names[i], len))
				break;
		if (i == count)
			return trk__text_mistake(
				r, at, "unknown flag; known: metal mac accel fpga previous");
		*ret |= (uint8_t) (1u << i);
		left -= len + (comma != NULL);
		at += len + (comma != NULL);
	}
	return 0;
}

static int row_of_servers(struct trk_text_reading *r)
{
	uint64_t vcpus = 0, memory = 0, threads = 0;
	struct trk_catalog_server *s;
	uint8_t arch = 0, allocation = 0, flags = 0;
	int error = 0;

	if (trk__text_needs_cells(r, 6, "type vcpus memory_mib arch allocation") < 0 ||
	    trk__text_number(r, 2, 10000, &vcpus) < 0 ||
	    trk__text_number(r, 3, UINT32_MAX, &memory) < 0 ||
	    trk__text_choice(r, 4, trk__catalog_arch_names, TRK_ARCHES, &arch) < 0 ||
	    trk__text_choice(r, 5, trk__catalog_allocation_names, TRK_ALLOCATIONS, &allocation) <
		    0 ||
	    trk__text_number(r, 6, 8, &threads) < 0 || take_flags(r, 7, &flags) < 0)
		return -EBADMSG;
	if (!vcpus)
		return trk__text_mistake(r, r->cells[2].at, "a server has at least one vCPU");
	if (!memory)
		return trk__text_mistake(r, r->cells[3].at, "a server has some memory");
	s = trk__text_row_server(r, true, &error);
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

static int row_of_gpus(struct trk_text_reading *r)
{
	uint64_t count = 0, vram = 0, permille = 1000;
	struct trk_catalog_server *s;
	int error = 0;

	if (trk__text_needs_cells(r, 3, "type count model vram_mib_each fraction") < 0 ||
	    trk__text_number(r, 2, 64, &count) < 0 || trk__text_number(r, 4, UINT32_MAX, &vram) < 0)
		return -EBADMSG;
	if (!trk__text_is_unknown(r, 5) && trk__text_fraction(r, 5, 3, 1000, &permille) < 0)
		return -EBADMSG;
	s = trk__text_row_server(r, false, &error);
	if (!s)
		return error;
	s->gpu_count = (uint8_t) count;
	s->gpu_model = trk__text_text(r, 3);
	s->vram_mib = (uint32_t) vram;
	s->gpu_permille = (uint16_t) permille;
	return 0;
}

/* One whole number for each server. */
static int row_of_one(struct trk_text_reading *r, uint64_t *ret,
		      struct trk_catalog_server **retserver)
{
	int error = 0;

	if (trk__text_needs_cells(r, 3, "type value") < 0 ||
	    trk__text_number(r, 2, UINT32_MAX, ret) < 0)
		return -EBADMSG;
	*retserver = trk__text_row_server(r, false, &error);
	return *retserver ? 0 : error;
}

static int row_of_memory(struct trk_text_reading *r)
{
	struct trk_catalog_server *s;
	uint64_t value = 0;
	int error = row_of_one(r, &value, &s);

	if (error < 0)
		return error;
	if (value > s->memory_mib)
		return trk__text_mistake(r, r->cells[2].at, "more than the %u MiB that it has",
					 s->memory_mib);
	s->usable_mib = (uint32_t) value;
	return 0;
}

static int row_of_storage(struct trk_text_reading *r)
{
	struct trk_catalog_server *s;
	uint64_t value = 0;
	int error = row_of_one(r, &value, &s);

	if (error == 0)
		s->storage_gb = (uint32_t) value;
	return error;
}

static int row_of_coremark(struct trk_text_reading *r)
{
	struct trk_catalog_server *s;
	uint64_t value = 0;
	int error = row_of_one(r, &value, &s);

	if (error < 0)
		return error;
	s->coremark = (uint32_t) value;
	s->coremark_quality = r->quality;
	return 0;
}

static int row_of_stressng(struct trk_text_reading *r)
{
	struct trk_catalog_server *s;
	uint64_t one = 0, all = 0;
	int error = 0;

	if (trk__text_needs_cells(r, 4, "type one_thread all_threads") < 0 ||
	    trk__text_number(r, 2, UINT32_MAX, &one) < 0 ||
	    trk__text_number(r, 3, UINT32_MAX, &all) < 0)
		return -EBADMSG;
	s = trk__text_row_server(r, false, &error);
	if (!s)
		return error;
	s->one_thread = (uint32_t) one;
	s->all_threads = (uint32_t) all;
	s->stressng_quality = r->quality;
	return 0;
}

/* ---- blocks ---- */

static int open_facts(struct trk_text_reading *r, int (*row)(struct trk_text_reading *))
{
	uint32_t day;

	if (trk__text_needs_cells(r, 5, "kind vendor source date quality") < 0 ||
	    trk__text_find_vendor(r, 1) < 0 || trk__text_open_block(r, 2, &day) < 0)
		return -EBADMSG;
	r->row = row;
	return 0;
}

static int take_fact(struct trk_text_reading *r)
{
	static const struct {
		const char *word;
		int (*row)(struct trk_text_reading *);
	} blocks[] = {
		{"servers", row_of_servers},   {"gpus", row_of_gpus},
		{"memory", row_of_memory},     {"storage", row_of_storage},
		{"coremark", row_of_coremark}, {"stressng", row_of_stressng},
	};

	r->row = NULL;
	if (trk__text_is(&r->cells[0], "catalogue"))
		return take_head(r);
	if (!r->has_head)
		return trk__text_mistake(r, r->cells[0].at,
					 "not a catalogue: its first line is \"catalogue "
					 "1 DATE\"");
	for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++)
		if (trk__text_is(&r->cells[0], blocks[i].word))
			return open_facts(r, blocks[i].row);
	if (trk__text_is(&r->cells[0], "prices"))
		return trk__text_open_prices(r);
	if (trk__text_is(&r->cells[0], "spots"))
		return trk__text_open_spots(r);
	if (trk__text_is(&r->cells[0], "source"))
		return take_source(r);
	if (trk__text_is(&r->cells[0], "vendor"))
		return take_vendor(r);
	if (trk__text_is(&r->cells[0], "region"))
		return take_region(r);
	if (trk__text_is(&r->cells[0], "end")) {
		r->has_end = true;
		return 0;
	}
	return trk__text_mistake(r, r->cells[0].at, "unknown word %.*s",
				 trk__text_quoted(&r->cells[0]), r->cells[0].at);
}

static int split(struct trk_text_reading *r, const char *line, size_t len)
{
	const char *end = line + len;

	for (r->n = 0;; r->n++) {
		const char *tab = memchr(line, '\t', (size_t) (end - line));

		if (r->n == TRK_TEXT_CELLS_MAX)
			return trk__text_mistake(r, line, "too many cells");
		r->cells[r->n] = (struct trk_text_cell){line, (size_t) ((tab ? tab : end) - line)};
		if (!tab)
			break;
		line = tab + 1;
	}
	r->n++;
	return 0;
}

static int take_line(struct trk_text_reading *r, const char *line, size_t len)
{
	const char *odd = memchr(line, '\0', len);

	r->line_start = line;
	if (odd)
		return trk__text_mistake(r, odd, "a NUL byte");
	if (len && line[len - 1] == '\r')
		len--;
	if (!len || line[0] == '#')
		return 0;
	if (r->has_end)
		return trk__text_mistake(r, line, "text after the line \"end\"");
	if (split(r, line, len) < 0)
		return -EBADMSG;
	if (line[0] != '\t')
		return take_fact(r);
	if (!r->row)
		return trk__text_mistake(r, line, "a row outside of any block");
	return r->row(r);
}

int trk__catalog_text_add(struct trk_catalog_builder *b, const char *file, const char *text,
			  size_t len, struct trk_error *reterr)
{
	struct trk_text_reading r = {.b = b, .file = file, .reterr = reterr};
	const char *end = text + len;

	r.base_blocks = b->blocks.len / sizeof(struct trk_catalog_block);
	while (text < end) {
		const char *stop = memchr(text, '\n', (size_t) (end - text));
		int error;

		r.line++;
		error = take_line(&r, text, (size_t) ((stop ? stop : end) - text));
		if (error == -EFBIG)
			return trk__error_set(reterr, error, file, "%s:%lu:1: too large",
					      trk__catalog_file_tail(file), r.line);
		if (error < 0)
			return error;
		text = stop ? stop + 1 : end;
	}
	r.line++;
	r.line_start = end;
	if (!r.has_head)
		return trk__text_mistake(&r, end, "not a catalogue: empty");
	if (!r.has_end)
		return trk__text_mistake(&r, end,
					 "cut short: the last line of a catalogue is \"end\"");
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
