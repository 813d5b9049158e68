/* Systems on which no stack is sampled: macOS lets no program read the memory of another one
 * without a privilege, and the build for Windows does not. */
#include "track/lines.h"

void trk__track_lines_begin(struct trk_track_lines *t, const struct trk_env *env,
			    const struct trk_track_options *options, uint64_t start_ns,
			    struct trk_lines **ret_lines)
{
}

void trk__track_lines_follow(struct trk_track_lines *t, struct trk_tree *tree, uint64_t now_ns)
{
}

void trk__track_lines_take(struct trk_track_lines *t, struct trk_writer *w)
{
}

void trk__track_lines_ask(struct trk_track_lines *t, const struct trk_writer *w, uint64_t now_ns)
{
}

void trk__track_lines_end(struct trk_track_lines *t, struct trk_writer *w)
{
}
