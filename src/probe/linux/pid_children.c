#include "probe/linux/pid_children.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/parse.h"

int trk__pid_children_parse(const char *text, pid_t *pids, size_t max)
{
	size_t n = 0;
	uint64_t pid;

	while (trk__scan_u64(&text, &pid)) {
		if (pid > INT32_MAX || n >= INT32_MAX)
			return -EBADMSG;
		if (n < max)
			pids[n] = (pid_t) pid;
		n++;
	}
	text = trk__skip_blanks(text);
	return *text == '\0' || *text == '\n' ? (int) n : -EBADMSG;
}

int trk__pid_children_read(int proc_fd, pid_t pid, pid_t *pids, size_t max)
{
	char path[64];
	struct dirent *entry;
	DIR *tasks;
	bool any = false; /* a thread's file could be read */
	int r, total = 0;

	(void) snprintf(path, sizeof(path), "%d/task", (int) pid);
	r = trk__list_dir_at(proc_fd, path, &tasks);
	if (r < 0)
		return r;
	while (total >= 0 && (entry = readdir(tasks))) {
		size_t used = (size_t) total < max ? (size_t) total : max;
		char *text;
		ssize_t len;
		int n;

		if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
			continue;
		(void) snprintf(path, sizeof(path), "%.20s/children", entry->d_name);
		len = trk__read_all_at(dirfd(tasks), path, 1 << 20, &text);
		if (len < 0) {
			/* A thread that ended meanwhile has no list of children. */
			if (len != -ENOENT && len != -ESRCH)
				total = (int) len;
			continue;
		}
		any = true;
		n = trk__pid_children_parse(text, used ? pids + used : pids, max - used);
		free(text);
		total = n < 0 ? n : total + n;
	}
	(void) closedir(tasks);
	/* No thread is left, or the kernel lacks the file. */
	return total == 0 && !any ? -ENOENT : total;
}
