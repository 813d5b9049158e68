#include "advise/server.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "advise/cpu.h"
#include "advise/run_cost.h"
#include "base/maths.h"

/* Where no score is known: what a vCPU adds when it shares its core. */
static const double smt_vcpu = 0.65;

void trk__server_measured_on(struct trk_server_work *work, const struct trk_catalog_server *s)
{
	for (int basis = 0; basis < TRK_SPEED_BASES; basis++) {
		struct trk_catalog_speed speed;
		bool known = trk__catalog_speed_by(s, (enum trk_speed_basis) basis, &speed);

		work->here_one[basis] = known ? speed.one : (double) NAN;
		work->here_all[basis] = known ? speed.all : 0;
	}
	work->here_vcpus = s->vcpus;
}

/* Work of u busy cores, in threads: two threads of one core do less than two cores. */
static double work_of(const struct trk_server_work *work, int basis, double u)
{
	double most = basis < 0 ? 0 : work->here_all[basis] / work->here_one[basis];

	return most >= 1 && u <= work->here_vcpus && u > most ? most : u;
}

double trk__server_run_s(const struct trk_server_work *work, int basis,
			 const struct trk_catalog_speed *there)
{
	double here = basis < 0 ? there->one : work->here_one[basis];
	double r = there->one / here, all = there->all / here, sum = 0;

	for (size_t i = 0; i < work->n; i++) {
		double u = work->slices[i].cores, dt = work->slices[i].seconds;

		if (!(u > 0))
			sum += dt;
		else if (u <= 1)
			sum += dt * (1 - u + u / r);
		else
			sum += dt * work_of(work, basis, u) / (u * r < all ? u * r : all);
	}
	return sum;
}

static bool is_known(const struct trk_server_work *work, int basis)
{
	return !isnan(work->here_one[basis]) && work->here_one[basis] > 0;
}

bool trk__server_run_on(const struct trk_server_work *work, const struct trk_catalog_server *s,
			double *ret_s)
{
	int any = is_known(work, 0) ? 0 : is_known(work, 1) ? 1 : -1;
	struct trk_catalog_speed speed;
	double each = s->threads_per_core == 1 ? 1 : smt_vcpu;

	for (int basis = 0; basis < TRK_SPEED_BASES; basis++) {
		if (!is_known(work, basis) ||
		    !trk__catalog_speed_by(s, (enum trk_speed_basis) basis, &speed))
			continue;
		*ret_s = trk__server_run_s(work, basis, &speed);
		return true;
	}
	if (trk__catalog_speed_of(s, &speed)) {
		*ret_s = trk__server_run_s(work, any, &speed);
		return true;
	}
	speed.one = any < 0 ? 1 : work->here_one[any];
	speed.all = speed.one * (s->vcpus > 1 ? s->vcpus * each : 1);
	*ret_s = trk__server_run_s(work, any, &speed);
	return false;
}

static void estimate(const struct trk_catalog *c, const struct trk_server_work *work,
		     const struct trk_catalog_offer *offer, struct trk_server_estimate *ret)
{
	const struct trk_catalog_server *s = &trk__catalog_servers(c, NULL)[offer->server];
	const struct trk_catalog_vendor *v = &trk__catalog_vendors(c, NULL)[s->vendor];

	ret->offer = *offer;
	ret->speed_known = trk__server_run_on(work, s, &ret->run_s);
	ret->billed_s = trk__server_billed_s(v, ret->run_s);
	ret->cost_usd = trk__catalog_usd(offer->units) * ret->billed_s / 3600;
}

static int by_cost(const void *a, const void *b)
{
	const struct trk_server_estimate *x = a, *y = b;

	if (x->offer.old != y->offer.old)
		return x->offer.old - y->offer.old;
	if (x->speed_known != y->speed_known)
		return x->speed_known ? -1 : 1;
	if (x->cost_usd < y->cost_usd || x->cost_usd > y->cost_usd)
		return x->cost_usd < y->cost_usd ? -1 : 1;
	if (x->run_s < y->run_s || x->run_s > y->run_s)
		return x->run_s < y->run_s ? -1 : 1;
	return (x->offer.server > y->offer.server) - (x->offer.server < y->offer.server);
}

/* Keep a server that misses one need if it is the cheapest of those that miss the same. */
static void keep_near(struct trk_server_advice *a, const struct trk_server_estimate *e)
{
	for (size_t i = 0; i < a->nears; i++) {
		if (a->near[i].offer.unmet != e->offer.unmet)
			continue;
		if (e->cost_usd < a->near[i].cost_usd)
			a->near[i] = *e;
		return;
	}
	if (a->nears < sizeof(a->near) / sizeof(a->near[0]))
		a->near[a->nears++] = *e;
}

static bool is_cheaper_hour(const struct trk_server_estimate *a,
			    const struct trk_server_estimate *b)
{
	if (a->offer.old != b->offer.old)
		return b->offer.old;
	return a->offer.units < b->offer.units ||
	       (a->offer.units == b->offer.units && a->cost_usd < b->cost_usd);
}

/* Compares cost also if the speed is unknown. */
static bool is_cheaper_run(const struct trk_server_estimate *a, const struct trk_server_estimate *b)
{
	return a->offer.old == b->offer.old ? a->cost_usd < b->cost_usd : b->offer.old;
}

/* An old price does not beat a newer one. */
static void drop_dear_nears(struct trk_server_advice *a)
{
	size_t kept = 0;

	for (size_t i = 0; i < a->nears; i++)
		if (a->near[i].cost_usd < a->list[0].cost_usd &&
		    a->near[i].offer.old <= a->list[0].offer.old)
			a->near[kept++] = a->near[i];
	a->nears = kept;
}

int trk__server_advise(const struct trk_catalog *c, const struct trk_catalog_query *q,
		       const struct trk_server_work *work, struct trk_server_advice *ret)
{
	struct trk_catalog_query wider = *q;
	struct trk_server_advice a = {.n = 0};
	struct trk_catalog_offer *offers;
	size_t n;

	wider.near_misses = true;
	if (trk__catalog_search(c, &wider, &offers, &n) < 0)
		return -ENOMEM;
	a.list = calloc(n ? n : 1, sizeof(*a.list));
	for (size_t i = 0; a.list && i < n; i++) {
		struct trk_server_estimate e;

		estimate(c, work, &offers[i], &e);
		if (!e.offer.unmet)
			a.list[a.n++] = e;
		else if (e.speed_known)
			keep_near(&a, &e);
	}
	free(offers);
	if (!a.list)
		return -ENOMEM;
	if (!a.n) {
		free(a.list);
		return -ENOENT;
	}
	qsort(a.list, a.n, sizeof(*a.list), by_cost);
	for (size_t i = 1; i < a.n; i++) {
		if (is_cheaper_hour(&a.list[i], &a.list[a.cheapest_hour]))
			a.cheapest_hour = i;
		if (is_cheaper_run(&a.list[i], &a.list[a.cheapest_run]))
			a.cheapest_run = i;
	}
	drop_dear_nears(&a);
	*ret = a;
	return 0;
}

void trk__server_advice_release(struct trk_server_advice *a)
{
	free(a->list);
	*a = (struct trk_server_advice){.list = NULL};
}
