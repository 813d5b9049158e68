#include "probe/linux/pid_status.h"

#include <errno.h>
#include <stdio.h>

#include "base/file.h"
#include "base/parse.h"

/* "0	0	0	0": four numbers. */
static int64_t single_uid(const char *text)
{
	uint64_t uid[4];

	for (int i = 0; i < 4; i++)
		if (!trk__scan_u64(&text, &uid[i]) || uid[i] != uid[0] || uid[i] > UINT32_MAX)
			return -1;
	return (int64_t) uid[0];
}

int trk__pid_status_parse(const char *text, struct trk_pid_status *ret)
{
	struct trk_pid_status s = {.uid = -1};
	uint64_t threads = 0;
	bool has_threads = false;
	const struct {
		const char *key;
		uint64_t *value;
		unsigned int shift; /* 10 for kB */
		bool *seen;         /* may be NULL */
	} fields[] = {
		{"Tgid:", &s.process, 0, NULL},
		{"VmHWM:", &s.hwm_bytes, 10, NULL},
		{"VmRSS:", &s.rss_bytes, 10, &s.has_memory},
		{"RssAnon:", &s.rss_anon_bytes, 10, NULL},
		{"VmSwap:", &s.swap_bytes, 10, NULL},
		{"HugetlbPages:", &s.huge_bytes, 10, NULL},
		{"Threads:", &threads, 0, &has_threads},
	};
	const size_t count = sizeof(fields) / sizeof(fields[0]);

	for (size_t i = 0; *text && i < count; text = trk__skip_line(text)) {
		const char *uids = trk__skip_prefix(text, "Uid:");

		if (uids)
			s.uid = single_uid(uids);
		for (size_t k = i; k < count; k++) { /* the entries are in the file's order */
			const char *at = trk__skip_prefix(text, fields[k].key);
			uint64_t value;

			if (!at || !trk__scan_u64(&at, &value) ||
			    value > UINT64_MAX >> fields[k].shift)
				continue;
			*fields[k].value = value << fields[k].shift;
			if (fields[k].seen)
				*fields[k].seen = true;
			i = k + 1;
			break;
		}
	}
	if (!has_threads)
		return -EBADMSG;
	*ret = s;
	return 0;
}

int trk__pid_status_read(int proc_fd, pid_t pid, struct trk_pid_status *ret)
{
	char text[TRK_PID_STATUS_SIZE];
	ssize_t len =
		trk__read_once_at(proc_fd, TRK_PATH("%d/status", (int) pid), text, sizeof(text));

	return len < 0 && len != -EFBIG ? (int) len : trk__pid_status_parse(text, ret);
}

bool trk__thread_follow(int proc_fd, pid_t *pid, char *note, size_t size)
{
	struct trk_pid_status s;

	if (trk__pid_status_read(proc_fd, *pid, &s) < 0 || s.process == 0 ||
	    s.process > INT32_MAX || (pid_t) s.process == *pid)
		return false;
	(void) snprintf(note, size, "pid %d: a thread of process %d, which is tracked as a whole",
			(int) *pid, (int) s.process);
	*pid = (pid_t) s.process;
	return true;
}
