/* Shared helpers of the fuzzers.
 *
 * A fuzzer is one file, <parser>.c. It passes its input to one parser and checks invariants that
 * hold for any input. driver.c or libFuzzer calls it. */
#ifndef TRK_TESTS_FUZZ_H
#define TRK_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Runs the parser on `size` bytes. Returns 0; a finding ends the process. */
typedef int fuzz_function(const uint8_t *data, size_t size);

#ifdef FUZZ_DRIVER
/* All fuzzers are one program with driver.c. Each adds itself under the name of its file. */
struct fuzz_parser {
	const char *file;
	fuzz_function *run;
	struct fuzz_parser *next;
};

void fuzz_add(struct fuzz_parser *parser);
#ifndef FUZZ_IS_DRIVER
static fuzz_function fuzz_input;

__attribute__((constructor)) static void fuzz_add_this_file(void)
{
	static struct fuzz_parser parser = {__BASE_FILE__, fuzz_input, NULL};

	fuzz_add(&parser);
}

#define LLVMFuzzerTestOneInput fuzz_input
#endif
#else
fuzz_function LLVMFuzzerTestOneInput;
#endif

/* driver.c sets it while it runs cuts and mutations of a seed, of which there are thousands that
 * hardly differ: what takes long may then be done in turns. Not there with libFuzzer. */
extern bool fuzz_in_turns __attribute__((weak));

/* Whether to do part `part` of `parts` with this input: all of them with a seed and with libFuzzer,
 * one of them, by the length of the input, with a cut or a mutation. */
static inline bool fuzz_turn(size_t size, size_t part, size_t parts)
{
	return !&fuzz_in_turns || !fuzz_in_turns || size % parts == part;
}

/* The input as a NUL-terminated string of its own, so that the sanitizer sees a read past its end.
 * Owned: the caller frees it. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		abort();
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

/* What must hold for any input; works in release builds too. */
#define FUZZ_CHECK(condition)                                                                      \
	do {                                                                                       \
		if (!(condition))                                                                  \
			abort();                                                                   \
	} while (0)

#endif
