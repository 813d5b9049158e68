/* ROCm compute queues on AMD GPUs: the processes that have such queues, and their memory.
 *
 * Source: /sys/class/kfd/kfd of the compute driver (Linux 5.9+,
 * Documentation/ABI/testing/sysfs-class-kfd and drivers/gpu/drm/amd/amdkfd):
 * topology/nodes/N/gpu_id with its bus address in `properties`, proc/PID/vram_ID in bytes,
 * proc/PID/queues/N/gpuid. A queue is filled in user space, so fdinfo does not count its work. The
 * directories are named by the pids of the machine's namespace. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "probe/gpu/drm_private.h"
#include "probe/linux/cgroup_files.h"

#define KFD "class/kfd/kfd/"

/* ---- identifying the cards ---- */

static void know_node(struct trk_drm *d, int nodes_fd, const char *node)
{
	char text[4096], bus[32];
	uint64_t place, domain = 0;
	double id;

	if (!trk__drm_read_number(nodes_fd, TRK_PATH("%s/gpu_id", node), &id) ||
	    id <= 0) /* a node of processors */
		return;
	if (trk__read_at(nodes_fd, TRK_PATH("%s/properties", node), text, sizeof(text)) <= 0 ||
	    trk__cgroup_keyed_parse(text, "location_id", &place) < 0)
		return;
	(void) trk__cgroup_keyed_parse(text, "domain", &domain);
	(void) snprintf(bus, sizeof(bus), "%04x:%02x:%02x.", (unsigned int) domain & 0xffff,
			(unsigned int) (place >> 8) & 0xff, (unsigned int) (place >> 3) & 0x1f);
	for (size_t i = 0; i < d->cards; i++) {
		struct trk_drm_card *c = &d->card[i];

		if (!strncmp(c->bus, bus, strlen(bus)) && c->kfd_ids < TRK_KFD_PARTS_MAX)
			c->kfd_id[c->kfd_ids++] = (uint64_t) id;
	}
}

void trk__kfd_know_cards(struct trk_drm *d)
{
	TRK_DIR_CLEANUP DIR *dir = trk__list_dir_at(d->env.sys_fd, KFD "topology/nodes");
	struct dirent *entry;

	while ((entry = trk__next_entry(dir)))
		know_node(d, dirfd(dir), entry->d_name);
}

/* ---- processes ---- */

bool trk__kfd_knows(const struct trk_drm *d, pid_t pid)
{
	struct stat st;

	return trk__env_pid_namespace(&d->env) <= 0 &&
	       fstatat(d->env.sys_fd, TRK_PATH(KFD "proc/%d", (int) pid), &st, 0) == 0;
}

static bool is_part(const struct trk_drm_card *c, double gpu_id)
{
	for (size_t i = 0; i < c->kfd_ids; i++)
		if ((double) c->kfd_id[i] == gpu_id)
			return true;
	return false;
}

/* Memory on all parts of the card; NaN if unknown for all. */
static double memory_on(const struct trk_drm_card *c, int pid_fd)
{
	double sum = NAN, bytes;

	for (size_t i = 0; i < c->kfd_ids; i++)
		if (trk__drm_read_number(pid_fd,
					 TRK_PATH("vram_%llu", (unsigned long long) c->kfd_id[i]),
					 &bytes))
			sum = (isnan(sum) ? 0 : sum) + bytes;
	return sum;
}

/* Sets has_queue[card] for the cards on which the process has queues. */
static void find_queues(const struct trk_drm *d, int pid_fd, bool has_queue[TRK_DRM_CARDS_MAX])
{
	TRK_DIR_CLEANUP DIR *dir = trk__list_dir_at(pid_fd, "queues");
	struct dirent *entry;
	double id;

	while ((entry = trk__next_entry(dir)))
		if (trk__drm_read_number(dirfd(dir), TRK_PATH("%s/gpuid", entry->d_name), &id))
			for (size_t i = 0; i < d->cards; i++)
				has_queue[i] |= is_part(&d->card[i], id);
}

/* fdinfo of newer kernels counts the same memory, so the larger value is used. */
static void add_process(struct trk_drm *d, pid_t pid, int pid_fd, bool tracked)
{
	bool has_queue[TRK_DRM_CARDS_MAX] = {false};

	find_queues(d, pid_fd, has_queue);
	for (size_t i = 0; i < d->cards; i++) {
		struct trk_drm_card *c = &d->card[i];
		double bytes = memory_on(c, pid_fd);
		struct trk_drm_user *user;

		c->has_queues |= has_queue[i];
		c->has_strangers |= has_queue[i] && !tracked;
		if (!tracked || (!has_queue[i] && !(bytes > 0)))
			continue;
		user = trk__drm_user_of(d, i, pid);
		if (!user)
			return;
		user->has_queues = has_queue[i];
		if (!(user->bytes >= bytes) && !isnan(bytes))
			user->bytes = bytes;
	}
}

void trk__kfd_add_processes(struct trk_drm *d, const struct trk_gpu_scan *scan)
{
	bool foreign = trk__env_pid_namespace(&d->env) > 0, any = false;
	TRK_DIR_CLEANUP DIR *dir = trk__list_dir_at(d->env.sys_fd, KFD "proc");
	struct dirent *entry;

	for (size_t i = 0; i < d->cards; i++) {
		d->card[i].has_queues = d->card[i].has_strangers = false;
		any |= d->card[i].kfd_ids > 0;
	}
	while (any && (entry = trk__next_entry(dir))) {
		long pid = strtol(entry->d_name, NULL, 10);
		int fd = pid > 0 ? trk__open_dir_at(dirfd(dir), entry->d_name) : -1;

		if (fd >= 0)
			add_process(d, (pid_t) pid, fd,
				    !foreign && trk__gpu_is_tracked(scan, (pid_t) pid));
		trk__close(fd);
	}
}
