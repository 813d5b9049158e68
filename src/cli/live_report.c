#include "cli/live_report.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "record/reader.h"

/* At most 1/200 of a core, however long the recording has grown. */
enum { COST_FACTOR = 200 };
#define FIRST_NS TRK_NS_PER_S /* a job that is killed soon leaves a page as well */

void cli_live_init(struct cli_live *l, const struct cli_report_choice *choice, uint64_t every_ns,
		   int control_fd)
{
	*l = (struct cli_live){
		.choice = *choice,
		.every_ns = every_ns,
		.done_fd = -1,
		.control_fd = control_fd,
	};
	l->choice.live_s = (double) every_ns / 1e9;
	if (every_ns)
		l->next_ns =
			trk__clock_monotonic_ns() + (every_ns < FIRST_NS ? every_ns : FIRST_NS);
}

/* In the child. Trouble with a page that is written again soon is not told. */
static void make_page(struct cli_live *l, const struct trk_record *record, int done_fd)
{
	struct trk_record now = *record; /* what it points to is the child's own */
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	char path[4096];
	uint64_t used_ns;

	for (int fd = 0; fd < 3 && null_fd >= 0; fd++)
		(void) dup2(null_fd, fd);
	if (l->control_fd >= 0)
		(void) close(l->control_fd);
	now.writing = true;
	trk__record_recover(&now);
	l->choice.reference = now.run.id;
	l->choice.record = &now;
	(void) cli_report_make(&l->choice, path, sizeof(path));
	used_ns = trk__clock_process_cpu_ns();
	(void) !write(done_fd, &used_ns, sizeof(used_ns));
	_exit(0);
}

static void take_end(struct cli_live *l)
{
	uint64_t used_ns = 0, wait_ns;

	(void) !read(l->done_fd, &used_ns, sizeof(used_ns));
	(void) close(l->done_fd);
	l->done_fd = -1;
	(void) waitpid(l->pid, NULL, 0); /* unless the loop of ticks has reaped it */
	l->pid = 0;
	wait_ns = used_ns * COST_FACTOR;
	l->next_ns = trk__clock_monotonic_ns() + (wait_ns > l->every_ns ? wait_ns : l->every_ns);
}

static void begin(struct cli_live *l, const struct trk_record *record)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return;
	l->pid = fork();
	if (l->pid == 0)
		make_page(l, record, ends[1]);
	(void) close(ends[1]);
	if (l->pid > 0) {
		l->done_fd = ends[0];
		return;
	}
	(void) close(ends[0]);
	l->pid = 0;
	l->next_ns += l->every_ns;
}

void cli_live_row(struct cli_live *l, const struct trk_record *record)
{
	if (!l->every_ns)
		return;
	if (l->pid > 0) {
		struct pollfd done = {.fd = l->done_fd, .events = POLLIN};

		if (poll(&done, 1, 0) <= 0)
			return;
		take_end(l);
	}
	if (trk__clock_monotonic_ns() >= l->next_ns)
		begin(l, record);
}

void cli_live_end(struct cli_live *l)
{
	if (l->pid > 0) {
		(void) kill(l->pid, SIGKILL);
		take_end(l);
		/* What it was about to put in place. */
		if (l->choice.via)
			(void) unlink(l->choice.via);
	}
	l->every_ns = 0;
}
