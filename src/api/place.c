/* What this machine is, and where it stands. */
#include <stdlib.h>

#include "base/env.h"
#include "track/discovery.h"
#include "report/infer.h"
#include "report/place_json.h"
#include "resource_tracker.h"
#include "probe/machine.h"

enum { DOCUMENT_MAX = 65536 };

char *trk_server_info(void)
{
	struct trk_record *record = calloc(1, sizeof(*record));
	struct trk_env env;
	struct trk_buf b;

	trk__buf_init(&b, DOCUMENT_MAX);
	if (record && trk__record_init(record) == 0 && trk__env_init(&env) == 0) {
		trk__machine_look(&record->place, &env);
		if (trk__machine_look_gpus(&record->place, &env, false, NULL))
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

/* Without a type in the metadata: from the hardware of the machine. */
static void infer(struct trk_place *place, const struct trk_env *env)
{
	struct trk_catalog catalog;

	trk__machine_look(place, env);
	trk__catalog_embedded(&catalog);
	(void) trk__infer_type(&catalog, &place->server, &place->cloud);
}

char *trk_cloud_info(int ask, const char *dir)
{
	struct trk_discovery_options options = {.ask = ask != 0, .dir = dir};
	struct trk_place *place = malloc(sizeof(*place));
	struct trk_env env;
	struct trk_buf b;

	trk__buf_init(&b, DOCUMENT_MAX);
	if (place && trk__env_init(&env) == 0) {
		trk__place_init(place);
		trk__discovery_wait(&env, &options, place);
		if (place->cloud.vendor[0] && !place->cloud.instance_type[0])
			infer(place, &env);
		trk__env_release(&env);
		trk__cloud_document(&b, place);
	}
	free(place);
	if (b.error)
		trk__buf_release(&b);
	return b.data;
}
