/* The parser of /proc/PID/schedstat. If it rejects the text, it does not change its result. */
#include "probe/linux/pid_schedstat.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trk_pid_schedstat before, result;
	char *text = fuzz_text(data, size);

	/* Padding included. */
	memset(&before, 0x5a, sizeof(before));
	memcpy(&result, &before, sizeof(result));
	if (trk__pid_schedstat_parse(text, strlen(text), &result) < 0)
		FUZZ_CHECK(memcmp(&result, &before, sizeof(result)) == 0);
	free(text);
	return 0;
}
