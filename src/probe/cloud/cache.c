/* The cached result, valid until the next boot:
 *
 *     resource-tracker cloud 1
 *     BOOT ID
 *     vendor, region, zone, instance type, allocation, reason: a line each */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "probe/cloud/vendor.h"

static const char name[] = "cloud";
static const char head[] = "resource-tracker cloud 1";

enum { FILE_MAX = 1024, BOOT_SIZE = 64 };

static int read_boot_id(const struct trk_env *env, char text[BOOT_SIZE])
{
	ssize_t len = trk__read_at(env->proc_fd, "sys/kernel/random/boot_id", text, BOOT_SIZE);

	if (len <= 8)
		return len < 0 ? (int) len : -EBADMSG;
	text[strcspn(text, "\n")] = '\0';
	return 0;
}

/* The next line at *at; its end in the text becomes a NUL. */
static const char *next_line(char **at)
{
	char *line = *at;
	size_t len = strcspn(line, "\n");

	*at = line + len + (line[len] == '\n');
	line[len] = '\0';
	return line;
}

/* A file of another user is not trusted. */
static int read_own(int dirfd, char text[FILE_MAX])
{
	TRK_FD_CLEANUP int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	ssize_t len;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
	    (st.st_mode & 022) != 0)
		return -ENOENT;
	len = trk__read_fd(fd, text, FILE_MAX);
	return len <= 0 ? -ENOENT : 0;
}

int trk__cloud_cache_read(const struct trk_env *env, int dirfd, struct trk_cloud *ret)
{
	char text[FILE_MAX], boot[BOOT_SIZE], *at = text;
	struct trk_cloud c;

	trk__cloud_clear(&c);
	if (read_boot_id(env, boot) < 0 || read_own(dirfd, text) < 0 ||
	    strcmp(next_line(&at), head) != 0 || strcmp(next_line(&at), boot) != 0 ||
	    !trk__cloud_word(next_line(&at), c.vendor, sizeof(c.vendor)))
		return -ENOENT;
	(void) trk__cloud_word(next_line(&at), c.region, sizeof(c.region));
	(void) trk__cloud_word(next_line(&at), c.zone, sizeof(c.zone));
	(void) trk__cloud_word(next_line(&at), c.instance_type, sizeof(c.instance_type));
	(void) trk__cloud_word(next_line(&at), c.allocation, sizeof(c.allocation));
	(void) snprintf(c.reason, sizeof(c.reason), "%s", next_line(&at));
	for (char *s = c.reason; *s; s++)
		if ((unsigned char) *s < 0x20 || (unsigned char) *s > 0x7e)
			*s = '?';
	(void) snprintf(c.source, sizeof(c.source), "metadata service, earlier since the boot");
	*ret = c;
	return 0;
}

int trk__cloud_cache_write(const struct trk_env *env, int dirfd, const struct trk_cloud *c)
{
	char boot[BOOT_SIZE], temporary[TRK_TEMPORARY_SIZE], text[FILE_MAX];
	int fd, n, r;

	if (!c->vendor[0] || strcmp(c->source, "metadata service") != 0)
		return 0;
	r = read_boot_id(env, boot);
	if (r < 0)
		return r;
	n = snprintf(text, sizeof(text), "%s\n%s\n%s\n%s\n%s\n%s\n%s\n%s\n", head, boot, c->vendor,
		     c->region, c->zone, c->instance_type, c->allocation, c->reason);
	fd = trk__create_temporary_at(dirfd, name, 0600, temporary);
	if (fd < 0)
		return fd;
	r = trk__write_all(fd, text, (size_t) n);
	trk__close(fd);
	if (r == 0 && renameat(dirfd, temporary, dirfd, name) < 0)
		r = -errno;
	if (r < 0)
		(void) unlinkat(dirfd, temporary, 0);
	return r;
}
