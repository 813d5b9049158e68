/* No descriptor of Windows can be waited for. */
#ifndef TRK_POSIX_POLL_H
#define TRK_POSIX_POLL_H

#define POLLIN  1
#define POLLOUT 4

typedef unsigned long nfds_t;

struct pollfd {
	int fd;
	short events, revents;
};

#define poll(list, n, timeout_ms) ((void) (list), trk__no_such_call())

#endif
