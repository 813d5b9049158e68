/* Tracking one run from start to end: the loop of ticks, signals and children.
 *
 * One thread does all of it, in the order of a list of steps. The calling thread guards it: if it is
 * blocked by reading about a process, or by writing the recording, another thread goes on
 * (base/blocking.h). Ticks are absolute deadlines on the monotonic clock, so that they do not drift; a
 * deadline that has passed by a whole interval is counted as missed and skipped. */
#ifndef TRK_TRACK_TRACK_H
#define TRK_TRACK_TRACK_H

#include "base/env.h"
#include "base/mask.h"
#include "track/discovery.h"
#include "track/enforce.h"
#include "model/run.h"
#include "sample/sampler.h"
#include "sample/stacks.h"

/* A message to the user while the job runs: a limit is near or reached. */
typedef void trk_track_word_fn(void *data, const char *text);

/* Called with each row, in order, after it was added to the record; sampler: what made it. */
typedef void trk_track_row_fn(void *data, const struct trk_record *record,
			      const struct trk_sample *row, struct trk_sampler *sampler);

/* Called once before the recording ends, when all else is known: set record->place.cost. */
typedef void trk_track_cost_fn(void *data, struct trk_record *record);

/* Called when the tracker receives SIGUSR1, a request for the status of the job. With run, the job
 * receives the signal too, as without the tracker. */
typedef void trk_track_status_fn(void *data, const struct trk_record *record);

struct trk_track_options {
	char *const *argv; /* run: the command, NULL-terminated */
	/* run: after the start of the job, redirect the tracker's standard streams to /dev/null, so
	 * that the reader of a pipe sees its end when the job closes it. */
	bool release_stdin, release_stdout;
	pid_t pid; /* attach: the process; 0 with argv NULL: the whole machine */
	const char *job;
	const char *scope;                  /* see struct trk_run; NULL: none */
	const struct trk_quantity *request; /* TRK_REQUESTS of them, or NULL */
	const char *tags;                   /* key=value, each ended by a NUL */
	size_t tags_len;
	uint64_t interval_ns;
	bool one_process;
	bool no_system; /* the process tree only */
	/* run: make a control group for the job */
	enum trk_own_group {
		TRK_OWN_GROUP_NEVER,
		TRK_OWN_GROUP_BELOW, /* where it can be a child of the tracker's, and no limit applies */
		TRK_OWN_GROUP_AUTO, /* wherever it can be made */
	} own_group;
	bool unlisted; /* this and the next: see struct trk_run */
	uint64_t input_bytes;
	enum trk_redaction redaction; /* of command lines */
	bool renice;                  /* set the nice value below once the job has started */
	int nice;
	struct trk_enforce limits; /* run: enforced on the job */
	uint64_t duration_ns;      /* system, attach: end after this time; 0: none */
	enum trk_gpu_mode gpu;
	const struct trk_gpu_hints *gpu_hints; /* not in a thread of a host program */
	double pss_share;                      /* negative: the default of 0.5 % of a core */
	const char *dir;                       /* of recordings; NULL: write none */
	int control_fd; /* see track/control.h; -1: none; the caller closes it */
	bool in_thread; /* in a thread of a host program: do not touch its signals and children */
	/* May be NULL: in a thread, the host program has closed the descriptors; does not
	 * return. */
	void (*on_lost)(void *data);
	trk_track_row_fn *on_row;       /* may be NULL */
	trk_track_word_fn *on_word;     /* may be NULL */
	trk_track_cost_fn *on_cost;     /* may be NULL */
	trk_track_status_fn *on_status; /* may be NULL */
	bool lines;                     /* sample stacks */
	struct trk_stacks_options stacks;
	struct trk_discovery_options discovery;
	void *data;
};

struct trk_track_result {
	struct trk_record record; /* the caller releases */
	bool started;             /* run: the job was started */
	bool exec_failed;
	int sampling_error;      /* run: why nothing was sampled although the job ran; or 0 */
	int recording_error;     /* 0, or why the recording is missing or incomplete */
	uint64_t recording_lost; /* records */
	char recording_where[4352];
};

/* Track until the end. Returns 0 (see result->record.outcome for how it ended), or a negative errno
 * when nothing was tracked: exec failure, no such process. result is set in both cases. */
int trk__track(const struct trk_env *env, const struct trk_track_options *options,
	       struct trk_track_result *result);

#endif
