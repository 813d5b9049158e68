/* Reads the files of one member: through descriptors that are kept, and those of a live thread. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/blocking.h"
#include "base/file.h"
#include "base/parse.h"
#include "probe/tree/private.h"

enum { FDS_PER_PROCESS = 4 };

/* ---- a live thread of a member whose main thread has ended (pthread_exit in main) ----
 *
 * The kernel shows such a process as a zombie (state Z in PID/stat) without memory and command
 * line. PID/stat, PID/io and its clock still have the CPU time, faults, bytes and number of threads
 * of the whole process. The rest is read from a live thread:
 * PID/task/TID/{statm,status,smaps_rollup,cmdline}. No file is kept open. */

int trk__live_thread_tasks(const struct trk_tree *t, const struct process *p)
{
	int fd = trk__open_dir_at(t->env.proc_fd, TRK_PATH("%d/task", (int) p->pid));

	return fd == -ENOENT ? -ESRCH : fd;
}

static int read_thread_statm(int tasks_fd, pid_t tid, struct trk_pid_statm *ret)
{
	char text[128];
	ssize_t len =
		trk__read_once_at(tasks_fd, TRK_PATH("%d/statm", (int) tid), text, sizeof(text));

	return len < 0 ? (int) len : trk__pid_statm_parse(text, (size_t) len, ret);
}

static int live_thread_statm(const struct trk_tree *t, const struct process *p,
			     struct trk_pid_statm *ret)
{
	TRK_FD_CLEANUP int tasks = trk__live_thread_tasks(t, p);

	return tasks < 0 ? tasks : read_thread_statm(tasks, p->live_thread, ret);
}

int trk__tree_read_status(const struct trk_tree *t, const struct process *p,
			  struct trk_pid_status *ret)
{
	if (!p->live_thread)
		return trk__pid_status_read(t->env.proc_fd, p->pid, ret);
	TRK_FD_CLEANUP int tasks = trk__live_thread_tasks(t, p);

	return tasks < 0 ? tasks : trk__pid_status_read(tasks, p->live_thread, ret);
}

/* An ending thread releases its memory first, so it shows none. */
static bool lives(int tasks_fd, pid_t tid)
{
	struct trk_pid_statm m;

	return read_thread_statm(tasks_fd, tid, &m) == 0 && m.size_pages != 0;
}

bool trk__live_thread_find(const struct trk_tree *t, struct process *p)
{
	TRK_DIR_CLEANUP DIR *tasks =
		trk__list_dir_at(t->env.proc_fd, TRK_PATH("%d/task", (int) p->pid));
	struct dirent *entry;
	uint64_t tid;

	if (tasks && p->live_thread && lives(dirfd(tasks), p->live_thread))
		return true;
	p->live_thread = 0;
	while (tasks && !p->live_thread && (entry = trk__next_entry(tasks)))
		if (trk__parse_u64(entry->d_name, &tid) == 0 && tid <= INT32_MAX &&
		    (pid_t) tid != p->pid && lives(dirfd(tasks), (pid_t) tid))
			p->live_thread = (pid_t) tid;
	return p->live_thread != 0;
}

/* ---- kept descriptors ---- */

void trk__tree_close(struct trk_tree *t, struct process *p)
{
	int *fds[FDS_PER_PROCESS] = {&p->stat_fd, &p->io_fd, &p->statm_fd, &p->schedstat_fd};

	trk__stuck_end(t, p);
	for (int i = 0; i < FDS_PER_PROCESS; i++) {
		if (*fds[i] < 0)
			continue;
		(void) close(*fds[i]);
		*fds[i] = -1;
		t->fds_left++;
	}
}

static bool may_keep(const struct trk_tree *t, const struct process *p, const int *fd)
{
	return t->fds_left > 0 && (!t->options.figures_only || (fd == &p->stat_fd && !p->fresh));
}

/* Read a file of the process into t->text: through its kept descriptor, which is opened first if
 * the budget of descriptors allows it, else by path. Once the process is reaped, reading a kept
 * descriptor fails with -ESRCH, even if its pid was reused. */
ssize_t trk__tree_read_file(struct trk_tree *t, struct process *p, int *fd, const char *name)
{
	TRK_MAY_BLOCK(TRK_BLOCKING_PROCESS, p->pid);
	char path[40];

	if (*fd < 0) {
		(void) snprintf(path, sizeof(path), "%d/%s", (int) p->pid, name);
		if (!may_keep(t, p, fd))
			return trk__read_once_at(t->env.proc_fd, path, t->text, TRK_PID_STAT_SIZE);
		*fd = openat(t->env.proc_fd, path, O_RDONLY | O_CLOEXEC);
		if (*fd < 0) {
			if (errno != EMFILE && errno != ENFILE)
				return -errno;
			t->fds_left = 0;
			return trk__read_once_at(t->env.proc_fd, path, t->text, TRK_PID_STAT_SIZE);
		}
		t->fds_left--;
	}
	return trk__read_once_fd(*fd, t->text, TRK_PID_STAT_SIZE);
}

int trk__tree_read_statm(struct trk_tree *t, struct process *p, struct trk_pid_statm *ret)
{
	ssize_t len;

	if (p->live_thread)
		return live_thread_statm(t, p, ret);
	len = trk__tree_read_file(t, p, &p->statm_fd, "statm");
	return len < 0 ? (int) len : trk__pid_statm_parse(t->text, (size_t) len, ret);
}
