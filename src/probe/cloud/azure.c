/* Microsoft Azure: the Instance Metadata Service. Firmware: a chassis tag that no other machine has. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "probe/cloud/vendor.h"

static enum trk_cloud_likeness looks(const struct trk_dmi *dmi)
{
	return !strcmp(dmi->chassis_asset_tag, "7783-7084-3265-9085-8269-3286-77") ? TRK_CLOUD_SURE
										   : TRK_CLOUD_NO;
}

static size_t ask(unsigned int step, const struct trk_cloud_answer *answers,
		  struct trk_cloud_request *ret)
{
	(void) answers;
	if (step > 0)
		return 0;
	*ret = (struct trk_cloud_request){"GET", "/metadata/instance?api-version=2021-02-01", NULL,
					  "Metadata: true\r\n"};
	return 1;
}

static bool read_answers(const struct trk_cloud_answer *answers, size_t n, struct trk_cloud *ret)
{
	const struct trk_json_value *compute;
	struct trk_json_doc d;
	const char *priority;
	bool found;

	if (n < 1 || !trk__cloud_answer_json(&answers[0], &d))
		return false;
	compute = trk__json_get(&d, trk__json_root(&d), "compute");
	found = trk__cloud_word(trk__json_get_text(&d, compute, "vmSize"), ret->instance_type,
				sizeof(ret->instance_type)) &&
		trk__cloud_word(trk__json_get_text(&d, compute, "location"), ret->region,
				sizeof(ret->region));
	(void) trk__cloud_word(trk__json_get_text(&d, compute, "zone"), ret->zone,
			       sizeof(ret->zone));
	priority = trk__json_get_text(&d, compute, "priority");
	if (priority) /* empty or "Regular": an ordinary one */
		(void) snprintf(ret->allocation, sizeof(ret->allocation), "%s",
				!strcasecmp(priority, "Spot") || !strcasecmp(priority, "Low")
					? "spot"
					: "ondemand");
	trk__json_doc_release(&d);
	return found;
}

const struct trk_cloud_vendor trk__cloud_azure = {"azure", looks, ask, read_answers, NULL};
