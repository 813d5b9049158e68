/* Blocks of prices and of spot savings in the catalogue text. */
#include <errno.h>

#include "catalog/text_cells.h"

static int row_of_prices(struct trk_text_reading *r)
{
	struct trk_catalog_block *block =
		(struct trk_catalog_block *) (void *) (r->b->blocks.data + r->b->blocks.len) - 1;
	uint32_t number_of_block = (uint32_t) (r->b->blocks.len / sizeof(*block));
	uint64_t price = 0, saving = TRK_SAVING_UNKNOWN, klass = TRK_CLASS_UNKNOWN;
	struct trk_catalog_price p;
	struct trk_catalog_server *s;
	int error = 0;

	if (trk__text_needs_cells(r, 3,
				  "type usd_per_hour spot_saving_percent interruption_class") < 0 ||
	    trk__text_fraction(r, 2, 5, UINT32_MAX, &price) < 0 ||
	    trk__text_number(r, 3, 100, &saving) < 0 || trk__text_number(r, 4, 4, &klass) < 0)
		return -EBADMSG;
	if (!price)
		return trk__text_mistake(r, r->cells[2].at, "a price must be above zero");
	s = trk__text_row_server(r, false, &error);
	if (!s)
		return error;
	p = (struct trk_catalog_price){
		.price = (uint32_t) price,
		.server =
			(uint16_t) (s - (struct trk_catalog_server *) (void *) r->b->servers.data),
		.saving = (uint8_t) saving,
		.klass = (uint8_t) klass,
	};
	if (r->b->seen[p.server] == number_of_block)
		return trk__text_mistake(r, r->cells[1].at, "%.*s appears twice in this block",
					 trk__text_quoted(&r->cells[1]), r->cells[1].at);
	r->b->seen[p.server] = number_of_block;
	if (r->base_blocks)
		trk__catalog_builder_supersede(r->b, r->region, p.server, r->base_blocks);
	block->count++;
	trk__buf_add(&r->b->prices, &p, sizeof(p));
	return r->b->prices.error;
}

/* The spot saving of a server with a price; rows of other types are skipped. */
static int row_of_spots(struct trk_text_reading *r)
{
	struct trk_catalog_price *prices = (struct trk_catalog_price *) (void *) r->b->prices.data;
	struct trk_catalog_block *block = (struct trk_catalog_block *) (void *) r->b->blocks.data;
	uint64_t saving = TRK_SAVING_UNKNOWN, klass = TRK_CLASS_UNKNOWN;
	bool is_new;
	uint32_t at;
	int server;

	if (trk__text_needs_cells(r, 3, "type spot_saving_percent interruption_class") < 0 ||
	    trk__text_number(r, 2, 100, &saving) < 0 || trk__text_number(r, 3, 4, &klass) < 0)
		return -EBADMSG;
	server = trk__catalog_builder_server(r->b, r->vendor, r->cells[1].at, r->cells[1].len,
					     false, &is_new);
	at = server < 0 ? 0 : r->b->priced[server];
	if (at == 0)
		return 0;
	prices[at - 1].saving = (uint8_t) saving;
	prices[at - 1].klass = (uint8_t) klass;
	while (at - 1 >= block->first + block->count)
		block++;
	block->spot_source = r->source;
	return 0;
}

/* The region of a block, in its third cell. */
static int find_region(struct trk_text_reading *r)
{
	int region = trk__text_find_vendor(r, 1);

	if (region < 0)
		return -EBADMSG;
	region = trk__text_find(r, &r->b->regions, sizeof(struct trk_catalog_region), 2, r->vendor);
	if (region < 0)
		return trk__text_mistake(r, r->cells[2].at, "region %.*s is not defined above",
					 trk__text_quoted(&r->cells[2]), r->cells[2].at);
	return region;
}

int trk__text_open_spots(struct trk_text_reading *r)
{
	uint32_t day;
	int region;

	if (trk__text_needs_cells(r, 6, "spots vendor region source date quality") < 0)
		return -EBADMSG;
	region = find_region(r);
	if (region < 0 || trk__text_open_block(r, 3, &day) < 0)
		return -EBADMSG;
	r->row = row_of_spots;
	return trk__catalog_builder_find_prices(r->b, (uint16_t) region);
}

int trk__text_open_prices(struct trk_text_reading *r)
{
	struct trk_catalog_block block = {.spot_source = UINT16_MAX};
	int region;

	if (trk__text_needs_cells(r, 6, "prices vendor region source date quality spot_source") < 0)
		return -EBADMSG;
	region = find_region(r);
	if (region < 0)
		return region;
	if (trk__text_open_block(r, 3, &block.date) < 0 ||
	    (!trk__text_is_unknown(r, 6) && trk__text_find_source(r, 6, &block.spot_source) < 0))
		return -EBADMSG;
	r->region = block.region = (uint16_t) region;
	block.source = r->source;
	block.quality = r->quality;
	block.vendor = r->vendor;
	block.first = (uint32_t) (r->b->prices.len / sizeof(struct trk_catalog_price));
	trk__buf_add(&r->b->blocks, &block, sizeof(block));
	r->row = row_of_prices;
	return r->b->blocks.error;
}
