/* The parser of a request's head in the HTTP server for Windows. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "serve/windows/head.h"

/* Parse a copy, which the caller frees. */
static char *parse(const char *text, struct trk_head *ret, int *retresult)
{
	char *copy = strdup(text);

	assert_int_equal(trk__head_length(text, strlen(text)), strlen(text));
	*retresult = trk__head_parse(copy, strlen(text), ret);
	return copy;
}

static void assert_bad(const char *text)
{
	struct trk_head h;
	int r;

	free(parse(text, &h, &r));
	assert_int_equal(r, -EBADMSG);
}

static void takes_a_request_apart(void **state)
{
	struct trk_head h;
	int r;
	char *text = parse("GET /a%2Fb+c?x=1&y=a+b%26&z&=&x=2 HTTP/1.1\r\nHost:  h:1 \t\r\nX-Y:\r\n"
			   "host: other\r\n\r\n",
			   &h, &r);

	(void) state;
	assert_int_equal(r, 0);
	assert_string_equal(h.method, "GET");
	assert_string_equal(h.path, "/a/b+c");
	assert_string_equal(trk__head_argument(&h, "x"), "1");
	assert_string_equal(trk__head_argument(&h, "y"), "a b&");
	assert_string_equal(trk__head_argument(&h, "z"), "");
	assert_null(trk__head_argument(&h, "X"));
	assert_int_equal(h.arguments, 5);
	assert_string_equal(trk__head_header(&h, "HOST"), "h:1");
	assert_string_equal(trk__head_header(&h, "x-y"), "");
	assert_null(trk__head_header(&h, "Origin"));
	assert_int_equal(h.headers, 3);
	assert_false(h.has_body || h.is_last);
	free(text);
}

static void a_head_ends_with_an_empty_line(void **state)
{
	(void) state;
	assert_int_equal(trk__head_length("GET / HTTP/1.1\r\n\r\nGET", 21), 18);
	assert_int_equal(trk__head_length("GET / HTTP/1.1\r\n\r", 17), 0);
	assert_int_equal(trk__head_length("\n\n", 2), 0);
	assert_int_equal(trk__head_length("", 0), 0);
}

static void knows_whether_another_request_may_follow(void **state)
{
	static const struct {
		const char *text;
		bool has_body, is_last;
	} cases[] = {
		{"GET / HTTP/1.0\r\n\r\n", false, true},
		{"GET / HTTP/1.1\r\nConnection: CLOSE\r\n\r\n", false, true},
		{"GET / HTTP/1.1\r\nConnection: keep-alive\r\n\r\n", false, false},
		{"GET / HTTP/1.1\r\nContent-Length: 0\r\n\r\n", false, false},
		{"GET / HTTP/1.1\r\nContent-Length: 00\r\n\r\n", true, false},
		{"GET / HTTP/1.1\r\nTransfer-Encoding: x\r\n\r\n", true, false},
	};

	(void) state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct trk_head h;
		int r;

		free(parse(cases[i].text, &h, &r));
		assert_int_equal(r, 0);
		assert_int_equal(h.has_body, cases[i].has_body);
		assert_int_equal(h.is_last, cases[i].is_last);
	}
}

static void refuses_what_is_no_request(void **state)
{
	char many[4096] = "GET /?";

	(void) state;
	assert_bad("\r\n\r\n");
	assert_bad("GET /\r\n\r\n");
	assert_bad("GET / HTTP/1.2\r\n\r\n");
	assert_bad("GET / HTTP/1.1 \r\n\r\n");
	assert_bad("GET /a\tb HTTP/1.1\r\n\r\n");
	assert_bad("GET /%0 HTTP/1.1\r\n\r\n");
	assert_bad("GET /%00 HTTP/1.1\r\n\r\n");
	assert_bad("GET /?a=%0g HTTP/1.1\r\n\r\n");
	assert_bad("GET / HTTP/1.1\r\nA: 1\r\n B: folded\r\n\r\n");
	assert_bad("GET / HTTP/1.1\r\nA\r\n\r\n");
	for (int i = 0; i <= TRK_HEAD_VALUES_MAX; i++)
		strcat(many, "a&");
	strcat(many, " HTTP/1.1\r\n\r\n");
	assert_bad(many);
}

static void refuses_a_nul_byte(void **state)
{
	char text[] = "GET / HTTP/1.1\r\nA: \0b\r\n\r\n";
	struct trk_head h;

	(void) state;
	assert_int_equal(trk__head_parse(text, sizeof(text) - 1, &h), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_a_request_apart),
		cmocka_unit_test(a_head_ends_with_an_empty_line),
		cmocka_unit_test(knows_whether_another_request_may_follow),
		cmocka_unit_test(refuses_what_is_no_request),
		cmocka_unit_test(refuses_a_nul_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
