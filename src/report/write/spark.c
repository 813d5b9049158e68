#include "report/write/spark.h"
#include "base/maths.h"

void trk__spark_bar(struct trk_buf *b, double share, size_t cells, bool utf8)
{
	int64_t most = 8 * (int64_t) cells;
	size_t eighths = (size_t) trk__whole(share * (double) most + 0.5, 0, most);
	size_t full = utf8 ? eighths / 8 : (eighths + 4) / 8;

	for (size_t i = 0; i < cells; i++) {
		if (!utf8)
			trk__buf_putc(b, i < full ? '#' : '.');
		else if (i == full && eighths % 8) /* U+258F is one eighth, U+2589 seven */
			trk__buf_printf(b, "\xe2\x96%c", (char) (0x90 - (int) (eighths % 8)));
		else
			trk__buf_puts(b, i < full ? "\u2588" : "\u2591");
	}
}

void trk__spark_steps(struct trk_buf *b, const uint16_t *known, const uint16_t *value,
		      size_t buckets, size_t cells, bool utf8)
{
	static const char ascii[] = ".:-=+*%#";
	size_t n = buckets < cells ? buckets : cells;

	for (size_t i = 0; i < n; i++) {
		unsigned int most = 0;
		bool any = false;

		for (size_t k = buckets * i / n; k < buckets * (i + 1) / n; k++)
			if (known[k] != TRK_DOC_GAP) {
				any = true;
				most = value[k] > most ? value[k] : most;
			}
		most = most * 7 / TRK_DOC_STEPS;
		if (!any)
			trk__buf_putc(b, ' ');
		else if (utf8) /* U+2581 to U+2588 */
			trk__buf_printf(b, "\xe2\x96%c", (char) (0x81 + most));
		else
			trk__buf_putc(b, ascii[most]);
	}
}
