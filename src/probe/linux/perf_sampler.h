/* Call chains of one thread in user space, taken by the kernel while the thread runs.
 *
 * Source: perf_event_open(2), software event cpu-clock, user space only, with chains by frame
 * pointers (Linux 4.8+). The kernel takes a sample every 1/hz seconds of the thread's CPU time,
 * drops those in kernel mode, and writes them to a ring buffer that is shared with the reader.
 * Allowed without privilege unless kernel.perf_event_paranoid is 3 or more or a seccomp filter
 * forbids it; sampling another process requires permission to trace it (ptrace(2)). */
#ifndef TRK_PROBE_LINUX_PERF_SAMPLER_H
#define TRK_PROBE_LINUX_PERF_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { TRK_PERF_DEPTH = 32 };

struct trk_perf_sample {
	pid_t pid, tid;
	uint64_t time_ns;   /* monotonic clock */
	uint64_t period_ns; /* CPU time that the sample represents */
	/* The instruction pointer, then the return addresses found by frame pointers. Code without
	 * frame pointers ends the chain or adds a wrong address. */
	uint64_t address[TRK_PERF_DEPTH];
	unsigned int depth;
	bool is_cut; /* there may be more callers */
};

struct trk_perf_sampler {
	int fd;    /* -1: closed */
	void *map; /* owned */
};

#define TRK_PERF_SAMPLER_NONE ((struct trk_perf_sampler){.fd = -1})

/* Begin to sample a thread. 0 or a negative errno: -EACCES or -EPERM (refused), -ENOMEM (locked
 * memory), -EMFILE, -ESRCH. */
int trk__perf_sampler_open(struct trk_perf_sampler *ret, pid_t tid, unsigned int hz);
void trk__perf_sampler_close(struct trk_perf_sampler *s);

typedef void trk_perf_sample_fn(void *data, const struct trk_perf_sample *sample);
/* Call fn for each sample in the ring. *lost grows by the samples dropped because it was full. */
void trk__perf_sampler_drain(struct trk_perf_sampler *s, trk_perf_sample_fn *fn, void *data,
			     uint64_t *lost);

/* Parse the body of a PERF_RECORD_SAMPLE. Pure. 0 or -EBADMSG. */
int trk__perf_sample_parse(const void *body, size_t len, struct trk_perf_sample *ret);

#endif
