/* Systems on which no stack is sampled: macOS lets no program read the memory of another one
 * without a privilege, and the build for Windows does not. */
#include "sample/stacks.h"

struct trk_stacks *trk__stacks_new(const struct trk_env *env,
				   const struct trk_stacks_options *options,
				   struct trk_lines *lines, uint64_t start_ns)
{
	return NULL;
}

void trk__stacks_free(struct trk_stacks *s)
{
}

void trk__stacks_follow(struct trk_stacks *s, const pid_t *pid, size_t count, uint64_t now_ns)
{
}

void trk__stacks_tick(struct trk_stacks *s, uint64_t now_ns)
{
}

uint64_t trk__stacks_next_ns(const struct trk_stacks *s)
{
	return UINT64_MAX;
}

void trk__stacks_settle(struct trk_stacks *s, bool last)
{
}

struct trk_lines_sums *trk__stacks_window(struct trk_stacks *s)
{
	return NULL;
}
