#include "model/columns.h"

#include <string.h>

const struct trk_column_info trk__columns[TRK_COLUMNS] = {
#define TRK_COLUMN(id, name, unit, kind, ...)                                                      \
	[TRK_##id] = {name, unit, TRK_KIND_##kind, __VA_ARGS__},
#include "model/columns.def"
#undef TRK_COLUMN
};

int trk__column_find(const char *name)
{
	for (int i = 0; i < TRK_COLUMNS; i++)
		if (!strcmp(trk__columns[i].name, name))
			return i;
	return -1;
}
