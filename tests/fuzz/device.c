/* The parsers of a line of sysfs and of the text of a SCSI page, with any bytes. */
#include "fuzz.h"

#include <string.h>

#include "probe/linux/device.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[TRK_DEVICE_TEXT];
	size_t len;

	trk__device_text((const char *) data, size, text);
	len = strnlen(text, sizeof(text));
	FUZZ_CHECK(len < sizeof(text));
	FUZZ_CHECK(len == 0 || (text[0] != ' ' && text[len - 1] != ' '));
	for (size_t i = 0; i < len; i++)
		FUZZ_CHECK(text[i] >= 0x20 && text[i] <= 0x7e);
	return 0;
}
