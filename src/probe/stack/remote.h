/* Reading the memory of another process, through a callback and a small cache of pages.
 *
 * The process goes on while it is read: a page is a consistent copy only as far as the kernel
 * copies it in one piece, and two pages are of two moments. A reader checks what it finds. Tests
 * and fuzzers pass a callback over an image of their own. */
#ifndef TRK_PROBE_STACK_REMOTE_H
#define TRK_PROBE_STACK_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { TRK_REMOTE_PAGE = 4096, TRK_REMOTE_PAGES = 256, TRK_REMOTE_SLOTS = 512 };

/* Copy len bytes at `addr` of the process to `to`, all or nothing. 0 or a negative errno. */
typedef int trk_remote_fn(void *data, uint64_t addr, void *to, size_t len);
struct iovec;
/* Copy several ranges, as many from the first on as can be read: their number. */
typedef size_t trk_remote_ranges_fn(void *data, const struct iovec *to, const struct iovec *from,
				    size_t count);

/* The part of a page that a sample used, and that the next one reads ahead. */
struct trk_remote_part {
	uint64_t page; /* address */
	uint16_t from, to;
};

struct trk_remote_page {
	uint64_t addr;
	uint16_t from, to;           /* what was read of it */
	uint16_t used_from, used_to; /* what was used or read ahead, in whole cache lines */
	bool moves;                  /* it was used while trk_remote.moves */
	unsigned char bytes[TRK_REMOTE_PAGE];
};

/* About 1 MiB, of which only the pages that a sample needs are touched: one for all processes that
 * are read in turn. */
struct trk_remote {
	trk_remote_fn *read;
	trk_remote_ranges_fn *read_ranges; /* NULL: pages are read one by one */
	void *data;                        /* of the callbacks; borrowed */
	uint32_t reads;                    /* calls of the callbacks since _begin */
	bool moves;    /* what is read now changes from instruction to instruction of the process */
	bool once;     /* what is read now is not to be read ahead */
	uint32_t late; /* pages of that kind that were not read ahead, since _begin */
	size_t pages;
	uint16_t slot[TRK_REMOTE_SLOTS]; /* a hash table: 1 + index of a page; 0: empty */
	struct trk_remote_page page[TRK_REMOTE_PAGES];
};

void trk__remote_init(struct trk_remote *r, trk_remote_fn *read, void *data);
/* Forget the pages: what follows is read anew. */
void trk__remote_begin(struct trk_remote *r);
/* What the cache holds, pages that move first, and how many of these there are; returns how many in
 * all. */
size_t trk__remote_parts(const struct trk_remote *r, struct trk_remote_part part[TRK_REMOTE_PAGES],
			 size_t *ret_moving);
/* Read ahead, in one system call: what the last sample used is most of what the next one needs.
 * Parts of pages, as each line that is copied may be in the cache of another CPU. */
void trk__remote_prefetch(struct trk_remote *r, const struct trk_remote_part *part, size_t count);
/* Through the cache, for what is small. 0, -EFAULT, or another negative errno. */
int trk__remote_get(struct trk_remote *r, uint64_t addr, void *to, size_t len);
/* Past the cache, for what is larger than a page or needed once. */
int trk__remote_copy(struct trk_remote *r, uint64_t addr, void *to, size_t len);

/* One word; 0 where it cannot be read. */
uint64_t trk__remote_u64(struct trk_remote *r, uint64_t addr);
uint32_t trk__remote_u32(struct trk_remote *r, uint64_t addr);

/* The callback for a real process, by process_vm_readv(2) (Linux 3.2): data is the address of its
 * pid_t. -EPERM where the kernel refuses, -ESRCH when the process is gone. */
int trk__remote_process(void *data, uint64_t addr, void *to, size_t len);
size_t trk__remote_process_ranges(void *data, const struct iovec *to, const struct iovec *from,
				  size_t count);

#endif
