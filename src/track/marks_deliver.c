#include <errno.h>
#include <unistd.h>

#include "base/os.h"
#include "track/marks_socket.h"

int trk__marks_deliver(const char *id, size_t id_len, const char *text, size_t len)
{
	struct sockaddr_un address;
	socklen_t address_len = trk__marks_address(id, id_len, &address);
	int fd = trk__os_socket(AF_UNIX, SOCK_DGRAM, 0), error = 0;

	if (fd < 0)
		return fd;
	if (sendto(fd, text, len, MSG_NOSIGNAL, (const struct sockaddr *) &address, address_len) <
	    0)
		error = errno;
	(void) close(fd);
	return -error;
}
