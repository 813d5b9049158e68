#include "probe/linux/pid_io.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/parse.h"

static bool take_line(const char **at, const char *end, const char *name, uint64_t *ret)
{
	*at = trk__skip_prefix(*at, name);
	if (*at)
		*at = trk__take_digits(*at, end, ret);
	return *at && *(*at)++ == '\n';
}

int trk__pid_io_parse(const char *text, size_t len, struct trk_pid_io *ret)
{
	const char *end = text + len;
	struct trk_pid_io io;

	/* The kernel has always written these seven lines in this order. */
	if (!take_line(&text, end, "rchar: ", &io.read_chars) ||
	    !take_line(&text, end, "wchar: ", &io.write_chars) ||
	    !take_line(&text, end, "syscr: ", &io.read_calls) ||
	    !take_line(&text, end, "syscw: ", &io.write_calls) ||
	    !take_line(&text, end, "read_bytes: ", &io.read_bytes) ||
	    !take_line(&text, end, "write_bytes: ", &io.write_bytes) ||
	    !take_line(&text, end, "cancelled_write_bytes: ", &io.cancelled_write_bytes))
		return -EBADMSG;
	*ret = io;
	return 0;
}
