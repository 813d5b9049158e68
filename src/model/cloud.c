#include "model/cloud.h"

#include <errno.h>
#include <math.h>
#include <string.h>

bool trk__cloud_word_n(const char *text, size_t len, char *to, size_t size)
{
	while (len && strchr(" \t\r\n", *text)) {
		text++;
		len--;
	}
	while (len && strchr(" \t\r\n", text[len - 1]))
		len--;
	if (len == 0 || len >= size)
		return false;
	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
		    (c == '\0' || !strchr("._:/-", c)))
			return false;
	}
	memcpy(to, text, len);
	to[len] = '\0';
	return true;
}

bool trk__cloud_word(const char *text, char *to, size_t size)
{
	return text && trk__cloud_word_n(text, strlen(text), to, size);
}

void trk__cloud_clear(struct trk_cloud *c)
{
	*c = (struct trk_cloud){.discovery_time = NAN};
}

int trk__cloud_state(const char *text, struct trk_cloud *ret)
{
	const char *slash = strchr(text, '/'), *second = slash ? strchr(slash + 1, '/') : NULL;
	struct trk_cloud c;
	bool ok;

	trk__cloud_clear(&c);
	ok = slash && trk__cloud_word_n(text, (size_t) (slash - text), c.vendor, sizeof(c.vendor));
	if (ok && second > slash + 1)
		ok = trk__cloud_word_n(slash + 1, (size_t) (second - slash - 1), c.region,
				       sizeof(c.region));
	else if (ok && !second)
		ok = trk__cloud_word(slash + 1, c.region, sizeof(c.region));
	if (ok && second)
		ok = trk__cloud_word(second + 1, c.instance_type, sizeof(c.instance_type));
	if (!ok)
		return -EINVAL;
	*ret = c;
	return 0;
}
