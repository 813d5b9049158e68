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
	switch (code) {
	case EPERM:
		return "Operation not permitted";
	case EIO:
		return "Input/output error";
	case EEXIST:
		return "File exists";
	case ENOMEM:
		return "Cannot allocate memory";
	case EXDEV:
		return "Invalid cross-device link";
	case ENAMETOOLONG:
		return "File name too long";
	case ENOSYS:
		return "Function not implemented";
	case ENOTEMPTY:
		return "Directory not empty";
	case ELOOP:
		return "Too many levels of symbolic links";
	case EOPNOTSUPP:
		return "Operation not supported";
	case ETIMEDOUT:
		return "Connection timed out";
	case ENODATA:
		return "No data available";
	case ECANCELED:
		return "Operation canceled";
	case EWOULDBLOCK:
		return "Resource temporarily unavailable";
	case EADDRINUSE:
		return "Address already in use";
	case ECONNREFUSED:
		return "Connection refused";
	default:
		return code >= 0 && code < 42 ? strerror(code) : NULL;
	}
}

#endif
