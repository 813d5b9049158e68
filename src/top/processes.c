#include "top/processes.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mask.h"
#include "probe/linux/pid_io.h"
#include "probe/linux/pid_schedstat.h"
#include "probe/linux/pid_stat.h"

/* A reading may take 1/COST_FACTOR of the time to the next one. */
enum { COST_FACTOR = 400, PIDS_MAX = 16384 };
#define LOOK_NS (2 * TRK_NS_PER_S) /* between two looks for new processes, at least */

/* ---- one process ---- */

static void read_name(struct trk_processes *p, int proc_fd, struct trk_process_row *r,
		      const char *comm)
{
	const struct trk_env env = {.proc_fd = proc_fd,
				    .sys_fd = -1,
				    .cgroup_fd = -1,
				    .thread_cpu_ns = trk__clock_thread_cpu_ns};
	char text[4096];
	uint64_t cost_ns;
	ssize_t len;
	size_t n;

	if (!p->reader)
		p->reader = trk__reader_new(&env, false);
	len = trk__reader_read(p->reader, &env, r->start_ticks,
			       TRK_PATH("%d/cmdline", (int) r->pid), text, sizeof(text), &cost_ns);
	n = trk__mask_command(text,
			      len == -EFBIG ? sizeof(text) - 1
			      : len > 0     ? (size_t) len
					    : 0,
			      false, len == -EFBIG, r->name, sizeof(r->name));
	for (size_t i = 0; i + 1 < n; i++)
		if (r->name[i] == '\0')
			r->name[i] = ' ';
	if (n == 0 || !r->name[0])
		(void) snprintf(r->name, sizeof(r->name), "[%s]", comm);
	r->name[sizeof(r->name) - 1] = '\0';
}

static double read_storage(int proc_fd, pid_t pid)
{
	char path[48], text[512];
	struct trk_pid_io io;
	ssize_t n;

	(void) snprintf(path, sizeof(path), "%d/io", (int) pid);
	n = trk__read_once_at(proc_fd, path, text, sizeof(text));
	return n > 0 && trk__pid_io_parse(text, (size_t) n, &io) == 0 ? (double) io.read_bytes
								      : NAN;
}

static double read_wait(int proc_fd, pid_t pid)
{
	char path[48], text[128];
	struct trk_pid_schedstat s;
	ssize_t n;

	(void) snprintf(path, sizeof(path), "%d/schedstat", (int) pid);
	n = trk__read_once_at(proc_fd, path, text, sizeof(text));
	return n > 0 && trk__pid_schedstat_parse(text, (size_t) n, &s) == 0
		       ? (double) s.wait_ns / 1e9
		       : NAN;
}

/* Compute the figures since the last reading, `seconds` ago; 0: there was none. */
static void take(struct trk_processes *p, int proc_fd, struct trk_process_row *r,
		 const struct trk_pid_stat *s, double seconds)
{
	double tick_s = 1.0 / (double) sysconf(_SC_CLK_TCK);
	double cpu_s = (double) (s->user_ticks + s->system_ticks) * tick_s, read_bytes, wait_s;
	bool anew = r->pid != s->pid || r->start_ticks != s->start_ticks;
	uint64_t cpu_ns;

	if (anew)
		*r = (struct trk_process_row){.pid = s->pid, .start_ticks = s->start_ticks};
	if (trk__clock_pid_cpu_ns(s->pid, &cpu_ns) == 0) /* finer than ticks */
		cpu_s = (double) cpu_ns / 1e9;
	read_bytes = read_storage(proc_fd, s->pid);
	wait_s = read_wait(proc_fd, s->pid);
	if (anew)
		read_name(p, proc_fd, r, s->comm);
	seconds = anew || !(seconds > 0) ? NAN : seconds;
	r->cores = cpu_s >= r->cpu_s ? (cpu_s - r->cpu_s) / seconds : NAN;
	r->read_bps = (read_bytes - r->read_bytes) / seconds;
	r->cpu_wait_share = (wait_s - r->wait_s) / seconds;
	r->cpu_s = cpu_s;
	r->read_bytes = read_bytes;
	r->wait_s = wait_s;
	r->parent = s->ppid;
	r->state = s->state;
	r->rss_mib = (double) s->rss_pages * (double) sysconf(_SC_PAGESIZE) / 1048576;
}

/* ---- the tree ---- */

struct link {
	pid_t pid, parent;
};

/* List every process and its parent. Returns how many, or a negative errno; the caller frees
 * *ret. */
static long read_links(int proc_fd, struct link **ret)
{
	TRK_DIR_CLEANUP DIR *dir = trk__list_dir_at(proc_fd, ".");
	struct link *link = dir ? malloc(PIDS_MAX * sizeof(*link)) : NULL;
	const struct dirent *e;
	long n = 0;

	if (!link)
		return dir ? -ENOMEM : -EIO;
	while (n < PIDS_MAX && (e = readdir(dir))) {
		struct trk_pid_stat s;

		if (isdigit((unsigned char) e->d_name[0]) &&
		    trk__pid_stat_read(proc_fd, (pid_t) strtol(e->d_name, NULL, 10), &s) == 0)
			link[n++] = (struct link){s.pid, s.ppid};
	}
	*ret = link;
	return n;
}

static bool has(const struct trk_processes *p, pid_t pid)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->row[i].pid == pid)
			return true;
	return false;
}

static void read_one(struct trk_processes *p, int proc_fd, pid_t pid)
{
	struct trk_pid_stat s;

	if (p->count == TRK_PROCESSES_MAX) {
		p->left_out++;
		return;
	}
	if (trk__pid_stat_read(proc_fd, pid, &s) < 0)
		return;
	memset(&p->row[p->count], 0, sizeof(p->row[0]));
	take(p, proc_fd, &p->row[p->count], &s, 0);
	p->count++;
}

/* Add processes whose parent is in the table, until none is left. */
static void find_new(struct trk_processes *p, int proc_fd)
{
	struct link *link = NULL;
	long n = read_links(proc_fd, &link);
	size_t before;

	p->left_out = 0;
	do {
		before = p->count;
		for (long i = 0; i < n; i++)
			if (link[i].pid > 0 && has(p, link[i].parent) && !has(p, link[i].pid)) {
				read_one(p, proc_fd, link[i].pid);
				link[i].pid = 0;
			}
	} while (p->count > before);
	free(link);
}

static void read_known(struct trk_processes *p, int proc_fd, double seconds)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->count; i++) {
		struct trk_process_row *r = &p->row[i];
		struct trk_pid_stat s;

		if (trk__pid_stat_read(proc_fd, r->pid, &s) < 0 || s.start_ticks != r->start_ticks)
			continue;
		take(p, proc_fd, r, &s, seconds);
		p->row[kept++] = *r;
	}
	p->count = kept;
}

static void set_depths(struct trk_processes *p, pid_t root)
{
	for (size_t i = 0; i < p->count; i++) {
		pid_t at = p->row[i].pid;
		int depth = 0;

		while (at != root && depth < 16) {
			size_t k = 0;

			while (k < p->count && p->row[k].pid != at)
				k++;
			if (k == p->count)
				break;
			at = p->row[k].parent;
			depth++;
		}
		p->row[i].depth = depth;
	}
}

int trk__processes_update(struct trk_processes *p, int proc_fd, pid_t root, uint64_t now_ns)
{
	uint64_t begin_ns = trk__clock_thread_cpu_ns(), cost_ns;
	double seconds = p->read_at_ns ? (double) (now_ns - p->read_at_ns) / 1e9 : 0;

	if (!p->row)
		p->row = calloc(TRK_PROCESSES_MAX, sizeof(*p->row));
	if (!p->row)
		return -ENOMEM;
	if (p->read_at_ns && now_ns < p->next_ns)
		return (int) p->count;
	read_known(p, proc_fd, seconds);
	if (p->count == 0)
		read_one(p, proc_fd, root);
	if (p->count && now_ns >= p->all_ns) {
		find_new(p, proc_fd);
		p->all_ns = now_ns + LOOK_NS;
	}
	set_depths(p, root);
	p->read_at_ns = now_ns;
	cost_ns = trk__clock_thread_cpu_ns() - begin_ns;
	p->next_ns = now_ns + cost_ns * COST_FACTOR;
	return (int) p->count;
}

void trk__processes_release(struct trk_processes *p)
{
	trk__reader_free(p->reader);
	free(p->row);
	memset(p, 0, sizeof(*p));
}
