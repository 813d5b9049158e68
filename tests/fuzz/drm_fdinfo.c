/* The parser of fdinfo, with any bytes. Accepted values are bounded, rejected text does not change
 * the result, and shares are from 0 to 1. */
#include "fuzz.h"

#include <math.h>

#include "probe/gpu/drm_fdinfo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trk_drm_client now, before;
	char *text = fuzz_text(data, size), *half;
	double share;

	memset(&now, 7, sizeof(now));
	before = now;
	if (trk__drm_fdinfo_parse(text, &now) < 0) {
		FUZZ_CHECK(!memcmp(&now, &before, sizeof(now)));
		free(text);
		return 0;
	}
	FUZZ_CHECK(now.engines <= TRK_DRM_ENGINES_MAX);
	FUZZ_CHECK(memchr(now.driver, 0, sizeof(now.driver)) &&
		   memchr(now.bus, 0, sizeof(now.bus)));
	for (size_t i = 0; i < now.engines; i++) {
		FUZZ_CHECK(now.engine[i].name[0] && now.engine[i].capacity > 0);
		FUZZ_CHECK(memchr(now.engine[i].name, 0, sizeof(now.engine[i].name)));
	}
	half = fuzz_text(data, size / 2);
	share = trk__drm_kind_share(
		&now, trk__drm_fdinfo_parse(half, &before) == 0 ? &before : NULL, "", 1000000);
	FUZZ_CHECK(isnan(share) || (share >= 0 && share <= 1));
	free(half);
	free(text);
	return 0;
}
