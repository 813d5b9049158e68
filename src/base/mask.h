/* Secrets in command lines: each is replaced by a word for its kind.
 *
 * [SECRET]  the value of a name such as --password, API_TOKEN= or "secret": (mask_names.c), or of
 *           an option of a known program, as in mysql -pX (mask_programs.c); a key of a known
 *           service (mask_tokens.def); an address with a password, the path of a webhook
 * [KEY]     an argument that holds a PEM key or certificate
 *
 * Strict masking also replaces text that may not be a secret:
 *
 * [SECRET]  a long word that looks random
 * [URL]     an ftp address, and one with a query or without a dot in it
 * [EMAIL]   a mail address
 * [IP]      an IPv4 or IPv6 address
 *
 * Another short password is not found if the name before it does not indicate one. TRK_REDACT_ALL
 * keeps no arguments. */
#ifndef TRK_BASE_MASK_H
#define TRK_BASE_MASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Replaces arguments that are not kept. */
#define TRK_REDACTED "\u2026"

/* What is removed from a stored command line. 0 is the default. */
enum trk_redaction {
	TRK_REDACT_SECRETS, /* passwords, tokens and keys are masked */
	TRK_REDACT_STRICT,  /* and all else of the list above */
	TRK_REDACT_ALL,     /* all arguments: the program's name alone is kept */
	TRK_REDACT_NOTHING,
};

/* Zero-initialised: before the first argument of a command line. */
struct trk_mask {
	bool strict;
	bool is_source;              /* a line of a program: its secrets are quoted */
	bool is_data;                /* the next argument is no line of a shell */
	unsigned char value_follows; /* the last argument was --password or its like: its kind */
	char value_after;            /* of that value the part behind this character is secret */
	uint8_t operands;            /* words behind the last known program or verb, no options */
	uint64_t programs, verbs;    /* known programs and their verbs so far, a bit each */
};

/* Write `text`, the next argument, to ret with its secrets masked; what does not fit is cut off.
 * Pure: no I/O, no allocation, in a time that is linear in the lengths. Returns the length, less
 * than size; size > 0. */
size_t trk__mask_argument(struct trk_mask *mask, const char *text, char *ret, size_t size);

/* Write a command line, of which each argument ends with a NUL, to ret in the same form; what does
 * not fit is cut. It may be longer than ret, so that no secret is cut before it is recognised.
 * `is_cut`: its own last argument is not whole, and is redacted if it would be kept up to its end.
 * Returns the length. */
size_t trk__mask_command(const char *arguments, size_t len, bool strict, bool is_cut, char *ret,
			 size_t size);

/* True if the text has a part that was masked. */
bool trk__is_masked(const char *text);

#endif
