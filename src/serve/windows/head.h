/* The head of an HTTP/1 request, without its body. Pure. */
#ifndef TRK_SERVE_WINDOWS_HEAD_H
#define TRK_SERVE_WINDOWS_HEAD_H

#include <stdbool.h>
#include <stddef.h>

enum { TRK_HEAD_MAX = 32768, TRK_HEAD_VALUES_MAX = 64 };

struct trk_head_value {
	char *key, *value;
};

struct trk_head {
	char *method, *path; /* path: decoded, without the query */
	struct trk_head_value header[TRK_HEAD_VALUES_MAX];
	struct trk_head_value argument[TRK_HEAD_VALUES_MAX];
	int headers, arguments;
	bool has_body; /* the connection cannot be used again */
	bool is_last;  /* the client wants no further request on it */
};

/* Length of the head, with the empty line at its end, in what was read so far; 0: not complete. */
size_t trk__head_length(const char *text, size_t len);

/* Take apart a complete head, with a NUL after it. *ret points into the text, which is changed.
 * Returns 0, or -EBADMSG: not a request, more values than there is room for, or a NUL byte. */
int trk__head_parse(char *text, size_t len, struct trk_head *ret);

/* The first value of a header (any case of letters) or of an argument; NULL: none. */
const char *trk__head_header(const struct trk_head *r, const char *key);
const char *trk__head_argument(const struct trk_head *r, const char *key);

#endif
