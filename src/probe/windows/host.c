#ifdef _WIN32 /* else a checker of code reads this file with the headers of another system */

#include <winsock2.h>
#include <ws2tcpip.h>

#include <windows.h>

#include <iphlpapi.h>
#include <psapi.h>
#include <winioctl.h>

#include "probe/windows/host.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "probe/host.h"
#include "probe/linux/meter.h"
#include "probe/linux/process_count.h"

enum { DISKS_MAX = 32, DRIVES = 26 };

struct trk_host {
	struct trk_meter disks;
	bool has_disks;
};

const struct trk_host_sources trk__host_sources = {
	.cpu = "GetSystemTimes",
	.memory = "GlobalMemoryStatusEx",
	.net = "GetIfTable2",
	.space = "GetDiskFreeSpaceEx of fixed drives",
};

struct trk_host *trk__host_new(void)
{
	struct trk_host *h = calloc(1, sizeof(*h));

	if (h)
		trk__meter_init(&h->disks, DISKS_MAX);
	return h;
}

void trk__host_free(struct trk_host *h)
{
	if (h)
		trk__meter_release(&h->disks);
	free(h);
}

const char *trk__host_disk_source(const struct trk_host *h)
{
	return h && h->has_disks ? "IOCTL_DISK_PERFORMANCE" : "no disk reports its counters";
}

double trk__host_load(void)
{
	return (double) NAN;
}

static uint64_t us(FILETIME time)
{
	return ((uint64_t) time.dwHighDateTime << 32 | time.dwLowDateTime) / 10;
}

int trk__host_cpu(struct trk_host *h, struct trk_host_cpu *ret)
{
	FILETIME idle, kernel, user;

	if (!GetSystemTimes(&idle, &kernel, &user))
		return -EIO;
	/* Kernel time includes idle time. */
	*ret = (struct trk_host_cpu){
		.user_us = us(user),
		.system_us = us(kernel) > us(idle) ? us(kernel) - us(idle) : 0,
	};
	return 0;
}

int trk__host_memory(struct trk_host_memory *ret)
{
	MEMORYSTATUSEX m = {.dwLength = sizeof(m)};
	PERFORMANCE_INFORMATION p = {.cb = sizeof(p)};

	if (!GlobalMemoryStatusEx(&m))
		return -EIO;
	(void) GetPerformanceInfo(&p, sizeof(p));
	*ret = (struct trk_host_memory){
		.free_bytes = m.ullAvailPhys,
		.used_bytes = m.ullTotalPhys > m.ullAvailPhys ? m.ullTotalPhys - m.ullAvailPhys : 0,
		.cached_bytes = p.SystemCache && p.PageSize ? (uint64_t) p.SystemCache * p.PageSize
							    : TRK_HOST_UNKNOWN,
		.active_bytes = TRK_HOST_UNKNOWN,
		.inactive_bytes = TRK_HOST_UNKNOWN,
		.swap_used_bytes = TRK_HOST_UNKNOWN,
	};
	return 0;
}

/* ---- network ---- */

typedef DWORD WINAPI get_table(MIB_IF_TABLE2 **ret);
typedef void WINAPI free_table(void *table);

/* Loading the library takes 1 ms, so it is loaded on first use. */
static void *function_of_iphlpapi(const char *name)
{
	HMODULE library = LoadLibraryExW(L"iphlpapi.dll", NULL, LOAD_LIBRARY_SEARCH_SYSTEM32);

	return library ? (void *) (uintptr_t) GetProcAddress(library, name) : NULL;
}

/* A filter interface repeats the bytes of the interface below it. */
static bool is_counted(const MIB_IF_ROW2 *row)
{
	return row->Type != IF_TYPE_SOFTWARE_LOOPBACK &&
	       !row->InterfaceAndOperStatusFlags.FilterInterface;
}

int trk__host_net(uint64_t *ret_received, uint64_t *ret_sent)
{
	static get_table *get;
	static free_table *release;
	uint64_t received = 0, sent = 0;
	MIB_IF_TABLE2 *table;

	if (!get) {
		get = (get_table *) (uintptr_t) function_of_iphlpapi("GetIfTable2");
		release = (free_table *) (uintptr_t) function_of_iphlpapi("FreeMibTable");
	}
	if (!get || !release)
		return -ENOSYS;
	if (get(&table) != NO_ERROR)
		return -EIO;
	for (ULONG i = 0; i < table->NumEntries; i++) {
		const MIB_IF_ROW2 *row = &table->Table[i];

		received += is_counted(row) ? row->InOctets : 0;
		sent += is_counted(row) ? row->OutOctets : 0;
	}
	release(table);
	*ret_received = received;
	*ret_sent = sent;
	return 0;
}

/* ---- disks ---- */

static bool read_disk(int number, DISK_PERFORMANCE *ret)
{
	wchar_t name[32];
	HANDLE disk;
	DWORD len;
	BOOL done;

	(void) swprintf(name, sizeof(name) / sizeof(name[0]), L"\\\\.\\PhysicalDrive%d", number);
	disk = CreateFileW(name, 0, FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, OPEN_EXISTING, 0,
			   NULL);
	if (disk == INVALID_HANDLE_VALUE)
		return false;
	done = DeviceIoControl(disk, IOCTL_DISK_PERFORMANCE, NULL, 0, ret, sizeof(*ret), &len,
			       NULL);
	(void) CloseHandle(disk);
	return done;
}

int trk__host_disks(struct trk_host *h, uint64_t *ret_read, uint64_t *ret_written)
{
	struct trk_meter *m = &h->disks;
	bool any = false;

	trk__meter_begin(m);
	for (int i = 0; i < DISKS_MAX; i++) {
		struct trk_meter_member *member;
		DISK_PERFORMANCE disk;
		char name[TRK_METER_NAME];
		bool is_new;
		int len;

		if (!read_disk(i, &disk))
			continue;
		any = true;
		len = snprintf(name, sizeof(name), "%d", i);
		member = trk__meter_find(m, name, (size_t) len, &is_new);
		if (!member)
			continue;
		member->counted = true;
		trk__meter_take(m, member, is_new, (uint64_t) disk.BytesRead.QuadPart,
				(uint64_t) disk.BytesWritten.QuadPart);
	}
	(void) trk__meter_end(m);
	if (!any && m->in + m->out == 0)
		return -ENODATA;
	h->has_disks = true;
	*ret_read = m->in;
	*ret_written = m->out;
	return 0;
}

struct drive {
	uint64_t total, in_all;
};

static bool is_known(const struct drive *list, size_t n, const struct drive *d)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].total == d->total && list[i].in_all == d->in_all)
			return true;
	return false;
}

/* Drives with identical figures count once. */
int trk__host_space(struct trk_host_space *ret)
{
	DWORD drives = GetLogicalDrives();
	struct trk_host_space space = {0};
	struct drive known[DRIVES];
	size_t n = 0;

	for (int i = 0; i < DRIVES; i++) {
		wchar_t root[] = {(wchar_t) ('A' + i), L':', L'\\', L'\0'};
		ULARGE_INTEGER for_user, total, in_all;
		struct drive d;

		if (!(drives >> i & 1) || GetDriveTypeW(root) != DRIVE_FIXED ||
		    !GetDiskFreeSpaceExW(root, &for_user, &total, &in_all))
			continue;
		d = (struct drive){total.QuadPart, in_all.QuadPart};
		if (is_known(known, n, &d))
			continue;
		known[n++] = d;
		space.total_bytes += d.total;
		space.used_bytes += d.total - d.in_all;
		space.available_bytes += for_user.QuadPart;
	}
	if (n == 0)
		return -ENODATA;
	*ret = space;
	return 0;
}

int trk__process_count_read(struct trk_process_count *c, const struct trk_env *env, uint64_t *ret)
{
	PERFORMANCE_INFORMATION p = {.cb = sizeof(p)};

	if (!GetPerformanceInfo(&p, sizeof(p)) || p.ProcessCount == 0)
		return -EIO;
	*ret = p.ProcessCount;
	return 0;
}

/* ---- facts ---- */

uint64_t trk__nt_processors(void)
{
	return GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
}

uint64_t trk__nt_cores(void)
{
	SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX *list = NULL, *one;
	DWORD len = 0;
	uint64_t n = 0;

	(void) GetLogicalProcessorInformationEx(RelationProcessorCore, NULL, &len);
	list = len ? malloc(len) : NULL;
	if (list && GetLogicalProcessorInformationEx(RelationProcessorCore, list, &len))
		for (DWORD at = 0; at + 8 <= len; at += one->Size) {
			one = (void *) ((char *) list + at);
			n++;
			if (one->Size == 0)
				break;
		}
	free(list);
	return n;
}

void trk__nt_text(const char *key, const char *name, char *text, size_t size)
{
	DWORD len = (DWORD) size;

	if (RegGetValueA(HKEY_LOCAL_MACHINE, key, name, RRF_RT_REG_SZ, NULL, text, &len) != 0)
		text[0] = '\0';
}

#endif
