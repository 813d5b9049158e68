/* The public functions that write reports. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "api/sources.h"
#include "resource_tracker.h"
#include "service/page.h"

static int make_and_save(const struct trk_service *s, struct trk_history *h,
			 const struct trk_page_request *request, const char *path)
{
	TRK_BUF_LOCAL(b, TRK_PAGE_MAX);
	int r;

	r = trk__page_make(s, h, request, &b, NULL, NULL);
	if (r == 0)
		r = trk__page_save(&b, path, true, NULL);
	return r;
}

int trk_report_write_with(const char *recording, const char *path,
			  const struct trk_report_options *options)
{
	struct trk_report_options o = TRK_REPORT_OPTIONS_INIT;
	struct trk_sources *sources;
	int r;

	if (!recording || !path)
		return -EINVAL;
	if (options)
		memcpy(&o, options, options->size < sizeof(o) ? options->size : sizeof(o));
	const struct trk_sources_named named = {.history = o.history,
						.history_url = o.history_url,
						.prices.cache = o.cache,
						.of_user = o.of_user};
	const struct trk_page_request request = {
		.dirfd = AT_FDCWD,
		.path = recording,
		.format = o.format ? o.format : "html",
		.earlier = o.earlier,
		.integration = o.integration,
		.failed = o.failed != 0,
		.embed_raw = o.embed_raw != 0,
	};
	sources = calloc(1, sizeof(*sources));
	if (!sources)
		return -ENOMEM;
	r = trk__sources_open(sources, &named, !o.earlier, NULL);
	r = r ? r : make_and_save(&sources->service, sources->history, &request, path);
	trk__sources_release(sources);
	free(sources);
	return r;
}

int trk_report_write(const char *recording, const char *path, const char *format)
{
	struct trk_report_options options = TRK_REPORT_OPTIONS_INIT;

	options.format = format;
	return trk_report_write_with(recording, path, &options);
}
