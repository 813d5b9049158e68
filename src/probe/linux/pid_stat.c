#include "probe/linux/pid_stat.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/hot.h"
#include "base/parse.h"

/* Behind the state ppid (4) to rss (24), and far behind them the delay, which old kernels lack. */
enum { STATE_FIELD = 3, LAST_FIELD = 24, DELAY_FIELD = 42, DIGITS_MAX = 19 };

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

uint64_t trk__pid_stat_block_delay(const char *text)
{
	const char *at = strrchr(text, ')');
	uint64_t ticks = 0;

	/* The blank before STATE_FIELD; what stands between holds addresses, too. */
	at = at ? strchr(at, ' ') : NULL;
	for (int i = STATE_FIELD; at && i < DELAY_FIELD; i++)
		at = strchr(at + 1, ' ');
	return at && trk__scan_u64(&at, &ticks) ? ticks : 0;
}

/* The ')' that ends the name: the last of the TRK_COMM_SIZE bytes that the longest name of a kernel leaves for
 * it, or of all if there is none. By hand: the C library's own is on a page that is cold after a second. */
static const char *end_of_name(const char *name)
{
	const char *end = NULL;

	for (int i = 0; i < TRK_COMM_SIZE && name[i]; i++)
		if (name[i] == ')')
			end = name + i;
	return end ? end : strrchr(name, ')');
}

TRK_HOT int trk__pid_stat_parse(const char *text, struct trk_pid_stat *ret)
{
	const char *close, *at = text;
	const char *name;
	int64_t field[LAST_FIELD + 1];
	uint64_t pid;
	size_t len;

	if (!trk__scan_u64(&at, &pid) || pid > INT32_MAX || at[0] != ' ' || at[1] != '(')
		return -EBADMSG;
	name = at + 2;
	close = end_of_name(name);
	if (!close)
		return -EBADMSG;
	if (close[1] != ' ' || close[2] == '\0' || close[2] == ' ')
		return -EBADMSG;
	at = close + 3;
	for (int i = STATE_FIELD + 1; i <= LAST_FIELD; i++) {
		at = take_field(at, &field[i]);
		if (!at)
			return -EBADMSG;
	}
	len = (size_t) (close - name);
	if (len >= sizeof(ret->comm))
		len = sizeof(ret->comm) - 1;
	for (size_t i = 0; i < len; i++) /* some letters: see take_field */
		ret->comm[i] = name[i];
	ret->comm[len] = '\0';
	ret->state = close[2];
	ret->pid = (pid_t) pid;
	ret->ppid = (pid_t) field[4];
	ret->pgrp = (pid_t) field[5];
	ret->session = (pid_t) field[6];
	ret->minor_faults = (uint64_t) field[10];
	ret->child_minor_faults = (uint64_t) field[11];
	ret->major_faults = (uint64_t) field[12];
	ret->child_major_faults = (uint64_t) field[13];
	ret->user_ticks = (uint64_t) field[14];
	ret->system_ticks = (uint64_t) field[15];
	ret->child_user_ticks = (uint64_t) field[16];
	ret->child_system_ticks = (uint64_t) field[17];
	ret->threads = (uint64_t) field[20];
	ret->start_ticks = (uint64_t) field[22];
	ret->rss_pages = field[24] > 0 ? (uint64_t) field[24] : 0;
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
