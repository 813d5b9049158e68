/* Earlier runs as JSON. No more runs are returned than requested, and every figure is unknown or a
 * finite number of at least 0. */
#include <math.h>

#include "history/history.h"

#include "fuzz.h"

enum { MAX = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trk_past_run run[MAX];
	char *text = fuzz_text(data, size);
	size_t n = trk__history_runs_from_json(text, size, run, MAX);

	FUZZ_CHECK(n <= MAX);
	for (size_t i = 0; i < n; i++) {
		const double figure[] = {run[i].start_s, run[i].duration_s, run[i].memory.bytes,
					 run[i].cpu_mean, run[i].cost_usd};

		for (size_t k = 0; k < sizeof(figure) / sizeof(figure[0]); k++)
			FUZZ_CHECK(isnan(figure[k]) || (figure[k] >= 0 && !isinf(figure[k])));
		FUZZ_CHECK(run[i].code >= 0 && run[i].code <= 255);
		FUZZ_CHECK(!strcmp(run[i].end_name, "exited") && run[i].ended);
	}
	free(text);
	return 0;
}
