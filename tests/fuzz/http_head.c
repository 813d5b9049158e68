/* A request to the HTTP server for Windows. */
#include "serve/windows/head.h"

#include "fuzz.h"

static void check_values(const struct trk_head_value *list, int n, const char *from, size_t size)
{
	FUZZ_CHECK(n >= 0 && n <= TRK_HEAD_VALUES_MAX);
	for (int i = 0; i < n; i++) {
		FUZZ_CHECK(list[i].key >= from && list[i].key + strlen(list[i].key) < from + size);
		FUZZ_CHECK(list[i].value >= from &&
			   list[i].value + strlen(list[i].value) < from + size);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	size_t len = trk__head_length(text, size);
	struct trk_head h;

	FUZZ_CHECK(len <= size && (len == 0 || !memcmp(text + len - 4, "\r\n\r\n", 4)));
	if (len > 0) {
		text[len] = '\0';
		if (trk__head_parse(text, len, &h) == 0) {
			FUZZ_CHECK(h.path[0] == '/' && h.method[0]);
			check_values(h.header, h.headers, text, len + 1);
			check_values(h.argument, h.arguments, text, len + 1);
		}
	}
	free(text);
	return 0;
}
