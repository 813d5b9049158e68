/* CPU time of native functions (C, Rust, Go and others) of a job, from call chains that the kernel
 * samples (probe/linux/perf_sampler.h).
 *
 * Each thread that uses CPU time gets a sampler, 64 threads at most, in processes that live long
 * enough to be seen. Threads that switch often are left out: each switch would cost them about 4
 * us. An address is stored as an offset in the file that is mapped there, with the build id of the
 * file (trk__lines_native in model/lines.h); names and lines are looked up after the run
 * (lines/native.h). Generated code has the name that its compiler gave it (probe/stack/perf_map.h).
 *
 * In a process whose Python stacks are read, native code is placed below the Python line that its
 * thread was on at the nearest sample, and takes a part of that line's CPU time. */
#ifndef TRK_SAMPLE_NATIVE_H
#define TRK_SAMPLE_NATIVE_H

#include "base/env.h"
#include "model/lines.h"

enum { TRK_NATIVE_HZ = 49 };

/* The line of Python that a thread was on: false where its process is not read as Python. */
typedef bool trk_native_where_fn(void *data, pid_t pid, pid_t tid, uint64_t time_ns,
				 uint32_t *ret_lane, uint32_t *ret_node);

struct trk_native_options {
	bool base_names; /* keep the last part of a file's path only */
	trk_native_where_fn *where;
	void *data;                         /* of `where`; borrowed */
	struct trk_stacks_reading *reading; /* borrowed; may be NULL */
};

struct trk_native; /* opaque */

/* env and lines are borrowed until _free. NULL: no memory; the other functions accept that. */
struct trk_native *trk__native_new(const struct trk_env *env,
				   const struct trk_native_options *options,
				   struct trk_lines *lines, uint64_t start_ns);
void trk__native_free(struct trk_native *n);

/* The processes that the job consists of now. */
void trk__native_follow(struct trk_native *n, const pid_t *pid, size_t count, uint64_t now_ns);
/* Read the pending samples of the kernel; those outside Python processes are added to `window`. */
void trk__native_drain(struct trk_native *n, uint64_t now_ns, struct trk_lines_sums *window);
/* Move CPU time (in ns) of lines of a Python process to the native code below them. `last`: drop
 * samples for whose lines there is no CPU time. */
void trk__native_share(struct trk_native *n, pid_t pid, struct trk_lines_sums *second, bool last);
#endif
