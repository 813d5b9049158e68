/* Members whose main thread has ended while others work on (pthread_exit in main).
 *
 * The kernel calls such a process a zombie (state Z in PID/stat) and shows no memory and no command line
 * of it, as these stood with the main thread. Its CPU time, faults, bytes and number of threads are still
 * in PID/stat, PID/io and its clock, which are the whole group's. What is missing is read from a thread
 * that lives, its speaker: PID/task/TID/{statm,status,smaps_rollup,cmdline}. Nothing is kept open; below
 * PID/task no other process can answer in the place of a thread that has ended. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>

#include "base/file.h"
#include "base/parse.h"
#include "probe/tree_private.h"

int trk__speaker_tasks(const struct trk_tree *t, const struct process *p)
{
	char path[32];
	int fd;

	(void) snprintf(path, sizeof(path), "%d/task", (int) p->pid);
	fd = trk__open_dir_at(t->env.proc_fd, path);
	return fd == -ENOENT ? -ESRCH : fd;
}

static int read_statm(int tasks_fd, pid_t tid, struct trk_pid_statm *ret)
{
	char path[32], text[128];
	ssize_t len;

	(void) snprintf(path, sizeof(path), "%d/statm", (int) tid);
	len = trk__read_once_at(tasks_fd, path, text, sizeof(text));
	if (len < 0)
		return (int) len;
	return trk__pid_statm_parse(text, (size_t) len, ret);
}

int trk__speaker_statm(const struct trk_tree *t, const struct process *p, struct trk_pid_statm *ret)
{
	TRK_FD_CLEANUP int tasks = trk__speaker_tasks(t, p);

	return tasks < 0 ? tasks : read_statm(tasks, p->speaker, ret);
}

/* A thread that ends has given its memory back before it goes: it shows none. */
static bool lives(int tasks_fd, pid_t tid)
{
	struct trk_pid_statm m;

	return read_statm(tasks_fd, tid, &m) == 0 && m.size_pages != 0;
}

bool trk__speaker_find(const struct trk_tree *t, struct process *p)
{
	int fd = trk__speaker_tasks(t, p);
	struct dirent *entry;
	uint64_t tid;
	DIR *tasks;

	if (fd < 0 || (p->speaker && lives(fd, p->speaker))) {
		trk__close(fd);
		return fd >= 0;
	}
	p->speaker = 0;
	tasks = fdopendir(fd);
	if (!tasks) {
		trk__close(fd);
		return false;
	}
	while (!p->speaker && (entry = readdir(tasks)))
		if (trk__parse_u64(entry->d_name, &tid) == 0 && tid <= INT32_MAX &&
		    (pid_t) tid != p->pid && lives(fd, (pid_t) tid))
			p->speaker = (pid_t) tid;
	(void) closedir(tasks);
	return p->speaker != 0;
}
