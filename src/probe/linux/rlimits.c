#include "probe/linux/rlimits.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/file.h"
#include "base/parse.h"

/* "Max cpu time              unlimited            unlimited            seconds": the soft limit. */
static bool scan_limit(const char *line, const char *name, uint64_t *ret)
{
	size_t len = strlen(name);
	const char *at = line + len;

	if (strncmp(line, name, len) != 0 || *at != ' ')
		return false;
	at = trk__skip_blanks(at);
	if (!strncmp(at, "unlimited ", 10)) {
		*ret = UINT64_MAX;
		return true;
	}
	return trk__scan_u64(&at, ret);
}

int trk__rlimits_parse(const char *text, struct trk_rlimits *ret)
{
	struct trk_rlimits r;
	unsigned int seen = 0;
	const struct {
		const char *name;
		uint64_t *value;
	} fields[] = {
		{"Max cpu time", &r.cpu_seconds},
		{"Max processes", &r.processes},
		{"Max open files", &r.open_files},
		{"Max address space", &r.address_space_bytes},
	};
	enum { COUNT = sizeof(fields) / sizeof(fields[0]) };

	for (; *text; text = trk__skip_line(text))
		for (unsigned int i = 0; i < COUNT; i++)
			if (scan_limit(text, fields[i].name, fields[i].value))
				seen |= 1u << i;
	if (seen != (1u << COUNT) - 1)
		return -EBADMSG;
	*ret = r;
	return 0;
}

int trk__rlimits_read(int proc_fd, pid_t pid, struct trk_rlimits *ret)
{
	char text[4096];
	ssize_t len = trk__read_at(proc_fd, TRK_PATH("%d/limits", (int) pid), text, sizeof(text));

	return len < 0 ? (int) len : trk__rlimits_parse(text, ret);
}
