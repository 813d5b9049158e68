/* --output and --format: the samples of a run while they come. */
#ifndef TRK_CLI_SAMPLE_OUTPUT_H
#define TRK_CLI_SAMPLE_OUTPUT_H

#include "base/buf.h"
#include "base/env.h"
#include "cli/track_options.h"
#include "record/run.h"
#include "sample/detail.h"
#include "sample/sample.h"

enum sample_format {
	SAMPLE_CSV,   /* the 32 columns */
	SAMPLE_JSON,  /* JSON Lines of the sibling */
	SAMPLE_JSONL, /* JSON Lines, all columns */
};

struct sample_output {
	int fd; /* -1: none */
	const char *where;
	enum sample_format format;
	bool begun, failed;
	bool has_detail;
	struct trk_detail detail;
	struct trk_buf buf;
};

/* Open what the settings ask for; `out` stays valid for _release. Returns 0, or -1 after having
 * complained. */
int sample_output_open(struct sample_output *out, const struct track_settings *s,
		       const struct trk_env *env);
void sample_output_release(struct sample_output *out);
/* One row. A failure is said once; the job goes on. */
void sample_output_row(struct sample_output *out, const struct trk_run *run,
		       const struct trk_sample *row, const struct trk_gpu_reading *gpus);

#endif
