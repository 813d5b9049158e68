#include "cli/tracking.h"

void track_complain_of_lacks(const struct track_settings *s)
{
	(void) s; /* all options have an effect */
}
