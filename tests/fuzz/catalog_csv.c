/* A site's own prices as CSV. They are rejected with a place, or converted to text that the
 * catalogue reads. */
#include "catalog/text.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trk_error error = {.code = 0};
	struct trk_catalog base, c;
	struct trk_buf out;
	char *text = malloc(size ? size : 1);
	int n;

	if (!text)
		abort();
	if (size)
		memcpy(text, data, size);
	trk__catalog_embedded(&base);
	trk__buf_init(&out, 8 << 20);
	n = trk__catalog_csv_convert(&base, "f", text, size, "2026-01-31", &out, &error);
	FUZZ_CHECK(n != 0);
	if (n < 0) {
		FUZZ_CHECK(error.message[0]);
	} else {
		FUZZ_CHECK(trk__catalog_text_load(&base, "f", out.data, out.len, &c, &error) == 0);
		FUZZ_CHECK(c.image->prices.count == base.image->prices.count + (uint32_t) n);
		trk__catalog_release(&c);
	}
	trk__buf_release(&out);
	free(text);
	return 0;
}
