/* Preloaded into the tracker: the clocks step, as when somebody sets them or the machine was
 * suspended.
 *
 *     TRK_CLOCK=AFTER_MS:WALL_S:BOOT_S   AFTER_MS after the start the wall clock steps by WALL_S and the
 *                                        clock that counts suspended time, too, by BOOT_S
 *
 * Nothing is done to the job: the variables are taken out of the environment before main() runs. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long after_ms, wall_s, boot_s;
static struct timespec start;

static long since_start_ms(void)
{
	struct timespec now;

	(void) syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
	return (now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000;
}

__attribute__((constructor)) static void take_orders(void)
{
	const char *order = getenv("TRK_CLOCK");

	if (!order || sscanf(order, "%ld:%ld:%ld", &after_ms, &wall_s, &boot_s) != 3)
		wall_s = boot_s = 0;
	(void) unsetenv("TRK_CLOCK");
	(void) unsetenv("LD_PRELOAD");
	(void) syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &start);
}

int clock_gettime(clockid_t id, struct timespec *ret)
{
	int r = (int) syscall(SYS_clock_gettime, id, ret);

	if (r == 0 && (id == CLOCK_REALTIME || id == CLOCK_BOOTTIME) &&
	    since_start_ms() >= after_ms)
		ret->tv_sec += id == CLOCK_REALTIME ? wall_s : boot_s;
	return r;
}
