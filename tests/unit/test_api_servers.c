/* The public C API on servers and prices: search, and servers for a run. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json_read.h"
#include "resource_tracker.h"
#include "rows.h"

enum { ROWS = 40 };

/* cmocka's own comparison is of floats. */
#define assert_near(a, b, epsilon) assert_true(fabs((a) - (b)) < (epsilon))

/* What the library carries, whatever is installed. */
static struct trk_catalog *open_embedded(void)
{
	struct trk_catalog_options o = TRK_CATALOG_OPTIONS_INIT;
	struct trk_catalog *c = NULL;

	o.scores = "none";
	assert_int_equal(trk_catalog_open(&o, &c, NULL, 0), 0);
	assert_non_null(c);
	return c;
}

/* What a search found, as its document. */
struct found {
	struct trk_json_doc doc;
	const struct trk_json_value *list;
};

static struct trk_json_doc document_of(char *json, const char *schema)
{
	struct trk_json_limits limits = {.max_bytes = 64 << 20};
	struct trk_json_doc doc;

	assert_non_null(json);
	assert_int_equal(trk__json_read(json, strlen(json), &limits, "the answer", &doc, NULL), 0);
	assert_string_equal(trk__json_get_text(&doc, trk__json_root(&doc), "schema"), schema);
	free(json);
	return doc;
}

static struct found find_some(const struct trk_catalog *c, const struct trk_server_needs *n,
			      size_t limit)
{
	struct trk_servers *s = NULL;
	struct found f;
	char why[256] = "";

	if (trk_servers_find(c, n, &s, why, sizeof(why)) < 0)
		fail_msg("%s", why);
	f.doc = document_of(trk_servers_json(s, limit), "resource-tracker.servers/1");
	f.list = trk__json_get(&f.doc, trk__json_root(&f.doc), "servers");
	trk_servers_free(s);
	return f;
}

static struct found find(const struct trk_catalog *c, const struct trk_server_needs *n)
{
	return find_some(c, n, 0);
}

static void found_release(struct found *f)
{
	trk__json_doc_release(&f->doc);
}

static double number(const struct found *f, const struct trk_json_value *offer, const char *key)
{
	return trk__json_get_double(&f->doc, offer, key);
}

static const char *text(const struct found *f, const struct trk_json_value *offer, const char *key)
{
	const char *found = trk__json_get_text(&f->doc, offer, key);

	return found ? found : "";
}

static const struct trk_json_value *first(const struct found *f)
{
	return trk__json_first(&f->doc, f->list);
}

static const struct trk_json_value *next(const struct found *f, const struct trk_json_value *offer)
{
	return trk__json_next(&f->doc, offer);
}

/* The offer of that type, or NULL. */
static const struct trk_json_value *of_type(const struct found *f, const char *type)
{
	const struct trk_json_value *o = first(f);

	while (o && strcmp(text(f, o, "api_reference"), type) != 0)
		o = next(f, o);
	return o;
}

static void a_search_gives_what_fits_cheapest_first(void **state)
{
	struct trk_server_needs n = TRK_SERVER_NEEDS_INIT;
	struct trk_catalog *c = open_embedded();
	struct found f;
	double before = 0;

	n.vcpus = 3.5; /* four, then */
	n.memory_mib = 16384;
	n.arch = "x86_64";
	n.vendors = "aws,hetzner";
	n.countries = "US,DE";
	n.exclude = "t3*,m5.*";
	f = find(c, &n);
	assert_true(f.list->count > 100);
	assert_null(trk__json_get_text(&f.doc, trk__json_root(&f.doc), "reason"));
	for (const struct trk_json_value *o = first(&f); o; o = next(&f, o)) {
		const char *country = text(&f, o, "country_id"),
			   *type = text(&f, o, "api_reference");
		double usable = number(&f, o, "memory_usable");

		assert_true(number(&f, o, "vcpus") >= 4 && usable >= 16384);
		assert_true(number(&f, o, "memory_amount") >= usable);
		assert_string_equal(text(&f, o, "cpu_architecture"), "x86_64");
		assert_true(!strcmp(country, "US") || !strcmp(country, "DE"));
		assert_true(strncmp(type, "t3", 2) != 0 && strncmp(type, "m5.", 3) != 0);
		assert_true(number(&f, o, "min_price_ondemand") >= before);
		assert_true(strcmp(text(&f, o, "price_date"), "2020") > 0);
		assert_true(isnan(number(&f, o, "run_seconds")));
		assert_true(isnan(number(&f, o, "run_cost")));
		before = number(&f, o, "min_price_ondemand");
	}
	found_release(&f);
	f = find_some(c, &n, 3);
	assert_int_equal(f.list->count, 3);
	found_release(&f);
	trk_catalog_free(c);
}

static void a_well_known_server_has_its_price_and_its_gpu(void **state)
{
	struct trk_server_needs n = TRK_SERVER_NEEDS_INIT;
	struct trk_catalog *c = open_embedded();
	const struct trk_json_value *o;
	struct found f;

	n.vendors = "aws";
	n.regions = "us-east-1";
	n.arch = "any";
	n.gpus = 1;
	n.vram_mib = 15000;
	f = find(c, &n);
	o = of_type(&f, "g4dn.xlarge");
	assert_non_null(o);
	assert_string_equal(text(&f, o, "vendor_id"), "aws");
	assert_string_equal(text(&f, o, "region_id"), "us-east-1");
	assert_string_equal(text(&f, o, "gpu_model"), "T4");
	assert_near(number(&f, o, "gpu_count"), 1, 1e-9);
	assert_near(number(&f, o, "gpu_memory_min"), 15360, 1100);
	assert_near(number(&f, o, "min_price_ondemand"), 0.526, 1e-9);
	assert_string_equal(text(&f, o, "price_quality"), "exact");
	found_release(&f);
	n.spot = 1; /* what it saves is of the same region */
	f = find(c, &n);
	o = of_type(&f, "g4dn.xlarge");
	assert_true(number(&f, o, "spot_saving_percent") > 0);
	assert_true(number(&f, o, "spot_saving_percent") < 100);
	assert_near(number(&f, o, "min_price_spot"),
		    0.526 * (1 - number(&f, o, "spot_saving_percent") / 100), 2e-5);
	found_release(&f);
	trk_catalog_free(c);
}

static void the_cost_of_a_run_orders_where_it_is_asked_for(void **state)
{
	struct trk_server_needs n = TRK_SERVER_NEEDS_INIT;
	struct trk_catalog *c = open_embedded();
	struct found f;
	double before = 0;

	n.vcpus = 2;
	n.vendors = "aws";
	n.regions = "us-east-1";
	n.arch = "x86_64";
	n.order_by = "run-cost";
	f = find(c, &n);
	assert_true(f.list->count > 100);
	assert_non_null(trk__json_get(&f.doc, trk__json_root(&f.doc), "cheapest_per_hour"));
	for (const struct trk_json_value *o = first(&f); o; o = next(&f, o)) {
		double billed_s = number(&f, o, "billed_seconds"), usd = number(&f, o, "run_cost");
		double run_s = number(&f, o, "run_seconds");

		assert_true(run_s > 0 && billed_s >= 60 && billed_s >= run_s);
		assert_near(usd, number(&f, o, "min_price_ondemand") * billed_s / 3600, 1e-9);
		if (!trk__json_get(&f.doc, o, "speed_known")->truth)
			break;
		assert_true(usd >= before && number(&f, o, "score") > 0);
		before = usd;
	}
	found_release(&f);
	trk_catalog_free(c);
}

static void where_nothing_fits_the_reason_is_told(void **state)
{
	struct trk_server_needs n = TRK_SERVER_NEEDS_INIT;
	struct trk_catalog *c = open_embedded();
	struct found f;

	n.memory_mib = 1e9;
	f = find(c, &n);
	assert_int_equal(f.list->count, 0);
	assert_non_null(
		strstr(text(&f, trk__json_root(&f.doc), "reason"), "the binding need is memory"));
	found_release(&f);
	trk_catalog_free(c);
}

static void assert_refused(const struct trk_catalog *c, const struct trk_server_needs *n, int code,
			   const char *words)
{
	struct trk_servers *s = (void *) 1;
	char why[256] = "";

	assert_int_equal(trk_servers_find(c, n, &s, why, sizeof(why)), code);
	assert_ptr_equal(s, (void *) 1); /* untouched */
	if (!strstr(why, words))
		fail_msg("%s: not in: %s", words, why);
	assert_int_equal(trk_servers_find(c, n, &s, NULL, 0), code);
}

static void wrong_needs_are_refused_with_a_hint(void **state)
{
	struct trk_server_needs n = TRK_SERVER_NEEDS_INIT, none = n;
	struct trk_catalog *c = open_embedded();

	n.vendors = "asw";
	assert_refused(c, &n, -ENOENT, "unknown vendor asw. Try: aws");
	n = none;
	n.regions = "us-est-1";
	assert_refused(c, &n, -ENOENT, "us-east-1");
	n = none;
	n.countries = "ZZ";
	assert_refused(c, &n, -ENOENT, "country ZZ");
	n = none;
	n.arch = "vax";
	assert_refused(c, &n, -EINVAL, "arch vax");
	n = none;
	n.allocation = "mine";
	assert_refused(c, &n, -EINVAL, "allocation mine");
	n = none;
	n.order_by = "beauty";
	assert_refused(c, &n, -EINVAL, "order_by");
	n = none;
	n.memory_mib = NAN;
	assert_refused(c, &n, -TRK_ERR_RANGE, "out of range");
	n.memory_mib = -1;
	assert_refused(c, &n, -TRK_ERR_RANGE, "out of range");
	n = none;
	n.size = 0;
	assert_refused(c, &n, -EINVAL, "size is not set");
	trk_catalog_free(c);
}

/* A program that was built when the struct ended after `vcpus`. */
static void an_older_callers_struct_may_be_shorter(void **state)
{
	struct trk_server_needs n = TRK_SERVER_NEEDS_INIT;
	struct trk_catalog *c = open_embedded();
	struct found f;

	n.size = offsetof(struct trk_server_needs, memory_mib);
	n.vcpus = 8;
	n.vendors = (const char *) 1; /* what lies there is not its own */
	f = find(c, &n);
	assert_true(number(&f, first(&f), "vcpus") >= 8);
	found_release(&f);
	trk_catalog_free(c);
}

/* ---- files ---- */

static const char catalogue[] = "catalogue\t1\t2026-08-17\n"
				"source\town\t2026-08-17\tfacts\tby hand\n"
				"vendor\tacme\t-\tAcme\t60\t120\t-\n"
				"region\tacme\tmoon\tDE\t-\t-\tMoon\n"
				"servers\tacme\town\t2026-08-17\texact\n"
				"\tsmall\t2\t8192\tx86_64\tdedicated\t2\n"
				"\tlarge\t64\t262144\tx86_64\tdedicated\t2\n"
				"prices\tacme\tmoon\town\t2026-08-17\texact\n"
				"\tsmall\t0.1\n\tlarge\t0.36\nend\n";

struct place {
	struct folder folder;
	char recording[300], catalogue[300];
};

static void place_init(struct place *p)
{
	folder_init(&p->folder);
	(void) snprintf(p->recording, sizeof(p->recording), "%s/1.rtrk", p->folder.path);
	(void) snprintf(p->catalogue, sizeof(p->catalogue), "%s/c.tsv", p->folder.path);
	bytes_put(p->folder.fd, "c.tsv", catalogue, sizeof(catalogue) - 1);
	recording_write(p->folder.fd, "1.rtrk", ROWS, true);
}

static void place_release(struct place *p)
{
	(void) unlinkat(p->folder.fd, "1.rtrk", 0);
	(void) unlinkat(p->folder.fd, "c.tsv", 0);
	folder_release(&p->folder);
}

static void a_catalogue_of_ones_own_stands_alone(void **state)
{
	struct trk_catalog_options o = TRK_CATALOG_OPTIONS_INIT;
	struct trk_server_needs n = TRK_SERVER_NEEDS_INIT;
	struct trk_catalog *c = NULL;
	struct found f;
	struct place p;

	place_init(&p);
	o.catalog = p.catalogue;
	assert_int_equal(trk_catalog_open(&o, &c, NULL, 0), 0);
	n.arch = "x86_64";
	f = find(c, &n);
	assert_int_equal(f.list->count, 2);
	assert_string_equal(text(&f, first(&f), "api_reference"), "small");
	found_release(&f);
	trk_catalog_free(c);
	place_release(&p);
}

static void prices_are_laid_over_the_rest(void **state)
{
	static const char own[] = "catalogue\t1\t2026-09-01\n"
				  "source\tsite\t2026-09-01\tnegotiated\tours\n"
				  "prices\taws\tus-east-1\tsite\t2026-09-01\tnegotiated\n"
				  "\tm5.large\t0.00042\nend\n";
	struct trk_catalog_options o = TRK_CATALOG_OPTIONS_INIT;
	struct trk_server_needs n = TRK_SERVER_NEEDS_INIT;
	struct trk_catalog *c = NULL;
	struct found f;
	struct place p;

	place_init(&p);
	bytes_put(p.folder.fd, "c.tsv", own, sizeof(own) - 1);
	o.scores = "none";
	o.prices = p.catalogue;
	assert_int_equal(trk_catalog_open(&o, &c, NULL, 0), 0);
	n.arch = "x86_64";
	n.vendors = "aws";
	f = find(c, &n);
	assert_string_equal(text(&f, first(&f), "api_reference"), "m5.large");
	assert_near(number(&f, first(&f), "min_price_ondemand"), 0.00042, 1e-9);
	assert_string_equal(text(&f, first(&f), "price_quality"), "negotiated");
	assert_string_equal(text(&f, first(&f), "price_date"), "2026-09-01");
	found_release(&f);
	trk_catalog_free(c);
	place_release(&p);
}

static void what_the_command_keeps_in_the_cache_is_taken_in_its_order(void **state)
{
	static const char prices[] = "catalogue\t1\t2026-09-01\n"
				     "source\tsite\t2026-09-01\tnegotiated\tours\n"
				     "prices\taws\tus-east-1\tsite\t2026-09-01\texact\n"
				     "\tm5.large\t0.00042\n\tm5.xlarge\t0.00043\nend\n";
	static const char above[] = "catalogue\t1\t2026-09-01\n"
				    "source\tsite\t2026-09-01\tnegotiated\tours\n"
				    "prices\taws\tus-east-1\tsite\t2026-09-01\tnegotiated\n"
				    "\tm5.large\t0.00011\nend\n";
	struct trk_catalog_options o = TRK_CATALOG_OPTIONS_INIT;
	struct trk_server_needs n = TRK_SERVER_NEEDS_INIT;
	struct trk_catalog *c = NULL;
	const struct trk_json_value *second;
	struct found f;
	struct place p;

	place_init(&p);
	bytes_put(p.folder.fd, "update.tsv", prices, sizeof(prices) - 1);
	bytes_put(p.folder.fd, "prices.tsv", above, sizeof(above) - 1);
	o.scores = "none";
	o.cache = p.folder.path;
	assert_int_equal(trk_catalog_open(&o, &c, NULL, 0), 0);
	n.arch = "x86_64";
	n.vendors = "aws";
	f = find(c, &n);
	assert_near(number(&f, first(&f), "min_price_ondemand"), 0.00011, 1e-9);
	second = next(&f, first(&f));
	assert_string_equal(text(&f, second, "api_reference"), "m5.xlarge");
	assert_near(number(&f, second, "min_price_ondemand"), 0.00043, 1e-9);
	found_release(&f);
	trk_catalog_free(c);
	assert_int_equal(unlinkat(p.folder.fd, "update.tsv", 0), 0);
	assert_int_equal(unlinkat(p.folder.fd, "prices.tsv", 0), 0);
	place_release(&p);
}

static void prices_in_the_cache_that_others_may_have_written_are_left_out_with_a_reason(
	void **state)
{
	struct trk_catalog_options o = TRK_CATALOG_OPTIONS_INIT;
	struct trk_catalog *c = NULL;
	char why[600] = "untouched";
	struct place p;

	place_init(&p);
	o.scores = "none";
	o.cache = p.folder.path;
	assert_int_equal(trk_catalog_open(&o, &c, why, sizeof(why)), 0);
	assert_string_equal(why, "");
	trk_catalog_free(c);
	bytes_put(p.folder.fd, "prices.tsv", "x", 1);
	assert_int_equal(fchmodat(p.folder.fd, "prices.tsv", 0666, 0), 0);
	assert_int_equal(trk_catalog_open(&o, &c, why, sizeof(why)), 0);
	assert_non_null(strstr(why, "/prices.tsv (mode 0666): prices in "));
	assert_non_null(strstr(why, "/prices.tsv are ignored"));
	trk_catalog_free(c);
	/* Without a place for the reason it is the same. */
	assert_int_equal(trk_catalog_open(&o, &c, NULL, 0), 0);
	trk_catalog_free(c);
	assert_int_equal(unlinkat(p.folder.fd, "prices.tsv", 0), 0);
	place_release(&p);
}

static void a_mistake_in_a_file_is_told_with_its_place(void **state)
{
	struct trk_catalog_options o = TRK_CATALOG_OPTIONS_INIT;
	struct trk_catalog *c = (void *) 1;
	char why[300] = "";
	struct place p;

	place_init(&p);
	bytes_put(p.folder.fd, "c.tsv", catalogue, sizeof(catalogue) - 20); /* cut */
	o.catalog = p.catalogue;
	assert_true(trk_catalog_open(&o, &c, why, sizeof(why)) < 0);
	assert_non_null(strstr(why, "c.tsv"));
	bytes_put(p.folder.fd, "c.tsv", "catalogue\t1\t2026-08-17\nsauce\t1\nend\n", 36);
	assert_int_equal(trk_catalog_open(&o, &c, why, sizeof(why)), -EBADMSG);
	assert_non_null(strstr(why, "c.tsv:2:1"));
	o.catalog = "/nowhere.tsv";
	assert_int_equal(trk_catalog_open(&o, &c, why, sizeof(why)), -ENOENT);
	o.size = 1;
	assert_int_equal(trk_catalog_open(&o, &c, NULL, 0), -EINVAL);
	assert_ptr_equal(c, (void *) 1); /* untouched */
	place_release(&p);
}

/* ---- advice ---- */

static void a_recommendation_is_a_document(void **state)
{
	const char *const tags[] = {"lane=7", "fast", NULL};
	struct trk_recommend_options o = TRK_RECOMMEND_OPTIONS_INIT;
	struct trk_server_needs n = TRK_SERVER_NEEDS_INIT;
	const struct trk_json_value *advice, *server;
	struct trk_recommendation *r = NULL;
	struct trk_json_doc doc;
	double before = 0;
	struct place p;

	place_init(&p);
	n.vendors = "gcp";
	n.regions = "us-central1";
	o.needs = &n;
	o.cache = "none";
	o.tags = tags;
	o.limit = 10;
	assert_int_equal(trk_recommend(p.recording, &o, &r, NULL, 0), 0);
	doc = document_of(trk_recommendation_json(r), "resource-tracker.advice/1");
	advice = trk__json_get(&doc, trk__json_root(&doc), "advice");
	assert_true(trk__json_get_double(&doc, trk__json_get(&doc, advice, "cpu"), "cores") >= 1);
	assert_true(trk__json_get_double(&doc, trk__json_get(&doc, advice, "memory"),
					 "request_mib") > 0);
	assert_near(trk__json_get_double(&doc, advice, "runs"), 1, 1e-9);
	server = trk__json_get(&doc, trk__json_root(&doc), "servers");
	assert_int_equal(server->count, 10);
	for (server = trk__json_first(&doc, server); server;
	     server = trk__json_next(&doc, server)) {
		assert_string_equal(trk__json_get_text(&doc, server, "vendor_id"), "gcp");
		assert_string_equal(trk__json_get_text(&doc, server, "region_id"), "us-central1");
		assert_string_not_equal(trk__json_get_text(&doc, server, "cpu_allocation"),
					"burstable");
		if (!trk__json_get(&doc, server, "speed_known")->truth)
			break;
		assert_true(trk__json_get_double(&doc, server, "run_cost") >= before);
		before = trk__json_get_double(&doc, server, "run_cost");
	}
	trk__json_doc_release(&doc);
	trk_recommendation_free(r);
	trk_recommendation_free(NULL);
	place_release(&p);
}

static void a_wrong_question_is_answered_with_what_is_wrong(void **state)
{
	const char *const no_key[] = {"=7", NULL};
	const struct {
		struct trk_recommend_options o;
		int error;
		const char *why;
	} wrong[] = {
		{{.method = "dice"}, -EINVAL, "method dice: not one of: default original"},
		{{.risk = "bold"}, -EINVAL, "risk bold: not one of: default cheap safe"},
		{{.input_bytes = -1}, -TRK_ERR_RANGE, "input_bytes: out of range"},
		{{.input_bytes = NAN}, -TRK_ERR_RANGE, "input_bytes: out of range"},
		{{.tags = no_key}, -EINVAL, "tags: =7: not of the form KEY or KEY=VALUE"},
		{{.instance = "acme"}, -EINVAL, "instance acme: not of the form"},
		{{.history = "/dev/null/none"}, -ENOTDIR, ""},
	};
	struct trk_recommend_options o = TRK_RECOMMEND_OPTIONS_INIT;
	struct trk_server_needs n = TRK_SERVER_NEEDS_INIT;
	struct trk_recommendation *r = (void *) 1;
	char why[200];
	struct place p;

	place_init(&p);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		o = wrong[i].o;
		o.size = sizeof(o);
		assert_int_equal(trk_recommend(p.recording, &o, &r, why, sizeof(why)),
				 wrong[i].error);
		assert_non_null(strstr(why, wrong[i].why));
	}
	o = (struct trk_recommend_options) TRK_RECOMMEND_OPTIONS_INIT;
	n.vendors = "acme";
	o.needs = &n;
	assert_int_equal(trk_recommend(p.recording, &o, &r, why, sizeof(why)), -EINVAL);
	assert_non_null(strstr(why, "acme"));
	assert_int_equal(trk_recommend("/nowhere", NULL, &r, why, sizeof(why)), -ENOENT);
	assert_non_null(strstr(why, "/nowhere"));
	o.size = 3;
	assert_int_equal(trk_recommend(p.recording, &o, &r, NULL, 0), -EINVAL);
	assert_ptr_equal(r, (void *) 1); /* untouched */
	place_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_search_gives_what_fits_cheapest_first),
		cmocka_unit_test(a_well_known_server_has_its_price_and_its_gpu),
		cmocka_unit_test(the_cost_of_a_run_orders_where_it_is_asked_for),
		cmocka_unit_test(where_nothing_fits_the_reason_is_told),
		cmocka_unit_test(wrong_needs_are_refused_with_a_hint),
		cmocka_unit_test(an_older_callers_struct_may_be_shorter),
		cmocka_unit_test(a_catalogue_of_ones_own_stands_alone),
		cmocka_unit_test(prices_are_laid_over_the_rest),
		cmocka_unit_test(what_the_command_keeps_in_the_cache_is_taken_in_its_order),
		cmocka_unit_test(
			prices_in_the_cache_that_others_may_have_written_are_left_out_with_a_reason),
		cmocka_unit_test(a_mistake_in_a_file_is_told_with_its_place),
		cmocka_unit_test(a_recommendation_is_a_document),
		cmocka_unit_test(a_wrong_question_is_answered_with_what_is_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
