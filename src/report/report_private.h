/* What the files of the report share: its memory, its words, and its parts. */
#ifndef TRK_REPORT_REPORT_PRIVATE_H
#define TRK_REPORT_REPORT_PRIVATE_H

#include "catalog/needs.h"
#include "report/course.h"
#include "report/report.h"

#define MIB 1048576.0

/* ---- memory: everything lives as long as the report; a failure is kept in r->error ---- */

/* Zeroed; NULL without memory. */
void *trk__report_alloc(struct trk_report *r, size_t size);
/* Never NULL. */
const char *trk__report_print(struct trk_report *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Text from outside: at most `max` characters, each control or direction character as U+FFFD. */
const char *trk__report_safe(struct trk_report *r, const char *text, size_t max);
const char *trk__report_safe_n(struct trk_report *r, const char *text, size_t len, size_t max);

/* A sentence above or below the tables. */
void trk__report_line(struct trk_report_section *s, const char *text);
void trk__report_note(struct trk_report_section *s, const char *text);
/* The one line of a section without data. */
void trk__report_empty(struct trk_report_section *s, const char *text);

struct trk_report_table *trk__report_table(struct trk_report_section *s, const char *key,
					   const char *title,
					   const struct trk_report_column *columns, size_t count);
/* A fresh row of dashes. NULL without memory. */
struct trk_report_cell *trk__report_row(struct trk_report *r, struct trk_report_table *t);
struct trk_report_cell trk__report_cell(const char *text, double value);
struct trk_report_cell trk__report_tone(struct trk_report_cell cell, enum trk_report_tone tone);

/* ---- words ---- */

/* "4.2", "0.05", "1234": as many digits as tell. "-" for NaN. */
const char *trk__report_number(struct trk_report *r, double value);
/* The same, but whole numbers without a fraction: what was asked for, not measured. */
const char *trk__report_amount(struct trk_report *r, double value);
const char *trk__report_percent(struct trk_report *r, double share);
const char *trk__report_change(struct trk_report *r, double share); /* "+6.7 %" */
const char *trk__report_memory(struct trk_report *r, double mib);
const char *trk__report_bytes(struct trk_report *r, double bytes);
const char *trk__report_seconds(struct trk_report *r, double seconds);
const char *trk__report_usd(struct trk_report *r, double usd);
/* "2026-11-20 02:00 UTC". */
const char *trk__report_moment(struct trk_report *r, double wall_s);
/* "2026-11-20 02:00:17 UTC". */
const char *trk__report_second(struct trk_report *r, double wall_s);
const char *trk__report_date(struct trk_report *r, unsigned int yyyymmdd);

/* ---- parts ---- */

/* What the parts need beside the input. */
struct trk_report_work {
	const struct trk_report_input *in;
	struct trk_advice advice; /* of this run and the earlier ones; raised, never lowered, by a
				   * run that did not end well */
	bool has_advice, ended_well, held_cpu, held_memory;
	double cpu_limit, memory_limit; /* requested, else the limit; NaN: none */
	const char *cpu_limit_name,
		*memory_limit_name; /* "requested", "limit", "in this machine" */
	double cpu_peak, memory_peak;
	struct trk_column_stats cpu, memory;
	struct trk_server_advice servers;
	struct trk_needs needs; /* of the next run, for the servers */
	bool has_servers;
	struct trk_run_cost paid;
	bool has_paid;
	struct trk_course course;
	bool has_course;
	int here; /* index of the present server, or -1 */
	double here_region;
};

/* Fill in->place (by *place) and in->machine from the recording, where the caller gave none. */
void trk__report_place_of(struct trk_report *r, struct trk_report_input *in,
			  struct trk_report_place *place);
void trk__report_state(struct trk_report *r, const struct trk_report_work *w);
void trk__report_verdict(struct trk_report *r, const struct trk_report_work *w);
void trk__report_sizing(struct trk_report *r, const struct trk_report_work *w);
void trk__report_wall_time(struct trk_report *r, const struct trk_report_work *w);
void trk__report_timeline(struct trk_report *r, const struct trk_report_work *w);
void trk__report_changes(struct trk_report *r, const struct trk_report_work *w);
void trk__report_processes(struct trk_report *r, const struct trk_report_work *w);
void trk__report_find_servers(struct trk_report_work *w);
void trk__report_servers(struct trk_report *r, const struct trk_report_work *w);
void trk__report_machine(struct trk_report *r, const struct trk_report_work *w);
void trk__report_gpus(struct trk_report *r, const struct trk_record *record,
		      struct trk_report_section *s);
void trk__report_measured(struct trk_report *r, const struct trk_report_work *w);

/* What the rows told beside the charts. */
struct trk_report_gaps {
	size_t gaps, clock_back;
	double gap_s;
};
struct trk_report_gaps trk__report_rows_gaps(const struct trk_report_rows *rows);

/* A bucket in steps of its chart's axis; TRK_REPORT_GAP where too little is known. width_s: of one of
 * the `count` that it is made of; top: in the column's unit. */
struct trk_report_steps {
	uint16_t min, avg, max;
};
struct trk_chart_fill;
struct trk_report_steps trk__report_steps(const struct trk_chart_fill *f, size_t first,
					  size_t count, double width_s, double top);

/* The charts as SVG without a style of their own: one chart, the strip of phases, a bullet bar, the
 * bar of wall time. */
void trk__report_svg_chart(struct trk_buf *b, const struct trk_report *r,
			   const struct trk_report_chart *c);
void trk__report_svg_phases(struct trk_buf *b, const struct trk_report *r);
void trk__report_svg_bar(struct trk_buf *b, double peak, double mean);
void trk__report_svg_wall(struct trk_buf *b, const struct trk_report *r);
/* Text with the three marks, escaped for HTML. */
void trk__report_html_text(struct trk_buf *b, const char *text);

/* The charts' values for the page's script: as fine as there is room for in a page. */
void trk__report_html_data(struct trk_buf *b, const struct trk_report *r);

/* What the build made of web/report. */
extern const char trk__report_css[], trk__report_js[];
extern const char trk__report_css_hash[], trk__report_js_hash[]; /* "sha256-..." */

#endif
