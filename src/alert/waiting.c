/* What a stalled job waits for: of the live processes that do not wait for a child, the one with
 * the most CPU time, and the kernel function in which it sleeps.
 *
 * Source: /proc/PID/stat and /proc/PID/wchan (CONFIG_KALLSYMS; "0" where it may not be read). */
#include "alert/live.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/os.h"

static const char child_name[] = "a child process";

void trk__alert_wait_name(char state, const char *wchan, char *text, size_t size)
{
	/* Parts of names of functions; the first that fits counts. */
	static const struct {
		const char *part, *name;
	} names[] = {
		{"nfs", "a network file system"},
		{"rpc_", "a network file system"},
		{"fuse", "a FUSE file system"},
		{"nanosleep", "a timer (sleep)"},
		{"pipe", "a pipe"},
		{"fifo", "a pipe"},
		{"futex", "a lock or another thread"},
		{"flock", "a file lock"},
		{"locks_", "a file lock"},
		{"do_wait", child_name},
		{"poll", "sockets, pipes or a timer (poll, select)"},
		{"select", "sockets, pipes or a timer (poll, select)"},
		{"sk_wait", "a socket"},
		{"skb_", "a socket"},
		{"unix_stream", "a socket"},
		{"inet_", "a socket"},
		{"tcp_", "a socket"},
		{"msgrcv", "a System V queue or semaphore"},
		{"semtimedop", "a System V queue or semaphore"},
		{"pause", "a signal"},
		{"sigsuspend", "a signal"},
		{"sigtimedwait", "a signal"},
		{"tty", "input from a terminal"},
		{"io_schedule", "a disk"},
		{"folio_wait", "a disk"},
	};

	if (state == 'T' || state == 't') {
		(void) snprintf(text, size, "SIGCONT: it is stopped");
		return;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strstr(wchan, names[i].part)) {
			(void) snprintf(text, size, "%s", names[i].name);
			return;
		}
	if (wchan[0] && strcmp(wchan, "0") != 0)
		(void) snprintf(text, size, "function %.60s of the kernel", wchan);
	else
		(void) snprintf(text, size, "%s",
				state == 'D' ? "a disk or a network file system" : "");
}

struct waiting {
	char name[64], on[96]; /* of the process; what it waits for */
	pid_t pid;
	uint64_t cpu_ns;
};

static bool read_process(pid_t pid, const char *file, char *text, size_t size)
{
	char path[64];
	ssize_t len;

	(void) snprintf(path, sizeof(path), "/proc/%d/%s", (int) pid, file);
	len = trk__read_at(AT_FDCWD, path, text, size);
	text[len > 0 ? len : 0] = '\0';
	return len > 0;
}

/* False where nothing is known of it. */
static bool look_at(pid_t pid, struct waiting *ret)
{
	char stat[512], wchan[128];
	const char *name, *end;

	if (!read_process(pid, "stat", stat, sizeof(stat)))
		return false;
	name = strchr(stat, '(');
	end = strrchr(stat, ')');
	if (!name || !end || end < name || !end[1])
		return false;
	(void) read_process(pid, "wchan", wchan, sizeof(wchan));
	(void) snprintf(ret->name, sizeof(ret->name), "%.*s", (int) (end - name - 1), name + 1);
	trk__alert_wait_name(end[2], wchan, ret->on, sizeof(ret->on));
	ret->pid = pid;
	return ret->on[0] != '\0';
}

/* A child is more informative than a process that waits for it. */
static bool says_more(const struct waiting *a, const struct waiting *b)
{
	bool of_child = !strcmp(a->on, child_name), was_of_child = !strcmp(b->on, child_name);

	return !b->pid || of_child < was_of_child ||
	       (of_child == was_of_child && a->cpu_ns > b->cpu_ns);
}

struct trk_alert trk__alert_with_wait(const struct trk_alert *alert,
				      const struct trk_record *record)
{
	const struct trk_outcome *o = &record->outcome;
	struct waiting best = {.pid = 0}, w;
	struct trk_alert a = *alert;
	size_t len = strlen(a.text);

	if (a.rule != TRK_ALERT_STALLED || !a.firing || !trk__os_has_proc)
		return a;
	for (size_t i = 0; i < o->top_count; i++)
		if (o->top[i].alive && look_at(o->top[i].pid, &w)) {
			w.cpu_ns = o->top[i].cpu_ns;
			best = says_more(&w, &best) ? w : best;
		}
	if (!best.pid && (record->run.pid <= 0 || !look_at(record->run.pid, &best)))
		return a;
	(void) snprintf(a.text + len, sizeof(a.text) - len, "; process %d (%s) waits for %s",
			(int) best.pid, best.name, best.on);
	return a;
}
