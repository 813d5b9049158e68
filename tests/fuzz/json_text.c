/* Text in JSON. For any bytes, the output is valid UTF-8 and one complete string. */
#include "base/json.h"

#include "fuzz.h"

/* Length of the UTF-8 character at s (RFC 3629: no surrogates, no overlong forms), or 0. */
static size_t utf8_length(const unsigned char *s, size_t left)
{
	uint32_t code;
	size_t len;

	if (s[0] < 0x80)
		return 1;
	if (s[0] >= 0xf5 || s[0] < 0xc2)
		return 0;
	len = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	if (len > left)
		return 0;
	code = s[0] & (0xffu >> (len + 1));
	for (size_t i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (s[i] & 0x3fu);
	}
	if ((len == 3 && (code < 0x800 || (code >= 0xd800 && code <= 0xdfff))) ||
	    (len == 4 && (code < 0x10000 || code > 0x10ffff)))
		return 0;
	return len;
}

/* Length of the escape sequence after a backslash, or 0. */
static size_t escape_length(const unsigned char *s, size_t left)
{
	if (left == 0)
		return 0;
	if (strchr("\"\\/bfnrt", s[0]) && s[0])
		return 1;
	if (s[0] != 'u' || left < 5)
		return 0;
	for (int i = 1; i < 5; i++)
		if (!strchr("0123456789abcdefABCDEF", s[i]) || !s[i])
			return 0;
	return 5;
}

static void check_string(const unsigned char *s, size_t len)
{
	FUZZ_CHECK(len >= 2 && s[0] == '"' && s[len - 1] == '"');
	for (size_t i = 1; i < len - 1;) {
		size_t n;

		FUZZ_CHECK(s[i] >= 0x20 && s[i] != '"');
		if (s[i] == '\\') {
			n = escape_length(s + i + 1, len - 2 - i);
			FUZZ_CHECK(n > 0);
			i += 1 + n;
			continue;
		}
		n = utf8_length(s + i, len - 1 - i);
		FUZZ_CHECK(n > 0);
		i += n;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct trk_json json;
	struct trk_buf buf;

	trk__buf_init(&buf, 1 << 20);
	trk__json_init(&json, &buf, 0);
	trk__json_text(&json, text);
	if (!buf.error)
		check_string((const unsigned char *) buf.data, buf.len);
	trk__buf_release(&buf);

	/* With NUL bytes inside, and copied to its exact size. */
	trk__buf_init(&buf, 1 << 20);
	trk__json_init(&json, &buf, 0);
	free(text);
	text = malloc(size ? size : 1);
	if (!text)
		abort();
	if (size)
		memcpy(text, data, size);
	trk__json_text_n(&json, text, size);
	if (!buf.error)
		check_string((const unsigned char *) buf.data, buf.len);
	trk__buf_release(&buf);
	free(text);
	return 0;
}
