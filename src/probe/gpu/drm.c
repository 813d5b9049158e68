/* AMD and Intel GPUs through the kernel alone: sysfs for the device, fdinfo for the processes.
 *
 * amdgpu has activity and memory in sysfs; i915 and xe count how long the GPU slept, which yields
 * an upper bound of its activity. The usage of a process is in the fdinfo of its descriptors, which
 * only its user may read; its usage through ROCm is in the sysfs of the compute driver. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "probe/gpu/drm_private.h"

/* "card0", not "card0-DP-1" nor "renderD128". */
static bool is_card(const char *name)
{
	return !strncmp(name, "card", 4) && name[4] >= '0' && name[4] <= '9' &&
	       strspn(name + 4, "0123456789") == strlen(name + 4) && strlen(name) < 12;
}

static bool is_ours(const char *driver)
{
	return !strcmp(driver, "amdgpu") || !strcmp(driver, "i915") || !strcmp(driver, "xe");
}

/* The next card in the directory that is read here, with its driver; NULL: there is no more. */
static const char *next_card(DIR *dir, char driver[64])
{
	struct dirent *entry;

	while ((entry = trk__next_entry(dir)))
		if (is_card(entry->d_name) &&
		    trk__drm_link_name(dirfd(dir), TRK_PATH("%s/device/driver", entry->d_name),
				       driver, 64) &&
		    is_ours(driver))
			return entry->d_name;
	return NULL;
}

static bool drm_is_likely(const struct trk_env *env)
{
	TRK_DIR_CLEANUP DIR *dir = trk__list_dir_at(env->sys_fd, "class/drm");
	char driver[64];

	return next_card(dir, driver) != NULL;
}

static void drm_close(void *state)
{
	struct trk_drm *d = state;

	for (size_t i = 0; i < d->cards; i++) {
		trk__close(d->card[i].dir_fd);
		trk__close(d->card[i].hwmon_fd);
	}
	free(d);
}

static int by_number(const void *a, const void *b)
{
	return (int) strtol(((const struct trk_drm_card *) a)->name + 4, NULL, 10) -
	       (int) strtol(((const struct trk_drm_card *) b)->name + 4, NULL, 10);
}

static int drm_open(const struct trk_env *env, const struct trk_gpu_hints *hints, void **ret,
		    char why[TRK_GPU_TEXT_SIZE])
{
	TRK_DIR_CLEANUP DIR *dir = trk__list_dir_at(env->sys_fd, "class/drm");
	struct trk_drm *d = calloc(1, sizeof(*d));
	const char *name;
	char driver[64];

	if (!d)
		return -ENOMEM;
	d->env = *env;
	while (d->cards < TRK_DRM_CARDS_MAX && (name = next_card(dir, driver)))
		trk__drm_know_card(d, dirfd(dir), name, driver);
	if (d->cards == 0) {
		drm_close(d);
		(void) snprintf(why, TRK_GPU_TEXT_SIZE, "no AMD or Intel GPU in /sys/class/drm");
		return -TRK_ERR_UNSUPPORTED;
	}
	qsort(d->card, d->cards, sizeof(d->card[0]), by_number);
	trk__kfd_know_cards(d);
	for (size_t i = 0; i < d->cards; i++)
		trk__drm_refresh_slow(&d->card[i], d->env.monotonic_ns());
	*ret = d;
	return 0;
}

static void drm_poll(void *state, struct trk_gpu_scan *scan)
{
	struct trk_drm *d = state;

	for (size_t i = 0; i < d->cards; i++)
		trk__drm_add_card(&d->card[i], scan);
	trk__drm_look_at_processes(d, scan);
	for (size_t i = 0; i < d->cards; i++)
		trk__drm_add_users(d, scan, i);
	d->last_ns = scan->now_ns;
}

static void drm_rest(void *state)
{
	struct trk_drm *d = state;

	for (size_t i = 0; i < d->cards; i++)
		trk__drm_refresh_slow(&d->card[i], d->env.monotonic_ns());
}

const struct trk_gpu_ops trk__gpu_drm = {
	.name = "DRM",
	.is_likely = drm_is_likely,
	.open = drm_open,
	.poll = drm_poll,
	.rest = drm_rest,
	.close = drm_close,
};
