/* Vultr's plans: id, hourly_cost, and the locations where it is available now, all with the same
 * price. */
#include <math.h>

#include "catalog/feed_read.h"

static void take_item(struct trk_feed_rows *r, const char *vendor, const struct trk_json_doc *d,
		      const struct trk_json_value *plan)
{
	(void) trk__feed_rows_add(r, vendor, "global", trk__json_get_text(d, plan, "id"),
				  trk__json_get_double(d, plan, "hourly_cost"), NAN);
}

const struct trk_feed_walk trk__feed_vultr = {
	.list = "plans",
	.type = TRK_JSON_ARRAY,
	.missing = "the answer is not a list of plans",
	.take = take_item,
};
