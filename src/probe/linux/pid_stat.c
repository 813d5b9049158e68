#include "probe/linux/pid_stat.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/hot.h"
#include "base/parse.h"

/* Behind the state ppid (4) to rss (24), and far behind them the delay, which old kernels lack. */
enum { STATE_FIELD = 3, LAST_FIELD = 24, DELAY_FIELD = 42 };

/* A blank and a number; some are negative (tty, tpgid, priority). NULL where there is none. */
static inline const char *take_field(const char *at, const char *end, int64_t *ret)
{
	uint64_t value;
	bool minus;

	if (*at++ != ' ')
		return NULL;
	minus = *at == '-';
	at = trk__take_digits(at + minus, end, &value);
	if (!at || value > INT64_MAX)
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

/* The last ')', which ends the name: it is looked for in the first TRK_COMM_SIZE bytes, no kernel's names being
 * longer, from behind and eight at a time; and in all, as damage may have made it so, if it is not there. */
static const char *end_of_name(const char *name, const char *end)
{
	const uint64_t lows = 0x7f7f7f7f7f7f7f7f;
	const char *at = name + TRK_COMM_SIZE;

	while (end - name >= TRK_COMM_SIZE && at > name) {
		/* Bytes that are ')' become 0; the high bit of each that is. */
		uint64_t word = trk__eight_bytes(at -= 8) ^ 0x2929292929292929;
		uint64_t found = ~(((word & lows) + lows) | word | lows);

		if (found)
			return at + 7 - __builtin_clzll(found) / 8;
	}
	return memrchr(name, ')', (size_t) (end - name));
}

TRK_HOT int trk__pid_stat_parse(const char *text, size_t size, struct trk_pid_stat *ret)
{
	const char *name, *close, *end = text + size;
	int64_t field[LAST_FIELD + 1];
	uint64_t pid;
	size_t len;

	name = trk__take_digits(text, end, &pid);
	if (!name || pid > INT32_MAX || name[0] != ' ' || name[1] != '(')
		return -EBADMSG;
	name += 2;
	close = end_of_name(name, end);
	if (!close)
		return -EBADMSG;
	if (close[1] != ' ' || close[2] == '\0' || close[2] == ' ')
		return -EBADMSG;
	text = close + 3;
	for (int i = STATE_FIELD + 1; i <= LAST_FIELD; i++) {
		text = take_field(text, end, &field[i]);
		if (!text)
			return -EBADMSG;
	}
	len = (size_t) (close - name);
	if (len >= sizeof(ret->comm))
		len = sizeof(ret->comm) - 1;
	for (size_t i = 0; i < len; i++) /* some letters, and memcpy is far away */
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
	return trk__pid_stat_parse(text, (size_t) len, ret);
}
