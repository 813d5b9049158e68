#include "alert/deliver.h"

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
#include "base/trust.h"

/* FILE: the sink in the first line, the message as JSON in the second. */
enum { FILE_MAX = 65536, KEPT_MAX = 1000, LISTED_MAX = 65536 };
static const char SUFFIX[] = ".alert";

static int write_file(int fd, const char *sink, const struct trk_alert_message *m)
{
	TRK_BUF_LOCAL(b, FILE_MAX);
	int r;

	trk__buf_printf(&b, "%s\n", sink);
	trk__alert_message_write(m, &b);
	trk__buf_putc(&b, '\n');
	r = b.error ? b.error : trk__write_all(fd, b.data, b.len);
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

static bool is_ours(const char *name)
{
	size_t len = strlen(name);

	return name[0] != '.' && len > sizeof(SUFFIX) && len < TRK_ALERT_OUTBOX_NAME_SIZE &&
	       !strcmp(name + len - sizeof(SUFFIX) + 1, SUFFIX);
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

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *) a, *(char *const *) b);
}

/* The names of the messages, oldest first, owned by *ret. 0 or a negative errno. */
static int list_messages(int dirfd, char *(*ret)[LISTED_MAX], int *ret_count)
{
	TRK_DIR_CLEANUP DIR *dir = trk__list_dir_at(dirfd, ".");
	struct dirent *entry;
	int n = 0;

	if (!dir)
		return -errno;
	while (n < LISTED_MAX && (entry = readdir(dir)))
		if (is_ours(entry->d_name) && ((*ret)[n] = strdup(entry->d_name)))
			n++;
	qsort(*ret, (size_t) n, sizeof((*ret)[0]), by_name);
	*ret_count = n;
	return 0;
}

int trk__alert_outbox_each(int dirfd, trk_alert_outbox_fn *on_message, void *data)
{
	char *(*name)[LISTED_MAX] = malloc(sizeof(*name));
	int n = 0, left = name ? list_messages(dirfd, name, &n) : -ENOMEM;

	for (int i = 0; i < n; i++) {
		left += i >= KEPT_MAX || !deliver(dirfd, (*name)[i], on_message, data);
		free((*name)[i]);
	}
	free(name);
	return left;
}
