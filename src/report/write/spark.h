/* Bars and curves made of characters. */
#ifndef TRK_REPORT_WRITE_SPARK_H
#define TRK_REPORT_WRITE_SPARK_H

#include "report/document.h"

/* A bar of `cells` characters, of which `share` (0 to 1) is filled: in eighths with `utf8`, else of
 * # and dots. */
void trk__spark_bar(struct trk_buf *b, double share, size_t cells, bool utf8);
/* A curve at most `cells` characters wide: each shows the maximum of `value` (in TRK_DOC_STEPS)
 * over its buckets, in eighths; blank where `known` is TRK_DOC_GAP. Without `utf8` from '.' to
 * '#'. */
void trk__spark_steps(struct trk_buf *b, const uint16_t *known, const uint16_t *value,
		      size_t buckets, size_t cells, bool utf8);

#endif
