#include "probe/stack/remote.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

enum {
	CACHE_LINE = 64,
	STEPS_TIMED = 256, /* between two looks at the clocks */
	STEPS_READ = 32,   /* a system call, in steps */
};

void trk__remote_init(struct trk_remote *r, trk_remote_fn *read, void *data)
{
	memset(r, 0, offsetof(struct trk_remote, page));
	r->read = read;
	r->data = data;
	r->cpu_ns = trk__clock_thread_cpu_ns;
	r->monotonic_ns = trk__clock_monotonic_ns;
	trk__remote_begin(r);
}

static void forget_pages(struct trk_remote *r)
{
	r->pages = 0;
	memset(r->slot, 0, sizeof(r->slot));
}

void trk__remote_again(struct trk_remote *r)
{
	r->late = 0;
	r->moves = r->once = false;
	forget_pages(r);
}

void trk__remote_begin(struct trk_remote *r)
{
	trk__remote_again(r);
	r->reads = 0;
	r->steps = r->bytes = 0;
	r->is_spent = false;
	r->begin_cpu_ns = r->begin_ns = 0;
}

/* Whether the time of the look is over. It counts from the first STEPS_TIMED on, as reading the CPU
 * clock takes a tenth of the time of a short look. */
static bool is_over(struct trk_remote *r)
{
	uint64_t cpu_ns = r->cpu_ns(), ns = r->monotonic_ns();

	if (!r->begin_ns) {
		r->begin_cpu_ns = cpu_ns;
		r->begin_ns = ns;
	}
	return cpu_ns - r->begin_cpu_ns > TRK_REMOTE_LOOK_CPU_NS ||
	       ns - r->begin_ns > TRK_REMOTE_LOOK_NS;
}

int trk__remote_spend(struct trk_remote *r, uint64_t steps)
{
	bool is_timed = r->steps % STEPS_TIMED + steps >= STEPS_TIMED;

	r->steps += steps;
	if (!r->is_spent)
		r->is_spent = r->steps > TRK_REMOTE_LOOK_STEPS ||
			      r->bytes > TRK_REMOTE_LOOK_BYTES || (is_timed && is_over(r));
	return r->is_spent ? -E2BIG : 0;
}

/* The slot of a page, or an empty slot for it; there are more slots than pages. */
static uint16_t *slot_of(struct trk_remote *r, uint64_t addr)
{
	size_t i = (size_t) (addr / TRK_REMOTE_PAGE * UINT64_C(0x9e3779b97f4a7c15) >> 32);

	for (;; i++) {
		uint16_t *slot = &r->slot[i % TRK_REMOTE_SLOTS];

		if (*slot == 0 || r->page[*slot - 1].addr == addr)
			return slot;
	}
}

size_t trk__remote_parts(const struct trk_remote *r, struct trk_remote_part part[TRK_REMOTE_PAGES],
			 size_t *ret_moving)
{
	size_t n = 0;

	for (int moves = 1; moves >= 0; moves--) {
		for (size_t i = 0; i < r->pages; i++) {
			const struct trk_remote_page *p = &r->page[i];

			if (p->moves == moves && p->used_from < p->used_to)
				part[n++] =
					(struct trk_remote_part){p->addr, p->used_from, p->used_to};
		}
		if (moves)
			*ret_moving = n;
	}
	return n;
}

void trk__remote_prefetch(struct trk_remote *r, const struct trk_remote_part *part, size_t count)
{
	struct iovec to[TRK_REMOTE_PAGES], from[TRK_REMOTE_PAGES];
	size_t done;

	if (!r->read_ranges || count == 0 || r->pages + count > TRK_REMOTE_PAGES ||
	    trk__remote_spend(r, STEPS_READ) < 0)
		return;
	for (size_t i = 0; i < count; i++) {
		size_t len = (size_t) (part[i].to - part[i].from);

		to[i] = (struct iovec){r->page[r->pages + i].bytes + part[i].from, len};
		from[i] = (struct iovec){(void *) (uintptr_t) (part[i].page + part[i].from), len};
		r->bytes += len;
	}
	r->reads++;
	done = r->read_ranges(r->data, to, from, count);
	for (size_t i = 0; i < done && i < count; i++) {
		struct trk_remote_page *p = &r->page[r->pages++];

		p->addr = part[i].page;
		p->from = p->used_from = part[i].from;
		p->to = p->used_to = part[i].to;
		p->moves = false;
		*slot_of(r, p->addr) = (uint16_t) r->pages;
	}
}

int trk__remote_copy(struct trk_remote *r, uint64_t addr, void *to, size_t len)
{
	/* No user address has its highest bits set, but the sum of two invalid values may. */
	if (addr < TRK_REMOTE_PAGE || addr > (uint64_t) 1 << 56 || len > (size_t) 1 << 30)
		return -EFAULT;
	r->bytes += len;
	if (trk__remote_spend(r, STEPS_READ) < 0)
		return -E2BIG;
	r->reads++;
	return r->read(r->data, addr, to, len);
}

/* Add an unread page to the cache. */
static struct trk_remote_page *add_page(struct trk_remote *r, uint64_t addr)
{
	struct trk_remote_page *p;

	if (r->pages == TRK_REMOTE_PAGES)
		forget_pages(r);
	p = &r->page[r->pages++];
	p->addr = addr;
	p->used_from = TRK_REMOTE_PAGE;
	p->used_to = 0;
	p->moves = false;
	*slot_of(r, addr) = (uint16_t) r->pages;
	return p;
}

/* Get the page at `addr` with its bytes [from, to), from the cache or by reading. */
static int get_page(struct trk_remote *r, uint64_t addr, size_t from, size_t to,
		    struct trk_remote_page **ret)
{
	uint16_t slot = *slot_of(r, addr);
	struct trk_remote_page *p = slot ? &r->page[slot - 1] : add_page(r, addr);
	size_t lines_from = from / CACHE_LINE * CACHE_LINE;
	size_t lines_to = (to + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;

	if (!slot || from < p->from || to > p->to) {
		int error;

		p->from = p->to = 0;
		error = trk__remote_copy(r, addr, p->bytes, sizeof(p->bytes));
		if (error < 0)
			return error;
		p->to = TRK_REMOTE_PAGE;
		r->late += r->moves;
	}
	*ret = p;
	if (r->once)
		return 0;
	if (lines_from < p->used_from)
		p->used_from = (uint16_t) lines_from;
	if (lines_to > p->used_to)
		p->used_to = (uint16_t) lines_to;
	p->moves |= r->moves;
	return 0;
}

int trk__remote_get(struct trk_remote *r, uint64_t addr, void *to, size_t len)
{
	unsigned char *at = to;

	if (len > (size_t) 4 * TRK_REMOTE_PAGE)
		return trk__remote_copy(r, addr, to, len);
	while (len > 0) {
		size_t offset = addr % TRK_REMOTE_PAGE, part = TRK_REMOTE_PAGE - offset;
		struct trk_remote_page *p;
		int error;

		if (part > len)
			part = len;
		if (trk__remote_spend(r, 1) < 0)
			return -E2BIG;
		error = get_page(r, addr - offset, offset, offset + part, &p);
		if (error < 0)
			return error;
		memcpy(at, p->bytes + offset, part);
		at += part;
		addr += part;
		len -= part;
	}
	return 0;
}

uint64_t trk__remote_u64(struct trk_remote *r, uint64_t addr)
{
	uint64_t value;

	return trk__remote_get(r, addr, &value, sizeof(value)) < 0 ? 0 : value;
}

uint32_t trk__remote_u32(struct trk_remote *r, uint64_t addr)
{
	uint32_t value;

	return trk__remote_get(r, addr, &value, sizeof(value)) < 0 ? 0 : value;
}

int trk__remote_process(void *data, uint64_t addr, void *to, size_t len)
{
	const pid_t *pid = data;
	struct iovec here = {to, len}, there = {(void *) (uintptr_t) addr, len};
	ssize_t n = process_vm_readv(*pid, &here, 1, &there, 1, 0);

	if (n < 0)
		return -errno;
	return (size_t) n == len ? 0 : -EFAULT;
}

size_t trk__remote_process_ranges(void *data, const struct iovec *to, const struct iovec *from,
				  size_t count)
{
	const pid_t *pid = data;
	ssize_t n = process_vm_readv(*pid, to, count, from, count, 0);
	size_t done = 0;

	while (done < count && n >= (ssize_t) to[done].iov_len)
		n -= (ssize_t) to[done++].iov_len;
	return done;
}
