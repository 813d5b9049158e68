/* The report: everything that a page says about one run, as one struct, and three writers over it
 * (HTML, Markdown, JSON). A writer adds no figure of its own, so the three agree.
 *
 * A report is sections in a fixed order; a section is sentences, tables and, for the timeline, charts.
 * Texts are UTF-8 made for people, and numbers stand beside them as values. Three marks are allowed in
 * a text: TRK_REPORT_STRONG ... TRK_REPORT_PLAIN, and TRK_REPORT_OUTSIDE ... TRK_REPORT_INSIDE around
 * what came from outside (names, commands), which has no control characters left by then. Each writer
 * escapes for its own format, everything and always. */
#ifndef TRK_REPORT_REPORT_H
#define TRK_REPORT_REPORT_H

#include "advise/server.h"
#include "base/buf.h"
#include "history/history.h"
#include "record/reader.h"
#include "report/advice.h"
#include "report/change.h"

#define TRK_REPORT_STRONG  "\x01"
#define TRK_REPORT_PLAIN   "\x02"
#define TRK_REPORT_OUTSIDE "\x03"
#define TRK_REPORT_INSIDE  "\x04"

enum {
	TRK_REPORT_BUCKETS_MAX = 360, /* of a chart */
	TRK_REPORT_FINER_MAX = 12,    /* each of them is kept as so many, for a closer look */
	TRK_REPORT_FINE_MAX = TRK_REPORT_BUCKETS_MAX * TRK_REPORT_FINER_MAX,
	TRK_REPORT_STEPS = 4000, /* of a chart's axis: values are multiples of top / steps */
	TRK_REPORT_GAP = 4095,   /* nothing is known of this bucket */
	TRK_REPORT_LINES_MAX = 8,
	TRK_REPORT_TABLES_MAX = 3,
	TRK_REPORT_TICKS = 5,
};

/* ---- what a report is made of ---- */

enum trk_report_tone {
	TRK_TONE_PLAIN,
	TRK_TONE_STRONG,
	TRK_TONE_GOOD,
	TRK_TONE_BAD,
	TRK_TONE_WARN,
	TRK_TONE_MUTED,
};

enum trk_report_kind {
	TRK_CELL_TEXT,
	TRK_CELL_CODE,
	TRK_CELL_NUMBER,
	TRK_CELL_BAR, /* value: the peak as a share of the whole, second: the mean */
};

struct trk_report_column {
	const char *key, *title; /* of the JSON; for people */
	enum trk_report_kind kind;
};

struct trk_report_cell {
	const char *text; /* NULL: nothing, shown as a dash */
	double value;     /* NaN: the text is all */
	double second;
	enum trk_report_tone tone;
};

struct trk_report_table {
	const char *key, *title; /* title: NULL for a section's main table */
	const struct trk_report_column *column;
	size_t columns, rows, cap;
	struct trk_report_cell *cell; /* [rows][columns] */
	bool folded;                  /* shown on demand */
};

struct trk_report_section {
	const char *key, *title;
	const char *line[TRK_REPORT_LINES_MAX]; /* sentences above the tables */
	size_t lines;
	const char *note[TRK_REPORT_LINES_MAX]; /* and below */
	size_t notes;
	struct trk_report_table table[TRK_REPORT_TABLES_MAX];
	size_t tables;
	bool empty; /* no data: the one line says so */
};

enum trk_report_part {
	TRK_PART_SIZING,
	TRK_PART_WALL,
	TRK_PART_TIMELINE,
	TRK_PART_CHANGED,
	TRK_PART_PROCESSES,
	TRK_PART_SERVERS,
	TRK_PART_MACHINE,
	TRK_PART_MEASURED,
	TRK_PARTS
};

/* Buckets of equal time; TRK_REPORT_GAP where nothing is known. */
struct trk_report_series {
	const char *name; /* "job", "whole machine" */
	const char *text; /* "mean 4.2, p95 6.9, peak 8.0"; NULL: no such series */
	double mean, p95, peak;
	bool is_job, has_band;
	uint16_t min[TRK_REPORT_BUCKETS_MAX], avg[TRK_REPORT_BUCKETS_MAX],
		max[TRK_REPORT_BUCKETS_MAX];
	/* Where the values come from: the fill of its buckets, in the column's unit (borrowed from the
	 * rows), how many of these make one of the chart's, and the column. */
	const struct trk_chart_fill *fill;
	double factor;
	int column;
};

struct trk_report_chart {
	const char *key, *title, *unit;
	const char *summary;  /* one sentence for who does not see it */
	const char *top_text; /* label of the axis' end */
	double top;
	double limit;           /* NaN: none, or far above the axis */
	const char *limit_text; /* NULL: none */
	size_t count;           /* of series: the job's first */
	struct trk_report_series series[2];
};

enum { TRK_REPORT_CHARTS_MAX = 12 };

struct trk_report_phase {
	const char *name, *text; /* text: how long it was */
	double from, to;         /* shares of the run, 0 to 1 */
};

struct trk_report_wall {
	const char *key, *name, *text; /* "71 %" */
	double share, seconds;
	bool known;
};

struct trk_report_snippet {
	const char *kind, *title, *text;
};

struct trk_report_chunk; /* of its memory */

struct trk_report {
	/* The head. */
	const char *job, *command, *id, *facts; /* facts: duration, moment, place */
	const char *state_key, *state;          /* "finished"; "✓ finished, exit 0" */
	enum trk_report_tone state_tone;
	/* The verdict. */
	const char *sizing;        /* "over-provisioned" */
	const char *symbol, *lead; /* one sentence or two */
	const char *basis,
		*trouble; /* trouble: what the state means for the figures; NULL: nothing */
	enum trk_report_tone verdict_tone;
	double request_cpu, request_memory_mib, request_gpus, request_vram_mib, cost_usd, paid_usd;

	struct trk_report_section part[TRK_PARTS];
	struct trk_report_snippet snippet[16];
	size_t snippets;
	struct trk_report_wall wall[TRK_WALL_ITEMS];
	size_t walls;

	/* The timeline. */
	double start_s, duration_s; /* wall clock; seconds that the axis covers */
	size_t buckets, finer;      /* each bucket is so many in `fill` */
	double interval_s;
	const char *tick[TRK_REPORT_TICKS];
	bool clock; /* ticks are times of day, not seconds since the start */
	bool dates; /* with the date before them */
	struct trk_report_chart *chart;
	size_t charts;
	struct trk_report_phase *phase;
	size_t phases;

	/* --embed-raw: the recording itself (borrowed). */
	const void *raw;
	size_t raw_len;

	struct trk_report_chunk *chunk;
	double live_s,
		last_s; /* of a run that goes on: see the input; its last sample, wall clock */
	int error;
};

/* ---- gathering the charts ---- */

/* Takes the rows of a recording in one pass, in constant memory. The row function is for
 * trk__record_read, after a first pass has told how long the run was. */
struct trk_report_rows;
/* NULL without memory. */
struct trk_report_rows *trk__report_rows_new(const struct trk_record *record);
void trk__report_rows_free(struct trk_report_rows *rows);
trk_row_fn trk__report_rows_take;

/* ---- making it ---- */

/* Where the run took place and what was paid; texts may be NULL, an unknown price NaN. */
struct trk_report_place {
	const char *vendor, *region, *server;
	double usd_per_hour;
};

struct trk_report_fact {
	const char *name, *text;
};

struct trk_report_input {
	const struct trk_record *record;
	const struct trk_report_rows *rows; /* or NULL: no timeline */
	const struct trk_past *runs;        /* of the job, oldest first, this run the last */
	size_t count;
	const struct trk_busy *busy;           /* busy cores over time; NULL: from the statistics */
	const struct trk_catalog *catalog;     /* or NULL: no servers */
	const struct trk_report_place *place;  /* or NULL: not known */
	const struct trk_report_fact *machine; /* what is known of the server and the cloud */
	size_t machine_facts;
	const struct trk_change *change;   /* since earlier runs, for its phases; or NULL */
	const struct trk_wall_facts *wall; /* or NULL: what the samples tell */
	const void *raw;                   /* of the recording, to embed; or NULL */
	size_t raw_len;
	double live_s; /* not 0: the page is made again so often while the run goes on */
};

/* 0 or -ENOMEM. The caller releases, on success only; what the input points to must live as long. */
int trk__report_make(const struct trk_report_input *in, struct trk_report *ret);
void trk__report_release(struct trk_report *r);

/* The runs of the job up to this one, oldest first, this run the last; without a history (NULL) this
 * one alone. Owned: the caller frees *ret. 0 or -ENOMEM. */
int trk__report_runs(struct trk_history *h, const struct trk_record *record, struct trk_past **ret,
		     size_t *ret_count);

/* What a report of a file rests on beside it; all borrowed. */
struct trk_report_source {
	const struct trk_catalog *catalog; /* or NULL: no servers */
	struct trk_history *history;       /* or NULL: the run stands alone */
	bool embed_raw;
};

/* A file read and made into a report. 0 or a negative error. */
int trk__report_of_file(int dirfd, const char *path, const struct trk_report_source *from,
			struct trk_buf *b, const char *format, struct trk_error *reterr);

/* ---- writing it ---- */

void trk__report_html(struct trk_buf *b, const struct trk_report *r);
void trk__report_markdown(struct trk_buf *b, const struct trk_report *r);
/* Schema "resource-tracker.report/1". */
void trk__report_json(struct trk_buf *b, const struct trk_report *r);
/* By name: html, md, json. -EINVAL for another. */
int trk__report_write(struct trk_buf *b, const struct trk_report *r, const char *format);

#endif
