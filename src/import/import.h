/* Converts runs that other tools have recorded into recordings, which all verbs can read.
 *
 * What the file does not contain stays unknown. Totals name the tool as their source and how they
 * were measured: the largest process of a tree, or the largest sample, is a lower bound of a peak.
 * The id of a run is a hash of its content, so a second import of the same file adds nothing. */
#ifndef TRK_IMPORT_IMPORT_H
#define TRK_IMPORT_IMPORT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum trk_import_format {
	TRK_IMPORT_UNKNOWN = -1,
	TRK_IMPORT_SNAPSHOT,   /* JSON of the Python package, 0.4 and 0.5 */
	TRK_IMPORT_TABLE,      /* its CSV files, and the CSV of its sibling */
	TRK_IMPORT_JSON_LINES, /* of the sibling */
	TRK_IMPORT_GNU_TIME,   /* time -v */
	TRK_IMPORT_SNAKEMAKE,  /* benchmark: tables */
	TRK_IMPORT_NEXTFLOW,   /* -with-trace */
	TRK_IMPORT_SACCT,      /* sacct -P */
	TRK_IMPORT_AUTOMETRIC, /* log of the R package */
	TRK_IMPORT_FORMATS
};

/* Maximum size of a file, which is loaded as a whole. */
#define TRK_IMPORT_MAX_BYTES ((size_t) 512 << 20)

struct trk_import {
	int runs_fd;      /* of trk__store_open; borrowed */
	const char *file; /* for messages, and as the job's name if no other is known */
	const char *job;  /* NULL: taken from the file */
	/* modification time of the file: the end of runs without their own time */
	uint64_t time_ns;
	/* NULL, or called from time to time with the number of bytes read so far. */
	void (*on_progress)(void *data, uint64_t done, uint64_t total);
	void *data;
};

struct trk_import_result {
	enum trk_import_format format;
	size_t runs;    /* added */
	size_t known;   /* already present */
	size_t skipped; /* rows without usable values */
};

/* Detect the format of a text. */
enum trk_import_format trk__import_detect(const char *text, size_t len);

/* Convert `text` (NUL-terminated, modified) into runs. format TRK_IMPORT_UNKNOWN: detect it. Runs
 * that were added before an error are kept. Returns 0; -EBADMSG with file and line; -TRK_ERR_NODATA
 * when it has no run; -TRK_ERR_FORMAT for an unknown format; or a write error. */
int trk__import_text(const struct trk_import *import, char *text, size_t len,
		     enum trk_import_format format, struct trk_import_result *ret,
		     struct trk_error *reterr);

const char *trk__import_name(enum trk_import_format format);
/* A format by its name; -2 for an unknown name. */
int trk__import_find(const char *name);

/* Load and import the file that `import` names. time_ns 0: the time at which the file was last
 * changed; it may be compressed with gzip. The errors of trk__import_text; -EFBIG past
 * TRK_IMPORT_MAX_BYTES; -TRK_ERR_UNSUPPORTED for gzip without libz.so.1; -EBADMSG for a damaged one;
 * each with the file in *reterr. */
int trk__import_file(const struct trk_import *import, enum trk_import_format format,
		     struct trk_import_result *ret, struct trk_error *reterr);

#endif
