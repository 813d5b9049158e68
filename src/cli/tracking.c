/* run, attach and system: from their settings to the output at the end. */
#include "cli/track_options.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alert/live.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/libc.h"
#include "base/maths.h"
#include "base/os.h"
#include "base/output.h"
#include "base/parse.h"
#include "cli/alert_options.h"
#include "cli/environment.h"
#include "cli/named_runs.h"
#include "cli/cli.h"
#include "cli/sample_output.h"
#include "track/control.h"
#include "track/identity.h"
#include "track/request.h"
#include "track/track.h"
#include "top/view.h"
#include "report/summary.h"
#include "report/write/terminal.h"
#include "service/conclusion_child.h"
#include "service/live_page.h"

enum { TEXT_MAX = 4 * 1024 * 1024, STATUS_MAX = 1024, CHANGE_RUN_MIN_MS = 100 };

/* The report of --report; the file's name determines the format. */
static struct trk_page_request page_request(const struct track_settings *s)
{
	return (struct trk_page_request){
		.format = cli_page_format(s->report),
		.earlier = s->report_earlier ? cli_earlier_runs(s->report_earlier) : NULL,
	};
}

/* ---- while it runs ---- */

struct outputs {
	const struct track_settings *settings;
	struct sample_output samples;
	struct trk_live_page live;
	struct trk_alert_live alerts;
	struct trk_alert_hooks hooks;
	struct trk_earlier_times earlier;
	struct trk_sample row; /* the newest one */
	bool has_row;
	struct trk_conclusion *conclusion; /* owned; NULL: the history was not read, or not in
					    * time */
};

static void print_word(void *data, const char *text)
{
	cli_complain("%s", text);
}

/* Send an alert to the library that started this program. */
static void pass_alert(int control_fd, const struct trk_record *record, const struct trk_alert *a)
{
	TRK_BUF_LOCAL(b, TRK_CONTROL_LINE - 16);

	trk__alert_json(&b, record, a);
	trk__buf_putc(&b, '\0');
	if (!b.error)
		(void) trk__control_say(control_fd, "alert", b.data);
}

/* GitHub workflows show alerts as annotations. */
static void on_alert(void *data, const struct trk_record *record, const struct trk_alert *alert)
{
	const struct trk_alert named = trk__alert_with_wait(alert, record), *a = &named;
	struct outputs *out = data;
	const struct track_settings *s = out->settings;
	const char *name = trk__alert_rules[a->rule].name;
	char text[2 * TRK_ALERT_TEXT_SIZE + 8];
	TRK_BUF_LOCAL(line, 4096);

	(void) snprintf(text, sizeof(text), "%s%s%s", a->text, a->fix[0] ? ". Try: " : "", a->fix);
	if (s->track.control_fd >= 0)
		pass_alert(s->track.control_fd, record, a);
	if (a->firing && !strcmp(s->alerts, "auto") && !s->quiet && s->track.control_fd < 0) {
		if (cli_is_github()) {
			cli_alert_github(&line, name, text);
			(void) cli_print_to(STDERR_FILENO, &line);
		} else {
			cli_complain("alert %s: %s", name, text);
		}
	}
	trk__alert_hooks_call(&out->hooks, a);
}

static void watch(struct outputs *out, const struct trk_record *record,
		  const struct trk_sample *row, const struct trk_gpu_reading *gpus)
{
	struct trk_sample timed = *row;

	timed.value[TRK_ELAPSED] = trk__whole(
		(double) row->value[TRK_ELAPSED] * out->settings->alert_speed, 0, INT64_MAX);
	trk__earlier_times_row(&out->earlier, &out->live.service, record,
			       trk__sample_get(&timed, TRK_ELAPSED), &out->alerts);
	trk__alert_live_row(&out->alerts, record, &timed, gpus ? gpus->device : NULL,
			    gpus ? gpus->devices : 0, on_alert, out);
	trk__alert_hooks_turn(&out->hooks, record, trk__sample_get(row, TRK_ELAPSED), print_word,
			      out);
}

static void write_row(void *data, const struct trk_record *record, const struct trk_sample *row,
		      const struct trk_sampler *sampler)
{
	struct outputs *out = data;

	out->row = *row;
	out->has_row = true;
	sample_output_row(&out->samples, &record->run, row, sampler);
	trk__live_page_row(&out->live, record);
	if (!strcmp(out->settings->alerts, "auto") || out->hooks.count)
		watch(out, record, row, trk__sampler_gpus(sampler));
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
	trk__view_line(&b, facts, !out->settings->plain && cli_is_utf8());
	if (!b.error)
		cli_complain("%s", b.data);
	free(facts);
}

static int open_outputs(struct outputs *out, const struct track_settings *s)
{
	bool live = s->report && *s->report && strcmp(s->report, "-") != 0 && !s->no_recording;

	if (s->report_every_ns && !live)
		cli_complain("--report-every: no page is written while the job runs. Try: "
			     "--report=FILE, "
			     "with a recording");
	*out = (struct outputs){.settings = s, .hooks = s->hooks};
	out->hooks.dir = s->dir;
	trk__alert_live_init(&out->alerts);
	trk__earlier_times_init(&out->earlier, s->track.control_fd);
	trk__live_page_init(&out->live,
			    &(struct trk_live_page){
				    .service = cli_service(s->no_recording ? "" : s->dir),
				    .request = page_request(s),
				    .path = s->report,
				    .via = s->report_via,
				    .every_ns = live ? s->report_every_ns : 0,
				    .control_fd = s->track.control_fd,
			    });
	return sample_output_open(&out->samples, s);
}

/* ---- the end ---- */

static int write_summary_json(const struct track_settings *s, const struct trk_record *record,
			      const struct trk_summary_style *style)
{
	TRK_BUF_LOCAL(b, TEXT_MAX);
	uint64_t number;
	int r;

	trk__summary_json(&b, record, style->change, style->advice);
	if (!strcmp(s->summary_json, "-")) {
		r = cli_write(STDOUT_FILENO, &b, s->summary_json);
	} else if (!strncmp(s->summary_json, "fd:", 3) &&
		   trk__parse_u64(s->summary_json + 3, &number) == 0 && number <= INT32_MAX) {
		r = cli_write((int) number, &b, s->summary_json);
	} else {
		r = b.error ? b.error : trk__output_replace(NULL, s->summary_json, b.data, b.len);
		if (r < 0 && r != -EPIPE)
			cli_complain("%s: cannot write: %s", s->summary_json, trk__strerror(r));
		r = r == -EPIPE ? 0 : r; /* the reader has closed the pipe */
	}
	return r < 0 ? EXIT_ERROR : r;
}

/* Samples on stderr are read by a program, which would read the summary as a sample. */
static bool is_summary_wanted(const struct track_settings *s)
{
	return !s->quiet && strcmp(s->summary, "never") != 0 && !sample_output_is_on_stderr(s);
}

/* Whether a request can be advised from this run only. A short run suffices if it was killed for
 * memory or time. */
static bool names_a_request(const struct trk_record *r)
{
	struct trk_advice *a = malloc(sizeof(*a));
	bool names = a && trk__advice_of_run(r, a) == 0 &&
		     a->sizing.sizing != TRK_SIZING_NOT_ENOUGH_DATA;

	free(a);
	return names;
}

/* Whether the end of the run shows a request, a server or a change. Most short runs show none on a
 * terminal; the history is not read then. */
static bool is_history_wanted(const struct track_settings *s, const struct trk_record *r)
{
	bool is_long = r->outcome.duration_ns >= CHANGE_RUN_MIN_MS * TRK_NS_PER_MS;
	bool server = r->place.has_cloud && r->place.cloud.vendor[0] &&
		      (double) r->outcome.duration_ns >= TRK_RUN_SHORTEST_S * 1e9;

	return !s->no_recording && r->run.pid && r->run.job[0] &&
	       (server || s->summary_json ||
		(is_summary_wanted(s) && (is_long || names_a_request(r))));
}

/* Runs before the recording is closed, as the best server is written into it. */
static void conclude(void *data, struct trk_record *record)
{
	struct outputs *out = data;
	const struct trk_service *service = &out->live.service;
	struct trk_conclusion *c =
		is_history_wanted(out->settings, record) ? calloc(1, sizeof(*c)) : NULL;

	if (c && !trk__conclude_quickly(service, record, c))
		c = (free(c), NULL);
	out->conclusion = c;
	c = c && c->has_advice ? c : NULL;
	trk__prices_cost(&service->layers, record, c ? &c->advice : NULL, c ? &c->busy : NULL);
}

/* True if no recording exists. A recording that lost records can be read. */
static bool is_unrecorded(const struct track_settings *s, const struct trk_track_result *result)
{
	return s->no_recording || (result->recording_error && !result->recording_lost);
}

/* Write the report from the recording that has just ended. */
static int write_report(const struct track_settings *s, const struct trk_track_result *result)
{
	const struct trk_page_request request = page_request(s);
	char path[4096] = "";
	int r;

	if (is_unrecorded(s, result))
		return cli_reject(EXIT_ERROR, "--report: there is no recording to make it from%s",
				  s->dir_refused    ? ". Try: --recording DIR"
				  : s->no_recording ? ". Try: without --no-recording"
						    : "");
	r = cli_report_file(s->dir, result->record.run.id, &request, s->report, s->report_via, path,
			    sizeof(path));
	if (r == 0 && !s->quiet && !sample_output_is_on_stderr(s) && strcmp(path, "-") != 0)
		cli_complain("wrote %s", path);
	return r;
}

static bool is_change_wanted(const struct track_settings *s, const struct trk_record *r)
{
	return !s->track.unlisted && r->outcome.duration_ns >= CHANGE_RUN_MIN_MS * TRK_NS_PER_MS;
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
	return cli_reject(EXIT_ERROR,
			  result->recording_lost
				  ? "%s: recording incomplete: %s (%llu records not written)"
				  : "%s: no recording: %s",
			  result->recording_where, trk__strerror(result->recording_error),
			  (unsigned long long) result->recording_lost);
}

static void write_summary(const struct trk_record *record, const struct trk_summary_style *style)
{
	TRK_BUF_LOCAL(b, TEXT_MAX);

	trk__summary_text(&b, record, style);
	(void) trk__write_all(STDERR_FILENO, b.data, b.len);
}

/* A separate process evaluates the alert rules over the job's history. */
static void judge_later(const struct track_settings *s, const struct trk_record *record)
{
	const struct cli_alert_settings alert = {.dir = s->dir, .hooks = s->hooks};

	if (!s->track.unlisted && record->run.pid)
		cli_alert_check_later(&alert, record->run.id);
}

static int print_end(const struct outputs *out, const struct trk_track_result *result)
{
	const struct track_settings *s = out->settings;
	const struct trk_conclusion *c = out->conclusion;
	struct trk_summary_style style = {
		.width = cli_width(STDERR_FILENO, TRK_TERMINAL_USUAL),
		.color = !s->plain && cli_use_color(s->color, STDERR_FILENO),
		.utf8 = !s->plain && cli_is_utf8(),
		.brief = !strcmp(s->summary, "short"),
		.not_recorded = is_unrecorded(s, result),
		.advice = c && c->has_advice ? &c->advice : NULL,
		.alone = !c && !s->track.unlisted && is_history_wanted(s, &result->record),
	};
	int r = complain_of_trouble(s, result);

	if (c && c->unsent[0] && !s->quiet)
		cli_complain("the run is stored only on this machine: %s", c->unsent);
	if (c && c->has_change && is_change_wanted(s, &result->record))
		style.change = &c->change;
	if (is_summary_wanted(s))
		write_summary(&result->record, &style);
	if (!s->no_recording) {
		trk__conclusion_send(&out->live.service);
		judge_later(s, &result->record);
	}
	if (s->summary_json && write_summary_json(s, &result->record, &style) != 0)
		r = EXIT_ERROR;
	if (s->report && write_report(s, result) != 0)
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
static int run_instead(const struct track_settings *s, char **argv, const char *what, int error)
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
		return run_instead(s, argv, "cannot track the job", error);
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

/* Send one line to the starter: what could not be tracked, and why. */
static void report_to_starter(int control_fd, const struct trk_track_result *result, int error,
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
		(void) trk__control_say(control_fd, "error", trk__strerror(errno));
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

/* The command line of an attached process, in `text`; an empty argv[0] where it is hidden. */
static void read_command(const struct trk_env *env, int pid, char *text, size_t size, char **argv,
			 size_t max)
{
	struct trk_reader *reader = trk__reader_new(env, false);
	uint64_t cost_ns;
	size_t n = 0;
	ssize_t len =
		trk__reader_read(reader, env, 0, TRK_PATH("%d/cmdline", pid), text, size, &cost_ns);
	bool is_cut = len == -EFBIG;

	trk__reader_free(reader);
	if (is_cut)
		len = (ssize_t) size - 1;
	text[len > 0 ? len : 0] = '\0';
	for (char *at = text; at < text + len && n + 1 < max; at += strlen(at) + 1)
		argv[n++] = at;
	n -= is_cut && n > 1; /* the cut argument may hold half of a secret */
	argv[n] = NULL;
}

/* Derive the job's name, if none was given, from argv or from the command line of the process. */
static void identify(const struct track_settings *s, const struct trk_env *env, char **argv,
		     int pid, struct trk_identity *ret)
{
	enum { WORDS_MAX = 64 };
	char words[4096], *theirs[WORDS_MAX] = {NULL}, directory[4096] = "", link[64];
	struct trk_identity_facts facts = {
		.get = argv ? get_variable : NULL, /* attach: unknown variables */
		.argv = argv ? argv : theirs,
		.redaction = s->track.redaction,
		.directory = directory,
	};
	ssize_t len;

	*ret = (struct trk_identity){.job = ""};
	if (!argv && pid > 0)
		read_command(env, pid, words, sizeof(words), theirs, WORDS_MAX);
	if (!argv && (pid <= 0 || !theirs[0]))
		return;
	if (argv) {
		if (!getcwd(directory, sizeof(directory)))
			directory[0] = '\0';
	} else {
		(void) snprintf(link, sizeof(link), "/proc/%d/cwd", pid);
		len = readlink(link, directory, sizeof(directory) - 1);
		directory[len > 0 ? len : 0] = '\0';
	}
	trk__identity_find(&facts, ret);
}

/* Complete the options of the tracker. */
static void plan_it(struct track_settings *s, const struct trk_env *env, char **argv, int pid,
		    struct outputs *out)
{
	struct trk_track_options *o = &s->track;

	s->hints = cli_gpu_hints(argv != NULL);
	o->argv = argv;
	o->release_stdin = !is_needed_at_the_end(s, STDIN_FILENO);
	o->release_stdout = !is_needed_at_the_end(s, STDOUT_FILENO);
	o->pid = pid;
	o->job = s->job;
	o->tags = s->tags;
	o->request = s->request;
	o->gpu_hints = &s->hints;
	o->dir = s->no_recording ? NULL : cli_state_dir(s->dir);
	o->on_row = write_row;
	o->on_word = s->quiet ? NULL : print_word;
	o->on_cost = conclude;
	o->on_status = print_status;
	o->data = out;
	if (o->dir && !*o->dir) { /* already reported */
		o->dir = NULL;
		s->no_recording = s->dir_refused = true;
	}
	o->discovery.stated = &s->stated;
	o->discovery.dir = o->dir;
	o->discovery.endpoint = cli_cloud_endpoint(&s->endpoint);
	if (argv) /* an attached process may belong to another batch system */
		trk__request_detect(get_variable, s->request);
	if (!argv && !pid && !s->job) {
		o->job = "system";
	} else if (!s->job || !*s->job) {
		identify(s, env, argv, pid, &s->identity);
		o->job = s->identity.job;
		o->scope = s->identity.scope;
	}
}

/* Tracking cannot begin: run the command without it. */
static int not_begun(const struct track_settings *s, char **argv, const char *what, int error)
{
	if (argv)
		return run_instead(s, argv, what, error);
	return cli_reject(EXIT_ERROR, "%s: %s", what, trk__strerror(error));
}

/* Print that a token for streaming is set, and that nothing is sent. */
static void sibling_speak(const struct track_settings *s)
{
	const char *token = getenv("SENTINEL_API_TOKEN");

	if (s->quiet || !(token && *token))
		return;
	cli_complain("SENTINEL_API_TOKEN: this version does not stream: nothing is sent, the "
		     "samples are in the recording");
}

static int track_to(struct outputs *out, const struct track_settings *s, const struct trk_env *env,
		    char **argv, struct trk_track_result *result)
{
	int r, status;

	sibling_speak(s);
	r = trk__track(env, &s->track, result);
	sample_output_end(&out->samples, &result->record.run);
	trk__live_page_end(&out->live);
	trk__alert_hooks_release(&out->hooks);
	trk__earlier_times_end(&out->earlier);
	if (r < 0 && s->track.control_fd >= 0)
		report_to_starter(s->track.control_fd, result, r, argv, s->track.pid);
	status = r < 0 ? start_failure(s, result, r, argv, s->track.pid)
		       : status_of(s, &result->record.outcome, argv, print_end(out, result),
				   out->samples.failed);
	trk__record_release(&result->record);
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
	struct trk_track_result *result = calloc(1, sizeof(*result));
	static struct outputs out;
	struct trk_env env;
	int r, status;

	if (s->detach && !argv)
		go_into_the_background(s->track.control_fd);
	r = result ? trk__env_init(&env) : -ENOMEM;
	if (r < 0) {
		status = not_begun(s, argv, result ? "/proc" : "cannot track the job", r);
		free(result);
		return status;
	}
	trk__os_map_stack();
	plan_it(s, &env, argv, pid, &out);
	if (open_outputs(&out, s) < 0 || (!check_outputs(s) && s->strict))
		status = argv ? EXIT_BEFORE_JOB : EXIT_ERROR;
	else
		status = track_to(&out, s, &env, argv, result);
	sample_output_release(&out.samples);
	free(out.conclusion);
	trk__env_release(&env);
	remove_what_is_left(s);
	free(result);
	return status;
}
