/* Errors: a list of codes above errno, and messages for the cases where a person must act.
 *
 * A function that can fail returns 0 or a count, else a negative errno or a negative TRK_ERR_ code.
 * Where the reader of the message needs to know which file and which place, the function also
 * fills a struct trk_error. */
#ifndef TRK_BASE_ERROR_H
#define TRK_BASE_ERROR_H

#include <stdarg.h>
#include <stddef.h>

/* The codes of this library lie above every errno. The public header defines the same ones: a file
 * that includes both does not compile where one differs. trk__strerror() has their texts. */
#define TRK_ERR_FORMAT      4001
#define TRK_ERR_VERSION     4002
#define TRK_ERR_DAMAGED     4003
#define TRK_ERR_NODATA      4004
#define TRK_ERR_NORUN       4005
#define TRK_ERR_AMBIGUOUS   4006
#define TRK_ERR_UNSUPPORTED 4007
#define TRK_ERR_RANGE       4008
#define TRK_ERR_SYMLINK     4009
#define TRK_ERR_UNTRUSTED   4010
#define TRK_ERR_NOTFILE     4011

/* What went wrong and where; `file` and `message` are truncated, never overrun. */
struct trk_error {
	int code;           /* negative, as returned */
	unsigned long line; /* 0 where no line applies */
	char file[256];
	char message[256];
};

/* Text of an error code (negative or positive, errno or TRK_ERR_). Never NULL. */
const char *trk__strerror(int code);

/* The message; the text of `code` where there is none. */
const char *trk__error_text(const struct trk_error *error, int code);

/* Fill *reterr (may be NULL) and return `code`, so that `return trk__error_set(...)` reads well. */
int trk__error_set(struct trk_error *reterr, int code, const char *file, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* As vsnprintf(3), but a message that does not fit loses its middle, not its end, where the reason
 * is: "run aaaa [9984 bytes left out] aaa: no such run". Cut between characters. Cleaned for a
 * terminal, as names in it come from others (trk__utf8_clean). */
void trk__message(char *text, size_t size, const char *format, va_list args)
	__attribute__((format(printf, 3, 0)));

#endif
