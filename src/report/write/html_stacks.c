#include "report/write/html_stacks.h"

const char *trk__html_stacks_if(const struct trk_doc *d, const char *text)
{
	return trk__doc_first(d, TRK_BLOCK_STACKS) ? text : "";
}

void trk__html_stacks_begin(struct trk_buf *b, const struct trk_doc *d)
{
	if (!trk__doc_first(d, TRK_BLOCK_STACKS))
		return;
	trk__buf_puts(b, "<style>");
	trk__buf_puts(b, trk__lines_page_css);
	trk__buf_puts(b, "</style>");
}

void trk__html_stacks(struct trk_buf *b, const char *json)
{
	trk__buf_puts(
		b,
		"<div id=\"stacks\" hidden><h3>Stacks <span class=\"note\">width: CPU time; from "
		"the program down to what it called</span></h3>\n<div class=\"tools\">"
		"<button type=\"button\" class=\"whole\">Whole tree</button><input type=\"search\" "
		"placeholder=\"Search functions, files\" aria-label=\"Search functions, files\">"
		"<span role=\"status\"></span></div>\n<div class=\"icicle\" role=\"tree\" "
		"aria-label=\"Stacks by CPU time. Arrow keys move, Enter zooms in, Escape shows "
		"the "
		"whole tree, a slash searches.\"></div>\n<p class=\"note\"><span "
		"class=\"own\"></span> "
		"your code <span class=\"library\"></span> libraries. Select a box to zoom in; "
		"with a "
		"box in focus: arrow keys, Enter, Escape, and / to search.</p></div>\n"
		"<script type=\"application/json\" id=\"stacks-data\">");
	trk__buf_puts(b, json);
	trk__buf_puts(b, "</script>\n");
}

void trk__html_stacks_end(struct trk_buf *b, const struct trk_doc *d)
{
	if (!trk__doc_first(d, TRK_BLOCK_STACKS))
		return;
	trk__buf_puts(b, "<script>");
	trk__buf_puts(b, trk__lines_page_js);
	trk__buf_puts(b, "</script>\n");
}
