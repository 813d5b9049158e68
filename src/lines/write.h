/* Profiles as text, as JSON, and as the formats of flame graph tools. */
#ifndef TRK_LINES_WRITE_H
#define TRK_LINES_WRITE_H

#include "base/json.h"
#include "lines/profile.h"
#include "lines/source.h"

/* What a table shows in addition to its rows. */
struct trk_lines_table_style {
	size_t top; /* rows */
	bool utf8, color;
	struct trk_lines_source *source; /* borrowed; NULL: no source is shown */
	double cpu_s;                    /* of the whole run; NaN: unknown */
	const char *run;                 /* id; borrowed */
	const char *job;                 /* "": none */
};

/* A table for a terminal. */
void trk__lines_text(struct trk_buf *b, const struct trk_lines *l, const struct trk_profile *p,
		     const struct trk_profile_options *o,
		     const struct trk_lines_table_style *style);
/* Schema resource-tracker.lines/1. */
void trk__lines_json(struct trk_buf *b, const struct trk_lines *l, const struct trk_profile *p,
		     const struct trk_profile_options *o,
		     const struct trk_lines_table_style *style);

/* "file", "line" and "function" of a node, as members of the open object: those that rows of this
 * kind have. */
void trk__lines_place_json(struct trk_json *j, const struct trk_lines *l, uint32_t node,
			   enum trk_lines_by by);

/* One line per stack, "root;caller;line 1234", as flamegraph.pl and others read it: ms of CPU or of
 * wall time, or MiB of growth. */
void trk__lines_folded(struct trk_buf *b, const struct trk_lines *l,
		       const struct trk_profile_options *o);
/* The file format of https://www.speedscope.app, a profile for each thread. */
void trk__lines_speedscope(struct trk_buf *b, const struct trk_lines *l,
			   const struct trk_profile_options *o, const char *name);

/* "train.py:88 step()" for a node: the last part of its file, and its line; at most `size` bytes,
 * printable. Returns text. */
const char *trk__lines_name(const struct trk_lines *l, uint32_t node, char *text, size_t size);

#endif
