/* Which lines of a run's programs used CPU time and memory: the table of the verb `lines` and of
 * the C API. */
#ifndef TRK_SERVICE_LINES_H
#define TRK_SERVICE_LINES_H

#include "base/buf.h"
#include "lines/profile.h"
#include "recording/reader.h"

/* The stacks of a run, with the names of its native code. */
struct trk_run_lines {
	const struct trk_record *record; /* borrowed */
	const struct trk_lines *lines;
	struct trk_lines *named; /* owned: those with names; NULL: the record's own */
};

/* 0 or -ENOMEM. The record has stacks. The caller releases, on success only. */
int trk__run_lines_read(const struct trk_record *record, struct trk_run_lines *ret);
void trk__run_lines_release(struct trk_run_lines *l);

/* Select the part of the run from the mark of this name to the next mark. 0; -TRK_ERR_NODATA: the run
 * has no such mark. */
int trk__run_lines_phase(const struct trk_record *record, const char *name,
			 struct trk_profile_options *o);

/* How the table is written. */
struct trk_run_lines_style {
	size_t top;  /* rows */
	bool json;   /* schema resource-tracker.lines/1; else a table for a terminal */
	bool source; /* in a table: also the text of the lines whose files are unchanged */
	bool utf8;   /* of the terminal */
};

/* Append the table. TRK_LINES_BY_PHASE needs no phases in *o: they are those of the run, from its
 * marks, else found by its figures. 0 or -ENOMEM. */
int trk__run_lines_write(const struct trk_run_lines *l, const struct trk_profile_options *o,
			 const struct trk_run_lines_style *style, struct trk_buf *b);

#endif
