#ifdef _WIN32 /* else a checker of code reads this file with the headers of another system */

#include "base/windows/wake.h"

#include <poll.h>

#include "base/clock.h"
#include "base/os.h"

#undef close

enum { FIRST = 1 << 20, WAKES_MAX = 32 };

/* CREATE_WAITABLE_TIMER_HIGH_RESOLUTION of Windows 10 1803. */
enum { HIGH_RESOLUTION = 2 };

/* Used by the thread of the loop alone. */
static HANDLE wake[WAKES_MAX];

int trk__wake_open(HANDLE handle)
{
	if (!handle)
		return -trk__windows_errno(GetLastError());
	for (int i = 0; i < WAKES_MAX; i++)
		if (!wake[i]) {
			wake[i] = handle;
			return FIRST + i;
		}
	(void) CloseHandle(handle);
	return -EMFILE;
}

HANDLE trk__wake_handle(int fd)
{
	return fd >= FIRST && fd < FIRST + WAKES_MAX ? wake[fd - FIRST] : NULL;
}

int trk__close_any(int fd)
{
	HANDLE handle = trk__wake_handle(fd);

	if (!handle)
		return _close(fd);
	wake[fd - FIRST] = NULL;
	(void) CloseHandle(handle);
	return 0;
}

/* ---- timers, and the end of a process ---- */

/* Each takes itself back when a wait has seen it. */
int trk__os_timer(void)
{
	HANDLE timer = CreateWaitableTimerExW(NULL, NULL, HIGH_RESOLUTION, TIMER_ALL_ACCESS);

	return trk__wake_open(timer ? timer : CreateWaitableTimerW(NULL, FALSE, NULL));
}

int trk__os_timer_set(int timer_fd, uint64_t at_ns)
{
	uint64_t now_ns = trk__clock_monotonic_ns();
	LARGE_INTEGER due = {.QuadPart = -1}; /* negative: from now on, in units of 100 ns */
	HANDLE timer = trk__wake_handle(timer_fd);

	if (at_ns == UINT64_MAX)
		return CancelWaitableTimer(timer) ? 0 : -trk__windows_errno(GetLastError());
	if (at_ns > now_ns)
		due.QuadPart = -(LONGLONG) ((at_ns - now_ns) / 100) - 1;
	return SetWaitableTimer(timer, &due, 0, NULL, NULL, FALSE)
		       ? 0
		       : -trk__windows_errno(GetLastError());
}

void trk__os_timer_take(int timer_fd)
{
	(void) timer_fd;
}

int trk__os_process_end(pid_t pid)
{
	return trk__wake_open(OpenProcess(SYNCHRONIZE, FALSE, (DWORD) pid));
}

/* ---- waiting ---- */

static bool is_ready(HANDLE handle)
{
	return WaitForSingleObject(handle, 0) == WAIT_OBJECT_0;
}

int poll(struct pollfd *list, nfds_t n, int timeout_ms)
{
	HANDLE handles[WAKES_MAX];
	nfds_t of[WAKES_MAX];
	DWORD count = 0, first;
	int ready = 0;

	for (nfds_t i = 0; i < n; i++) {
		list[i].revents = 0;
		if (count < WAKES_MAX && trk__wake_handle(list[i].fd)) {
			of[count] = i;
			handles[count++] = trk__wake_handle(list[i].fd);
		}
	}
	if (count == 0) {
		Sleep(timeout_ms < 0 ? INFINITE : (DWORD) timeout_ms);
		return 0;
	}
	first = WaitForMultipleObjects(count, handles, FALSE,
				       timeout_ms < 0 ? INFINITE : (DWORD) timeout_ms);
	if (first == WAIT_FAILED)
		return trk__windows_failed();
	/* The one that ended the wait may have taken itself back. */
	for (DWORD i = 0; first != WAIT_TIMEOUT && i < count; i++)
		if (i == first - WAIT_OBJECT_0 || (i > first && is_ready(handles[i]))) {
			list[of[i]].revents = POLLIN;
			ready++;
		}
	return ready;
}

#endif
