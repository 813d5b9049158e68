#include "probe/linux/pid_io.h"

#include <errno.h>
#include <stdbool.h>

#include "base/hot.h"
#include "base/parse.h"

/* By hand: each function of the C library stands on a page of its own, which is cold after a second. */
static bool is_key(const char *text, const char *key, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] != key[i])
			return false;
	return true;
}

TRK_HOT int trk__pid_io_parse(const char *text, struct trk_pid_io *ret)
{
#define KEY(text)                                                                                  \
	{                                                                                          \
		text, sizeof(text) - 1                                                             \
	}
	static const struct {
		char text[24];
		size_t len;
	} keys[] = {
		KEY("rchar: "),
		KEY("wchar: "),
		KEY("syscr: "),
		KEY("syscw: "),
		KEY("read_bytes: "),
		KEY("write_bytes: "),
		KEY("cancelled_write_bytes: "),
	};
#undef KEY
	enum { COUNT = sizeof(keys) / sizeof(keys[0]) };
	uint64_t value[COUNT];

	/* The kernel has always written these seven lines in this order. */
	for (int i = 0; i < COUNT; i++) {
		if (!is_key(text, keys[i].text, keys[i].len))
			return -EBADMSG;
		text += keys[i].len;
		if (!trk__scan_u64(&text, &value[i]) || *text != '\n')
			return -EBADMSG;
		text++;
	}
	*ret = (struct trk_pid_io){
		.read_chars = value[0],
		.write_chars = value[1],
		.read_calls = value[2],
		.write_calls = value[3],
		.read_bytes = value[4],
		.write_bytes = value[5],
		.cancelled_write_bytes = value[6],
	};
	return 0;
}
