/* The addresses from which prices may be fetched. No request is sent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "catalog/fetch.h"

static void allows_https_and_this_machine(void **state)
{
	static const char *const urls[] = {
		"https://prices.example/list.json",
		"http://127.0.0.1/",
		"http://127.0.0.1:8080/x",
		"http://127.1.2.3?query",
		"http://localhost",
		"http://localhost:80/",
		"http://[::1]:8080/x",
		"http://[::1]#fragment",
	};

	for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++)
		if (!trk__fetch_is_allowed(urls[i]))
			fail_msg("%s is refused", urls[i]);
}

static void refuses_plain_http_to_other_hosts(void **state)
{
	static const char *const urls[] = {
		"http://127.evil.example/",
		"http://127.0.0.1.evil.example/",
		"http://127.0.0.1@evil.example/",
		"http://127.0.0.1:80@evil.example/",
		"http://127.0.0.1:80evil.example/",
		"http://127.0.0.1\\.evil.example/",
		"http://localhost.evil.example/",
		"http://localhost:x/",
		"http://[::1].evil.example/",
		"http://[::1",
		"http://[2001:db8::1]/",
		"http://evil.example/?http://127.0.0.1/",
		"http://evil.example/127.0.0.1",
		"http://126.255.255.255/",
		"http://127.1/",
		"http://2130706433/",
		"http://",
		"http:///",
		"https://me@evil.example/",
		"ftp://127.0.0.1/",
		"file:///etc/passwd",
		"",
	};

	for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++)
		if (trk__fetch_is_allowed(urls[i]))
			fail_msg("%s is allowed", urls[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(allows_https_and_this_machine),
		cmocka_unit_test(refuses_plain_http_to_other_hosts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
