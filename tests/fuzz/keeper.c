/* Answers of the Keeper API. They are rejected with a message, or converted to a text that the
 * catalogue reads and that has the counted number of prices. */
#include "catalog/keeper.h"
#include "catalog/text.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trk_error error = {.code = 0};
	struct trk_keeper_answer answers[2];
	struct trk_keeper_tally tally;
	struct trk_catalog base, c;
	struct trk_buf out;
	char name[64];
	size_t n;
	int r;

	if (trk__json_read((const char *) data, size, NULL, "f", &answers[0].doc, NULL) < 0)
		return 0;
	(void) trk__keeper_region(&answers[0].doc, "gcp", "us-central1", name, sizeof(name));
	trk__catalog_embedded(&base);
	trk__buf_init(&out, 8 << 20);
	answers[0].region = -1;
	answers[1] = answers[0];
	answers[1].region = trk__catalog_find_region(&base, trk__catalog_find_vendor(&base, "aws"),
						     "us-east-1");
	/* Alone, and beside the same answer as that of a region: of aws only, or the text is
	 * wrong. */
	n = size % 2 && !memmem(data, size, "gcp", 3) && !memmem(data, size, "hcloud", 6) ? 2 : 1;
	r = trk__keeper_convert(&base, answers, n, "2026-01-31", &out, &tally, &error);
	if (r < 0) {
		FUZZ_CHECK(error.message[0]);
	} else if (n == 1) {
		FUZZ_CHECK(trk__catalog_text_load(&base, "f", out.data, out.len, &c, &error) == 0);
		FUZZ_CHECK(c.image->prices.count == base.image->prices.count + tally.prices);
		FUZZ_CHECK(c.image->servers.count == base.image->servers.count + tally.new_types);
		(void) trk__catalog_judge(&base, &c, &error);
		trk__catalog_release(&c);
	}
	trk__buf_release(&out);
	trk__json_doc_release(&answers[0].doc);
	return 0;
}
