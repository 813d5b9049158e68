/* Waiting for descriptors: not in this build. */
#ifndef TRK_POSIX_POLL_H
#define TRK_POSIX_POLL_H

#define POLLIN  1
#define POLLOUT 4

struct pollfd {
	int fd;
	short events, revents;
};

int poll(struct pollfd *list, unsigned long n, int timeout_ms);

#endif
