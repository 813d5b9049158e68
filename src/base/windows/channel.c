/* A read of an end is always under way, into memory of the end: its event is what poll() waits
 * for. */
#ifdef _WIN32 /* else a checker of code reads this file with the headers of another system */

#include "base/windows/channel.h"

#include <sddl.h>

#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/libc.h"
#include "base/os.h"
#include "base/windows/wake.h"

enum { BUFFER_SIZE = 65536, CHUNK_SIZE = 4096, NAME_MAX = 96, PATIENCE_MS = 100 };

struct channel {
	HANDLE pipe;
	OVERLAPPED reading; /* its event is set while there is something to take */
	bool is_reading, has_ended;
	DWORD from, until; /* what was read and not taken yet */
	char data[CHUNK_SIZE];
};

PSECURITY_DESCRIPTOR trk__own_access(void)
{
	union {
		TOKEN_USER user;
		BYTE room[sizeof(TOKEN_USER) + SECURITY_MAX_SID_SIZE];
	} token;
	PSECURITY_DESCRIPTOR access = NULL;
	wchar_t text[256], *sid = NULL;
	HANDLE own;
	DWORD len;

	if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &own))
		return NULL;
	if (GetTokenInformation(own, TokenUser, &token, sizeof(token), &len) &&
	    ConvertSidToStringSidW(token.user.User.Sid, &sid)) {
		(void) swprintf(text, 256, L"D:P(A;;GA;;;%ls)", sid);
		(void) ConvertStringSecurityDescriptorToSecurityDescriptorW(text, SDDL_REVISION_1,
									    &access, NULL);
	}
	(void) LocalFree(sid);
	(void) CloseHandle(own);
	return access;
}

/* ---- reading ---- */

static void end(struct channel *c)
{
	c->has_ended = true;
	(void) SetEvent(c->reading.hEvent);
}

static void begin_read(struct channel *c)
{
	HANDLE event = c->reading.hEvent;

	(void) ResetEvent(event);
	c->reading = (OVERLAPPED){.hEvent = event};
	c->from = c->until = 0;
	c->is_reading = ReadFile(c->pipe, c->data, CHUNK_SIZE, NULL, &c->reading) ||
			GetLastError() == ERROR_IO_PENDING;
	if (!c->is_reading)
		end(c);
}

/* Look whether the read is complete. */
static void look(struct channel *c)
{
	DWORD len;

	if (!c->is_reading)
		return;
	if (GetOverlappedResult(c->pipe, &c->reading, &len, FALSE)) {
		c->is_reading = false;
		c->until = len;
	} else if (GetLastError() == ERROR_OPERATION_ABORTED) {
		begin_read(c); /* the thread that began it has ended */
	} else if (GetLastError() != ERROR_IO_INCOMPLETE) {
		c->is_reading = false;
		end(c);
	}
}

/* ---- life ---- */

static void release(void *data)
{
	struct channel *c = data;
	DWORD len;

	if (c->is_reading) { /* it must not write into freed memory */
		(void) CancelIoEx(c->pipe, &c->reading);
		(void) GetOverlappedResult(c->pipe, &c->reading, &len, TRUE);
	}
	(void) CloseHandle(c->pipe);
	free(c);
}

/* Takes the handle, on failure too. reads: false for an end that another process will read from.
 * Returns a number or a negative errno. */
static int open_end(HANDLE pipe, bool reads)
{
	struct channel *c = calloc(1, sizeof(*c));
	int fd;

	if (!c) {
		(void) CloseHandle(pipe);
		return -ENOMEM;
	}
	c->pipe = pipe;
	c->reading.hEvent = CreateEventW(NULL, TRUE, FALSE, NULL);
	fd = trk__wake_open_with(c->reading.hEvent, c, release);
	if (fd >= 0 && reads)
		begin_read(c);
	return fd;
}

static struct channel *find(int fd)
{
	return trk__wake_data(fd, release);
}

HANDLE trk__channel_handle(int fd)
{
	const struct channel *c = find(fd);

	return c ? c->pipe : NULL;
}

static HANDLE make_pipe(const wchar_t *name)
{
	SECURITY_ATTRIBUTES access = {
		.nLength = sizeof(access),
		.lpSecurityDescriptor = trk__own_access(),
	};
	DWORD error = ERROR_ACCESS_DENIED;
	HANDLE pipe = INVALID_HANDLE_VALUE;

	if (access.lpSecurityDescriptor) {
		pipe = CreateNamedPipeW(name,
					PIPE_ACCESS_DUPLEX | FILE_FLAG_OVERLAPPED |
						FILE_FLAG_FIRST_PIPE_INSTANCE,
					PIPE_TYPE_BYTE | PIPE_REJECT_REMOTE_CLIENTS, 1, BUFFER_SIZE,
					BUFFER_SIZE, 0, &access);
		error = GetLastError();
		(void) LocalFree(access.lpSecurityDescriptor);
	}
	SetLastError(error);
	return pipe;
}

/* A pipe of one instance whose other end is open here is connected to no other program. */
int trk__os_socket_pair(int ends[2])
{
	wchar_t name[NAME_MAX];
	HANDLE pipe, other;
	int r;

	(void) swprintf(name, NAME_MAX, L"\\\\.\\pipe\\resource-tracker-control-%lu-%08x%08x",
			GetCurrentProcessId(), trk__random_bits(), trk__random_bits());
	pipe = make_pipe(name);
	if (pipe == INVALID_HANDLE_VALUE)
		return -trk__windows_errno(GetLastError());
	other = CreateFileW(name, GENERIC_READ | GENERIC_WRITE, 0, NULL, OPEN_EXISTING,
			    FILE_FLAG_OVERLAPPED | SECURITY_SQOS_PRESENT | SECURITY_ANONYMOUS,
			    NULL);
	if (other == INVALID_HANDLE_VALUE) {
		r = -trk__windows_errno(GetLastError());
		(void) CloseHandle(pipe);
		return r;
	}
	ends[0] = open_end(pipe, true);
	ends[1] = open_end(other, false);
	if (ends[0] >= 0 && ends[1] >= 0)
		return 0;
	r = ends[0] < 0 ? ends[0] : ends[1];
	for (int i = 0; i < 2; i++)
		if (ends[i] >= 0)
			(void) close(ends[i]);
	return r;
}

int trk__os_inherit_socket(uint64_t number)
{
	HANDLE pipe = (HANDLE) (uintptr_t) number;

	if (number == 0 || number > INT32_MAX || GetFileType(pipe) != FILE_TYPE_PIPE ||
	    !SetHandleInformation(pipe, HANDLE_FLAG_INHERIT, 0))
		return -EBADF;
	return open_end(pipe, true);
}

/* ---- use ---- */

ssize_t trk__os_receive(int fd, void *data, size_t size)
{
	struct channel *c = find(fd);
	size_t len;

	if (!c)
		return -EBADF;
	look(c);
	if (c->from == c->until)
		return c->has_ended ? 0 : -EAGAIN;
	len = c->until - c->from < size ? c->until - c->from : size;
	memcpy(data, c->data + c->from, len);
	c->from += (DWORD) len;
	if (c->from == c->until)
		begin_read(c);
	return (ssize_t) len;
}

/* The system takes it at once while its buffer has room. */
int trk__os_send(int fd, const void *data, size_t len)
{
	OVERLAPPED writing = {.hEvent = CreateEventW(NULL, TRUE, FALSE, NULL)};
	const struct channel *c = find(fd);
	DWORD done = 0, error = 0;

	if (!c || !writing.hEvent)
		return c ? -ENOMEM : -EBADF;
	if (!WriteFile(c->pipe, data, (DWORD) len, NULL, &writing) &&
	    GetLastError() == ERROR_IO_PENDING &&
	    WaitForSingleObject(writing.hEvent, PATIENCE_MS) != WAIT_OBJECT_0)
		(void) CancelIoEx(c->pipe, &writing);
	if (!GetOverlappedResult(c->pipe, &writing, &done, TRUE))
		error = GetLastError();
	(void) CloseHandle(writing.hEvent);
	if (error == ERROR_OPERATION_ABORTED || (error == 0 && done < len))
		return -EAGAIN;
	return error ? -EPIPE : 0;
}

bool trk__os_has_hung_up(int fd)
{
	const struct channel *c = find(fd);

	return c && !PeekNamedPipe(c->pipe, NULL, 0, NULL, NULL, NULL);
}

#endif
