#include "cli/track_options.h"

/* All options have an effect. */
void track_adapt(struct track_settings *s, char **argv)
{
}
