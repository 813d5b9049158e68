/* alerts.json as the dashboard reads it: what it writes is JSON of its own. */
#include "base/json_read.h"
#include "service/alert_list.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trk_json_doc doc;
	struct trk_buf b;

	trk__buf_init(&b, 16 << 20);
	if (trk__alert_list_text((const char *) data, size, &b, NULL) == 0) {
		FUZZ_CHECK(trk__json_read(b.data, b.len, NULL, "", &doc, NULL) == 0 ||
			   b.len > 1 << 20);
		if (b.len <= 1 << 20)
			trk__json_doc_release(&doc);
	} else {
		FUZZ_CHECK(b.len == 0);
	}
	trk__buf_release(&b);
	return 0;
}
