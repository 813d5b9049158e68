/* The parser of /proc/loadavg. If it rejects the text, it does not change its result. */
#include "probe/linux/loadavg.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct trk_loadavg before = {.load_1m = 7, .threads = 11};
	struct trk_loadavg l = before;
	char *text = fuzz_text(data, size);

	if (trk__loadavg_parse(text, &l) < 0)
		FUZZ_CHECK(memcmp(&l, &before, sizeof(l)) == 0);
	else
		FUZZ_CHECK(l.last_pid <= INT32_MAX);
	free(text);
	return 0;
}
