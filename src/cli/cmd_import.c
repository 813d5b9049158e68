/* resource-tracker import: convert files of other tools into recordings. */
#include <errno.h>
#include <limits.h>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/environment.h"
#include "cli/progress.h"
#include "import/import.h"
#include "recording/store.h"

struct settings {
	const char *dir, *job;
	enum trk_import_format format;
};

#define FORMATS "snapshot|csv|jsonl|gnu-time|snakemake|nextflow|sacct|autometric"

static const struct cli_option options[] = {
	{"format", 'f', FORMATS, "format of the files (by their content)", cli_set_choice,
	 AT(format)},
	{"job", 'n', "NAME", "name of the job (default: the name in the file)", cli_set_text,
	 AT(job)},
	{"recording", 0, "DIR", "directory of the recordings", cli_set_text, AT(dir)},
	CLI_MORE_OPTIONS,
	{"from", 0, FORMATS, "same as --format", cli_set_same, 0},
	{NULL, 0, NULL, NULL, NULL, 0},
};

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

static int import_file(const struct settings *s, int runs_fd, const char *file)
{
	struct cli_progress progress;
	struct trk_import import = {
		.runs_fd = runs_fd,
		.file = file,
		.job = s->job,
		.on_progress = cli_progress_show,
		.data = &progress,
	};
	struct trk_import_result result = {.runs = 0};
	struct trk_error error = {.code = 0};
	int r;

	cli_progress_begin(&progress, file);
	r = trk__import_file(&import, s->format, &result, &error);
	cli_progress_end(&progress);
	if (r < 0)
		cli_complain("%s%s", error.message,
			     r == -TRK_ERR_FORMAT
				     ? ". Formats: snapshot, csv, jsonl, gnu-time (time -v), "
				       "snakemake, nextflow, sacct (-P), autometric"
				     : "");
	if (result.runs + result.known) {
		TRK_BUF_LOCAL(b, 1 << 16);

		trk__buf_printf(&b, "%s: %zu run%s added", file, result.runs, plural(result.runs));
		if (result.known)
			trk__buf_printf(&b, ", %zu there already", result.known);
		if (result.skipped)
			trk__buf_printf(&b, ", %zu row%s skipped", result.skipped,
					plural(result.skipped));
		trk__buf_printf(&b, " (%s)\n", trk__import_name(result.format));
		(void) cli_print(&b);
	}
	return r == -TRK_ERR_NODATA || r == -ENOENT ? EXIT_NODATA : r < 0 ? EXIT_ERROR : 0;
}

static int run(int argc, char **argv)
{
	struct settings s = {.format = TRK_IMPORT_UNKNOWN};
	struct trk_error error = {.code = 0};
	int at = cli_options(&cli_import, argc, argv, &s), status = 0, runs_fd;

	if (at == argc)
		return cli_reject(EXIT_USAGE,
				  "import: needs a file. Try: resource-tracker import --help");
	s.dir = cli_state_dir(s.dir);
	if (!*s.dir)
		return EXIT_DENIED;
	runs_fd = trk__store_open(s.dir, true, &error);
	if (runs_fd < 0)
		return cli_reject(EXIT_ERROR, "%s", error.message);
	for (; at < argc; at++) {
		int r = import_file(&s, runs_fd, argv[at]);

		status = r ? r : status;
	}
	trk__close(runs_fd);
	return status;
}

const struct cli_command cli_import = {
	.name = "import",
	.usage = "import [--format FORMAT] [--job NAME] FILE...",
	.summary = "Convert files of other tools into runs, for all other verbs.",
	.details = "Reads snapshots and CSV of the Python package, CSV and JSON Lines of its Rust "
		   "sibling, GNU\ntime -v, Snakemake benchmarks, Nextflow traces, sacct -P and "
		   "autometric logs. Files may be\ncompressed with gzip. Runs that are already in "
		   "the history are not added again. Times without a\nzone are read as UTC.",
	.example = "resource-tracker export -f snapshot -o run.json @ && resource-tracker import "
		   "run.json",
	.options = options,
	.operands = INT_MAX,
	.run = run,
};
