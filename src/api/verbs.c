/* The public functions of verbs that need no object: alerts, import, report and compare. */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "api/server_needs.h"
#include "api/sources.h"
#include "base/file.h"
#include "import/import.h"
#include "recording/reader.h"
#include "recording/store.h"
#include "resource_tracker.h"
#include "service/alert_list.h"
#include "service/compare.h"
#include "service/page.h"

enum { DOCUMENT_MAX = 16 << 20 };

int trk_alerts(const char *dir, char **ret, char *why, size_t why_size)
{
	struct trk_error error = {.code = 0};
	TRK_BUF_LOCAL(text, DOCUMENT_MAX);
	int r;

	if (!dir || !*dir || !ret)
		return trk__why(why, why_size, -EINVAL, "dir: an empty name");
	r = trk__alert_list_json(dir, &text, &error);
	trk__buf_putc(&text, '\0');
	r = r < 0 ? r : text.error;
	if (r < 0)
		return trk__why(why, why_size, r, "%s", trk__error_text(&error, r));
	*ret = trk__buf_take(&text);
	return 0;
}

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
		return trk__why(why, why_size, r, "%s", trk__error_text(&error, r));
	(void) trk__why(why, why_size, 0, "%s", "");
	return (int) (result.runs + result.known);
}

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

struct comparing {
	struct trk_record record, other;
	struct trk_comparison comparison;
	struct trk_sources sources;
};

static int compare(struct comparing *c, const char *recording, const struct trk_compare_options *o,
		   struct trk_error *error)
{
	const struct trk_sources_named named = {
		.history = o->history, .history_url = o->history_url, .of_user = o->of_user};
	int r = trk__record_read(AT_FDCWD, recording, &c->record, NULL, NULL, error);

	if (r == 0 && o->with) {
		r = trk__record_read(AT_FDCWD, o->with, &c->other, NULL, NULL, error);
		return r < 0 ? r : trk__compare_run(&c->record, &c->other, &c->comparison);
	}
	r = r ? r : trk__sources_open(&c->sources, &named, true, error);
	return r < 0 ? r
		     : trk__compare_job(&c->sources.service, c->sources.history, &c->record,
					&c->comparison, error);
}

static int write_json(const struct trk_comparison *c, char **ret)
{
	TRK_BUF_LOCAL(b, DOCUMENT_MAX);

	trk__comparison_json(&b, c);
	if (b.error)
		return b.error;
	*ret = trk__buf_take(&b);
	return 0;
}

int trk_compare(const char *recording, const struct trk_compare_options *options, char **ret,
		char *why, size_t why_size)
{
	struct trk_compare_options o = TRK_COMPARE_OPTIONS_INIT;
	struct trk_error error = {.code = 0};
	struct comparing *c;
	int r, rules = 0;

	if (!recording)
		return trk__why(why, why_size, -EINVAL, "recording: no path is given");
	r = trk__options_copy("options", options, offsetof(struct trk_compare_options, history), &o,
			      sizeof(o), why, why_size);
	if (r < 0)
		return r;
	c = calloc(1, sizeof(*c)); /* zeroed, as empty records may be released */
	if (!c)
		return trk__why(why, why_size, -ENOMEM, "out of memory");
	r = compare(c, recording, &o, &error);
	if (r == 0)
		r = rules = trk__comparison_judge(&c->comparison, o.fail_on, &error);
	if (r >= 0)
		r = write_json(&c->comparison, ret);
	(void) trk__why(why, why_size, r, "%s",
			r == 0 ? c->sources.note : trk__error_text(&error, r));
	trk__sources_release(&c->sources);
	trk__record_release(&c->record);
	trk__record_release(&c->other);
	free(c);
	return r < 0 ? r : rules;
}
