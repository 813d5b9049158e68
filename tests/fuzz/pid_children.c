/* The parser of children files. It writes at most as many pids as there is room for, and only valid
 * pids. */
#include "probe/linux/pid_children.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t max = size % 5;
	char *text = fuzz_text(data, size);
	/* Of exactly that size, so that the sanitizer sees a write past its end. */
	pid_t *pids = malloc(max ? max * sizeof(*pids) : 1);
	int n;

	if (!pids)
		abort();
	n = trk__pid_children_parse(text, pids, max);
	FUZZ_CHECK(n < 0 || (size_t) n <= size);
	for (size_t i = 0; n > 0 && i < max && i < (size_t) n; i++)
		FUZZ_CHECK(pids[i] >= 0);
	free(pids);
	free(text);
	return 0;
}
