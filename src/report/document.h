/* A document: the content of a page, a summary or an advice, in reading order.
 *
 * A head, then sections; a section is a list of blocks: sentences, tables, charts,
 * terms with their items. The functions of src/report/section fill it; the writers of
 * src/report/write turn it into HTML, Markdown, JSON or text for a terminal and add no figure of
 * their own, so that all of them agree.
 *
 * Texts are UTF-8 made for people; numbers are also given as values. Two pairs of marks are allowed
 * in a text: TRK_DOC_STRONG ... TRK_DOC_PLAIN for emphasis, and TRK_DOC_OUTSIDE ... TRK_DOC_INSIDE
 * around untrusted text (names, commands), whose control characters were removed before. Each
 * writer escapes all text for its format.
 *
 * All memory of a document is freed by trk__doc_release(). A failed allocation sets `error`; the
 * functions then continue with empty texts. */
#ifndef TRK_REPORT_DOCUMENT_H
#define TRK_REPORT_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/human.h"

#define TRK_DOC_STRONG  "\x01"
#define TRK_DOC_PLAIN   "\x02"
#define TRK_DOC_OUTSIDE "\x03"
#define TRK_DOC_INSIDE  "\x04"

enum {
	TRK_DOC_BUCKETS_MAX = 360, /* of a chart */
	TRK_DOC_STEPS = 4000,      /* of a chart's axis: values are multiples of top / steps */
	TRK_DOC_GAP = 4095,        /* nothing is known of this bucket */
	TRK_DOC_TICKS = 12,        /* of the axis of time, at most */
	TRK_DOC_LEVELS = 3,        /* of a chart's axis, above zero, at most */
	TRK_DOC_TIME_STEPS = 27,
	TRK_DOC_ODDS = 4,     /* maximum number of differences from the usual course */
	TRK_DOC_AREAS = 6,    /* programs of a chart: five and the rest */
	TRK_DOC_COLUMNS = 16, /* of a table, at most */
};

/* The script of the page gets these with the data of the charts (write/html.c). */
#define TRK_DOC_ABOVE_PEAK 1.15 /* end of an axis, to the peak of the job */
/* Steps of the axis of time up to a day, in s. */
extern const double trk__doc_time_steps[TRK_DOC_TIME_STEPS];

enum trk_tone {
	TRK_TONE_PLAIN,
	TRK_TONE_STRONG,
	TRK_TONE_GOOD,
	TRK_TONE_BAD,
	TRK_TONE_WARN,
	TRK_TONE_MUTED,
};

/* ---- tables ---- */

enum trk_cell_kind {
	TRK_CELL_TEXT,
	TRK_CELL_CODE,
	TRK_CELL_NUMBER,
	TRK_CELL_BAR, /* value: the peak as a share of the whole, second: the mean */
};

struct trk_doc_column {
	const char *key, *title; /* of the JSON; for people */
	enum trk_cell_kind kind;
};

struct trk_doc_cell {
	const char *text; /* NULL: nothing, shown as a dash */
	double value;     /* NaN: the text is all */
	double second;
	enum trk_tone tone;
};

struct trk_doc_table {
	const char *key, *title; /* title: NULL for a section's main table */
	const struct trk_doc_column *column;
	size_t columns, rows, cap;
	struct trk_doc_cell *cell; /* [rows][columns] */
	bool folded;               /* shown on demand */
	bool sortable;             /* rows by any column, in the page */
	size_t essential;          /* first columns that a narrow terminal keeps; 0: all */
	const uint8_t *rank;       /* or: it drops those of the highest rank first; 0: never */
	bool keeps_names;          /* a terminal never cuts the first column */
};

/* ---- charts, all on the document's axis of time ---- */

/* A bucket in steps of the chart's axis; TRK_DOC_GAP where nothing is known. */
struct trk_doc_steps {
	uint16_t min, avg, max;
};

/* Buckets of equal time. */
struct trk_doc_series {
	const char *name; /* "job", "whole machine" */
	const char *text; /* "mean 4.2, p95 6.9, peak 8.0"; NULL: no such series */
	double mean, p95, peak;
	bool is_job, has_band;
	uint16_t min[TRK_DOC_BUCKETS_MAX], avg[TRK_DOC_BUCKETS_MAX], max[TRK_DOC_BUCKETS_MAX];
	struct trk_doc_steps *fine; /* `finer` times as many buckets, for zooming */
	/* Of the column: its units per unit of the chart, its sum, and which. */
	double factor, sum;
	int column;
};

/* One program's part of the job's series: areas are stacked, the first at the bottom. */
struct trk_doc_area {
	const char *name; /* of the program, or "the rest" */
	const char *text; /* "mean 0.95, peak 2" */
	double mean, peak;
	int color; /* 1 to TRK_DOC_AREAS, the same in every chart; the last is the rest's */
	uint16_t low[TRK_DOC_BUCKETS_MAX], high[TRK_DOC_BUCKETS_MAX];
};

/* The usual course of the job: a band and its median. */
struct trk_doc_usual {
	uint16_t low[TRK_DOC_BUCKETS_MAX], middle[TRK_DOC_BUCKETS_MAX], high[TRK_DOC_BUCKETS_MAX];
};

struct trk_doc_chart {
	const char *key, *title, *unit;
	const char *summary;  /* one sentence, for screen readers */
	const char *top_text; /* end of the axis, which is that of the job's use */
	double top;
	struct {
		double at;
		const char *text; /* the highest with the unit */
	} level[TRK_DOC_LEVELS];
	size_t levels;
	double limit;           /* NaN: none */
	const char *limit_text; /* "8 GiB requested"; NULL: none */
	bool is_far;            /* the limit is above the axis */
	bool is_large;          /* CPU or memory: drawn larger */
	bool is_quiet;          /* nothing notable: a sentence replaces the chart */
	struct trk_doc_area *area;
	size_t areas;
	struct trk_doc_usual *usual; /* NULL: not known */
	size_t count;                /* of series: the job's first */
	struct trk_doc_series *series;
};

struct trk_doc_phase {
	const char *name, *text; /* text: how long it was */
	double from, to;         /* shares of the run, 0 to 1 */
};

/* ---- processes on the same axis ---- */

/* A process from start to end. */
struct trk_doc_bar {
	double from, to; /* shares of the run, 0 to 1 */
	double cpu_s, peak_mib;
	long pid;
	size_t row;       /* of its lane, from 0 */
	const char *text; /* "24.3 s CPU, 4.6 GiB: sort -R" */
	/* CPU cores over its lifetime, in steps of the lane's `cores`, for document buckets first
	 * to first + count; NULL: unknown. */
	uint16_t *use;
	size_t first, count;
};

/* A process too short for a bar unless the page is zoomed in. */
struct trk_doc_brief {
	double from, to; /* shares of the run */
	double cores;    /* mean CPU use */
};

/* A program or its workers: bars of its processes, or how many ran at once if they are too many, or
 * the CPU time of processes that no sample found. */
struct trk_doc_lane {
	const char *name;
	int color; /* as the areas' */
	uint64_t processes;
	double cpu_s, memory_mib;         /* of all; peak of the largest one, NaN: unknown */
	const char *count, *cpu, *memory; /* as text; count and memory may be NULL */
	double cores;                     /* of a bar's full height */
	bool is_divided;        /* CPU is divided among processes by their means: an estimate */
	const char *cores_text; /* "1 core" */
	size_t rows, bars;
	struct trk_doc_bar *bar;
	uint16_t *alive; /* per bucket: concurrent processes without a bar; NULL: none */
	unsigned int alive_most;
	/* processes counted in `alive`, as many as the page has room for */
	struct trk_doc_brief *brief;
	size_t briefs, others; /* others: processes counted in `alive` */
	uint16_t *use;         /* per bucket: CPU cores of the program, in steps of use_most */
	double use_most;
	struct trk_doc_bar *member; /* the largest ones, for the opened lane; row is unused */
	size_t members;
	const char *more; /* "and 355 more"; or NULL */
};

/* ---- other blocks ---- */

/* A part of a whole, such as of the run's time. */
struct trk_doc_part {
	const char *key, *name, *text; /* text: "71 %, 3.2 s" */
	double share, seconds;
};

/* Lines to paste. */
struct trk_doc_snippet {
	const char *kind, *title, *text;
};

/* A piece of a term, in up to three lengths: the longest that lets all pieces fit is shown. */
struct trk_doc_item {
	const char *text, *brief, *bare; /* brief, bare: NULL: same as the longer one */
	size_t later;                    /* further things that it names together */
};

/* Use of a resource compared with its capacity. */
struct trk_doc_meter {
	const char *mean, *peak, *unit; /* "0.95", "4.64", "GiB" */
	const char *had, *what;         /* "8", "requested"; had NULL: not known */
	double share;                   /* peak / had; NaN: not known */
};

/* A row of a summary: a name, and a meter or items. */
struct trk_doc_term {
	const char *name, *separator; /* separator of the items: " · ", " → " */
	struct trk_doc_item *item;
	size_t items, cap;
	const struct trk_doc_meter *meter; /* or NULL */
};

enum trk_block_kind {
	TRK_BLOCK_TEXT, /* a sentence */
	TRK_BLOCK_NOTE, /* small print */
	TRK_BLOCK_TABLE,
	TRK_BLOCK_PARTS,  /* of one whole: a bar with its legend */
	TRK_BLOCK_CHARTS, /* the document's */
	TRK_BLOCK_LANES,  /* the document's */
	TRK_BLOCK_SNIPPETS,
	TRK_BLOCK_TERM,
	TRK_BLOCK_STACKS, /* text: JSON for the page's chart of stacks (lines/tree.h) */
};

struct trk_doc_block {
	struct trk_doc_block *next;
	enum trk_block_kind kind;
	const char *text; /* of a text or note */
	union {
		struct trk_doc_table *table;
		struct trk_doc_term *term;
		const struct trk_doc_part *part;
		const struct trk_doc_snippet *snippet;
	};
	size_t count; /* of parts and snippets */
};

struct trk_doc_section {
	const char *key, *title;
	struct trk_doc_block *first, *last;
	bool empty; /* no data: it has one sentence */
};

struct trk_doc_chunk; /* of its memory */

struct trk_doc {
	/* The head. facts: duration, moment, place. */
	const char *job, *command, *id, *duration, *facts;
	const char *state; /* "✓ exit 0" */
	enum trk_tone state_tone;

	/* The lead sentence below the head. trouble: what the state means for the figures; NULL: no effect. */
	const char *symbol, *lead; /* one sentence or two */
	const char *basis, *trouble;
	enum trk_tone lead_tone;

	struct trk_doc_section *section;
	size_t sections;

	/* The axis of time, its phases and charts. */
	double start_s, duration_s; /* wall clock; seconds that the axis covers */
	size_t buckets, finer;      /* finer: buckets in `fine` per chart bucket */
	double interval_s;
	struct trk_doc_tick {
		double at; /* share of the run */
		const char *text;
	} tick[TRK_DOC_TICKS];
	size_t ticks;
	const char *first_text, *last_text; /* start and end in words */
	bool clock; /* ticks are times of day, not seconds since the start */
	bool dates; /* with the date before them */
	struct trk_doc_chart *chart;
	size_t charts;
	struct trk_doc_phase *phase;
	size_t phases;
	/* Where the run differs from the usual course: the number, in a chart, of a sentence. */
	struct {
		double at; /* share of the run */
		const char *key, *number;
	} odd[TRK_DOC_ODDS];
	size_t odds;
	struct trk_doc_lane *lane;
	size_t lanes, briefs; /* briefs: of all lanes */

	/* --embed-raw: the recording itself (borrowed). */
	const void *raw;
	size_t raw_len;

	double live_s, last_s;   /* of a running job: interval of page updates; last sample, wall
				* clock */
	const char *integration; /* what tracked the run; NULL: nothing but this program */
	const char *more;        /* a command that shows more, for the terminal; or NULL */

	struct trk_doc_chunk *chunk;
	struct trk_doc_table spare; /* used if allocating a table, a row or a term fails */
	struct trk_doc_cell spare_row[TRK_DOC_COLUMNS];
	struct trk_doc_term spare_term;
	int error;
};

void trk__doc_release(struct trk_doc *d);

/* ---- memory and texts ---- */

/* Zeroed; NULL without memory. */
void *trk__doc_alloc(struct trk_doc *d, size_t size);
/* Never NULL. */
const char *trk__doc_print(struct trk_doc *d, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Text from outside: at most `max` characters, each control or direction character as U+FFFD. */
const char *trk__doc_safe(struct trk_doc *d, const char *text, size_t max);
const char *trk__doc_safe_n(struct trk_doc *d, const char *text, size_t len, size_t max);
/* A value as text, "-" for NaN. */
const char *trk__doc_value(struct trk_doc *d, trk_human_fn *words, double value);
/* A text that is not empty, with its first letter in upper case. */
const char *trk__doc_upper(struct trk_doc *d, const char *text);
/* "2026-11-20 02:00", in local time; "" where it cannot be told. */
const char *trk__doc_local(struct trk_doc *d, double wall_s);
/* Text of a buffer; NULL if it is empty or failed. Releases the buffer. */
const char *trk__doc_take(struct trk_doc *d, struct trk_buf *b);
const char *trk__doc_date(struct trk_doc *d, unsigned int yyyymmdd);

/* ---- sections and blocks ---- */

/* The section of that key; NULL: none. */
const struct trk_doc_section *trk__doc_section(const struct trk_doc *d, const char *key);
/* The first block of a kind from `b` on; NULL: none. */
const struct trk_doc_block *trk__doc_next(const struct trk_doc_block *b, enum trk_block_kind kind);
/* The first of that kind in the whole document; NULL: none. */
const struct trk_doc_block *trk__doc_first(const struct trk_doc *d, enum trk_block_kind kind);

/* Sentences; nothing for an empty one. */
void trk__doc_text(struct trk_doc *d, struct trk_doc_section *s, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void trk__doc_note(struct trk_doc *d, struct trk_doc_section *s, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The one sentence of a section without data. */
void trk__doc_empty(struct trk_doc *d, struct trk_doc_section *s, const char *text);

/* Parts or snippets. */
void trk__doc_list(struct trk_doc *d, struct trk_doc_section *s, enum trk_block_kind kind,
		   const void *list, size_t count);
/* The document's charts or lanes, if it has any. */
void trk__doc_drawing(struct trk_doc *d, struct trk_doc_section *s, enum trk_block_kind kind);
/* The chart of stacks, which the page alone shows; nothing for NULL. */
void trk__doc_stacks(struct trk_doc *d, struct trk_doc_section *s, const char *json);

struct trk_doc_table *trk__doc_table(struct trk_doc *d, struct trk_doc_section *s, const char *key,
				     const char *title, const struct trk_doc_column *columns,
				     size_t count);
/* A fresh row of dashes; without memory one that is not in the table. */
struct trk_doc_cell *trk__doc_row(struct trk_doc *d, struct trk_doc_table *t);
/* A share of an axis in steps; TRK_DOC_GAP for NaN. */
uint16_t trk__doc_steps(double share);
/* Buckets of equal time as one. */
struct trk_doc_steps trk__doc_merge(const struct trk_doc_steps *bucket, size_t count);
/* Whether no row has anything in this column, which the writers then leave out. */
bool trk__doc_is_blank(const struct trk_doc_table *t, size_t column);
/* "mean 0.95, peak 4.64 cores of 8 requested" */
void trk__doc_meter_text(struct trk_buf *b, const struct trk_doc_meter *m);
struct trk_doc_cell trk__doc_cell(const char *text, double value);
/* A value and its text; a dash for NaN. */
struct trk_doc_cell trk__doc_figure(struct trk_doc *d, trk_human_fn *words, double value);
struct trk_doc_cell trk__doc_tone(struct trk_doc_cell cell, enum trk_tone tone);

/* A term; then its items, or its meter. */
struct trk_doc_term *trk__doc_term(struct trk_doc *d, struct trk_doc_section *s, const char *name,
				   const char *separator);
void trk__doc_item(struct trk_doc *d, struct trk_doc_term *t, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Add an item with shorter forms; NULL: same as the longer one. */
void trk__doc_item_of(struct trk_doc *d, struct trk_doc_term *t, struct trk_doc_item item);
/* Copies the meter. */
void trk__doc_meter(struct trk_doc *d, struct trk_doc_section *s, const char *name,
		    const struct trk_doc_meter *meter);

#endif
