/* Google Compute Engine. Answers of its metadata service have the header "Metadata-Flavor:
 * Google". */
#include <stdio.h>
#include <string.h>

#include "probe/cloud/vendor.h"

#define FLAVOR "Metadata-Flavor: Google\r\n"

static bool read_answers(const struct trk_cloud_answer *answers, size_t n, struct trk_cloud *ret)
{
	char path[2][160], flavor[16], word[16];
	char *dash;

	if (n < 3 || !trk__cloud_answer_word(&answers[0], path[0], sizeof(path[0])) ||
	    !trk__cloud_answer_word(&answers[1], path[1], sizeof(path[1])) ||
	    !trk__http_header(&answers[0].response, "Metadata-Flavor", flavor, sizeof(flavor)) ||
	    strcmp(flavor, "Google") != 0 || !strstr(path[1], "/zones/"))
		return false;
	(void) trk__cloud_word(trk__cloud_last_part(path[0]), ret->instance_type,
			       sizeof(ret->instance_type));
	(void) trk__cloud_word(trk__cloud_last_part(path[1]), ret->zone, sizeof(ret->zone));
	(void) snprintf(ret->region, sizeof(ret->region), "%s", ret->zone);
	dash = strrchr(ret->region, '-');
	if (dash)
		*dash = '\0';
	if (trk__cloud_answer_word(&answers[2], word, sizeof(word)))
		(void) snprintf(ret->allocation, sizeof(ret->allocation), "%s",
				!strcmp(word, "TRUE")    ? "spot"
				: !strcmp(word, "FALSE") ? "ondemand"
							 : "");
	return true;
}

const struct trk_cloud_vendor trk__cloud_gcp = {
	.id = "gcp",
	.firmware = {"Google"},
	.question = {{.path = "/computeMetadata/v1/instance/machine-type", .headers = FLAVOR},
		     {.path = "/computeMetadata/v1/instance/zone", .headers = FLAVOR},
		     {.path = "/computeMetadata/v1/instance/scheduling/preemptible",
		      .headers = FLAVOR}},
	.read = read_answers,
};
