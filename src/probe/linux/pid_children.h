/* The child processes of one task.
 *
 * Source: /proc/PID/task/TID/children (CONFIG_PROC_CHILDREN). It lists only the children that this
 * thread forked, so all threads of a process must be read; probe/tree/tree.h has a cheaper way. */
#ifndef TRK_PROBE_LINUX_PID_CHILDREN_H
#define TRK_PROBE_LINUX_PID_CHILDREN_H

#include <stddef.h>
#include <sys/types.h>

/* Parse the text of one children file into pids[0..max). Pure. Their number, which may exceed max,
 * or -EBADMSG. */
int trk__pid_children_parse(const char *text, pid_t *pids, size_t max);

/* Children of every thread of PID, below proc_fd (borrowed). Returns their number, which may exceed
 * max; -ENOENT when the process is gone or the kernel lacks the file. */
int trk__pid_children_read(int proc_fd, pid_t pid, pid_t *pids, size_t max);

#endif
