/* Hetzner Cloud: lines of YAML. Its metadata does not name the type of server: instance-id is a number
 * of the machine. */
#include <stdio.h>
#include <string.h>

#include "probe/cloud/vendor.h"

static enum trk_cloud_likeness looks(const struct trk_dmi *dmi)
{
	return trk__cloud_dmi_says(dmi, "Hetzner") ? TRK_CLOUD_SURE
	       : trk__cloud_is_unnamed(dmi)        ? TRK_CLOUD_MAYBE
						   : TRK_CLOUD_NO;
}

static size_t ask(unsigned int step, const struct trk_cloud_answer *answers,
		  struct trk_cloud_request *ret)
{
	(void) answers;
	if (step > 0)
		return 0;
	*ret = (struct trk_cloud_request){"GET", "/hetzner/v1/metadata", NULL, ""};
	return 1;
}

/* The word of a line "key: word" at the left margin. */
static bool line_word(const char *text, const char *key, char *to, size_t size)
{
	size_t len = strlen(key);

	while (*text) {
		size_t n = strcspn(text, "\n");

		if (n > len && !strncmp(text, key, len) && text[len] == ':')
			return trk__cloud_word_n(text + len + 1, n - len - 1, to, size);
		text += n + (text[n] == '\n');
	}
	return false;
}

static bool read_answers(const struct trk_cloud_answer *answers, size_t n, struct trk_cloud *ret)
{
	char id[32];

	if (n < 1 || !answers[0].ok ||
	    !line_word(answers[0].response.body, "instance-id", id, sizeof(id)) ||
	    !line_word(answers[0].response.body, "region", ret->region, sizeof(ret->region)))
		return false;
	(void) line_word(answers[0].response.body, "availability-zone", ret->zone,
			 sizeof(ret->zone));
	(void) snprintf(ret->reason, sizeof(ret->reason),
			"Hetzner's metadata does not name the type of server");
	return true;
}

const struct trk_cloud_vendor trk__cloud_hetzner = {"hetzner", looks, ask, read_answers, NULL};
