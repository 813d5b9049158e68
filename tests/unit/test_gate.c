/* Access to the local dashboard: host, origin, secret, and the owner of the other end of a
 * connection. */
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "serve/tcp_owner.h"
#include "serve/gate.h"

#define TOKEN "0123456789012345678901234567890123456789abc"

static enum trk_gate judge(struct trk_gate_request r)
{
	const char *rest = "untouched";
	enum trk_gate gate;

	r.method = r.method ? r.method : "GET";
	r.path = r.path ? r.path : "/" TOKEN "/x";
	r.host = r.host ? r.host : "127.0.0.1:8080";
	gate = trk__gate_judge(&r, TOKEN, 8080, &rest);
	if (gate != TRK_GATE_OPEN)
		assert_string_equal(rest, "untouched");
	return gate;
}

static void opens_for_the_own_page(void **state)
{
	struct trk_gate_request r = {
		.method = "HEAD", .path = "/" TOKEN "/run/x", .host = "LOCALHOST:8080"};
	const char *rest;

	assert_int_equal(trk__gate_judge(&r, TOKEN, 8080, &rest), TRK_GATE_OPEN);
	assert_string_equal(rest, "/run/x");
	r.path = "/" TOKEN;
	assert_int_equal(trk__gate_judge(&r, TOKEN, 8080, &rest), TRK_GATE_OPEN);
	assert_string_equal(rest, "");
	assert_int_equal(judge((struct trk_gate_request){.fetch_site = "same-origin",
							 .origin = "http://127.0.0.1:8080"}),
			 TRK_GATE_OPEN);
}

static void refuses_other_methods_hosts_and_sites(void **state)
{
	static const char *const hosts[] = {"evil.example",   "127.0.0.1", "127.0.0.1:80800",
					    "127.0.0.1:8081", "",          "127.0.0.1:8080.evil"};
	static const char *const origins[] = {"null", "http://evil.example",
					      "https://127.0.0.1:8080",
					      "http://127.0.0.1:8080.evil", ""};

	assert_int_equal(judge((struct trk_gate_request){.method = "POST"}), TRK_GATE_METHOD);
	assert_int_equal(judge((struct trk_gate_request){.has_body = true}), TRK_GATE_BODY);
	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++)
		assert_int_equal(judge((struct trk_gate_request){.host = hosts[i]}), TRK_GATE_HOST);
	for (size_t i = 0; i < sizeof(origins) / sizeof(origins[0]); i++)
		assert_int_equal(judge((struct trk_gate_request){.origin = origins[i]}),
				 TRK_GATE_FOREIGN);
	assert_int_equal(judge((struct trk_gate_request){.fetch_site = "cross-site"}),
			 TRK_GATE_FOREIGN);
	assert_int_equal(judge((struct trk_gate_request){.fetch_site = "cross-site",
							 .fetch_mode = "navigate",
							 .fetch_dest = "iframe"}),
			 TRK_GATE_FOREIGN);
	assert_int_equal(judge((struct trk_gate_request){.fetch_site = "cross-site",
							 .fetch_mode = "navigate",
							 .fetch_dest = "document"}),
			 TRK_GATE_OPEN);
}

static void refuses_paths_without_the_secret(void **state)
{
	static const char *const paths[] = {"",
					    "/",
					    "/x",
					    "//" TOKEN,
					    TOKEN "/x",
					    "/" TOKEN "d/x",
					    "/1123456789012345678901234567890123456789abc/"};
	struct trk_gate_request r = {.method = "GET", .path = "/", .host = "127.0.0.1:8080"};
	const char *rest = NULL;

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		assert_int_equal(judge((struct trk_gate_request){.path = paths[i]}),
				 TRK_GATE_TOKEN);
	assert_int_equal(trk__gate_judge(&r, "", 8080, &rest), TRK_GATE_TOKEN);
}

static void makes_secrets_for_addresses(void **state)
{
	char a[TRK_GATE_TOKEN_SIZE], b[TRK_GATE_TOKEN_SIZE];

	assert_int_equal(trk__gate_token(a), 0);
	assert_int_equal(trk__gate_token(b), 0);
	assert_int_equal(strlen(a), TRK_GATE_TOKEN_SIZE - 1);
	assert_int_equal(
		strspn(a, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
		TRK_GATE_TOKEN_SIZE - 1);
	assert_string_not_equal(a, b);
}

/* ---- the owner of a connection ---- */

static const char table[] =
	"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  "
	"timeout inode\n"
	"   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        "
	"0 1\n"
	"   1: 0100007F:C001 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1001        "
	"0 2\n"
	"   2: 0100007F:1F90 0100007F:C001 01 00000000:00000000 00:00000000 00000000  1000        "
	"0 3\n"
	"   3: 0000000000000000FFFF00000100007F:C002 0000000000000000FFFF00000100007F:1F90 01 "
	"00000000:00000000 00:00000000 00000000  1002        0 4\n"
	"   4: 0100007F:C003 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  99999999999 "
	"0 5\n"
	"   5: 0100007F:C004 0100007F:1F90 01";

static struct sockaddr_in at(uint16_t port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_port = htons(port),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static void finds_the_owner_of_the_other_end(void **state)
{
	struct sockaddr_in server = at(8080), peer = at(0xc001);
	uid_t uid = 7;

	if (htonl(1) == 1)
		skip(); /* the table is of a machine of the other byte order */
	assert_int_equal(trk__tcp_owner_parse(table, &peer, &server, &uid), 0);
	assert_int_equal(uid, 1001);
	peer = at(0xc002);
	assert_int_equal(trk__tcp_owner_parse(table, &peer, &server, &uid), 0);
	assert_int_equal(uid, 1002);
}

static void leaves_the_result_alone_where_none_is_found(void **state)
{
	static const uint16_t ports[] = {0xc003, 0xc004, 0xc005, 0x1f90};
	struct sockaddr_in server = at(8080);
	uid_t uid = 7;

	for (size_t i = 0; i < sizeof(ports) / sizeof(ports[0]); i++) {
		struct sockaddr_in peer = at(ports[i]);

		assert_int_equal(trk__tcp_owner_parse(table, &peer, &server, &uid), -ENOENT);
		assert_int_equal(trk__tcp_owner_parse("", &peer, &server, &uid), -ENOENT);
	}
	assert_int_equal(uid, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(opens_for_the_own_page),
		cmocka_unit_test(refuses_other_methods_hosts_and_sites),
		cmocka_unit_test(refuses_paths_without_the_secret),
		cmocka_unit_test(makes_secrets_for_addresses),
		cmocka_unit_test(finds_the_owner_of_the_other_end),
		cmocka_unit_test(leaves_the_result_alone_where_none_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
