/* Exoscale: the paths of CloudStack; zones begin with ISO country codes ("ch-gva-2"). */
#include <stdio.h>
#include <string.h>

#include "probe/cloud/vendor.h"

static bool read_answers(const struct trk_cloud_answer *answers, size_t n, struct trk_cloud *ret)
{
	if (n < 3 || !answers[0].ok || !strstr(answers[0].response.body, "CloudStack") ||
	    !trk__cloud_answer_word(&answers[1], ret->instance_type, sizeof(ret->instance_type)) ||
	    !trk__cloud_answer_word(&answers[2], ret->zone, sizeof(ret->zone)))
		return false;
	(void) snprintf(ret->region, sizeof(ret->region), "%s", ret->zone);
	return true;
}

const struct trk_cloud_vendor trk__cloud_exoscale = {
	.id = "exoscale",
	.firmware = {"Exoscale"},
	.question = {{.path = "/latest/meta-data/cloud-identifier"},
		     {.path = "/latest/meta-data/service-offering"},
		     {.path = "/latest/meta-data/availability-zone"}},
	.read = read_answers,
};
