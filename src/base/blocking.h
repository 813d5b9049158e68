/* Calls that may block for good: reading the kernel's files about a process that is in the middle of
 * an execve, and writing to storage that does not answer.
 *
 * A thread notes such a call while it lasts. If the call blocks, another thread abandons it, and may
 * then start a thread that goes on. The abandoned thread ends when the call returns; until then it
 * uses only its own stack, and what belongs to the call. In a thread without a struct trk_blocking
 * the notes do nothing. */
#ifndef TRK_BASE_BLOCKING_H
#define TRK_BASE_BLOCKING_H

#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum trk_blocking_kind {
	TRK_BLOCKING_NOTHING,
	TRK_BLOCKING_PROCESS,
	TRK_BLOCKING_STORAGE,
	TRK_BLOCKING_OUTPUT, /* rows or messages for a file of the user's */
	TRK_BLOCKING_ANSWER, /* storage, or a child that uses it, after the end of the job */
};

struct trk_blocking {
	_Atomic uint32_t call; /* number of the call and its kind; 0: there is none */
	_Atomic int pid;       /* TRK_BLOCKING_PROCESS: which one; else 0 */
	uint32_t noted;        /* the call, as its own thread sees it */
	unsigned int depth;    /* of calls within the call, which are part of it */
	jmp_buf end;           /* set by the start of the thread, which ends there */
};

/* For this thread; *b must outlive it. NULL: none. */
void trk__blocking_set(struct trk_blocking *b);
struct trk_blocking *trk__blocking_begin(enum trk_blocking_kind kind, int pid);
/* Does not return if the call was abandoned. */
void trk__blocking_end(struct trk_blocking **b);

/* Note a call that lasts until the end of this block. */
#define TRK_MAY_BLOCK(kind, pid)                                                                   \
	__attribute__((cleanup(trk__blocking_end), unused)) struct trk_blocking *noted =           \
		trk__blocking_begin(kind, pid)

/* For the other thread: the call that is going on, and its kind. */
uint32_t trk__blocking_call(struct trk_blocking *b);
enum trk_blocking_kind trk__blocking_kind(uint32_t call);
/* False if the call has returned meanwhile, or if too many are abandoned. */
bool trk__blocking_abandon(struct trk_blocking *b, uint32_t call);

/* Whether an abandoned call still reads about this process; about any process. */
bool trk__blocking_reads(pid_t pid);
bool trk__blocking_reads_any(void);

#endif
