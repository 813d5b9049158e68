/* The public functions about this machine and its cloud. */
#include <stdlib.h>

#include "report/place_json.h"
#include "resource_tracker.h"
#include "service/place.h"

enum { DOCUMENT_MAX = 65536 };

char *trk_server_info(void)
{
	struct trk_record *record = calloc(1, sizeof(*record));
	TRK_BUF_LOCAL(b, DOCUMENT_MAX);

	if (record && trk__place_machine(record, false, NULL) == 0)
		trk__server_document(&b, record, false);
	if (record)
		trk__record_release(record);
	free(record);
	return trk__buf_take(&b);
}

char *trk_cloud_info(int ask, const char *dir)
{
	static const struct trk_service service; /* the embedded catalogue */
	const struct trk_discovery_options how = {.ask = ask != 0, .dir = dir};
	struct trk_place *place = malloc(sizeof(*place));
	TRK_BUF_LOCAL(b, DOCUMENT_MAX);

	if (place && trk__place_cloud(&service, &how, place) == 0)
		trk__cloud_document(&b, place);
	free(place);
	return trk__buf_take(&b);
}
