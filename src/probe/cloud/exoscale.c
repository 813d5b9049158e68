/* Exoscale: the paths of CloudStack, whose zones are ISO countries ("ch-gva-2"). */
#include <stdio.h>
#include <string.h>

#include "probe/cloud/vendor.h"

static enum trk_cloud_likeness looks(const struct trk_dmi *dmi)
{
	return trk__cloud_dmi_says(dmi, "Exoscale") ? TRK_CLOUD_SURE : TRK_CLOUD_NO;
}

static size_t ask(unsigned int step, const struct trk_cloud_answer *answers,
		  struct trk_cloud_request *ret)
{
	static const char *const paths[] = {
		"/latest/meta-data/cloud-identifier",
		"/latest/meta-data/service-offering",
		"/latest/meta-data/availability-zone",
	};

	(void) answers;
	if (step > 0)
		return 0;
	for (size_t i = 0; i < 3; i++)
		ret[i] = (struct trk_cloud_request){"GET", paths[i], NULL, ""};
	return 3;
}

static bool read_answers(const struct trk_cloud_answer *answers, size_t n, struct trk_cloud *ret)
{
	if (n < 3 || !answers[0].ok || !strstr(answers[0].response.body, "CloudStack") ||
	    !trk__cloud_answer_word(&answers[1], ret->instance_type, sizeof(ret->instance_type)) ||
	    !trk__cloud_answer_word(&answers[2], ret->zone, sizeof(ret->zone)))
		return false;
	(void) snprintf(ret->region, sizeof(ret->region), "%s", ret->zone);
	return true;
}

const struct trk_cloud_vendor trk__cloud_exoscale = {"exoscale", looks, ask, read_answers, NULL};
