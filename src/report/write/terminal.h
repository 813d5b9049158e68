/* A document as text for a terminal or a log of a given width.
 *
 * Colour marks the outcome, the verdict and the bars. Without UTF-8 the text is ASCII. Text that
 * exceeds a line is replaced by its shorter form, if it has one, and else continues on the next
 * line. A number and its unit stay on one line. */
#ifndef TRK_REPORT_WRITE_TERMINAL_H
#define TRK_REPORT_WRITE_TERMINAL_H

#include "report/document.h"

enum { TRK_TERMINAL_MIN = 40, TRK_TERMINAL_USUAL = 80, TRK_TERMINAL_MAX = 200 };

struct trk_terminal_style {
	size_t width; /* columns, brought into 40 to 200; 0: 80 */
	bool color, utf8;
};

void trk__write_terminal(struct trk_buf *b, const struct trk_doc *d,
			 const struct trk_terminal_style *style);

/* Lines of text, each wrapped; continuation lines are indented by two more columns. */
void trk__write_terminal_lines(struct trk_buf *b, const char *text,
			       const struct trk_terminal_style *style);
/* A table alone, with the titles of its columns; releases the document that has its texts. */
void trk__write_terminal_table(struct trk_buf *b, struct trk_doc *d,
			       const struct trk_doc_table *table,
			       const struct trk_terminal_style *style);

#endif
