/* The public function about the alerts of this user. */
#include <errno.h>

#include "api/server_needs.h"
#include "resource_tracker.h"
#include "service/alert_list.h"

enum { DOCUMENT_MAX = 16 * 1024 * 1024 };

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
