/* One AMD or Intel card: its identity, and its figures in sysfs and hwmon.
 *
 * Sources: Documentation/gpu/amdgpu/thermal.rst and driver-misc.rst, and
 * sysfs-driver-intel-i915-hwmon, sysfs-driver-intel-xe-hwmon in Documentation/ABI/testing of the
 * kernel. Files without a sensor are missing: MI300 and xe begin with temp2. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/parse.h"
#include "probe/gpu/drm_private.h"

#define INTEL_INTEGRATED_BUS "0000:00:02.0"
#define SLOW_NS              (5 * TRK_NS_PER_S)

bool trk__drm_read_number(int fd, const char *path, double *ret)
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

	return trk__drm_read_number(fd, path, &value) ? trk__gpu_known(value * scale)
						      : trk__gpu_unknown(TRK_GPU_UNSUPPORTED);
}

/* The value of the first of these files that exists. */
static struct trk_gpu_value first_of(int fd, const char *const *paths, double scale)
{
	struct trk_gpu_value v = trk__gpu_unknown(TRK_GPU_UNSUPPORTED);

	for (; *paths && v.why != TRK_GPU_KNOWN; paths++)
		v = number_of(fd, *paths, scale);
	return v;
}

bool trk__drm_link_name(int fd, const char *path, char *to, size_t size)
{
	char text[256];
	const char *slash;

	if (trk__read_link_at(fd, path, text, sizeof(text)) <= 0)
		return false;
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

/* ---- identity ---- */

/* Open the sensors of the card; i915 has further directories for its parts. */
static int open_sensors(int dir_fd, const char *driver)
{
	TRK_DIR_CLEANUP DIR *dir = trk__list_dir_at(dir_fd, "device/hwmon");
	struct dirent *entry;
	int found = -1;

	while ((entry = trk__next_entry(dir))) {
		char name[32];

		if (strncmp(entry->d_name, "hwmon", 5) != 0)
			continue;
		read_word(dirfd(dir), TRK_PATH("%s/name", entry->d_name), name, sizeof(name));
		if (found >= 0 && strcmp(name, driver) != 0)
			continue;
		trk__close(found);
		found = trk__open_dir_at(dirfd(dir), entry->d_name);
		if (!strcmp(name, driver))
			break;
	}
	return found;
}

/* gpu_metrics begins with its size (2 bytes) and its format: APUs have formats 2 and 3. */
static bool is_apu(int dir_fd)
{
	char head[8] = "";
	ssize_t len = trk__read_at(dir_fd, "device/gpu_metrics", head, sizeof(head));

	return (len >= 4 || len == -EFBIG) && (head[2] == 2 || head[2] == 3);
}

static void add_gt(struct trk_drm_card *c, const char *path)
{
	double idle_ms;

	if (c->gts < TRK_DRM_GTS_MAX && trk__drm_read_number(c->dir_fd, path, &idle_ms))
		(void) snprintf(c->gt[c->gts++].path, sizeof(c->gt[0].path), "%s", path);
}

/* Find the parts that sleep separately: render and media, on each tile. */
static void find_gts(struct trk_drm_card *c)
{
	for (int tile = 0; tile < 2; tile++)
		for (int gt = 0; gt < 4; gt++)
			add_gt(c,
			       TRK_PATH("device/tile%d/gt%d/gtidle/idle_residency_ms", tile, gt));
	for (int gt = 0; gt < 4; gt++) /* i915 since 5.18 */
		add_gt(c, TRK_PATH("gt/gt%d/rc6_residency_ms", gt));
	if (c->gts == 0)
		add_gt(c, "power/rc6_residency_ms");
}

void trk__drm_know_card(struct trk_drm *d, int dir_fd, const char *name, const char *driver)
{
	struct trk_drm_card *c = &d->card[d->cards];
	char id[32];

	*c = (struct trk_drm_card){.dir_fd = trk__open_dir_at(dir_fd, name), .hwmon_fd = -1};
	if (c->dir_fd < 0)
		return;
	c->is_amd = !strcmp(driver, "amdgpu");
	(void) snprintf(c->name, sizeof(c->name), "%.15s", name);
	(void) snprintf(c->driver, sizeof(c->driver), "%.15s", driver);
	if (!trk__drm_link_name(c->dir_fd, "device", c->bus, sizeof(c->bus)))
		c->bus[0] = '\0';
	read_word(c->dir_fd, "device/product_name", c->title, sizeof(c->title));
	read_word(c->dir_fd, "device/unique_id", c->uuid, sizeof(c->uuid));
	if (!c->title[0]) {
		read_word(c->dir_fd, "device/device", id, sizeof(id));
		(void) snprintf(c->title, sizeof(c->title), "%s GPU %s",
				c->is_amd ? "AMD" : "Intel", id);
	}
	c->hwmon_fd = open_sensors(c->dir_fd, driver);
	for (int i = 0; i < TRK_GPU_METRICS; i++)
		c->slow[i] = trk__gpu_unknown(TRK_GPU_NOT_ASKED);
	d->cards++;
}

/* Read the names, but no values that would wake a suspended card. */
static void know_parts(struct trk_drm_card *c)
{
	if (c->is_amd)
		c->is_apu = is_apu(c->dir_fd);
	else
		find_gts(c);
}

static bool is_asleep(const struct trk_drm_card *c)
{
	char status[32];

	read_word(c->dir_fd, "device/power/runtime_status", status, sizeof(status));
	return !strcmp(status, "suspended");
}

/* ---- figures ---- */

static struct trk_gpu_value plus(struct trk_gpu_value a, struct trk_gpu_value b)
{
	return b.why == TRK_GPU_KNOWN && a.why == TRK_GPU_KNOWN ? trk__gpu_known(a.value + b.value)
								: a;
}

/* An APU uses mostly main memory (GTT). */
static void set_amd_memory(struct trk_drm_card *c, struct trk_gpu_value *m)
{
	m[TRK_GPU_MEMORY_USED_METRIC] = number_of(c->dir_fd, "device/mem_info_vram_used", 1);
	m[TRK_GPU_MEMORY_TOTAL_METRIC] = number_of(c->dir_fd, "device/mem_info_vram_total", 1);
	if (!c->is_apu)
		return;
	m[TRK_GPU_MEMORY_USED_METRIC] = plus(m[TRK_GPU_MEMORY_USED_METRIC],
					     number_of(c->dir_fd, "device/mem_info_gtt_used", 1));
	m[TRK_GPU_MEMORY_TOTAL_METRIC] = plus(m[TRK_GPU_MEMORY_TOTAL_METRIC],
					      number_of(c->dir_fd, "device/mem_info_gtt_total", 1));
}

static void set_amd(struct trk_drm_card *c, struct trk_gpu_value *m)
{
	m[TRK_GPU_UTILIZATION_METRIC] = number_of(c->dir_fd, "device/gpu_busy_percent", 0.01);
	m[TRK_GPU_MEMORY_ACTIVITY_METRIC] = number_of(c->dir_fd, "device/mem_busy_percent", 0.01);
	set_amd_memory(c, m);
	m[TRK_GPU_CLOCK_METRIC] = number_of(c->hwmon_fd, "freq1_input", 1);
	m[TRK_GPU_MEMORY_CLOCK_METRIC] = number_of(c->hwmon_fd, "freq2_input", 1);
}

/* Share of the time in which the part was not asleep: an upper bound of its activity. */
static struct trk_gpu_value gt_awake_share(struct trk_drm_card *c, struct trk_drm_gt *gt,
					   uint64_t now_ns)
{
	struct trk_drm_last last = gt->idle_ms;
	struct trk_gpu_value share = trk__gpu_unknown(TRK_GPU_FIRST_LOOK);
	double idle_ms;

	if (!trk__drm_read_number(c->dir_fd, gt->path, &idle_ms))
		return trk__gpu_unknown(TRK_GPU_UNSUPPORTED);
	if (last.at_ns && now_ns > last.at_ns && idle_ms >= last.value) {
		double value = 1 - (idle_ms - last.value) * 1e6 / (double) (now_ns - last.at_ns);

		share = trk__gpu_known(value < 0 ? 0 : value);
	}
	gt->idle_ms = (struct trk_drm_last){idle_ms, now_ns};
	return share;
}

/* The share of the part that slept least. */
static struct trk_gpu_value awake_share(struct trk_drm_card *c, uint64_t now_ns)
{
	struct trk_gpu_value most = trk__gpu_unknown(TRK_GPU_UNSUPPORTED);

	for (size_t i = 0; i < c->gts; i++) {
		struct trk_gpu_value v = gt_awake_share(c, &c->gt[i], now_ns);

		if (i == 0 || (v.why == TRK_GPU_KNOWN && !(most.value >= v.value)))
			most = v;
	}
	return most;
}

static void set_intel(struct trk_drm_card *c, uint64_t now_ns, struct trk_gpu_value *m)
{
	static const char *const clocks[] = {"device/tile0/gt0/freq0/act_freq",
					     "gt/gt0/rps_act_freq_mhz", NULL};
	/* An integrated GPU has no memory; for others the kernel does not report it. */
	bool is_integrated = !strcmp(c->bus, INTEL_INTEGRATED_BUS);

	m[TRK_GPU_UTILIZATION_METRIC] = awake_share(c, now_ns);
	m[TRK_GPU_MEMORY_USED_METRIC] = m[TRK_GPU_MEMORY_TOTAL_METRIC] =
		trk__gpu_unknown(is_integrated ? TRK_GPU_SHARED_MEMORY : TRK_GPU_UNSUPPORTED);
	m[TRK_GPU_CLOCK_METRIC] = first_of(c->dir_fd, clocks, 1e6);
}

/* Without a file for power, it is derived from the energy since the last poll. */
static void set_power(struct trk_drm_card *c, uint64_t now_ns, struct trk_gpu_value *m)
{
	static const char *const energies[] = {"energy1_input", "energy2_input", NULL};
	static const char *const powers[] = {"power1_average", "power1_input", "power2_average",
					     "power2_input", NULL};
	struct trk_gpu_value energy = first_of(c->hwmon_fd, energies, 1e-6);
	struct trk_gpu_value power = first_of(c->hwmon_fd, powers, 1e-6);
	struct trk_drm_last last = c->energy_j;

	if (energy.why == TRK_GPU_KNOWN) {
		c->energy_j = (struct trk_drm_last){energy.value, now_ns};
		if (power.why != TRK_GPU_KNOWN)
			power = trk__gpu_unknown(TRK_GPU_FIRST_LOOK);
		if (power.why != TRK_GPU_KNOWN && last.at_ns && now_ns > last.at_ns &&
		    energy.value >= last.value)
			power = trk__gpu_known((energy.value - last.value) * 1e9 /
					       (double) (now_ns - last.at_ns));
	}
	m[TRK_GPU_ENERGY_METRIC] = energy;
	m[TRK_GPU_POWER_METRIC] = power;
	/* An integrated Intel GPU has no sensors. */
	if (c->hwmon_fd < 0 && !strcmp(c->bus, INTEL_INTEGRATED_BUS))
		m[TRK_GPU_ENERGY_METRIC] = m[TRK_GPU_POWER_METRIC] =
			trk__gpu_unknown(TRK_GPU_NOT_ASKED);
}

static void forget_counters(struct trk_drm_card *c)
{
	for (size_t i = 0; i < c->gts; i++)
		c->gt[i].idle_ms.at_ns = 0;
	c->energy_j.at_ns = 0;
}

void trk__drm_add_card(struct trk_drm_card *c, struct trk_gpu_scan *scan)
{
	/* Edge, hot spot, memory; or package and memory. */
	static const char *const heats[] = {"temp1_input", "temp2_input", "temp3_input", NULL};
	struct trk_gpu_device *d = trk__gpu_add_device(scan, c->is_amd ? "amd" : "intel");

	c->device = TRK_GPUS_MAX;
	if (!d)
		return;
	c->device = scan->devices - 1;
	memcpy(d->name, c->title, sizeof(d->name));
	memcpy(d->bus, c->bus, sizeof(d->bus));
	(void) snprintf(d->uuid, sizeof(d->uuid), "%s", c->uuid);
	(void) snprintf(d->driver, sizeof(d->driver), "%s", c->driver);
	if (is_asleep(c)) {
		trk__gpu_set_asleep(d);
		/* fdinfo still shows the processes and does not wake the card. */
		d->metric[TRK_GPU_TREE_SHARE_METRIC] = d->metric[TRK_GPU_TREE_MEMORY_METRIC] =
			trk__gpu_unknown(TRK_GPU_NOT_ASKED);
		forget_counters(c);
		return;
	}
	if (c->slow_ns == 0) /* it was asleep before */
		trk__drm_refresh_slow(c, scan->now_ns);
	for (int i = 0; i < TRK_GPU_METRICS; i++)
		d->metric[i] = c->slow[i];
	d->metric[TRK_GPU_TEMPERATURE_METRIC] = first_of(c->hwmon_fd, heats, 1e-3);
	if (c->is_amd)
		set_amd(c, d->metric);
	else
		set_intel(c, scan->now_ns, d->metric);
	set_power(c, scan->now_ns, d->metric);
}

/* ---- figures that rarely change ---- */

/* "ue: 0", "ce: 3": uncorrected and corrected errors of the memory since the driver was loaded. */
static void set_errors(const struct trk_drm_card *c, struct trk_gpu_value *m)
{
	char text[128];

	m[TRK_GPU_ECC_CORRECTED_METRIC] = m[TRK_GPU_ECC_UNCORRECTED_METRIC] =
		trk__gpu_unknown(TRK_GPU_UNSUPPORTED);
	if (trk__read_at(c->dir_fd, "device/ras/umc_err_count", text, sizeof(text)) <= 0)
		return;
	for (const char *at = text; *at; at = trk__skip_line(at)) {
		const char *value = trk__skip_blanks(at + strcspn(at, " \n"));
		uint64_t count;

		if (!trk__scan_u64(&value, &count))
			continue;
		if (!strncmp(at, "ce:", 3))
			m[TRK_GPU_ECC_CORRECTED_METRIC] = trk__gpu_known((double) count);
		else if (!strncmp(at, "ue:", 3))
			m[TRK_GPU_ECC_UNCORRECTED_METRIC] = trk__gpu_known((double) count);
	}
}

void trk__drm_refresh_slow(struct trk_drm_card *c, uint64_t now_ns)
{
	if ((c->slow_ns && now_ns < c->slow_ns + SLOW_NS) || is_asleep(c))
		return;
	if (c->slow_ns == 0)
		know_parts(c);
	c->slow_ns = now_ns;
	if (c->is_amd)
		set_errors(c, c->slow);
}

struct trk_drm_user *trk__drm_user_of(struct trk_drm *d, size_t card, pid_t pid)
{
	for (size_t i = d->users; i-- > 0;)
		if (d->user[i].pid == pid && d->user[i].card == card)
			return &d->user[i];
	if (d->users == TRK_DRM_USERS_MAX)
		return NULL;
	d->user[d->users] = (struct trk_drm_user){.card = card, .pid = pid};
	return &d->user[d->users++];
}
