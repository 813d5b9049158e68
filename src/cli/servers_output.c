#include "cli/servers_output.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"

const struct trk_catalog_server *cli_servers_server(const struct trk_catalog *c,
						    const struct trk_catalog_offer *o)
{
	size_t n;

	return &trk__catalog_servers(c, &n)[o->server];
}

double cli_servers_score(const struct trk_catalog *c, const struct trk_catalog_offer *o)
{
	struct trk_catalog_speed speed;

	return trk__catalog_speed_of(cli_servers_server(c, o), &speed) ? speed.all : (double) NAN;
}

/* ---- nothing fits ---- */

static void has_and_wants(const struct trk_catalog_query *q, const struct trk_catalog_server *s,
			  unsigned int need, char *text, size_t size)
{
	double gib = 1024.0 * 1024 * 1024;

	if (need == TRK_NEED_VCPUS)
		(void) snprintf(text, size, "asked %u, it has %u", q->vcpus, s->vcpus);
	else if (need == TRK_NEED_MEMORY)
		(void) snprintf(text, size, "asked %.1f GiB, a job gets %.1f of its %.1f",
				(double) q->memory_bytes / gib,
				(double) trk__catalog_usable_bytes(s) / gib,
				s->memory_mib / 1024.0);
	else if (need == TRK_NEED_GPUS)
		(void) snprintf(text, size, "asked %u, it has %u", q->gpus, s->gpu_count);
	else if (need == TRK_NEED_VRAM)
		(void) snprintf(text, size, "asked %.1f GiB, each has %.1f",
				(double) q->vram_bytes / gib, s->vram_mib / 1024.0);
	else if (need == TRK_NEED_STORAGE)
		(void) snprintf(text, size, "asked %llu GB, it has %u",
				(unsigned long long) q->storage_gb, s->storage_gb);
	else if (need == TRK_NEED_ARCH)
		(void) snprintf(text, size, "it is %s", trk__catalog_arch_names[s->arch]);
	else
		(void) snprintf(text, size, "it is %s",
				trk__catalog_allocation_names[s->allocation]);
}

bool cli_servers_nothing(const struct trk_catalog *c, const struct trk_catalog_query *q,
			 struct trk_catalog_offer *ret, char *text, size_t size)
{
	struct trk_catalog_offer o;
	const struct trk_catalog_server *s;
	unsigned int binding = 0;
	char why[160];
	size_t n;

	if (trk__catalog_nearest(c, q, &o, &binding) < 0) {
		(void) snprintf(text, size,
				"no server is left. Try: fewer of --vendor, --region, --country, "
				"--exclude, --spot");
		return false;
	}
	if (!binding) {
		(void) snprintf(text, size, "no server meets the needs in time");
		return false;
	}
	s = cli_servers_server(c, &o);
	has_and_wants(q, s, binding, why, sizeof(why));
	(void) snprintf(
		text, size,
		"no server fits; the binding need is %s: %s (%s %s in %s, %.4f USD/h, comes "
		"nearest)",
		trk__catalog_need_name(binding), why,
		trk__catalog_text(c, trk__catalog_vendors(c, &n)[s->vendor].id),
		trk__catalog_text(c, s->name),
		trk__catalog_text(
			c,
			trk__catalog_regions(c, &n)[trk__catalog_blocks(c, &n)[o.block].region].id),
		trk__catalog_usd(o.units));
	if (ret)
		*ret = o;
	return true;
}

/* ---- text ---- */

static void add_money(struct trk_buf *b, double usd)
{
	trk__buf_printf(b, usd < 0.1 ? "%9.4f" : usd < 1000 ? "%9.3f" : "%9.0f", usd);
}

static void add_date(struct trk_buf *b, uint32_t date)
{
	trk__buf_printf(b, "%04u-%02u-%02u", date / 10000, date / 100 % 100, date % 100);
}

static void describe(struct trk_buf *b, const struct trk_catalog *c,
		     const struct trk_catalog_offer *o)
{
	size_t n;
	const struct trk_catalog_server *s = cli_servers_server(c, o);
	const struct trk_catalog_block *block = &trk__catalog_blocks(c, &n)[o->block];
	char gpu[64] = "-", type[80];

	(void) snprintf(type, sizeof(type), "%s %s",
			trk__catalog_text(c, trk__catalog_vendors(c, &n)[s->vendor].id),
			trk__catalog_text(c, s->name));
	if (s->gpu_count && s->gpu_permille < 1000)
		(void) snprintf(gpu, sizeof(gpu), "%.3g %s", s->gpu_permille / 1000.0,
				trk__catalog_text(c, s->gpu_model));
	else if (s->gpu_count)
		(void) snprintf(gpu, sizeof(gpu), "%u %s", s->gpu_count,
				trk__catalog_text(c, s->gpu_model));
	trk__buf_printf(b, "%-34s %-20s %4u %7.1f  %-6s %-9s %-14s", type,
			trk__catalog_text(c, trk__catalog_regions(c, &n)[block->region].id),
			s->vcpus, s->memory_mib / 1024.0, trk__catalog_arch_names[s->arch],
			trk__catalog_allocation_names[s->allocation], gpu);
}

/* Days since a fixed day, of a date as yyyymmdd. */
static long days_of(uint32_t date)
{
	long y = date / 10000, m = date / 100 % 100, d = date % 100;

	/* A year that begins in March has its odd day last. */
	y -= m <= 2;
	m = (m + 9) % 12;
	return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + d;
}

/* Large vendors change list prices seldom, small ones often. */
static bool is_old(const struct trk_catalog *c, const struct trk_catalog_block *block,
		   uint32_t today)
{
	size_t n;
	const struct trk_catalog_vendor *v = &trk__catalog_vendors(c, &n)[block->vendor];
	const char *id = trk__catalog_text(c, v->id);
	bool large = !strcmp(id, "aws") || !strcmp(id, "azure") || !strcmp(id, "gcp");

	return today && days_of(today) - days_of(block->date) > (large ? 180 : 30);
}

static void add_sources(struct trk_buf *b, const struct cli_servers_result *r)
{
	size_t n, shown = 0;
	const struct trk_catalog_source *sources = trk__catalog_sources(r->c, &n);
	const struct trk_catalog_block *blocks = trk__catalog_blocks(r->c, &n);
	uint8_t seen[256] = {0};

	trk__buf_puts(b, "prices of");
	for (size_t i = 0; i < r->n && i < r->limit; i++) {
		const struct trk_catalog_block *block = &blocks[r->list[i].offer.block];

		if (seen[block->source]++)
			continue;
		trk__buf_puts(b, shown++ ? ", " : " ");
		add_date(b, block->date);
		trk__buf_printf(b, " (%s%s%s)", trk__catalog_text(r->c, sources[block->source].id),
				block->quality == TRK_FACT_EST ? ", estimated" : "",
				is_old(r->c, block, r->today) ? ", old" : "");
	}
	trk__buf_putc(b, '\n');
}

void cli_servers_notes(struct trk_buf *b, const struct cli_servers_result *r)
{
	if (r->costs) {
		const struct trk_server_estimate *hour = &r->advice.list[r->advice.cheapest_hour];
		const struct trk_catalog_server *s = cli_servers_server(r->c, &hour->offer);

		trk__buf_printf(
			b, "cheapest by the hour: %s at %.4f USD/h, %.4f USD a run of %.0f s\n",
			trk__catalog_text(r->c, s->name), trk__catalog_usd(hour->offer.units),
			hour->cost_usd, hour->run_s);
	}
	for (size_t i = 0; i < r->advice.nears; i++) {
		const struct trk_server_estimate *e = &r->advice.near[i];

		const struct trk_catalog_server *s = cli_servers_server(r->c, &e->offer);
		char why[160] = "";

		if (r->query)
			has_and_wants(r->query, s, e->offer.unmet, why, sizeof(why));
		trk__buf_printf(b, "cheaper, but short of %s: %s at %.4f USD a run%s%s\n",
				trk__catalog_need_name(e->offer.unmet),
				trk__catalog_text(r->c, s->name), e->cost_usd, why[0] ? ", " : "",
				why);
	}
	if (r->n > r->limit)
		trk__buf_printf(b, "%zu more: -n 0 shows all\n", r->n - r->limit);
	add_sources(b, r);
}

void cli_servers_text(struct trk_buf *b, const struct cli_servers_result *r, bool spot)
{
	trk__buf_printf(b, "%-34s %-20s %4s %7s  %-6s %-9s %-14s %9s %9s", "server", "region",
			"vCPU", "GiB", "arch", "cores", "GPU", spot ? "spot/h" : "USD/h", "score");
	trk__buf_puts(b, r->costs ? "  run s    USD/run\n" : "\n");
	for (size_t i = 0; i < r->n && i < r->limit; i++) {
		const struct trk_server_estimate *e = &r->list[i];
		double score = cli_servers_score(r->c, &e->offer);

		describe(b, r->c, &e->offer);
		trk__buf_putc(b, ' ');
		add_money(b, trk__catalog_usd(e->offer.units));
		if (isnan(score))
			trk__buf_puts(b, "         -");
		else
			trk__buf_printf(b, " %9.0f", score);
		if (r->costs) {
			trk__buf_printf(b, " %7.0f ", e->run_s);
			add_money(b, e->cost_usd);
			if (!e->speed_known)
				trk__buf_puts(b, " ?");
		}
		trk__buf_putc(b, '\n');
	}
}

/* ---- JSON ---- */

static void json_date(struct trk_json *j, const char *key, uint32_t date)
{
	char text[16];

	(void) snprintf(text, sizeof(text), "%04u-%02u-%02u", date / 10000, date / 100 % 100,
			date % 100);
	trk__json_key(j, key);
	trk__json_text(j, text);
}

static void json_pair(struct trk_json *j, const char *key, const char *text)
{
	trk__json_key(j, key);
	trk__json_text(j, *text ? text : NULL);
}

static void json_number(struct trk_json *j, const char *key, double value)
{
	trk__json_key(j, key);
	trk__json_double(j, value);
}

static void json_server(struct trk_json *j, const struct trk_catalog *c,
			const struct trk_catalog_server *s)
{
	size_t n;
	const struct trk_catalog_vendor *v = &trk__catalog_vendors(c, &n)[s->vendor];

	json_pair(j, "vendor_id", trk__catalog_text(c, v->id));
	json_pair(j, "api_reference", trk__catalog_text(c, s->name));
	json_pair(j, "display_name", trk__catalog_text(c, s->name));
	json_number(j, "vcpus", s->vcpus);
	json_number(j, "memory_amount", s->memory_mib);
	json_number(j, "memory_usable", (double) (trk__catalog_usable_bytes(s) >> 20));
	json_pair(j, "cpu_architecture", trk__catalog_arch_names[s->arch]);
	json_pair(j, "cpu_allocation", trk__catalog_allocation_names[s->allocation]);
	json_number(j, "gpu_count", s->gpu_count);
	json_pair(j, "gpu_model", trk__catalog_text(c, s->gpu_model));
	json_number(j, "gpu_memory_min", s->vram_mib ? (double) s->vram_mib : (double) NAN);
	json_number(j, "storage_size", s->storage_gb ? (double) s->storage_gb : (double) NAN);
}

static void json_offer(struct trk_json *j, const struct cli_servers_result *r,
		       const struct trk_server_estimate *e)
{
	size_t n;
	const struct trk_catalog *c = r->c;
	const struct trk_catalog_server *s = cli_servers_server(c, &e->offer);
	const struct trk_catalog_block *b = &trk__catalog_blocks(c, &n)[e->offer.block];
	const struct trk_catalog_price *p = &trk__catalog_prices(c, &n)[e->offer.price];
	const struct trk_catalog_region *g = &trk__catalog_regions(c, &n)[b->region];
	const struct trk_catalog_source *src = &trk__catalog_sources(c, &n)[b->source];
	bool saves = p->saving != TRK_SAVING_UNKNOWN;
	struct trk_catalog_speed speed = {NAN, NAN, ""};
	char why[160] = "";

	(void) trk__catalog_speed_of(s, &speed);
	trk__json_open(j, '{');
	json_server(j, c, s);
	json_number(j, "min_price_ondemand", trk__catalog_usd(p->price));
	json_number(j, "spot_saving_percent", saves ? (double) p->saving : (double) NAN);
	json_number(j, "spot_interruption_class",
		    p->klass == TRK_CLASS_UNKNOWN ? (double) NAN : (double) p->klass);
	json_pair(j, "region_id", trk__catalog_text(c, g->id));
	json_pair(j, "country_id", g->country);
	json_number(j, "score", speed.all);
	json_pair(j, "score_basis", speed.basis);
	json_number(j, "score_per_price", speed.all / trk__catalog_usd(p->price));
	json_pair(j, "price_source", trk__catalog_text(c, src->id));
	json_date(j, "price_date", b->date);
	json_pair(j, "price_quality", trk__catalog_quality_names[b->quality]);
	if (r->costs) {
		json_number(j, "run_seconds", e->run_s);
		json_number(j, "billed_seconds", e->billed_s);
		json_number(j, "run_cost", e->cost_usd);
		trk__json_key(j, "speed_known");
		trk__json_bool(j, e->speed_known);
	}
	if (e->offer.unmet) {
		json_pair(j, "short_of", trk__catalog_need_name(e->offer.unmet));
		if (r->query)
			has_and_wants(r->query, s, e->offer.unmet, why, sizeof(why));
		json_pair(j, "short_by", why);
	}
	trk__json_close(j, '}');
}

void cli_servers_members_json(struct trk_json *j, const struct cli_servers_result *r)
{
	trk__json_key(j, "servers");
	trk__json_open(j, '[');
	for (size_t i = 0; i < r->n && i < r->limit; i++)
		json_offer(j, r, &r->list[i]);
	trk__json_close(j, ']');
	if (!r->costs || !r->n)
		return;
	trk__json_key(j, "cheapest_per_hour");
	json_offer(j, r, &r->advice.list[r->advice.cheapest_hour]);
	trk__json_key(j, "near_misses");
	trk__json_open(j, '[');
	for (size_t i = 0; i < r->advice.nears; i++)
		json_offer(j, r, &r->advice.near[i]);
	trk__json_close(j, ']');
}

void cli_servers_json(struct trk_buf *b, const struct cli_servers_result *r)
{
	struct trk_json j;

	trk__json_init(&j, b, 2);
	trk__json_open(&j, '{');
	json_pair(&j, "schema", "resource-tracker.servers/1");
	json_date(&j, "catalog_date", r->c->image->date);
	json_number(&j, "found", (double) r->n);
	cli_servers_members_json(&j, r);
	trk__json_close(&j, '}');
	trk__buf_putc(b, '\n');
}
