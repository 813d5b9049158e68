#include "service/servers.h"

#include <math.h>

#include "catalog/suggest.h"
#include "service/keeper_client.h"

enum { RUN_S_DEFAULT = 3600 };

/* One slice of time: so many cores busy for so long. */
static int read_work(struct trk_run_work *w, const struct trk_catalog *c,
		     const struct trk_servers_request *q, struct trk_error *reterr)
{
	double vcpus = q->query.vcpus ? q->query.vcpus : 1;
	size_t n;
	int at;

	w->slice[0] = (struct trk_busy_slice){q->busy_cores > 0 ? q->busy_cores : vcpus,
					      q->run_s > 0 ? q->run_s : RUN_S_DEFAULT};
	w->work = (struct trk_server_work){
		.slices = w->slice, .n = 1, .here_one = {NAN, NAN}, .boot_s = q->boot_s};
	if (!q->measured_on)
		return 0;
	at = trk__catalog_find_server(c, -1, q->measured_on);
	if (at < 0)
		return trk__catalog_unknown(c, TRK_KIND_SERVER, -1, q->measured_on, reterr);
	trk__server_measured_on(&w->work, &trk__catalog_servers(c, &n)[at]);
	return 0;
}

int trk__servers_find(const struct trk_service *s, const struct trk_catalog *c,
		      const struct trk_servers_request *request, struct trk_run_servers *ret,
		      struct trk_error *reterr)
{
	struct trk_catalog_query *query = &ret->needs.query;
	int r;

	*query = request->query;
	query->today = trk__catalog_today();
	r = trk__needs_read(&ret->needs, c, &request->words, reterr);
	r = r ? r : read_work(&ret->work, c, request, reterr);
	if (r < 0)
		return r;
	if (request->online)
		trk__keeper_online(s, request->online, query, request->url, ret->needs.regions);
	return trk__offers_find(c, query, request->order, &ret->work.work, &ret->offers);
}
