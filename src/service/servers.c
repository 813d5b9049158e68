#include "service/servers.h"

#include <math.h>

#include "service/keeper_client.h"

enum { WORK_S = 3600 };

int trk__servers_find(const struct trk_service *s, const struct trk_catalog *c,
		      const struct trk_servers_request *request, struct trk_run_servers *ret,
		      struct trk_error *reterr)
{
	struct trk_catalog_query *query = &ret->needs.query;
	int r;

	*query = request->query;
	query->today = trk__catalog_today();
	r = trk__needs_read(&ret->needs, c, &request->words, reterr);
	if (r < 0)
		return r;
	/* The work of an hour, on the vCPUs that are needed. */
	ret->work.slice[0] = (struct trk_busy_slice){query->vcpus ? query->vcpus : 1, WORK_S};
	ret->work.work =
		(struct trk_server_work){.slices = ret->work.slice, .n = 1, .here_one = {NAN, NAN}};
	if (request->online)
		trk__keeper_online(s, request->online, query, request->url, ret->needs.regions);
	return trk__offers_find(c, query, request->order, &ret->work.work, &ret->offers);
}
