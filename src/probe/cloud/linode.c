/* Akamai Cloud (Linode): one document, which requires a token. */
#include <stdio.h>

#include "probe/cloud/vendor.h"

static size_t ask(unsigned int step, const struct trk_cloud_answer *answers,
		  struct trk_cloud_request *ret)
{
	char token[160];

	if (step == 0) {
		*ret = (struct trk_cloud_request){"PUT", "/v1/token", NULL,
						  "Metadata-Token-Expiry-Seconds: 300\r\n"};
		return 1;
	}
	if (step > 1 || !trk__cloud_answer_word(&answers[0], token, sizeof(token)))
		return 0;
	*ret = (struct trk_cloud_request){"GET", "/v1/instance", NULL, ""};
	(void) snprintf(ret->headers, sizeof(ret->headers),
			"Metadata-Token: %s\r\nAccept: application/json\r\n", token);
	return 1;
}

static bool read_document(const struct trk_json_doc *d, const struct trk_json_value *root,
			  struct trk_cloud *ret)
{
	return trk__json_get(d, root, "id") &&
	       trk__cloud_json_word(d, root, "type", ret->instance_type) &&
	       trk__cloud_json_word(d, root, "region", ret->region);
}

const struct trk_cloud_vendor trk__cloud_linode = {
	.id = "linode",
	.firmware = {"Linode", "Akamai"},
	.unnamed = true,
	.ask = ask,
	.read_json = read_document,
};
