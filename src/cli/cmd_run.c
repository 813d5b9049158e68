/* resource-tracker run, attach, system and mark: track a job that is started, a process, or the
 * machine; record a named moment of the run. Their options: track_options.c; what they print and
 * return: tracking.c. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/os.h"
#include "cli/config.h"
#include "cli/track_options.h"
#include "track/marks.h"

/* Die of the signal that killed the job, so that the parent receives the same wait status. The
 * kernel ignores such a signal for PID 1 of a namespace; the exit status then reports it. */
static _Noreturn void die_of(int signo)
{
	struct rlimit none = {0, 0};
	sigset_t set;

	(void) setrlimit(RLIMIT_CORE, &none); /* no second core dump after that of the job */
	(void) signal(signo, SIG_DFL);
	(void) sigemptyset(&set);
	(void) sigaddset(&set, signo);
	(void) sigprocmask(SIG_UNBLOCK, &set, NULL);
	(void) kill(getpid(), signo);
	exit(128 + signo);
}

static const char *phase_of(const struct track_settings *settings, char **argv)
{
	const char *slash = strrchr(argv[0], '/');

	return settings->job && *settings->job ? settings->job : slash ? slash + 1 : argv[0];
}

/* True if the command line has options that a phase of the outer run cannot satisfy. Variables and
 * configuration do not count: the inner command inherits them from the outer one, and its files
 * would replace the outer run's. */
static bool asks_for_own_run(int argc, char **argv)
{
	static struct track_settings s, usual;

	track_settings_init(&s);
	track_settings_init(&usual);
	(void) cli_options(&cli_run, argc, argv, &s);
	for (size_t i = 0; i < TRK_REQUESTS; i++)
		if (!isnan(s.request[i].value))
			return true;
	return s.track.limits.time_ns || s.track.limits.memory_bytes || s.output || s.format ||
	       s.report || s.summary_json || s.dir || s.strict || s.track.tags_len ||
	       s.track.input_bytes || s.hooks.count || s.track.control_fd >= 0 ||
	       s.track.interval_ns != usual.track.interval_ns;
}

/* Run the command as a phase of the outer run, which tracks this tree already. Returns only if that
 * is not possible: the outer run has ended (this is a daemon that it left behind), or the options
 * need a separate run, which the outer run has as a phase, too. */
static int run_as_phase(const char *outer, const struct track_settings *settings, int at, int argc,
			char **argv)
{
	if (!outer || !*outer || trk__marks_send(outer, phase_of(settings, argv + at)) < 0)
		return 0;
	if (asks_for_own_run(argc, argv))
		return 0;
	(void) execvp(argv[at], argv + at);
	return track_exec_failure(argv[at], errno);
}

/* The index of the first operand; -1 after a complaint about the configuration. */
static int read_settings(const struct cli_command *verb, int argc, char **argv,
			 struct track_settings *ret)
{
	track_settings_init(ret);
	if (cli_config(verb, argc, argv, ret, NULL) != 0)
		return -1;
	return cli_options(verb, argc, argv, ret);
}

/* Without the configuration, as what checks its owner reads /proc. */
static int run_without_proc(int argc, char **argv)
{
	static struct track_settings settings;
	int at;

	track_settings_init(&settings);
	at = cli_options(&cli_run, argc, argv, &settings);
	return at < 0 || at >= argc ? EXIT_BEFORE_JOB
				    : track_run_instead(&settings, argv + at,
							"/proc does not answer", ETIMEDOUT);
}

static int run(int argc, char **argv)
{
	static struct track_settings settings;
	bool has_verb = !strcmp(argv[0], cli_run.name);
	int at, status;

	if (!trk__os_proc_answers())
		return run_without_proc(argc, argv);
	at = read_settings(&cli_run, argc, argv, &settings);
	if (at < 0)
		return EXIT_BEFORE_JOB;
	if (at >= argc && has_verb && settings.pid)
		return track_with(&settings, NULL, settings.pid);
	/* Options without a verb and a command track a process or the machine, as in the sibling. No
	 * job writes to stderr, so the samples go there. A command is missing after -- (as in: --
	 * $UNSET). */
	if (at >= argc && !has_verb && (settings.pid || strcmp(argv[argc - 1], "--") != 0)) {
		if (!settings.output && !settings.format)
			settings.format = "json";
		return track_with(&settings, NULL, settings.pid);
	}
	if (at >= argc)
		return cli_reject(EXIT_BEFORE_JOB,
				  "run: no command. Try: resource-tracker run -- CMD");
	status = run_as_phase(getenv("RESOURCE_TRACKER_RUN"), &settings, at, argc, argv);
	if (status != 0)
		return status;
	status = track_with(&settings, argv + at, 0);
	if (status < 0)
		die_of(-status);
	return status;
}

static int run_attach(int argc, char **argv)
{
	static const struct cli_option operand = {.name = "attach"};
	static struct track_settings settings;
	int at = read_settings(&cli_attach, argc, argv, &settings);

	if (at < 0)
		return EXIT_USAGE;
	if (at + 1 != argc && (at != argc || !settings.pid))
		return cli_reject(EXIT_USAGE,
				  "attach: needs one PID. Try: resource-tracker attach PID");
	if (at < argc && sibling_set_pid(&settings, &operand, argv[at]) != 0)
		return EXIT_USAGE;
	return track_with(&settings, NULL, settings.pid);
}

static int run_system(int argc, char **argv)
{
	static struct track_settings settings;

	if (read_settings(&cli_system, argc, argv, &settings) < 0)
		return EXIT_USAGE;
	return track_with(&settings, NULL, 0);
}

const struct cli_command cli_run = {
	.name = "run",
	.usage = "run [OPTIONS] [--] CMD [ARG...]",
	.summary = "Run a command, track it and its descendants, and print what they used.",
	.details = "The exit code, or the signal, is that of the command. 124: a limit, 125: not "
		   "started, 126: not executable, "
		   "127: not\nfound. Inside another run, it becomes a phase of that run, unless it "
		   "has options of its own.",
	.example = "resource-tracker run -n job --report -- sleep 1",
	.options = track_run_options,
	.internal = track_internal_options,
	.stops_at_operand = true,
	.run = run,
};

const struct cli_command cli_attach = {
	.name = "attach",
	.usage = "attach [OPTIONS] PID",
	.summary = "Track a running process and its descendants until it ends, or until Ctrl-C.",
	.example = "resource-tracker attach --duration 1s $$",
	.options = track_attach_options,
	.operands = 1,
	.internal = track_internal_options,
	.run = run_attach,
};

const struct cli_command cli_system = {
	.name = "system",
	.usage = "system [OPTIONS]",
	.summary = "Track the whole machine until Ctrl-C or --duration.",
	.example = "resource-tracker system --duration 1s",
	.options = track_attach_options,
	.internal = track_internal_options,
	.run = run_system,
};

/* ---- mark, from inside the job ---- */

static int run_mark(int argc, char **argv)
{
	const char *guard = getenv("RESOURCE_TRACKER_RUN");
	int at = cli_options(&cli_mark, argc, argv, NULL), r;

	if (at + 1 != argc || !*argv[at])
		return cli_reject(EXIT_USAGE,
				  "mark: needs one name. Try: resource-tracker mark NAME");
	if (!guard || !*guard) /* outside a run: the same script works with and without a tracker */
		return EXIT_OK;
	r = trk__marks_send(guard, argv[at]);
	if (r < 0)
		return cli_reject(EXIT_ERROR, "mark %s: cannot reach the tracker of the run: %s",
				  argv[at], trk__strerror(r));
	return EXIT_OK;
}

const struct cli_command cli_mark = {
	.name = "mark",
	.usage = "mark NAME",
	.summary = "Name the current moment of the run, from inside the job.",
	.details = "Outside a run, mark does nothing and its exit code is 0.",
	.example = "resource-tracker run -- sh -c 'resource-tracker mark load; sleep 1'",
	.options = cli_no_options,
	.operands = 1,
	.run = run_mark,
};
