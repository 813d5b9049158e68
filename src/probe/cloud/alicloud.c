/* Alibaba Cloud: a metadata service at 100.100.100.200, with a token or without. On other machines
 * that address may belong to anyone, so the firmware must name the vendor. */
#include <stdio.h>
#include <string.h>

#include "probe/cloud/vendor.h"

static size_t ask(unsigned int step, const struct trk_cloud_answer *answers,
		  struct trk_cloud_request *ret)
{
	static const char *const paths[] = {
		"/latest/meta-data/region-id",
		"/latest/meta-data/zone-id",
		"/latest/meta-data/instance/instance-type",
	};
	char token[128] = "";

	if (step == 0) {
		*ret = (struct trk_cloud_request){
			"PUT", "/latest/api/token", "100.100.100.200",
			"X-aliyun-ecs-metadata-token-ttl-seconds: 21600\r\n"};
		return 1;
	}
	if (step > 1)
		return 0;
	if (answers[0].ok && answers[0].response.body_len < sizeof(token) &&
	    strspn(answers[0].response.body,
		   "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=_-") ==
		    answers[0].response.body_len)
		(void) snprintf(token, sizeof(token), "%s", answers[0].response.body);
	for (size_t i = 0; i < 3; i++) {
		ret[i] = (struct trk_cloud_request){"GET", paths[i], "100.100.100.200", ""};
		if (token[0])
			(void) snprintf(ret[i].headers, sizeof(ret[i].headers),
					"X-aliyun-ecs-metadata-token: %s\r\n", token);
	}
	return 3;
}

static bool read_answers(const struct trk_cloud_answer *answers, size_t n, struct trk_cloud *ret)
{
	if (n < 4 || !trk__cloud_answer_word(&answers[1], ret->region, sizeof(ret->region)) ||
	    !trk__cloud_answer_word(&answers[3], ret->instance_type, sizeof(ret->instance_type)) ||
	    strncmp(ret->instance_type, "ecs.", 4) != 0) /* all its types start so */
		return false;
	(void) trk__cloud_answer_word(&answers[2], ret->zone, sizeof(ret->zone));
	return true;
}

const struct trk_cloud_vendor trk__cloud_alicloud = {
	.id = "alicloud",
	.firmware = {"Alibaba Cloud"},
	.ask = ask,
	.read = read_answers,
};
