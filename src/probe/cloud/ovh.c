/* OVHcloud: OpenStack, recognised by the name server of its networks. */
#include <string.h>

#include "probe/cloud/vendor.h"

static bool has_name_server(const struct trk_cloud_answer *a)
{
	const struct trk_json_value *service;
	struct trk_json_doc d;
	bool found = false;

	if (!trk__cloud_answer_json(a, &d))
		return false;
	service = trk__json_first(&d, trk__json_get(&d, trk__json_root(&d), "services"));
	for (; service && !found; service = trk__json_next(&d, service)) {
		const char *type = trk__json_get_text(&d, service, "type");
		const char *address = trk__json_get_text(&d, service, "address");

		found = type && address && !strcmp(type, "dns") &&
			!strcmp(address, "213.186.33.99");
	}
	trk__json_doc_release(&d);
	return found;
}

static bool read_answers(const struct trk_cloud_answer *answers, size_t n, struct trk_cloud *ret)
{
	struct trk_json_doc d;

	if (n < 3 || !has_name_server(&answers[0]))
		return false;
	if (trk__cloud_answer_json(&answers[1], &d)) {
		(void) trk__cloud_word(
			trk__json_get_text(&d, trk__json_root(&d), "availability_zone"),
			ret->region, sizeof(ret->region));
		trk__json_doc_release(&d);
	}
	if (!strcmp(ret->region, "nova")) /* OpenStack's name for "no zone" */
		ret->region[0] = '\0';
	(void) trk__cloud_answer_word(&answers[2], ret->instance_type, sizeof(ret->instance_type));
	return true;
}

const struct trk_cloud_vendor trk__cloud_ovh = {
	.id = "ovh",
	.firmware = {"OVH"},
	.unnamed = true,
	.question = {{.path = "/openstack/latest/network_data.json"},
		     {.path = "/openstack/latest/meta_data.json"},
		     {.path = "/latest/meta-data/instance-type"}},
	.read = read_answers,
};
