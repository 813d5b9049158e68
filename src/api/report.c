/* The report of a recording, for a program. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/output.h"
#include "report/report.h"
#include "resource_tracker.h"

enum { PAGE_MAX = 256 * 1024 * 1024 };

static int write_report(const char *recording, const char *path, const char *format,
			const struct trk_report_source *from)
{
	struct trk_buf b;
	int r;

	trk__buf_init(&b, PAGE_MAX);
	r = trk__report_of_file(AT_FDCWD, recording, from, &b, format ? format : "html", NULL);
	if (r == 0)
		r = trk__output_replace(path, b.data, b.len);
	trk__buf_release(&b);
	return r;
}

int trk_report_write_with(const char *recording, const char *path,
			  const struct trk_report_options *options)
{
	struct trk_report_options o = TRK_REPORT_OPTIONS_INIT;
	struct trk_report_source from = {.history = NULL};
	struct trk_error error = {.code = 0};
	struct trk_catalog catalog;
	int r;

	if (!recording || !path)
		return -EINVAL;
	if (options)
		memcpy(&o, options, options->size < sizeof(o) ? options->size : sizeof(o));
	if (o.embed_raw && o.format && strcmp(o.format, "html") != 0)
		return -EINVAL;
	trk__catalog_embedded(&catalog);
	from.catalog = &catalog;
	from.embed_raw = o.embed_raw != 0;
	if (o.history) {
		from.history = trk__history_open(o.history, &error);
		if (!from.history)
			return error.code < 0 ? error.code : -ENOMEM;
	}
	r = write_report(recording, path, o.format, &from);
	trk__history_free(from.history);
	return r;
}

int trk_report_write(const char *recording, const char *path, const char *format)
{
	struct trk_report_options options = TRK_REPORT_OPTIONS_INIT;

	options.format = format;
	return trk_report_write_with(recording, path, &options);
}
