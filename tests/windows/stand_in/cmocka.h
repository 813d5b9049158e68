/* The part of cmocka that the unit tests use. cmocka has no package for Windows. Assertions print
 * their place and end the case; a group of cases is reported as TAP. A test is one source file. */
#ifndef TESTS_WINDOWS_CMOCKA_H
#define TESTS_WINDOWS_CMOCKA_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct CMUnitTest {
	const char *name;
	void (*run)(void **state);
	int (*setup)(void **state);
	int (*teardown)(void **state);
};

typedef int CMFixtureFunction(void **state);

#define cmocka_unit_test(run)                                                                      \
	{                                                                                          \
#run, run, NULL, NULL                                                              \
	}
#define cmocka_unit_test_setup(run, setup)                                                         \
	{                                                                                          \
#run, run, setup, NULL                                                             \
	}
#define cmocka_unit_test_teardown(run, teardown)                                                   \
	{                                                                                          \
#run, run, NULL, teardown                                                          \
	}
#define cmocka_unit_test_setup_teardown(run, setup, teardown)                                      \
	{                                                                                          \
#run, run, setup, teardown                                                         \
	}

static jmp_buf stand_in_end;
static bool stand_in_skipped;

__attribute__((noreturn, unused, format(printf, 3, 4))) static void stand_in_fail(const char *file,
										  int line,
										  const char *words,
										  ...)
{
	va_list args;

	printf("# %s:%d: ", file, line);
	va_start(args, words);
	vprintf(words, args);
	va_end(args);
	printf("\n");
	longjmp(stand_in_end, 1);
}

__attribute__((unused)) static void stand_in_texts(const char *a, const char *b, bool same,
						   const char *file, int line)
{
	if ((strcmp(a, b) == 0) != same)
		stand_in_fail(file, line, "\"%s\" %s \"%s\"", a, same ? "!=" : "==", b);
}

__attribute__((unused)) static void stand_in_numbers(uintmax_t a, uintmax_t b, bool same,
						     const char *file, int line)
{
	if ((a == b) != same)
		stand_in_fail(file, line, "%#llx %s %#llx", (unsigned long long) a,
			      same ? "!=" : "==", (unsigned long long) b);
}

#define assert_true(value)     ((value) ? (void) 0 : stand_in_fail(__FILE__, __LINE__, "%s", #value))
#define assert_false(value)    assert_true(!(value))
#define assert_null(value)     assert_true((value) == NULL)
#define assert_non_null(value) assert_true((value) != NULL)
#define assert_ptr_equal(a, b) assert_true((const void *) (a) == (const void *) (b))
#define assert_int_equal(a, b)                                                                     \
	stand_in_numbers((uintmax_t) (a), (uintmax_t) (b), true, __FILE__, __LINE__)
#define assert_int_not_equal(a, b)                                                                 \
	stand_in_numbers((uintmax_t) (a), (uintmax_t) (b), false, __FILE__, __LINE__)
#define assert_in_range(value, least, most)                                                        \
	assert_true((uintmax_t) (value) >= (uintmax_t) (least) &&                                  \
		    (uintmax_t) (value) <= (uintmax_t) (most))
#define assert_float_equal(a, b, near)  assert_true(fabs((double) (a) - (double) (b)) <= (near))
#define assert_double_equal(a, b, near) assert_float_equal(a, b, near)
#define assert_string_equal(a, b)       stand_in_texts(a, b, true, __FILE__, __LINE__)
#define assert_string_not_equal(a, b)   stand_in_texts(a, b, false, __FILE__, __LINE__)
#define assert_memory_equal(a, b, size) assert_true(memcmp(a, b, size) == 0)
#define fail_msg(...)                   stand_in_fail(__FILE__, __LINE__, __VA_ARGS__)
#define fail()                          fail_msg("failed")
#define print_message(...)              printf(__VA_ARGS__)
#define print_error(...)                printf(__VA_ARGS__)
#define skip()                          (stand_in_skipped = true, longjmp(stand_in_end, 1))

/* True when it has passed or was skipped. */
static bool stand_in_run(const struct CMUnitTest *test, int number, void *state)
{
	volatile bool passed = false;

	stand_in_skipped = false;
	if (setjmp(stand_in_end) == 0) {
		if (test->setup && test->setup(&state) != 0)
			stand_in_fail(__FILE__, __LINE__, "the set-up failed");
		test->run(&state);
		passed = true;
	}
	if (test->teardown)
		(void) test->teardown(&state);
	printf("%s %d - %s%s\n", passed || stand_in_skipped ? "ok" : "not ok", number, test->name,
	       stand_in_skipped ? " # SKIP" : "");
	return passed || stand_in_skipped;
}

static int stand_in_group(const struct CMUnitTest *tests, size_t count, CMFixtureFunction *setup,
			  CMFixtureFunction *teardown)
{
	void *state = NULL;
	int failed = 0;

	setvbuf(stdout, NULL, _IONBF, 0);
	printf("1..%d\n", (int) count);
	if (setup && setup(&state) != 0)
		return (int) count;
	for (size_t i = 0; i < count; i++)
		failed += !stand_in_run(&tests[i], (int) i + 1, state);
	if (teardown)
		(void) teardown(&state);
	return failed;
}

#define cmocka_run_group_tests(tests, setup, teardown)                                             \
	stand_in_group(tests, sizeof(tests) / sizeof((tests)[0]), setup, teardown)

#endif
