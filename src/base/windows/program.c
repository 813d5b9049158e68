#ifdef _WIN32 /* else a checker of code reads this file with the headers of another system */

#include "base/windows/program.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/os.h"

enum { NAME_MAX_BYTES = 4 * TRK_WIDE_PATH_MAX, ENDINGS = 4 };

/* Other endings of PATHEXT are of scripts, which CreateProcessW does not start. */
static const char *const endings[ENDINGS] = {".com", ".exe", ".bat", ".cmd"};

/* The ending of any kind of the last part of a name; NULL: none. */
static const char *ending_of(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && !strpbrk(dot, "/\\") ? dot : NULL;
}

static bool is_complete(const char *name)
{
	const char *ending = ending_of(name);

	for (int i = 0; ending && i < ENDINGS; i++)
		if (!_stricmp(ending, endings[i]))
			return true;
	return false;
}

/* In the first `len` bytes of `folder`; 0: the name has a folder. */
static int look(const char *folder, size_t len, const char *name, const char *ending,
		wchar_t path[TRK_WIDE_PATH_MAX])
{
	TRK_BUF_LOCAL(whole, NAME_MAX_BYTES);
	DWORD attributes;

	trk__buf_printf(&whole, "%.*s%s%s%s", (int) len, folder, len ? "/" : "", name, ending);
	if (whole.error)
		return -ENAMETOOLONG;
	if (!trk__wide_path(AT_FDCWD, whole.data, path))
		return -errno;
	attributes = GetFileAttributesW(path);
	if (attributes == INVALID_FILE_ATTRIBUTES)
		return -ENOENT;
	return attributes & FILE_ATTRIBUTE_DIRECTORY ? -EACCES : 0;
}

static int find_in(const char *folder, size_t len, const char *name,
		   wchar_t path[TRK_WIDE_PATH_MAX])
{
	int r;

	for (int i = 0; i < ENDINGS && !is_complete(name); i++)
		if (look(folder, len, name, endings[i], path) == 0)
			return 0;
	r = look(folder, len, name, "", path);
	return r == 0 && !ending_of(name) ? -EACCES : r;
}

int trk__program_find(const char *name, wchar_t path[TRK_WIDE_PATH_MAX])
{
	const char *at = getenv("PATH");

	if (!*name)
		return -ENOENT;
	if (strpbrk(name, "/\\:"))
		return find_in("", 0, name, path);
	for (; at && *at; at += strspn(at, ";\"")) { /* a folder may be in quotes */
		size_t len = strcspn(at, ";\"");

		if (len && trk__os_is_absolute(at) && find_in(at, len, name, path) == 0)
			return 0;
		at += len;
	}
	return -ENOENT;
}

bool trk__program_is_batch(const wchar_t *path)
{
	const wchar_t *dot = wcsrchr(path, L'.');

	return dot && (!_wcsicmp(dot, L".bat") || !_wcsicmp(dot, L".cmd"));
}

#endif
