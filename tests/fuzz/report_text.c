/* Names from outside in the report. For any text, the page and the Markdown stay well formed, and
 * hidden text is not included. */
#include "base/utf8.h"
#include "report/document.h"
#include "report/write/html_text.h"

#include "fuzz.h"

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

/* Marks come in pairs, and nothing else is below a blank. */
static void check_safe(const char *safe, size_t len)
{
	FUZZ_CHECK(safe[0] == TRK_DOC_OUTSIDE[0] && safe[len - 1] == TRK_DOC_INSIDE[0]);
	for (size_t i = 1; i + 1 < len;) {
		size_t n = trk__utf8_length(safe + i, len - i);

		FUZZ_CHECK(n > 0);
		FUZZ_CHECK((unsigned char) safe[i] >= 0x20 && safe[i] != 0x7f);
		FUZZ_CHECK(n != 3 || memcmp(safe + i, "\xe2\x80\xae", 3) != 0);
		i += n;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trk_doc r = {.job = ""};
	const char *safe = trk__doc_safe_n(&r, (const char *) data, size, 200);
	struct trk_buf html;

	if (!r.error) {
		check_safe(safe, strlen(safe));
		trk__buf_init(&html, 1 << 20);
		trk__html_text(&html, safe);
		FUZZ_CHECK(!html.data || (!count(html.data, "<") && !count(html.data, ">") &&
					  !count(html.data, "\"") && !count(html.data, "'")));
		trk__buf_release(&html);
	}
	trk__doc_release(&r);
	return 0;
}
