/* The public function for the verb import. */
#include <errno.h>

#include "api/server_needs.h"
#include "base/file.h"
#include "import/import.h"
#include "recording/store.h"
#include "resource_tracker.h"

int trk_import(const char *file, const char *format, const char *dir, char *why, size_t why_size)
{
	struct trk_error error = {.code = 0};
	struct trk_import_result result = {.runs = 0};
	int kind = format ? trk__import_find(format) : TRK_IMPORT_UNKNOWN, r;
	TRK_FD_CLEANUP int runs_fd = -1;

	if (!file || !dir || kind < TRK_IMPORT_UNKNOWN)
		return trk__why(why, why_size, -EINVAL,
				!file  ? "file: no path is given"
				: !dir ? "dir: no path is given"
				       : "format: not a format of resource-tracker import");
	r = runs_fd = trk__store_open(dir, true, &error);
	if (r >= 0) {
		const struct trk_import import = {.runs_fd = runs_fd, .file = file};

		r = trk__import_file(&import, (enum trk_import_format) kind, &result, &error);
	}
	if (r < 0)
		return trk__why(why, why_size, r,
				error.message[0] ? error.message : trk__strerror(r));
	(void) trk__why(why, why_size, 0, "");
	return (int) (result.runs + result.known);
}
