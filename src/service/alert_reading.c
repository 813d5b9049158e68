/* Parsing a sink, and reading alerts.json. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/file.h"
#include "service/alert_send.h"

const struct trk_alert_sink *trk__alert_sink_parse(const struct trk_alert_sender *s,
						   const char *text, const char **ret_address)
{
	const char *colon = strchr(text, ':');
	const struct trk_alert_sink *sink =
		colon ? trk__alert_sink_find(text, (size_t) (colon - text)) : NULL;

	if (!sink || !colon[1]) {
		trk__service_note(&s->service,
				  "alerts: %.*s: not of the form KIND:ADDRESS. Kinds: mail, slack, "
				  "teams, discord, json, alertmanager",
				  (int) strcspn(text, ":"), text);
		return NULL;
	}
	*ret_address = colon + 1;
	return sink;
}

int trk__alert_store_peek(const char *dir, struct trk_alert_book *ret, struct trk_error *reterr)
{
	TRK_FD_CLEANUP int fd = dir && *dir ? trk__open_dir_at(AT_FDCWD, dir) : -ENOENT;
	struct trk_error error = {.code = 0};
	bool reads = fd >= 0 || fd == -ENOENT;
	int r = reads ? trk__alert_book_peek(fd, ret, &error) : fd;

	if (r == 0)
		return 0;
	if (reads)
		trk__alert_book_release(ret);
	return trk__error_set(reterr, r, dir, "%s%s: %s", dir, reads ? "/alerts.json" : "",
			      trk__error_text(&error, r));
}
