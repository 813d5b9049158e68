/* Processes of Windows, and the job object of a tracked job.
 *
 * Source: NtQuerySystemInformation (the list of processes: one call, no handle, also for processes
 * of other users), QueryInformationJobObject, NtQueryInformationProcess (command lines). This file
 * only wraps the system calls; tests replace it with a simulated kernel. */
#ifndef TRK_PROBE_WINDOWS_NT_H
#define TRK_PROBE_WINDOWS_NT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "probe/linux/pid_stat.h" /* TRK_COMM_SIZE */

/* Windows charges CPU time at clock interrupts, usually every 15.6 ms. */
struct trk_nt_process {
	pid_t pid, ppid;  /* the parent may have ended, and its pid been reused */
	uint64_t created; /* units of 100 ns since 1601; identifies a reused pid */
	uint64_t user_ns, system_ns;
	uint64_t private_bytes; /* private working set: "Memory" of Task Manager; 0: unknown */
	uint64_t working_bytes; /* working set, shared pages included */
	uint64_t faults, hard_faults;
	uint64_t read_bytes, write_bytes; /* of all transfers: files, pipes, network */
	uint32_t threads;
	char name[TRK_COMM_SIZE]; /* of the program file, cut to fit, without ".exe" */
};

/* Zero-initialised: empty. */
struct trk_nt_list {
	struct trk_nt_process *process; /* owned; ordered by pid */
	size_t count, cap;
	void *room; /* owned: buffer for the system call */
	size_t room_size;
};

/* Returns 0, or a negative errno and an empty list. */
int trk__nt_list_read(struct trk_nt_list *l);
void trk__nt_list_release(struct trk_nt_list *l);
/* Valid until the next _read; NULL: not found. */
const struct trk_nt_process *trk__nt_list_find(const struct trk_nt_list *l, pid_t pid);

/* Open a handle of a live process, through which it can be read after its end. Returns a number
 * above 0, or -1; -1 under Wine, which would report the caller's own times. */
int trk__nt_keep(const struct trk_nt_process *process);
void trk__nt_let_go(int kept);
/* Read its times and transfers so far or at its end; the rest is 0. 0 or a negative errno. */
int trk__nt_kept_read(int kept, struct trk_nt_process *ret);

/* The current time in the units of `created`. */
uint64_t trk__nt_now(void);
/* The command line of a process, UTF-8. Returns its length or a negative errno. */
ssize_t trk__nt_command(pid_t pid, char *text, size_t size);

/* ---- the job object ----
 *
 * There is at most one, for a command that the tracker started. An attached process is never put
 * into one, as it could not leave it. */

/* Totals of all processes that are or were in it. */
struct trk_nt_totals {
	uint64_t user_ns, system_ns;
	uint64_t read_bytes, write_bytes; /* of all transfers */
	uint64_t processes;
	uint64_t peak_commit_bytes; /* of all members together; 0: unknown */
};

/* Create it. Returns its handle, which stays open until the program ends; NULL: failed. */
void *trk__nt_job_make(void);
/* Record that a process has become a member; trk__nt_has_job then returns true. */
void trk__nt_job_begin(void);
bool trk__nt_has_job(void);
/* 0 or a negative errno. */
int trk__nt_job_totals(struct trk_nt_totals *ret);
/* Pids of its live members. Their number, which may exceed `max`, or a negative errno. */
int trk__nt_job_pids(pid_t *pids, int max);

#endif
