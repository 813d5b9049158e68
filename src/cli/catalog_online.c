#include "cli/catalog_online.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/image.h"
#include "catalog/text.h"
#include "cli/cli.h"
#include "cli/keeper_talk.h"

enum {
	ONLINE_S = 10,
	ONLINE_REGIONS = 3, /* that the Keeper takes in one question */
};

/* The needs, in the Keeper's words: memory in GiB, at most 256 vCPUs as a minimum. */
static void add_needs(struct trk_buf *b, const struct trk_catalog *c,
		      const struct trk_catalog_query *q)
{
	const double gib = 1024.0 * 1024 * 1024;
	size_t vendors;

	trk__buf_printf(b,
			"/servers?limit=250&only_active=true&order_by=min_price_ondemand&order_dir="
			"asc&vcpus_min=%u",
			q->vcpus < 1     ? 1
			: q->vcpus > 256 ? 256
					 : q->vcpus);
	if (q->memory_bytes)
		trk__buf_printf(b, "&memory_min=%.3f", (double) q->memory_bytes / gib);
	if (q->gpus)
		trk__buf_printf(b, "&gpu_min=%u", q->gpus);
	if (q->vram_bytes)
		trk__buf_printf(b, "&gpu_memory_min=%.3f", (double) q->vram_bytes / gib);
	if (q->storage_gb)
		trk__buf_printf(b, "&storage_size=%llu", (unsigned long long) q->storage_gb);
	for (int i = 0; i < TRK_ARCHES; i++)
		if (q->archs & 1u << i)
			trk__buf_printf(b, "&architecture=%s", trk__catalog_arch_names[i]);
	(void) trk__catalog_vendors(c, &vendors);
	for (size_t i = 0; q->vendors_ok && i < vendors; i++)
		if (q->vendors_ok[i])
			trk__buf_printf(b, "&vendor=%s",
					trk__keeper_vendor(trk__catalog_vendor_id(c, i)));
}

/* One question for each region that was named, else one for all. */
static int ask_needs(struct cli_keeper_talk *t, const struct trk_catalog *c,
		     const struct trk_catalog_query *q, const char *needs)
{
	size_t regions, asked = 0;
	const struct trk_catalog_region *g = trk__catalog_regions(c, &regions);
	char name[96];

	for (size_t i = 0; q->regions_ok && i < regions; i++) {
		const char *vendor = trk__catalog_vendor_id(c, g[i].vendor);

		if (!q->regions_ok[i] || (q->vendors_ok && !q->vendors_ok[g[i].vendor]))
			continue;
		if (asked++ == ONLINE_REGIONS)
			return trk__error_set(&t->error, -EINVAL, "",
					      "the Keeper takes at most %d regions",
					      ONLINE_REGIONS);
		if (cli_keeper_region(t, vendor, trk__catalog_region_id(c, i), name, sizeof(name)) <
		    0)
			return t->error.code;
		t->answer[t->n].region = (int) i;
		if (cli_keeper_get(t, &t->answer[t->n].doc, "%s&vendor_regions=%s~%s", needs,
				   trk__keeper_vendor(vendor), name) < 0)
			return t->error.code;
		t->n++;
	}
	if (q->regions_ok)
		return asked ? 0 : trk__error_set(&t->error, -ENOENT, "", "no region to ask about");
	t->answer[t->n].region = -1;
	if (cli_keeper_get(t, &t->answer[t->n].doc, "%s", needs) < 0)
		return t->error.code;
	t->n++;
	return 0;
}

static int lay_over(struct cli_keeper_talk *t, struct trk_catalog *c)
{
	struct trk_catalog now;

	if (trk__keeper_convert(c, t->answer, t->n, t->date, &t->text, &t->tally, &t->error) < 0 ||
	    trk__catalog_text_load(c, "the answer", t->text.data, t->text.len, &now, &t->error) < 0)
		return -EBADMSG;
	trk__catalog_release(c);
	*c = now;
	return 0;
}

void cli_catalog_online(struct trk_catalog *c, struct trk_catalog_query *q, const char *url,
			uint8_t *room)
{
	struct cli_keeper_talk *t = calloc(1, sizeof(*t));
	const struct trk_catalog_region *g;
	struct trk_buf needs;
	size_t n;
	int r = -ENOMEM;

	trk__buf_init(&needs, 4096);
	if (t) {
		cli_keeper_talk_init(t, url, ONLINE_S);
		add_needs(&needs, c, q);
		r = needs.error ? needs.error : ask_needs(t, c, q, needs.data);
		r = r ? r : lay_over(t, c);
		if (r < 0)
			cli_complain("%s; these are the prices of the catalogue",
				     t->error.message[0] ? t->error.message : trk__strerror(r));
		cli_keeper_talk_release(t);
	}
	free(t);
	trk__buf_release(&needs);
	if (r < 0 || q->regions_ok)
		return;
	g = trk__catalog_regions(c, &n);
	memset(room, 0, TRK_CATALOG_REGIONS_MAX);
	for (size_t i = 0; i < n; i++)
		room[i] = !strcmp(trk__catalog_text(c, g[i].id), TRK_KEEPER_ANYWHERE);
	q->regions_ok = room;
}
