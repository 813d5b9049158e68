/* The parser of pressure files. If it rejects the text, it does not change its result. */
#include "probe/linux/pressure.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct trk_pressure before = {.some_ns = 7, .full_ns = 11};
	struct trk_pressure pressure = before;
	char *text = fuzz_text(data, size);

	if (trk__pressure_parse(text, &pressure) < 0)
		FUZZ_CHECK(pressure.some_ns == before.some_ns &&
			   pressure.full_ns == before.full_ns);
	free(text);
	return 0;
}
