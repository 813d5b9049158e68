/* The parser of /proc/stat. It writes no core past the table, and nothing if it rejects the
 * text. */
#include "probe/linux/cpu_stat.h"

#include "fuzz.h"

enum { CORES = 3 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct trk_cpu_stat before = {.cores = 7, .forks = 11};
	struct trk_cpu_stat with = before, without = before;
	struct trk_cpu_times *cores = calloc(CORES, sizeof(*cores));
	char *text = fuzz_text(data, size);
	int r;

	if (!cores)
		abort();
	r = trk__cpu_stat_parse(text, &with, cores, CORES);
	FUZZ_CHECK(trk__cpu_stat_parse(text, &without, NULL, 0) == r);
	FUZZ_CHECK(memcmp(&with, &without, sizeof(with)) == 0);
	if (r < 0)
		FUZZ_CHECK(memcmp(&with, &before, sizeof(with)) == 0);
	free(cores);
	free(text);
	return 0;
}
