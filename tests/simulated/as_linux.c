/* Presents the simulated kernel as Linux: a folder with files like those of /proc, with times in
 * ticks of 10 ms, and the exact CPU clock of each pid. A process's files are written when its clock
 * is read, so that the tree changes while it is read. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "kernel.h"

enum { TICK_NS = 10000000, PAGE = 4096 };

static char folder[] = "/tmp/trk-simulated-XXXXXX";
static int folder_fd = -1;
static bool is_shown[SIM_MAX], was_awaited[SIM_MAX];

int __wrap_trk__clock_pid_cpu_ns(pid_t pid, uint64_t *ret_ns);
uint64_t __wrap_trk__clock_boot_ns(void);

uint64_t sim_faults(uint64_t cpu_ns)
{
	return cpu_ns / 1000000;
}

static void write_file(int dirfd, const char *name, const char *text)
{
	int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	ssize_t len = (ssize_t) strlen(text);

	if (fd < 0 || write(fd, text, (size_t) len) != len || ftruncate(fd, len) < 0)
		abort();
	(void) close(fd);
}

static void show(const struct sim_process *p)
{
	uint64_t own = sim_own_ns(p, sim_now_ns), inherited = sim_inherited_ns(p, sim_now_ns);
	unsigned long long pages = sim_bytes(p, sim_now_ns) / PAGE;
	char name[32], text[1024];
	int dirfd;

	(void) snprintf(name, sizeof(name), "%d", (int) p->pid);
	(void) mkdirat(folder_fd, name, 0700);
	dirfd = openat(folder_fd, name, O_DIRECTORY | O_CLOEXEC);
	(void) snprintf(
		text, sizeof(text),
		"%d (task) %c %d %d %d 0 -1 4194304 %llu %llu 0 0 %llu %llu %llu %llu 20 0 1 0 "
		"%llu %llu %llu 0 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
		(int) p->pid, sim_is_zombie(p) ? 'Z' : 'R', (int) sim_parent_of(p), (int) p->pid,
		(int) p->pid, (unsigned long long) sim_faults(own),
		(unsigned long long) sim_faults(inherited),
		(unsigned long long) (own - own / 4) / TICK_NS,
		(unsigned long long) own / 4 / TICK_NS,
		(unsigned long long) (inherited - inherited / 4) / TICK_NS,
		(unsigned long long) inherited / 4 / TICK_NS,
		(unsigned long long) p->born_ns / TICK_NS, pages * PAGE, pages);
	write_file(dirfd, "stat", text);
	(void) snprintf(text, sizeof(text), "%llu %llu 0 0 0 %llu 0\n", pages, pages, pages);
	write_file(dirfd, "statm", text);
	(void) close(dirfd);
	is_shown[p - sim] = true;
}

static void hide(const struct sim_process *p)
{
	char path[64];

	for (int i = 0; i < 2; i++) {
		(void) snprintf(path, sizeof(path), "%d/%s", (int) p->pid, i ? "statm" : "stat");
		(void) unlinkat(folder_fd, path, 0);
	}
	(void) snprintf(path, sizeof(path), "%d", (int) p->pid);
	(void) unlinkat(folder_fd, path, AT_REMOVEDIR);
	is_shown[p - sim] = false;
}

void sim_files_write(void)
{
	for (size_t i = 0; i < sim_count; i++)
		if (sim_find(sim[i].pid))
			show(&sim[i]);
		else if (is_shown[i])
			hide(&sim[i]);
}

int sim_files_open(void)
{
	memcpy(folder + strlen(folder) - 6, "XXXXXX", 6);
	memset(is_shown, 0, sizeof(is_shown));
	memset(was_awaited, 0, sizeof(was_awaited));
	if (!mkdtemp(folder))
		abort();
	folder_fd = open(folder, O_DIRECTORY | O_CLOEXEC);
	sim_files_write();
	return folder_fd;
}

void sim_files_close(void)
{
	(void) close(folder_fd);
	trk__remove_tree(folder);
}

const struct sim_process *sim_next_ended(void)
{
	for (size_t i = 0; i < sim_count; i++)
		if (!was_awaited[i] && sim[i].end_ns <= sim_now_ns &&
		    sim_parent_of(&sim[i]) == SIM_TRACKER &&
		    (sim[i].parent < 0 || sim[sim[i].parent].end_ns <= sim[i].end_ns)) {
			was_awaited[i] = true;
			return &sim[i];
		}
	return NULL;
}

int __wrap_trk__clock_pid_cpu_ns(pid_t pid, uint64_t *ret_ns)
{
	const struct sim_process *p;

	sim_call();
	p = sim_find(pid);
	if (!p) {
		if (pid >= SIM_FIRST_PID && is_shown[pid - SIM_FIRST_PID])
			hide(&sim[pid - SIM_FIRST_PID]);
		return -ESRCH;
	}
	show(p);
	*ret_ns = sim_own_ns(p, sim_now_ns);
	return 0;
}

uint64_t __wrap_trk__clock_boot_ns(void)
{
	return sim_now_ns;
}
