#include "service/place.h"

#include <stdlib.h>

#include "probe/machine.h"
#include "answer/infer.h"

int trk__place_machine(struct trk_record *record, const struct trk_gpu_hints *hints)
{
	struct trk_env env;
	int r = trk__record_init(record);

	r = r ? r : trk__env_init(&env);
	if (r < 0)
		return r;
	trk__machine_look(&record->place, &env, NULL);
	/* A hanging driver uses the environment until the process ends. */
	if (trk__machine_look_gpus(&record->place, &env, hints))
		trk__env_release(&env);
	return 0;
}

static void infer(const struct trk_service *s, struct trk_place *place)
{
	struct trk_prices *prices = calloc(1, sizeof(*prices));

	if (prices && trk__prices_load(&s->layers, prices, NULL) == 0) {
		(void) trk__infer_type(&prices->c, &place->server, &place->cloud);
		trk__prices_release(prices);
	}
	free(prices);
}

int trk__place_cloud(const struct trk_service *s, const struct trk_discovery_options *how,
		     struct trk_place *ret)
{
	struct trk_env env;
	int r = trk__env_init(&env);

	if (r < 0)
		return r;
	trk__place_init(ret);
	trk__discovery_wait(&env, how, ret);
	if (ret->cloud.vendor[0] && !ret->cloud.instance_type[0]) {
		trk__machine_look(ret, &env, NULL);
		infer(s, ret);
	}
	trk__env_release(&env);
	return 0;
}
