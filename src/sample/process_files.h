/* Small files of /proc/PID that the stack sampler reads many times a second. */
#ifndef TRK_SAMPLE_PROCESS_FILES_H
#define TRK_SAMPLE_PROCESS_FILES_H

#include "base/env.h"
#include "model/lines.h"
#include "probe/linux/pid_stat.h"

/* Zero-initialised except env. At most 160 files are kept open; others are opened for each
 * reading. */
struct trk_process_files {
	struct trk_env env;
	int open;
};

/* Each function that takes `fd` keeps the file open in it (-1: not open yet). */
void trk__process_file_close(struct trk_process_files *f, int *fd);

/* Resident private anonymous memory of the process, in bytes. 0 or a negative errno. */
int trk__process_memory(struct trk_process_files *f, int *fd, pid_t pid, uint64_t *ret_bytes);
/* The state of a process, or (tid not 0) of one of its threads. 0 or a negative error. */
int trk__process_state(struct trk_process_files *f, int *fd, pid_t pid, pid_t tid,
		       struct trk_pid_stat *ret);
/* The name of a process; "" if unknown. */
void trk__process_name(const struct trk_process_files *f, pid_t pid, char *name, size_t size);
/* Note the user of a process that names files; one with several ids counts as several users. */
void trk__process_note_user(const struct trk_process_files *f, pid_t pid, struct trk_lines *lines);
/* A number that identifies the executable and changes at exec; 0: not known. */
uint64_t trk__process_exe(const struct trk_process_files *f, pid_t pid);

#endif
