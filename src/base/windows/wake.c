#ifdef _WIN32 /* else a checker of code reads this file with the headers of another system */

#include "base/windows/wake.h"

#include <poll.h>

#include "base/clock.h"
#include "base/os.h"

#undef close

enum { FIRST = 1 << 20, WAKES_MAX = 256, POLL_MAX = 32 };

/* CREATE_WAITABLE_TIMER_HIGH_RESOLUTION of Windows 10 1803. */
enum { HIGH_RESOLUTION = 2 };

struct wake {
	HANDLE handle; /* NULL: free */
	void *data;
	trk__wake_release *release;
};

/* An entry is used by the thread that opened it, or under a lock of its user. */
static struct wake wake[WAKES_MAX];
static SRWLOCK wake_lock = SRWLOCK_INIT; /* while an entry is taken or freed */

static int add(struct wake entry)
{
	int fd = -EMFILE;

	AcquireSRWLockExclusive(&wake_lock);
	for (int i = 0; i < WAKES_MAX && fd < 0; i++)
		if (!wake[i].handle) {
			wake[i] = entry;
			fd = FIRST + i;
		}
	ReleaseSRWLockExclusive(&wake_lock);
	return fd;
}

static void drop(const struct wake *entry)
{
	if (entry->release)
		entry->release(entry->data);
	if (entry->handle)
		(void) CloseHandle(entry->handle);
}

int trk__wake_open_with(HANDLE handle, void *data, trk__wake_release *release)
{
	struct wake entry = {handle, data, release};
	int fd = handle ? add(entry) : -trk__windows_errno(GetLastError());

	if (fd < 0)
		drop(&entry);
	return fd;
}

int trk__wake_open(HANDLE handle)
{
	return trk__wake_open_with(handle, NULL, NULL);
}

static bool is_wake(int fd)
{
	return fd >= FIRST && fd < FIRST + WAKES_MAX;
}

HANDLE trk__wake_handle(int fd)
{
	return is_wake(fd) ? wake[fd - FIRST].handle : NULL;
}

void *trk__wake_data(int fd, trk__wake_release *release)
{
	return trk__wake_handle(fd) && wake[fd - FIRST].release == release ? wake[fd - FIRST].data
									   : NULL;
}

int trk__close_any(int fd)
{
	struct wake entry;

	if (!trk__wake_handle(fd))
		return _close(fd);
	AcquireSRWLockExclusive(&wake_lock);
	entry = wake[fd - FIRST];
	wake[fd - FIRST] = (struct wake){0};
	ReleaseSRWLockExclusive(&wake_lock);
	drop(&entry);
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
	HANDLE handles[POLL_MAX];
	nfds_t of[POLL_MAX];
	DWORD count = 0, first;
	int ready = 0;

	for (nfds_t i = 0; i < n; i++) {
		list[i].revents = 0;
		if (count < POLL_MAX && trk__wake_handle(list[i].fd)) {
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
