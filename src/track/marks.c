#include "track/marks.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "track/marks_socket.h"

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

int trk__marks_take(int fd, char name[TRK_MARK_NAME_SIZE])
{
	char text[TRK_MARK_NAME_SIZE + 4];
	ssize_t n;

	do {
		n = trk__marks_receive(fd, text, sizeof(text) - 1);
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
	struct sockaddr_un address;
	size_t id_len = strcspn(guard, ":");
	socklen_t len;
	int fd, error = 0;

	if (*name == '\0' || id_len == 0 || id_len > 64)
		return -EINVAL;
	len = trk__marks_address(guard, id_len, &address);
	fd = trk__os_socket(AF_UNIX, SOCK_DGRAM, 0);
	if (fd < 0)
		return fd;
	if (sendto(fd, name, strnlen(name, TRK_MARK_NAME_SIZE + 2), MSG_NOSIGNAL,
		   (const struct sockaddr *) &address, len) < 0)
		error = errno;
	(void) close(fd);
	return -error;
}
