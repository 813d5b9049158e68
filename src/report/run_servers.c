#include "report/run_servers.h"

#include <stdio.h>
#include <string.h>

/* Stated needs replace those of the run. */
static void take_wishes(struct trk_catalog_query *q, const struct trk_catalog_query *wishes)
{
	if (wishes->vcpus)
		q->vcpus = wishes->vcpus;
	if (wishes->memory_bytes)
		q->memory_bytes = wishes->memory_bytes;
	if (wishes->gpus)
		q->gpus = wishes->gpus;
	if (wishes->vram_bytes)
		q->vram_bytes = wishes->vram_bytes;
	if (wishes->storage_gb)
		q->storage_gb = wishes->storage_gb;
	if (q->vram_bytes && !q->gpus)
		q->gpus = 1;
	q->gpu_shares |= wishes->gpu_shares;
	q->previous_generation |= wishes->previous_generation;
	q->spot |= wishes->spot;
}

int trk__run_servers_read(struct trk_run_servers *s, const struct trk_catalog *c,
			  const struct trk_run_question *q, struct trk_error *reterr)
{
	static const struct trk_need_words none;
	const struct trk_cloud *cloud = q->cloud ? q->cloud : &q->record->place.cloud;
	int r;

	*s = (struct trk_run_servers){.place_known = cloud->vendor[0] != '\0'};
	r = trk__run_needs_read(&s->needs, c, q->words ? q->words : &none, q->advice,
				q->record->place.server.arch, cloud, reterr);
	if (r < 0)
		return r;
	s->needs.query.spot = !strcmp(cloud->allocation, "spot");
	if (q->wishes)
		take_wishes(&s->needs.query, q->wishes);
	trk__run_work_read(&s->work, c, q->busy, q->record, cloud);
	s->run_s = (double) q->record->outcome.duration_ns / 1e9;
	return 0;
}

int trk__run_servers_find(struct trk_run_servers *s, const struct trk_catalog *c,
			  enum trk_offers_order order, size_t limit)
{
	int r;

	s->needs.query.today = trk__catalog_today();
	s->offers = (struct trk_offers){.c = c, .query = &s->needs.query, .limit = limit};
	if (s->run_s < TRK_RUN_SHORTEST_S && !s->short_too) {
		(void) snprintf(s->offers.nothing, sizeof(s->offers.nothing),
				"a run of %.0f ms is too short to choose a server",
				s->run_s * 1000);
		return 0;
	}
	if (!s->needs.query.memory_bytes) {
		(void) snprintf(s->offers.nothing, sizeof(s->offers.nothing),
				"no server is named, because the memory that the run needs is not "
				"known");
		return 0;
	}
	r = trk__offers_find(c, &s->needs.query, order, &s->work.work, &s->offers);
	if (r == 0)
		trk__offers_limit(&s->offers, limit);
	return r;
}

void trk__run_servers_release(struct trk_run_servers *s)
{
	trk__offers_release(&s->offers);
}
