/* Members that are stuck in the kernel: readings of their memory and command line block, in the middle of
 * an execve also those of most other files.
 *
 * All readings of memory and command line go through here. A member whose reading has blocked for STUCK_NS is listed in the
 * state of the tree. The blocked reading goes on; each update checks whether its answer has
 * arrived. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "probe/linux/pid_stat.h"
#include "probe/tree/private.h"

#define STUCK_NS TRK_NS_PER_S

/* stuck_file of a member in the middle of an execve: no worker reads it. */
static const char in_exec[] = "stat";

struct trk_path trk__member_dir(const struct process *p)
{
	return p->live_thread ? trk__path("%d/task/%d", (int) p->pid, (int) p->live_thread)
			      : trk__path("%d", (int) p->pid);
}

static void list(struct trk_tree *t, struct process *p)
{
	struct trk_tree_state *s = &t->state;
	struct trk_stuck_process *at = &s->stuck[s->stuck_count];
	uint64_t since_ns = p->stuck_ns - trk__least_of(t->programs.origin_ns, p->stuck_ns);
	struct trk_pid_stat stat = {.comm = ""};

	p->is_stuck = true;
	if (s->stuck_count++ >= TRK_STUCK_MAX)
		return;
	*at = (struct trk_stuck_process){.pid = p->pid, .since_ms = since_ns / 1000000};
	if (!p->name[0]) /* it was never read */
		(void) trk__pid_stat_read(t->env.proc_fd, p->pid, &stat);
	(void) snprintf(at->name, sizeof(at->name), "%.15s", p->name[0] ? p->name : stat.comm);
}

void trk__stuck_end(struct trk_tree *t, struct process *p)
{
	struct trk_tree_state *s = &t->state;

	for (size_t i = 0; p->is_stuck && i < s->stuck_count && i < TRK_STUCK_MAX; i++)
		s->stuck[i].is_over |= s->stuck[i].pid == p->pid;
	p->stuck_ns = 0;
	p->is_stuck = false;
}

void trk__stuck_note(struct trk_tree *t, struct process *p, const char *file, ssize_t result)
{
	uint64_t now_ns = t->env.monotonic_ns();

	if (result != -EINPROGRESS && result != -EAGAIN && result != -EIO) {
		if (p->stuck_ns)
			trk__stuck_end(t, p);
		return;
	}
	if (!p->stuck_ns) {
		p->stuck_ns = now_ns;
		p->stuck_file = file;
	}
	if (result == -EINPROGRESS && !p->is_stuck && now_ns - p->stuck_ns >= STUCK_NS)
		list(t, p);
}

ssize_t trk__stuck_read(struct trk_tree *t, struct process *p, const char *file, char *text,
			size_t size)
{
	uint64_t cost_ns;
	ssize_t len;

	if (p->stuck_ns && strcmp(file, p->stuck_file) != 0)
		return -EAGAIN;
	len = trk__reader_read(t->options.reader, &t->env, p->start_ticks,
			       TRK_PATH("%s/%s", trk__member_dir(p).text, file), text, size,
			       &cost_ns);

	trk__stuck_note(t, p, file, len);
	return len;
}

void trk__tree_suspect(struct trk_tree *t, pid_t pid)
{
	struct process *p = trk__tree_find(t, pid);

	if (!p || p->stuck_ns)
		return;
	p->stuck_ns = t->env.monotonic_ns();
	p->stuck_file = "cmdline";
}

bool trk__stuck_in_exec(struct trk_tree *t, struct process *p)
{
	bool blocks = trk__pid_stat_blocks(t->env.proc_fd, p->pid);

	if (blocks)
		trk__stuck_note(t, p, in_exec, -EINPROGRESS);
	else if (p->stuck_ns && p->stuck_file == in_exec)
		trk__stuck_end(t, p);
	p->dirty = blocks; /* look again in the next update */
	return blocks;
}

/* With the same question, so that a member that is stuck blocks one worker. */
void trk__stuck_update(struct trk_tree *t)
{
	char text[64];

	for (size_t i = 0; i < t->count; i++) {
		struct process *p = &t->process[i];

		if (p->stuck_ns && !strcmp(p->stuck_file, "smaps_rollup"))
			(void) trk__memory_read(t, p);
		else if (p->stuck_ns && p->stuck_file != in_exec)
			(void) trk__stuck_read(t, p, p->stuck_file, text, sizeof(text));
	}
}
