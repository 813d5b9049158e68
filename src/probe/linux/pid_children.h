/* One task: the processes that it has forked.
 *
 * Source: /proc/PID/task/TID/children (CONFIG_PROC_CHILDREN). It lists the children of that thread
 * alone, so a whole process means all its threads; see probe/tree/tree.h for the cheaper way. */
#ifndef TRK_PROBE_LINUX_PID_CHILDREN_H
#define TRK_PROBE_LINUX_PID_CHILDREN_H

#include <stddef.h>
#include <sys/types.h>

/* Parse the text of one children file into pids[0..max). Pure. Returns how many there are, which
 * may be more than max, or -EBADMSG. */
int trk__pid_children_parse(const char *text, pid_t *pids, size_t max);

/* Children of every thread of PID, below proc_fd (borrowed). Returns how many there are (maybe more
 * than max); -ENOENT when the process is gone or the kernel lacks the file. */
int trk__pid_children_read(int proc_fd, pid_t pid, pid_t *pids, size_t max);

#endif
