#include "probe/linux/pid_children.h"

#include <errno.h>
#include <stdbool.h>
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
	TRK_DIR_CLEANUP DIR *tasks = trk__list_dir_at(proc_fd, TRK_PATH("%d/task", (int) pid));
	struct dirent *entry;
	bool any = false; /* a thread's file could be read */
	int total = 0;

	if (!tasks)
		return -errno;
	while (total >= 0 && (entry = readdir(tasks))) {
		size_t used = (size_t) total < max ? (size_t) total : max;
		char *text;
		ssize_t len;
		int n;

		if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
			continue;
		len = trk__read_all_at(dirfd(tasks), TRK_PATH("%s/children", entry->d_name),
				       1 << 20, &text);
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
	/* No thread is left, or the kernel lacks the file. */
	return total == 0 && !any ? -ENOENT : total;
}
