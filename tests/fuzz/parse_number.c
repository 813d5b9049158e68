/* The parsers of numbers that users type, durations and sizes, and the scanners below them. */
#include <errno.h>
#include <stdio.h>

#include "base/parse.h"
#include "fuzz.h"

static void fuzz_duration(const char *text)
{
	const uint64_t ten_years_ns = 3650ull * 86400 * 1000000000;
	uint64_t value = 7;
	int r = trk__parse_duration(text, &value);

	FUZZ_CHECK(r == 0 || r == -EINVAL || r == -ERANGE);
	FUZZ_CHECK(r == 0 ? value <= ten_years_ns : value == 7);
}

static void fuzz_size(const char *text)
{
	uint64_t value = 7;
	int r = trk__parse_size(text, &value);

	FUZZ_CHECK(r == 0 || r == -EINVAL || r == -ERANGE);
	FUZZ_CHECK(r == 0 ? value <= UINT64_MAX >> 1 : value == 7);
}

/* Each scanner advances when it succeeds, and not beyond the end. */
static void fuzz_scanners(const char *text, size_t len)
{
	const char *at;
	uint64_t value;
	int64_t number;

#define SCAN(call)                                                                                 \
	do {                                                                                       \
		at = text;                                                                         \
		if (call)                                                                          \
			FUZZ_CHECK(at > text && at <= text + len);                                 \
		else                                                                               \
			FUZZ_CHECK(at == text);                                                    \
	} while (0)

	SCAN(trk__scan_u64(&at, &value));
	SCAN(trk__scan_i64(&at, &number));
	SCAN(trk__scan_hex(&at, &value));
	for (unsigned int digits = 0; digits < 25; digits += 6)
		SCAN(trk__scan_fixed(&at, digits, &value));
#undef SCAN
	FUZZ_CHECK(trk__skip_blanks(text) <= text + len);
	FUZZ_CHECK(trk__skip_line(text) <= text + len);
}

/* Digits are what the plain scanner makes of them, up to 19, and whatever is behind them. */
static void fuzz_digits(const char *text, size_t len)
{
	const char *at = text, *end;
	uint64_t value = 7, expected, numbers[3];

	end = trk__take_digits(text, text + len, &value);
	if (end)
		FUZZ_CHECK(trk__scan_u64(&at, &expected) && at == end && value == expected);
	else
		FUZZ_CHECK(value == 7 &&
			   (*text < '0' || *text > '9' || strspn(text, "0123456789") > 19));
	(void) trk__take_numbers(text, len, numbers, 3);
}

/* A number that was accepted reads the same when it is written back. */
static void fuzz_round_trip(const char *text)
{
	uint64_t value = 7, again = 0;
	char written[32];
	int r = trk__parse_u64(text, &value);

	FUZZ_CHECK(r == 0 || r == -EINVAL || r == -ERANGE);
	if (r < 0) {
		FUZZ_CHECK(value == 7);
		return;
	}
	(void) snprintf(written, sizeof(written), "%llu", (unsigned long long) value);
	FUZZ_CHECK(trk__parse_u64(written, &again) == 0 && again == value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);

	fuzz_duration(text);
	fuzz_size(text);
	fuzz_scanners(text, strlen(text));
	fuzz_digits(text, strlen(text));
	fuzz_round_trip(text);
	free(text);
	return 0;
}
