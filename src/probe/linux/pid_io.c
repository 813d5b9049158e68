#include "probe/linux/pid_io.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/hot.h"
#include "base/parse.h"

/* A number and the end of its line. */
TRK_HOT static const char *take_value(const char *at, const char *end, uint64_t *ret)
{
	at = trk__take_digits(at, end, ret);
	return at && *at == '\n' ? at + 1 : NULL;
}

/* A name that is known here is compared in place; what the C library has for it stands on a page that is cold
 * after a second. */
static inline __attribute__((always_inline)) bool take_line(const char **at, const char *end,
							    const char *name, size_t len,
							    uint64_t *ret)
{
	if ((size_t) (end - *at) < len || memcmp(*at, name, len) != 0)
		return false;
	*at = take_value(*at + len, end, ret);
	return *at != NULL;
}

TRK_HOT int trk__pid_io_parse(const char *text, size_t len, struct trk_pid_io *ret)
{
#define NAME(text) text, sizeof(text) - 1
	const char *end = text + len;
	struct trk_pid_io io;

	/* The kernel has always written these seven lines in this order. */
	if (!take_line(&text, end, NAME("rchar: "), &io.read_chars) ||
	    !take_line(&text, end, NAME("wchar: "), &io.write_chars) ||
	    !take_line(&text, end, NAME("syscr: "), &io.read_calls) ||
	    !take_line(&text, end, NAME("syscw: "), &io.write_calls) ||
	    !take_line(&text, end, NAME("read_bytes: "), &io.read_bytes) ||
	    !take_line(&text, end, NAME("write_bytes: "), &io.write_bytes) ||
	    !take_line(&text, end, NAME("cancelled_write_bytes: "), &io.cancelled_write_bytes))
		return -EBADMSG;
#undef NAME
	*ret = io;
	return 0;
}
