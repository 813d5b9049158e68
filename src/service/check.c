#include "service/check.h"

#include <stdio.h>

void trk__check_set(struct trk_check *f, const char *what, enum trk_check_state state,
		    const char *source, const char *hint)
{
	*f = (struct trk_check){.what = what, .state = state};
	(void) snprintf(f->text, sizeof(f->text), "%.159s", source); /* one line of a table */
	(void) snprintf(f->hint, sizeof(f->hint), "%s", state == TRK_CHECK_GOOD ? "" : hint);
}
