#include "sample/counter_set.h"

#include <errno.h>

/* A single reading of memory was requested: no budget. */
static const double PSS_SHARE_ALL = 1e6;

int trk__counters_init_tree(struct trk_counter_set *c, const struct trk_env *env, pid_t pid,
			    bool one_process, int kept_fds)
{
	struct trk_tree_options options = {
		.root = pid,
		.one_process = one_process,
		.figures_only = true,
		.kept_fds = kept_fds,
		.pss_share = PSS_SHARE_ALL,
	};
	int r = -ENOMEM;

	*c = (struct trk_counter_set){.env = *env, .machine = TRK_MACHINE_NOW_NONE};
	c->tree = trk__tree_new(&c->env, &options, &r);
	return c->tree ? 0 : r;
}

int trk__counters_init_machine(struct trk_counter_set *c, const struct trk_env *env)
{
	*c = (struct trk_counter_set){.env = *env};
	return trk__machine_now_open(&c->machine, &c->env);
}

void trk__counters_release(struct trk_counter_set *c)
{
	trk__tree_free(c->tree);
	trk__machine_now_close(&c->machine);
	trk__env_release(&c->env);
}

void trk__counters_read_tree(struct trk_counter_set *c, struct trk_tree_reading *ret)
{
	const struct trk_tree_state *s;
	uint64_t written, cancelled;

	trk__tree_update(c->tree, &s);
	written = s->base[TRK_TREE_WRITE_BYTES] + s->counter[TRK_TREE_WRITE_BYTES];
	cancelled = s->base[TRK_TREE_CANCELLED_BYTES] + s->counter[TRK_TREE_CANCELLED_BYTES];
	trk__cpu_split(&c->cpu, s->base[TRK_TREE_CPU] + s->counter[TRK_TREE_CPU],
		       s->base[TRK_TREE_CPU_SYSTEM] + s->counter[TRK_TREE_CPU_SYSTEM]);
	*ret = (struct trk_tree_reading){
		.user_ns = c->cpu.user,
		.system_ns = c->cpu.system,
		.read_bytes = s->base[TRK_TREE_READ_BYTES] + s->counter[TRK_TREE_READ_BYTES],
		.write_bytes = written > cancelled ? written - cancelled : 0,
		.has_io = s->unreadable_io == 0 || s->unreadable_io < s->processes,
		.memory_bytes = s->pss_bytes,
		.processes = s->processes,
		.root_gone = s->root_gone,
	};
}
