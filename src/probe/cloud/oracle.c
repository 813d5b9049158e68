/* Oracle Cloud Infrastructure: version 2 of its instance metadata, which wants a fixed header. */
#include <string.h>

#include "probe/cloud/vendor.h"

static enum trk_cloud_likeness looks(const struct trk_dmi *dmi)
{
	return !strcmp(dmi->chassis_asset_tag, "OracleCloud.com") ? TRK_CLOUD_SURE : TRK_CLOUD_NO;
}

static size_t ask(unsigned int step, const struct trk_cloud_answer *answers,
		  struct trk_cloud_request *ret)
{
	(void) answers;
	if (step > 0)
		return 0;
	*ret = (struct trk_cloud_request){"GET", "/opc/v2/instance/", NULL,
					  "Authorization: Bearer Oracle\r\n"};
	return 1;
}

static bool read_answers(const struct trk_cloud_answer *answers, size_t n, struct trk_cloud *ret)
{
	const struct trk_json_value *root;
	struct trk_json_doc d;
	bool found;

	if (n < 1 || !trk__cloud_answer_json(&answers[0], &d))
		return false;
	root = trk__json_root(&d);
	found = trk__cloud_word(trk__json_get_text(&d, root, "shape"), ret->instance_type,
				sizeof(ret->instance_type));
	if (!trk__cloud_word(trk__json_get_text(&d, root, "canonicalRegionName"), ret->region,
			     sizeof(ret->region)))
		(void) trk__cloud_word(trk__json_get_text(&d, root, "region"), ret->region,
				       sizeof(ret->region));
	(void) trk__cloud_word(trk__json_get_text(&d, root, "availabilityDomain"), ret->zone,
			       sizeof(ret->zone));
	trk__json_doc_release(&d);
	return found;
}

const struct trk_cloud_vendor trk__cloud_oracle = {"oracle", looks, ask, read_answers, NULL};
