#include "probe/linux/pid_stat.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/blocking.h"
#include "base/file.h"
#include "base/parse.h"
#include "probe/linux/pid_status.h"

/* Of the kernel's flags of a task (9). FORKNOEXEC: forked, but has executed no program. */
enum { PF_EXITING = 4, PF_FORKNOEXEC = 0x40 };

/* After the state: ppid (4) to rss (24), the ignored signals, and the delay (not in old
 * kernels). */
enum { STATE_FIELD = 3, LAST_FIELD = 24, IGNORED_FIELD = 33, DELAY_FIELD = 42 };

/* A blank and a number, which may be negative (tty, tpgid, priority). NULL for anything else. */
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

/* A field after the state; 0 where it is missing. */
static uint64_t far_field(const char *text, int field)
{
	const char *at = strrchr(text, ')');
	uint64_t value = 0;

	/* The blank before STATE_FIELD. Skip fields unparsed, as some are addresses. */
	at = at ? strchr(at, ' ') : NULL;
	for (int i = STATE_FIELD; at && i < field; i++)
		at = strchr(at + 1, ' ');
	return at && trk__scan_u64(&at, &value) ? value : 0;
}

uint64_t trk__pid_stat_block_delay(const char *text)
{
	return far_field(text, DELAY_FIELD);
}

bool trk__pid_stat_ignores(const char *text, int signo)
{
	return far_field(text, IGNORED_FIELD) >> (signo - 1) & 1;
}

int trk__pid_stat_parse(const char *text, size_t size, struct trk_pid_stat *ret)
{
	const char *name, *close, *end = text + size;
	int64_t field[LAST_FIELD + 1];
	uint64_t pid;
	size_t len;

	name = trk__take_digits(text, end, &pid);
	if (!name || pid > INT32_MAX || name[0] != ' ' || name[1] != '(')
		return -EBADMSG;
	name += 2;
	close = memrchr(name, ')', (size_t) (end - name)); /* a name may contain ')' */
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
	memcpy(ret->comm, name, len);
	ret->comm[len] = '\0';
	ret->state = close[2];
	ret->pid = (pid_t) pid;
	ret->ppid = (pid_t) field[4];
	ret->pgrp = (pid_t) field[5];
	ret->session = (pid_t) field[6];
	ret->has_executed = !(field[9] & PF_FORKNOEXEC);
	ret->is_exiting = field[9] & PF_EXITING;
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

/* The new memory map has a stack already, but no program yet. */
static bool is_in_exec(int proc_fd, pid_t pid)
{
	enum { SIZE, TEXT = 3, NUMBERS };
	uint64_t pages[NUMBERS];
	char text[128];
	ssize_t len =
		trk__read_once_at(proc_fd, TRK_PATH("%d/statm", (int) pid), text, sizeof(text));

	return len > 0 && trk__take_numbers(text, (size_t) len, pages, NUMBERS) &&
	       pages[SIZE] > 0 && pages[TEXT] == 0;
}

bool trk__pid_stat_blocks(int proc_fd, pid_t pid)
{
	return trk__blocking_reads_any() && (trk__blocking_reads(pid) || is_in_exec(proc_fd, pid));
}

static int read_status(int proc_fd, pid_t pid, struct trk_pid_stat *ret)
{
	struct trk_pid_stat s = {.pid = pid, .state = 'D'};
	char text[TRK_PID_STATUS_SIZE];
	const char *at = text, *value;
	ssize_t len =
		trk__read_once_at(proc_fd, TRK_PATH("%d/status", (int) pid), text, sizeof(text));
	uint64_t number;

	if (len < 0 && len != -EFBIG)
		return (int) len;
	for (; *at; at = trk__skip_line(at)) {
		if ((value = trk__skip_prefix(at, "Name:\t")))
			(void) snprintf(s.comm, sizeof(s.comm), "%.*s", (int) strcspn(value, "\n"),
					value);
		else if ((value = trk__skip_prefix(at, "PPid:")) && trk__scan_u64(&value, &number))
			s.ppid = (pid_t) number;
		else if ((value = trk__skip_prefix(at, "Threads:")))
			(void) trk__scan_u64(&value, &s.threads);
	}
	*ret = s;
	return 0;
}

static ssize_t read_stat(int proc_fd, pid_t pid, char text[TRK_PID_STAT_SIZE])
{
	TRK_MAY_BLOCK(TRK_BLOCKING_PROCESS, pid);

	return trk__read_once_at(proc_fd, TRK_PATH("%d/stat", (int) pid), text, TRK_PID_STAT_SIZE);
}

int trk__pid_stat_read(int proc_fd, pid_t pid, struct trk_pid_stat *ret)
{
	char text[TRK_PID_STAT_SIZE];
	ssize_t len;

	if (trk__pid_stat_blocks(proc_fd, pid))
		return read_status(proc_fd, pid, ret);
	len = read_stat(proc_fd, pid, text);
	return len < 0 ? (int) len : trk__pid_stat_parse(text, (size_t) len, ret);
}
