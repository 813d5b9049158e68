/* The public C API over the library's parts. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "record/reader.h"
#include "report/summary.h"
#include "resource_tracker.h"

enum { SUMMARY_MAX = 4 * 1024 * 1024 };

struct trk_recording {
	struct trk_record record;
	struct trk_sample *row; /* owned */
	size_t rows, cap;
	int error;
};

const char *trk_version(void)
{
	return TRK_BUILD_VERSION;
}

const char *trk_strerror(int code)
{
	return trk__strerror(code);
}

size_t trk_columns(void)
{
	return TRK_COLUMNS;
}

const char *trk_column_name(size_t column)
{
	return column < TRK_COLUMNS ? trk__columns[column].name : NULL;
}

const char *trk_column_unit(size_t column)
{
	return column < TRK_COLUMNS ? trk__columns[column].unit : NULL;
}

static int keep_row(void *data, uint64_t rows, const struct trk_sample *mean,
		    const struct trk_sample *min, const struct trk_sample *max)
{
	struct trk_recording *r = data;

	(void) rows;
	(void) min;
	(void) max;
	if (r->rows == r->cap) {
		size_t cap = r->cap ? r->cap * 2 : 256;
		struct trk_sample *bigger = realloc(r->row, cap * sizeof(*bigger));

		if (!bigger) {
			r->error = -ENOMEM;
			return 1;
		}
		r->row = bigger;
		r->cap = cap;
	}
	r->row[r->rows++] = *mean;
	return 0;
}

int trk_recording_open(const char *path, struct trk_recording **ret)
{
	struct trk_recording *r = calloc(1, sizeof(*r));
	int error;

	if (!r)
		return -ENOMEM;
	error = trk__record_read(AT_FDCWD, path, &r->record, keep_row, r, NULL);
	if (error < 0) {
		free(r->row);
		free(r);
		return error;
	}
	if (r->error) {
		error = r->error;
		trk_recording_free(r);
		return error;
	}
	*ret = r;
	return 0;
}

void trk_recording_free(struct trk_recording *recording)
{
	if (!recording)
		return;
	trk__record_release(&recording->record);
	free(recording->row);
	free(recording);
}

uint64_t trk_recording_samples(const struct trk_recording *recording)
{
	return recording->record.samples;
}

uint64_t trk_recording_damaged(const struct trk_recording *recording)
{
	return recording->record.damaged;
}

size_t trk_recording_rows(const struct trk_recording *recording)
{
	return recording->rows;
}

double trk_recording_value(const struct trk_recording *recording, size_t row, size_t column)
{
	if (row >= recording->rows || column >= TRK_COLUMNS)
		return NAN;
	return trk__sample_get(&recording->row[row], (int) column);
}

char *trk_recording_summary(const struct trk_recording *recording)
{
	struct trk_buf b;

	trk__buf_init(&b, SUMMARY_MAX);
	trk__summary_json(&b, &recording->record);
	if (b.error)
		trk__buf_release(&b);
	return b.data;
}
