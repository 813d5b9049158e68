/* The parser of /proc/net/dev. Every call advances, and names lie within the text. */
#include "probe/linux/meter.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct trk_meter_line before = {.in = 7};
	char *text = fuzz_text(data, size);
	const char *at = text, *end = text + strlen(text), *last = text;
	struct trk_meter_line d = before;
	int r;

	while ((r = trk__netdev.parse(&at, &d)) != 0) {
		FUZZ_CHECK(at > last && at <= end);
		last = at;
		if (r < 0)
			FUZZ_CHECK(memcmp(&d, &before, sizeof(d)) == 0);
		else
			FUZZ_CHECK(d.name_len > 0 && d.name >= text && d.name + d.name_len <= end);
		d = before;
	}
	FUZZ_CHECK(at == end);
	free(text);
	return 0;
}
