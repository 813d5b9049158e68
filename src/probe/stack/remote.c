#include "probe/stack/remote.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

void trk__remote_init(struct trk_remote *r, trk_remote_fn *read, void *data)
{
	memset(r, 0, sizeof(*r));
	r->read = read;
	r->data = data;
	r->epoch = 1;
}

void trk__remote_begin(struct trk_remote *r)
{
	r->reads = r->late = 0;
	r->moves = false;
	if (++r->epoch != 0)
		return;
	memset(r->page, 0, sizeof(r->page)); /* after 2^32 samples */
	r->epoch = 1;
}

size_t trk__remote_pages(const struct trk_remote *r, uint64_t addr[TRK_REMOTE_PAGES],
			 size_t *ret_moving)
{
	size_t n = 0;

	for (int moves = 1; moves >= 0; moves--) {
		for (int i = 0; i < TRK_REMOTE_PAGES; i++)
			if (r->page[i].epoch == r->epoch && r->page[i].moves == moves)
				addr[n++] = r->page[i].addr;
		if (moves)
			*ret_moving = n;
	}
	return n;
}

void trk__remote_prefetch(struct trk_remote *r, const uint64_t *addr, size_t count)
{
	struct iovec to[TRK_REMOTE_PAGES], from[TRK_REMOTE_PAGES];
	size_t done;

	if (!r->read_pages || count == 0 || count > TRK_REMOTE_PAGES)
		return;
	for (size_t i = 0; i < count; i++) {
		struct trk_remote_page *p = &r->page[addr[i] / TRK_REMOTE_PAGE % TRK_REMOTE_PAGES];

		p->epoch = 0;
		to[i] = (struct iovec){p->bytes, TRK_REMOTE_PAGE};
		from[i] = (struct iovec){(void *) (uintptr_t) addr[i], TRK_REMOTE_PAGE};
	}
	r->reads++;
	done = r->read_pages(r->data, to, from, count);
	for (size_t i = 0; i < done && i < count; i++) {
		struct trk_remote_page *p = &r->page[addr[i] / TRK_REMOTE_PAGE % TRK_REMOTE_PAGES];

		p->addr = addr[i];
		p->epoch = r->epoch;
		p->moves = false;
	}
}

int trk__remote_copy(struct trk_remote *r, uint64_t addr, void *to, size_t len)
{
	/* No user address has its highest bits set; sums of two wild values may. */
	if (addr < TRK_REMOTE_PAGE || addr > (uint64_t) 1 << 56 || len > (size_t) 1 << 30)
		return -EFAULT;
	r->reads++;
	return r->read(r->data, addr, to, len);
}

/* The page of an address, from the cache or read. */
static int get_page(struct trk_remote *r, uint64_t addr, struct trk_remote_page **ret)
{
	struct trk_remote_page *p = &r->page[addr / TRK_REMOTE_PAGE % TRK_REMOTE_PAGES];
	int error;

	if (p->epoch != r->epoch || p->addr != addr) {
		p->epoch = 0;
		error = trk__remote_copy(r, addr, p->bytes, sizeof(p->bytes));
		if (error < 0)
			return error;
		p->addr = addr;
		p->epoch = r->epoch;
		p->moves = false;
		r->late += r->moves;
	}
	p->moves |= r->moves;
	*ret = p;
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
		int error = get_page(r, addr - offset, &p);

		if (error < 0)
			return error;
		if (part > len)
			part = len;
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

size_t trk__remote_process_pages(void *data, const struct iovec *to, const struct iovec *from,
				 size_t count)
{
	const pid_t *pid = data;
	ssize_t n = process_vm_readv(*pid, to, count, from, count, 0);

	return n < 0 ? 0 : (size_t) n / TRK_REMOTE_PAGE;
}
