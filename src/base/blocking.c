#include "base/blocking.h"

#include <stddef.h>

enum { KIND_BITS = 3, KIND_MASK = (1 << KIND_BITS) - 1, READ_MAX = 64 };

static _Thread_local struct trk_blocking *own;

/* Processes about which an abandoned call reads; 0: a free entry. */
static _Atomic int read_pid[READ_MAX];
static atomic_int reads;

static bool exchange(int from, int to)
{
	for (int i = 0; i < READ_MAX; i++) {
		int expected = from;

		if (atomic_compare_exchange_strong(&read_pid[i], &expected, to))
			return true;
	}
	return false;
}

static void forget(int pid)
{
	if (pid && exchange(pid, 0))
		atomic_fetch_sub(&reads, 1);
}

void trk__blocking_set(struct trk_blocking *b)
{
	own = b;
}

struct trk_blocking *trk__blocking_begin(enum trk_blocking_kind kind, int pid)
{
	struct trk_blocking *b = own;

	if (!b || b->depth++)
		return b;
	b->noted = ((b->noted | KIND_MASK) + 1) | (uint32_t) kind;
	atomic_store(&b->pid, pid);
	atomic_store(&b->call, b->noted);
	return b;
}

void trk__blocking_end(struct trk_blocking **at)
{
	struct trk_blocking *b = *at;
	uint32_t expected;

	if (!b || --b->depth)
		return;
	expected = b->noted;
	if (atomic_compare_exchange_strong(&b->call, &expected, 0))
		return;
	forget(b->pid);
	longjmp(b->end, 1);
}

uint32_t trk__blocking_call(struct trk_blocking *b)
{
	return atomic_load(&b->call);
}

enum trk_blocking_kind trk__blocking_kind(uint32_t call)
{
	return (enum trk_blocking_kind)(call & KIND_MASK);
}

bool trk__blocking_abandon(struct trk_blocking *b, uint32_t call)
{
	int pid = b->pid;

	/* Before the call can return. */
	if (pid && !exchange(0, pid))
		return false;
	atomic_fetch_add(&reads, pid != 0);
	if (atomic_compare_exchange_strong(&b->call, &call, 0))
		return true;
	forget(pid);
	return false;
}

bool trk__blocking_reads(pid_t pid)
{
	for (int i = 0; i < READ_MAX; i++)
		if (atomic_load(&read_pid[i]) == pid)
			return true;
	return false;
}

bool trk__blocking_reads_any(void)
{
	return atomic_load(&reads) > 0;
}
