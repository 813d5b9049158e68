/* poll() for the numbers of src/base/windows/wake.h. */
#ifndef TRK_POSIX_POLL_H
#define TRK_POSIX_POLL_H

#define POLLIN  1
#define POLLPRI 2
#define POLLERR 8
#define POLLHUP 16

typedef unsigned long nfds_t;

struct pollfd {
	int fd;
	short events, revents;
};

/* Other descriptors, and negative ones, are never ready. */
int poll(struct pollfd *list, nfds_t n, int timeout_ms);

#endif
