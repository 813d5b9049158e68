#include "probe/linux/pid_stat.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/parse.h"

/* Fields 4 (ppid) to 42 (delayacct_blkio_ticks); some are negative (tty, tpgid, priority). */
enum { FIRST_FIELD = 4, LAST_FIELD = 42 };

int trk__pid_stat_parse(const char *text, struct trk_pid_stat *ret)
{
	const char *open = strchr(text, '(');
	const char *close = strrchr(text, ')');
	const char *at = text;
	int64_t field[LAST_FIELD + 1] = {0};
	struct trk_pid_stat stat = {0};
	uint64_t pid;
	size_t len;
	int i;

	if (!open || !close || close < open || !trk__scan_u64(&at, &pid) || pid > INT32_MAX)
		return -EBADMSG;
	len = (size_t) (close - open - 1);
	if (len >= sizeof(stat.comm))
		len = sizeof(stat.comm) - 1;
	memcpy(stat.comm, open + 1, len);
	if (close[1] != ' ' || close[2] == '\0' || close[2] == ' ')
		return -EBADMSG;
	stat.state = close[2];
	at = close + 3;
	for (i = FIRST_FIELD; i <= LAST_FIELD; i++) {
		uint64_t large;

		/* Address-like fields (rsslim is 2^64-1) do not fit a signed number. */
		if (!trk__scan_i64(&at, &field[i])) {
			if (!trk__scan_u64(&at, &large))
				break;
			field[i] = INT64_MAX;
		}
	}
	/* Kernels before 2.6.18 end earlier; rss is the last field that we cannot do without. */
	if (i <= 24)
		return -EBADMSG;
	stat.pid = (pid_t) pid;
	stat.ppid = (pid_t) field[4];
	stat.pgrp = (pid_t) field[5];
	stat.session = (pid_t) field[6];
	stat.minor_faults = (uint64_t) field[10];
	stat.child_minor_faults = (uint64_t) field[11];
	stat.major_faults = (uint64_t) field[12];
	stat.child_major_faults = (uint64_t) field[13];
	stat.user_ticks = (uint64_t) field[14];
	stat.system_ticks = (uint64_t) field[15];
	stat.child_user_ticks = (uint64_t) field[16];
	stat.child_system_ticks = (uint64_t) field[17];
	stat.threads = (uint64_t) field[20];
	stat.start_ticks = (uint64_t) field[22];
	stat.rss_pages = field[24] > 0 ? (uint64_t) field[24] : 0;
	stat.block_delay_ticks = (uint64_t) field[42];
	*ret = stat;
	return 0;
}

int trk__pid_stat_read(int proc_fd, pid_t pid, struct trk_pid_stat *ret)
{
	char path[32], text[TRK_PID_STAT_SIZE];
	ssize_t len;

	(void) snprintf(path, sizeof(path), "%d/stat", (int) pid);
	len = trk__read_once_at(proc_fd, path, text, sizeof(text));
	if (len < 0)
		return (int) len;
	return trk__pid_stat_parse(text, ret);
}
