/* An abstract address, and the credentials of the sender with each message. */
#include "track/marks.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* The address of a run, whose id has `len` bytes: abstract, so that nothing is left in a file system.
 * Returns its length. */
static socklen_t address_of(const char *id, size_t len, struct sockaddr_un *ret)
{
	int n;

	*ret = (struct sockaddr_un){.sun_family = AF_UNIX};
	n = snprintf(ret->sun_path + 1, sizeof(ret->sun_path) - 1, "resource-tracker/%.*s",
		     (int) len, id);
	return (socklen_t) (offsetof(struct sockaddr_un, sun_path) + 1 + (size_t) n);
}

int trk__marks_listen(const char *run_id)
{
	struct sockaddr_un address;
	socklen_t len = address_of(run_id, strlen(run_id), &address);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), yes = 1, error;

	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes)) < 0 ||
	    bind(fd, (const struct sockaddr *) &address, len) < 0) {
		error = errno;
		(void) close(fd);
		return -error;
	}
	return fd;
}

static bool is_ours(struct msghdr *message)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(message);
	struct ucred sender;

	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_CREDENTIALS)
		return false;
	memcpy(&sender, CMSG_DATA(c), sizeof(sender));
	return sender.uid == getuid() || sender.uid == 0;
}

/* Receive one message. Returns its length; 0: it is empty or from another user; a negative errno:
 * there is none. */
static ssize_t receive(int fd, char *text, size_t size)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(struct ucred))];
	} control;
	struct iovec part = {text, size};
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.room,
		.msg_controllen = sizeof(control.room),
	};
	ssize_t n;

	do
		n = recvmsg(fd, &message, 0);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	return is_ours(&message) ? n : 0;
}

/* One line, cut at the start of a character. */
static void clean(char *name, size_t len)
{
	if (len >= TRK_MARK_NAME_SIZE) {
		len = TRK_MARK_NAME_SIZE - 1;
		while (len > 0 && ((unsigned char) name[len] & 0xc0) == 0x80)
			len--;
	}
	name[len] = '\0';
	for (char *c = name; *c; c++)
		if ((unsigned char) *c < 0x20 || *c == 0x7f)
			*c = ' ';
}

int trk__marks_read(int fd, char name[TRK_MARK_NAME_SIZE])
{
	char text[TRK_MARK_NAME_SIZE + 4];
	ssize_t n;

	do {
		n = receive(fd, text, sizeof(text) - 1);
		if (n < 0)
			return 0;
	} while (n == 0);
	text[n] = '\0';
	clean(text, (size_t) n);
	memcpy(name, text, TRK_MARK_NAME_SIZE);
	return 1;
}

int trk__marks_send(const char *guard, const char *name)
{
	size_t id_len = strcspn(guard, ":"), len = strnlen(name, TRK_MARK_NAME_SIZE + 2);
	struct sockaddr_un address;
	socklen_t address_len;
	int fd, error = 0;

	if (len == 0 || id_len == 0 || id_len > 64)
		return -EINVAL;
	address_len = address_of(guard, id_len, &address);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (sendto(fd, name, len, MSG_NOSIGNAL, (const struct sockaddr *) &address, address_len) <
	    0)
		error = errno;
	(void) close(fd);
	return -error;
}
