/* resource_tracker.h - what a batch job really used.
 *
 * The C library reads recordings that `resource-tracker run`, `attach` and `system` have made: their
 * summary, their statistics and their rows.
 *
 *     struct trk_recording *r;
 *     if (trk_recording_open("run.rtrk", &r) < 0) ...
 *     char *json = trk_recording_summary(r);   // the same document as `show --json`
 *     free(json);
 *     trk_recording_free(r);
 *
 * Errors: a function that can fail returns 0, or a negative errno or a negative code of this
 * library; trk_strerror() has its text. A failed call leaves its results untouched. The library
 * never prints, never exits, and touches neither locale, signals nor environment. Distinct objects
 * may be used by distinct threads. */
#ifndef RESOURCE_TRACKER_H
#define RESOURCE_TRACKER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Version of the library, "MAJOR.MINOR.PATCH". Static. */
const char *trk_version(void);

/* Text of an error code, negative or positive. Static, never NULL. */
const char *trk_strerror(int code);

/* The columns of a row: index 0 to trk_columns() - 1. */
size_t trk_columns(void);
/* Full name ("process_cpu_usage") and unit ("cores"); NULL past the end. Static. */
const char *trk_column_name(size_t column);
const char *trk_column_unit(size_t column);

/* A recording that was read; opaque. */
struct trk_recording;

/* Read a recording file: finished, still being written, or cut. Returns 0 and an object that the
 * caller frees, or a negative error: -ENOENT, or that the file is no recording, is of a newer
 * version, or is damaged from its first record on. Damaged records further on are skipped and
 * counted. */
int trk_recording_open(const char *path, struct trk_recording **ret);
void trk_recording_free(struct trk_recording *recording);

/* Rows that the recording stands for, and records that were skipped as damaged. */
uint64_t trk_recording_samples(const struct trk_recording *recording);
uint64_t trk_recording_damaged(const struct trk_recording *recording);

/* Number of rows that are stored (fewer than samples once old ones were merged). */
size_t trk_recording_rows(const struct trk_recording *recording);
/* One value in the column's unit; NaN when unknown, or when row or column is past the end. */
double trk_recording_value(const struct trk_recording *recording, size_t row, size_t column);

/* The summary, schema "resource-tracker.summary/1", as JSON text that the caller frees with free().
 * NULL without memory. */
char *trk_recording_summary(const struct trk_recording *recording);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
