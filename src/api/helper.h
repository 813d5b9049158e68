/* The sampler of the library: the resource-tracker program in a separate process, or a thread. Both
 * write rows into a recording, and exchange lines of track/control.h over a socket. */
#ifndef TRK_API_HELPER_H
#define TRK_API_HELPER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/file.h"
#include "resource_tracker.h"
#include "track/control.h"

enum { TRK_HELPER_TEXT_SIZE = 256, TRK_HELPER_ALERTS_MAX = 32 };

struct trk_helper {
	struct trk_control control;      /* its descriptor is owned */
	struct trk_fd_identity identity; /* of that descriptor */
	char program[256];               /* path of the started program; "": a thread */
	pid_t job_pid;                   /* of the program that runs the command; 0: none */
	bool is_temporary; /* the program removes its directory if the caller exits without a stop */
	bool threaded, joined;
	pthread_t thread;
	char *alert[TRK_HELPER_ALERTS_MAX]; /* owned JSON texts, not yet taken */
	size_t alerts;
};

/* Start it, with checked options, whose `dir` and `pid` (0: none) are set. Returns 0, or a negative
 * errno with a sentence in `error`. */
int trk__helper_start(struct trk_helper *h, const struct trk_tracker_options *o, bool is_temporary,
		      char error[TRK_HELPER_TEXT_SIZE]);
uint64_t trk__helper_interval_ns(const struct trk_tracker_options *o);

/* The descriptor for messages; -1: none. It is given up, not closed, if the host program has closed
 * it and uses its number for a file of its own. */
int trk__helper_fd(struct trk_helper *h);

/* Wait at most timeout_ms for the next line: 1, 0 on timeout, or -EPIPE when the sampler has
 * exited. Alerts are queued: the newest 32. */
int trk__helper_line(struct trk_helper *h, int timeout_ms, char line[TRK_CONTROL_LINE]);

/* The oldest queued alert: JSON text that the caller frees; NULL: none. */
char *trk__helper_alert(struct trk_helper *h);

/* Send "stop", unless it runs a command, and wait for its end. exit_code: of the job; -1: unknown.
 * Returns 0 or -ETIMEDOUT. */
int trk__helper_stop(struct trk_helper *h, int exit_code, int timeout_ms);

/* Close the descriptor: after a stop, or in a forked child, where the helper belongs to the
 * parent. */
void trk__helper_release(struct trk_helper *h);

#endif
