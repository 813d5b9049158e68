/* The parser of /proc/meminfo. Used memory is between 0 and the total. */
#include "probe/linux/meminfo.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct trk_meminfo before = {.total = 7, .free = 11};
	struct trk_meminfo m = before;
	char *text = fuzz_text(data, size);

	if (trk__meminfo_parse(text, &m) < 0)
		FUZZ_CHECK(memcmp(&m, &before, sizeof(m)) == 0);
	FUZZ_CHECK(trk__meminfo_used(&m) <= m.total);
	free(text);
	return 0;
}
