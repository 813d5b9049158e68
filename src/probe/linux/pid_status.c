#include "probe/linux/pid_status.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/parse.h"

/* After the first, which may be the only one. */
static pid_t last_number(const char *at, uint64_t value)
{
	while (trk__scan_u64(&at, &value))
		continue;
	return value <= INT32_MAX ? (pid_t) value : 0;
}

int trk__pid_status_parse(const char *text, struct trk_pid_status *ret)
{
	struct trk_pid_status s = {0};
	uint64_t uid = 0, inner = 0;
	bool has_threads = false;
	/* In the file's order: a line that is wanted is most often the one after the last that was
	 * found. */
	const struct {
		const char *key;
		uint64_t *value;
		unsigned int shift; /* 10 for kB */
	} fields[] = {
		{"Uid:", &uid, 0},
		{"NSpid:", &inner, 0},
		{"VmHWM:", &s.hwm_bytes, 10},
		{"VmRSS:", &s.rss_bytes, 10},
		{"RssAnon:", &s.rss_anon_bytes, 10},
		{"RssFile:", &s.rss_file_bytes, 10},
		{"RssShmem:", &s.rss_shmem_bytes, 10},
		{"VmSwap:", &s.swap_bytes, 10},
		{"Threads:", &s.threads, 0},
		{"voluntary_ctxt_switches:", &s.voluntary_switches, 0},
		{"nonvoluntary_ctxt_switches:", &s.involuntary_switches, 0},
	};
	const size_t count = sizeof(fields) / sizeof(fields[0]);
	size_t next = 0;
	uint64_t letters = 0; /* that lines which are wanted start with, by their lower six bits */

	for (size_t i = 0; i < count; i++)
		letters |= UINT64_C(1) << (*fields[i].key & 63);
	for (; *text; text = trk__skip_line(text)) {
		if (!(letters >> (*text & 63) & 1))
			continue;
		for (size_t k = 0; k < count; k++) {
			size_t i = next + k < count ? next + k : next + k - count;
			const char *at;
			uint64_t value;

			if (*text != *fields[i].key)
				continue;
			at = trk__skip_prefix(text, fields[i].key);
			if (!at || !trk__scan_u64(&at, &value) ||
			    value > UINT64_MAX >> fields[i].shift)
				continue;
			*fields[i].value = value << fields[i].shift;
			if (fields[i].value == &inner)
				s.inner_pid = last_number(at, value);
			s.has_memory |= fields[i].value == &s.rss_bytes;
			has_threads |= fields[i].value == &s.threads;
			next = i + 1;
			break;
		}
	}
	if (!has_threads)
		return -EBADMSG;
	s.uid = (uint32_t) uid;
	*ret = s;
	return 0;
}

int trk__pid_status_read(int proc_fd, pid_t pid, struct trk_pid_status *ret)
{
	char path[32], text[TRK_PID_STATUS_SIZE];
	ssize_t len;

	(void) snprintf(path, sizeof(path), "%d/status", (int) pid);
	len = trk__read_once_at(proc_fd, path, text, sizeof(text));
	if (len < 0 && len != -EFBIG)
		return (int) len;
	return trk__pid_status_parse(text, ret);
}
