/* resource-tracker top: the running runs, or one run, live or as a replay of its recording. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/parse.h"
#include "cli/cli.h"
#include "cli/environment.h"
#include "cli/named_runs.h"
#include "top/live.h"
#include "top/session.h"

enum {
	TEXT_MAX = 4 * 1024 * 1024,
	ONCE_COLUMNS = 100, /* size of a frame that is not written to a terminal */
	ONCE_ROWS = 40,
	LOOK_AGAIN_MS = 200, /* time between two readings of the processes */
};

struct settings {
	const char *dir, *color;
	double at_s;
	enum trk_facts_sort sort;
	bool once, json;
};

/* ---- options ---- */

/* "00:12:00", "12:00", "90s". */
static int set_at(void *settings, const struct cli_option *o, const char *value)
{
	struct settings *s = settings;
	uint64_t part, sum = 0, ns;
	const char *at = value;

	if (!strchr(value, ':') && trk__parse_duration(value, &ns) == 0) {
		s->at_s = (double) ns / 1e9;
		return 0;
	}
	for (int parts = 0; strchr(value, ':') && parts < 3 && *at >= '0' && *at <= '9'; parts++) {
		if (!trk__scan_u64(&at, &part) || part > 1000000)
			break;
		sum = sum * 60 + part;
		if (!*at) {
			s->at_s = (double) sum;
			return 0;
		}
		if (*at++ != ':')
			break;
	}
	return cli_wrong(o, value, "not a time of the run. Try: 00:12:00 or 12m");
}

static const struct cli_option options[] = {
	{"at", 0, "TIME", "begin a replay at this time of the run, such as 00:12:00 or 12m", set_at,
	 0},
	{"sort", 0, "cpu|memory|read|tree", "order of the processes (cpu)", cli_set_choice,
	 AT(sort)},
	{"once", 0, NULL, "print one frame (default if stdout is not a terminal)", cli_set_flag,
	 AT(once)},
	{"json", 0, NULL, "print one JSON object", cli_set_flag, AT(json)},
	{"color", 0, CLI_COLORS, "of the text; plain: ASCII without colour (auto)", cli_set_word,
	 AT(color)},
	{"recording", 0, "DIR", "directory of the recordings", cli_set_text, AT(dir)},
	CLI_MORE_OPTIONS,
	{"plain", 0, NULL, "same as --color plain", cli_set_same, 0},
	{NULL, 0, NULL, NULL, NULL, 0},
};

/* ---- which run ---- */

/* Find the recording of the run of a pid. */
static int find_pid(const char *dir, const char *text, struct cli_run_file *ret)
{
	struct trk_error error = {.code = 0};
	TRK_FD_CLEANUP int proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct trk_list list = {.runs_fd = *dir ? trk__store_open(dir, false, &error) : -1};
	bool found = false;
	uint64_t pid;

	if (trk__parse_u64(text, &pid) < 0 || pid == 0 || pid > INT32_MAX) {
		cli_complain("top: %s: not a pid", text);
		trk__close(list.runs_fd);
		return EXIT_USAGE;
	}
	if (list.runs_fd >= 0 && trk__list_update(&list, trk__clock_monotonic_ns()) == 0)
		found = trk__list_find_pid(&list, proc_fd, (pid_t) pid, ret->name);
	trk__list_release(&list);
	ret->dirfd = list.runs_fd;
	ret->path = ret->name;
	if (found)
		return 0;
	trk__close(list.runs_fd);
	return cli_reject(
		EXIT_NODATA,
		"top: pid %s belongs to no run that is recorded here. Try: resource-tracker attach "
		"%s",
		text, text);
}

static int find_run(const struct settings *s, const char *dir, const char *reference,
		    struct cli_run_file *ret)
{
	bool is_pid = *reference && reference[strspn(reference, "0123456789")] == '\0';

	return is_pid && access(reference, F_OK) < 0 ? find_pid(dir, reference, ret)
						     : cli_run_find(s->dir, reference, ret);
}

/* ---- output ---- */

static int rows_of_frame(void)
{
	const char *stated = getenv("LINES");
	struct winsize size;
	uint64_t rows;

	if (stated && trk__parse_u64(stated, &rows) == 0 && rows > 0 && rows <= TRK_FRAME_ROWS_MAX)
		return (int) rows;
	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 1
		       ? size.ws_row - 1 /* the prompt follows */
		       : ONCE_ROWS;
}

/* Read the processes twice, to compute their current use. */
static int look_twice(struct trk_session *session)
{
	const struct timespec nap = {.tv_nsec = LOOK_AGAIN_MS * 1000000L};
	int r = trk__session_update(session, trk__clock_monotonic_ns());

	if (r < 0 || !session->has_run || session->processes.count == 0)
		return r;
	(void) nanosleep(&nap, NULL);
	session->processes.next_ns = 0;
	return trk__session_update(session, trk__clock_monotonic_ns());
}

static int print_once(struct trk_session *session, const struct settings *s)
{
	struct trk_frame frame;
	TRK_BUF_LOCAL(b, TEXT_MAX);
	int written, r = look_twice(session);

	if (r < 0)
		cli_complain("top: %s", trk__strerror(r));
	trk__session_load_usual(session);
	session->view.once = true;
	if (s->json) {
		trk__session_json(session, &b);
	} else if (trk__frame_init(&frame, (int) cli_width(STDOUT_FILENO, ONCE_COLUMNS),
				   rows_of_frame(), cli_use_utf8(s->color)) == 0) {
		trk__session_draw(session, &frame);
		trk__frame_lines(&frame, cli_use_color(s->color, STDOUT_FILENO), &b);
		trk__frame_release(&frame);
	}
	written = cli_write(STDOUT_FILENO, &b, "stdout");
	return r < 0 ? EXIT_ERROR : written;
}

static bool is_terminal(void)
{
	const char *term = getenv("TERM");

	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term && *term &&
	       strcmp(term, "dumb") != 0;
}

static int show(struct trk_session *session, const struct settings *s)
{
	struct trk_live_options live = {
		.in_fd = STDIN_FILENO,
		.out_fd = STDOUT_FILENO,
		.color = cli_use_color(s->color, STDOUT_FILENO),
		.utf8 = cli_use_utf8(s->color),
	};
	int r;

	if (s->once || s->json || !is_terminal())
		return print_once(session, s);
	r = trk__live(session, &live);
	return r == 0 ? EXIT_OK : cli_reject(EXIT_ERROR, "top: %s", trk__strerror(r));
}

/* run: NULL for the list. */
static int run_session(const struct settings *s, const char *dir, const struct cli_run_file *run)
{
	struct trk_error error = {.code = 0};
	TRK_FD_CLEANUP int runs_fd = *dir ? trk__store_open(dir, false, &error) : -1;
	TRK_FD_CLEANUP int proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct trk_session_options o = {dir, runs_fd, proc_fd, s->at_s, s->sort};
	struct trk_session *session = calloc(1, sizeof(*session));
	int r;

	r = session ? trk__session_init(session, &o, run ? run->path : NULL, run ? run->dirfd : -1,
					&error)
		    : trk__error_set(&error, -ENOMEM, dir, "out of memory");
	if (!session || r < 0) {
		cli_complain("%s", trk__error_text(&error, r));
		free(session);
		return EXIT_ERROR;
	}
	r = show(session, s);
	trk__session_release(session);
	free(session);
	return r;
}

static int run_with(const struct settings *s, const char *dir, const char *reference)
{
	struct cli_run_file file;
	int r;

	if (!reference)
		return run_session(s, dir, NULL);
	r = find_run(s, dir, reference, &file);
	if (r)
		return r;
	r = run_session(s, dir, &file);
	cli_run_close(&file);
	return r;
}

static int run(int argc, char **argv)
{
	struct settings s = {.color = "auto", .at_s = NAN};
	int at = cli_options(&cli_top, argc, argv, &s);

	return run_with(&s, cli_state_dir(s.dir), at < argc ? argv[at] : NULL);
}

const struct cli_command cli_top = {
	.name = "top",
	.usage = "top [OPTIONS] [RUN|PID]",
	.summary = "Watch running runs, or replay a recording.",
	.details = "Without RUN, top lists all running runs; Enter opens one. PID is one of a "
		   "job.\nIn the view: ? lists "
		   "the keys, q quits.",
	.example = "resource-tracker top --once @",
	.options = options,
	.operands = 1,
	.run = run,
};
