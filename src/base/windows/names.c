/* Names of files: make, remove, rename, list. */
#ifdef _WIN32 /* else a checker of code reads this file with the headers of another system */

#include "base/windows/wide.h"

#include <stdlib.h>
#include <wchar.h>

#include "base/libc.h"

/* ---- one name ---- */

/* The mode has no effect: access rights are inherited from the folder above. */
int mkdirat(int dirfd, const char *path, unsigned int mode)
{
	wchar_t wide[TRK_WIDE_PATH_MAX];

	if (!trk__wide_path(dirfd, path, wide))
		return -1;
	if (CreateDirectoryW(wide, NULL))
		return 0;
	(void) trk__windows_failed();
	if (errno == EACCES && GetFileAttributesW(wide) != INVALID_FILE_ATTRIBUTES)
		errno = EEXIST; /* "C:" */
	return -1;
}

int unlinkat(int dirfd, const char *path, int flags)
{
	wchar_t wide[TRK_WIDE_PATH_MAX];

	if (!trk__wide_path(dirfd, path, wide))
		return -1;
	if (flags & AT_REMOVEDIR)
		return RemoveDirectoryW(wide) ? 0 : trk__windows_failed();
	return DeleteFileW(wide) ? 0 : trk__windows_failed();
}

/* An open file cannot be replaced, but renamed: it gets another name, and is removed with its last
 * handle. */
static bool replace_open(const wchar_t *from, const wchar_t *to)
{
	wchar_t aside[TRK_WIDE_PATH_MAX];
	DWORD error;

	if (wcslen(to) + 24 > TRK_WIDE_PATH_MAX)
		return false;
	(void) swprintf(aside, TRK_WIDE_PATH_MAX, L"%ls.old-%lu", to, GetCurrentProcessId());
	if (!MoveFileExW(to, aside, MOVEFILE_REPLACE_EXISTING))
		return false;
	if (MoveFileExW(from, to, 0)) {
		(void) DeleteFileW(aside);
		return true;
	}
	error = GetLastError();
	(void) MoveFileExW(aside, to, 0);
	SetLastError(error);
	return false;
}

int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
	wchar_t wide_from[TRK_WIDE_PATH_MAX], wide_to[TRK_WIDE_PATH_MAX];

	if (!trk__wide_path(from_fd, from, wide_from) || !trk__wide_path(to_fd, to, wide_to))
		return -1;
	if (MoveFileExW(wide_from, wide_to, MOVEFILE_REPLACE_EXISTING))
		return 0;
	if (GetLastError() == ERROR_ACCESS_DENIED && replace_open(wide_from, wide_to))
		return 0;
	return trk__windows_failed();
}

/* Whether it exists and, for writing, is not marked as read-only. */
int faccessat(int dirfd, const char *path, int mode, int flags)
{
	wchar_t wide[TRK_WIDE_PATH_MAX];
	DWORD attributes;

	if (!trk__wide_path(dirfd, path, wide))
		return -1;
	attributes = GetFileAttributesW(wide);
	if (attributes == INVALID_FILE_ATTRIBUTES)
		return trk__windows_failed();
	if (!(mode & W_OK) || !(attributes & FILE_ATTRIBUTE_READONLY) ||
	    attributes & FILE_ATTRIBUTE_DIRECTORY)
		return 0;
	errno = EACCES;
	return -1;
}

char *realpath(const char *path, char *text)
{
	wchar_t wide[TRK_WIDE_PATH_MAX];
	int fd = trk__open(path, O_RDONLY | O_CLOEXEC);
	bool is_known;

	if (fd < 0)
		return NULL;
	is_known = trk__wide_path_of(fd, wide);
	(void) close(fd);
	return is_known && trk__narrow_path(wide, text, PATH_MAX) ? text : NULL;
}

char *trk__getcwd(char *text, size_t size)
{
	wchar_t wide[TRK_WIDE_PATH_MAX];
	DWORD len = GetCurrentDirectoryW(TRK_WIDE_PATH_MAX, wide);

	if (len == 0 || len >= TRK_WIDE_PATH_MAX) {
		if (len == 0)
			(void) trk__windows_failed();
		else
			errno = ENAMETOOLONG;
		return NULL;
	}
	return trk__narrow_path(wide, text, size) ? text : NULL;
}

char *mkdtemp(char *path)
{
	size_t len = strlen(path);

	for (int i = 0; i < 100; i++) {
		(void) snprintf(path + len - 6, 7, "%06x", trk__random_bits() & 0xffffffu);
		if (mkdir(path, 0700) == 0)
			return path;
		if (errno != EEXIST)
			break;
	}
	return NULL;
}

/* ---- directories ---- */

struct trk__dir {
	HANDLE find;
	int fd; /* owned */
	bool has_first;
	WIN32_FIND_DATAW found;
	struct dirent entry;
};

DIR *fdopendir(int fd)
{
	wchar_t wide[TRK_WIDE_PATH_MAX];
	DIR *dir = calloc(1, sizeof(*dir));

	if (!dir || !trk__wide_path(fd, "*", wide)) {
		free(dir);
		return NULL;
	}
	dir->fd = fd;
	dir->find = FindFirstFileW(wide, &dir->found);
	if (dir->find == INVALID_HANDLE_VALUE && GetLastError() != ERROR_FILE_NOT_FOUND) {
		(void) trk__windows_failed();
		free(dir);
		return NULL;
	}
	dir->has_first = dir->find != INVALID_HANDLE_VALUE;
	return dir;
}

DIR *opendir(const char *path)
{
	int fd = trk__open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !dir)
		(void) close(fd);
	return dir;
}

struct dirent *readdir(DIR *dir)
{
	if (!dir->has_first &&
	    (dir->find == INVALID_HANDLE_VALUE || !FindNextFileW(dir->find, &dir->found)))
		return NULL;
	dir->has_first = false;
	dir->entry.d_type = dir->found.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT ? DT_UNKNOWN
			    : dir->found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY   ? DT_DIR
										       : DT_REG;
	(void) WideCharToMultiByte(CP_UTF8, 0, dir->found.cFileName, -1, dir->entry.d_name,
				   sizeof(dir->entry.d_name), NULL, NULL);
	return &dir->entry;
}

int closedir(DIR *dir)
{
	if (dir->find != INVALID_HANDLE_VALUE)
		(void) FindClose(dir->find);
	(void) close(dir->fd);
	free(dir);
	return 0;
}

int dirfd(const DIR *dir)
{
	return dir->fd;
}

#endif
