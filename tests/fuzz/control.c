/* Lines between the library and its sampling program, in pieces of any length. Each line is passed
 * on complete and without its terminator. */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "track/control.h"

#include "fuzz.h"

enum { PIECE = 7, BYTES_MAX = 1 << 15 };

/* All lines that are there. False at the end of the stream. */
static bool take_lines(struct trk_control *c, size_t *bytes)
{
	char line[TRK_CONTROL_LINE];
	int r;

	memset(line, 'x', sizeof(line));
	while ((r = trk__control_next(c, line)) > 0) {
		FUZZ_CHECK(strnlen(line, sizeof(line)) < sizeof(line));
		FUZZ_CHECK(!strchr(line, '\n'));
		*bytes += strlen(line) + 1;
	}
	FUZZ_CHECK(r == 0 || r == -EPIPE);
	return r == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trk_control c = {.len = 0};
	size_t bytes = 0;
	int ends[2];

	size = size < BYTES_MAX ? size : BYTES_MAX;
	FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
	c.fd = ends[0];
	for (size_t at = 0; at < size;) {
		size_t n = 1 + data[at] * (size_t) PIECE;

		n = n < size - at ? n : size - at;
		FUZZ_CHECK(send(ends[1], data + at, n, MSG_NOSIGNAL) == (ssize_t) n);
		at += n;
		FUZZ_CHECK(take_lines(&c, &bytes));
	}
	(void) close(ends[1]);
	(void) take_lines(&c, &bytes);
	FUZZ_CHECK(bytes <= size + 1);
	(void) close(ends[0]);
	return 0;
}
