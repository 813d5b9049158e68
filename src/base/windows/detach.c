#ifdef _WIN32 /* else a checker of code reads this file with the headers of another system */

#include "base/detach.h"

#include <stdlib.h>

#include "base/os.h"
#include "base/windows/child.h"

/* Not supported: no process outlives the program. */
bool trk__detach(void)
{
	return false;
}

int trk__shell_command(const char *command, unsigned int limit_s, int *ret_status)
{
	HANDLE output = GetStdHandle(STD_OUTPUT_HANDLE), error = GetStdHandle(STD_ERROR_HANDLE);
	const struct trk_beside what = {.command = command,
					.environment = trk__os_environment(),
					.output = output == INVALID_HANDLE_VALUE ? NULL : output,
					.error = error == INVALID_HANDLE_VALUE ? NULL : error,
					.job = trk__child_job(),
					.has_console = true};
	HANDLE process;
	DWORD code = 0;
	int r = trk__child_beside(&what, &process);

	if (r == 0) {
		r = WaitForSingleObject(process, limit_s * 1000) == WAIT_OBJECT_0 ? 0 : -ETIMEDOUT;
		(void) GetExitCodeProcess(process, &code);
		(void) CloseHandle(process);
		*ret_status = (int) code;
	}
	if (what.job)
		(void) CloseHandle(what.job);
	return r;
}

void trk__detach_program(const char *file, char *const argv[], bool is_quiet)
{
	const struct trk_beside what = {.file = file,
					.argv = argv,
					.environment = trk__os_environment(),
					.is_quiet = is_quiet};
	HANDLE process;

	if (trk__child_beside(&what, &process) == 0)
		(void) CloseHandle(process);
}

#endif
