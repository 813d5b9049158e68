/* The kind and the address of a sink, as KIND:ADDRESS. */
#include <string.h>

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
