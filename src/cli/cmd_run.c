/* resource-tracker run: start a job and track it. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/config.h"
#include "cli/tracking.h"
#include "record/marks.h"

/* Die as the job died, so that our parent sees the true wait status. As PID 1 of a namespace the
 * kernel ignores such a signal of ours; the exit status then says it. */
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

static int run(int argc, char **argv)
{
	struct track_settings settings;
	const char *nested = getenv("RESOURCE_TRACKER_RUN");
	int at, status;

	track_settings_init(&settings);
	at = cli_config(&cli_run, argc, argv, &settings, NULL) == 0
		     ? cli_options(&cli_run, argc, argv, &settings)
		     : -EXIT_USAGE;
	if (at == CLI_HELP_GIVEN)
		return EXIT_OK;
	if (at < 0)
		return EXIT_BEFORE_JOB;
	if (at >= argc && settings.pid) /* resource-tracker --pid PID, as the sibling has it */
		return track_with(&settings, NULL, settings.pid);
	/* Options alone: the machine. After -- a command was to follow (-- $NOTHING). */
	if (at >= argc && strcmp(argv[0], cli_run.name) != 0 && strcmp(argv[argc - 1], "--") != 0) {
		settings.job = settings.job ? settings.job : "system";
		return track_with(&settings, NULL, 0);
	}
	if (at >= argc) {
		cli_complain("run: no command. Try: resource-tracker run -- CMD");
		return EXIT_BEFORE_JOB;
	}
	/* The outer run has this tree already: this is a phase of it. Where that run is over (a daemon
	 * that it left behind), nobody listens. */
	if (nested && *nested && trk__marks_send(nested, phase_of(&settings, argv + at)) == 0) {
		(void) execvp(argv[at], argv + at);
		return track_exec_failure(argv[at], errno);
	}
	status = track_with(&settings, argv + at, 0);
	if (status < 0)
		die_of(-status);
	return status;
}

const struct cli_command cli_run = {
	.name = "run",
	.usage = "run [OPTIONS] [--] CMD [ARG...]",
	.summary = "Run a command, track it and all that it starts, say what it used.",
	.details =
		"The command's exit code is passed on; if a signal ended it, the same signal ends "
		"this\nprogram. 124: --timeout, 125: failed before the start, 126: not executable, "
		"127: not found.",
	.options = track_run_options,
	.stops_at_operand = true,
	.run = run,
};
