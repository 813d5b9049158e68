#include "cli/tracking.h"

void track_drop_lacks(struct track_settings *s)
{
}
