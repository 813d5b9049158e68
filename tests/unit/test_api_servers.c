/* The public C API on servers and prices: search, servers for a run, the cost of a run. */
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

static struct trk_servers *find(const struct trk_catalog *c, const struct trk_server_needs *n)
{
	struct trk_servers *s = NULL;
	char why[256] = "";

	if (trk_servers_find(c, n, &s, why, sizeof(why)) < 0)
		fail_msg("%s", why);
	return s;
}

static struct trk_server_offer offer_at(const struct trk_servers *s, size_t index)
{
	struct trk_server_offer o;

	assert_int_equal(trk_servers_get(s, index, &o), 0);
	return o;
}

static void a_search_gives_what_fits_cheapest_first(void **state)
{
	struct trk_server_needs n = TRK_SERVER_NEEDS_INIT;
	struct trk_catalog *c = open_embedded();
	struct trk_server_offer o = {.vcpus = -1};
	struct trk_servers *s;
	double before = 0;

	(void) state;
	n.vcpus = 3.5; /* four, then */
	n.memory_mib = 16384;
	n.arch = "x86_64";
	n.vendors = "aws,hetzner";
	n.countries = "US,DE";
	n.exclude = "t3*,m5.*";
	s = find(c, &n);
	assert_true(trk_servers_count(s) > 100);
	assert_string_equal(trk_servers_reason(s), "");
	for (size_t i = 0; i < trk_servers_count(s); i++) {
		o = offer_at(s, i);
		assert_true(o.vcpus >= 4 && o.usable_memory_mib >= 16384);
		assert_true(o.memory_mib >= o.usable_memory_mib);
		assert_string_equal(o.arch, "x86_64");
		assert_true(!strcmp(o.country, "US") || !strcmp(o.country, "DE"));
		assert_true(strncmp(o.type, "t3", 2) != 0 && strncmp(o.type, "m5.", 3) != 0);
		assert_true(o.usd_per_hour >= before && o.price_date > 20200000);
		assert_true(isnan(o.run_s) && isnan(o.run_usd));
		before = o.usd_per_hour;
	}
	o.vcpus = -1;
	assert_int_equal(trk_servers_get(s, trk_servers_count(s), &o), -ENOENT);
	assert_true(o.vcpus < 0); /* untouched */
	trk_servers_free(s);
	trk_catalog_free(c);
}

static void a_well_known_server_has_its_price_and_its_gpu(void **state)
{
	struct trk_server_needs n = TRK_SERVER_NEEDS_INIT;
	struct trk_catalog *c = open_embedded();
	struct trk_server_offer o = {.type = ""};
	struct trk_servers *s;
	double ondemand;

	(void) state;
	n.vendors = "aws";
	n.regions = "us-east-1";
	n.arch = "any";
	n.gpus = 1;
	n.vram_mib = 15000;
	s = find(c, &n);
	for (size_t i = 0; i < trk_servers_count(s) && strcmp(o.type, "g4dn.xlarge") != 0; i++)
		o = offer_at(s, i);
	assert_string_equal(o.type, "g4dn.xlarge");
	assert_string_equal(o.vendor, "aws");
	assert_string_equal(o.region, "us-east-1");
	assert_string_equal(o.gpu_model, "T4");
	assert_near(o.gpus, 1, 1e-9);
	assert_near(o.vram_mib, 15360, 1100);
	assert_near(o.usd_per_hour, 0.526, 1e-9);
	assert_string_equal(o.price_quality, "exact");
	ondemand = o.usd_per_hour;
	trk_servers_free(s);
	n.spot = 1; /* what it saves is of the same region */
	s = find(c, &n);
	o.type = "";
	for (size_t i = 0; i < trk_servers_count(s) && strcmp(o.type, "g4dn.xlarge") != 0; i++)
		o = offer_at(s, i);
	assert_true(o.spot_saving > 0 && o.spot_saving < 1);
	assert_near(o.usd_per_hour, ondemand * (1 - o.spot_saving), 2e-5);
	trk_servers_free(s);
	trk_catalog_free(c);
}

static void the_cost_of_a_run_orders_where_it_is_asked_for(void **state)
{
	struct trk_server_needs n = TRK_SERVER_NEEDS_INIT;
	struct trk_catalog *c = open_embedded();
	struct trk_servers *s;
	double before = 0;

	(void) state;
	n.vcpus = 2;
	n.vendors = "aws";
	n.regions = "us-east-1";
	n.arch = "x86_64";
	n.order_by = "run-cost";
	n.run_s = 7200;
	n.busy_cores = 2;
	n.measured_on = "m5.large";
	n.boot_s = -1;
	s = find(c, &n);
	assert_true(trk_servers_count(s) > 100);
	for (size_t i = 0; i < trk_servers_count(s); i++) {
		struct trk_server_offer o = offer_at(s, i);

		assert_true(o.run_s > 0 && o.billed_s >= 60 && o.billed_s >= o.run_s);
		assert_near(o.run_usd, o.usd_per_hour * o.billed_s / 3600, 1e-9);
		if (!strcmp(o.type, "m5.large"))
			assert_near(o.run_s, 7200, 1e-6); /* where it was measured */
		if (!o.speed_known)
			break;
		assert_true(o.run_usd >= before && o.score > 0);
		before = o.run_usd;
	}
	trk_servers_free(s);
	trk_catalog_free(c);
}

static void where_nothing_fits_the_reason_is_told(void **state)
{
	struct trk_server_needs n = TRK_SERVER_NEEDS_INIT;
	struct trk_catalog *c = open_embedded();
	struct trk_servers *s;
	char *json;

	(void) state;
	n.memory_mib = 1e9;
	s = find(c, &n);
	assert_int_equal(trk_servers_count(s), 0);
	assert_non_null(strstr(trk_servers_reason(s), "the binding need is memory"));
	json = trk_servers_json(s, 0);
	assert_non_null(strstr(json, "\"servers\": []"));
	free(json);
	trk_servers_free(s);
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

	(void) state;
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
	n.measured_on = "m5.lage";
	assert_refused(c, &n, -ENOENT, "m5.large");
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
	struct trk_servers *s;

	(void) state;
	n.size = offsetof(struct trk_server_needs, memory_mib);
	n.vcpus = 8;
	n.vendors = (const char *) 1; /* what lies there is not its own */
	s = find(c, &n);
	assert_true(offer_at(s, 0).vcpus >= 8);
	trk_servers_free(s);
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
	struct trk_servers *s;
	struct place p;

	(void) state;
	place_init(&p);
	o.catalog = p.catalogue;
	assert_int_equal(trk_catalog_open(&o, &c, NULL, 0), 0);
	n.arch = "x86_64";
	s = find(c, &n);
	assert_int_equal(trk_servers_count(s), 2);
	assert_string_equal(offer_at(s, 0).type, "small");
	trk_servers_free(s);
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
	struct trk_server_offer first;
	struct trk_servers *s;
	struct place p;

	(void) state;
	place_init(&p);
	bytes_put(p.folder.fd, "c.tsv", own, sizeof(own) - 1);
	o.scores = "none";
	o.prices = p.catalogue;
	assert_int_equal(trk_catalog_open(&o, &c, NULL, 0), 0);
	n.arch = "x86_64";
	n.vendors = "aws";
	s = find(c, &n);
	first = offer_at(s, 0);
	assert_string_equal(first.type, "m5.large");
	assert_near(first.usd_per_hour, 0.00042, 1e-9);
	assert_string_equal(first.price_quality, "negotiated");
	assert_int_equal(first.price_date, 20260901);
	trk_servers_free(s);
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
	struct trk_servers *s;
	struct place p;

	(void) state;
	place_init(&p);
	bytes_put(p.folder.fd, "update-aws.tsv", prices, sizeof(prices) - 1);
	bytes_put(p.folder.fd, "prices.tsv", above, sizeof(above) - 1);
	o.scores = "none";
	o.cache = p.folder.path;
	assert_int_equal(trk_catalog_open(&o, &c, NULL, 0), 0);
	n.arch = "x86_64";
	n.vendors = "aws";
	s = find(c, &n);
	assert_near(offer_at(s, 0).usd_per_hour, 0.00011, 1e-9);
	assert_string_equal(offer_at(s, 1).type, "m5.xlarge");
	assert_near(offer_at(s, 1).usd_per_hour, 0.00043, 1e-9);
	trk_servers_free(s);
	trk_catalog_free(c);
	assert_int_equal(unlinkat(p.folder.fd, "update-aws.tsv", 0), 0);
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

	(void) state;
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

	(void) state;
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

/* ---- a run ---- */

static void a_run_has_its_servers_by_the_cost_of_it(void **state)
{
	struct trk_server_needs n = TRK_SERVER_NEEDS_INIT;
	struct trk_json_limits limits = {.max_bytes = 1 << 20};
	struct trk_catalog *c = open_embedded();
	struct trk_recording *r = NULL;
	struct trk_servers *s = NULL;
	const struct trk_json_value *list;
	struct trk_json_doc doc;
	double before = 0;
	struct place p;
	char *json;

	(void) state;
	place_init(&p);
	assert_int_equal(trk_recording_open(p.recording, &r), 0);
	n.arch = "x86_64";
	n.vendors = "gcp";
	n.regions = "us-central1";
	n.vcpus = 2; /* instead of what the made-up rows used */
	n.memory_mib = 4000;
	n.gpus = 0;
	assert_int_equal(trk_servers_for_run(c, r, &n, &s, NULL, 0), 0);
	assert_true(trk_servers_count(s) > 10);
	for (size_t i = 0; i < trk_servers_count(s); i++) {
		struct trk_server_offer o = offer_at(s, i);

		assert_string_equal(o.vendor, "gcp");
		assert_string_equal(o.region, "us-central1");
		assert_string_not_equal(o.allocation, "burstable");
		if (!o.speed_known)
			break;
		assert_true(o.run_usd >= before);
		before = o.run_usd;
	}
	json = trk_servers_json(s, 3);
	assert_non_null(json);
	assert_int_equal(trk__json_read(json, strlen(json), &limits, "the answer", &doc, NULL), 0);
	assert_string_equal(trk__json_get_text(&doc, trk__json_root(&doc), "schema"),
			    "resource-tracker.servers/1");
	list = trk__json_get(&doc, trk__json_root(&doc), "servers");
	assert_int_equal(list->count, 3);
	assert_string_equal(trk__json_get_text(&doc, trk__json_first(&doc, list), "api_reference"),
			    offer_at(s, 0).type);
	assert_non_null(trk__json_get(&doc, trk__json_root(&doc), "cheapest_per_hour"));
	trk__json_doc_release(&doc);
	free(json);
	trk_servers_free(s);
	trk_recording_free(r);
	trk_catalog_free(c);
	place_release(&p);
}

/* ---- advice ---- */

static double value_of(const struct trk_recommendation *r, const char *key)
{
	double value = -1;

	assert_int_equal(trk_recommendation_value(r, key, &value), 0);
	return value;
}

static void a_recommendation_is_data_text_and_lines_to_paste(void **state)
{
	const char *const tags[] = {"lane=7", "fast", NULL};
	struct trk_recommend_options o = TRK_RECOMMEND_OPTIONS_INIT;
	struct trk_server_needs n = TRK_SERVER_NEEDS_INIT;
	struct trk_json_limits limits = {.max_bytes = 1 << 20};
	struct trk_recommendation *r = NULL;
	struct trk_json_doc doc;
	char *json, *text, *lines, note[200] = "x", want[60];
	struct place p;

	(void) state;
	place_init(&p);
	n.vendors = "gcp";
	o.needs = &n;
	o.cache = "none";
	o.tags = tags;
	o.limit = 2;
	assert_int_equal(trk_recommend(p.recording, &o, &r, NULL, 0), 0);
	assert_true(value_of(r, "cpu") >= 1 && value_of(r, "memory_mib") > 0);
	assert_near(value_of(r, "runs"), 1, 1e-9);
	json = trk_recommendation_json(r);
	assert_int_equal(trk__json_read(json, strlen(json), &limits, "the answer", &doc, NULL), 0);
	assert_string_equal(trk__json_get_text(&doc, trk__json_root(&doc), "schema"),
			    "resource-tracker.advice/1");
	assert_int_equal(trk__json_get(&doc, trk__json_root(&doc), "servers")->count, 2);
	trk__json_doc_release(&doc);
	text = trk_recommendation_text(r, 60);
	assert_non_null(strstr(text, "gcp "));
	lines = trk_recommendation_lines(r, "slurm", note, sizeof(note));
	(void) snprintf(want, sizeof(want), "#SBATCH --cpus-per-task=%.0f", value_of(r, "cpu"));
	assert_non_null(strstr(lines, want));
	assert_string_equal(note, "");
	assert_null(trk_recommendation_lines(r, "abacus", NULL, 0));
	assert_int_equal(trk_recommendation_value(r, "sauce", NULL), -ENOENT);
	free(json);
	free(text);
	free(lines);
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

	(void) state;
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

static void what_a_run_cost_follows_from_its_time_and_the_billing_step(void **state)
{
	struct trk_catalog_options o = TRK_CATALOG_OPTIONS_INIT;
	struct trk_recording *r = NULL;
	struct trk_catalog *c = NULL;
	struct trk_bill b = {.usd = -1};
	struct place p;

	(void) state;
	place_init(&p);
	o.catalog = p.catalogue;
	assert_int_equal(trk_catalog_open(&o, &c, NULL, 0), 0);
	assert_int_equal(trk_recording_open(p.recording, &r), 0);
	/* Nothing was written into this one, and nobody said where it ran. */
	assert_int_equal(trk_recording_bill(r, NULL, NULL, &b), -TRK_ERR_NODATA);
	assert_int_equal(trk_recording_bill(r, c, "acme", &b), -EINVAL);
	assert_true(b.usd < 0); /* untouched */
	assert_int_equal(trk_recording_bill(r, c, NULL, &b), 0);
	assert_true(isnan(b.usd) && strstr(b.reason, "not known"));
	assert_int_equal(trk_recording_bill(r, c, "acme/moon/huge", &b), 0);
	assert_true(isnan(b.usd) && strstr(b.reason, "no type huge of acme"));
	/* 100 s, in steps of 60 s and at least 120. */
	assert_int_equal(trk_recording_bill(r, c, "acme/moon/large", &b), 0);
	assert_near(b.billed_s, 120, 1e-9);
	assert_near(b.usd_per_hour, 0.36, 1e-9);
	assert_near(b.usd, 0.012, 1e-12);
	assert_string_equal(b.price_source, "own");
	assert_string_equal(b.price_date, "2026-08-17");
	assert_true(b.idle_memory_usd > 0 && b.idle_memory_usd < b.usd);
	trk_recording_free(r);
	trk_catalog_free(c);
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
		cmocka_unit_test(a_run_has_its_servers_by_the_cost_of_it),
		cmocka_unit_test(a_recommendation_is_data_text_and_lines_to_paste),
		cmocka_unit_test(a_wrong_question_is_answered_with_what_is_wrong),
		cmocka_unit_test(what_a_run_cost_follows_from_its_time_and_the_billing_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
