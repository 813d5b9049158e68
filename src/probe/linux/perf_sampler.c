#include "probe/linux/perf_sampler.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The ring holds 16 KiB of samples of at most 304 bytes: 1 s at 49 Hz. */
enum { PAGES = 4, RECORD_MAX = 1024 };
/* Values from here on are context markers in a chain, not code addresses. */
#define CHAIN_MARK ((uint64_t) PERF_CONTEXT_MAX)

static size_t page_size(void)
{
	return (size_t) sysconf(_SC_PAGESIZE);
}

/* Samplers leave half of the descriptors to the rest of the process. */
static bool is_beyond_half(int fd)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) == 0 && (rlim_t) fd >= limit.rlim_cur / 2;
}

int trk__perf_sampler_open(struct trk_perf_sampler *ret, pid_t tid, unsigned int hz)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = hz,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD |
			       PERF_SAMPLE_CALLCHAIN,
		.sample_max_stack = TRK_PERF_DEPTH,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.exclude_callchain_kernel = 1,
		.watermark = 1, /* no wake-ups: the ring is read by time */
		.wakeup_watermark = UINT32_MAX,
	};
	struct trk_perf_sampler s;

	s.fd = (int) syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (s.fd < 0)
		return -errno;
	if (is_beyond_half(s.fd)) {
		(void) close(s.fd);
		return -EMFILE;
	}
	s.map = mmap(NULL, (1 + PAGES) * page_size(), PROT_READ | PROT_WRITE, MAP_SHARED, s.fd, 0);
	if (s.map == MAP_FAILED) {
		/* EPERM: the user's share of locked memory is used up. */
		int error = errno == EPERM ? ENOMEM : errno;

		(void) close(s.fd);
		return -error;
	}
	*ret = s;
	return 0;
}

void trk__perf_sampler_close(struct trk_perf_sampler *s)
{
	if (s->fd < 0)
		return;
	(void) munmap(s->map, (1 + PAGES) * page_size());
	(void) close(s->fd);
	*s = TRK_PERF_SAMPLER_NONE;
}

static uint64_t word(const unsigned char *body, size_t i)
{
	uint64_t value;

	memcpy(&value, body + i * sizeof(value), sizeof(value));
	return value;
}

int trk__perf_sample_parse(const void *body, size_t len, struct trk_perf_sample *ret)
{
	/* In this order: pid and tid, time, period, length of the chain, chain. */
	struct trk_perf_sample s = {.depth = 0};
	const unsigned char *at = body;
	uint32_t ids[2];
	uint64_t chain;

	if (len < 4 * sizeof(uint64_t))
		return -EBADMSG;
	memcpy(ids, body, sizeof(ids));
	s.pid = (pid_t) ids[0];
	s.tid = (pid_t) ids[1];
	s.time_ns = word(at, 1);
	s.period_ns = word(at, 2);
	chain = word(at, 3);
	if (chain > len / sizeof(uint64_t) - 4)
		return -EBADMSG;
	for (uint64_t i = 0; i < chain && s.depth < TRK_PERF_DEPTH; i++)
		if (word(at, 4 + i) < CHAIN_MARK)
			s.address[s.depth++] = word(at, 4 + i);
	s.is_cut = chain >= TRK_PERF_DEPTH;
	*ret = s;
	return 0;
}

/* Copy bytes out of the ring, with wrap-around. */
static void copy(const unsigned char *ring, size_t size, uint64_t from, void *to, size_t len)
{
	size_t at = (size_t) (from % size), first = size - at < len ? size - at : len;

	memcpy(to, ring + at, first);
	memcpy((unsigned char *) to + first, ring, len - first);
}

static void take(const struct perf_event_header *header, const unsigned char *body, size_t len,
		 trk_perf_sample_fn *fn, void *data, uint64_t *lost)
{
	struct trk_perf_sample sample;

	if (header->type == PERF_RECORD_LOST && len >= 2 * sizeof(uint64_t))
		*lost += word(body, 1);
	else if (header->type == PERF_RECORD_SAMPLE &&
		 trk__perf_sample_parse(body, len, &sample) == 0)
		fn(data, &sample);
}

void trk__perf_sampler_drain(struct trk_perf_sampler *s, trk_perf_sample_fn *fn, void *data,
			     uint64_t *lost)
{
	struct perf_event_mmap_page *control = s->map;
	size_t size = PAGES * page_size();
	const unsigned char *ring = (const unsigned char *) s->map + page_size();
	uint64_t head, tail;

	if (s->fd < 0)
		return;
	head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
	tail = control->data_tail;
	while (head - tail >= sizeof(struct perf_event_header) && head - tail <= size) {
		unsigned char record[RECORD_MAX];
		struct perf_event_header header;

		copy(ring, size, tail, &header, sizeof(header));
		if (header.size < sizeof(header) || header.size > head - tail)
			break;
		if (header.size <= sizeof(record)) {
			copy(ring, size, tail, record, header.size);
			take(&header, record + sizeof(header), header.size - sizeof(header), fn,
			     data, lost);
		}
		tail += header.size;
	}
	__atomic_store_n(&control->data_tail, head, __ATOMIC_RELEASE);
}
