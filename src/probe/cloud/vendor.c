#include "probe/cloud/vendor.h"

#include <stdio.h>
#include <string.h>

bool trk__cloud_answer_word(const struct trk_cloud_answer *a, char *to, size_t size)
{
	return a->ok && trk__cloud_word_n(a->response.body, a->response.body_len, to, size);
}

bool trk__cloud_answer_json(const struct trk_cloud_answer *a, struct trk_json_doc *ret)
{
	return a->ok &&
	       trk__json_read(a->response.body, a->response.body_len, NULL, "", ret, NULL) == 0;
}

const char *trk__cloud_last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool trk__cloud_dmi_says(const struct trk_dmi *dmi, const char *text)
{
	const char *texts[] = {dmi->sys_vendor, dmi->product_name, dmi->bios_vendor,
			       dmi->chassis_vendor, dmi->board_vendor};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (!strncmp(texts[i], text, strlen(text)))
			return true;
	return false;
}

/* A virtual machine of QEMU, KVM, Xen or OpenStack that does not name its vendor. */
static bool is_unnamed(const struct trk_dmi *dmi)
{
	static const char *const monitors[] = {"QEMU",      "KVM", "Bochs",
					       "OpenStack", "Xen", "Red Hat"};

	for (size_t i = 0; i < sizeof(monitors) / sizeof(monitors[0]); i++)
		if (!strncmp(dmi->sys_vendor, monitors[i], strlen(monitors[i])))
			return true;
	return false;
}

bool trk__cloud_json_word(const struct trk_json_doc *d, const struct trk_json_value *object,
			  const char *key, char to[TRK_CLOUD_TEXT])
{
	return trk__cloud_word(trk__json_get_text(d, object, key), to, TRK_CLOUD_TEXT);
}

/* ---- any vendor ---- */

enum trk_cloud_likeness trk__cloud_looks(const struct trk_cloud_vendor *v,
					 const struct trk_dmi *dmi)
{
	if (v->looks)
		return v->looks(dmi);
	for (size_t i = 0; i < 2 && v->firmware[i]; i++)
		if (trk__cloud_dmi_says(dmi, v->firmware[i]))
			return TRK_CLOUD_SURE;
	if (v->chassis_tag && !strcmp(dmi->chassis_asset_tag, v->chassis_tag))
		return TRK_CLOUD_SURE;
	return v->unnamed && is_unnamed(dmi) ? TRK_CLOUD_MAYBE : TRK_CLOUD_NO;
}

static size_t ask_token(const struct trk_cloud_vendor *v, unsigned int step,
			const struct trk_cloud_answer *answers, struct trk_cloud_request *ret)
{
	static const char base64[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=_-";
	char token[128] = "";
	size_t n = 0;

	if (step == 0) {
		*ret = (struct trk_cloud_request){"PUT", "/latest/api/token", v->token.address, ""};
		(void) snprintf(ret->headers, sizeof(ret->headers), "%s-ttl-seconds: 21600\r\n",
				v->token.header);
		return 1;
	}
	if (step > 1)
		return 0;
	if (answers[0].ok && answers[0].response.body_len < sizeof(token) &&
	    strspn(answers[0].response.body, base64) == answers[0].response.body_len)
		(void) snprintf(token, sizeof(token), "%s", answers[0].response.body);
	for (; n < TRK_CLOUD_REQUESTS && v->token.path[n]; n++) {
		ret[n] = (struct trk_cloud_request){"GET", v->token.path[n], v->token.address, ""};
		if (token[0])
			(void) snprintf(ret[n].headers, sizeof(ret[n].headers), "%s: %s\r\n",
					v->token.header, token);
	}
	return n;
}

size_t trk__cloud_ask(const struct trk_cloud_vendor *v, unsigned int step,
		      const struct trk_cloud_answer *answers, struct trk_cloud_request *ret)
{
	size_t n = 0;

	if (v->token.header)
		return ask_token(v, step, answers, ret);
	if (v->ask)
		return v->ask(step, answers, ret);
	for (; step == 0 && n < TRK_CLOUD_REQUESTS && v->question[n].path; n++) {
		const struct trk_cloud_question *q = &v->question[n];

		ret[n] = (struct trk_cloud_request){"GET", q->path, q->address, ""};
		(void) snprintf(ret[n].headers, sizeof(ret[n].headers), "%s",
				q->headers ? q->headers : "");
	}
	return n;
}

bool trk__cloud_read(const struct trk_cloud_vendor *v, const struct trk_cloud_answer *answers,
		     size_t n, struct trk_cloud *ret)
{
	struct trk_json_doc d;
	bool found = false;

	if (v->read) {
		found = v->read(answers, n, ret);
	} else if (n > 0 && trk__cloud_answer_json(&answers[n - 1], &d)) {
		found = v->read_json(&d, trk__json_root(&d), ret);
		trk__json_doc_release(&d);
	}
	if (found && v->lacks)
		(void) snprintf(ret->reason, sizeof(ret->reason), "%s", v->lacks);
	return found;
}
