#include "base/csv.h"

static const char *closing_quote(const char *at, const char *end)
{
	while (at < end && (*at != '"' || (at + 1 < end && at[1] == '"')))
		at += *at == '"' ? 2 : 1;
	return at < end ? at : NULL;
}

const char *trk__csv_cell(const char *at, const char *end, char delimiter, struct trk_csv_cell *ret)
{
	const char *stop = at;

	*ret = (struct trk_csv_cell){.at = at};
	if (at < end && *at == '"') {
		stop = closing_quote(at + 1, end);
		ret->is_quoted = 1;
		ret->at = at + 1;
		ret->state = stop ? TRK_CSV_GOOD : TRK_CSV_UNCLOSED;
		ret->len = (size_t) ((stop ? stop : end) - ret->at);
		if (!stop)
			return end;
		ret->bad_at = ++stop;
	}
	while (stop < end && *stop != delimiter && *stop != '\n')
		stop++;
	if (!ret->is_quoted)
		ret->len = (size_t) (stop - at) -
			   (stop > at && stop[-1] == '\r' && (stop == end || *stop == '\n'));
	else if (stop > ret->bad_at && *ret->bad_at != '\r')
		ret->state = TRK_CSV_AFTER;
	return stop;
}

size_t trk__csv_copy(const struct trk_csv_cell *cell, char *to)
{
	size_t n = 0;

	for (size_t i = 0; i < cell->len; i++) {
		to[n++] = cell->at[i];
		i += cell->is_quoted && cell->at[i] == '"';
	}
	to[n] = '\0';
	return n;
}
