/* Libraries that are loaded when they are needed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>

#include "base/dynamic.h"

static void a_library_that_is_there_gives_what_is_wanted(void **state)
{
	double (*cosine)(double) = NULL;
	const struct trk_symbol wanted[] = {{"cos", &cosine}};
	void *library = trk__library_load("libm.so.6", wanted, 1);

	assert_non_null(library);
	assert_true(cosine(0) == 1);
	assert_int_equal(dlclose(library), 0);
}

static void a_failure_is_not_kept(void **state)
{
	double (*none)(double) = NULL;
	const struct trk_symbol wanted[] = {{"no such function", &none}};
	static const char *const names[] = {"libno-such-library.so.1", "libm.so.6"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_null(trk__library_load(names[i], wanted, 1));
		assert_null(none);
		assert_null(dlerror());
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_library_that_is_there_gives_what_is_wanted),
		cmocka_unit_test(a_failure_is_not_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
