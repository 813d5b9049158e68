/* Stubs: on Windows, metadata services of clouds are not queried. */
#include <errno.h>
#include <stdio.h>

#include "probe/cloud/cloud.h"

int trk__cloud_probe_new(const struct trk_dmi *dmi, const struct sockaddr_in *endpoint,
			 struct trk_cloud_probe **ret, struct trk_cloud *ret_known)
{
	*ret = NULL;
	trk__cloud_clear(ret_known);
	(void) snprintf(ret_known->reason, sizeof(ret_known->reason),
			"this build for Windows sends no request to a metadata service");
	return 0;
}

int trk__cloud_probe_fd(const struct trk_cloud_probe *p)
{
	return -1;
}

bool trk__cloud_probe_step(struct trk_cloud_probe *p, struct trk_cloud *ret)
{
	return false;
}

void trk__cloud_probe_free(struct trk_cloud_probe *p)
{
}

int trk__cloud_cache_read(const struct trk_env *env, int dirfd, struct trk_cloud *ret)
{
	return -EOPNOTSUPP;
}

int trk__cloud_cache_write(const struct trk_env *env, int dirfd, const struct trk_cloud *c)
{
	return -EOPNOTSUPP;
}
