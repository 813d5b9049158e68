/* What base/os.h has in one form on all POSIX systems. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/blocking.h"
#include "base/os.h"

/* At the end nothing else waits. */
enum { STUCK_MS = 2000, STUCK_STEP_MS = 20 };

const char trk__os_program_ending[] = "";
const bool trk__os_has_links = true;
const bool trk__os_has_modes = true;

ssize_t trk__os_receive(int fd, void *data, size_t size)
{
	ssize_t n;

	do
		n = recv(fd, data, size, MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* Descriptors that are being written to; the last bit is for all further ones. */
static _Atomic uint64_t written_to;

static uint64_t bit_of(int fd)
{
	return 1ull << (fd < 63 ? fd : 63);
}

bool trk__os_write_is_stuck(int fd)
{
	return fd >= 0 && atomic_load(&written_to) & bit_of(fd);
}

/* From a copy: when an abandoned write returns, the caller's data may be gone. */
static ssize_t write_part(int fd, const char *data, size_t len)
{
	char copy[PIPE_BUF];
	ssize_t n;

	memcpy(copy, data, len);
	{
		TRK_MAY_BLOCK(TRK_BLOCKING_OUTPUT, 0);

		atomic_fetch_or(&written_to, bit_of(fd));
		n = write(fd, copy, len);
		atomic_fetch_and(&written_to, ~bit_of(fd));
	}
	return n;
}

static bool waits_in_vain(int fd, int ms)
{
	for (int waited = 0; trk__os_write_is_stuck(fd); waited += STUCK_STEP_MS) {
		if (waited >= (ms < 0 ? STUCK_MS : ms))
			return true;
		(void) poll(NULL, 0, STUCK_STEP_MS);
	}
	return false;
}

ssize_t trk__os_write_in_time(int fd, const void *data, size_t len, int ms)
{
	struct pollfd to = {.fd = fd, .events = POLLOUT};
	const char *at = data;
	size_t done = 0;

	while (done < len && !waits_in_vain(fd, ms)) {
		int ready = poll(&to, 1, ms);
		/* A pipe that poll() calls writable has room for PIPE_BUF bytes. */
		size_t part = len - done < PIPE_BUF ? len - done : PIPE_BUF;
		ssize_t n = ready == 1 ? write_part(fd, at + done, part) : -1;

		if (ready == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
			return ready == 0 ? (ssize_t) done : -errno;
		done += n > 0 ? (size_t) n : 0;
	}
	return (ssize_t) done;
}

int trk__os_send(int fd, const void *data, size_t len)
{
	ssize_t n = send(fd, data, len, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n < 0)
		return -errno;
	return (size_t) n == len ? 0 : -EAGAIN;
}

bool trk__os_has_hung_up(int fd)
{
	struct pollfd other_end = {.fd = fd};

	return poll(&other_end, 1, 0) == 1 && other_end.revents & POLLHUP;
}

int trk__os_inherit_socket(uint64_t number)
{
	if (number > INT32_MAX || fcntl((int) number, F_SETFD, FD_CLOEXEC) < 0)
		return -EBADF;
	return (int) number;
}

bool trk__os_is_absolute(const char *path)
{
	return path[0] == '/';
}

int trk__os_temporary_dir(char *path, size_t size)
{
	return snprintf(path, size, "/tmp") < (int) size ? 0 : -ENAMETOOLONG;
}

void trk__os_host_name(char *name, size_t size)
{
	if (gethostname(name, size) < 0)
		name[0] = '\0';
	name[size - 1] = '\0';
}

long trk__os_utc_offset_s(time_t at)
{
	struct tm tm;

	return localtime_r(&at, &tm) ? tm.tm_gmtoff : 0;
}

char *trk__os_variable(const char *name)
{
	return getenv(name);
}

static bool is_file_to_run(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* As execvp(3) looks for it. */
bool trk__os_has_program(const char *name)
{
	const char *at = getenv("PATH");
	char path[4096];

	while (at && *name) {
		int len = (int) strcspn(at, ":");

		if (snprintf(path, sizeof(path), "%.*s%s%s", len, at, len ? "/" : "", name) <
			    (int) sizeof(path) &&
		    is_file_to_run(path))
			return true;
		at = at[len] ? at + len + 1 : NULL;
	}
	return false;
}
