/* Metadata services: which are queried, the parser of their answers, and accepted values. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/cloud/vendor.h"
#include "probe/cloud/cloud.h"

/* ---- who comes into question ---- */

static const struct trk_cloud_vendor *vendor(const char *id)
{
	for (size_t i = 0; trk__cloud_vendors[i]; i++)
		if (!strcmp(trk__cloud_vendors[i]->id, id))
			return trk__cloud_vendors[i];
	fail_msg("no vendor %s", id);
	return NULL;
}

static void the_firmware_names_each_vendor_and_no_other(void **state)
{
	static const struct {
		const char *id;
		struct trk_dmi dmi;
	} machines[] = {
		{"aws", {.sys_vendor = "Amazon EC2", .product_name = "m7i.large"}},
		{"aws", {.sys_vendor = "Xen", .bios_version = "4.11.amazon"}},
		{"gcp", {.sys_vendor = "Google", .product_name = "Google Compute Engine"}},
		{"azure",
		 {.sys_vendor = "Microsoft Corporation",
		  .chassis_asset_tag = "7783-7084-3265-9085-8269-3286-77"}},
		{"hetzner", {.sys_vendor = "Hetzner", .product_name = "vServer"}},
		{"upcloud", {.sys_vendor = "UpCloud"}},
		{"alicloud", {.sys_vendor = "Alibaba Cloud", .product_name = "Alibaba Cloud ECS"}},
		{"vultr", {.sys_vendor = "Vultr", .product_name = "VC2"}},
		{"digitalocean", {.sys_vendor = "DigitalOcean", .product_name = "Droplet"}},
		{"scaleway", {.sys_vendor = "Scaleway", .product_name = "SCW-DEV1-S"}},
		{"oracle", {.sys_vendor = "QEMU", .chassis_asset_tag = "OracleCloud.com"}},
		{"linode", {.sys_vendor = "Akamai", .product_name = "Compute Instance"}},
		{"exoscale", {.sys_vendor = "Exoscale", .product_name = "Exoscale Compute"}},
	};

	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		for (size_t k = 0; trk__cloud_vendors[k]; k++) {
			const struct trk_cloud_vendor *v = trk__cloud_vendors[k];
			bool sure = trk__cloud_looks(v, &machines[i].dmi) == TRK_CLOUD_SURE;

			if (sure != !strcmp(v->id, machines[i].id))
				fail_msg("%s's machine and %s", machines[i].id, v->id);
		}
}

static void a_machine_that_is_plainly_no_clouds_is_asked_nothing(void **state)
{
	static const struct trk_dmi machines[] = {
		{.sys_vendor = "Dell Inc.", .product_name = "PowerEdge R750", .known = true},
		{.sys_vendor = "LENOVO", .product_name = "20XW", .known = true},
		{.sys_vendor = "VMware, Inc.", .product_name = "VMware7,1", .known = true},
		{.sys_vendor = "innotek GmbH", .product_name = "VirtualBox", .known = true},
		{.sys_vendor = "Microsoft Corporation",
		 .product_name = "Virtual Machine",
		 .chassis_asset_tag = "1234",
		 .known = true},
		{.known = false}, /* no firmware to look at */
	};

	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		struct trk_cloud_probe *probe = (void *) 1;
		struct trk_cloud known;

		assert_int_equal(trk__cloud_probe_new(&machines[i], NULL, &probe, &known), 0);
		assert_null(probe);
		assert_string_equal(known.vendor, "");
		assert_non_null(strstr(known.reason, "no request was sent"));
		assert_true(isnan(known.discovery_time));
	}
}

/* Asked at a port of this machine where nobody listens: no packet leaves it. */
static void where_nobody_answers_the_firmware_is_what_is_known(void **state)
{
	const struct trk_dmi dmi = {
		.sys_vendor = "Amazon EC2", .product_name = "m7i.large", .known = true};
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(1)};
	struct trk_cloud_probe *probe;
	struct trk_cloud known;

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(trk__cloud_probe_new(&dmi, &to, &probe, &known), 0);
	assert_non_null(probe);
	assert_true(trk__cloud_probe_fd(probe) >= 0);
	while (!trk__cloud_probe_step(probe, &known))
		;
	assert_string_equal(known.vendor,
			    ""); /* the endpoint of a test: the firmware is left out */
	assert_non_null(strstr(known.reason, "no metadata service"));
	assert_true(known.discovery_time >= 0);
	trk__cloud_probe_free(probe);
	trk__cloud_probe_free(NULL);
}

static void amazons_firmware_tells_the_type(void **state)
{
	struct trk_dmi dmi = {.sys_vendor = "Amazon EC2", .product_name = "m7i.large"};
	struct trk_cloud c;

	trk__cloud_clear(&c);
	vendor("aws")->read_dmi(&dmi, &c);
	assert_string_equal(c.instance_type, "m7i.large");
	trk__cloud_clear(&c);
	dmi = (struct trk_dmi){.sys_vendor = "Xen", .product_name = "HVM domU"};
	vendor("aws")->read_dmi(&dmi, &c);
	assert_string_equal(c.instance_type, "");
}

/* ---- words ---- */

static void takes_names_only(void **state)
{
	char to[8] = "before";

	assert_true(trk__cloud_word("  m5.xl\r\n", to, sizeof(to)));
	assert_string_equal(to, "m5.xl");
	assert_false(trk__cloud_word("<html>", to, sizeof(to)));
	assert_false(trk__cloud_word("a b", to, sizeof(to)));
	assert_false(trk__cloud_word("", to, sizeof(to)));
	assert_false(trk__cloud_word(" \n", to, sizeof(to)));
	assert_false(trk__cloud_word(NULL, to, sizeof(to)));
	assert_false(trk__cloud_word("12345678", to, sizeof(to)));
	assert_false(trk__cloud_word_n("a\0b", 3, to, sizeof(to)));
	assert_false(trk__cloud_word("\xc3\xa9", to, sizeof(to)));
	assert_string_equal(to, "m5.xl");
}

/* ---- HTTP ---- */

static int parse(const char *text, bool ended, char **ret_copy, struct trk_http_response *r)
{
	*ret_copy = strdup(text);
	assert_non_null(*ret_copy);
	return trk__http_parse(*ret_copy, strlen(text), ended, r);
}

static void reads_answers_of_every_framing(void **state)
{
	static const struct {
		const char *text;
		bool ended;
		const char *body;
		int status;
	} cases[] = {
		{"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef", false, "abc", 200},
		{"HTTP/1.0 404 Not Found\r\ncontent-length:0\r\n\r\n", false, "", 404},
		{"HTTP/1.1 200 OK\r\n\r\nall of it", true, "all of it", 200},
		{"HTTP/1.1 204 No Content\r\n\r\n", false, "", 204},
		{"HTTP/1.1 200\r\nTransfer-Encoding: "
		 "Chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n",
		 false, "abcde", 200},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct trk_http_response r;
		char *copy;

		assert_int_equal(parse(cases[i].text, cases[i].ended, &copy, &r), 1);
		assert_int_equal(r.status, cases[i].status);
		assert_int_equal(r.body_len, strlen(cases[i].body));
		assert_string_equal(r.body, cases[i].body);
		free(copy);
	}
}

static void waits_for_what_is_not_there_yet(void **state)
{
	static const char *const cut[] = {
		"",
		"HTTP/1.1 200 OK\r\nContent-Le",
		"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
	};
	struct trk_http_response r;
	char *copy;

	for (size_t i = 0; i < sizeof(cut) / sizeof(cut[0]); i++) {
		assert_int_equal(parse(cut[i], false, &copy, &r), 0);
		assert_string_equal(copy, cut[i]); /* and leaves it as it is */
		free(copy);
		assert_int_equal(parse(cut[i], true, &copy, &r), -EBADMSG);
		free(copy);
	}
	assert_int_equal(parse("HTTP/1.1 200 OK\r\n\r\nabc", false, &copy, &r), 0);
	free(copy);
}

static void refuses_what_is_no_answer_or_too_long(void **state)
{
	static const struct {
		const char *text;
		int code;
	} cases[] = {
		{"SSH-2.0-x\r\n\r\n", -EBADMSG},
		{"HTTP/2 200\r\n\r\n", -EBADMSG},
		{"HTTP/1.1 abc\r\n\r\n", -EBADMSG},
		{"HTTP/1.1 99 x\r\n\r\n", -EBADMSG},
		{"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", -EBADMSG},
		{"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", -EBADMSG},
		{"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", -EBADMSG},
		{"HTTP/1.1 200 OK\r\nContent-Length: 65537\r\n\r\n", -EFBIG},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", -EBADMSG},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", -EBADMSG},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n", -EBADMSG},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffff\r\n", -EFBIG},
	};
	struct trk_http_response r;
	char *copy;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (parse(cases[i].text, false, &copy, &r) != cases[i].code)
			fail_msg("%s", cases[i].text);
		free(copy);
	}
}

static void finds_headers_without_case(void **state)
{
	static const char text[] = "HTTP/1.1 200 OK\r\nmetadata-FLAVOR:  Google \r\nX: y\r\n\r\n";
	struct trk_http_response r;
	char *copy, value[8];

	assert_int_equal(parse(text, true, &copy, &r), 1);
	assert_true(trk__http_header(&r, "Metadata-Flavor", value, sizeof(value)));
	assert_string_equal(value, "Google");
	assert_true(trk__http_header(&r, "x", value, sizeof(value)));
	assert_string_equal(value, "y");
	assert_false(trk__http_header(&r, "Meta", value, sizeof(value)));
	free(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_firmware_names_each_vendor_and_no_other),
		cmocka_unit_test(a_machine_that_is_plainly_no_clouds_is_asked_nothing),
		cmocka_unit_test(where_nobody_answers_the_firmware_is_what_is_known),
		cmocka_unit_test(amazons_firmware_tells_the_type),
		cmocka_unit_test(takes_names_only),
		cmocka_unit_test(reads_answers_of_every_framing),
		cmocka_unit_test(waits_for_what_is_not_there_yet),
		cmocka_unit_test(refuses_what_is_no_answer_or_too_long),
		cmocka_unit_test(finds_headers_without_case),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
