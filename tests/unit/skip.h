/* Macros that skip a case which cannot run here. A bare return would count as passed. */
#ifndef TRK_TESTS_SKIP_H
#define TRK_TESTS_SKIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* End the case as skipped. The reason stands in the test's log, and the last line of the test run
 * counts the case. Include after cmocka.h. */
#define SKIP(reason)                                                                               \
	do {                                                                                       \
		print_message("# skipped: %s\n", reason);                                          \
		skip();                                                                            \
	} while (0)

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) /* of gcc */
#define IS_SANITIZED 1
#elif defined(__has_feature) /* of clang */
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED 1
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED 0
#endif

/* True under valgrind and the sanitizers, which check memory: cases that judge shares over many
 * made-up histories take a few of them there. */
static inline bool checks_memory(void)
{
	return IS_SANITIZED || getenv("TRK_VALGRIND");
}

/* A case that takes each byte of a file in turn takes every seventh one under valgrind, which is 30 times slower. */
static inline size_t every_byte(void)
{
	return getenv("TRK_VALGRIND") ? 7 : 1;
}

/* For a case that looks at this very process, whose memory, writes and limits valgrind changes. */
#define SKIP_UNDER_VALGRIND(reason)                                                                \
	do {                                                                                       \
		if (getenv("TRK_VALGRIND"))                                                        \
			SKIP("valgrind: " reason);                                                 \
	} while (0)

#endif
