/* The columns of a sample: identity, names, units. Generated from columns.def. */
#ifndef TRK_MODEL_COLUMNS_H
#define TRK_MODEL_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

enum trk_column {
#define TRK_COLUMN(id, ...) TRK_##id,
#include "model/columns.def"
#undef TRK_COLUMN
	TRK_COLUMNS
};

enum trk_column_kind {
	TRK_KIND_STAMP,
	TRK_KIND_GAUGE,
	TRK_KIND_DELTA,
	TRK_KIND_RATE,
};

struct trk_column_info {
	const char *name;
	const char *unit;
	enum trk_column_kind kind;
	int64_t divisor; /* shown = stored / divisor */
	unsigned int decimals;
	const char *name_05, *name_04; /* "" where the set lacks the column */
	int64_t divisor_04;
	unsigned int decimals_04;
	const char *description;
};

extern const struct trk_column_info trk__columns[TRK_COLUMNS];

/* Index of a full name, or -1. */
int trk__column_find(const char *name);

#endif
