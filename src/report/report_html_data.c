/* The values of the charts for the script of the page: the crosshair reads them, and a closer view is
 * drawn from them. A bucket of the drawn chart is several here, as many as the page has room for. */
#include <string.h>

#include "report/report_private.h"
#include "sample/columns.h"

enum {
	PAGE_MAX = 150000, /* bytes of a page without an embedded recording */
	ROOM = 600,        /* for what is not a value */
};

/* Two characters a value; the alphabet of base64url. */
static void pack(struct trk_buf *b, uint16_t value)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

	trk__buf_putc(b, digits[value >> 6 & 63]);
	trk__buf_putc(b, digits[value & 63]);
}

/* Least, mean and greatest of the job's series (or the only one); of the machine's the mean. */
static size_t lists_of(const struct trk_report_chart *c, size_t series)
{
	return series == 0 && c->series[0].has_band ? 3 : 1;
}

static size_t size_of(const struct trk_report *r, size_t buckets)
{
	size_t size = 0;

	for (size_t i = 0; i < r->charts; i++)
		for (size_t s = 0; s < r->chart[i].count; s++)
			size += lists_of(&r->chart[i], s) * (2 * buckets + 4);
	return size;
}

/* How many buckets one of the drawn ones is told as. */
static size_t finer_of(const struct trk_report *r, size_t written)
{
	size_t used = written + strlen(trk__report_js) + ROOM;

	for (size_t finer = r->finer; finer > 1; finer--)
		if (r->finer % finer == 0 && used + size_of(r, r->buckets * finer) <= PAGE_MAX)
			return finer;
	return 1;
}

static void write_list(struct trk_buf *b, const struct trk_report *r,
		       const struct trk_report_chart *c, const struct trk_report_series *s,
		       size_t finer, int which)
{
	size_t each = r->finer / finer;
	double width_s = r->duration_s / (double) (r->buckets * r->finer);

	trk__buf_puts(b, which ? ",\"" : "\"");
	for (size_t i = 0; i < r->buckets * finer; i++) {
		struct trk_report_steps steps =
			trk__report_steps(s->fill, i * each, each, width_s, c->top * s->factor);

		pack(b, which == 0 ? steps.avg : which == 1 ? steps.min : steps.max);
	}
	trk__buf_putc(b, '"');
}

/* By which an embedded recording is read: name of the column, factor of the unit, and whether it is an
 * amount, shown as a rate. */
static void write_columns(struct trk_buf *b, const struct trk_report_chart *c)
{
	trk__buf_puts(b, ",\"columns\":[");
	for (size_t s = 0; s < c->count; s++)
		trk__buf_printf(b, "%s[\"%s\",%.17g,%s]", s ? "," : "",
				trk__columns[c->series[s].column].name, c->series[s].factor,
				trk__columns[c->series[s].column].kind == TRK_KIND_DELTA ? "true"
											 : "false");
	trk__buf_putc(b, ']');
}

static void write_chart(struct trk_buf *b, const struct trk_report *r,
			const struct trk_report_chart *c, size_t finer)
{
	trk__buf_printf(b, "{\"unit\":\"%s\",\"top\":%.17g", c->unit, c->top);
	if (r->raw)
		write_columns(b, c);
	trk__buf_puts(b, ",\"series\":[");
	for (size_t s = 0; s < c->count; s++) {
		trk__buf_puts(b, s ? ",[" : "[");
		for (int which = 0; which < (int) lists_of(c, s); which++)
			write_list(b, r, c, &c->series[s], finer, which);
		trk__buf_putc(b, ']');
	}
	trk__buf_puts(b, "]}");
}

void trk__report_html_data(struct trk_buf *b, const struct trk_report *r)
{
	size_t finer = finer_of(r, b->len);

	trk__buf_printf(b,
			"<script type=\"application/json\" id=\"data\">{\"start\":%.3f,"
			"\"seconds\":%.6f,\"interval\":%.6f,\"drawn\":%zu,\"n\":%zu,"
			"\"clock\":%s,\"dates\":%s,\"steps\":%d,\"charts\":[",
			r->start_s, r->duration_s, r->interval_s, r->buckets, r->buckets * finer,
			r->clock ? "true" : "false", r->dates ? "true" : "false", TRK_REPORT_STEPS);
	for (size_t i = 0; i < r->charts; i++) {
		if (i)
			trk__buf_putc(b, ',');
		write_chart(b, r, &r->chart[i], finer);
	}
	trk__buf_puts(b, "]}</script>\n");
}
