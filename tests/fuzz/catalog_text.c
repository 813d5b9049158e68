/* A catalogue file. It is rejected with a place, or every record of the result points inside it and
 * a search over it terminates. */
#include "catalog/text.h"
#include "advise/server.h"

#include <math.h>

#include "fuzz.h"

static void check_texts(const struct trk_catalog *c)
{
	size_t n, servers;
	const struct trk_catalog_server *s = trk__catalog_servers(c, &servers);
	struct trk_catalog_prices p = trk__catalog_prices(c, &n);

	for (size_t i = 0; i < n; i++)
		FUZZ_CHECK(p.server[i] < servers && p.price[i] > 0);
	(void) trk__catalog_vendors(c, &n);
	for (size_t i = 0; i < servers; i++) {
		FUZZ_CHECK(s[i].vendor < n && s[i].name < c->image->texts.count);
		FUZZ_CHECK(strlen(trk__catalog_text(c, s[i].name)) > 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trk_busy_slice slice = {2, 100};
	struct trk_server_work work = {.slices = &slice, .n = 1, .here_one = {NAN, NAN}};
	struct trk_catalog_query q = {.vcpus = 2, .memory_bytes = 1 << 30};
	struct trk_server_advice advice;
	struct trk_error error = {.code = 0};
	struct trk_catalog c, twice;
	char *text = malloc(size ? size : 1);

	if (!text)
		abort();
	if (size)
		memcpy(text, data, size);
	if (trk__catalog_text_load(NULL, "f", text, size, &c, &error) < 0) {
		FUZZ_CHECK(error.code < 0 && error.message[0]);
		free(text);
		return 0;
	}
	check_texts(&c);
	if (trk__server_advise(&c, &q, &work, &advice) == 0) {
		FUZZ_CHECK(advice.n > 0 && advice.cheapest_hour < advice.n);
		trk__server_advice_release(&advice);
	}
	/* On top of itself: nothing new but the prices, which take the place of the old ones. */
	if (trk__catalog_text_load(&c, "f", text, size, &twice, &error) == 0) {
		FUZZ_CHECK(twice.image->servers.count == c.image->servers.count);
		FUZZ_CHECK(twice.image->prices.count == 2 * c.image->prices.count);
		trk__catalog_release(&twice);
	}
	trk__catalog_release(&c);
	free(text);
	return 0;
}
