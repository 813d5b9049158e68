/* A growable byte buffer with a maximum size.
 *
 * Appending past the maximum, or failing to allocate, sets a sticky error and drops the data: a
 * writer checks once at the end. The content is always NUL-terminated. */
#ifndef TRK_BASE_BUF_H
#define TRK_BASE_BUF_H

#include <stddef.h>
#include <stdint.h>

struct trk_buf {
	char *data; /* owned; NULL until the first append */
	size_t len;
	size_t cap;
	size_t max;
	int error; /* 0, -ENOMEM or -EFBIG; sticky until _clear */
};

void trk__buf_init(struct trk_buf *b, size_t max);
void trk__buf_release(struct trk_buf *b);
/* The content, which the caller frees; the buffer is empty then. NULL after an error. */
char *trk__buf_take(struct trk_buf *b);
/* Empty the buffer and forget the error, keep the memory. */
void trk__buf_clear(struct trk_buf *b);
/* Make room for `more` bytes beyond len. Returns 0 or the sticky error. */
int trk__buf_reserve(struct trk_buf *b, size_t more);

void trk__buf_add(struct trk_buf *b, const void *data, size_t len);
void trk__buf_puts(struct trk_buf *b, const char *text);
void trk__buf_putc(struct trk_buf *b, char c);
/* Append `value` as "%ld" does, but many times faster. */
void trk__buf_integer(struct trk_buf *b, long value);
/* Append text of HTML: those of the characters &<>"' that `special` lists become entities. */
void trk__buf_markup(struct trk_buf *b, const char *text, size_t len, const char *special);
/* Append bytes as base64 with padding. */
void trk__buf_base64(struct trk_buf *b, const void *bytes, size_t len);
void trk__buf_printf(struct trk_buf *b, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Unsigned integer as a little-endian base-128 varint (1 to 10 bytes). */
void trk__buf_varint(struct trk_buf *b, uint64_t value);
/* Signed integer, zigzag-coded. */
void trk__buf_svarint(struct trk_buf *b, int64_t value);
/* Length-prefixed bytes. */
void trk__buf_bytes(struct trk_buf *b, const void *data, size_t len);
void trk__buf_text(struct trk_buf *b, const char *text);

/* Read side: a cursor over borrowed bytes, with a sticky failure flag. */
struct trk_cursor {
	const unsigned char *at;
	const unsigned char *end;
	int bad; /* set once anything ran past the end or was malformed */
};

uint64_t trk__cursor_varint(struct trk_cursor *c);
int64_t trk__cursor_svarint(struct trk_cursor *c);
/* A view of length-prefixed bytes; NULL and *retlen = 0 when bad. */
const char *trk__cursor_bytes(struct trk_cursor *c, size_t *retlen);
/* Copy length-prefixed text into `text`, truncated to fit, always terminated. */
void trk__cursor_text(struct trk_cursor *c, char *text, size_t size);

/* `__attribute__((cleanup))` helper. */
#define TRK_BUF_CLEANUP __attribute__((cleanup(trk__buf_release)))
/* Define an empty buffer that is released at the end of its block. */
#define TRK_BUF_LOCAL(name, size) TRK_BUF_CLEANUP struct trk_buf name = {.max = (size)}

#endif
