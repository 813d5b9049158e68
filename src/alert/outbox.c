#include "alert/outbox.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/os.h"
#include "base/trust.h"

/* FILE: the sink in the first line, the message as JSON in the second. */
enum { FILE_MAX = 65536, KEPT_MAX = 1000 };
static const char SUFFIX[] = ".alert";

static int write_file(int fd, const char *sink, const struct trk_alert_message *m)
{
	struct trk_buf b;
	int r;

	trk__buf_init(&b, FILE_MAX);
	trk__buf_printf(&b, "%s\n", sink);
	trk__alert_message_write(m, &b);
	trk__buf_putc(&b, '\n');
	r = b.error ? b.error : trk__write_all(fd, b.data, b.len);
	trk__buf_release(&b);
	return r == 0 && fsync(fd) < 0 ? -errno : r;
}

int trk__alert_outbox_put(int dirfd, const char *sink, const struct trk_alert_message *m,
			  char ret_name[TRK_ALERT_OUTBOX_NAME_SIZE])
{
	char temporary[TRK_ALERT_OUTBOX_NAME_SIZE + 1];
	int fd, r;

	(void) snprintf(ret_name, TRK_ALERT_OUTBOX_NAME_SIZE, "%020llu-%d%s",
			(unsigned long long) trk__clock_wall_ns(), (int) getpid(), SUFFIX);
	(void) snprintf(temporary, sizeof(temporary), ".%s", ret_name);
	fd = openat(dirfd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	r = flock(fd, LOCK_EX) < 0 ? -errno : write_file(fd, sink, m);
	if (r == 0 && renameat(dirfd, temporary, dirfd, ret_name) < 0)
		r = -errno;
	if (r == 0)
		return fd;
	(void) unlinkat(dirfd, temporary, 0);
	trk__close(fd);
	return r;
}

void trk__alert_outbox_done(int dirfd, const char *name)
{
	(void) unlinkat(dirfd, name, 0);
}

static int is_ours(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return entry->d_name[0] != '.' && len > sizeof(SUFFIX) &&
	       len < TRK_ALERT_OUTBOX_NAME_SIZE &&
	       !strcmp(entry->d_name + len - sizeof(SUFFIX) + 1, SUFFIX);
}

/* Whether no other process delivers it, or has done so since it was listed. */
static bool is_free(int fd)
{
	struct stat st;

	return flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &st) == 0 && st.st_nlink > 0;
}

/* True if it was removed or belongs to another process. */
static bool deliver(int dirfd, const char *name, trk_alert_outbox_fn *on_message, void *data)
{
	TRK_FD_CLEANUP int fd = trk__trust_open_entry(dirfd, name, NULL);
	struct trk_alert_message *m;
	char *text = NULL, *line;
	bool done = false;

	if (fd >= 0 && !is_free(fd))
		return true;
	m = malloc(sizeof(*m));
	if (fd < 0 || !m || trk__read_all_fd(fd, FILE_MAX, &text) < 0) {
		free(m);
		return false;
	}
	line = strchr(text, '\n');
	if (line) {
		*line++ = '\0';
		done = trk__alert_message_read(line, strlen(line), m, NULL) == 0 &&
		       on_message(data, text, m) == 0;
	}
	free(text);
	free(m);
	return done && unlinkat(dirfd, name, 0) == 0;
}

int trk__alert_outbox_each(int dirfd, trk_alert_outbox_fn *on_message, void *data)
{
	struct dirent **list;
	char path[4096];
	int n = trk__os_path_of(dirfd, path, sizeof(path)), left = 0;

	if (n < 0)
		return n;
	/* musl has no scandirat(3). */
	n = scandir(path, &list, is_ours, alphasort);
	if (n < 0)
		return -errno;
	for (int i = 0; i < n; i++) {
		left += i >= KEPT_MAX || !deliver(dirfd, list[i]->d_name, on_message, data);
		free(list[i]);
	}
	free(list);
	return left;
}
