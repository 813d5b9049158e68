/* Code objects of CPython: their names, their file, and the lines of their instructions. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probe/stack/cpython.h"

enum { END_BYTES = 32 }; /* compared bytes of a file name */

/* ---- text ---- */

/* Append one character as UTF-8. U+DC80 to U+DCFF are bytes of invalid UTF-8 (PEP 383). */
static size_t put_character(char *text, uint32_t c)
{
	if (c < 0x80 || (c >= 0xdc80 && c <= 0xdcff)) {
		text[0] = (char) (c & 0xff);
		return 1;
	}
	if (c < 0x800) {
		text[0] = (char) (0xc0 | c >> 6);
		text[1] = (char) (0x80 | (c & 63));
		return 2;
	}
	if (c < 0x10000) {
		text[0] = (char) (0xe0 | c >> 12);
		text[1] = (char) (0x80 | (c >> 6 & 63));
		text[2] = (char) (0x80 | (c & 63));
		return 3;
	}
	text[0] = (char) (0xf0 | (c >> 18 & 7));
	text[1] = (char) (0x80 | (c >> 12 & 63));
	text[2] = (char) (0x80 | (c >> 6 & 63));
	text[3] = (char) (0x80 | (c & 63));
	return 4;
}

/* Append `count` characters of `kind` bytes each. `text` has room for four bytes per character. */
static size_t put_characters(char *text, const unsigned char *raw, size_t count, unsigned int kind)
{
	size_t len = 0;

	for (size_t i = 0; i < count; i++) {
		uint32_t c = raw[i * kind];

		if (kind >= 2)
			c |= (uint32_t) raw[i * kind + 1] << 8;
		if (kind == 4)
			c |= (uint32_t) raw[i * 4 + 2] << 16 | (uint32_t) raw[i * 4 + 3] << 24;
		len += put_character(text + len, c);
	}
	return len;
}

/* Start of PyASCIIObject; the state has the same bits in all supported versions. */
struct text_head {
	uint64_t length;
	unsigned int kind;
	bool compact, ascii;
};

static int read_head(struct trk_remote *r, const struct trk_cpython_layout *l, uint64_t addr,
		     struct text_head *ret)
{
	uint32_t state;

	if (trk__remote_get(r, addr + (uint64_t) l->text_state, &state, sizeof(state)) < 0 ||
	    trk__remote_get(r, addr + (uint64_t) l->text_length, &ret->length, 8) < 0)
		return -EBADMSG;
	ret->kind = state >> 2 & 7;
	ret->compact = state >> 5 & 1;
	ret->ascii = state >> 6 & 1;
	if (!ret->compact || (ret->kind != 1 && ret->kind != 2 && ret->kind != 4) ||
	    ret->length > (uint64_t) 1 << 20)
		return -EBADMSG;
	return 0;
}

int trk__cpython_text(struct trk_remote *r, const struct trk_cpython_layout *l, uint64_t addr,
		      char *text, size_t size)
{
	static const char dots[] = "\xe2\x80\xa6";
	unsigned char raw[TRK_CPYTHON_TEXT];
	char wide[TRK_CPYTHON_TEXT * 4];
	struct text_head h;
	size_t count, len, skip = 0;

	if (read_head(r, l, addr, &h) < 0)
		return -EBADMSG;
	/* PyCompactUnicodeObject adds the UTF-8 form and, up to 3.11, the length of a wchar_t
	 * one. */
	addr += (uint64_t) l->ascii_size + (h.ascii ? 0 : l->version <= 0x30b ? 24 : 16);
	count = h.length < sizeof(raw) / h.kind ? (size_t) h.length : sizeof(raw) / h.kind;
	addr += (h.length - count) * h.kind;
	if (trk__remote_get(r, addr, raw, count * h.kind) < 0)
		return -EBADMSG;
	len = put_characters(wide, raw, count, h.kind);
	if (len >= size || count < h.length) { /* keep the end, which says more than the start */
		size_t room = size - sizeof(dots);

		skip = len > room ? len - room : 0;
		while (skip < len && ((unsigned char) wide[skip] & 0xc0) == 0x80)
			skip++;
		memcpy(text, dots, sizeof(dots) - 1);
		text += sizeof(dots) - 1;
	}
	memcpy(text, wide + skip, len - skip);
	text[len - skip] = '\0';
	for (size_t i = 0; i < len - skip; i++)
		if (text[i] == '\0')
			text[i] = '?';
	return (int) (len - skip) + (skip || count < h.length ? (int) sizeof(dots) - 1 : 0);
}

static char *copy_text(struct trk_remote *r, const struct trk_cpython_layout *l, uint64_t addr)
{
	char text[TRK_CPYTHON_TEXT];

	return trk__cpython_text(r, l, addr, text, sizeof(text)) < 0 ? NULL : strdup(text);
}

/* ---- code objects ---- */

static int read_fields(struct trk_remote *r, const struct trk_cpython_runtime *runtime,
		       struct trk_cpython_code *code)
{
	const struct trk_cpython_layout *l = &runtime->layout;
	uint64_t type = 0;

	if (trk__remote_get(r, code->addr + (uint64_t) l->object_type, &type, 8) < 0 ||
	    type != runtime->code_type)
		return -EBADMSG;
	code->file_addr = trk__remote_u64(r, code->addr + (uint64_t) l->code_file);
	code->name_addr = trk__remote_u64(r, code->addr + (uint64_t) l->code_name);
	code->table_addr = trk__remote_u64(r, code->addr + (uint64_t) l->code_table);
	code->first_line = (int) trk__remote_u32(r, code->addr + (uint64_t) l->code_first_line);
	return code->file_addr && code->name_addr && code->table_addr && code->first_line >= 0
		       ? 0
		       : -EBADMSG;
}

static int read_table(struct trk_remote *r, const struct trk_cpython_layout *l,
		      struct trk_cpython_code *code)
{
	uint64_t len = trk__remote_u64(r, code->table_addr + (uint64_t) l->bytes_size);

	if (len > (uint64_t) 1 << 30)
		return -EBADMSG;
	code->table_len = len < TRK_CPYTHON_TABLE ? (size_t) len : TRK_CPYTHON_TABLE;
	code->table = malloc(code->table_len + 1);
	if (!code->table)
		return -ENOMEM;
	return trk__remote_get(r, code->table_addr + (uint64_t) l->bytes_data, code->table,
			       code->table_len);
}

/* Copy the last bytes of a text without the cache. Returns their number. */
static size_t copy_end(struct trk_remote *r, const struct trk_cpython_layout *l, uint64_t addr,
		       unsigned char end[END_BYTES])
{
	struct text_head h;
	size_t len;

	if (read_head(r, l, addr, &h) < 0)
		return 0;
	len = (size_t) h.length * h.kind;
	addr += (uint64_t) l->ascii_size + len;
	len = len < END_BYTES ? len : END_BYTES;
	return trk__remote_copy(r, addr - len, end, len) < 0 ? 0 : len;
}

/* Read the table and the names. If the process replaces the object meanwhile, the file names read
 * before and after differ. */
static int read_texts(struct trk_remote *r, const struct trk_cpython_layout *l,
		      struct trk_cpython_code *code)
{
	unsigned char before[END_BYTES], after[END_BYTES];
	size_t len = copy_end(r, l, code->file_addr, before);
	int error = read_table(r, l, code);

	if (error < 0)
		return error;
	code->file = copy_text(r, l, code->file_addr);
	code->name = copy_text(r, l, code->name_addr);
	if (!code->file || !code->name || copy_end(r, l, code->file_addr, after) != len ||
	    memcmp(before, after, len) != 0)
		return -EBADMSG;
	return 0;
}

int trk__cpython_read_code(struct trk_remote *r, const struct trk_cpython_runtime *runtime,
			   struct trk_cpython_code *code)
{
	int error = read_fields(r, runtime, code);

	if (error < 0)
		return error;
	error = read_texts(r, &runtime->layout, code);
	if (error < 0) {
		trk__cpython_forget_code(code);
		return -EBADMSG;
	}
	for (size_t i = 0; i < sizeof(code->place) / sizeof(code->place[0]); i++)
		code->place[i] = -1;
	return 0;
}

bool trk__cpython_same_code(struct trk_remote *r, const struct trk_cpython_runtime *runtime,
			    const struct trk_cpython_code *code)
{
	struct trk_cpython_code now = {.addr = code->addr};

	return read_fields(r, runtime, &now) == 0 && now.file_addr == code->file_addr &&
	       now.name_addr == code->name_addr && now.table_addr == code->table_addr &&
	       now.first_line == code->first_line;
}

void trk__cpython_forget_code(struct trk_cpython_code *code)
{
	free(code->file);
	free(code->name);
	free(code->table);
	memset(code, 0, sizeof(*code));
}

int trk__cpython_code_line(const struct trk_cpython_layout *l, struct trk_cpython_code *code,
			   int offset)
{
	enum trk_cpython_form form = l->version <= 0x309   ? TRK_CPYTHON_LNOTAB
				     : l->version == 0x30a ? TRK_CPYTHON_RANGES
							   : TRK_CPYTHON_LOCATIONS;
	unsigned int slot = (unsigned int) offset / 2 % 4;

	if (offset < 0)
		return code->first_line;
	if (code->place[slot] != offset) {
		code->line[slot] = trk__cpython_line(form, code->table, code->table_len,
						     code->first_line, offset);
		code->place[slot] = offset;
	}
	return code->line[slot];
}
