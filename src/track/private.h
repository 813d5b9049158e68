/* Shared by track.c (loop and ticks), track_setup.c (set-up before the first tick), track_events.c
 * (children, signals, control messages), takeover.c (threads) and terminate.c (the end of all processes
 * at a limit). */
#ifndef TRK_TRACK_PRIVATE_H
#define TRK_TRACK_PRIVATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/blocking.h"
#include "base/file.h"
#include "track/control.h"
#include "track/discovery.h"
#include "track/terminate.h"
#include "track/enforce.h"
#include "track/finish.h"
#include "track/job.h"
#include "track/limits.h"
#include "track/lines.h"
#include "track/track.h"
#include "recording/writer.h"

enum { OLD_CHILDREN_MAX = 64 };

struct track {
	const struct trk_track_options *options;
	struct trk_track_result *result;
	struct trk_record *record;
	struct trk_env env;
	struct trk_job job;
	struct trk_reader *reader;   /* owned; NULL: no reading can block */
	struct trk_sampler *sampler; /* owned */
	struct trk_writer *writer;   /* owned; NULL: no recording */
	struct trk_finish finish;
	struct trk_limits limits;
	double cores_held;  /* largest CPU limit so far */
	unsigned int moves; /* of the job to other control groups */
	pid_t newest;       /* process of the tree whose group was read last */
	struct trk_control control;
	struct trk_fd_identity control_identity;
	struct trk_discovery discovery;
	struct trk_track_lines lines;
	int runs_fd, timer_fd, pid_fd, marks_fd;
	uint64_t spawn_ns; /* just before the job was started; 0: attached */
	uint64_t start_ns, next_ns, state_ns;
	struct trk_enforce enforce;
	struct trk_termination ending;
	/* children of the tracker before the job, inherited over an exec */
	pid_t old_child[OLD_CHILDREN_MAX];
	int old_children;
	size_t stuck_said; /* stuck processes that were reported */
	bool root_reaped, stop;
	bool has_more_children; /* that changed state, perhaps */
	bool is_last;           /* the row that is taken is the last one */
	bool has_proc;          /* /proc shows the processes under the pids that they have here */
	bool unarmed;           /* the timer could not be set: the loop polls the clock */
	/* takeover.c */
	struct trk_tracking_thread *thread; /* the one that tracks */
	int step;                           /* of the run */
	int begin_error;                    /* nothing was tracked: a negative errno */
	int guard_fd;                       /* timer: the thread is late; or -1 */
	bool is_abandoned;                  /* a thread is blocked, or was */
	bool is_storage_blocked, storage_said;
	atomic_bool is_done;
	bool is_lost; /* as of on_lost */
	int wait_status;
	uint64_t gpus_ns; /* of the GPU reading that was recorded last */
	int64_t gpus_us;  /* and when, since the start */
};

/* Children that the process had before it executed the tracker (sh -c 'x & exec resource-tracker
 * …') are not the job's. */
void trk__track_note_old_children(struct track *t);
bool trk__track_is_old_child(const struct track *t, pid_t pid);
void trk__track_describe(struct track *t);
void trk__track_open_recording(struct track *t);
/* Call first: sets has_proc. */
void trk__track_look_at_proc(struct track *t);
/* For the job, or for the attached process. 0 or a negative errno. */
int trk__track_open_sampler(struct track *t);
/* Report the first reading to the program that started the tracker: its use is counted completely
 * from now on. */
void trk__track_announce(struct track *t);

/* Has the job moved to another control group? */
void trk__track_follow_group(struct track *t);

void trk__track_read_marks(struct track *t);
void trk__track_read_control(struct track *t);
void trk__track_reap(struct track *t, pid_t pid);
/* Handle children that changed state, and set has_more_children if there may be more. Before the job
 * is reaped, the tree is walked once more: a zombie still shows its CPU time and bytes. */
void trk__track_look_at_children(struct track *t);
void trk__track_handle_signals(struct track *t);

/* takeover.c: go through the steps of the run in a thread of its own. If that thread is blocked by
 * reading about a process, or by writing the recording, another one goes on. */
void trk__track_guarded(struct track *t);
/* Wake the guard if this thread is still at work some time after `at_ns`. */
void trk__track_guard(struct track *t, uint64_t at_ns);
/* The descriptors of the tracker are lost: as of on_lost. Does not return. */
void trk__track_lost(struct track *t);
/* track.c: the steps from t->step on. */
void trk__track_work(struct track *t);
/* The thread was abandoned in the current step: prepare the next one. */
void trk__track_resume(struct track *t, enum trk_blocking_kind kind);

/* terminate.c: send TERM or KILL to all processes of the job. */
void trk__termination_begin(struct track *t, int signo);
/* Call after each event: also send it to processes that were not found before. */
void trk__termination_step(struct track *t);
/* True while processes are being ended. */
bool trk__termination_goes_on(const struct trk_termination *e);
void trk__termination_release(struct trk_termination *e);

#endif
