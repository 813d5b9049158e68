/* Budget of CPU time for reading PSS: a share of one core over the run.
 *
 * The budget of the first TRK_PSS_LEAD_NS is available at the start, so that short jobs are read at
 * once; the credit grows only after that time. After t ns at most share * max(t, TRK_PSS_LEAD_NS)
 * has been spent, plus the excess of the last reading over its estimate. Unspent credit is limited
 * to TRK_PSS_CREDIT_MAX_NS. */
#ifndef TRK_PROBE_TREE_PSS_BUDGET_H
#define TRK_PROBE_TREE_PSS_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

/* Default share of a core for reading PSS, on average over a run. */
#define TRK_TREE_PSS_SHARE 0.005

#define TRK_PSS_LEAD_NS       20e9
#define TRK_PSS_CREDIT_MAX_NS 200e6
/* The most that is kept for the kernel's counter (linux/others.c). */
#define TRK_PSS_RESERVE_NS 25000000

struct trk_pss_budget {
	double share; /* of one core */
	double credit_ns;
	uint64_t at_ns; /* monotonic: the credit grows from here on */
};

static inline void trk__pss_budget_init(struct trk_pss_budget *b, double share, uint64_t now_ns)
{
	double lent_ns = share * TRK_PSS_LEAD_NS;

	if (lent_ns > TRK_PSS_CREDIT_MAX_NS)
		lent_ns = TRK_PSS_CREDIT_MAX_NS;
	*b = (struct trk_pss_budget){share, lent_ns, now_ns};
	if (share > 0)
		b->at_ns += (uint64_t) (lent_ns / share);
}

static inline void trk__pss_budget_refill(struct trk_pss_budget *b, uint64_t now_ns)
{
	if (now_ns <= b->at_ns)
		return;
	b->credit_ns += (double) (now_ns - b->at_ns) * b->share;
	if (b->credit_ns > TRK_PSS_CREDIT_MAX_NS)
		b->credit_ns = TRK_PSS_CREDIT_MAX_NS;
	b->at_ns = now_ns;
}

static inline bool trk__pss_budget_allows(const struct trk_pss_budget *b, double expected_ns)
{
	return expected_ns <= b->credit_ns;
}

/* A reading may cost more than expected; the credit is then negative for a while. */
static inline void trk__pss_budget_charge(struct trk_pss_budget *b, uint64_t cost_ns)
{
	b->credit_ns -= (double) cost_ns;
}

#endif
