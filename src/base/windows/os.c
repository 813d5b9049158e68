/* Windows 10 and later. */
#ifdef _WIN32 /* else a checker of code reads this file with the headers of another system */

#include "base/os.h"

#include "base/windows/wide.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <wchar.h>

#include "base/clock.h"
#include "base/file.h"

/* ---- descriptors ---- */

const char trk__os_own_descriptors[] = "/dev/fd"; /* there is no such folder */

int ioctl(int fd, unsigned long request, struct winsize *ret)
{
	CONSOLE_SCREEN_BUFFER_INFO info;

	if (request != TIOCGWINSZ || !GetConsoleScreenBufferInfo(trk__handle_of(fd), &info))
		return trk__windows_failed();
	ret->ws_col = (unsigned short) (info.srWindow.Right - info.srWindow.Left + 1);
	ret->ws_row = (unsigned short) (info.srWindow.Bottom - info.srWindow.Top + 1);
	return 0;
}

/* ---- files ---- */

int64_t trk__os_modified_ns(const struct stat *st)
{
	return st->modified_ns;
}

bool trk__os_is_absolute(const char *path)
{
	return path[0] == '/' || path[0] == '\\' || (path[0] && path[1] == ':');
}

/* The type of the drive that a folder lies on. */
static UINT drive_type(const char *dir)
{
	wchar_t wide[TRK_WIDE_PATH_MAX], volume[TRK_WIDE_PATH_MAX];

	if (!trk__wide_path(AT_FDCWD, dir, wide) ||
	    !GetVolumePathNameW(wide, volume, TRK_WIDE_PATH_MAX))
		return DRIVE_UNKNOWN;
	return GetDriveTypeW(volume);
}

bool trk__os_is_remote(const char *dir)
{
	UINT type = drive_type(dir);

	return type == DRIVE_REMOTE || type == DRIVE_UNKNOWN || type == DRIVE_NO_ROOT_DIR;
}

static int read_space(int dirfd, const char *path, struct statvfs *ret)
{
	wchar_t wide[TRK_WIDE_PATH_MAX];
	ULARGE_INTEGER free_for_user, total, free_in_all;

	if (!trk__wide_path(dirfd, path, wide))
		return -1;
	if (!GetDiskFreeSpaceExW(wide, &free_for_user, &total, &free_in_all))
		return trk__windows_failed();
	*ret = (struct statvfs){
		.f_frsize = 1,
		.f_blocks = total.QuadPart,
		.f_bfree = free_in_all.QuadPart,
		.f_bavail = free_for_user.QuadPart,
	};
	return 0;
}

int fstatvfs(int fd, struct statvfs *ret)
{
	return read_space(fd, ".", ret);
}

/* ---- this program ---- */

int trk__os_program(char *path, size_t size)
{
	wchar_t wide[TRK_WIDE_PATH_MAX];
	DWORD len = GetModuleFileNameW(NULL, wide, TRK_WIDE_PATH_MAX);

	if (len == 0)
		return -trk__windows_errno(GetLastError());
	return len < TRK_WIDE_PATH_MAX && trk__narrow_path(wide, path, size) ? 0 : -ENAMETOOLONG;
}

const char trk__os_program_ending[] = ".exe";
const bool trk__os_has_links = false;

/* ---- libraries ---- */

/* SQLite is part of Windows 10. Other libraries are not loaded: they have no common name, and one
 * with another C library could not use the descriptors of this program. */
void *trk__os_library(const char *soname)
{
	const wchar_t *name = !strcmp(soname, "libsqlite3.so.0") ? L"winsqlite3.dll" : NULL;

	return name ? LoadLibraryExW(name, NULL, LOAD_LIBRARY_SEARCH_SYSTEM32) : NULL;
}

const char *trk__os_library_advice(const char *install)
{
	return "Windows: of libraries only the system's SQLite is loaded (winsqlite3.dll)";
}

void *dlsym(void *library, const char *name)
{
	return (void *) (uintptr_t) GetProcAddress(library, name);
}

int dlclose(void *library)
{
	return FreeLibrary(library) ? 0 : -1;
}

char *dlerror(void)
{
	return NULL;
}

bool trk__os_has_program(const char *name)
{
	wchar_t wide[TRK_WIDE_PATH_MAX], path[TRK_WIDE_PATH_MAX];

	return MultiByteToWideChar(CP_UTF8, 0, name, -1, wide, TRK_WIDE_PATH_MAX) > 0 &&
	       SearchPathW(NULL, wide, L".exe", TRK_WIDE_PATH_MAX, path, NULL) > 0;
}

/* ---- the machine ---- */

const bool trk__os_has_modes = false;
const bool trk__os_has_proc = false;

/* "10.0.19045", with " (Wine 8.0)" where it is not Windows. */
static void read_version(char *text, size_t size)
{
	typedef LONG WINAPI get_version(OSVERSIONINFOW * ret);
	typedef const char *get_wine(void);
	HMODULE ntdll = GetModuleHandleW(L"ntdll.dll");
	get_version *version = (get_version *) (uintptr_t) GetProcAddress(ntdll, "RtlGetVersion");
	get_wine *wine = (get_wine *) (uintptr_t) GetProcAddress(ntdll, "wine_get_version");
	OSVERSIONINFOW info = {.dwOSVersionInfoSize = sizeof(info)};

	if (!version || version(&info) < 0)
		return;
	(void) snprintf(text, size, "%lu.%lu.%lu%s%s%s", (unsigned long) info.dwMajorVersion,
			(unsigned long) info.dwMinorVersion, (unsigned long) info.dwBuildNumber,
			wine ? " (Wine " : "", wine ? wine() : "", wine ? ")" : "");
}

int uname(struct utsname *ret)
{
	SYSTEM_INFO info;

	GetNativeSystemInfo(&info);
	*ret = (struct utsname){.sysname = "Windows"};
	read_version(ret->release, sizeof(ret->release));
	(void) snprintf(ret->machine, sizeof(ret->machine), "%s",
			info.wProcessorArchitecture == PROCESSOR_ARCHITECTURE_ARM64 ? "aarch64"
										    : "x86_64");
	return 0;
}

void trk__os_host_name(char *name, size_t size)
{
	wchar_t wide[256];
	DWORD len = 256;
	char *text = GetComputerNameExW(ComputerNameDnsHostname, wide, &len)
			     ? trk__narrow_text(wide)
			     : NULL;

	(void) snprintf(name, size, "%s", text ? text : "");
	free(text);
}

/* ---- the rest ---- */

/* A clock of Windows 10 in units of 100 ns. Wine has none of the two: there both are one clock, and
 * no suspension is seen. */
static uint64_t read_clock(const char *name)
{
	typedef void WINAPI read_time(ULONGLONG * ret);
	read_time *function =
		(read_time *) (uintptr_t) GetProcAddress(GetModuleHandleW(L"kernelbase.dll"), name);
	ULONGLONG units;

	if (!function)
		return trk__clock_read_ns(CLOCK_MONOTONIC);
	function(&units);
	return units * 100;
}

uint64_t trk__clock_monotonic_ns(void)
{
	return read_clock("QueryUnbiasedInterruptTimePrecise");
}

uint64_t trk__clock_boot_ns(void)
{
	return read_clock("QueryInterruptTimePrecise");
}

long trk__os_utc_offset_s(time_t at)
{
	struct tm tm;

	return localtime_r(&at, &tm) ? (long) (_mkgmtime64(&tm) - at) : 0;
}

struct ordering {
	trk__os_order *order;
	void *data;
};

static int compare(void *data, const void *a, const void *b)
{
	const struct ordering *o = data;

	return o->order(a, b, o->data);
}

void trk__os_sort(void *list, size_t n, size_t size, trk__os_order *order, void *data)
{
	struct ordering o = {.order = order, .data = data};

	qsort_s(list, n, size, compare, &o);
}

ssize_t trk__os_write_in_time(int fd, const void *data, size_t len, int ms)
{
	int r = trk__write_all(fd, data, len);

	return r < 0 ? r : (ssize_t) len;
}

#endif
