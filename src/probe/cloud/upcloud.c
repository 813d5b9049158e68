/* UpCloud: one document, which names the cloud. DigitalOcean serves another one there. */
#include <stdio.h>
#include <string.h>

#include "probe/cloud/vendor.h"

static enum trk_cloud_likeness looks(const struct trk_dmi *dmi)
{
	return trk__cloud_dmi_says(dmi, "UpCloud") ? TRK_CLOUD_SURE
	       : trk__cloud_is_unnamed(dmi)        ? TRK_CLOUD_MAYBE
						   : TRK_CLOUD_NO;
}

static size_t ask(unsigned int step, const struct trk_cloud_answer *answers,
		  struct trk_cloud_request *ret)
{
	(void) answers;
	if (step > 0)
		return 0;
	*ret = (struct trk_cloud_request){"GET", "/metadata/v1.json", NULL, ""};
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
	found = trk__json_get_text(&d, root, "cloud_name") &&
		!strcmp(trk__json_get_text(&d, root, "cloud_name"), "upcloud") &&
		trk__cloud_word(trk__json_get_text(&d, root, "region"), ret->region,
				sizeof(ret->region));
	if (found)
		(void) snprintf(ret->reason, sizeof(ret->reason),
				"UpCloud's metadata does not name the plan");
	trk__json_doc_release(&d);
	return found;
}

const struct trk_cloud_vendor trk__cloud_upcloud = {"upcloud", looks, ask, read_answers, NULL};
