/* The part of macOS's kernel queues that src/probe/tree/darwin uses. */
#ifndef STAND_IN_SYS_EVENT_H
#define STAND_IN_SYS_EVENT_H

#include <stdint.h>
#include <time.h>

enum {
	EVFILT_PROC = -5,
	EVFILT_SIGNAL = -6,
	EVFILT_TIMER = -7,
	EV_ADD = 1,
	EV_ONESHOT = 0x10,
	EV_CLEAR = 0x20
};

#define NOTE_EXIT 0x80000000u
#define NOTE_FORK 0x40000000u

struct kevent {
	uintptr_t ident;
	int16_t filter;
	uint16_t flags;
	uint32_t fflags;
	intptr_t data;
	void *udata;
};

#define EV_SET(event, a, b, c, d, e, f)                                                            \
	(*(event) = (struct kevent){(uintptr_t) (a), (b), (c), (d), (e), (f)})

int kqueue(void);
int kevent(int queue, const struct kevent *changes, int count, struct kevent *events, int room,
	   const struct timespec *patience);

#endif
