/* resource-tracker run: start a job and track it. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/os.h"
#include "cli/config.h"
#include "cli/tracking.h"
#include "track/marks.h"

/* Die as the job died, so that the parent sees the true wait status. As PID 1 of a namespace the
 * kernel ignores such a signal; the exit status then carries it. */
static _Noreturn void die_of(int signo)
{
	struct rlimit none = {0, 0};
	sigset_t set;

	(void) setrlimit(RLIMIT_CORE, &none); /* the job has left its own core */
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

/* True where the command line asks for something that a phase of the outer run cannot deliver.
 * Variables and configuration do not count: the inner command inherits them from the outer one, and
 * its files would replace the outer run's. */
static bool asks_for_own_run(int argc, char **argv)
{
	struct track_settings s, usual;

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

/* Run the command as a phase of the outer run, which counts this tree already. Returns only where
 * that is not possible: the outer run has ended (a daemon that it left behind), or the options ask
 * for a run of its own; the outer run then has the phase, too. */
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

/* Options without a verb and a command are the sibling's way to track a process or the machine.
 * No job writes to this stderr, so that the samples go there as they do with the sibling. */
static int track_as_sibling(struct track_settings *s)
{
	if (!s->output && !s->format)
		s->format = "json";
	return track_with(s, NULL, s->pid);
}

static int run(int argc, char **argv)
{
	struct track_settings settings;
	bool has_verb = !strcmp(argv[0], cli_run.name);
	int at, status;

	track_settings_init(&settings);
	if (cli_config(&cli_run, argc, argv, &settings, NULL) != 0)
		return EXIT_BEFORE_JOB;
	at = cli_options(&cli_run, argc, argv, &settings);
	if (at >= argc && has_verb && settings.pid)
		return track_with(&settings, NULL, settings.pid);
	/* After -- a command was to follow (-- $NOTHING). */
	if (at >= argc && !has_verb && (settings.pid || strcmp(argv[argc - 1], "--") != 0))
		return track_as_sibling(&settings);
	if (at >= argc)
		return cli_reject(EXIT_BEFORE_JOB,
				  "run: no command. Try: resource-tracker run -- CMD");
	trk__os_given_arguments(argv + at + 1);
	status = run_as_phase(getenv("RESOURCE_TRACKER_RUN"), &settings, at, argc, argv);
	if (status != 0)
		return status;
	status = track_with(&settings, argv + at, 0);
	if (status < 0)
		die_of(-status);
	return status;
}

static const struct cli_option_group groups[] = {
	{"common options",
	 " job job-name interval output format recording no-recording summary quiet report "
	 "summary-json color plain report-every status-key "},
	{"alerts", " alerts on-alert alert quiet-hours "},
	{"limits and requests", " limit timeout grace request cgroup "},
	{"kept with the run", " tag note project-name stage-name task-name team env language "
			      "orchestrator executor external-run-id container-image input-size "
			      "no-history "},
	{"advanced", ""},
	{NULL, NULL},
};

const struct cli_command cli_run = {
	.name = "run",
	.usage = "run [OPTIONS] [--] CMD [ARG...]",
	.summary = "Run a command, track it and its descendants, and print what they used.",
	.details =
		"The command's exit code is passed on; if a signal ended it, the same signal ends "
		"this\nprogram. 124: --timeout, 125: failed before the start, 126: not executable, "
		"127: not found.\n"
		"Inside another run this is a phase of it; with a limit, an output, a report, "
		"tags,\na request, an interval or a recording of its own it is a run as well.\n\n"
		"  resource-tracker run -- python train.py             its summary at the end\n"
		"  resource-tracker run -n nightly --report -- make    a name, and a page about "
		"it\n"
		"  resource-tracker run --limit mem=8GiB,time=2h -- ./job.sh   ends it there",
	.groups = groups,
	.options = track_run_options,
	.internal = track_internal_options,
	.stops_at_operand = true,
	.run = run,
};
