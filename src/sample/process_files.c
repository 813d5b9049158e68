#include "sample/process_files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/parse.h"
#include "probe/linux/cgroup_files.h"
#include "probe/linux/pid_status.h"

enum { OPEN_MAX_FILES = 160 };

void trk__process_file_close(struct trk_process_files *f, int *fd)
{
	if (*fd < 0)
		return;
	trk__close(*fd);
	*fd = -1;
	f->open--;
}

static ssize_t read_kept(struct trk_process_files *f, int *fd, const char *path, char *text,
			 size_t size)
{
	if (*fd < 0 && f->open >= OPEN_MAX_FILES)
		return trk__read_once_at(f->env.proc_fd, path, text, size);
	if (*fd < 0) {
		*fd = openat(f->env.proc_fd, path, O_RDONLY | O_CLOEXEC);
		if (*fd < 0)
			return -errno;
		f->open++;
	}
	return trk__read_once_fd(*fd, text, size);
}

int trk__process_memory(struct trk_process_files *f, int *fd, pid_t pid, uint64_t *ret_bytes)
{
	char text[128];
	uint64_t number[3]; /* pages: size, resident, shared */
	ssize_t len = read_kept(f, fd, TRK_PATH("%d/statm", (int) pid), text, sizeof(text));

	if (len <= 0 || !trk__take_numbers(text, (size_t) len, number, 3) || number[1] < number[2])
		return -ENODATA;
	*ret_bytes = (number[1] - number[2]) * (uint64_t) sysconf(_SC_PAGESIZE);
	return 0;
}

int trk__process_state(struct trk_process_files *f, int *fd, pid_t pid, pid_t tid,
		       struct trk_pid_stat *ret)
{
	struct trk_path path = tid ? trk__path("%d/task/%d/stat", (int) pid, (int) tid)
				   : trk__path("%d/stat", (int) pid);
	char text[TRK_PID_STAT_SIZE];
	ssize_t len = read_kept(f, fd, path.text, text, sizeof(text));

	return len > 0 ? trk__pid_stat_parse(text, (size_t) len, ret) : -ENODATA;
}

void trk__process_name(const struct trk_process_files *f, pid_t pid, char *name, size_t size)
{
	ssize_t len = trk__read_once_at(f->env.proc_fd, TRK_PATH("%d/comm", (int) pid), name, size);

	name[len > 0 ? len : 0] = '\0';
	name[strcspn(name, "\n")] = '\0';
}

void trk__process_note_user(const struct trk_process_files *f, pid_t pid, struct trk_lines *lines)
{
	struct trk_pid_status status;

	if (trk__pid_status_read(f->env.proc_fd, pid, &status) == 0) /* else it has ended */
		trk__lines_add_user(lines, status.uid < 0 ? TRK_LINES_SEVERAL_USERS : status.uid);
}

uint64_t trk__process_exe(const struct trk_process_files *f, pid_t pid)
{
	char text[512];

	return trk__read_link_at(f->env.proc_fd, TRK_PATH("%d/exe", (int) pid), text,
				 sizeof(text)) > 0
		       ? trk__text_hash(text)
		       : 0;
}
