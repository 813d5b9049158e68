/* The catalogues of gpuhunt: /version names the current one, whose catalog.zip holds VENDOR.csv
 * with a row for each type, place and kind (spot or not). The same type with other GPUs is listed
 * too (Google's, to which GPUs can be added): only rows with the GPUs of the type itself count. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/zip.h"
#include "catalog/feed.h"
#include "catalog/feed_lines.h"

enum { CSV_MAX = 64 << 20, VERSION_MAX = 40 };
enum { NAME, PLACE, PRICE, GPUS, SPOT, COLUMNS };

static int take_version(struct trk_feed_rows *r, const char *vendor, const char *text, size_t len,
			struct trk_error *reterr)
{
	while (len && (text[len - 1] == '\n' || text[len - 1] == '\r'))
		len--;
	for (size_t i = 0; i < len; i++)
		if (len > VERSION_MAX ||
		    !strchr("0123456789-_.abcdefghijklmnopqrstuvwxyz", text[i]) || !text[i])
			len = 0;
	if (len == 0 || text[0] == '.')
		return trk__error_set(reterr, -EBADMSG, "", "the answer is no version");
	r->page = 1;
	(void) snprintf(r->next, sizeof(r->next), TRK_FEED_GPUHUNT_URL "%s/%.*s/catalog.zip",
			vendor, (int) len, text);
	return 0;
}

static bool has_those_gpus(const struct trk_feed_rows *r, const char *vendor, const char *type,
			   double gpus)
{
	int v = trk__catalog_find_vendor(r->c, vendor);
	int s = v < 0 ? -1 : trk__catalog_find_server(r->c, v, type);
	size_t n;

	return s >= 0 && (double) trk__catalog_servers(r->c, &n)[s].gpu_count == gpus;
}

static bool is(const struct trk_feed_cell *c, const char *word)
{
	return c->len == strlen(word) && !memcmp(c->at, word, c->len);
}

static void take_row(struct trk_feed_rows *r, const char *vendor, const struct trk_feed_cell *cell,
		     const size_t at[COLUMNS])
{
	char type[TRK_FEED_NAME_SIZE], place[TRK_FEED_NAME_SIZE];
	double usd = trk__feed_number_in(cell[at[PRICE]].at, cell[at[PRICE]].len);
	double gpus = trk__feed_number_in(cell[at[GPUS]].at, cell[at[GPUS]].len);
	bool spot = is(&cell[at[SPOT]], "True");

	if (!trk__feed_name(cell[at[NAME]].at, cell[at[NAME]].len, type) ||
	    !trk__feed_name(cell[at[PLACE]].at, cell[at[PLACE]].len, place) ||
	    (!spot && !is(&cell[at[SPOT]], "False")) || !has_those_gpus(r, vendor, type, gpus)) {
		r->dropped++;
		return;
	}
	(void) trk__feed_rows_add(r, vendor, place, type, spot ? (double) NAN : usd,
				  spot ? usd : (double) NAN);
}

static int take_csv(struct trk_feed_rows *r, const char *vendor, const char *text, size_t len,
		    struct trk_error *reterr)
{
	static const char *const names[COLUMNS] = {"instance_name", "location", "price",
						   "gpu_count", "spot"};
	struct trk_feed_lines l = {text, text + len};
	struct trk_feed_cell cell[TRK_FEED_CELLS_MAX];
	size_t at[COLUMNS], n, most = 0;
	const char *line;

	if (!trk__feed_line(&l, &line, &n) ||
	    !trk__feed_columns(cell, trk__feed_split(line, n, cell), names, COLUMNS, at))
		return trk__error_set(reterr, -EBADMSG, "",
				      "the answer is no table with instance_name, location, price, "
				      "gpu_count and spot");
	for (size_t k = 0; k < COLUMNS; k++)
		most = at[k] > most ? at[k] : most;
	while (trk__feed_line(&l, &line, &n))
		if (trk__feed_split(line, n, cell) > most)
			take_row(r, vendor, cell, at);
	return 0;
}

int trk__feed_gpuhunt(struct trk_feed_rows *r, const char *vendor, const char *text, size_t len,
		      struct trk_error *reterr)
{
	struct trk_buf csv;
	char name[TRK_FEED_NAME_SIZE];
	int e;

	r->next[0] = '\0';
	if (r->page == 0)
		return take_version(r, vendor, text, len, reterr);
	r->page = 0; /* the next vendor's begins with a version again */
	(void) snprintf(name, sizeof(name), "%s.csv", vendor);
	trk__buf_init(&csv, CSV_MAX);
	e = trk__zip_read(text, len, name, &csv, reterr);
	if (e == 0)
		e = take_csv(r, vendor, csv.data ? csv.data : "", csv.len, reterr);
	trk__buf_release(&csv);
	return e;
}
