#include "service/known_work.h"

#include <math.h>
#include <string.h>

#include "base/json_read.h"

double trk__known_work_figure(const char *line, size_t len, enum trk_total total)
{
	TRK_JSON_DOC_CLEANUP struct trk_json_doc doc = {.values = NULL};
	struct trk_error error;

	if (trk__json_read(line, len, NULL, "", &doc, &error) < 0)
		return NAN;
	return trk__json_get_double(&doc, trk__json_root(&doc), trk__total_keys[total]);
}

const struct trk_known_work *trk__known_work_find(const char *name)
{
	for (const struct trk_known_work *w = trk__known_works; w->name; w++)
		if (!strcmp(name, w->name))
			return w;
	return NULL;
}
