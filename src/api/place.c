/* What this machine is. */
#include <stdlib.h>

#include "base/env.h"
#include "report/place.h"
#include "resource_tracker.h"

enum { DOCUMENT_MAX = 65536 };

char *trk_server_info(void)
{
	struct trk_record *record = calloc(1, sizeof(*record));
	struct trk_env env;
	struct trk_buf b;

	trk__buf_init(&b, DOCUMENT_MAX);
	if (record && trk__record_init(record) == 0 && trk__env_init(&env) == 0) {
		trk__place_look(&record->place, &env);
		trk__env_release(&env);
		trk__server_document(&b, record, false);
	}
	if (record)
		trk__record_release(record);
	free(record);
	if (b.error)
		trk__buf_release(&b);
	return b.data; /* taken over by the caller */
}
