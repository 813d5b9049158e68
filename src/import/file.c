#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/os.h"
#include "import/import.h"

int trk__import_file(const struct trk_import *import, enum trk_import_format format,
		     struct trk_import_result *ret, struct trk_error *reterr)
{
	struct trk_error error = {.code = 0};
	struct trk_import of = *import;
	struct stat st;
	char *text = NULL;
	size_t len = 0;
	int r = trk__import_load(of.file, &text, &len, &error);

	if (r == 0) { /* on error `text` is not set */
		if (!of.time_ns && stat(of.file, &st) == 0)
			of.time_ns = (uint64_t) trk__os_modified_ns(&st);
		if (!of.time_ns)
			of.time_ns = trk__clock_wall_ns();
		r = trk__import_text(&of, text, len, format, ret, &error);
		free(text);
	}
	if (r == 0)
		return 0;
	return trk__error_set(reterr, r, of.file, "%s%s%s",
			      strstr(error.message, of.file) ? "" : of.file,
			      strstr(error.message, of.file) ? "" : ": ",
			      error.message[0] ? error.message : trk__strerror(r));
}
