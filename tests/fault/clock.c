/* Preloaded into the tracker: the clocks step, as if a user set them or the machine was suspended,
 * or they run fast, so that a run of an hour takes seconds.
 *
 *     TRK_CLOCK=AFTER_MS:WALL_S:BOOT_S   AFTER_MS after the start, the wall clock steps by WALL_S,
 *                                        and the clock that includes suspended time by BOOT_S
 *     TRK_CLOCK=0:0:0:SPEED              all three clocks run SPEED times as fast; CPU clocks do not
 *     TRK_CLOCK=0:0:0:1:1                the tracker waits for the answer of its history as long as
 *                                        it takes: the monotonic clock stands still meanwhile
 *
 * The job is not affected: the variables are removed from the environment before main() runs. */
#define _GNU_SOURCE
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000

static const struct timespec patience = {600, 0};
static long after_ms, wall_s, boot_s;
static double speed = 1;
static int is_patient;
static int64_t waited_ns;
static int64_t start_ns[CLOCK_BOOTTIME + 1];

static int64_t ns_of(const struct timespec *t)
{
	return t->tv_sec * (int64_t) NS_PER_S + t->tv_nsec;
}

static struct timespec timespec_of(int64_t ns)
{
	return (struct timespec){ns / NS_PER_S, ns % NS_PER_S};
}

static int64_t real_ns(clockid_t id)
{
	struct timespec now;

	(void) syscall(SYS_clock_gettime, id, &now);
	return ns_of(&now);
}

__attribute__((constructor)) static void take_orders(void)
{
	const char *order = getenv("TRK_CLOCK");

	if (!order || sscanf(order, "%ld:%ld:%ld:%lf:%d", &after_ms, &wall_s, &boot_s, &speed,
			     &is_patient) < 3)
		wall_s = boot_s = 0;
	(void) unsetenv("TRK_CLOCK");
	(void) unsetenv("LD_PRELOAD");
	start_ns[CLOCK_REALTIME] = real_ns(CLOCK_REALTIME);
	start_ns[CLOCK_MONOTONIC] = real_ns(CLOCK_MONOTONIC);
	start_ns[CLOCK_BOOTTIME] = real_ns(CLOCK_BOOTTIME);
}

int clock_gettime(clockid_t id, struct timespec *ret)
{
	int r = (int) syscall(SYS_clock_gettime, id, ret);
	int64_t since_ns = real_ns(CLOCK_MONOTONIC) - start_ns[CLOCK_MONOTONIC];

	if (r < 0 || (id != CLOCK_REALTIME && id != CLOCK_MONOTONIC && id != CLOCK_BOOTTIME))
		return r;
	*ret = timespec_of(start_ns[id] + (int64_t) ((double) (ns_of(ret) - start_ns[id]) * speed));
	if (id == CLOCK_MONOTONIC)
		*ret = timespec_of(ns_of(ret) - waited_ns);
	if (id != CLOCK_MONOTONIC && since_ns >= after_ms * 1000000)
		ret->tv_sec += id == CLOCK_REALTIME ? wall_s : boot_s;
	return r;
}

/* Absolute times are on the monotonic clock. */
int timerfd_settime(int fd, int flags, const struct itimerspec *new, struct itimerspec *old)
{
	struct itimerspec spec = *new;
	int64_t start = start_ns[CLOCK_MONOTONIC], at = ns_of(&new->it_value);

	if (flags & TFD_TIMER_ABSTIME && at > 0) {
		at = start + (int64_t) ((double) (at + waited_ns - start) / speed) + 1;
		spec.it_value = timespec_of(at > 1 ? at : 1); /* 1: at once */
	}
	return (int) syscall(SYS_timerfd_settime, fd, flags, &spec, old);
}

/* The wait for the history: of at most 300 ms, for a pipe. */
static int is_long_wait(const struct pollfd *fd, nfds_t n, int timeout_ms)
{
	struct stat st;

	return is_patient && n == 1 && timeout_ms > 0 && timeout_ms <= 300 &&
	       fstat(fd->fd, &st) == 0 && S_ISFIFO(st.st_mode);
}

/* The header says of poll() that it does not read *fd. */
int poll_patiently(struct pollfd *fd, nfds_t n, int timeout_ms) __asm__("poll");

int poll_patiently(struct pollfd *fd, nfds_t n, int timeout_ms)
{
	struct timespec time = timespec_of(timeout_ms * (int64_t) 1000000);
	int is_long = is_long_wait(fd, n, timeout_ms);
	int64_t begin_ns = real_ns(CLOCK_MONOTONIC);
	int r = (int) syscall(SYS_ppoll, fd, n,
			      is_long          ? &patience
			      : timeout_ms < 0 ? NULL
					       : &time,
			      NULL, 0);

	if (is_long)
		waited_ns += real_ns(CLOCK_MONOTONIC) - begin_ns;
	return r;
}
