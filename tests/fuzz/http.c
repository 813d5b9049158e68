/* Answers of metadata services. The first byte selects the vendor; the rest is the answer to every
 * request, once in pieces and once at once. */
#include "probe/cloud/vendor.h"

#include "fuzz.h"

static void check_text(const char *text, size_t size)
{
	FUZZ_CHECK(strnlen(text, size) < size);
	for (; *text; text++)
		FUZZ_CHECK((unsigned char) *text > 0x20 && (unsigned char) *text < 0x7f);
}

static void read_as(const struct trk_cloud_vendor *v, const struct trk_http_response *r)
{
	struct trk_cloud_answer answers[TRK_CLOUD_REQUESTS];
	struct trk_cloud_request requests[TRK_CLOUD_REQUESTS];
	struct trk_cloud c;
	size_t n;

	for (size_t i = 0; i < TRK_CLOUD_REQUESTS; i++)
		answers[i] = (struct trk_cloud_answer){true, *r};
	n = trk__cloud_ask(v, 1, answers, requests);
	FUZZ_CHECK(n <= TRK_CLOUD_REQUESTS);
	for (size_t i = 0; i < n; i++)
		FUZZ_CHECK(strlen(requests[i].headers) < sizeof(requests[i].headers));
	trk__cloud_clear(&c);
	if (!trk__cloud_read(v, answers, TRK_CLOUD_REQUESTS, &c))
		return;
	check_text(c.region, sizeof(c.region));
	check_text(c.zone, sizeof(c.zone));
	check_text(c.instance_type, sizeof(c.instance_type));
	check_text(c.allocation, sizeof(c.allocation));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trk_http_response r;
	size_t vendors = 0;
	char *text;
	int n;

	while (trk__cloud_vendors[vendors])
		vendors++;
	if (size == 0)
		return 0;
	text = fuzz_text(data + 1, size - 1);
	/* What is not complete is left as it is. */
	n = trk__http_parse(text, (size - 1) / 2, false, &r);
	if (n == 0)
		FUZZ_CHECK(!memcmp(text, data + 1, size - 1));
	free(text);
	text = fuzz_text(data + 1, size - 1);
	n = trk__http_parse(text, size - 1, true, &r);
	FUZZ_CHECK(n != 0);
	if (n > 0) {
		FUZZ_CHECK(r.status >= 100 && r.status <= 599);
		FUZZ_CHECK(r.body >= text && r.body + r.body_len <= text + size - 1);
		FUZZ_CHECK(r.body[r.body_len] == '\0');
		read_as(trk__cloud_vendors[data[0] % vendors], &r);
	}
	free(text);
	return 0;
}
