/* macOS: a socket in the user's private temporary folder. */
#ifdef __APPLE__ /* else a checker of code reads this file with the headers of another system */

#include "track/marks_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/os.h"

socklen_t trk__marks_address(const char *id, size_t len, struct sockaddr_un *ret)
{
	char folder[PATH_MAX];
	size_t n = confstr(_CS_DARWIN_USER_TEMP_DIR, folder, sizeof(folder));

	*ret = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (n == 0 || n > sizeof(folder)) /* nothing can be bound to no path */
		folder[0] = '\0';
	(void) snprintf(ret->sun_path, sizeof(ret->sun_path), "%s/rt-%.*s", folder, (int) len, id);
	return (socklen_t) SUN_LEN(ret);
}

int trk__marks_listen(const char *run_id)
{
	struct sockaddr_un address;
	socklen_t len = trk__marks_address(run_id, strlen(run_id), &address);
	int fd = trk__os_socket(AF_UNIX, SOCK_DGRAM, 0), error;

	if (fd < 0)
		return fd;
	if (fcntl(fd, F_SETFL, O_NONBLOCK) == 0 &&
	    bind(fd, (const struct sockaddr *) &address, len) == 0)
		return fd;
	error = errno;
	(void) close(fd);
	return -error;
}

void trk__marks_close(int fd)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	socklen_t len = sizeof(address);

	if (fd >= 0 && getsockname(fd, (struct sockaddr *) &address, &len) == 0 &&
	    address.sun_path[0])
		(void) unlink(address.sun_path);
	trk__close(fd);
}

ssize_t trk__marks_receive(int fd, char *text, size_t size)
{
	ssize_t n;

	do
		n = recv(fd, text, size, 0);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

#endif
