/* The total of CPU time, and its quality.
 *
 * The process tree with wait4 is exact unless the kernel dropped the use of a child: see
 * sample/cpu_clocks.h. The job's own control group counts dropped children as well, and is used
 * first. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "track/finish.h"

/* The group and the tracker's clock are read at different times. */
#define GROUP_SLACK_NS   (20 * TRK_NS_PER_MS)
#define GROUP_SLACK_PART 100

struct judgement {
	enum trk_quality quality;
	const char *source;
	char reason[TRK_RUN_TEXT_SIZE];
};

static double seconds(uint64_t ns)
{
	return (double) ns / 1e9;
}

/* CPU time of the job by its own group. */
static bool read_group_cpu(const struct trk_finish *f, uint64_t *ret_ns)
{
	struct trk_cgroup_usage usage;
	uint64_t own_ns = trk__own_cpu_ns() - f->own_cpu_ns, group_ns;

	if (!f->group_is_own ||
	    trk__cgroup_usage_some(&f->group, TRK_CGROUP_KNOWS_CPU, &usage) < 0 ||
	    !(usage.known & TRK_CGROUP_KNOWS_CPU) || usage.cpu_ns < f->group_cpu_ns)
		return false;
	group_ns = usage.cpu_ns - f->group_cpu_ns;
	*ret_ns = group_ns > own_ns ? group_ns - own_ns : 0;
	return true;
}

/* CPU time of the group beyond the tree is that of dropped children, or of processes that others
 * moved into it. */
static void judge_by_group(struct trk_tree *tree, uint64_t group_ns, struct judgement *j)
{
	const struct trk_tree_state *state = trk__tree_state(tree);
	uint64_t tree_ns = state->counter[TRK_TREE_CPU] - state->raised_cpu_ns;

	if (group_ns <= tree_ns + tree_ns / GROUP_SLACK_PART + GROUP_SLACK_NS)
		return;
	trk__tree_raise(tree, group_ns);
	j->quality = TRK_QUALITY_AT_MOST;
	j->source = "CPU counter of the job's own control group";
	(void) snprintf(j->reason, sizeof(j->reason),
			"the processes that were seen used %.2f s; children that no parent waited "
			"for count here, and so would processes that others put into the group",
			seconds(tree_ns));
}

static void judge_dropped(const struct trk_tree_state *state, const struct trk_cpu_clocks *c,
			  const char *why, struct judgement *j)
{
	int len = snprintf(j->reason, sizeof(j->reason), "%s; ", why);
	char *rest = j->reason + len;
	size_t size = sizeof(j->reason) - (size_t) len;

	j->quality = TRK_QUALITY_AT_LEAST;
	if (!c->knows_stolen) {
		(void) snprintf(rest, size,
				"the perf clock has %.2f s, but the machine's steal is unknown",
				seconds(c->perf_ns));
	} else if (state->raised_cpu_ns == 0) {
		(void) snprintf(rest, size, "the perf clock shows no more CPU time");
	} else {
		j->quality = TRK_QUALITY_ESTIMATED;
		j->source = "perf task-clock less stolen time";
		(void) snprintf(rest, size,
				"the perf clock has %.2f s, of which steal and interrupts may "
				"have taken up to %.2f s",
				seconds(c->perf_ns), seconds(c->stolen_ns));
	}
}

static void judge_by_perf(const struct trk_tree_state *state, const struct trk_cpu_clocks *c,
			  struct judgement *j)
{
	const char *why = trk__tree_dropped(state);

	if (why && c) {
		judge_dropped(state, c, why, j);
	} else if (why) {
		j->quality = TRK_QUALITY_AT_LEAST;
		(void) snprintf(j->reason, sizeof(j->reason), "%s; no perf counter", why);
	} else if (!trk__tree_has_unseen(state)) {
		return;
	} else if (!c) {
		j->quality = TRK_QUALITY_AT_LEAST;
		(void) snprintf(j->reason, sizeof(j->reason), "%s",
				"no perf counter: children of parents that ignore SIGCHLD may be "
				"missing");
	} else if (trk__cpu_clocks_disagree(c)) {
		j->quality = TRK_QUALITY_AT_LEAST;
		(void) snprintf(j->reason, sizeof(j->reason),
				"the perf clock has %.2f s, %.2f s more, while processes came and "
				"went unseen: children that no parent waited for may be missing, "
				"or steal and interrupts took it",
				seconds(c->perf_ns), seconds(c->surplus_ns));
	}
}

void trk__total_cpu(struct trk_finish *f, struct trk_sampler *sampler, struct trk_record *record)
{
	struct trk_quantity *total = record->outcome.total;
	struct trk_tree *tree = trk__sampler_tree(sampler);
	const struct trk_tree_state *s = trk__tree_state(tree);
	bool run = !strcmp(record->run.kind, "run");
	struct judgement j = {TRK_QUALITY_EXACT, run ? "process tree and wait4" : "process tree",
			      ""};
	uint64_t group_ns;
	double cpu, system;

	if (!run) {
		j.quality = TRK_QUALITY_AT_LEAST;
		(void) snprintf(j.reason, sizeof(j.reason), "%s",
				"attached: what orphans and unseen children used may be missing");
	} else if (read_group_cpu(f, &group_ns)) {
		judge_by_group(tree, group_ns, &j);
	} else {
		judge_by_perf(s, trk__sampler_clocks(sampler), &j);
	}
	cpu = seconds(s->counter[TRK_TREE_CPU]);
	system = seconds(s->counter[TRK_TREE_CPU_SYSTEM]);
	if (system > cpu)
		system = cpu;
	trk__quantity_set(&total[TRK_TOTAL_CPU_S], cpu, j.quality, j.source, j.reason);
	if (s->raised_cpu_ns > 0) {
		j.quality = TRK_QUALITY_ESTIMATED;
		(void) snprintf(j.reason, sizeof(j.reason),
				"divided as in the processes that were seen");
	}
	trk__quantity_set(&total[TRK_TOTAL_CPU_SYSTEM_S], system, j.quality, j.source, j.reason);
	trk__quantity_set(&total[TRK_TOTAL_CPU_USER_S], cpu - system, j.quality, j.source,
			  j.reason);
}
