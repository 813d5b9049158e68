/* The public function about the alerts of this user. */
#include <errno.h>
#include <stdio.h>

#include "resource_tracker.h"
#include "service/alert_list.h"

enum { DOCUMENT_MAX = 16 * 1024 * 1024 };

static int complain(char *why, size_t why_size, int code, const char *text)
{
	if (why && why_size)
		(void) snprintf(why, why_size, "%s", text[0] ? text : trk__strerror(code));
	return code;
}

int trk_alerts(const char *dir, char **ret, char *why, size_t why_size)
{
	struct trk_error error = {.code = 0};
	struct trk_buf text;
	int r;

	if (!dir || !*dir || !ret)
		return complain(why, why_size, -EINVAL, "dir: an empty name");
	trk__buf_init(&text, DOCUMENT_MAX);
	r = trk__alert_list_json(dir, &text, &error);
	trk__buf_putc(&text, '\0');
	r = r < 0 ? r : text.error;
	if (r < 0) {
		trk__buf_release(&text);
		return complain(why, why_size, r, error.message);
	}
	*ret = text.data; /* taken over by the caller */
	return 0;
}
