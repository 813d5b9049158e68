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

enum { TRK_REMOTE_PAGE = 4096, TRK_REMOTE_PAGES = 32 };

/* Copy len bytes at `addr` of the process to `to`, all or nothing. 0 or a negative errno. */
typedef int trk_remote_fn(void *data, uint64_t addr, void *to, size_t len);
struct iovec;
/* Copy whole pages, as many from the first on as can be read: their number. */
typedef size_t trk_remote_pages_fn(void *data, const struct iovec *to, const struct iovec *from,
				   size_t count);

struct trk_remote_page {
	uint64_t addr;
	uint32_t epoch; /* of the cache when it was read */
	bool moves;     /* it was used while trk_remote.moves */
	unsigned char bytes[TRK_REMOTE_PAGE];
};

/* About 128 KiB: one for all processes that are read in turn. */
struct trk_remote {
	trk_remote_fn *read;
	trk_remote_pages_fn *read_pages; /* NULL: pages are read one by one */
	void *data;                      /* of the callbacks; borrowed */
	uint32_t epoch;
	uint32_t reads; /* calls of the callback since _begin */
	bool moves;    /* what is read now changes from instruction to instruction of the process */
	uint32_t late; /* pages of that kind that were not read ahead, since _begin */
	struct trk_remote_page page[TRK_REMOTE_PAGES];
};

void trk__remote_init(struct trk_remote *r, trk_remote_fn *read, void *data);
/* Forget the pages: what follows is read anew. */
void trk__remote_begin(struct trk_remote *r);
/* The addresses of the pages that the cache holds, those that move first, and how many of these
 * there are; returns how many in all. */
size_t trk__remote_pages(const struct trk_remote *r, uint64_t addr[TRK_REMOTE_PAGES],
			 size_t *ret_moving);
/* Read pages ahead, in one system call: those of the last sample are most of those of the next. */
void trk__remote_prefetch(struct trk_remote *r, const uint64_t *addr, size_t count);
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
size_t trk__remote_process_pages(void *data, const struct iovec *to, const struct iovec *from,
				 size_t count);

#endif
