/* Systems for which this program has no tracker. */
#include "service/check.h"

void trk__installation_check_job(struct trk_check *f, const char *tmp)
{
	trk__check_fill(f, "tracked job", TRK_CHECK_PART,
			"this program does not track on this system. Try: python -m "
			"resource_tracker run -- CMD");
}
