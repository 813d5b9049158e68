#include "sample/machine_now.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/file.h"

enum { TEXT_SIZE = 256 * 1024 }; /* /proc/stat: a line a core, and many hundred interrupts */

int trk__machine_now_open(struct trk_machine_now *m, const struct trk_env *env)
{
	*m = TRK_MACHINE_NOW_NONE;
	m->env = *env;
	m->stat_fd = openat(env->proc_fd, "stat", O_RDONLY | O_CLOEXEC);
	m->meminfo_fd = openat(env->proc_fd, "meminfo", O_RDONLY | O_CLOEXEC);
	(void) trk__meter_init(&m->disks, &trk__diskstats, env);
	(void) trk__meter_init(&m->nets, &trk__netdev, env);
	(void) trk__space_meter_init(&m->space, env);
	m->text = malloc(TEXT_SIZE);
	m->core = calloc(TRK_MACHINE_CORES, sizeof(*m->core));
	m->core_before = calloc(TRK_MACHINE_CORES, sizeof(*m->core_before));
	return m->text && m->core && m->core_before ? 0 : -ENOMEM;
}

void trk__machine_now_close(struct trk_machine_now *m)
{
	trk__close(m->stat_fd);
	trk__close(m->meminfo_fd);
	trk__meter_release(&m->disks);
	trk__meter_release(&m->nets);
	trk__space_meter_release(&m->space);
	free(m->text);
	free(m->core);
	free(m->core_before);
	*m = TRK_MACHINE_NOW_NONE;
}

static bool read_kept(struct trk_machine_now *m, int fd)
{
	ssize_t len = fd < 0 ? -EBADF : trk__read_once_fd(fd, m->text, TEXT_SIZE);

	return len > 0 || len == -EFBIG;
}

void trk__machine_now_counters(struct trk_machine_now *m)
{
	struct trk_cpu_times *swap = m->core_before;
	uint64_t now_ns = m->env.monotonic_ns();

	m->over_ns = m->read_ns ? now_ns - m->read_ns : 0;
	m->read_ns = now_ns;
	m->cpu_before = m->has_cpu ? m->cpu : (struct trk_cpu_stat){.cores = 0};
	m->core_before = m->core;
	m->core = swap;
	m->has_cpu = read_kept(m, m->stat_fd) &&
		     trk__cpu_stat_parse(m->text, &m->cpu, m->core, TRK_MACHINE_CORES) == 0;
	m->has_memory = read_kept(m, m->meminfo_fd) && trk__meminfo_parse(m->text, &m->memory) == 0;
	m->has_disks = trk__meter_update(&m->disks) == 0;
	m->has_nets = trk__meter_update(&m->nets) == 0;
}

void trk__machine_now_read(struct trk_machine_now *m)
{
	trk__machine_now_counters(m);
	m->has_processes = trk__process_count_read(&m->process_count, &m->env, &m->processes) == 0;
	m->has_space = trk__space_meter_update(&m->space, &m->space_total, &m->space_used,
					       &m->space_free) == 0;
}

void trk__machine_now_devices(struct trk_machine_now *m)
{
	for (size_t i = 0; i < m->disks.count; i++) {
		struct trk_meter_member *disk = &m->disks.member[i];

		if (disk->counted && !disk->knows_device)
			trk__disk_device_read(m->env.sys_fd, disk->name, &disk->device.disk);
		disk->knows_device = disk->counted;
	}
	for (size_t i = 0; i < m->nets.count; i++) {
		struct trk_meter_member *net = &m->nets.member[i];

		if (net->counted && !net->knows_device)
			trk__net_device_read(m->env.sys_fd, net->name, &net->device.net);
		net->knows_device = net->counted;
	}
}
