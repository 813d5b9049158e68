/* Members that run in one address space, so that their memory counts once.
 *
 * A child of vfork(2) and posix_spawn(3) runs in its parent's address space until it executes
 * another program, a child of clone(2) with CLONE_VM for its whole life. Each page is mapped once,
 * so that smaps_rollup of each of both shows all of it as its own.
 *
 * Source: kcmp(2) with KCMP_VM. A process begins to share an address space only when it is created.
 * So a member that has executed no program is compared with its parent once, and again in each
 * update only while both share one. A kernel may lack kcmp, and a container may refuse it: then
 * members of equal size may share one (trk__address_space_is_unknown). */
#include <errno.h>
#include <linux/kcmp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/blocking.h"
#include "probe/tree/private.h"

enum { NEAR_PART = 64 }; /* of the resident pages: two members are not read at the same time */

/* A main thread that has ended has no address space. */
static pid_t thread_of(const struct process *p)
{
	return p->live_thread ? p->live_thread : p->pid;
}

static bool is_resident(const struct process *p)
{
	return !p->zombie && !p->vanished && p->rss_bytes > 0;
}

/* The member of which p may share the address space: its parent, or the one of which the parent
 * shares it. NULL: none, or it has ended. */
static struct process *holder_of(struct trk_tree *t, struct process *p)
{
	struct process *holder = trk__tree_find(t, p->space_of ? p->space_of : p->ppid);

	if (holder && !p->space_of && holder->space_of)
		holder = trk__tree_find(t, holder->space_of);
	return holder && is_resident(holder) && !holder->stuck_ns ? holder : NULL;
}

static long compare(pid_t holder, pid_t pid)
{
	TRK_MAY_BLOCK(TRK_BLOCKING_PROCESS, pid);

	return syscall(SYS_kcmp, holder, pid, KCMP_VM, 0, 0);
}

/* Where it is refused, p->space_refused is set, and the answer is false. */
static bool is_shared(const struct process *holder, struct process *p)
{
	long r = compare(thread_of(holder), thread_of(p));

	p->space_refused = r < 0 && errno != ESRCH;
	return r == 0;
}

/* The holder may have slept while p changed their memory. */
static void hand_over(struct process *holder, const struct process *p)
{
	if (!p->looked || holder->looked)
		return;
	holder->rss_bytes = p->rss_bytes;
	holder->shared_bytes = p->shared_bytes;
	holder->looked = true;
}

/* It may have executed a program since it was read. */
static void read_again(struct trk_tree *t, struct process *p)
{
	(void) trk__tree_read_size(t, p);
	p->looked = true;
}

/* Whether p still shares an address space with another member that shared its holder's. If so, it
 * is the holder that has executed a program, not p. */
static bool has_fellow(struct trk_tree *t, struct process *p)
{
	for (size_t i = 0; i < t->count; i++) {
		const struct process *other = &t->process[i];

		if (other != p && other->space_of == p->space_of && is_resident(other) &&
		    is_shared(other, p))
			return true;
	}
	return false;
}

/* The member that held the address space has left it: p holds it now. */
static void take_over(struct trk_tree *t, const struct process *p)
{
	pid_t left = p->space_of;

	for (size_t i = 0; i < t->count; i++)
		if (t->process[i].space_of == left)
			t->process[i].space_of = p->pid;
}

static void judge(struct trk_tree *t, struct process *p)
{
	struct process *holder = p->has_executed ? NULL : holder_of(t, p);

	if (holder && is_shared(holder, p)) {
		if (!p->space_of)
			p->space_of = holder->space_of ? holder->space_of : holder->pid;
		hand_over(holder, p);
		return;
	}
	if (p->space_refused) {
		p->space_of = 0;
		return;
	}
	p->space_known = true;
	if (!p->has_executed)
		read_again(t, p);
	if (!p->has_executed && p->space_of && (!holder || has_fellow(t, p)))
		take_over(t, p);
	p->space_of = 0;
}

void trk__address_spaces_update(struct trk_tree *t)
{
	for (size_t i = 0; i < t->count; i++) {
		struct process *p = &t->process[i];

		if (!p->space_known && !p->space_refused && !p->stuck_ns && is_resident(p))
			judge(t, p);
	}
}

static bool is_near(uint64_t a, uint64_t b)
{
	return trk__distance(a, b) <= a / NEAR_PART;
}

/* A fork has its parent's anonymous pages, but few of its parent's pages of files. */
static bool looks_shared(const struct process *holder, const struct process *p)
{
	return is_near(holder->rss_bytes, p->rss_bytes) &&
	       is_near(holder->shared_bytes, p->shared_bytes);
}

bool trk__address_space_is_unknown(struct trk_tree *t, struct process *p)
{
	const struct process *holder;

	if (!p->space_refused || p->has_executed || !is_resident(p))
		return false;
	holder = holder_of(t, p);
	return holder && looks_shared(holder, p);
}
