#include "frame/load.h"

#include <errno.h>
#include <stdlib.h>

#include "record/reader.h"

struct loading {
	struct trk_frame *frame;
	const int *columns;
	const bool *peaks;
	int rc;
};

static int take_row(void *data, uint64_t rows, const struct trk_sample *mean,
		    const struct trk_sample *min, const struct trk_sample *max)
{
	struct loading *l = data;
	double values[TRK_FRAME_COLUMNS_MAX];
	int rc;

	(void) rows;
	(void) min;
	for (size_t c = 0; c < l->frame->columns; c++) {
		bool peak = l->peaks && l->peaks[c];

		values[c] = trk__sample_get(peak ? max : mean, l->columns[c]);
	}
	rc = trk__frame_add(l->frame, trk__sample_get(mean, TRK_ELAPSED),
			    trk__sample_get(mean, TRK_INTERVAL), values);
	/* A row without a place in time (a damaged file) is left out. */
	if (rc == -EINVAL)
		return 0;
	l->rc = rc;
	return rc;
}

int trk__frame_load(int dirfd, const char *path, const int *columns, const bool *peaks,
		    size_t count, struct trk_frame *ret, struct trk_record *record,
		    struct trk_error *reterr)
{
	struct trk_frame frame;
	struct loading l = {&frame, columns, peaks, 0};
	struct trk_record *own = NULL;
	int rc;

	for (size_t c = 0; c < count; c++)
		if (columns[c] < 0 || columns[c] >= TRK_COLUMNS)
			return trk__error_set(reterr, -EINVAL, path, "no such column");
	rc = trk__frame_init(&frame, count);
	if (rc < 0)
		return trk__error_set(reterr, rc, path, "no room for the columns");
	if (!record) {
		own = calloc(1, sizeof(*own));
		record = own;
	}
	rc = record ? trk__record_read(dirfd, path, record, take_row, &l, reterr) : -ENOMEM;
	if (rc == 0 && (own || l.rc < 0))
		trk__record_release(record);
	free(own);
	if (rc == 0 && l.rc < 0)
		rc = trk__error_set(reterr, l.rc, path, "no room for the rows");
	if (rc < 0) {
		trk__frame_release(&frame);
		return rc;
	}
	*ret = frame;
	return 0;
}
