/* The catalogue: the text format and its errors, search, near misses, own prices. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "catalog/search.h"
#include "catalog/suggest.h"
#include "catalog/text.h"

#define HEAD                                                                                       \
	"catalogue\t1\t2026-08-17\n"                                                               \
	"source\town\t2026-08-17\tfacts\tby hand\n"                                                \
	"source\tspot\t2025-06-28\tfacts\tspot\n"                                                  \
	"vendor\tv\tother\tA vendor\t1\t60\t-\n"                                                   \
	"region\tv\there\tDE\t-\tzone\tBerlin\n"                                                   \
	"region\tv\tthere\tUS\t-\t-\tBoston\n"                                                     \
	"region\tv\tgov\tUS\trestricted\t-\tsomewhere\n"
#define SERVERS                                                                                    \
	"servers\tv\town\t2026-08-17\texact\n"                                                     \
	"\tsmall\t2\t4096\tx86_64\tdedicated\t2\n"                                                 \
	"\tarm\t2\t4096\tarm64\tdedicated\t1\n"                                                    \
	"\tburst\t2\t8192\tx86_64\tburstable\t2\n"                                                 \
	"\tgpu\t4\t16384\tx86_64\tdedicated\t2\n"                                                  \
	"\tpart\t4\t16384\tx86_64\tdedicated\t2\n"                                                 \
	"\ttpu\t4\t16384\tx86_64\tdedicated\t2\taccel\n"                                           \
	"\tmac\t8\t16384\tarm64_mac\tdedicated\t1\tmac\n"                                          \
	"gpus\tv\town\t2026-08-17\texact\n"                                                        \
	"\tgpu\t4\tT4\t16384\t-\n"                                                                 \
	"\tpart\t1\tA10\t4096\t0.167\n"                                                            \
	"memory\tv\town\t2026-08-17\texact\n"                                                      \
	"\tburst\t7700\n"
#define PRICES                                                                                     \
	"prices\tv\there\town\t2026-08-17\texact\tspot\n"                                          \
	"\tsmall\t0.1\t50\t3\n"                                                                    \
	"\tarm\t0.08\n"                                                                            \
	"\tburst\t0.09\n"                                                                          \
	"\tgpu\t2.5\t10\t0\n"                                                                      \
	"\tpart\t0.5\n"                                                                            \
	"\ttpu\t1\n"                                                                               \
	"\tmac\t0.01\n"                                                                            \
	"prices\tv\tthere\town\t2026-08-17\test\n"                                                 \
	"\tsmall\t0.07\n"                                                                          \
	"prices\tv\tgov\town\t2026-08-17\texact\n"                                                 \
	"\tsmall\t0.01\n"

static const char whole[] = HEAD SERVERS PRICES "end\n";

static void load(const char *text, struct trk_catalog *c)
{
	struct trk_error error = {.code = 0};
	int r = trk__catalog_text_load(NULL, "f.tsv", text, strlen(text), c, &error);

	if (r < 0)
		print_message("%s\n", error.message);
	assert_int_equal(r, 0);
}

static const char *name_of(const struct trk_catalog *c, const struct trk_catalog_offer *o)
{
	size_t n;

	return trk__catalog_text(c, trk__catalog_servers(c, &n)[o->server].name);
}

/* The names that fit, cheapest first, with blanks between them. */
static void expect(const struct trk_catalog *c, const struct trk_catalog_query *q,
		   const char *names)
{
	struct trk_catalog_offer *offers;
	char text[512] = "";
	size_t n, at = 0;

	assert_int_equal(trk__catalog_search(c, q, &offers, &n), 0);
	for (size_t i = 0; i < n; i++)
		at += (size_t) snprintf(text + at, sizeof(text) - at, "%s%s", i ? " " : "",
					name_of(c, &offers[i]));
	free(offers);
	assert_string_equal(text, names);
}

static void finds_what_fits_cheapest_first_and_leaves_out_macs_and_closed_regions(void **state)
{
	struct trk_catalog_query q = {.vcpus = 2};
	struct trk_catalog_offer *offers;
	struct trk_catalog c;
	size_t n;

	load(whole, &c);
	expect(&c, &q, "small arm burst part tpu gpu");
	assert_int_equal(trk__catalog_search(&c, &q, &offers, &n), 0);
	assert_int_equal(offers[0].units, 7000); /* there, not gov */
	assert_int_equal(trk__catalog_blocks(&c, &n)[offers[0].block].quality, TRK_FACT_EST);
	free(offers);
	q.archs = 1u << TRK_ARCH_ARM64;
	expect(&c, &q, "arm");
	q.archs = 0;
	q.allocations = 1u << TRK_ALLOCATION_DEDICATED;
	expect(&c, &q, "small arm part tpu gpu");
	trk__catalog_release(&c);
}

static void memory_is_what_a_job_gets(void **state)
{
	struct trk_catalog_query q = {.memory_bytes = UINT64_C(4) << 30};
	struct trk_catalog c;

	load(whole, &c);
	expect(&c, &q, "burst part tpu gpu");  /* 4 GiB machines do not give 4 GiB */
	q.memory_bytes = UINT64_C(3681) << 20; /* 0.93 x 4096 - 128 */
	expect(&c, &q, "small arm burst part tpu gpu");
	q.memory_bytes++;
	expect(&c, &q, "burst part tpu gpu");
	q.memory_bytes = UINT64_C(7700) << 20; /* measured */
	expect(&c, &q, "burst part tpu gpu");
	q.memory_bytes++;
	expect(&c, &q, "part tpu gpu");
	trk__catalog_release(&c);
}

static void a_gpu_is_a_whole_one_with_its_own_memory(void **state)
{
	struct trk_catalog_query q = {.gpus = 1};
	struct trk_catalog c;

	load(whole, &c);
	expect(&c, &q, "gpu"); /* no accelerator, no share */
	q.vram_bytes = UINT64_C(16) << 30;
	expect(&c, &q, "gpu");
	q.vram_bytes = UINT64_C(17) << 30; /* four times 16 GiB are not 17 GiB */
	expect(&c, &q, "");
	q.vram_bytes = 0;
	q.gpu_shares = true;
	expect(&c, &q, "part gpu");
	trk__catalog_release(&c);
}

static void spot_takes_price_and_saving_from_the_same_region(void **state)
{
	struct trk_catalog_query q = {.spot = true};
	struct trk_catalog_offer *offers;
	struct trk_catalog c;
	size_t n;

	load(whole, &c);
	assert_int_equal(trk__catalog_search(&c, &q, &offers, &n), 0);
	assert_int_equal(n, 2);                  /* the others have no saving */
	assert_int_equal(offers[0].units, 5000); /* 0.1 here less 50 %, not 0.07 less 50 % */
	free(offers);
	trk__catalog_release(&c);
}

static void places_and_exclusions(void **state)
{
	uint8_t regions[16] = {0};
	const char *patterns[] = {"SM*", "tpu"};
	struct trk_catalog_query q = {.exclude = patterns, .excludes = 2};
	struct trk_catalog_offer o;
	struct trk_catalog c;

	load(whole, &c);
	expect(&c, &q, "arm burst part gpu");
	q.excludes = 0;
	assert_int_equal(trk__catalog_mark_country(&c, "us", regions), 1); /* not gov */
	q.regions_ok = regions;
	expect(&c, &q, "small");
	memset(regions, 0, sizeof(regions));
	assert_int_equal(trk__catalog_mark_country(&c, "EU", regions), 1);
	expect(&c, &q, "arm burst small part tpu gpu");
	memset(regions, 0, sizeof(regions));
	assert_int_equal(trk__catalog_mark_region(&c, NULL, "gov", regions), 1); /* asked for */
	expect(&c, &q, "small");
	assert_int_equal(trk__catalog_mark_region(&c, NULL, "nowhere", regions), 0);
	assert_int_equal(trk__catalog_price_in(&c, trk__catalog_find_server(&c, 0, "arm"),
					       trk__catalog_find_region(&c, 0, "there"), &o),
			 -ENOENT); /* another region's price is not taken */
	trk__catalog_release(&c);
}

static void says_which_need_binds_and_what_comes_nearest(void **state)
{
	struct trk_catalog_query q = {.vcpus = 2, .memory_bytes = UINT64_C(100) << 30};
	struct trk_catalog_offer o;
	unsigned int binding = 0;
	struct trk_catalog c;

	load(whole, &c);
	assert_int_equal(trk__catalog_nearest(&c, &q, &o, &binding), 0);
	assert_int_equal(binding, TRK_NEED_MEMORY);
	assert_int_equal(o.unmet, TRK_NEED_MEMORY);
	assert_string_equal(name_of(&c, &o), "gpu");
	q = (struct trk_catalog_query){.gpus = 8, .vram_bytes = 1};
	assert_int_equal(trk__catalog_nearest(&c, &q, &o, &binding), 0);
	assert_int_equal(binding, TRK_NEED_GPUS);
	assert_string_equal(name_of(&c, &o), "gpu");
	trk__catalog_release(&c);
}

/* ---- mistakes ---- */

static void refused(const char *text, size_t len, int code, const char *place)
{
	struct trk_error error = {.code = 0};
	struct trk_catalog c = {.image = NULL};
	int r = trk__catalog_text_load(NULL, "f.tsv", text, len, &c, &error);

	if (r != code || strncmp(error.message, place, strlen(place)) != 0)
		print_message("got %d: %s, not %s\n", r, error.message, place);
	assert_int_equal(r, code);
	assert_memory_equal(error.message, place, strlen(place));
	assert_null(c.image);
}

static void every_cut_is_refused(void **state)
{
	for (size_t len = 0; len < sizeof(whole) - 2; len++) {
		struct trk_error error = {.code = 0};
		struct trk_catalog c;

		assert_int_equal(trk__catalog_text_load(NULL, "f.tsv", whole, len, &c, &error),
				 -EBADMSG);
		assert_memory_equal(error.message, "f.tsv:", 6);
		assert_true(error.line > 0);
	}
}

static void mistakes_have_file_line_and_column(void **state)
{
	static const struct {
		const char *text, *place;
	} cases[] = {
		{"", "f.tsv:1:1: not a catalogue"},
		{"hello\n", "f.tsv:1:1: not a catalogue"},
		{"catalogue\t0\t2026-01-01\n", "f.tsv:1:11: format 0 is older"},
		{"catalogue\t1\t2026-13-01\n", "f.tsv:1:13: not a date"},
		{"catalogue\t1\n", "f.tsv:1:12: too few cells"},
		{HEAD "\tsmall\t1\n", "f.tsv:8:1: a row outside of any block"},
		{HEAD "wrong\n", "f.tsv:8:1: unknown word wrong"},
		{HEAD "servers\tnobody\town\t2026-08-17\texact\n",
		 "f.tsv:8:9: vendor nobody is not defined"},
		{HEAD "servers\tv\tnone\t2026-08-17\texact\n",
		 "f.tsv:8:11: source none is not defined"},
		{HEAD "servers\tv\town\t2026-08-17\tgood\n", "f.tsv:8:26: unknown word good"},
		{HEAD "servers\tv\town\t2026-08-17\texact\n\tx\t2\t12MB\tx86_64\tshared\n",
		 "f.tsv:9:8: not a whole number: 12MB"},
		{HEAD "servers\tv\town\t2026-08-17\texact\n\tx\t0\t12\tx86_64\tshared\n",
		 "f.tsv:9:4: a server has at least one vCPU"},
		{HEAD "servers\tv\town\t2026-08-17\texact\n\tx\t2\t12\tsparc\tshared\n",
		 "f.tsv:9:9: unknown word sparc"},
		{HEAD SERVERS "prices\tv\tmoon\town\t2026-08-17\texact\n",
		 "f.tsv:21:10: region moon"},
		{HEAD SERVERS "prices\tv\there\town\t2026-08-17\texact\n\tnone\t1\n",
		 "f.tsv:22:2: type none is not in a block of servers"},
		{HEAD SERVERS "prices\tv\there\town\t2026-08-17\texact\n\tsmall\t0\n",
		 "f.tsv:22:8: a price must be above zero"},
		{HEAD SERVERS "prices\tv\there\town\t2026-08-17\texact\n\tsmall\t1,5\n",
		 "f.tsv:22:9: not a number: 1,5"},
		{HEAD SERVERS "prices\tv\there\town\t2026-08-17\texact\n\tsmall\t1\t101\n",
		 "f.tsv:22:10: too large: 101"},
		{HEAD SERVERS "prices\tv\there\town\t2026-08-17\texact\n\tsmall\t1\n\tsmall\t2\n",
		 "f.tsv:23:2: small appears twice"},
		{HEAD "end\nvendor\n", "f.tsv:9:1: text after"},
		{HEAD "memory\tv\town\t2026-08-17\texact\n", "f.tsv:9:1: cut short"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		refused(cases[i].text, strlen(cases[i].text), -EBADMSG, cases[i].place);
	refused("catalogue\t1\t2026-01-01\0\nend\n", 27, -EBADMSG, "f.tsv:1:23: a NUL byte");
	refused("catalogue\t2\t2027-01-01\nnew things\n", 34, -TRK_ERR_VERSION,
		"f.tsv:1:11: format 2 is newer");
}

/* ---- on top of another catalogue ---- */

static void a_site_s_price_takes_the_place_of_the_list_price(void **state)
{
	static const char more[] = "catalogue\t1\t2026-09-01\n"
				   "source\timport\t2026-09-01\town\tours\n"
				   "prices\tv\there\timport\t2026-09-01\tnegotiated\n"
				   "\tsmall\t0.3\nend\n";
	struct trk_catalog base, c;
	struct trk_catalog_offer o;
	struct trk_error error;
	size_t n;

	load(whole, &base);
	assert_int_equal(trk__catalog_text_load(&base, "more", more, sizeof(more) - 1, &c, &error),
			 0);
	assert_int_equal(trk__catalog_price_in(&c, trk__catalog_find_server(&c, 0, "small"),
					       trk__catalog_find_region(&c, 0, "here"), &o),
			 0);
	assert_int_equal(o.units, 30000);
	assert_int_equal(trk__catalog_blocks(&c, &n)[o.block].quality, TRK_FACT_NEGOTIATED);
	assert_int_equal(trk__catalog_price_in(&base, 0, 0, &o), 0); /* the base is as it was */
	assert_int_equal(o.units, 10000);
	trk__catalog_release(&c);
	trk__catalog_release(&base);
}

static void names_are_found_by_alias_zone_and_case(void **state)
{
	const char *near[TRK_SUGGESTIONS];
	struct trk_catalog c;
	int aws, hetzner, gcp;

	trk__catalog_embedded(&c);
	aws = trk__catalog_find_vendor(&c, "AWS");
	hetzner = trk__catalog_find_vendor(&c, "hcloud");
	gcp = trk__catalog_find_vendor(&c, "google");
	assert_int_equal(hetzner, trk__catalog_find_vendor(&c, "hetzner"));
	assert_true(aws >= 0 && hetzner >= 0 && gcp >= 0);
	assert_int_equal(trk__catalog_find_vendor(&c, "h"), -ENOENT);
	assert_int_equal(trk__catalog_find_region(&c, aws, "us-east-1b"),
			 trk__catalog_find_region(&c, aws, "us-east-1"));
	assert_int_equal(trk__catalog_find_region(&c, gcp, "europe-west1-b"),
			 trk__catalog_find_region(&c, gcp, "europe-west1"));
	assert_int_not_equal(trk__catalog_find_region(&c, gcp, "europe-west10"),
			     trk__catalog_find_region(&c, gcp, "europe-west1"));
	assert_int_equal(trk__catalog_find_region(&c, hetzner, "fsn1-dc14"),
			 trk__catalog_find_region(&c, hetzner, "eu"));
	assert_int_equal(trk__catalog_find_region(&c, aws, "us-east-9"), -ENOENT);
	assert_int_equal(trk__catalog_find_region(&c, gcp, "1000"), -ENOENT);
	assert_true(trk__catalog_suggest(&c, TRK_KIND_REGION, aws, "eu-centrall-1", near) > 0);
	assert_string_equal(near[0], "eu-central-1");
	assert_true(trk__catalog_suggest(&c, TRK_KIND_SERVER, aws, "m5.larg", near) > 0);
	assert_string_equal(near[0], "m5.large");
	assert_int_equal(trk__catalog_suggest(&c, TRK_KIND_VENDOR, -1, "qqqqqq", near), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			finds_what_fits_cheapest_first_and_leaves_out_macs_and_closed_regions),
		cmocka_unit_test(memory_is_what_a_job_gets),
		cmocka_unit_test(a_gpu_is_a_whole_one_with_its_own_memory),
		cmocka_unit_test(spot_takes_price_and_saving_from_the_same_region),
		cmocka_unit_test(places_and_exclusions),
		cmocka_unit_test(says_which_need_binds_and_what_comes_nearest),
		cmocka_unit_test(every_cut_is_refused),
		cmocka_unit_test(mistakes_have_file_line_and_column),
		cmocka_unit_test(a_site_s_price_takes_the_place_of_the_list_price),
		cmocka_unit_test(names_are_found_by_alias_zone_and_case),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
