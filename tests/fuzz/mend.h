/* Shared helpers of the fuzzers of recordings. */
#ifndef TRK_TESTS_FUZZ_MEND_H
#define TRK_TESTS_FUZZ_MEND_H

#include "base/crc32c.h"
#include "recording/format.h"

#include "fuzz.h"

/* Give every frame the check sum that it should have. */
static void fuzz_mend(uint8_t *data, size_t size)
{
	size_t at = TRK_SIGNATURE_SIZE;

	while (size >= TRK_FRAME_SIZE && at <= size - TRK_FRAME_SIZE) {
		size_t len = 0;
		uint32_t crc;

		for (int i = 0; i < 4; i++)
			len |= (size_t) data[at + 6 + (size_t) i] << (8 * i);
		if (memcmp(data + at, "\xb5rtk", 4) != 0 || len > size - at - TRK_FRAME_SIZE) {
			at++;
			continue;
		}
		crc = trk__crc32c(0, data + at + 4, 6);
		crc = trk__crc32c(crc, data + at + TRK_FRAME_SIZE, len);
		for (int i = 0; i < 4; i++)
			data[at + 10 + (size_t) i] = (uint8_t) (crc >> (8 * i));
		at += TRK_FRAME_SIZE + len;
	}
}

#endif
