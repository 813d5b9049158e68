#include "probe/linux/pid_io.h"

#include <errno.h>
#include <string.h>

#include "base/hot.h"
#include "base/parse.h"

TRK_HOT int trk__pid_io_parse(const char *text, struct trk_pid_io *ret)
{
	static const char *const keys[] = {
		"rchar: ",
		"wchar: ",
		"syscr: ",
		"syscw: ",
		"read_bytes: ",
		"write_bytes: ",
		"cancelled_write_bytes: ",
	};
	enum { COUNT = sizeof(keys) / sizeof(keys[0]) };
	uint64_t value[COUNT];

	/* The kernel has always written these seven lines in this order. */
	for (int i = 0; i < COUNT; i++) {
		size_t len = strlen(keys[i]);

		if (strncmp(text, keys[i], len) != 0)
			return -EBADMSG;
		text += len;
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
