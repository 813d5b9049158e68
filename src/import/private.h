/* Shared by the readers of src/import. */
#ifndef TRK_IMPORT_PRIVATE_H
#define TRK_IMPORT_PRIVATE_H

#include "base/json_read.h"
#include "import/import.h"
#include "recording/writer.h"

/* State of an import, and the run being written. */
struct trk_importing {
	const struct trk_import *import;
	const char *tool; /* source of the totals */
	struct trk_import_result *result;
	struct trk_error *reterr;
	struct trk_writer *writer; /* owned; NULL between runs, and for a run that exists already */
	struct trk_run run;
	struct trk_outcome outcome;
	struct trk_sample last;
	uint64_t hash;
	const char *text; /* all of it: `len` bytes, borrowed */
	size_t len;
	unsigned int rows_since_progress;
	bool no_gpu;                /* zeros in GPU columns mean that there is no GPU */
	bool is_stated[TRK_TOTALS]; /* stated by the file: not replaced by a total of the samples */
};

/* Begin a run: clears run and outcome. The job is named as the user stated, else `job`, else (NULL
 * or empty) after the file. */
void trk__imp_clear(struct trk_importing *i, const char *job);
/* Add data that identifies the run to the hash from which its id is made. */
void trk__imp_key(struct trk_importing *i, const void *data, size_t len);
/* Write the start of the run: i->run.start_ns must be set. 0 (also for a run that exists already),
 * or an error. */
int trk__imp_begin(struct trk_importing *i);
/* Report that the text was read up to `at`. Call for each row. */
void trk__imp_progress(struct trk_importing *i, const char *at);
/* Write one row, in which elapsed time and interval must be set. */
int trk__imp_row(struct trk_importing *i, const struct trk_sample *s);
int trk__imp_mark(struct trk_importing *i, double elapsed_s, const char *name);
int trk__imp_end(struct trk_importing *i);
/* The error of a run that could not be written: the first one, in *i->reterr as well. */
int trk__imp_failed(struct trk_importing *i, int r);
/* Delete a recording that could not be finished: the next import writes it again. */
void trk__imp_drop(struct trk_importing *i);

/* A run of which only totals are known, from i->run.start_ns on. It has one row with the CPU time
 * and the bytes, so that means are correct. */
struct trk_imp_totals {
	double duration_s, user_s, system_s, cpu_s; /* NaN: not known */
	double peak_mib;
	const char *peak_is; /* why it is a lower bound: "largest process" */
	double read_bytes, write_bytes;
	double request_cpu, request_mib, request_s;
	int code; /* -1: not known */
	int signal;
	enum trk_end end;
};

#define TRK_IMP_TOTALS_UNKNOWN                                                                     \
	{                                                                                          \
		NAN, NAN, NAN, NAN, NAN, "", NAN, NAN, NAN, NAN, NAN, -1, 0, TRK_END_EXITED        \
	}

int trk__imp_totals(struct trk_importing *i, const struct trk_imp_totals *t);
/* Set the totals of i->outcome, except those that the file states. cpu_is and others_are: why they
 * are lower bounds. */
void trk__imp_add_totals(struct trk_importing *i, const struct trk_imp_totals *t, double cpu_s,
			 const char *cpu_is, const char *others_are);

/* Set the start of a run of which the file was written at the end. */
void trk__imp_ends_with_file(struct trk_importing *i, double duration_s);
/* Report a line that is no row of a table. Returns -EBADMSG. */
int trk__imp_bad_table(struct trk_importing *i, unsigned long line);

/* Seconds since 1970, to the nearest microsecond, in ns; 0 for earlier times. */
uint64_t trk__imp_ns(double seconds);

/* Set a column from a value in its unit. */
void trk__imp_set(struct trk_sample *s, int column, double value);

int trk__imp_snapshot(struct trk_importing *i, char *text, size_t len);
int trk__imp_table(struct trk_importing *i, char *text, size_t len);
int trk__imp_json_lines(struct trk_importing *i, char *text, size_t len);
int trk__imp_gnu_time(struct trk_importing *i, char *text, size_t len);
int trk__imp_snakemake(struct trk_importing *i, char *text, size_t len);
int trk__imp_nextflow(struct trk_importing *i, char *text, size_t len);
int trk__imp_sacct(struct trk_importing *i, char *text, size_t len);
int trk__imp_autometric(struct trk_importing *i, char *text, size_t len);

/* What a snapshot of the Python package holds apart from its samples: how the job ended, its totals,
 * where it ran, its phases. Missing fields keep the values from the samples.
 *
 * Set i->run and i->outcome. Call before the first row. */
void trk__about_run(struct trk_importing *i, const struct trk_json_doc *d);
/* Seconds that the first row covers, from its time on the wall clock; NaN: not known. */
double trk__about_first_interval(const struct trk_json_doc *d, double first_s);
/* Write the machine, the cloud and the phases. Call after the start of the run was written. 0 or a
 * write error. */
int trk__about_place(struct trk_importing *i, const struct trk_json_doc *d);

#endif
