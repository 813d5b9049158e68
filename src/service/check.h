/* Checks of the machine and of this installation: what works, from which source, and what to do if
 * not. For the verbs `doctor` and `self`. */
#ifndef TRK_SERVICE_CHECK_H
#define TRK_SERVICE_CHECK_H

#include <stddef.h>

#include "base/env.h"
#include "model/run.h"
#include "probe/gpu/gpu.h"
#include "recording/reader.h"
#include "service/service.h"

/* PART: works with limits; in an installation, an optional part is missing. */
enum trk_check_state { TRK_CHECK_GOOD, TRK_CHECK_PART, TRK_CHECK_BAD };

struct trk_check {
	const char *what; /* static */
	enum trk_check_state state;
	char text[512]; /* the source of the figures; of an installation, what was found */
	char hint[320]; /* how to permit it; "": nothing to do */
};

enum { TRK_CHECKS_MAX = 20 };

/* Check what can be measured on this machine; `dir`: the state directory. Takes up to 3 s where
 * there is a GPU. Returns the number of checks, or the error of reading /proc. */
int trk__machine_check(const char *dir, const struct trk_gpu_hints *hints,
		       struct trk_check list[TRK_CHECKS_MAX]);

/* Fill in a check of this installation: its state and what was found. */
__attribute__((format(printf, 4, 5))) void trk__check_fill(struct trk_check *f, const char *what,
							   enum trk_check_state state,
							   const char *format, ...);

/* The check that a small job can be tracked. Systems that do not track say so. */
void trk__installation_check_job(struct trk_check *f, const char *tmp);

/* Track a small job with its recording in a new folder below `tmp`, which is removed again. Returns
 * the number of checks. */
size_t trk__installation_check(const struct trk_service *s, const char *tmp,
			       struct trk_check list[TRK_CHECKS_MAX]);

/* Copy the program to DIR/resource-tracker, with links to it at DIR/bin/bash and DIR/bin/sh. 0 or a
 * negative errno. */
int trk__installation_copy(const char *dir, struct trk_error *reterr);

/* ---- runs of this program under its own tracker ---- */

/* Make an empty folder below `base`. Returns 0, or a negative errno: `path` then is the folder that
 * could not be made. trk__remove_tree() removes it. */
int trk__scratch_folder(char *path, size_t size, const char *base);

/* Track this program with these arguments (at most 14, NULL at the end) as a job of the name `job`,
 * with a minimal environment and without configuration, and read the recording, which is written
 * into `folder`. Its standard output is out_fd (-1: discarded). Returns 0, a negative
 * errno (-EBADMSG: the recording cannot be read), or the exit status of the tracker; the caller
 * releases *record where it is 0. */
int trk__own_run(const char *folder, const char *job, const char *const *arguments, int out_fd,
		 struct trk_record *record);

#endif
