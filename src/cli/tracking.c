/* run, attach and system: from their settings to the output at the end. */
#include "cli/track_options.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/libc.h"
#include "base/os.h"
#include "base/output.h"
#include "base/parse.h"
#include "cli/alert_options.h"
#include "cli/environment.h"
#include "cli/named_runs.h"
#include "cli/cli.h"
#include "cli/sample_output.h"
#include "probe/linux/pid_status.h"
#include "track/control.h"
#include "track/request.h"
#include "top/view.h"
#include "service/run_engine.h"

enum { STATUS_MAX = 1024 };

/* ---- while it runs ---- */

struct outputs {
	const struct track_settings *settings;
	struct sample_output samples;
	struct trk_sample row; /* the newest one */
	bool has_row;
};

static void print_word(void *data, const char *text)
{
	cli_complain("%s", text);
}

/* GitHub workflows show alerts as annotations. */
static void print_alert(void *data, const char *rule, const char *text)
{
	const struct outputs *out = data;
	TRK_BUF_LOCAL(line, 4096);

	if (strcmp(out->settings->alerts, "auto") != 0 || out->settings->quiet)
		return;
	if (cli_is_github()) {
		cli_alert_github(&line, rule, text);
		(void) cli_print_to(STDERR_FILENO, &line);
	} else {
		cli_complain("alert %s: %s", rule, text);
	}
}

static void write_row(void *data, const struct trk_record *record, const struct trk_sample *row,
		      struct trk_sampler *sampler)
{
	struct outputs *out = data;

	out->row = *row;
	out->has_row = true;
	sample_output_row(&out->samples, &record->run, row, sampler);
}

/* Print the status line for SIGUSR1. */
static void print_status(void *data, const struct trk_record *record)
{
	struct outputs *out = data;
	struct trk_facts *facts = out->settings->quiet ? NULL : malloc(sizeof(*facts));
	TRK_BUF_LOCAL(b, STATUS_MAX);

	if (!facts)
		return;
	trk__facts_of_row(record, out->has_row ? &out->row : NULL, facts);
	trk__view_line(&b, facts, cli_use_utf8(out->settings->color));
	if (!b.error)
		cli_complain("%s", b.data);
	free(facts);
}

/* ---- the end ---- */

static struct trk_summary_style summary_style(void *data)
{
	const struct outputs *out = data;
	const struct track_settings *s = out->settings;

	return (struct trk_summary_style){
		.width = cli_width(STDERR_FILENO, TRK_TERMINAL_USUAL),
		.color = cli_use_color(s->color, STDERR_FILENO),
		.utf8 = cli_use_utf8(s->color),
		.brief = !strcmp(s->summary, "short"),
	};
}

static int write_summary_json(const struct track_settings *s, const struct trk_buf *b)
{
	uint64_t number;
	int r;

	if (!strcmp(s->summary_json, "-"))
		return cli_write(STDOUT_FILENO, b, s->summary_json);
	if (!strncmp(s->summary_json, "fd:", 3) &&
	    trk__parse_u64(s->summary_json + 3, &number) == 0 && number <= INT32_MAX)
		return cli_write((int) number, b, s->summary_json);
	r = b->error ? b->error : trk__output_replace(NULL, s->summary_json, b->data, b->len);
	if (r < 0 && r != -EPIPE) /* the reader has closed the pipe */
		return cli_reject(EXIT_ERROR, "%s: cannot write: %s", s->summary_json,
				  trk__strerror(r));
	return 0;
}

/* The report of --report; the file's name determines the format. */
static struct trk_page_request page_request(const struct track_settings *s)
{
	return (struct trk_page_request){
		.format = cli_page_format(s->report),
		.earlier = s->report_earlier ? cli_earlier_runs(s->report_earlier) : NULL,
	};
}

/* Write the report from the recording that has just ended. */
static int write_report(const struct track_settings *s, const struct trk_run_end *end)
{
	const struct trk_page_request request = page_request(s);
	char path[4096] = "";
	int r;

	if (end->is_unrecorded)
		return cli_reject(EXIT_ERROR, "--report: there is no recording to make it from%s",
				  s->dir_refused    ? ". Try: --recording DIR"
				  : s->no_recording ? ". Try: without --no-recording"
						    : "");
	r = cli_report_file(s->dir, end->track.record.run.id, &request, s->report, s->report_via,
			    path, sizeof(path));
	if (r == 0 && !s->quiet && !sample_output_is_on_stderr(s) && strcmp(path, "-") != 0)
		cli_complain("wrote %s", path);
	return r;
}

static const char no_proc[] = "/proc is not mounted. Try: mount -t proc proc /proc";

/* Report errors of the tracker. 0, or an exit status after a complaint. */
static int complain_of_trouble(const struct track_settings *s,
			       const struct trk_track_result *result)
{
	if (result->sampling_error)
		return cli_reject(EXIT_ERROR, "the job was not sampled: %s",
				  result->sampling_error == -ESRCH
					  ? "/proc belongs to another pid namespace. Try: unshare "
					    "--mount-proc"
				  : result->sampling_error == -ENOENT
					  ? no_proc
					  : trk__strerror(result->sampling_error));
	if (!result->recording_error || s->no_recording)
		return s->dir_refused ? EXIT_ERROR : 0;
	return cli_reject(
		EXIT_ERROR,
		result->recording_lost ? "%s: recording incomplete: %s (%llu records not written)"
				       : "%s: no recording: %s",
		result->recording_where,
		result->recording_error == -EBUSY ? "its storage does not answer"
						  : trk__strerror(result->recording_error),
		(unsigned long long) result->recording_lost);
}

static int print_end(const struct track_settings *s, const struct trk_run_end *end)
{
	const struct cli_alert_settings alert = {.dir = s->dir, .hooks = s->hooks};
	const struct trk_run *run = &end->track.record.run;
	int r = complain_of_trouble(s, &end->track);

	if (end->unsent[0] && !s->quiet)
		cli_complain("the run is stored only on this machine: %s", end->unsent);
	(void) trk__os_write_in_time(STDERR_FILENO, end->text.data, end->text.len, -1);
	/* A separate process evaluates the alert rules over the job's history. */
	if (!s->no_recording && !s->track.unlisted && run->pid)
		cli_alert_check_later(&alert, run->id);
	if (s->summary_json && write_summary_json(s, &end->json) != 0)
		r = EXIT_ERROR;
	if (s->report && write_report(s, end) != 0)
		r = EXIT_ERROR;
	return r;
}

int track_exec_failure(const char *command, int error)
{
	bool is_path = strchr(command, '/') != NULL;
	struct stat st;

	if (!*command)
		cli_complain("the command is empty");
	else if (error == EACCES && is_path && stat(command, &st) == 0 && S_ISDIR(st.st_mode))
		cli_complain("%s: %s", command, trk__strerror(EISDIR));
	else if (error == ENOENT && is_path && stat(command, &st) == 0)
		cli_complain("%s: its interpreter or loader is missing", command);
	else
		cli_complain("%s: %s", command,
			     error == ENOENT ? "command not found" : trk__strerror(error));
	return error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

/* The job cannot be started as a child (no descriptors, no memory, no room for one more process):
 * it replaces this process, untracked, unless an option needs the tracker. */
int track_run_instead(const struct track_settings *s, char **argv, const char *what, int error)
{
	if (s->strict || s->track.limits.time_ns || s->track.limits.memory_bytes)
		return cli_reject(EXIT_BEFORE_JOB, "%s: %s", what, trk__strerror(error));
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
		return track_run_instead(s, argv, "cannot track the job", error);
	if (pid && error == -ESRCH && kill(pid, 0) < 0 && errno == EPERM)
		return cli_reject(EXIT_DENIED,
				  "pid %d: belongs to another user, and /proc hides it (hidepid). "
				  "Try: as that "
				  "user, or as root",
				  pid);
	if (pid)
		cli_complain("pid %d: %s", pid,
			     error == -ESRCH    ? "no such process"
			     : error == -ENOENT ? no_proc
						: trk__strerror(error));
	else
		cli_complain("cannot track: %s", trk__strerror(error));
	return error == -EACCES || error == -EPERM ? EXIT_DENIED
	       : error == -ESRCH                   ? EXIT_NODATA
						   : EXIT_ERROR;
}

static int status_of(const struct track_settings *s, const struct trk_outcome *o, char **argv,
		     int trouble, bool output_failed)
{
	if (s->strict && (trouble || output_failed))
		return EXIT_BEFORE_JOB;
	if (!argv)
		return output_failed ? EXIT_ERROR : 0;
	if (o->end == TRK_END_TIMEOUT || o->end == TRK_END_MEMORY_LIMIT)
		return EXIT_TIMEOUT;
	if (o->code < 0)
		return cli_reject(EXIT_BEFORE_JOB, "run: %s", o->evidence);
	return o->signal ? -o->signal : o->code;
}

/* Continue in the background, with no descriptor of the caller except the control socket: an
 * inherited pipe would not report its end to its reader. The caller waits for this process to exit,
 * so without a second process the program ends. */
static void go_into_the_background(int control_fd)
{
	unsigned int keep = (unsigned int) control_fd;
	pid_t pid = fork();

	if (pid < 0)
		(void) trk__control_send(control_fd, "error", trk__strerror(errno));
	if (pid != 0)
		_exit(pid < 0 ? EXIT_ERROR : EXIT_OK);
	(void) setsid(); /* fails where the caller has made a session */
	if (control_fd > 3)
		trk__close_range(3, keep - 1);
	trk__close_range(control_fd < 3 ? 3 : keep + 1, ~0u);
}

/* Remove the temporary folder of a caller that was killed. A caller that has sent "stop" lives
 * until the tracker ends, and removes it. */
static void remove_what_is_left(const struct track_settings *s)
{
	if (s->temporary && s->dir && trk__os_has_hung_up(s->track.control_fd))
		trk__remove_temporary(s->dir);
}

static bool is_for(const char *path, int fd)
{
	char text[16];

	(void) snprintf(text, sizeof(text), "fd:%d", fd);
	return path && ((fd == STDOUT_FILENO && !strcmp(path, "-")) || !strcmp(path, text) ||
			trk__output_descriptor(path) == fd);
}

/* Whether output at the end needs the descriptor after the job has started. */
static bool is_needed_at_the_end(const struct track_settings *s, int fd)
{
	return is_for(s->summary_json, fd) || is_for(s->report, fd);
}

static const char *get_variable(const char *name)
{
	return getenv(name);
}

/* Complete the options of the tracker, and the engine's. */
static void fill_engine(struct track_settings *s, char **argv, int pid, struct outputs *out,
			struct trk_run_engine *ret)
{
	struct trk_track_options *o = &s->track;
	struct trk_service service = cli_service(s->no_recording ? "" : s->dir);
	bool live = s->report && *s->report && strcmp(s->report, "-") != 0 && *service.dir;

	s->dir_refused = !s->no_recording && !*service.dir; /* already reported */
	s->no_recording |= s->dir_refused;
	if (s->report_every_ns && !live)
		cli_complain("--report-every: no page is written while the job runs. Try: "
			     "--report=FILE, "
			     "with a recording");
	s->hints = cli_gpu_hints(argv != NULL);
	s->hooks.dir = s->dir;
	o->argv = argv;
	o->release_stdin = !is_needed_at_the_end(s, STDIN_FILENO);
	o->release_stdout = !is_needed_at_the_end(s, STDOUT_FILENO);
	o->pid = pid;
	o->job = s->job;
	o->tags = s->tags;
	o->request = s->request;
	o->gpu_hints = &s->hints;
	o->dir = s->no_recording ? NULL : service.dir;
	o->on_word = s->quiet ? NULL : print_word;
	o->discovery.stated = &s->stated;
	o->discovery.dir = o->dir;
	o->discovery.endpoint = cli_cloud_endpoint(&s->endpoint);
	if (argv) /* an attached process may belong to another batch system */
		trk__request_detect(get_variable, s->request);
	*ret = (struct trk_run_engine){
		.track = *o,
		.variable = get_variable,
		.service = service,
		.judges_alerts = !strcmp(s->alerts, "auto"),
		.alert_speed = s->alert_speed,
		.hooks = s->hooks,
		.page = page_request(s),
		.page_path = s->report,
		.page_via = s->report_via,
		.page_every_ns = live ? s->report_every_ns : 0,
		/* Samples on stderr are read by a program, which would read the summary as a
		 * sample. */
		.wants_text = !s->quiet && strcmp(s->summary, "never") != 0 &&
			      !sample_output_is_on_stderr(s),
		.wants_json = s->summary_json != NULL,
		.data = out,
		.on_row = write_row,
		.on_alert = print_alert,
		.on_word = print_word,
		.on_status = print_status,
		.style = summary_style,
	};
}

/* Tracking cannot begin: run the command without it. */
static int not_begun(const struct track_settings *s, char **argv, const char *what, int error)
{
	if (argv)
		return track_run_instead(s, argv, what, error);
	return cli_reject(EXIT_ERROR, "%s: %s", what, trk__strerror(error));
}

/* Print that a token for streaming is set, and that nothing is sent. */
static void warn_of_token(const struct track_settings *s)
{
	const char *token = getenv("SENTINEL_API_TOKEN");

	if (s->quiet || !(token && *token))
		return;
	cli_complain("SENTINEL_API_TOKEN: this version does not stream: nothing is sent, the "
		     "samples are in the recording");
}

static int track_to(struct outputs *out, const struct trk_run_engine *engine,
		    const struct trk_env *env, char **argv, struct trk_run_end *end)
{
	const struct track_settings *s = out->settings;
	int r, status;

	warn_of_token(s);
	cli_complain_in_time(true);
	r = trk__run(env, engine, end);
	cli_complain_in_time(false);
	sample_output_end(&out->samples);
	status = r < 0 ? start_failure(s, &end->track, r, argv, s->track.pid)
		       : status_of(s, &end->track.record.outcome, argv, print_end(s, end),
				   out->samples.failed);
	trk__run_end_release(end);
	return status;
}

/* Report outputs that cannot be written before the job starts. The job runs without them. */
static bool check_outputs(struct track_settings *s)
{
	int report = cli_check_output("report", s->report);
	int summary = cli_check_output("summary-json", s->summary_json);

	if (report < 0 && report != -ENOENT)
		s->report = NULL;
	if (summary < 0 && summary != -ENOENT)
		s->summary_json = NULL;
	return report == 0 && summary == 0;
}

int track_with(struct track_settings *s, char **argv, int pid)
{
	struct trk_run_end *end = calloc(1, sizeof(*end));
	static struct outputs out;
	static struct trk_run_engine engine;
	struct trk_env env;
	char note[96];
	int r, status;

	if (s->detach && !argv)
		go_into_the_background(s->track.control_fd);
	r = end ? trk__env_init(&env) : -ENOMEM;
	if (r < 0) {
		status = not_begun(s, argv, end ? "/proc" : "cannot track the job", r);
		free(end);
		return status;
	}
	trk__os_map_stack();
	if (pid && trk__thread_follow(env.proc_fd, &pid, note, sizeof(note)) && !s->quiet)
		cli_complain("%s", note);
	out = (struct outputs){.settings = s};
	fill_engine(s, argv, pid, &out, &engine);
	if (sample_output_open(&out.samples, s) < 0 || (!check_outputs(s) && s->strict)) {
		status = argv ? EXIT_BEFORE_JOB : EXIT_ERROR;
	} else {
		/* Without what cannot be written. */
		engine.page_path = s->report;
		engine.wants_json = s->summary_json != NULL;
		status = track_to(&out, &engine, &env, argv, end);
	}
	sample_output_release(&out.samples);
	trk__env_release(&env);
	remove_what_is_left(s);
	free(end);
	return status;
}
