/* --output and --format: write each sample of a run when it is taken. */
#ifndef TRK_CLI_SAMPLE_OUTPUT_H
#define TRK_CLI_SAMPLE_OUTPUT_H

#include "base/buf.h"
#include "cli/track_options.h"
#include "model/run.h"
#include "sample/sampler.h"
#include "model/sample.h"
#include "export/sibling.h"
#include "export/table.h"

enum sample_format {
	SAMPLE_CSV,   /* the 33 columns of the sibling */
	SAMPLE_JSON,  /* JSON Lines of the sibling */
	SAMPLE_JSONL, /* JSON Lines, all columns */
};

struct sample_output {
	int fd; /* -1: none */
	const char *where;
	enum sample_format format;
	bool begun, failed;
	struct trk_table_lead lead;
	struct trk_sibling_line line;
	bool has_rates;           /* the row to come: of disks and interfaces */
	struct trk_buf buf, only; /* only: a run of one row, as JSON */
	size_t sent;              /* bytes at the begin of buf; not 0 after an abandoned write */
	bool has_waited;          /* for its storage */
};

/* Open the output that the settings name. Returns 0, or -1 after a complaint. The caller releases
 * in each case. */
int sample_output_open(struct sample_output *out, const struct track_settings *s);
void sample_output_release(struct sample_output *out);
/* Write one row. A failure is reported once; the job continues. */
void sample_output_row(struct sample_output *out, const struct trk_run *run,
		       const struct trk_sample *row, struct trk_sampler *sampler);
/* Finish the output after the last row. */
void sample_output_end(struct sample_output *out);

/* True if the samples go to stderr: they are read by a program then, and no text for people
 * follows. */
bool sample_output_is_on_stderr(const struct track_settings *s);

#endif
