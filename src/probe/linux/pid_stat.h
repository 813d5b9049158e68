/* One process: identity, parent, CPU time, faults.
 *
 * Source: /proc/PID/stat (proc_pid_stat(5)). CPU fields are clock ticks (USER_HZ, in practice 100
 * per second); the child_ fields count reaped children. */
#ifndef TRK_PROBE_LINUX_PID_STAT_H
#define TRK_PROBE_LINUX_PID_STAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The kernel cuts a task's name at 15 bytes, but writes up to 63 for some kernel threads. */
#define TRK_COMM_SIZE 64

/* Longest stat file: 52 numbers of 20 digits and the name. */
#define TRK_PID_STAT_SIZE 1280

struct trk_pid_stat {
	pid_t pid;
	char comm[TRK_COMM_SIZE]; /* any bytes: blanks, parentheses, line ends */
	char state;               /* R S D Z T t X I … */
	pid_t ppid;
	pid_t pgrp;
	pid_t session;
	bool has_executed; /* a program since it was forked */
	bool is_exiting;
	uint64_t minor_faults, child_minor_faults;
	uint64_t major_faults, child_major_faults;
	uint64_t user_ticks, system_ticks;
	uint64_t child_user_ticks, child_system_ticks;
	uint64_t threads;
	uint64_t start_ticks; /* since boot; with the pid, identifies a process */
	uint64_t rss_pages;   /* may lag by 64 pages per CPU, as in statm */
};

/* Parse the text of one stat file, `size` bytes and a NUL. Pure: no I/O, no allocation. The name
 * ends at the last ')'. Returns 0, or -EBADMSG and leaves *ret untouched. */
int trk__pid_stat_parse(const char *text, size_t size, struct trk_pid_stat *ret);

/* From the same text: ticks that the main thread waited for block I/O, swap-in included. 0 with
 * task_delayacct off, before Linux 2.6.18, and for a malformed text. */
uint64_t trk__pid_stat_block_delay(const char *text);

/* From the same text: true if the process ignores this signal (1 to 31); false if unknown. */
bool trk__pid_stat_ignores(const char *text, int signo);

/* Whether reading PID/stat, PID/io or the memory of a process would block: in the middle of an execve it
 * holds a lock until the files of its old program are closed, which a dead file server can prevent.
 * Only looked at while such a reading is known to block (base/blocking.h). */
bool trk__pid_stat_blocks(int proc_fd, pid_t pid);

/* Read PID/stat below proc_fd (borrowed). 0; -ENOENT or -ESRCH when it is gone. Where that would
 * block, the name, parent and threads are those of PID/status, the state is D, and the other members
 * are 0. */
int trk__pid_stat_read(int proc_fd, pid_t pid, struct trk_pid_stat *ret);

#endif
