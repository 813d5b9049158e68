/* AMD and Intel GPUs through the kernel alone: sysfs for the device, fdinfo for the processes.
 *
 * amdgpu tells its use and memory in sysfs; i915 and xe tell how long the GPU slept, which bounds its
 * use from above. What a process does stands in the fdinfo of its own descriptors, which only its own
 * user may read. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/parse.h"
#include "probe/gpu/drm_fdinfo.h"
#include "probe/gpu/gpu.h"

enum {
	CARDS_MAX = 16,
	CLIENTS_MAX = 1024,
	USERS_MAX = 1024,
	FDS_MAX = 4096, /* of a process that are looked at */
};

#define INTEL_INTEGRATED_BUS "0000:00:02.0"

struct card {
	char name[16], bus[32], driver[16], title[96], uuid[32];
	bool is_amd;
	int dir_fd, hwmon_fd; /* of /sys/class/drm/cardN, and of its sensors or -1 */
	uint64_t slept_ms, slept_ns;
	bool has_slept;
	size_t device; /* in this scan */
};

struct client {
	struct trk_drm_client now;
	size_t card;
	uint64_t poll; /* the last one that saw it */
};

struct user {
	size_t card;
	pid_t pid;
	double bytes, share;
};

struct drm {
	struct trk_env env; /* borrowed */
	size_t cards, clients, users;
	struct card card[CARDS_MAX];
	struct client client[CLIENTS_MAX];
	struct user user[USERS_MAX];
	uint64_t poll, last_ns;
	bool denied; /* a tracked process could not be looked at */
};

/* ---- files ---- */

static bool read_number(int fd, const char *path, double *ret)
{
	char text[64];
	const char *at = text;
	uint64_t value;

	if (fd < 0 || trk__read_at(fd, path, text, sizeof(text)) <= 0 ||
	    !trk__scan_u64(&at, &value))
		return false;
	*ret = (double) value;
	return true;
}

static struct trk_gpu_value number_of(int fd, const char *path, double scale)
{
	double value;

	return read_number(fd, path, &value) ? trk__gpu_known(value * scale)
					     : trk__gpu_unknown(TRK_GPU_UNSUPPORTED);
}

/* The first of two that is there. */
static struct trk_gpu_value either(int fd, const char *path, const char *other, double scale)
{
	struct trk_gpu_value v = number_of(fd, path, scale);

	return v.why == TRK_GPU_KNOWN ? v : number_of(fd, other, scale);
}

/* The last part of what the link points to. */
static bool link_name(int fd, const char *path, char *to, size_t size)
{
	char text[256];
	ssize_t len = readlinkat(fd, path, text, sizeof(text) - 1);
	const char *slash;

	if (len <= 0)
		return false;
	text[len] = '\0';
	slash = strrchr(text, '/');
	(void) snprintf(to, size, "%s", slash ? slash + 1 : text);
	return true;
}

static void read_word(int fd, const char *path, char *to, size_t size)
{
	char text[128];
	size_t n = 0;

	to[0] = '\0';
	if (trk__read_at(fd, path, text, sizeof(text)) <= 0)
		return;
	for (const char *at = text; *at && *at != '\n' && n < size - 1; at++)
		if (*at >= ' ' && *at < 0x7f)
			to[n++] = *at;
	to[n] = '\0';
}

/* ---- cards ---- */

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

static DIR *open_cards(const struct trk_env *env)
{
	DIR *dir = NULL;

	if (env->sys_fd >= 0)
		(void) trk__list_dir_at(env->sys_fd, "class/drm", &dir);
	return dir;
}

static bool drm_is_likely(const struct trk_env *env)
{
	DIR *dir = open_cards(env);
	struct dirent *entry;
	bool found = false;

	while (dir && !found && (entry = readdir(dir))) {
		char path[64], driver[64];

		if (!is_card(entry->d_name))
			continue;
		(void) snprintf(path, sizeof(path), "%.15s/device/driver", entry->d_name);
		found = link_name(dirfd(dir), path, driver, sizeof(driver)) && is_ours(driver);
	}
	if (dir)
		(void) closedir(dir);
	return found;
}

static int open_sensors(int dir_fd)
{
	struct dirent *entry;
	int found = -1;
	DIR *dir;

	(void) trk__list_dir_at(dir_fd, "device/hwmon", &dir);
	while (dir && found < 0 && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, "hwmon", 5))
			found = trk__open_dir_at(dirfd(dir), entry->d_name);
	if (dir)
		(void) closedir(dir);
	return found;
}

static void know_card(struct drm *d, int dir_fd, const char *name, const char *driver)
{
	struct card *c = &d->card[d->cards];
	char id[32];

	*c = (struct card){.dir_fd = trk__open_dir_at(dir_fd, name), .hwmon_fd = -1};
	if (c->dir_fd < 0)
		return;
	c->is_amd = !strcmp(driver, "amdgpu");
	(void) snprintf(c->name, sizeof(c->name), "%.15s", name);
	(void) snprintf(c->driver, sizeof(c->driver), "%.15s", driver);
	if (!link_name(c->dir_fd, "device", c->bus, sizeof(c->bus)))
		c->bus[0] = '\0';
	read_word(c->dir_fd, "device/product_name", c->title, sizeof(c->title));
	read_word(c->dir_fd, "device/unique_id", c->uuid, sizeof(c->uuid));
	if (!c->title[0]) {
		read_word(c->dir_fd, "device/device", id, sizeof(id));
		(void) snprintf(c->title, sizeof(c->title), "%s GPU %s",
				c->is_amd ? "AMD" : "Intel", id);
	}
	c->hwmon_fd = open_sensors(c->dir_fd);
	d->cards++;
}

static void drm_close(void *state)
{
	struct drm *d = state;

	for (size_t i = 0; i < d->cards; i++) {
		trk__close(d->card[i].dir_fd);
		trk__close(d->card[i].hwmon_fd);
	}
	free(d);
}

static int by_number(const void *a, const void *b)
{
	return (int) strtol(((const struct card *) a)->name + 4, NULL, 10) -
	       (int) strtol(((const struct card *) b)->name + 4, NULL, 10);
}

static int drm_open(const struct trk_env *env, const struct trk_gpu_hints *hints, void **ret,
		    char why[TRK_GPU_TEXT_SIZE])
{
	struct drm *d = calloc(1, sizeof(*d));
	struct dirent *entry;
	DIR *dir;

	(void) hints;
	if (!d)
		return -ENOMEM;
	d->env = *env;
	dir = open_cards(env);
	while (dir && d->cards < CARDS_MAX && (entry = readdir(dir))) {
		char path[64], driver[64];

		(void) snprintf(path, sizeof(path), "%.15s/device/driver", entry->d_name);
		if (is_card(entry->d_name) && link_name(dirfd(dir), path, driver, sizeof(driver)) &&
		    is_ours(driver))
			know_card(d, dirfd(dir), entry->d_name, driver);
	}
	if (dir)
		(void) closedir(dir);
	if (d->cards == 0) {
		drm_close(d);
		(void) snprintf(why, TRK_GPU_TEXT_SIZE, "no AMD or Intel GPU in /sys/class/drm");
		return -TRK_E_UNSUPPORTED;
	}
	qsort(d->card, d->cards, sizeof(d->card[0]), by_number);
	*ret = d;
	return 0;
}

/* ---- a device ---- */

static void set_amd(struct card *c, struct trk_gpu_value *m)
{
	m[TRK_GPU_UTILIZATION_METRIC] = number_of(c->dir_fd, "device/gpu_busy_percent", 0.01);
	m[TRK_GPU_MEMORY_ACTIVITY_METRIC] = number_of(c->dir_fd, "device/mem_busy_percent", 0.01);
	m[TRK_GPU_MEMORY_USED_METRIC] = number_of(c->dir_fd, "device/mem_info_vram_used", 1);
	m[TRK_GPU_MEMORY_TOTAL_METRIC] = number_of(c->dir_fd, "device/mem_info_vram_total", 1);
	m[TRK_GPU_CLOCK_METRIC] = number_of(c->hwmon_fd, "freq1_input", 1);
	m[TRK_GPU_MEMORY_CLOCK_METRIC] = number_of(c->hwmon_fd, "freq2_input", 1);
	m[TRK_GPU_POWER_METRIC] = either(c->hwmon_fd, "power1_average", "power1_input", 1e-6);
	m[TRK_GPU_ENERGY_METRIC] = trk__gpu_unknown(TRK_GPU_UNSUPPORTED);
}

/* What was not slept through: at most that much was work. */
static struct trk_gpu_value awake_share(struct card *c, uint64_t now_ns)
{
	static const char *const files[] = {
		"device/tile0/gt0/gtidle/idle_residency_ms", /* xe */
		"gt/gt0/rc6_residency_ms",                   /* i915 since 5.18 */
		"power/rc6_residency_ms",
	};
	struct trk_gpu_value share = trk__gpu_unknown(TRK_GPU_UNSUPPORTED);
	double slept_ms = 0;
	size_t i = 0;

	while (i < 3 && !read_number(c->dir_fd, files[i], &slept_ms))
		i++;
	if (i == 3)
		return share;
	if (c->has_slept && now_ns > c->slept_ns && slept_ms >= (double) c->slept_ms) {
		double value = 1 - (slept_ms - (double) c->slept_ms) * 1e6 /
					   (double) (now_ns - c->slept_ns);

		share = trk__gpu_known(value < 0 ? 0 : value);
	} else {
		share = trk__gpu_unknown(TRK_GPU_FIRST_LOOK);
	}
	c->has_slept = true;
	c->slept_ms = (uint64_t) slept_ms;
	c->slept_ns = now_ns;
	return share;
}

static void set_intel(struct card *c, uint64_t now_ns, struct trk_gpu_value *m)
{
	/* One in the processor has no memory of its own; of others the kernel does not tell. */
	enum trk_gpu_why why =
		strcmp(c->bus, INTEL_INTEGRATED_BUS) ? TRK_GPU_UNSUPPORTED : TRK_GPU_NOT_ASKED;

	m[TRK_GPU_UTILIZATION_METRIC] = awake_share(c, now_ns);
	m[TRK_GPU_MEMORY_USED_METRIC] = m[TRK_GPU_MEMORY_TOTAL_METRIC] = trk__gpu_unknown(why);
	m[TRK_GPU_CLOCK_METRIC] = either(c->dir_fd, "device/tile0/gt0/freq0/act_freq",
					 "gt/gt0/rps_act_freq_mhz", 1e6);
	m[TRK_GPU_ENERGY_METRIC] = number_of(c->hwmon_fd, "energy1_input", 1e-6);
	m[TRK_GPU_POWER_METRIC] = number_of(c->hwmon_fd, "power1_input", 1e-6);
	if (c->hwmon_fd < 0)
		m[TRK_GPU_ENERGY_METRIC] = m[TRK_GPU_POWER_METRIC] = trk__gpu_unknown(why);
}

static void add_card(struct card *c, struct trk_gpu_scan *scan)
{
	struct trk_gpu_device *d = trk__gpu_add_device(scan, c->is_amd ? "amd" : "intel");

	c->device = TRK_GPUS_MAX;
	if (!d)
		return;
	c->device = scan->devices - 1;
	memcpy(d->name, c->title, sizeof(d->name));
	memcpy(d->bus, c->bus, sizeof(d->bus));
	(void) snprintf(d->uuid, sizeof(d->uuid), "%s", c->uuid);
	(void) snprintf(d->driver, sizeof(d->driver), "%s", c->driver);
	d->metric[TRK_GPU_TEMPERATURE_METRIC] = number_of(c->hwmon_fd, "temp1_input", 1e-3);
	if (c->is_amd)
		set_amd(c, d->metric);
	else
		set_intel(c, scan->now_ns, d->metric);
}

/* ---- processes ---- */

static struct client *find_client(struct drm *d, const struct trk_drm_client *now, size_t card)
{
	for (size_t i = 0; i < d->clients; i++)
		if (d->client[i].card == card && d->client[i].now.id == now->id)
			return &d->client[i];
	return NULL;
}

static struct user *user_of(struct drm *d, size_t card, pid_t pid)
{
	for (size_t i = d->users; i-- > 0 && d->user[i].pid == pid;)
		if (d->user[i].card == card)
			return &d->user[i];
	if (d->users == USERS_MAX)
		return NULL;
	d->user[d->users] = (struct user){.card = card, .pid = pid};
	return &d->user[d->users++];
}

static void take_client(struct drm *d, pid_t pid, const struct trk_drm_client *now,
			uint64_t over_ns)
{
	size_t card = 0;
	struct client *known;
	struct user *user;
	bool is_new;

	while (card < d->cards && strcmp(d->card[card].bus, now->bus) != 0)
		card++;
	if (card == d->cards)
		return;
	known = find_client(d, now, card);
	if (known && known->poll == d->poll)
		return; /* another descriptor of it */
	is_new = !known;
	if (is_new && d->clients == CLIENTS_MAX)
		return;
	user = user_of(d, card, pid);
	if (is_new) {
		known = &d->client[d->clients++];
		*known = (struct client){.card = card};
	}
	if (user) {
		/* What is new since the last look began at nothing; at the first look, nobody knows. */
		user->share +=
			d->last_ns == 0
				? (double) NAN
				: trk__drm_busy_share(now, is_new ? NULL : &known->now, over_ns);
		user->bytes += now->has_memory ? (double) now->memory_bytes : (double) NAN;
	}
	known->now = *now;
	known->poll = d->poll;
}

static void look_at_descriptor(struct drm *d, int fd_dir, pid_t pid, const char *number,
			       uint64_t over_ns)
{
	struct trk_drm_client now;
	char link[64], path[64], text[4096];
	ssize_t len = readlinkat(fd_dir, number, link, sizeof(link));

	if (len < 9 || memcmp(link, "/dev/dri/", 9) != 0)
		return;
	(void) snprintf(path, sizeof(path), "%d/fdinfo/%.15s", (int) pid, number);
	len = trk__read_at(d->env.proc_fd, path, text, sizeof(text));
	if (len == -EACCES || len == -EPERM)
		d->denied = true;
	if (len > 0 && trk__drm_fdinfo_parse(text, &now) == 0)
		take_client(d, pid, &now, over_ns);
}

static void look_at_process(struct drm *d, pid_t pid, uint64_t over_ns)
{
	struct dirent *entry;
	char path[32];
	DIR *dir;
	int r, left = FDS_MAX;

	(void) snprintf(path, sizeof(path), "%d/fd", (int) pid);
	r = trk__list_dir_at(d->env.proc_fd, path, &dir);
	d->denied |= r == -EACCES || r == -EPERM;
	while (dir && left-- > 0 && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			look_at_descriptor(d, dirfd(dir), pid, entry->d_name, over_ns);
	if (dir)
		(void) closedir(dir);
}

static void forget_clients(struct drm *d)
{
	size_t kept = 0;

	for (size_t i = 0; i < d->clients; i++)
		if (d->client[i].poll == d->poll)
			d->client[kept++] = d->client[i];
	d->clients = kept;
}

static void add_users(struct drm *d, struct trk_gpu_scan *scan, size_t card)
{
	struct card *c = &d->card[card];
	struct trk_gpu_device *device = &scan->device[c->device];

	if (c->device == TRK_GPUS_MAX)
		return;
	if (d->denied) {
		device->metric[TRK_GPU_TREE_SHARE_METRIC] =
			device->metric[TRK_GPU_TREE_MEMORY_METRIC] =
				trk__gpu_unknown(TRK_GPU_DENIED);
		return;
	}
	device->metric[TRK_GPU_TREE_SHARE_METRIC] =
		trk__gpu_unknown(d->last_ns == 0 ? TRK_GPU_FIRST_LOOK : TRK_GPU_UNSUPPORTED);
	for (size_t i = 0; i < d->users; i++) {
		struct trk_gpu_process *p;

		if (d->user[i].card != card)
			continue;
		p = trk__gpu_add_process(scan, c->device, d->user[i].pid, 0);
		if (!p)
			return;
		p->is_listed = true;
		p->bytes = d->user[i].bytes;
		p->share = d->user[i].share;
		device->processes++;
	}
}

static void drm_poll(void *state, struct trk_gpu_scan *scan)
{
	struct drm *d = state;

	for (size_t i = 0; i < d->cards; i++)
		add_card(&d->card[i], scan);
	d->poll++;
	d->users = 0;
	d->denied = false;
	for (size_t i = 0; scan->pid && i < scan->pids; i++)
		look_at_process(d, scan->pid[i], scan->now_ns - d->last_ns);
	forget_clients(d);
	for (size_t i = 0; i < d->cards; i++)
		add_users(d, scan, i);
	d->last_ns = scan->now_ns;
}

const struct trk_gpu_ops trk__gpu_drm = {
	.name = "DRM",
	.is_likely = drm_is_likely,
	.open = drm_open,
	.poll = drm_poll,
	.close = drm_close,
};
