/* Leaving out a case that cannot run here: never a bare return, which would count as passed. */
#ifndef TRK_TESTS_SKIP_H
#define TRK_TESTS_SKIP_H

#include <stdlib.h>

/* End the case as skipped. The reason stands in the test's log, and the last line of the test run
 * counts the case. Include after cmocka.h. */
#define SKIP(reason)                                                                               \
	do {                                                                                       \
		print_message("# skipped: %s\n", reason);                                          \
		skip();                                                                            \
	} while (0)

/* For a case that looks at this very process, whose memory, writes and limits valgrind changes. */
#define SKIP_UNDER_VALGRIND(reason)                                                                \
	do {                                                                                       \
		if (getenv("TRK_VALGRIND"))                                                        \
			SKIP("valgrind: " reason);                                                 \
	} while (0)

#endif
