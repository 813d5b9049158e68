/* Hetzner Cloud: lines of YAML. Its metadata lacks the type of the server: instance-id is the
 * number of the machine. */
#include <string.h>

#include "probe/cloud/vendor.h"

/* The word of an unindented line "key: word". */
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
	return true;
}

const struct trk_cloud_vendor trk__cloud_hetzner = {
	.id = "hetzner",
	.firmware = {"Hetzner"},
	.unnamed = true,
	.question = {{.path = "/hetzner/v1/metadata"}},
	.read = read_answers,
	.lacks = "Hetzner's metadata does not name the type of server",
};
