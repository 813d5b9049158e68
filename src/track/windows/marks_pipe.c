/* Windows: a named pipe of the run, which only this user may open, only on this machine. One
 * message per connection. */
#ifdef _WIN32 /* else a checker of code reads this file with the headers of another system */

#include "track/marks_system.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/windows/channel.h"
#include "base/windows/wake.h"

enum { NAME_MAX = 128, PATIENCE_MS = 1000, NAP_MS = 10 };

/* A tracker has one pipe. */
static struct {
	HANDLE pipe;
	OVERLAPPED wait; /* for the next sender; its event is what wakes the loop */
	bool is_waiting;
} marks;

static void name_of(const char *id, size_t len, wchar_t name[NAME_MAX])
{
	(void) swprintf(name, NAME_MAX, L"\\\\.\\pipe\\resource-tracker-%.*hs", (int) len, id);
}

/* The event is set when a sender connects, or at once if one is connected already. */
static void await_sender(void)
{
	marks.is_waiting = true;
	if (ConnectNamedPipe(marks.pipe, &marks.wait))
		return;
	if (GetLastError() == ERROR_PIPE_CONNECTED)
		(void) SetEvent(marks.wait.hEvent);
	else
		marks.is_waiting = GetLastError() == ERROR_IO_PENDING;
}

int trk__marks_listen(const char *run_id)
{
	SECURITY_ATTRIBUTES access = {
		.nLength = sizeof(access),
		.lpSecurityDescriptor = trk__own_access(),
	};
	wchar_t name[NAME_MAX];
	int fd;

	if (!access.lpSecurityDescriptor)
		return -EACCES;
	name_of(run_id, strlen(run_id), name);
	marks.pipe = CreateNamedPipeW(
		name, PIPE_ACCESS_INBOUND | FILE_FLAG_OVERLAPPED | FILE_FLAG_FIRST_PIPE_INSTANCE,
		PIPE_TYPE_MESSAGE | PIPE_READMODE_MESSAGE | PIPE_REJECT_REMOTE_CLIENTS, 1, 0, 4096,
		0, &access);
	(void) LocalFree(access.lpSecurityDescriptor);
	if (marks.pipe == INVALID_HANDLE_VALUE)
		return -trk__windows_errno(GetLastError());
	fd = trk__wake_open(CreateEventW(NULL, TRUE, FALSE, NULL));
	marks.wait = (OVERLAPPED){.hEvent = fd >= 0 ? trk__wake_handle(fd) : NULL};
	if (fd < 0)
		(void) CloseHandle(marks.pipe);
	else
		await_sender();
	return fd;
}

void trk__marks_close(int fd)
{
	if (!trk__wake_handle(fd))
		return;
	(void) CancelIoEx(marks.pipe, NULL);
	(void) CloseHandle(marks.pipe);
	(void) close(fd);
}

/* Wait only a short time for the message of a connected sender. */
static DWORD read_message(char *text, size_t size)
{
	OVERLAPPED reading = {.hEvent = CreateEventW(NULL, TRUE, FALSE, NULL)};
	DWORD len = 0;

	if (!reading.hEvent)
		return 0;
	if (!ReadFile(marks.pipe, text, (DWORD) size, NULL, &reading) &&
	    GetLastError() == ERROR_IO_PENDING &&
	    WaitForSingleObject(reading.hEvent, PATIENCE_MS) != WAIT_OBJECT_0)
		(void) CancelIoEx(marks.pipe, &reading);
	(void) GetOverlappedResult(marks.pipe, &reading, &len, TRUE);
	(void) CloseHandle(reading.hEvent);
	return len;
}

ssize_t trk__marks_receive(int fd, char *text, size_t size)
{
	DWORD len;

	if (!marks.is_waiting || WaitForSingleObject(trk__wake_handle(fd), 0) != WAIT_OBJECT_0)
		return -EAGAIN;
	len = read_message(text, size);
	(void) ResetEvent(marks.wait.hEvent);
	(void) DisconnectNamedPipe(marks.pipe);
	await_sender();
	return (ssize_t) len;
}

/* An earlier sender may still be connected. */
int trk__marks_deliver(const char *id, size_t id_len, const char *text, size_t len)
{
	enum { ANONYMOUS = SECURITY_SQOS_PRESENT | SECURITY_ANONYMOUS };
	uint64_t until_ns = trk__clock_monotonic_ns() + PATIENCE_MS * TRK_NS_PER_MS;
	wchar_t name[NAME_MAX];
	HANDLE pipe;
	DWORD written, error;

	name_of(id, id_len, name);
	while ((pipe = CreateFileW(name, GENERIC_WRITE, 0, NULL, OPEN_EXISTING, ANONYMOUS, NULL)) ==
	       INVALID_HANDLE_VALUE) {
		error = GetLastError();
		if (error != ERROR_PIPE_BUSY)
			return error == ERROR_FILE_NOT_FOUND ? -ECONNREFUSED
							     : -trk__windows_errno(error);
		if (trk__clock_monotonic_ns() >= until_ns)
			return -ETIMEDOUT;
		Sleep(NAP_MS);
	}
	error = WriteFile(pipe, text, (DWORD) len, &written, NULL) ? 0 : GetLastError();
	(void) CloseHandle(pipe);
	return error ? -trk__windows_errno(error) : 0;
}

#endif
