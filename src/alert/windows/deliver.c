/* Windows: nothing is sent, as no libcurl is loaded. */
#include "alert/deliver.h"

#include "base/error.h"

const char *const trk__alert_delivers_nothing =
	"this build for Windows sends no alerts and starts no commands";

int trk__alert_deliver(const struct trk_alert_sink *sink, const char *address,
		       const struct trk_alert_account *account, const struct trk_alert_message *m,
		       struct trk_error *reterr)
{
	return trk__error_set(reterr, -TRK_ERR_UNSUPPORTED, sink->kind, "%s: %s", sink->kind,
			      trk__alert_delivers_nothing);
}
