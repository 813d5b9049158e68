/* Public price lists. For any document, the result is a text that the catalogue reads and that has
 * the counted number of prices. The first byte selects the list. */
#include "catalog/feed.h"
#include "catalog/keeper.h"
#include "catalog/text.h"

#include "fuzz.h"

/* What the seeds name, and a GPU of Google's; small, so that many inputs are tried. */
static const char known[] =
	"catalogue\t1\t2026-01-01\n"
	"source\town\t2026-01-01\tfacts\tby hand\n"
	"vendor\taws\t-\tA\t1\t60\t-\nvendor\tazure\t-\tM\t1\t300\t-\n"
	"vendor\tgcp\t-\tG\t1\t60\t-\nvendor\tvultr\t-\tV\t3600\t3600\t-\n"
	"vendor\tovh\t-\tO\t3600\t3600\t-\nvendor\tscaleway\t-\tS\t3600\t3600\t-\n"
	"region\tovh\teu\tEU\t-\t-\tE\nregion\tscaleway\tfr-par-1\tFR\t-\t-\tP\n"
	"region\taws\tus-east-1\tUS\t-\t-\tV\nregion\taws\tus-east-2\tUS\t-\t-\tO\n"
	"region\taws\tus-gov-west-1\tUS\trestricted\t-\tG\n"
	"region\tazure\teastus\tUS\t-\t-\tV\nregion\tgcp\tus-central1\tUS\t-\t-\tI\n"
	"region\tgcp\teurope-west3\tDE\t-\t-\tF\nregion\tvultr\tglobal\t-\t-\tewr\tmost\n"
	"servers\taws\town\t2026-01-01\texact\n"
	"\ta1.2xlarge\t8\t16384\tarm64\tdedicated\t1\n\ta1.large\t2\t4096\tarm64\tdedicated\t1\n"
	"\tm5.large\t2\t8192\tx86_64\tdedicated\t2\n\tg4dn.xlarge\t4\t16384\tx86_64\tdedicated\t2\n"
	"servers\tazure\town\t2026-01-01\texact\n"
	"\tStandard_D4s_v3\t4\t16384\tx86_64\tdedicated\t2\n"
	"servers\tgcp\town\t2026-01-01\texact\n"
	"\te2-standard-4\t4\t16384\tx86_64\tshared\t2\n\ta2-highgpu-1g\t12\t87040\tx86_"
	"64\tdedicated\t2\n"
	"gpus\tgcp\town\t2026-01-01\texact\n\ta2-highgpu-1g\t1\tA100\t40960\t1\n"
	"servers\tvultr\town\t2026-01-01\texact\n"
	"\tvc2-1c-1gb\t1\t1024\tx86_64\tshared\n"
	"servers\tovh\town\t2026-01-01\texact\n\tb2-7\t2\t7168\tx86_64\tdedicated\n"
	"servers\tscaleway\town\t2026-01-01\texact\n\tDEV1-S\t2\t2048\tx86_64\tshared\n"
	"prices\taws\tus-east-1\town\t2026-01-01\texact\town\n\tm5.large\t0.096\t55\t1\nend\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trk_error error = {.code = 0};
	const struct trk_feed *feed;
	struct trk_feed_rate rate;
	struct trk_feed_tally tally;
	struct trk_feed_rows rows;
	static struct trk_catalog base;
	struct trk_catalog c;
	struct trk_buf out;
	char *text;

	if (size == 0)
		return 0;
	feed = &trk__feeds[data[0] % trk__feed_count];
	if (!base.image)
		FUZZ_CHECK(trk__catalog_text_load(NULL, "k", known, sizeof(known) - 1, &base,
						  NULL) == 0);
	FUZZ_CHECK(trk__feed_rows_init(&rows, &base) == 0);
	/* As it comes from the network: with a NUL after it. */
	text = calloc(1, size);
	FUZZ_CHECK(text);
	memcpy(text, data + 1, size - 1);
	if (trk__feed_rate_parse(text, size - 1, &rate, &error) == 0)
		FUZZ_CHECK(rate.usd > 0.5 && rate.usd < 2 && strlen(rate.date) == 10);
	rows.eur_usd = 1.16;
	if (trk__feed_parse(feed, &rows, feed->part[0].vendor, text, size - 1, &error) < 0) {
		FUZZ_CHECK(error.message[0]);
	} else {
		trk__buf_init(&out, 8 << 20);
		if (trk__feed_convert(&rows, feed, "2026-01-31", false, &out, &tally, &error) < 0) {
			FUZZ_CHECK(error.message[0]);
		} else {
			FUZZ_CHECK(trk__catalog_text_load(&base, "f", out.data, out.len, &c,
							  &error) == 0);
			FUZZ_CHECK(c.image->prices.count ==
				   base.image->prices.count + (feed->spots ? 0 : tally.prices));
			FUZZ_CHECK(c.image->servers.count == base.image->servers.count);
			(void) trk__catalog_judge(&base, &c, feed->source, true, &error);
			trk__catalog_release(&c);
		}
		trk__buf_release(&out);
	}
	free(text);
	trk__feed_rows_release(&rows);
	return 0;
}
