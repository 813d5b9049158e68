/* The values of the charts for the script of the page, for the crosshair and for zooming. Each
 * bucket of the drawn chart has several values here, as many as the size limit of the page
 * allows. */
#include <math.h>
#include <string.h>

#include "model/columns.h"
#include "report/chart_rows.h"
#include "report/write/html_text.h"
#include "report/write/page.h"

enum {
	PAGE_MAX = 150000, /* bytes of a page without an embedded recording */
	ROOM = 600,        /* bytes for all but values */
};

/* Two characters per value. */
static void pack(struct trk_buf *b, uint16_t value)
{
	trk__html_packed(b, value, 2);
}

/* Minimum, mean and maximum of the job's series (or the only one); the mean of the machine's. */
static size_t lists_of(const struct trk_doc_chart *c, size_t series)
{
	return series == 0 && c->series[0].has_band ? 3 : 1;
}

static size_t size_of(const struct trk_doc *d, size_t buckets)
{
	size_t size = 0;

	for (size_t i = 0; i < d->charts; i++)
		for (size_t s = 0; !d->chart[i].is_quiet && s < d->chart[i].count; s++)
			size += lists_of(&d->chart[i], s) * (2 * buckets + 4);
	return size;
}

/* How many values each drawn bucket has here. */
static size_t finer_of(const struct trk_doc *d, size_t written)
{
	size_t used = written + strlen(trk__page_js) + ROOM;

	for (size_t finer = d->finer; finer > 1; finer--)
		if (d->finer % finer == 0 && used + size_of(d, d->buckets * finer) <= PAGE_MAX)
			return finer;
	return 1;
}

static void write_list(struct trk_buf *b, const struct trk_doc *d, const struct trk_doc_chart *c,
		       const struct trk_doc_series *s, size_t finer, int which)
{
	size_t each = d->finer / finer;
	double width_s = d->duration_s / (double) (d->buckets * d->finer);

	trk__buf_puts(b, which ? ",\"" : "\"");
	for (size_t i = 0; i < d->buckets * finer; i++) {
		struct trk_report_steps steps =
			trk__report_steps(s->fill, i * each, each, width_s, c->top * s->factor);

		pack(b, which == 0 ? steps.avg : which == 1 ? steps.min : steps.max);
	}
	trk__buf_putc(b, '"');
}

/* How to read an embedded recording: name of the column, factor of the unit, and whether it is an
 * amount, shown as a rate. */
static void write_columns(struct trk_buf *b, const struct trk_doc_chart *c)
{
	trk__buf_puts(b, ",\"columns\":[");
	for (size_t s = 0; s < c->count; s++)
		trk__buf_printf(b, "%s[\"%s\",%.17g,%s]", s ? "," : "",
				trk__columns[c->series[s].column].name, c->series[s].factor,
				trk__columns[c->series[s].column].kind == TRK_KIND_DELTA ? "true"
											 : "false");
	trk__buf_putc(b, ']');
}

/* Each program's part of the job's series, the lowest area first. */
static void write_areas(struct trk_buf *b, const struct trk_doc *d, const struct trk_doc_chart *c)
{
	trk__buf_puts(b, ",\"areas\":[");
	for (size_t i = 0; i < c->areas; i++) {
		const struct trk_doc_area *a = &c->area[i];

		trk__buf_puts(b, i ? ",\"" : "\"");
		for (size_t k = 0; k < d->buckets; k++)
			pack(b, a->high[k] == TRK_DOC_GAP ? TRK_DOC_GAP
							  : (uint16_t) (a->high[k] - a->low[k]));
		trk__buf_putc(b, '"');
	}
	trk__buf_putc(b, ']');
}

static void write_chart(struct trk_buf *b, const struct trk_doc *d, const struct trk_doc_chart *c,
			size_t finer)
{
	trk__buf_printf(b, "{\"unit\":\"%s\",\"top\":%.17g", c->unit, c->top);
	if (!isnan(c->limit))
		trk__buf_printf(b, ",\"limit\":%.17g", c->limit);
	if (c->areas)
		write_areas(b, d, c);
	if (d->raw)
		write_columns(b, c);
	trk__buf_puts(b, ",\"series\":[");
	for (size_t s = 0; s < c->count; s++) {
		trk__buf_puts(b, s ? ",[" : "[");
		for (int which = 0; which < (int) lists_of(c, s); which++)
			write_list(b, d, c, &c->series[s], finer, which);
		trk__buf_putc(b, ']');
	}
	trk__buf_puts(b, "]}");
}

void trk__html_data(struct trk_buf *b, const struct trk_doc *d)
{
	size_t finer = finer_of(d, b->len);

	trk__buf_printf(b,
			"<script type=\"application/json\" id=\"data\">{\"start\":%.3f,"
			"\"seconds\":%.6f,\"interval\":%.6f,\"drawn\":%zu,\"n\":%zu,"
			"\"clock\":%s,\"dates\":%s,\"steps\":%d,\"charts\":[",
			d->start_s, d->duration_s, d->interval_s, d->buckets, d->buckets * finer,
			d->clock ? "true" : "false", d->dates ? "true" : "false", TRK_DOC_STEPS);
	for (size_t i = 0, n = 0; i < d->charts; i++) {
		if (d->chart[i].is_quiet)
			continue;
		if (n++)
			trk__buf_putc(b, ',');
		write_chart(b, d, &d->chart[i], finer);
	}
	trk__buf_puts(b, "]}</script>\n");
}
