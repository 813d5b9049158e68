/* The parser of /proc/diskstats, in which every call advances and names lie within the text; and
 * the function that guesses the type of a device from its name. */
#include "probe/linux/meter.h"

#include "fuzz.h"
#include "probe/linux/block.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct trk_meter_line before = {.in = 7};
	char *text = fuzz_text(data, size);
	const char *at = text, *end = text + strlen(text), *last = text;
	struct trk_meter_line d = before;
	int r;

	while ((r = trk__diskstats.parse(&at, &d)) != 0) {
		FUZZ_CHECK(at > last && at <= end);
		last = at;
		if (r < 0) {
			FUZZ_CHECK(memcmp(&d, &before, sizeof(d)) == 0);
			continue;
		}
		FUZZ_CHECK(d.name_len > 0 && d.name >= text && d.name + d.name_len <= end);
		if (d.name_len < TRK_METER_NAME) {
			char *name = fuzz_text((const uint8_t *) d.name, d.name_len);

			(void) trk__block_kind(-1, name);
			free(name);
		}
		d = before;
	}
	FUZZ_CHECK(at == end);
	free(text);
	return 0;
}
