/* Errors: a list of codes above errno, and messages for the cases where a person must act.
 *
 * A function that can fail returns 0 or a count, else a negative errno or a negative TRK_E code.
 * Where the reader of the message needs to know which file and which place, the function also
 * fills a struct trk_error. */
#ifndef TRK_BASE_ERROR_H
#define TRK_BASE_ERROR_H

#include <stdarg.h>
#include <stddef.h>

/* The codes of this library, TRK_E_ followed by the name; they lie above every errno. The public
 * header has the same codes as TRK_ERR_, which src/api/recording.c compares with this list. */
#define TRK_ERROR_LIST(X)                                                                          \
	X(FORMAT, 4001, "not a resource-tracker recording")                                        \
	X(VERSION, 4002, "recording made by a newer version of resource-tracker")                  \
	X(DAMAGED, 4003, "damaged recording")                                                      \
	X(NODATA, 4004, "no data")                                                                 \
	X(NORUN, 4005, "no such run")                                                              \
	X(AMBIGUOUS, 4006, "more than one run matches")                                            \
	X(UNSUPPORTED, 4007, "not supported by this kernel")                                       \
	X(RANGE, 4008, "out of range")                                                             \
	X(SYMLINK, 4009, "a symbolic link stands there, and is not followed")                      \
	X(UNTRUSTED, 4010, "another user owns it or may write to it")                              \
	X(NOTFILE, 4011, "not a regular file")

enum trk_error_code {
#define X(name, value, text) TRK_E_##name = (value),
	TRK_ERROR_LIST(X)
#undef X
};

/* What went wrong and where; `file` and `message` are truncated, never overrun. */
struct trk_error {
	int code;           /* negative, as returned */
	unsigned long line; /* 0 where no line applies */
	char file[256];
	char message[256];
};

/* Text of an error code (negative or positive, errno or TRK_E). Never NULL. */
const char *trk__strerror(int code);

/* Fill *reterr (may be NULL) and return `code`, so that `return trk__error_set(...)` reads well. */
int trk__error_set(struct trk_error *reterr, int code, const char *file, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* As vsnprintf(3), but a message that does not fit loses its middle, not its end, where the reason
 * is: "run aaaa [9984 bytes left out] aaa: no such run". Cut between characters. */
void trk__message(char *text, size_t size, const char *format, va_list args)
	__attribute__((format(printf, 3, 0)));

#endif
