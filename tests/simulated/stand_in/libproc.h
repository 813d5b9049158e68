/* The part of macOS's libproc.h and of the headers that it includes which
 * src/probe/darwin/process.c uses, for a simulation on Linux. Members have the names and the types
 * of macOS; unused members are left out. tests/python/test_elsewhere.py and the build for macOS
 * check the real layout. */
#ifndef STAND_IN_LIBPROC_H
#define STAND_IN_LIBPROC_H

#include <stdint.h>
#include <sys/types.h>

typedef void *rusage_info_t;

enum { RUSAGE_INFO_V4 = 4, PROC_PIDTASKINFO = 4, PROC_PIDT_SHORTBSDINFO = 13, MAXCOMLEN = 16 };

struct rusage_info_v4 {
	uint64_t ri_user_time, ri_system_time, ri_child_user_time, ri_child_system_time;
	uint64_t ri_pageins, ri_child_pageins;
	uint64_t ri_resident_size, ri_phys_footprint, ri_lifetime_max_phys_footprint;
	uint64_t ri_proc_start_abstime, ri_diskio_bytesread, ri_diskio_byteswritten;
};

struct proc_bsdshortinfo {
	uint32_t pbsi_ppid, pbsi_status;
	char pbsi_comm[MAXCOMLEN];
};

struct proc_taskinfo {
	int32_t pti_threadnum;
};

int proc_pid_rusage(int pid, int flavor, rusage_info_t *buffer);
int proc_pidinfo(int pid, int flavor, uint64_t arg, void *buffer, int size);
int proc_listchildpids(pid_t ppid, void *buffer, int size);

#endif
