#include "cli/servers_output.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

static void add_money(struct trk_buf *b, double usd)
{
	trk__buf_printf(b, usd < 0.1 ? "%9.4f" : usd < 1000 ? "%9.3f" : "%9.0f", usd);
}

uint32_t cli_servers_today(void)
{
	char text[32];
	unsigned int y = 0, m = 0, d = 0;

	trk__clock_iso8601(trk__clock_wall_ns(), text);
	return sscanf(text, "%u-%u-%u", &y, &m, &d) == 3 ? y * 10000 + m * 100 + d : 0;
}

/* How wide the columns of names are; most names fit into the usual width. */
struct widths {
	int server, region;
};

static void widen(int *width, size_t len)
{
	if (len > (size_t) *width)
		*width = (int) len;
}

static struct widths measure(const struct trk_offers *r)
{
	struct widths w = {.server = 34, .region = 20};
	size_t n;

	for (size_t i = 0; i < r->n && i < r->limit; i++) {
		const struct trk_catalog_offer *o = &r->list[i].offer;
		const struct trk_catalog_server *s = trk__offers_server(r->c, o);
		const struct trk_catalog_block *block = &trk__catalog_blocks(r->c, &n)[o->block];

		widen(&w.server, strlen(trk__catalog_vendor_id(r->c, s->vendor)) + 1 +
					 strlen(trk__catalog_text(r->c, s->name)));
		widen(&w.region, strlen(trk__catalog_region_id(r->c, block->region)));
	}
	return w;
}

static void describe(struct trk_buf *b, const struct trk_catalog *c,
		     const struct trk_catalog_offer *o, struct widths w)
{
	size_t n;
	const struct trk_catalog_server *s = trk__offers_server(c, o);
	const struct trk_catalog_block *block = &trk__catalog_blocks(c, &n)[o->block];
	char gpu[64] = "-", type[160];

	(void) snprintf(type, sizeof(type), "%s %s", trk__catalog_vendor_id(c, s->vendor),
			trk__catalog_text(c, s->name));
	if (s->gpu_count && s->gpu_permille < 1000)
		(void) snprintf(gpu, sizeof(gpu), "%.3g %s", s->gpu_permille / 1000.0,
				trk__catalog_text(c, s->gpu_model));
	else if (s->gpu_count)
		(void) snprintf(gpu, sizeof(gpu), "%u %s", s->gpu_count,
				trk__catalog_text(c, s->gpu_model));
	trk__buf_printf(b, "%-*s %-*s %4u %7.1f  %-6s %-9s %-14s", w.server, type, w.region,
			trk__catalog_region_id(c, block->region), s->vcpus, s->memory_mib / 1024.0,
			trk__catalog_arch_names[s->arch],
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

static void add_sources(struct trk_buf *b, const struct trk_offers *r)
{
	size_t n, shown = 0;
	const struct trk_catalog_source *sources = trk__catalog_sources(r->c, &n);
	const struct trk_catalog_block *blocks = trk__catalog_blocks(r->c, &n);
	bool seen[256] = {false};
	char day[16];

	trk__buf_puts(b, "prices of");
	for (size_t i = 0; i < r->n && i < r->limit; i++) {
		const struct trk_catalog_block *block = &blocks[r->list[i].offer.block];

		if (seen[block->source])
			continue;
		seen[block->source] = true;
		trk__buf_puts(b, shown++ ? ", " : " ");
		trk__buf_printf(b, "%s (%s%s%s)", trk__catalog_date(block->date, day),
				trk__catalog_text(r->c, sources[block->source].id),
				block->quality == TRK_FACT_EST ? ", estimated" : "",
				is_old(r->c, block, r->today) ? ", old" : "");
	}
	trk__buf_putc(b, '\n');
}

void cli_servers_notes(struct trk_buf *b, const struct trk_offers *r)
{
	if (r->costs) {
		const struct trk_server_estimate *hour = &r->advice.list[r->advice.cheapest_hour];
		const struct trk_catalog_server *s = trk__offers_server(r->c, &hour->offer);

		trk__buf_printf(
			b, "cheapest by the hour: %s at %.4f USD/h, %.4f USD a run of %.0f s\n",
			trk__catalog_text(r->c, s->name), trk__catalog_usd(hour->offer.units),
			hour->cost_usd, hour->run_s);
	}
	for (size_t i = 0; i < r->advice.nears; i++) {
		const struct trk_server_estimate *e = &r->advice.near[i];

		const struct trk_catalog_server *s = trk__offers_server(r->c, &e->offer);
		char why[160] = "";

		if (r->query)
			trk__offers_shortfall(r->query, s, e->offer.unmet, why, sizeof(why));
		trk__buf_printf(b, "cheaper, but short of %s: %s at %.4f USD a run%s%s\n",
				trk__catalog_need_name(e->offer.unmet),
				trk__catalog_text(r->c, s->name), e->cost_usd, why[0] ? ", " : "",
				why);
	}
	if (r->n > r->limit)
		trk__buf_printf(b, "%zu more: -n 0 shows all\n", r->n - r->limit);
	add_sources(b, r);
}

void cli_servers_text(struct trk_buf *b, const struct trk_offers *r, bool spot)
{
	struct widths w = measure(r);

	trk__buf_printf(b, "%-*s %-*s %4s %7s  %-6s %-9s %-14s %9s %9s", w.server, "server",
			w.region, "region", "vCPU", "GiB", "arch", "cores", "GPU",
			spot ? "spot/h" : "USD/h", "score");
	trk__buf_puts(b, r->costs ? "  run s    USD/run\n" : "\n");
	for (size_t i = 0; i < r->n && i < r->limit; i++) {
		const struct trk_server_estimate *e = &r->list[i];
		double score = trk__offers_score(r->c, &e->offer);

		describe(b, r->c, &e->offer, w);
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
