#include "probe/linux/pid_stat.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/hot.h"
#include "base/parse.h"

/* Fields 4 (ppid) to 24 (rss), and far behind them the delay, which old kernels lack. */
enum { FIRST_FIELD = 4, LAST_FIELD = 24, DELAY_FIELD = 42, DIGITS_MAX = 19 };

/* A blank and a number; some are negative (tty, tpgid, priority). This file is read more often than any
 * other, so that calls to the general scanner show. NULL where there is none. */
static const char *take_field(const char *at, int64_t *ret)
{
	uint64_t value = 0;
	const char *start;
	bool minus;

	if (*at++ != ' ')
		return NULL;
	minus = *at == '-';
	start = at += minus;
	for (unsigned int digit; (digit = (unsigned int) *at - '0') <= 9; at++)
		value = value * 10 + digit;
	if (at == start || at - start > DIGITS_MAX || value > INT64_MAX)
		return NULL;
	*ret = minus ? -(int64_t) value : (int64_t) value;
	return at;
}

/* From the end of LAST_FIELD. What stands between holds addresses, which fit no signed number. */
static uint64_t take_delay(const char *at)
{
	uint64_t ticks = 0;

	for (int i = LAST_FIELD + 1; at && i < DELAY_FIELD; i++)
		at = *at == ' ' ? strchr(at + 1, ' ') : NULL;
	return at && *at++ == ' ' && trk__scan_u64(&at, &ticks) ? ticks : 0;
}

TRK_HOT int trk__pid_stat_parse(const char *text, struct trk_pid_stat *ret)
{
	const char *open = strchr(text, '(');
	const char *close = strrchr(text, ')');
	const char *at = text;
	int64_t field[LAST_FIELD + 1];
	struct trk_pid_stat stat = {0};
	uint64_t pid;
	size_t len;

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
	for (int i = FIRST_FIELD; i <= LAST_FIELD; i++) {
		at = take_field(at, &field[i]);
		if (!at)
			return -EBADMSG;
	}
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
	stat.block_delay_ticks = take_delay(at);
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
