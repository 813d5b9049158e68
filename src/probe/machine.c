#include "probe/machine.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/parse.h"
#include "probe/gpu/poller.h"
#include "probe/linux/affinity.h"
#include "probe/linux/block.h"
#include "probe/linux/cgroup.h"
#include "probe/linux/device.h"
#include "probe/linux/meminfo.h"
#include "probe/linux/mounts.h"
#include "probe/linux/worker.h"

enum { CPUS_MAX = 8192, DISKS_MAX = 512, GPU_LOOKS = 400 };
#define GPU_LOOK_NS TRK_NS_PER_S

#define COPY(to, text) ((void) snprintf((to), sizeof(to), "%s", (text)))

/* ---- processor ---- */

static void read_cpu_model(const struct trk_env *env, struct trk_server *s)
{
	char text[8192]; /* the start is enough: the processors are alike */
	struct trk_cpuinfo c;

	text[0] = '\0';
	(void) trk__read_at(env->proc_fd, "cpuinfo", text, sizeof(text));
	if (trk__cpuinfo_parse(text, &c) < 0)
		return;
	COPY(s->cpu_model, c.model);
	COPY(s->cpu_vendor, c.vendor);
	if (c.hypervisor) {
		COPY(s->virtualization, "vm");
		COPY(s->virtualization_from, "/proc/cpuinfo flag hypervisor");
	}
}

/* Number of CPUs in a list such as "0-3,8"; NaN when it cannot be read. */
static double count_list(int sys_fd, const char *path)
{
	char text[4096];
	unsigned int n;

	if (sys_fd < 0 || trk__read_at(sys_fd, path, text, sizeof(text)) < 0 ||
	    trk__cgroup_cpu_list_parse(text, &n) < 0 || n == 0)
		return NAN;
	return n;
}

/* The number in a file of a CPU's topology; false without the file. */
static bool topology(int sys_fd, unsigned int cpu, const char *file, uint64_t *ret)
{
	char text[4096];
	const char *at = text;

	return trk__read_at(sys_fd, TRK_PATH("devices/system/cpu/cpu%u/topology/%s", cpu, file),
			    text, sizeof(text)) > 0 &&
	       trk__scan_u64(&at, ret);
}

/* A core counts at its first thread, a socket at its first core. Offline CPUs lack the files. */
static void read_topology(int sys_fd, struct trk_server *s)
{
	unsigned int cores = 0, sockets = 0, missing = 0, found = 0;
	uint64_t packages[64], first, package;

	long online = sysconf(_SC_NPROCESSORS_ONLN);

	s->vcpus = count_list(sys_fd, "devices/system/cpu/online");
	if (isnan(s->vcpus) && online > 0)
		s->vcpus = (double) online;
	s->numa_nodes = count_list(sys_fd, "devices/system/node/online");
	for (unsigned int cpu = 0; sys_fd >= 0 && cpu < CPUS_MAX && found < s->vcpus; cpu++) {
		unsigned int k = 0;

		if (!topology(sys_fd, cpu, "thread_siblings_list", &first)) {
			if (++missing > s->vcpus + 64)
				break;
			continue;
		}
		found++;
		if (first != cpu)
			continue;
		cores++;
		if (!topology(sys_fd, cpu, "physical_package_id", &package))
			continue;
		while (k < sockets && packages[k] != package)
			k++;
		if (k == sockets && sockets < 64)
			packages[sockets++] = package;
	}
	if (cores) {
		s->cores = cores;
		s->threads_per_core = s->vcpus / cores;
	}
	if (sockets)
		s->sockets = sockets;
}

/* ---- memory and disks ---- */

static void read_memory(const struct trk_env *env, struct trk_server *s)
{
	char text[8192];
	struct trk_meminfo m;

	if (trk__read_at(env->proc_fd, "meminfo", text, sizeof(text)) > 0 &&
	    trk__meminfo_parse(text, &m) == 0)
		s->memory_mib = (double) m.total / TRK_MIB;
}

static void read_disks(int sys_fd, struct trk_server *s)
{
	TRK_DIR_CLEANUP DIR *dir = trk__list_dir_at(sys_fd, "block");
	struct dirent *entry;
	double bytes = 0;
	int n = 0;

	if (!dir)
		return;
	while (n < DISKS_MAX && (entry = trk__next_entry(dir))) {
		struct trk_disk_device disk;

		if (trk__block_kind(sys_fd, entry->d_name) != TRK_BLOCK_DISK)
			continue;
		trk__disk_device_read(sys_fd, entry->d_name, &disk);
		if (!disk.capacity_bytes)
			continue; /* an empty drive */
		bytes += (double) disk.capacity_bytes;
		n++;
	}
	s->disks = n;
	s->disk_gb = bytes / 1e9;
}

/* ---- virtualisation and containers ---- */

const char *trk__virtualization_of(const struct trk_dmi *dmi)
{
	static const struct {
		const char *text, *name;
	} marks[] = {
		{"Amazon EC2", "amazon"},
		{"Google", "kvm"},
		{"VMware", "vmware"},
		{"VirtualBox", "oracle"},
		{"innotek", "oracle"},
		{"Parallels", "parallels"},
		{"Xen", "xen"},
		{"BHYVE", "bhyve"},
		{"QEMU", "kvm"},
		{"KVM", "kvm"},
		{"OpenStack", "kvm"},
		{"Bochs", "kvm"},
		{"Hetzner", "kvm"},
		{"UpCloud", "kvm"},
		{"Alibaba Cloud", "kvm"},
		{"Vultr", "kvm"},
		{"DigitalOcean", "kvm"},
		{"Scaleway", "kvm"},
		{"Exoscale", "kvm"},
		{"Linode", "kvm"},
		{"Akamai", "kvm"},
		{"oVirt", "kvm"},
		{"Apple Virtualization", "apple"},
	};
	const char *texts[] = {dmi->sys_vendor, dmi->product_name, dmi->bios_vendor};

	if (strstr(dmi->product_name, ".metal"))
		return NULL; /* EC2 without a hypervisor */
	if (!strcmp(dmi->sys_vendor, "Microsoft Corporation") &&
	    strstr(dmi->product_name, "Virtual Machine"))
		return "microsoft";
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++)
			if (strstr(texts[k], marks[i].text))
				return marks[i].name;
	return NULL;
}

static void read_virtualization(const struct trk_env *env, struct trk_server *s)
{
	struct trk_dmi dmi;
	const char *name;
	char text[64];

	trk__dmi_read(env->sys_fd, &dmi);
	COPY(s->maker, dmi.sys_vendor);
	COPY(s->product, dmi.product_name);
	name = trk__virtualization_of(&dmi);
	if (name) {
		COPY(s->virtualization, name);
		(void) snprintf(s->virtualization_from, sizeof(s->virtualization_from),
				"firmware: %.50s %.50s", dmi.sys_vendor, dmi.product_name);
	} else if (env->sys_fd >= 0 &&
		   trk__read_at(env->sys_fd, "hypervisor/type", text, sizeof(text)) > 0) {
		text[strcspn(text, "\n")] = '\0';
		(void) snprintf(s->virtualization, sizeof(s->virtualization), "%.31s", text);
		COPY(s->virtualization_from, "/sys/hypervisor/type");
	} else if (dmi.known && !s->virtualization[0]) {
		COPY(s->virtualization, "none");
		(void) snprintf(s->virtualization_from, sizeof(s->virtualization_from),
				"firmware: %.50s %.50s", dmi.sys_vendor, dmi.product_name);
	}
}

const char *trk__container_of(const char *cgroup)
{
	static const struct {
		const char *text, *name;
	} marks[] = {
		{"/kubepods", "kubernetes"},
		{"/ecs/", "ecs"},
		{"/docker/", "docker"},
		{"/docker-", "docker"},
		{"/libpod-", "podman"},
		{"/libpod_", "podman"},
		{"/lxc/", "lxc"},
		{"/lxc.payload", "lxc"},
		{"/machine.slice/machine-", "systemd-nspawn"},
		{"/garden/", "garden"},
		{"/actions_job/", "docker"},
	};

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (strstr(cgroup, marks[i].text))
			return marks[i].name;
	return NULL;
}

/* True if the root file system is an overlay, as in containers and on live media. */
static bool root_is_overlay(int proc_fd)
{
	char text[8192];
	const char *at = text;
	struct trk_mount m;
	int r;

	text[0] = '\0';
	(void) trk__read_at(proc_fd, "self/mountinfo", text, sizeof(text));
	while ((r = trk__mount_parse(&at, &m)) != 0)
		if (r > 0 && !strcmp(m.point, "/"))
			return !strcmp(m.type, "overlay");
	return false;
}

static void read_container(const struct trk_env *env, struct trk_server *s)
{
	char text[4096] = "";
	const char *name;

	if (trk__read_at(env->proc_fd, "self/cgroup", text, sizeof(text)) <= 0)
		return;
	name = trk__container_of(text);
	if (name) {
		COPY(s->container, name);
		COPY(s->container_from, "/proc/self/cgroup");
	} else if (faccessat(env->proc_fd, "self/root/.dockerenv", F_OK, 0) == 0) {
		COPY(s->container, "docker");
		COPY(s->container_from, "/.dockerenv");
	} else if (faccessat(env->proc_fd, "self/root/run/.containerenv", F_OK, 0) == 0) {
		COPY(s->container, "podman");
		COPY(s->container_from, "/run/.containerenv");
	} else if (root_is_overlay(env->proc_fd)) {
		COPY(s->container, "container");
		COPY(s->container_from, "the root file system is an overlay");
	} else {
		COPY(s->container, "none");
		COPY(s->container_from, "/proc/self/cgroup, /proc/self/mountinfo");
	}
}

/* ---- limits ---- */

static void take_limits(const struct trk_cgroup_limits *l, struct trk_server *s)
{
	int affinity = trk__affinity_count(0);

	if (affinity > 0 && affinity < s->vcpus) {
		s->cpu_limit = affinity;
		COPY(s->cpu_limit_from, "CPU affinity");
	}
	if (l->cpuset_cpus && l->cpuset_cpus < s->vcpus && !(s->cpu_limit <= l->cpuset_cpus)) {
		s->cpu_limit = l->cpuset_cpus;
		COPY(s->cpu_limit_from, l->cpuset_from);
	}
	if (l->cpu_cores < s->vcpus && !(s->cpu_limit <= l->cpu_cores)) {
		s->cpu_limit = l->cpu_cores;
		COPY(s->cpu_limit_from, l->cpu_from);
	}
	if (l->memory_bytes != TRK_NO_LIMIT && (double) l->memory_bytes / TRK_MIB < s->memory_mib) {
		s->memory_limit_mib = (double) l->memory_bytes / TRK_MIB;
		COPY(s->memory_limit_from, l->memory_from);
	}
}

/* ---- all ---- */

/* Without a device file or a driver no GPU is usable; with one the driver must be queried, which
 * may take a second: see model/place.h. */
static void read_gpus(const struct trk_env *env, struct trk_server *s)
{
	for (size_t i = 0; trk__gpu_sources[i]; i++)
		if (trk__gpu_sources[i]->is_likely(env)) {
			COPY(s->gpu_reason, "a GPU may be present; its driver was not queried");
			return;
		}
	s->gpu_count = s->gpu_memory_mib = 0;
}

static void take_own_limits(const struct trk_env *env, struct trk_server *s)
{
	struct trk_cgroup group;
	struct trk_cgroup_limits own;

	(void) trk__cgroup_find(&group, env, getpid());
	(void) trk__cgroup_limits(&group, &own);
	take_limits(&own, s);
}

void trk__machine_look(struct trk_place *p, const struct trk_env *env,
		       const struct trk_cgroup_limits *limits)
{
	struct trk_server *s = &p->server;
	struct utsname name;

	*s = (struct trk_server){
		.vcpus = NAN,
		.cores = NAN,
		.sockets = NAN,
		.threads_per_core = NAN,
		.numa_nodes = NAN,
		.memory_mib = NAN,
		.disks = NAN,
		.disk_gb = NAN,
		.cpu_limit = NAN,
		.memory_limit_mib = NAN,
		.gpu_count = NAN,
		.gpu_memory_mib = NAN,
	};
	if (uname(&name) == 0) {
		(void) snprintf(s->os, sizeof(s->os), "%.31s", name.sysname);
		(void) snprintf(s->kernel, sizeof(s->kernel), "%.95s", name.release);
		(void) snprintf(s->arch, sizeof(s->arch), "%.31s", name.machine);
	}
	read_cpu_model(env, s);
	read_topology(env->sys_fd, s);
	read_memory(env, s);
	read_disks(env->sys_fd, s);
	read_virtualization(env, s);
	read_container(env, s);
	if (limits)
		take_limits(limits, s);
	else
		take_own_limits(env, s);
	read_gpus(env, s);
	p->has_server = true;
}

bool trk__machine_look_gpus(struct trk_place *p, const struct trk_env *env,
			    const struct trk_gpu_hints *hints)
{
	struct trk_gpu_poller *poller = trk__gpu_poller_new(env, TRK_GPU_AUTO, hints, NULL);
	const struct timespec step = {0, (long) (GPU_LOOK_NS / GPU_LOOKS)};
	const struct trk_gpu_reading *reading = NULL;
	uint64_t until_ns = trk__clock_monotonic_ns() + 2 * GPU_LOOK_NS;

	if (!poller)
		return true;
	/* A source that starts a program is ready at once, but lists its devices later. */
	while (!(reading && reading->devices) && trk__clock_monotonic_ns() < until_ns) {
		(void) nanosleep(&step, NULL);
		if (trk__gpu_poller_state(poller) == TRK_GPU_OPENING)
			continue;
		if (trk__gpu_poller_state(poller) == TRK_GPU_USELESS)
			break;
		trk__gpu_poller_ask(poller, NULL, 0);
		reading = trk__gpu_poller_take(poller, GPU_LOOK_NS, 2 * GPU_LOOK_NS);
	}
	if (reading && reading->devices)
		trk__place_take_gpus(p, reading->device, sizeof(reading->device[0]),
				     reading->devices);
	else {
		p->server.gpu_count = p->server.gpu_memory_mib = NAN;
		(void) snprintf(p->server.gpu_reason, sizeof(p->server.gpu_reason), "%s",
				trk__gpu_poller_text(poller));
	}
	trk__gpu_poller_free(poller);
	return trk__worker_threads() == 0;
}
