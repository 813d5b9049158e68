/* The public function for the verb compare: what changed in a run. */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "api/server_needs.h"
#include "api/sources.h"
#include "resource_tracker.h"
#include "recording/reader.h"
#include "service/compare.h"

enum { DOCUMENT_MAX = 4 << 20, OPTIONS_MAX = 4096 };

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
	if (options && (options->size < offsetof(struct trk_compare_options, history) ||
			options->size > OPTIONS_MAX))
		return trk__why(why, why_size, -EINVAL, "options: size is not set");
	if (options)
		memcpy(&o, options, options->size < sizeof(o) ? options->size : sizeof(o));
	c = calloc(1, sizeof(*c)); /* zeroed, as empty records may be released */
	if (!c)
		return trk__why(why, why_size, -ENOMEM, "out of memory");
	r = compare(c, recording, &o, &error);
	if (r == 0)
		r = rules = trk__comparison_judge(&c->comparison, o.fail_on, &error);
	if (r >= 0)
		r = write_json(&c->comparison, ret);
	(void) trk__why(why, why_size, r,
			r == 0             ? c->sources.note
			: error.message[0] ? error.message
					   : trk__strerror(r));
	trk__sources_release(&c->sources);
	trk__record_release(&c->record);
	trk__record_release(&c->other);
	free(c);
	return r < 0 ? r : rules;
}
