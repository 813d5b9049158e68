/* One open file of a DRM device: engine time and memory of its client.
 *
 * Source: /proc/PID/fdinfo/N of a descriptor of /dev/dri/… (amdgpu since Linux 5.14, i915 since
 * 5.19, xe since 6.10; the keys are those of the kernel's page on DRM client usage). Descriptors
 * that were duplicated or inherited show the same client, which counts once, by bus and
 * client-id. */
#ifndef TRK_PROBE_GPU_DRM_FDINFO_H
#define TRK_PROBE_GPU_DRM_FDINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TRK_DRM_ENGINES_MAX = 16 };

struct trk_drm_engine {
	char name[16];
	bool has_ns, has_cycles;
	uint64_t busy_ns;              /* drm-engine-NAME */
	uint64_t cycles, total_cycles; /* drm-cycles-NAME and drm-total-cycles-NAME (xe) */
	uint64_t capacity; /* drm-engine-capacity-NAME: engines of the kind; 1 by default */
};

struct trk_drm_client {
	char driver[16], bus[32]; /* drm-driver, drm-pdev */
	uint64_t id;              /* drm-client-id */
	size_t engines;
	struct trk_drm_engine engine[TRK_DRM_ENGINES_MAX];
	bool has_memory;       /* memory on the device */
	uint64_t memory_bytes; /* resident there, else allocated */
	bool has_gtt;          /* amdgpu: main memory that is mapped for the GPU */
	uint64_t gtt_bytes;
};

/* Parse the text of one fdinfo file. Pure. Returns 0; or -ENODATA and leaves *ret untouched where
 * it is not a DRM client or has no client-id. Unknown keys, engines and units are ignored. */
int trk__drm_fdinfo_parse(const char *text, struct trk_drm_client *ret);

/* Share of the time between two readings in which the busiest engine was busy, 0 to 1, of those
 * whose names begin with `kind`; NaN without engine times, 0 where amdgpu has no line for them.
 * before NULL: the client is new. */
double trk__drm_kind_share(const struct trk_drm_client *now, const struct trk_drm_client *before,
			   const char *kind, uint64_t over_ns);

#endif
