/* The parser of /proc/PID/stat. If it rejects the text, it does not change its result. */
#include "probe/linux/pid_stat.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trk_pid_stat before, result;
	char *text = fuzz_text(data, size);

	/* Padding included. */
	memset(&before, 0x5a, sizeof(before));
	memcpy(&result, &before, sizeof(result));
	if (trk__pid_stat_parse(text, strlen(text), &result) < 0)
		FUZZ_CHECK(memcmp(&result, &before, sizeof(result)) == 0);
	else
		FUZZ_CHECK(memchr(result.comm, '\0', sizeof(result.comm)) && result.pid >= 0);
	(void) trk__pid_stat_block_delay(text);
	(void) trk__pid_stat_ignores(text, 17);
	free(text);
	return 0;
}
