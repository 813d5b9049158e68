/* What base/libc.h has for older C libraries, by the calls of Windows. */
#ifdef _WIN32 /* else a checker of code reads this file with the headers of another system */

#include "base/libc.h"

#include "base/windows/wide.h"

#include <ntsecapi.h>

#undef strerror

uint32_t trk__random_bits(void)
{
	uint32_t bits;

	if (RtlGenRandom(&bits, sizeof(bits)))
		return bits;
	return GetTickCount() ^ GetCurrentProcessId() << 16;
}

/* A temporary file that Windows keeps in memory if possible, and removes at its last close. */
int trk__memory_file(const char *name)
{
	wchar_t folder[MAX_PATH + 1], path[MAX_PATH + 1];
	HANDLE file;
	int fd;

	if (GetTempPathW(MAX_PATH + 1, folder) == 0 ||
	    GetTempFileNameW(folder, L"trk", 0, path) == 0)
		return -trk__windows_errno(GetLastError());
	file = CreateFileW(path, GENERIC_READ | GENERIC_WRITE | DELETE,
			   FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
			   CREATE_ALWAYS, FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE,
			   NULL);
	if (file == INVALID_HANDLE_VALUE)
		return -trk__windows_errno(GetLastError());
	fd = _open_osfhandle((intptr_t) file, O_RDWR | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	(void) CloseHandle(file);
	return -EMFILE;
}

/* Descriptors are not inherited unless requested. */
void trk__close_range(unsigned int first, unsigned int last)
{
}

/* Those of Linux, where the C library of Windows has others or none. */
const char *trk__errno_text(int code)
{
	static const struct {
		int code;
		const char *text;
	} known[] = {
		{EPERM, "Operation not permitted"},
		{EIO, "Input/output error"},
		{EEXIST, "File exists"},
		{ENOMEM, "Cannot allocate memory"},
		{EXDEV, "Invalid cross-device link"},
		{ENAMETOOLONG, "File name too long"},
		{ENOSYS, "Function not implemented"},
		{ENOTEMPTY, "Directory not empty"},
		{ELOOP, "Too many levels of symbolic links"},
		{EOPNOTSUPP, "Operation not supported"},
		{ETIMEDOUT, "Connection timed out"},
		{ENODATA, "No data available"},
		{ECANCELED, "Operation canceled"},
		{EWOULDBLOCK, "Resource temporarily unavailable"},
		{EADDRINUSE, "Address already in use"},
		{ECONNREFUSED, "Connection refused"},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].code == code)
			return known[i].text;
	return code >= 0 && code < 42 ? strerror(code) : NULL;
}

#endif
