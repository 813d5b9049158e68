/* Shared by the files of the source for AMD and Intel. */
#ifndef TRK_PROBE_GPU_DRM_PRIVATE_H
#define TRK_PROBE_GPU_DRM_PRIVATE_H

#include "probe/gpu/drm_fdinfo.h"
#include "probe/gpu/gpu.h"

enum {
	TRK_DRM_CARDS_MAX = 16,
	TRK_DRM_CLIENTS_MAX = 1024,
	TRK_DRM_USERS_MAX = 1024,
	TRK_KFD_PARTS_MAX = 8, /* an MI300 may be split */
	TRK_DRM_GTS_MAX = 8,   /* parts of an Intel GPU that sleep separately: render, media */
};

/* A counter at the last poll. */
struct trk_drm_last {
	double value;
	uint64_t at_ns; /* 0: none yet */
};

struct trk_drm_gt {
	char path[64]; /* file with its counter of idle ms */
	struct trk_drm_last idle_ms;
};

/* The clock of an engine (xe: drm-total-cycles), the same for all its clients. */
struct trk_drm_clock {
	char name[16];
	uint64_t cycles, at_ns;
	double per_ns; /* 0: seen once only */
};

struct trk_drm_card {
	char name[16], bus[32], driver[16], title[96], uuid[32];
	bool is_amd;
	bool is_apu;          /* AMD: part of the processor, uses main memory */
	int dir_fd, hwmon_fd; /* /sys/class/drm/cardN, and its sensors or -1 */
	struct trk_drm_gt gt[TRK_DRM_GTS_MAX];
	size_t gts;
	struct trk_drm_last energy_j;
	struct trk_gpu_value slow[TRK_GPU_METRICS]; /* values that rarely change */
	uint64_t slow_ns;                           /* when they were read; 0: never */
	uint64_t kfd_id[TRK_KFD_PARTS_MAX];         /* gpu_id of each part in the compute driver */
	size_t kfd_ids;
	bool has_queues,
		has_strangers; /* compute queues in this poll; some of untracked processes */
	struct trk_drm_clock clock[TRK_DRM_ENGINES_MAX];
	size_t clocks;
	size_t device; /* index in this scan; TRK_GPUS_MAX: none */
};

struct trk_drm_known {
	struct trk_drm_client now;
	size_t card;
	uint64_t poll; /* the last one that found it */
};

/* A process on a card. */
struct trk_drm_user {
	size_t card;
	pid_t pid;
	double bytes, share, encoder, decoder; /* NaN: unknown */
	bool has_queues;                       /* ROCm: fdinfo does not count their work */
};

struct trk_drm {
	struct trk_env env; /* borrowed */
	size_t cards, clients, users;
	struct trk_drm_card card[TRK_DRM_CARDS_MAX];
	struct trk_drm_known client[TRK_DRM_CLIENTS_MAX];
	struct trk_drm_user user[TRK_DRM_USERS_MAX];
	uint64_t poll, last_ns;
	bool denied;         /* a tracked process could not be read */
	bool unknown_queues; /* a tracked process uses ROCm, but its queues were not found */
	bool needs_clock;    /* a client is new, and its engine's clock was read only once */
};

/* ---- cards (drm_card.c) ---- */

/* Add a card: its names and sensors. dir_fd is /sys/class/drm. */
void trk__drm_know_card(struct trk_drm *d, int dir_fd, const char *name, const char *driver);
void trk__drm_add_card(struct trk_drm_card *c, struct trk_gpu_scan *scan);
/* Read values that rarely change: at the start and every few seconds, between two polls. */
void trk__drm_refresh_slow(struct trk_drm_card *c, uint64_t now_ns);
/* The last part of the target of the link. */
bool trk__drm_link_name(int fd, const char *path, char *to, size_t size);
bool trk__drm_read_number(int fd, const char *path, double *ret);
/* The entry of a process on a card, added if missing; NULL: the table is full. */
struct trk_drm_user *trk__drm_user_of(struct trk_drm *d, size_t card, pid_t pid);

/* ---- processes (drm_processes.c) ---- */

/* Fill d->user with the tracked processes on all cards. */
void trk__drm_look_at_processes(struct trk_drm *d, const struct trk_gpu_scan *scan);
void trk__drm_add_users(struct trk_drm *d, struct trk_gpu_scan *scan, size_t card);

/* ---- compute queues of ROCm (kfd.c) ---- */

/* Find the gpu_id of each card of AMD. */
void trk__kfd_know_cards(struct trk_drm *d);
/* Add memory of tracked processes with compute queues, and mark cards with queues of others. */
void trk__kfd_add_processes(struct trk_drm *d, const struct trk_gpu_scan *scan);
/* True if the compute driver lists this process. */
bool trk__kfd_knows(const struct trk_drm *d, pid_t pid);

#endif
