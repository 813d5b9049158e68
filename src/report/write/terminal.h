/* A document as text for a terminal or a log of a given width.
 *
 * Colour marks the outcome, the lead and the bars. Without UTF-8 the text is ASCII. Text that
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

/* A text while it is written, line by line. */
struct trk_terminal {
	struct trk_buf *b;       /* borrowed */
	size_t width, at, lines; /* at: current column */
	bool color, utf8;
	struct trk_buf text; /* scratch */
};

struct trk_terminal trk__terminal_start(struct trk_buf *b, const struct trk_terminal_style *style);
/* Report a lack of memory to the buffer, and release the scratch. */
void trk__terminal_finish(struct trk_terminal *t);
/* Write on the current line. */
void trk__terminal_put(struct trk_terminal *t, const char *text);
/* Write words from the current column on, and end the line; further lines begin at `indent`. */
void trk__terminal_line(struct trk_terminal *t, const char *text, size_t indent);
/* A mark in its colour, which also the words up to the first colon or full stop have. Nothing for
 * an empty text. */
void trk__terminal_mark(struct trk_terminal *t, const char *mark, const char *text,
			enum trk_tone tone);
/* A blank line, a title, and more about it on its line, or below where there is no room. */
void trk__terminal_title(struct trk_terminal *t, const char *title, const char *more);
/* A table; on a narrow terminal without some of its columns, or as cards. */
void trk__terminal_table(struct trk_terminal *t, const struct trk_doc_table *table);

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
