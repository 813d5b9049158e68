#ifdef _WIN32 /* else a checker of code reads this file with the headers of another system */

#include "api/install_path.h"

#include "base/windows/wide.h"

bool trk__library_path(char *path, size_t size)
{
	enum {
		FLAGS = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS |
			GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT
	};
	static const char here[] = "";
	wchar_t wide[TRK_WIDE_PATH_MAX];
	HMODULE module;
	DWORD len;

	if (!GetModuleHandleExW(FLAGS, (const wchar_t *) (const void *) here, &module))
		return false;
	len = GetModuleFileNameW(module, wide, TRK_WIDE_PATH_MAX);
	return len > 0 && len < TRK_WIDE_PATH_MAX && trk__narrow_path(wide, path, size);
}

#endif
