/* A file out of a zip archive: whatever the archive, no more comes out than the buffer may hold,
 * and a failure says what is wrong. */
#include "base/zip.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"first.txt", "table.csv", "nothing"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct trk_error error = {.code = 0};
		struct trk_buf b;

		trk__buf_init(&b, 1 << 20);
		if (trk__zip_read((const char *) data, size, names[i], &b, &error) < 0)
			FUZZ_CHECK(error.message[0]);
		else
			FUZZ_CHECK(b.len < 1 << 20 && b.data && b.data[b.len] == '\0');
		trk__buf_release(&b);
	}
	return 0;
}
