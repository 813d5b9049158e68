/* Reading the memory of another process, through a callback and a small cache of pages.
 *
 * The process runs while it is read: a page is consistent only as far as the kernel copies it in
 * one piece, and two pages are copied at different moments. A reader must check the data. Tests and
 * fuzzers pass a callback that reads an image.
 *
 * One look at a process has a budget: steps, bytes and time. When it is spent, every further read
 * fails, so that loops over the memory of a process end, whatever it contains and however it
 * changes. A loop over copied data that is longer than a step charges it with _spend. */
#ifndef TRK_PROBE_STACK_REMOTE_H
#define TRK_PROBE_STACK_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/clock.h"

enum { TRK_REMOTE_PAGE = 4096, TRK_REMOTE_PAGES = 256, TRK_REMOTE_SLOTS = 512 };

/* The budget of one look. A usual one takes some hundred steps and 50 us of CPU time; the first one
 * at 2000 code objects some 400,000 steps and 20 MiB. The second time is monotonic: pages may arrive
 * late (swap, a file system). */
enum { TRK_REMOTE_LOOK_STEPS = 1 << 20, TRK_REMOTE_LOOK_BYTES = 32 << 20 };
#define TRK_REMOTE_LOOK_CPU_NS (25 * TRK_NS_PER_MS)
#define TRK_REMOTE_LOOK_NS     TRK_NS_PER_S

/* Copy len bytes at `addr` of the process to `to`, all or nothing. 0 or a negative errno. */
typedef int trk_remote_fn(void *data, uint64_t addr, void *to, size_t len);
struct iovec;
/* Copy ranges in order until one cannot be read. Returns the number of copied ranges. */
typedef size_t trk_remote_ranges_fn(void *data, const struct iovec *to, const struct iovec *from,
				    size_t count);

/* The part of a page that a sample used and the next sample reads ahead. */
struct trk_remote_part {
	uint64_t page; /* address */
	uint16_t from, to;
};

struct trk_remote_page {
	uint64_t addr;
	uint16_t from, to;           /* the part that was read */
	uint16_t used_from, used_to; /* the part used or read ahead, in whole cache lines */
	bool moves;                  /* used while trk_remote.moves was set */
	unsigned char bytes[TRK_REMOTE_PAGE];
};

/* About 1 MiB, of which only the pages that a sample needs are touched. One serves all processes,
 * which are read in turn. */
struct trk_remote {
	trk_remote_fn *read;
	trk_remote_ranges_fn *read_ranges; /* NULL: pages are read one by one */
	void *data;                        /* for the callbacks; borrowed */
	/* CPU time of this thread, and monotonic time. Tests replace them. */
	uint64_t (*cpu_ns)(void), (*monotonic_ns)(void);
	/* Spent since _begin, and about when that was. */
	uint64_t steps, bytes, begin_cpu_ns, begin_ns;
	bool is_spent;       /* the rest of the look fails with -E2BIG */
	uint64_t kept_bytes; /* of what was read: by the caches of all processes (cpython.h) */
	uint32_t reads;      /* calls of the callbacks since _begin */
	bool moves; /* set while reading data that changes with each instruction of the process */
	bool once;  /* set while reading data that is not read ahead the next time */
	uint32_t late; /* pages used with `moves` that were not read ahead, since _begin */
	size_t pages;
	uint16_t slot[TRK_REMOTE_SLOTS]; /* a hash table: 1 + index of a page; 0: empty */
	struct trk_remote_page page[TRK_REMOTE_PAGES];
};

void trk__remote_init(struct trk_remote *r, trk_remote_fn *read, void *data);
/* Begin a look at a process: empty the cache, with a new budget. */
void trk__remote_begin(struct trk_remote *r);
/* Empty the cache, to read again what has changed. The look continues. */
void trk__remote_again(struct trk_remote *r);
/* Charge work on data that was read. 0, or -E2BIG if the budget is spent. */
int trk__remote_spend(struct trk_remote *r, uint64_t steps);
/* List the cached parts, those with `moves` first (*ret_moving of them). Returns their number. */
size_t trk__remote_parts(const struct trk_remote *r, struct trk_remote_part part[TRK_REMOTE_PAGES],
			 size_t *ret_moving);
/* Read parts ahead in one system call: a sample needs mostly the same data as the one before. Whole
 * pages would cost more, as each cache line may be in the cache of another CPU. */
void trk__remote_prefetch(struct trk_remote *r, const struct trk_remote_part *part, size_t count);
/* Copy a small object through the cache. 0, -EFAULT, -E2BIG, or another negative errno. */
int trk__remote_get(struct trk_remote *r, uint64_t addr, void *to, size_t len);
/* Copy without the cache, for data that is larger than a page or needed once. */
int trk__remote_copy(struct trk_remote *r, uint64_t addr, void *to, size_t len);

/* One word; 0 where it cannot be read. */
uint64_t trk__remote_u64(struct trk_remote *r, uint64_t addr);
uint32_t trk__remote_u32(struct trk_remote *r, uint64_t addr);

/* Callbacks for a real process, using process_vm_readv(2) (Linux 3.2); data points to its pid_t.
 * -EPERM when the kernel denies access, -ESRCH when the process is gone. */
int trk__remote_process(void *data, uint64_t addr, void *to, size_t len);
size_t trk__remote_process_ranges(void *data, const struct iovec *to, const struct iovec *from,
				  size_t count);

#endif
