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

#include "probe/stack/mappings.h"
#include "probe/stack/perf_map.h"
#include "sample/process_files.h"

enum { TRK_NATIVE_HZ = 49 };

struct trk_sampled_process;
struct trk_stacks_reading;

/* Of a sampled process. Zero-initialised. */
struct trk_native_process {
	bool is_refused;
	uint64_t cpu_ns; /* at the last look */
	uint64_t look_ns, wait_ns;
	/* When the mappings and the names of generated code were read. */
	uint64_t maps_ns, names_ns;
	struct trk_mappings maps;
	struct trk_perf_map names;
	bool has_libpython;
	/* Samples below lines of Python until their CPU time is moved; sure_bytes is the node of
	 * the line. */
	struct trk_lines_sums below;
};

/* All borrowed. */
struct trk_native_options {
	bool base_names; /* keep the last part of a file's path only */
	const struct trk_process_files *files;
	struct trk_remote *remote; /* reads the memory of *remote_pid */
	pid_t *remote_pid;
	const struct trk_sampled_process *processes; /* TRK_SAMPLED_PROCESSES */
	struct trk_stacks_reading *reading;          /* may be NULL */
	struct trk_lines *lines;
};

struct trk_native; /* opaque */

/* NULL: no memory; the other functions accept that. */
struct trk_native *trk__native_new(const struct trk_native_options *options, uint64_t start_ns);
/* Call trk__native_drop for each process before. */
void trk__native_free(struct trk_native *n);

/* Look at the threads of a process if it used CPU time, at growing intervals. */
void trk__native_look(struct trk_native *n, struct trk_sampled_process *w, uint64_t now_ns);
/* It executes another program: its mappings are other ones. */
void trk__native_exec(struct trk_sampled_process *w);
/* Forget a process. */
void trk__native_drop(struct trk_native *n, struct trk_sampled_process *w);
/* Read the pending samples of the kernel; those outside Python processes are added to `window`. */
void trk__native_drain(struct trk_native *n, uint64_t now_ns, struct trk_lines_sums *window);
/* Move CPU time (in ns) of lines of Python in w->second to the native code below them. `last`: drop
 * samples for whose lines there is no CPU time. */
void trk__native_share(struct trk_sampled_process *w, bool last);
#endif
