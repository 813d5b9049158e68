#ifdef _WIN32 /* else a checker of code reads this file with the headers of another system */

#include "probe/windows/nt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/windows/wide.h"

#include <winternl.h>

enum {
	LIST_OF_PROCESSES = 5, /* SystemProcessInformation */
	COMMAND_LINE = 60,     /* ProcessCommandLineInformation of Windows 8.1 */
	LENGTH_MISMATCH = (int) 0xC0000004,
	LIST_MAX = 256 * 1024 * 1024,
	MEMBERS_MAX = 16384,
};

/* One process in the list, on 64-bit Windows; its threads follow. */
struct row {
	ULONG next, threads;
	LARGE_INTEGER private_working_set;
	ULONG hard_faults, most_threads;
	ULONGLONG cycles;
	LARGE_INTEGER created, user, kernel;
	UNICODE_STRING name;
	LONG priority;
	HANDLE pid, ppid;
	ULONG handles, session;
	ULONG_PTR key;
	SIZE_T virtual_peak, virtual_now;
	ULONG faults;
	SIZE_T working_set_peak, working_set;
	SIZE_T quotas[4];
	SIZE_T pagefile, pagefile_peak, commit;
	LARGE_INTEGER reads, writes, others, read_bytes, write_bytes, other_bytes;
};
_Static_assert(sizeof(struct row) == 0x100, "the layout of Windows");

typedef LONG NTAPI query_system(int what, void *ret, ULONG size, ULONG *ret_len);
typedef LONG NTAPI query_process(HANDLE process, int what, void *ret, ULONG size, ULONG *ret_len);

static void *function_of_ntdll(const char *name)
{
	return (void *) (uintptr_t) GetProcAddress(GetModuleHandleW(L"ntdll.dll"), name);
}

/* ---- the list of processes ---- */

static int read_room(struct trk_nt_list *l)
{
	static query_system *query;
	LONG status = LENGTH_MISMATCH;

	if (!query)
		query = (query_system *) (uintptr_t) function_of_ntdll("NtQuerySystemInformation");
	if (!query)
		return -ENOSYS;
	while (status == LENGTH_MISMATCH) {
		ULONG len = 0;
		void *room;

		if (l->room) {
			status = query(LIST_OF_PROCESSES, l->room, (ULONG) l->room_size, &len);
			if (status != LENGTH_MISMATCH)
				break;
		}
		l->room_size = l->room_size ? l->room_size * 2 : 256 * 1024;
		room = l->room_size <= LIST_MAX ? realloc(l->room, l->room_size) : NULL;
		if (!room)
			return -ENOMEM;
		l->room = room;
	}
	return status < 0 ? -EIO : 0;
}

static uint64_t units(LARGE_INTEGER number)
{
	return number.QuadPart > 0 ? (uint64_t) number.QuadPart : 0;
}

/* "python" of "python.exe". */
static void take_name(const UNICODE_STRING *from, char name[TRK_COMM_SIZE])
{
	char text[3 * MAX_PATH];
	int len = from->Buffer ? WideCharToMultiByte(CP_UTF8, 0, from->Buffer, from->Length / 2,
						     text, (int) sizeof(text) - 1, NULL, NULL)
			       : 0;

	text[len > 0 ? len : 0] = '\0';
	if (len > 4 && !_stricmp(text + len - 4, ".exe"))
		text[len - 4] = '\0';
	len = (int) strnlen(text, TRK_COMM_SIZE - 1);
	while (len > 0 && ((unsigned char) text[len] & 0xc0) == 0x80) /* do not cut a character */
		len--;
	memset(name, 0, TRK_COMM_SIZE);
	memcpy(name, text, (size_t) len);
}

static void take_row(const struct row *r, struct trk_nt_process *ret)
{
	*ret = (struct trk_nt_process){
		.pid = (pid_t) (intptr_t) r->pid,
		.ppid = (pid_t) (intptr_t) r->ppid,
		.created = units(r->created),
		.user_ns = units(r->user) * 100,
		.system_ns = units(r->kernel) * 100,
		.private_bytes = units(r->private_working_set),
		.working_bytes = r->working_set,
		.faults = r->faults,
		.hard_faults = r->hard_faults,
		.read_bytes = units(r->read_bytes),
		.write_bytes = units(r->write_bytes),
		.threads = r->threads,
	};
	take_name(&r->name, ret->name);
}

static int by_pid(const void *a, const void *b)
{
	const struct trk_nt_process *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static bool make_place(struct trk_nt_list *l)
{
	size_t cap = l->cap ? l->cap * 2 : 256;
	struct trk_nt_process *process;

	if (l->count < l->cap)
		return true;
	process = realloc(l->process, cap * sizeof(*process));
	if (!process)
		return false;
	l->process = process;
	l->cap = cap;
	return true;
}

int trk__nt_list_read(struct trk_nt_list *l)
{
	const char *at;
	struct row row;
	int r;

	l->count = 0;
	r = read_room(l);
	if (r < 0)
		return r;
	at = l->room;
	do {
		memcpy(&row, at, sizeof(row));
		if (!make_place(l))
			return l->count = 0, -ENOMEM;
		take_row(&row, &l->process[l->count++]);
		at += row.next;
	} while (row.next);
	qsort(l->process, l->count, sizeof(*l->process), by_pid);
	return 0;
}

void trk__nt_list_release(struct trk_nt_list *l)
{
	free(l->process);
	free(l->room);
	*l = (struct trk_nt_list){.process = NULL};
}

const struct trk_nt_process *trk__nt_list_find(const struct trk_nt_list *l, pid_t pid)
{
	struct trk_nt_process key = {.pid = pid};

	return l->count ? bsearch(&key, l->process, l->count, sizeof(key), by_pid) : NULL;
}

/* ---- processes that may have ended ---- */

static uint64_t units_of(FILETIME time)
{
	return (uint64_t) time.dwHighDateTime << 32 | time.dwLowDateTime;
}

/* A handle has 32 significant bits. */
static HANDLE kept_handle(int kept)
{
	return (HANDLE) (intptr_t) kept;
}

int trk__nt_kept_read(int kept, struct trk_nt_process *ret)
{
	FILETIME created, ended, kernel, user;
	IO_COUNTERS io = {0};

	if (!GetProcessTimes(kept_handle(kept), &created, &ended, &kernel, &user))
		return -trk__windows_errno(GetLastError());
	(void) GetProcessIoCounters(kept_handle(kept), &io);
	*ret = (struct trk_nt_process){
		.created = units_of(created),
		.user_ns = units_of(user) * 100,
		.system_ns = units_of(kernel) * 100,
		.read_bytes = io.ReadTransferCount,
		.write_bytes = io.WriteTransferCount,
	};
	return 0;
}

void trk__nt_let_go(int kept)
{
	(void) CloseHandle(kept_handle(kept));
}

int trk__nt_keep(const struct trk_nt_process *process)
{
	HANDLE handle = function_of_ntdll("wine_get_version")
				? NULL
				: OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE,
					      (DWORD) process->pid);
	int kept = (int) (intptr_t) handle;
	struct trk_nt_process now;

	if (!handle)
		return -1;
	/* Its pid may have been reused. */
	if (trk__nt_kept_read(kept, &now) == 0 && now.created == process->created)
		return kept;
	trk__nt_let_go(kept);
	return -1;
}

uint64_t trk__nt_now(void)
{
	FILETIME now;

	GetSystemTimePreciseAsFileTime(&now);
	return (uint64_t) now.dwHighDateTime << 32 | now.dwLowDateTime;
}

ssize_t trk__nt_command(pid_t pid, char *text, size_t size)
{
	query_process *query =
		(query_process *) (uintptr_t) function_of_ntdll("NtQueryInformationProcess");
	HANDLE process = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, (DWORD) pid);
	enum { ROOM = sizeof(UNICODE_STRING) + 65536 };
	UNICODE_STRING *line = malloc(ROOM);
	ssize_t r = -ESRCH;
	ULONG len;
	int n;

	if (query && process && line && query(process, COMMAND_LINE, line, ROOM, &len) >= 0 &&
	    line->Buffer) {
		n = WideCharToMultiByte(CP_UTF8, 0, line->Buffer, line->Length / 2, text,
					(int) size - 1, NULL, NULL);
		text[n > 0 ? n : 0] = '\0';
		r = n > 0 ? n : -ENAMETOOLONG;
	}
	free(line);
	if (process)
		(void) CloseHandle(process);
	return r;
}

/* ---- the job object ---- */

static HANDLE job;
static bool has_job;

void *trk__nt_job_make(void)
{
	if (!job)
		job = CreateJobObjectW(NULL, NULL);
	return job;
}

void trk__nt_job_begin(void)
{
	has_job = job != NULL;
}

bool trk__nt_has_job(void)
{
	return has_job;
}

int trk__nt_job_totals(struct trk_nt_totals *ret)
{
	JOBOBJECT_BASIC_AND_IO_ACCOUNTING_INFORMATION all = {.BasicInfo.TotalProcesses = 0};
	JOBOBJECT_EXTENDED_LIMIT_INFORMATION most = {.PeakJobMemoryUsed = 0};

	/* Wine supports only the first part of the struct. */
	if (!has_job || (!QueryInformationJobObject(job, JobObjectBasicAndIoAccountingInformation,
						    &all, sizeof(all), NULL) &&
			 !QueryInformationJobObject(job, JobObjectBasicAccountingInformation,
						    &all.BasicInfo, sizeof(all.BasicInfo), NULL)))
		return -EOPNOTSUPP;
	(void) QueryInformationJobObject(job, JobObjectExtendedLimitInformation, &most,
					 sizeof(most), NULL);
	*ret = (struct trk_nt_totals){
		.user_ns = units(all.BasicInfo.TotalUserTime) * 100,
		.system_ns = units(all.BasicInfo.TotalKernelTime) * 100,
		.read_bytes = all.IoInfo.ReadTransferCount,
		.write_bytes = all.IoInfo.WriteTransferCount,
		.processes = all.BasicInfo.TotalProcesses,
		.peak_commit_bytes = most.PeakJobMemoryUsed,
	};
	return 0;
}

int trk__nt_job_pids(pid_t *pids, int max)
{
	static union {
		JOBOBJECT_BASIC_PROCESS_ID_LIST list;
		char room[sizeof(JOBOBJECT_BASIC_PROCESS_ID_LIST) +
			  MEMBERS_MAX * sizeof(ULONG_PTR)];
	} ids;

	/* If the buffer is too small, it receives the first members. */
	if (!has_job || (!QueryInformationJobObject(job, JobObjectBasicProcessIdList, &ids,
						    sizeof(ids), NULL) &&
			 GetLastError() != ERROR_MORE_DATA))
		return -EOPNOTSUPP;
	for (DWORD i = 0; i < ids.list.NumberOfProcessIdsInList && i < (DWORD) max; i++)
		pids[i] = (pid_t) ids.list.ProcessIdList[i];
	return (int) ids.list.NumberOfProcessIdsInList;
}

#endif
