/* Processes of Windows, and the job object that this program puts a job into.
 *
 * Source: NtQuerySystemInformation (the list of processes: one call, no handle, also for processes
 * of other users), QueryInformationJobObject, NtQueryInformationProcess (command lines). Nothing
 * here decides; the tests have a stand-in of it on a simulated kernel. */
#ifndef TRK_PROBE_WINDOWS_NT_H
#define TRK_PROBE_WINDOWS_NT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "probe/linux/pid_stat.h" /* TRK_COMM_SIZE */

/* Windows charges CPU time at clock interrupts, 15.6 ms apart as a rule. */
struct trk_nt_process {
	pid_t pid, ppid;  /* the parent may have ended, and its pid be another's */
	uint64_t created; /* units of 100 ns since 1601; tells two of one pid apart */
	uint64_t user_ns, system_ns;
	uint64_t private_bytes; /* private working set: "Memory" of Task Manager; 0: not told */
	uint64_t working_bytes; /* working set, shared pages included */
	uint64_t commit_bytes;  /* "Commit size" of Task Manager */
	uint64_t faults, hard_faults;
	uint64_t read_bytes, write_bytes; /* of all transfers: files, pipes, network */
	uint32_t threads;
	char name[TRK_COMM_SIZE]; /* of the program file, cut, without ".exe" */
};

/* Zero-initialised: nothing was read yet. */
struct trk_nt_list {
	struct trk_nt_process *process; /* owned; ordered by pid */
	size_t count, cap;
	void *room; /* owned: what the system has written */
	size_t room_size;
};

/* Returns 0 or a negative errno; the list then is empty. */
int trk__nt_list_read(struct trk_nt_list *l);
void trk__nt_list_release(struct trk_nt_list *l);
/* A view until the next reading; NULL: there is none. */
const struct trk_nt_process *trk__nt_list_find(const struct trk_nt_list *l, pid_t pid);

/* Keep a handle of a living process, by which it can be read after its end: a number above 0, or -1.
 * Wine tells the caller's own times there: none is kept. */
int trk__nt_keep(const struct trk_nt_process *process);
void trk__nt_let_go(int kept);
/* What it has used until now or until its end: times and transfers, the rest is 0. 0 or a negative
 * errno. */
int trk__nt_kept_read(int kept, struct trk_nt_process *ret);

/* Now, as `created` counts. */
uint64_t trk__nt_now(void);
/* The command line of a process, UTF-8. Returns its length or a negative errno. */
ssize_t trk__nt_command(pid_t pid, char *text, size_t size);

/* ---- the job object ----
 *
 * One, for the job of a run: what is attached to is never put into one, as it could not leave
 * it. */

/* All processes that are or were in it. */
struct trk_nt_totals {
	uint64_t user_ns, system_ns;
	uint64_t read_bytes, write_bytes; /* of all transfers */
	uint64_t processes;
	uint64_t peak_commit_bytes; /* of all members together; 0: not told */
};

/* Make it. Its handle, which stays open until the program ends; NULL: it cannot be made. */
void *trk__nt_job_make(void);
/* A process has become a member: from now on there is a job. */
void trk__nt_job_begin(void);
bool trk__nt_has_job(void);
/* 0 or a negative errno. */
int trk__nt_job_totals(struct trk_nt_totals *ret);
/* Pids of its living members: at most `max`. Returns how many there are, or a negative errno. */
int trk__nt_job_pids(pid_t *pids, int max);

#endif
