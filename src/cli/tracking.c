/* run, attach and system from their settings to what they say at the end. */
#include "cli/tracking.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/libc.h"
#include "base/output.h"
#include "base/parse.h"
#include "cli/cloud_options.h"
#include "cli/gpu_hints.h"
#include "cli/live_report.h"
#include "cli/past_runs.h"
#include "cli/report_files.h"
#include "cli/run_cost.h"
#include "cli/sample_output.h"
#include "cli/sibling_options.h"
#include "record/control.h"
#include "record/identity.h"
#include "record/request.h"
#include "record/track.h"
#include "report/summary.h"

enum { TEXT_MAX = 4 * 1024 * 1024, CHANGE_RUN_MIN_S = 10, INPUTS_MAX = 256 };

/* The format of a report follows from the file's name. */
static struct cli_report_choice report_choice(const struct track_settings *s)
{
	size_t len = s->report ? strlen(s->report) : 0;
	bool markdown = len > 3 && !strcmp(s->report + len - 3, ".md");
	bool json = len > 5 && !strcmp(s->report + len - 5, ".json");

	return (struct cli_report_choice){
		.dir = s->dir,
		.format = markdown ? "md"
			  : json   ? "json"
				   : "html",
		.path = s->report,
		.via = s->report_via,
		.earlier = s->report_earlier,
	};
}

/* ---- while it runs ---- */

struct outputs {
	struct sample_output samples;
	struct cli_live live;
};

static void write_row(void *data, const struct trk_record *record, const struct trk_sample *row,
		      const struct trk_gpu_reading *gpus)
{
	struct outputs *out = data;

	sample_output_row(&out->samples, &record->run, row, gpus);
	cli_live_row(&out->live, record);
}

static int open_outputs(struct outputs *out, const struct track_settings *s,
			const struct trk_env *env)
{
	struct cli_report_choice choice = report_choice(s);
	bool live = s->report && *s->report && strcmp(s->report, "-") != 0 && !s->no_recording;

	cli_live_init(&out->live, &choice, live ? s->report_every_ns : 0, s->control_fd);
	return sample_output_open(&out->samples, s, env);
}

static void say_word(void *data, const char *text)
{
	(void) data;
	cli_complain("%s", text);
}

/* ---- the end ---- */

/* Bytes of the files that the command line names, as arguments of their own or behind a '=': those
 * that are there before the job starts. */
static uint64_t size_of_inputs(char **argv)
{
	uint64_t sum = 0;
	struct stat st;

	for (int i = 1; i <= INPUTS_MAX && argv[i]; i++) {
		const char *equals = argv[i][0] == '-' ? strchr(argv[i], '=') : NULL;
		const char *path = equals ? equals + 1 : argv[i];

		if (*path && *path != '-' && stat(path, &st) == 0 && S_ISREG(st.st_mode))
			sum += (uint64_t) st.st_size;
	}
	return sum;
}

static int write_summary_json(const struct track_settings *s, const struct trk_record *record,
			      const struct trk_change *change)
{
	struct trk_buf b;
	uint64_t number;
	int r;

	trk__buf_init(&b, TEXT_MAX);
	trk__summary_json(&b, record, change);
	if (!strcmp(s->summary_json, "-")) {
		r = cli_write(STDOUT_FILENO, &b, s->summary_json);
	} else if (!strncmp(s->summary_json, "fd:", 3) &&
		   trk__parse_u64(s->summary_json + 3, &number) == 0 && number <= INT32_MAX) {
		r = cli_write((int) number, &b, s->summary_json);
	} else {
		r = b.error ? b.error : trk__output_replace(s->summary_json, b.data, b.len);
		if (r < 0 && r != -EPIPE)
			cli_complain("%s: cannot write: %s", s->summary_json, trk__strerror(r));
		r = r == -EPIPE ? 0 : r; /* a reader that has seen enough */
	}
	trk__buf_release(&b);
	return r < 0 ? EXIT_ERROR : r;
}

/* Does anybody see it, and is the run long enough for the look into the history not to matter? */
static bool is_change_wanted(const struct track_settings *s, const struct trk_record *r)
{
	bool seen = (!s->quiet && strcmp(s->summary, "never") != 0 &&
		     strcmp(s->summary, "short") != 0) ||
		    s->summary_json;

	return seen && !s->no_recording && !s->no_history && r->run.pid && r->run.job[0] &&
	       r->outcome.duration_ns >= CHANGE_RUN_MIN_S * TRK_NS_PER_S;
}

/* The page, from the recording that has just ended. */
static int write_report(const struct track_settings *s, const struct trk_record *record)
{
	struct cli_report_choice choice = report_choice(s);
	char path[4096] = "";
	int r;

	choice.reference = record->run.id;
	if (s->no_recording) {
		cli_complain("--report: there is no recording to make it from. Try: without "
			     "--no-recording");
		return EXIT_ERROR;
	}
	r = cli_report_make(&choice, path, sizeof(path));
	if (r == 0 && !s->quiet && strcmp(path, "-") != 0)
		cli_complain("wrote %s", path);
	return r;
}

static int speak(const struct track_settings *s, const struct trk_track_result *result)
{
	struct trk_summary_style style = {
		.color = !s->plain && cli_use_color(s->color, STDERR_FILENO),
		.utf8 = !s->plain && cli_is_utf8(),
		.brief = !strcmp(s->summary, "short"),
	};
	struct trk_change change;
	struct trk_buf b;
	int r = 0;

	if (is_change_wanted(s, &result->record) &&
	    cli_change_quickly(s->dir, &result->record, &change))
		style.change = &change;
	if (result->sampling_error) {
		cli_complain("the job was not sampled: %s",
			     result->sampling_error == -ESRCH
				     ? "/proc is another pid namespace's. Try: unshare --mount-proc"
				     : trk__strerror(result->sampling_error));
		r = EXIT_ERROR;
	} else if (result->recording_error && !s->no_recording) {
		cli_complain(result->recording_lost
				     ? "%s: recording incomplete: %s (%llu records not "
				       "written)"
				     : "%s: no recording: %s",
			     result->recording_where, trk__strerror(result->recording_error),
			     (unsigned long long) result->recording_lost);
		r = EXIT_ERROR;
	}
	if (!s->quiet && strcmp(s->summary, "never") != 0) {
		trk__buf_init(&b, TEXT_MAX);
		trk__summary_text(&b, &result->record, &style);
		(void) trk__write_all(STDERR_FILENO, b.data, b.len);
		trk__buf_release(&b);
	}
	if (!s->no_recording)
		cli_history_send(s->dir);
	if (s->summary_json && write_summary_json(s, &result->record, style.change) != 0)
		r = EXIT_ERROR;
	if (s->report && write_report(s, &result->record) != 0)
		r = EXIT_ERROR;
	return r;
}

int track_exec_failure(const char *command, int error)
{
	bool is_path = strchr(command, '/') != NULL;
	struct stat st;

	if (!*command)
		cli_complain("the command is an empty text");
	else if (error == EACCES && is_path && stat(command, &st) == 0 && S_ISDIR(st.st_mode))
		cli_complain("%s: %s", command, trk__strerror(EISDIR));
	else if (error == ENOENT && is_path && stat(command, &st) == 0)
		cli_complain("%s: what it names as its interpreter or loader is not there",
			     command);
	else
		cli_complain("%s: %s", command,
			     error == ENOENT ? "command not found" : trk__strerror(error));
	return error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

/* The job as a process of ours cannot be had (no descriptors, no memory, no room for one more
 * process): then it takes our place, untracked, unless something was asked for that needs us. */
static int run_instead(const struct track_settings *s, char **argv, const char *what, int error)
{
	if (s->strict || s->limits.time_ns || s->limits.memory_bytes) {
		cli_complain("%s: %s", what, trk__strerror(error));
		return EXIT_BEFORE_JOB;
	}
	if (!s->quiet)
		cli_complain("%s: %s; the job runs untracked", what, trk__strerror(error));
	(void) execvp(argv[0], argv);
	return track_exec_failure(argv[0], errno);
}

static int start_failure(const struct track_settings *s, const struct trk_track_result *result,
			 int error, char **argv, int pid)
{
	if (argv && result->exec_failed)
		return track_exec_failure(argv[0], -error);
	if (argv)
		return run_instead(s, argv, "cannot track the job", error);
	if (pid && error == -ESRCH && kill(pid, 0) < 0 && errno == EPERM) {
		cli_complain("pid %d: another user's, and /proc hides it (hidepid). Try: as that "
			     "user, or as root",
			     pid);
		return EXIT_DENIED;
	}
	if (pid)
		cli_complain("pid %d: %s", pid,
			     error == -ESRCH ? "no such process" : trk__strerror(error));
	else
		cli_complain("cannot track: %s", trk__strerror(error));
	return error == -EACCES || error == -EPERM ? EXIT_DENIED
	       : error == -ESRCH                   ? EXIT_NODATA
						   : EXIT_ERROR;
}

/* In one line, what could not be tracked and why. */
static void tell_starter(int control_fd, const struct trk_track_result *result, int error,
			 char **argv, int pid)
{
	const char *reason = error == -ESRCH ? "no such process" : trk__strerror(error);
	char text[400];

	if (argv && result->exec_failed)
		(void) snprintf(text, sizeof(text), "%.300s: the command cannot be started: %s",
				argv[0], reason);
	else if (pid)
		(void) snprintf(text, sizeof(text), "pid %d: %s", pid, reason);
	else
		(void) snprintf(text, sizeof(text), "%s", reason);
	(void) trk__control_say(control_fd, "error", text);
}

static int status_of(const struct track_settings *s, const struct trk_outcome *o, char **argv,
		     int trouble, bool output_failed)
{
	if (s->strict && (trouble || output_failed))
		return EXIT_BEFORE_JOB;
	if (!argv)
		return output_failed ? EXIT_ERROR : 0;
	if (o->verdict == TRK_VERDICT_TIMEOUT || o->verdict == TRK_VERDICT_MEMORY_LIMIT)
		return EXIT_TIMEOUT;
	if (o->code < 0) {
		cli_complain("run: %s", o->evidence);
		return EXIT_BEFORE_JOB;
	}
	return o->signal ? -o->signal : o->code;
}

/* Go on in the background, with nothing that our starter had open but the control line: a sampler
 * must keep no pipe of its job from ending. The starter waits for our end, so that without a process
 * for the background there is no going on in its foreground either. */
static void go_into_the_background(int control_fd)
{
	unsigned int keep = (unsigned int) control_fd;
	pid_t pid = fork();

	if (pid < 0)
		(void) trk__control_say(control_fd, "error", trk__strerror(errno));
	if (pid != 0)
		_exit(pid < 0 ? EXIT_ERROR : EXIT_OK);
	(void) setsid(); /* fails where our starter has made a session for us */
	if (control_fd > 3)
		trk__close_range(3, keep - 1);
	trk__close_range(control_fd < 3 ? 3 : keep + 1, ~0u);
}

/* A starter that was killed has left its temporary folder, which nobody else knows of. One that has
 * told us to stop is there until we end. */
static void remove_what_is_left(const struct track_settings *s)
{
	struct pollfd starter = {.fd = s->control_fd};

	if (s->temporary && s->dir && poll(&starter, 1, 0) == 1 && starter.revents & POLLHUP)
		trk__remove_tree(s->dir);
}

static bool is_for(const char *path, int fd)
{
	char text[16];

	(void) snprintf(text, sizeof(text), "fd:%d", fd);
	return path && ((fd == STDOUT_FILENO && !strcmp(path, "-")) || !strcmp(path, text) ||
			trk__output_descriptor(path) == fd);
}

/* Does what is written at the end need the descriptor after the job has started? */
static bool is_needed_at_the_end(const struct track_settings *s, int fd)
{
	return is_for(s->summary_json, fd) || is_for(s->report, fd);
}

static enum trk_gpu_mode gpu_mode(const char *text)
{
	return !strcmp(text, "never")    ? TRK_GPU_NEVER
	       : !strcmp(text, "always") ? TRK_GPU_ALWAYS
					 : TRK_GPU_AUTO;
}

static const char *get_variable(const char *name)
{
	return getenv(name);
}

/* Whose words an attached process was started with, in `text`; an empty argv[0] where they are hidden. */
static void read_command(int pid, char *text, size_t size, char **argv, size_t max)
{
	char path[64];
	size_t n = 0;
	long len;
	int fd;

	(void) snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	len = fd < 0 ? -1 : read(fd, text, size - 1);
	trk__close(fd);
	text[len > 0 ? len : 0] = '\0';
	for (char *at = text; at < text + len && n + 1 < max; at += strlen(at) + 1)
		argv[n++] = at;
	argv[n] = NULL;
}

/* The job that a command is of, where no name was given: argv, or else that of the process. */
static void identify(const struct track_settings *s, char **argv, int pid, struct trk_identity *ret)
{
	enum { WORDS_MAX = 64 };
	char words[4096], *theirs[WORDS_MAX] = {NULL}, directory[4096] = "", link[64];
	struct trk_identity_facts facts = {
		.get = argv ? get_variable : NULL, /* a process stands under its own batch system */
		.argv = argv ? argv : theirs,
		.redact = s->redact_args,
		.directory = directory,
	};
	long len;

	*ret = (struct trk_identity){.job = ""};
	if (!argv && pid > 0)
		read_command(pid, words, sizeof(words), theirs, WORDS_MAX);
	if (!argv && (pid <= 0 || !theirs[0]))
		return;
	(void) snprintf(link, sizeof(link), argv ? "/proc/self/cwd" : "/proc/%d/cwd", pid);
	len = readlink(link, directory, sizeof(directory) - 1);
	directory[len > 0 ? len : 0] = '\0';
	trk__identity_find(&facts, ret);
}

/* The call to the tracker, with what its pointers stand on. */
struct plan {
	struct trk_track_options options;
	struct trk_gpu_hints hints;
	struct trk_identity identity;
	struct sockaddr_in endpoint;
	char dir[4096];
};

static void plan_it(struct plan *p, struct track_settings *s, char **argv, int pid)
{
	struct trk_track_options *o = &p->options;

	p->hints = cli_gpu_hints(argv != NULL);
	*o = (struct trk_track_options){
		.argv = argv,
		.release_stdin = !is_needed_at_the_end(s, STDIN_FILENO),
		.release_stdout = !is_needed_at_the_end(s, STDOUT_FILENO),
		.pid = pid,
		.job = s->job,
		.tags = s->tags,
		.tags_len = s->tags_len,
		.interval_ns = s->interval_ns,
		.one_process = s->one_process,
		.no_system = s->no_system,
		.unlisted = s->no_history,
		.input_bytes = argv && !s->input_bytes ? size_of_inputs(argv) : s->input_bytes,
		.redact_args = s->redact_args,
		.limits = s->limits,
		.request = s->request,
		.control_fd = s->control_fd,
		.duration_ns = s->duration_ns,
		.pss_share = -1,
		.gpu = gpu_mode(s->gpu),
		.gpu_hints = &p->hints,
		.dir = s->no_recording ? NULL : cli_state_dir(s->dir, p->dir, sizeof(p->dir)),
		.on_row = write_row,
		.on_word = s->quiet ? NULL : say_word,
		.on_cost = cli_run_cost,
	};
	o->discovery.ask = !s->no_discovery;
	o->discovery.stated = &s->stated;
	o->discovery.dir = o->dir;
	o->discovery.endpoint = cli_cloud_endpoint(&p->endpoint);
	if (argv) /* an attached process stands under its own batch system, if any */
		trk__request_detect(get_variable, s->request);
	if (!s->job || !*s->job) {
		identify(s, argv, pid, &p->identity);
		o->job = p->identity.job;
		o->scope = p->identity.scope;
	}
}

/* Tracking cannot even begin: a command runs all the same. */
static int not_begun(const struct track_settings *s, char **argv, const char *what, int error)
{
	if (argv)
		return run_instead(s, argv, what, error);
	cli_complain("%s: %s", what, trk__strerror(error));
	return EXIT_ERROR;
}

static int track_to(struct outputs *out, struct track_settings *s, const struct trk_env *env,
		    struct plan *p, char **argv, struct trk_track_result *result)
{
	int r, status;

	p->options.data = out;
	sibling_speak(s);
	r = trk__track(env, &p->options, result);
	cli_live_end(&out->live);
	if (r < 0 && s->control_fd >= 0)
		tell_starter(s->control_fd, result, r, argv, p->options.pid);
	status = r < 0 ? start_failure(s, result, r, argv, p->options.pid)
		       : status_of(s, &result->record.outcome, argv, speak(s, result),
				   out->samples.failed);
	trk__record_release(&result->record);
	return status;
}

int track_with(struct track_settings *s, char **argv, int pid)
{
	struct trk_track_result *result = calloc(1, sizeof(*result));
	struct plan plan;
	struct outputs out;
	struct trk_env env;
	int r, status;

	if (s->detach && !argv)
		go_into_the_background(s->control_fd);
	r = result ? trk__env_init(&env) : -ENOMEM;
	if (r < 0) {
		status = not_begun(s, argv, result ? "/proc" : "cannot track the job", r);
		free(result);
		return status;
	}
	plan_it(&plan, s, argv, pid);
	if (open_outputs(&out, s, &env) < 0)
		status = argv ? EXIT_BEFORE_JOB : EXIT_ERROR;
	else
		status = track_to(&out, s, &env, &plan, argv, result);
	sample_output_release(&out.samples);
	trk__env_release(&env);
	remove_what_is_left(s);
	free(result);
	return status;
}
