/* Amazon EC2: the instance metadata service, version 2 (with a token) or 1 (without).
 *
 * Firmware: "Amazon EC2" (Nitro, where the product is the instance type), or a Xen BIOS version
 * that ends in "amazon". Other clouds serve the same paths, so services/domain has to name
 * Amazon. */
#include <stdio.h>
#include <string.h>

#include "probe/cloud/vendor.h"

static enum trk_cloud_likeness looks(const struct trk_dmi *dmi)
{
	return trk__cloud_dmi_says(dmi, "Amazon EC2") || strstr(dmi->bios_version, "amazon")
		       ? TRK_CLOUD_SURE
		       : TRK_CLOUD_NO;
}

static bool read_answers(const struct trk_cloud_answer *answers, size_t n, struct trk_cloud *ret)
{
	char word[TRK_CLOUD_TEXT];

	if (n < 6 || !trk__cloud_answer_word(&answers[1], word, sizeof(word)) ||
	    strncmp(word, "amazonaws.com", 13) != 0)
		return false;
	(void) trk__cloud_answer_word(&answers[2], ret->region, sizeof(ret->region));
	(void) trk__cloud_answer_word(&answers[3], ret->zone, sizeof(ret->zone));
	(void) trk__cloud_answer_word(&answers[4], ret->instance_type, sizeof(ret->instance_type));
	if (trk__cloud_answer_word(&answers[5], word, sizeof(word)))
		(void) snprintf(ret->allocation, sizeof(ret->allocation), "%s",
				!strcmp(word, "spot")        ? "spot"
				: !strcmp(word, "on-demand") ? "ondemand"
							     : "");
	if (!ret->region[0] && ret->zone[0]) /* metadata before 2020: the zone without its letter */
		(void) snprintf(ret->region, sizeof(ret->region), "%.*s",
				(int) strlen(ret->zone) - 1, ret->zone);
	return true;
}

static void read_dmi(const struct trk_dmi *dmi, struct trk_cloud *ret)
{
	if (!strcmp(dmi->sys_vendor, "Amazon EC2") && strchr(dmi->product_name, '.'))
		(void) trk__cloud_word(dmi->product_name, ret->instance_type,
				       sizeof(ret->instance_type));
}

const struct trk_cloud_vendor trk__cloud_aws = {
	.id = "aws",
	.looks = looks,
	.token = {.header = "X-aws-ec2-metadata-token",
		  .path = {"/latest/meta-data/services/domain",
			   "/latest/meta-data/placement/region",
			   "/latest/meta-data/placement/availability-zone",
			   "/latest/meta-data/instance-type",
			   "/latest/meta-data/instance-life-cycle"}},
	.read = read_answers,
	.read_dmi = read_dmi,
};
