/* One process: its user, its resident memory now and at its peak, and memory that is not resident
 * or not counted as such.
 *
 * Source: /proc/PID/status. It costs about twice as much as stat, so it is read only for the
 * peak, for swap and huge pages where the machine uses any, and for the user of a process whose
 * stacks are sampled. */
#ifndef TRK_PROBE_LINUX_PID_STATUS_H
#define TRK_PROBE_LINUX_PID_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A long list of groups can make the file longer; the used lines lie within this size. */
#define TRK_PID_STATUS_SIZE 8192

struct trk_pid_status {
	uint64_t process;        /* the pid of the thread's process; 0: unknown */
	int64_t uid;             /* -1: its real, effective, saved and file-system ids differ */
	bool has_memory;         /* false for a zombie or a kernel thread: no Vm lines */
	uint64_t hwm_bytes;      /* VmHWM: largest RSS so far, exact */
	uint64_t rss_bytes;      /* VmRSS */
	uint64_t rss_anon_bytes; /* Linux 4.5+, else 0 */
	uint64_t swap_bytes;     /* VmSwap: swapped out, without shared memory */
	uint64_t huge_bytes; /* HugetlbPages: mapped huge pages of hugetlbfs; Linux 4.4+, else 0 */
};

/* Parse the text of one status file. Pure. Returns 0, or -EBADMSG and leaves *ret untouched. */
int trk__pid_status_parse(const char *text, struct trk_pid_status *ret);

/* Read PID/status below proc_fd (borrowed). */
int trk__pid_status_read(int proc_fd, pid_t pid, struct trk_pid_status *ret);

/* If *pid is of a thread that is not the main one: set it to that of its process, write a sentence
 * about it into note[0..size), and return true. */
bool trk__thread_follow(int proc_fd, pid_t *pid, char *note, size_t size);

#endif
