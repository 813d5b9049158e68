#include "probe/linux/rlimits.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "base/parse.h"

int trk__rlimits_parse(const char *text, uint64_t *ret_bytes)
{
	for (; *text; text = trk__skip_line(text)) {
		const char *at = trk__skip_prefix(text, "Max address space ");

		if (!at)
			continue;
		at = trk__skip_blanks(at);
		if (strncmp(at, "unlimited ", 10) != 0)
			return trk__scan_u64(&at, ret_bytes) ? 0 : -EBADMSG;
		*ret_bytes = UINT64_MAX;
		return 0;
	}
	return -EBADMSG;
}

int trk__rlimits_read(int proc_fd, pid_t pid, uint64_t *ret_bytes)
{
	char text[4096];
	ssize_t len = trk__read_at(proc_fd, TRK_PATH("%d/limits", (int) pid), text, sizeof(text));

	return len < 0 ? (int) len : trk__rlimits_parse(text, ret_bytes);
}
