/* The parser of /proc/PID/limits. If it rejects the text, it does not change its result. */
#include "probe/linux/rlimits.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t bytes = 7;
	char *text = fuzz_text(data, size);

	if (trk__rlimits_parse(text, &bytes) < 0)
		FUZZ_CHECK(bytes == 7);
	free(text);
	return 0;
}
