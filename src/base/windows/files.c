/* Files: C library descriptors on handles that are opened here, so that other programs can rename
 * and remove open files, and directories can be opened too. */
#ifdef _WIN32 /* else a checker of code reads this file with the headers of another system */

#include "base/windows/wide.h"

#include <aclapi.h>
#include <stdarg.h>

/* ---- owners ---- */

static bool is_system(PSID owner)
{
	return IsWellKnownSid(owner, WinLocalSystemSid) ||
	       IsWellKnownSid(owner, WinBuiltinAdministratorsSid);
}

static bool is_self(PSID owner)
{
	union {
		TOKEN_USER user;
		BYTE room[sizeof(TOKEN_USER) + SECURITY_MAX_SID_SIZE];
	} token;
	HANDLE own;
	DWORD len;
	bool is;

	if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &own))
		return false;
	is = GetTokenInformation(own, TokenUser, &token, sizeof(token), &len) &&
	     EqualSid(owner, token.user.User.Sid);
	(void) CloseHandle(own);
	return is;
}

static uid_t owner_of(HANDLE file)
{
	PSECURITY_DESCRIPTOR all = NULL;
	PSID owner = NULL;
	uid_t uid = TRK_UID_OTHER;
	DWORD error = GetSecurityInfo(file, SE_FILE_OBJECT, OWNER_SECURITY_INFORMATION, &owner,
				      NULL, NULL, NULL, &all);

	/* A file system without owners (FAT) is one that the user has chosen. */
	if (error == ERROR_INVALID_FUNCTION || error == ERROR_NOT_SUPPORTED || (!error && !owner))
		return TRK_UID_SELF;
	if (error)
		return TRK_UID_OTHER;
	if (is_self(owner))
		uid = TRK_UID_SELF;
	else if (is_system(owner))
		uid = TRK_UID_SYSTEM;
	(void) LocalFree(all);
	return uid;
}

/* ---- facts ---- */

/* Any kind of link to another file, but not a placeholder of a file that is stored elsewhere. */
static bool is_link(HANDLE file, DWORD attributes)
{
	FILE_ATTRIBUTE_TAG_INFO tag;

	return attributes & FILE_ATTRIBUTE_REPARSE_POINT &&
	       GetFileInformationByHandleEx(file, FileAttributeTagInfo, &tag, sizeof(tag)) &&
	       IsReparseTagNameSurrogate(tag.ReparseTag);
}

static int64_t unix_ns(const FILETIME *time)
{
	static const int64_t to_1970 = 116444736000000000;
	int64_t units = (int64_t) ((uint64_t) time->dwHighDateTime << 32 | time->dwLowDateTime);

	return (units - to_1970) * 100;
}

static int describe(HANDLE file, struct trk__stat *ret)
{
	BY_HANDLE_FILE_INFORMATION info;
	unsigned int mode;

	if (GetFileType(file) != FILE_TYPE_DISK) {
		*ret = (struct trk__stat){
			.st_mode = GetFileType(file) == FILE_TYPE_PIPE ? S_IFIFO | 0600
								       : S_IFCHR | 0600,
			.st_uid = TRK_UID_SELF,
			.st_nlink = 1,
		};
		return 0;
	}
	if (!GetFileInformationByHandle(file, &info))
		return trk__windows_failed();
	mode = is_link(file, info.dwFileAttributes)               ? S_IFLNK | 0777
	       : info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY ? S_IFDIR | 0755
								  : S_IFREG | 0644;
	*ret = (struct trk__stat){
		.st_dev = info.dwVolumeSerialNumber,
		.st_ino = (uint64_t) info.nFileIndexHigh << 32 | info.nFileIndexLow,
		.st_mode = mode,
		.st_nlink = info.nNumberOfLinks,
		.st_uid = owner_of(file),
		.st_size = (int64_t) ((uint64_t) info.nFileSizeHigh << 32 | info.nFileSizeLow),
		.st_mtime = (time_t) (unix_ns(&info.ftLastWriteTime) / 1000000000),
		.modified_ns = unix_ns(&info.ftLastWriteTime),
	};
	return 0;
}

int trk__fstat(int fd, struct trk__stat *ret)
{
	HANDLE file = trk__handle_of(fd);

	if (file == INVALID_HANDLE_VALUE) {
		errno = EBADF;
		return -1;
	}
	return describe(file, ret);
}

int fstatat(int dirfd, const char *path, struct trk__stat *ret, int flags)
{
	wchar_t wide[TRK_WIDE_PATH_MAX];
	DWORD how = FILE_FLAG_BACKUP_SEMANTICS |
		    (flags & AT_SYMLINK_NOFOLLOW ? FILE_FLAG_OPEN_REPARSE_POINT : 0);
	HANDLE file;
	int r;

	if (!trk__wide_path(dirfd, path, wide))
		return -1;
	file = CreateFileW(wide, FILE_READ_ATTRIBUTES | READ_CONTROL,
			   FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
			   OPEN_EXISTING, how, NULL);
	if (file == INVALID_HANDLE_VALUE)
		return trk__windows_failed();
	r = describe(file, ret);
	(void) CloseHandle(file);
	return r;
}

int trk__stat(const char *path, struct trk__stat *ret)
{
	return fstatat(AT_FDCWD, path, ret, 0);
}

/* ---- open ---- */

static DWORD disposition(int flags)
{
	if (flags & O_CREAT)
		return flags & O_EXCL ? CREATE_NEW : flags & O_TRUNC ? CREATE_ALWAYS : OPEN_ALWAYS;
	return flags & O_TRUNC ? TRUNCATE_EXISTING : OPEN_EXISTING;
}

static HANDLE open_handle(const wchar_t *path, int flags)
{
	int access = flags & (O_WRONLY | O_RDWR);
	DWORD want = access == O_WRONLY ? GENERIC_WRITE
		     : access == O_RDWR ? GENERIC_READ | GENERIC_WRITE
					: GENERIC_READ;
	DWORD how = FILE_ATTRIBUTE_NORMAL;

	if (flags & O_NOFOLLOW)
		how |= FILE_FLAG_OPEN_REPARSE_POINT;
	if (access == O_RDONLY)
		how |= FILE_FLAG_BACKUP_SEMANTICS; /* a directory, too */
	return CreateFileW(path, want | READ_CONTROL,
			   FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
			   disposition(flags), how, NULL);
}

/* What POSIX refuses and CreateFileW does not. 0 or an errno. */
static int check_kind(HANDLE file, int flags)
{
	BY_HANDLE_FILE_INFORMATION info;

	if (GetFileType(file) != FILE_TYPE_DISK || !GetFileInformationByHandle(file, &info))
		return flags & O_DIRECTORY ? ENOTDIR : 0;
	if (flags & O_NOFOLLOW && is_link(file, info.dwFileAttributes))
		return ELOOP;
	return flags & O_DIRECTORY && !(info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) ? ENOTDIR
											  : 0;
}

int openat(int dirfd, const char *path, int flags, ...)
{
	wchar_t wide[TRK_WIDE_PATH_MAX];
	HANDLE file;
	int fd, kind;

	if (!trk__wide_path(dirfd, path, wide))
		return -1;
	file = open_handle(wide, flags);
	if (file == INVALID_HANDLE_VALUE)
		return trk__windows_failed();
	kind = check_kind(file, flags);
	fd = kind ? -1
		  : _open_osfhandle((intptr_t) file,
				    flags & (O_WRONLY | O_RDWR | O_APPEND | O_CLOEXEC));
	if (fd < 0) {
		(void) CloseHandle(file);
		errno = kind ? kind : EMFILE;
	}
	trk__wide_keep(fd, wide);
	return fd;
}

int trk__open(const char *path, int flags, ...)
{
	return openat(AT_FDCWD, path, flags);
}

static int duplicate(int fd)
{
	wchar_t wide[TRK_WIDE_PATH_MAX];
	int copy = _dup(fd);

	if (copy >= 0 && trk__wide_path_of(fd, wide))
		trk__wide_keep(copy, wide);
	return copy;
}

int fcntl(int fd, int command, ...)
{
	if (command == F_DUPFD_CLOEXEC)
		return duplicate(fd);
	if (trk__handle_of(fd) != INVALID_HANDLE_VALUE)
		return 0;
	errno = EBADF;
	return -1;
}

/* ---- content ---- */

/* Does not change the position of the descriptor. */
ssize_t pread(int fd, void *data, size_t size, int64_t at)
{
	OVERLAPPED place = {.Offset = (DWORD) at, .OffsetHigh = (DWORD) (at >> 32)};
	LARGE_INTEGER none = {.QuadPart = 0}, before;
	HANDLE file = trk__handle_of(fd);
	DWORD len = 0, error;

	if (GetFileType(file) != FILE_TYPE_DISK || !SetFilePointerEx(file, none, &before, 1)) {
		errno = ESPIPE;
		return -1;
	}
	error = ReadFile(file, data, size > INT32_MAX ? INT32_MAX : (DWORD) size, &len, &place)
			? ERROR_SUCCESS
			: GetLastError();
	(void) SetFilePointerEx(file, before, NULL, FILE_BEGIN);
	if (error == ERROR_SUCCESS || error == ERROR_HANDLE_EOF)
		return (ssize_t) len;
	/* A directory. */
	errno = error == ERROR_INVALID_FUNCTION || error == ERROR_INVALID_PARAMETER ||
				error == ERROR_NOT_SUPPORTED || error == ERROR_INVALID_HANDLE
			? EISDIR
			: trk__windows_errno(error);
	return -1;
}

int trk__ftruncate(int fd, int64_t size)
{
	FILE_END_OF_FILE_INFO end = {.EndOfFile.QuadPart = size};

	return SetFileInformationByHandle(trk__handle_of(fd), FileEndOfFileInfo, &end, sizeof(end))
		       ? 0
		       : trk__windows_failed();
}

int fsync(int fd)
{
	return FlushFileBuffers(trk__handle_of(fd)) ? 0 : trk__windows_failed();
}

int trk__isatty(int fd)
{
	DWORD mode;

	return GetConsoleMode(trk__handle_of(fd), &mode) ? 1 : 0;
}

/* The locked range is beyond any end of file: Windows refuses to read a locked range. */
int flock(int fd, int operation)
{
	OVERLAPPED place = {.Offset = 0, .OffsetHigh = 0x7fffffff};
	HANDLE file = trk__handle_of(fd);
	DWORD how = operation & LOCK_EX ? LOCKFILE_EXCLUSIVE_LOCK : 0;

	(void) UnlockFileEx(file, 0, 1, 0, &place);
	if (operation & LOCK_UN)
		return 0;
	if (operation & LOCK_NB)
		how |= LOCKFILE_FAIL_IMMEDIATELY;
	return LockFileEx(file, how, 0, 1, 0, &place) ? 0 : trk__windows_failed();
}

#endif
