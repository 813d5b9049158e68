#include "probe/cloud/cloud.h"

#include <math.h>

void trk__cloud_clear(struct trk_cloud *c)
{
	*c = (struct trk_cloud){.discovery_time = NAN};
}
