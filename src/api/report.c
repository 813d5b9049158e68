/* The report of a recording, for a program. */
#include <errno.h>
#include <fcntl.h>

#include "base/file.h"
#include "report/report.h"
#include "resource_tracker.h"

enum { PAGE_MAX = 64 * 1024 * 1024 };

int trk_report_write(const char *recording, const char *path, const char *format)
{
	struct trk_catalog catalog;
	struct trk_buf b;
	int r;

	if (!recording || !path)
		return -EINVAL;
	trk__catalog_embedded(&catalog);
	trk__buf_init(&b, PAGE_MAX);
	r = trk__report_of_file(AT_FDCWD, recording, &catalog, &b, format ? format : "html", NULL);
	if (r == 0)
		r = trk__replace_file(path, b.data, b.len);
	trk__buf_release(&b);
	return r;
}
