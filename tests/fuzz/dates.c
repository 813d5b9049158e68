/* A text as a date or a duration, as people and other tools write them: no value, or one that is
 * finite and in the range of the calendar. */
#include <math.h>
#include <time.h>

#include "base/clock.h"
#include "base/parse.h"
#include "import/values.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct tm day = {.tm_year = 0};
	const char *rest = trk__scan_date(text, &day);
	double date_s = trk__value_date(text), bytes;

	if (rest) {
		FUZZ_CHECK(rest > text && rest <= text + size);
		FUZZ_CHECK(day.tm_mon >= 0 && day.tm_mon < 12 && day.tm_mday > 0 &&
			   day.tm_mday < 32);
		(void) timegm(&day);
	}
	FUZZ_CHECK(isnan(date_s) || (date_s >= 0 && isfinite(date_s)));
	FUZZ_CHECK(!(trk__value_clock(text) < 0) && !isinf(trk__value_clock(text)));
	FUZZ_CHECK(!isinf(trk__value_words(text)));
	rest = text;
	bytes = trk__value_bytes(text, 1024, &rest);
	FUZZ_CHECK(!isinf(bytes) && rest >= text && rest <= text + size);
	free(text);
	return 0;
}
