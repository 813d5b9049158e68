/* SkyPilot's tables (CSV), a row a zone. */
#include <errno.h>
#include <string.h>

#include "catalog/feed_read.h"

enum { TYPE, PRICE, SPOT, REGION, SKY_COLUMNS };

/* For Google's machines with GPUs the list has the price without GPUs. */
static bool lacks_gpus(const struct trk_feed_rows *r, const char *vendor, const char *type)
{
	int v = trk__catalog_find_vendor(r->c, vendor), s;

	if (strcmp(vendor, "gcp") != 0)
		return false;
	s = v < 0 ? -1 : trk__catalog_find_server(r->c, v, type);
	return s >= 0 && trk__catalog_servers(r->c, NULL)[s].gpu_count > 0;
}

int trk__feed_skypilot(struct trk_feed_rows *r, const char *vendor, const char *text, size_t len,
		       struct trk_error *reterr)
{
	static const char *const names[SKY_COLUMNS] = {"InstanceType", "Price", "SpotPrice",
						       "Region"};
	struct trk_feed_lines l = {text, text + len};
	struct trk_csv_cell cell[TRK_FEED_CELLS_MAX];
	size_t at[SKY_COLUMNS];

	if (!trk__feed_columns(&l, names, SKY_COLUMNS, at))
		return trk__error_set(
			reterr, -EBADMSG, "",
			"the answer is not a table with InstanceType, Price, SpotPrice "
			"and Region");
	while (trk__feed_row(&l, at, SKY_COLUMNS, cell)) {
		char type[TRK_FEED_NAME_SIZE], region[TRK_FEED_NAME_SIZE];

		/* A row without a type is the price of a GPU alone. */
		if (cell[at[TYPE]].len == 0)
			continue;
		if (!trk__feed_name(cell[at[TYPE]].at, cell[at[TYPE]].len, type) ||
		    !trk__feed_name(cell[at[REGION]].at, cell[at[REGION]].len, region) ||
		    lacks_gpus(r, vendor, type)) {
			r->dropped++;
			continue;
		}
		(void) trk__feed_rows_add(
			r, vendor, region, type,
			trk__feed_number_in(cell[at[PRICE]].at, cell[at[PRICE]].len),
			trk__feed_number_in(cell[at[SPOT]].at, cell[at[SPOT]].len));
	}
	return 0;
}
