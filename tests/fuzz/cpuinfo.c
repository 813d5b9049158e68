/* The parser of /proc/cpuinfo. Texts of the result are short, printable and terminated. */
#include "probe/linux/cpuinfo.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct trk_cpuinfo c;

	if (trk__cpuinfo_parse(text, &c) == 0) {
		FUZZ_CHECK(c.model[0] || c.vendor[0]);
		for (const char *at = c.model; *at; at++)
			FUZZ_CHECK((unsigned char) *at >= 0x20);
		FUZZ_CHECK(strlen(c.model) < sizeof(c.model));
	}
	free(text);
	return 0;
}
