#ifdef _WIN32 /* else a checker of code reads this file with the headers of another system */

#include "base/windows/wide.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/os.h"

enum { DESCRIPTORS_MAX = 2048 }; /* the most that the C library has */

int trk__windows_errno(DWORD error)
{
	static const struct {
		DWORD error;
		int code;
	} codes[] = {
		{ERROR_FILE_NOT_FOUND, ENOENT},
		{ERROR_PATH_NOT_FOUND, ENOENT},
		{ERROR_INVALID_DRIVE, ENOENT},
		{ERROR_BAD_NETPATH, ENOENT},
		{ERROR_BAD_NET_NAME, ENOENT},
		{ERROR_INVALID_NAME, ENOENT},
		{ERROR_BAD_PATHNAME, ENOENT},
		{ERROR_ACCESS_DENIED, EACCES},
		{ERROR_SHARING_VIOLATION, EACCES},
		{ERROR_LOCK_VIOLATION, EWOULDBLOCK},
		{ERROR_FILE_EXISTS, EEXIST},
		{ERROR_ALREADY_EXISTS, EEXIST},
		{ERROR_DIRECTORY, ENOTDIR},
		{ERROR_DIR_NOT_EMPTY, ENOTEMPTY},
		{ERROR_DISK_FULL, ENOSPC},
		{ERROR_HANDLE_DISK_FULL, ENOSPC},
		{ERROR_NOT_ENOUGH_MEMORY, ENOMEM},
		{ERROR_OUTOFMEMORY, ENOMEM},
		{ERROR_INVALID_HANDLE, EBADF},
		{ERROR_INVALID_PARAMETER, EINVAL},
		{ERROR_NOT_SAME_DEVICE, EXDEV},
		{ERROR_BROKEN_PIPE, EPIPE},
		{ERROR_WRITE_PROTECT, EROFS},
		{ERROR_TOO_MANY_OPEN_FILES, EMFILE},
		{ERROR_PRIVILEGE_NOT_HELD, EPERM},
		{ERROR_NOT_SUPPORTED, EOPNOTSUPP},
		{ERROR_FILENAME_EXCED_RANGE, ENAMETOOLONG},
	};

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (codes[i].error == error)
			return codes[i].code;
	return EIO;
}

int trk__windows_failed(void)
{
	errno = trk__windows_errno(GetLastError());
	return -1;
}

HANDLE trk__handle_of(int fd)
{
	return (HANDLE) _get_osfhandle(fd);
}

/* ---- texts ---- */

char *trk__narrow_text(const wchar_t *wide)
{
	int size = WideCharToMultiByte(CP_UTF8, 0, wide, -1, NULL, 0, NULL, NULL);
	char *text = size > 0 ? malloc((size_t) size) : NULL;

	if (text)
		(void) WideCharToMultiByte(CP_UTF8, 0, wide, -1, text, size, NULL, NULL);
	return text;
}

/* ---- paths ---- */

static bool too_long(void)
{
	errno = ENAMETOOLONG;
	return false;
}

/* `path` as UTF-16 with '\\'. */
static bool convert(const char *path, wchar_t *wide, size_t size)
{
	if (MultiByteToWideChar(CP_UTF8, 0, path, -1, wide, (int) size) == 0)
		return too_long();
	for (; *wide; wide++)
		if (*wide == L'/')
			*wide = L'\\';
	return true;
}

static wchar_t *_Atomic kept[DESCRIPTORS_MAX]; /* owned; by descriptor, until it is used again */

void trk__wide_keep(int fd, const wchar_t *wide)
{
	if (fd >= 0 && fd < DESCRIPTORS_MAX)
		free(atomic_exchange(&kept[fd], _wcsdup(wide)));
}

bool trk__wide_path_of(int fd, wchar_t wide[TRK_WIDE_PATH_MAX])
{
	DWORD len = GetFinalPathNameByHandleW(trk__handle_of(fd), wide, TRK_WIDE_PATH_MAX, 0);

	if (len >= TRK_WIDE_PATH_MAX)
		return too_long();
	if (len > 0)
		return true;
	if (fd < 0 || fd >= DESCRIPTORS_MAX || !kept[fd])
		return trk__windows_failed() == 0;
	(void) wcscpy(wide, kept[fd]);
	return true;
}

static bool below_directory(int dirfd, const wchar_t *path, wchar_t wide[TRK_WIDE_PATH_MAX])
{
	if (!trk__wide_path_of(dirfd, wide))
		return false;
	if (wcslen(wide) + 1 + wcslen(path) + 1 > TRK_WIDE_PATH_MAX)
		return too_long();
	if (!wcscmp(path, L"."))
		return true;
	(void) wcscat(wide, L"\\");
	(void) wcscat(wide, path);
	return true;
}

bool trk__wide_path(int dirfd, const char *path, wchar_t wide[TRK_WIDE_PATH_MAX])
{
	static const wchar_t prefix[] = L"\\\\?\\";
	enum { PREFIX = 4, ROOM = 8 };
	wchar_t given[TRK_WIDE_PATH_MAX - ROOM];
	DWORD len;

	if (!*path) {
		errno = ENOENT;
		return false;
	}
	if (!convert(strcmp(path, "/dev/null") ? path : "NUL", given,
		     sizeof(given) / sizeof(given[0])))
		return false;
	if (dirfd != AT_FDCWD && !trk__os_is_absolute(path))
		return below_directory(dirfd, given, wide);
	len = GetFullPathNameW(given, TRK_WIDE_PATH_MAX - ROOM, wide, NULL);
	if (len == 0)
		return trk__windows_failed() == 0;
	if (len >= TRK_WIDE_PATH_MAX - ROOM)
		return too_long();
	if (len < MAX_PATH - 12 || wide[0] == L'\\') /* short, or it names a device or a share */
		return true;
	memmove(wide + PREFIX, wide, (len + 1) * sizeof(*wide));
	memcpy(wide, prefix, PREFIX * sizeof(*wide));
	return true;
}

bool trk__narrow_path(const wchar_t *wide, char *path, size_t size)
{
	static const wchar_t share[] = L"\\\\?\\UNC\\", prefix[] = L"\\\\?\\";

	if (size > 1 && !wcsncmp(wide, share, 8)) { /* "\\?\UNC\server" is "//server" */
		*path++ = '/';
		size--;
		wide += 7;
	} else if (!wcsncmp(wide, prefix, 4)) {
		wide += 4;
	}
	if (WideCharToMultiByte(CP_UTF8, 0, wide, -1, path, (int) size, NULL, NULL) == 0)
		return too_long();
	for (; *path; path++)
		if (*path == '\\')
			*path = '/';
	return true;
}

#endif
