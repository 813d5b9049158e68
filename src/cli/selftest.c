#include "cli/selftest.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/human.h"
#include "base/json.h"
#include "base/json_read.h"
#include "base/os.h"
#include "cli/cli.h"
#include "cli/known_work.h"
#include "cli/own_run.h"

enum { PATH_SIZE = 4096 };
enum state { HOLDS, WRONG, UNTESTED };

/* What a label allows besides what it says: the end of a process after its last look at itself,
 * pages of libraries, blocks of the file system's own. */
static const struct {
	double share, amount;
} slack[] = {
	[TRK_TOTAL_CPU_S] = {0.03, 0.05},
	[TRK_TOTAL_PEAK_MEMORY_MIB] = {0.05, 6},
	[TRK_TOTAL_DISK_WRITE_BYTES] = {0.03, 1048576},
};
static const double ESTIMATE_SHARE = 0.25;

struct result {
	const struct cli_known_work *work;
	double truth;
	struct trk_quantity told;
	enum state state;
	char why[160]; /* of UNTESTED */
};

static const char *const state_words[] = {"ok", "WRONG", "not tested"};

/* ---- the job ---- */

int cli_selftest_work(const char *name)
{
	const struct cli_known_work *work = cli_known_work_find(name);
	char folder[PATH_SIZE] = "";
	struct trk_json j;
	struct trk_buf b;
	double value = NAN;
	int r;

	if (!work) {
		cli_complain("doctor: --work %s: no such work. Try: process, children, orphans, "
			     "unwaited, spike, shared, disk",
			     name);
		return EXIT_USAGE;
	}
	r = cli_scratch_folder(folder, sizeof(folder), "/var/tmp");
	if (r < 0) {
		cli_complain("doctor: %s: %s. Try: TMPDIR=DIR", folder, trk__strerror(r));
		return EXIT_ERROR;
	}
	if (work->total != TRK_TOTAL_DISK_WRITE_BYTES || !trk__os_is_in_memory(folder))
		value = work->run(folder);
	trk__remove_tree(folder);
	trk__buf_init(&b, 4096);
	trk__json_init(&j, &b, 0);
	trk__json_open(&j, '{');
	trk__json_key_text(&j, "work", work->name);
	trk__json_key_double(&j, trk__total_keys[work->total], value);
	trk__json_close(&j, '}');
	trk__buf_putc(&b, '\n');
	r = cli_write(1, &b, "stdout");
	trk__buf_release(&b);
	return r;
}

/* ---- the comparison ---- */

static double truth_of(const char *text, size_t len, const char *key)
{
	TRK_JSON_DOC_CLEANUP struct trk_json_doc doc = {.values = NULL};
	struct trk_error error;

	if (trk__json_read(text, len, NULL, "", &doc, &error) < 0)
		return NAN;
	return trk__json_get_double(&doc, trk__json_root(&doc), key);
}

static enum state judge(const struct result *r)
{
	double may = slack[r->work->total].share * r->truth + slack[r->work->total].amount;
	double more = r->told.value - r->truth;

	switch (r->told.quality) {
	case TRK_QUALITY_EXACT:
		return fabs(more) <= may ? HOLDS : WRONG;
	case TRK_QUALITY_AT_LEAST:
		return more <= may ? HOLDS : WRONG;
	case TRK_QUALITY_AT_MOST:
		return more >= -may ? HOLDS : WRONG;
	case TRK_QUALITY_ESTIMATED:
		return fabs(more) <= may + ESTIMATE_SHARE * r->truth ? HOLDS : WRONG;
	case TRK_QUALITY_UNKNOWN:
		break;
	}
	return UNTESTED;
}

static void compare(struct result *r, const struct trk_record *record, const char *text, size_t len)
{
	r->told = record->outcome.total[r->work->total];
	r->truth = truth_of(text, len, trk__total_keys[r->work->total]);
	if (isnan(r->truth)) {
		(void) snprintf(r->why, sizeof(r->why), "%s",
				r->work->total == TRK_TOTAL_DISK_WRITE_BYTES
					? "no temporary folder on a disk. Try: TMPDIR=DIR"
					: "the system refused a part of the work");
		return;
	}
	r->state = judge(r);
	if (r->state == UNTESTED)
		(void) snprintf(r->why, sizeof(r->why), "%.150s", r->told.reason);
}

static void track(struct result *r, const char *folder, struct trk_record *record)
{
	const char *const arguments[] = {"doctor", "--work", r->work->name, NULL};
	char text[1024];
	int pipe_fd[2], status;
	ssize_t len;

	r->state = UNTESTED;
	r->truth = NAN;
	if (trk__os_pipe(pipe_fd) < 0) {
		(void) snprintf(r->why, sizeof(r->why), "pipe: %s", strerror(errno));
		r->state = WRONG;
		return;
	}
	status = cli_own_run(folder, r->work->name, arguments, pipe_fd[1], record);
	trk__close(pipe_fd[1]);
	len = status == 0 ? read(pipe_fd[0], text, sizeof(text)) : 0;
	trk__close(pipe_fd[0]);
	if (status != 0) {
		(void) snprintf(r->why, sizeof(r->why), "the run ended with %d", status);
		r->state = WRONG;
		return;
	}
	compare(r, record, text, len > 0 ? (size_t) len : 0);
	trk__record_release(record);
}

/* ---- output ---- */

static const char *amount(char text[TRK_HUMAN_SIZE], enum trk_total total, double value)
{
	switch (total) {
	case TRK_TOTAL_PEAK_MEMORY_MIB:
		return trk__human_memory(text, value);
	case TRK_TOTAL_DISK_WRITE_BYTES:
		return trk__human_bytes(text, value);
	default:
		return trk__human_seconds(text, value);
	}
}

static void print_text(struct trk_buf *b, const struct utsname *system, const struct result *list)
{
	trk__buf_printf(b, "resource-tracker %s on %s %s, %s\n", TRK_BUILD_VERSION, system->sysname,
			system->release, system->machine);
	trk__buf_printf(b, "%-38s  %9s  %9s  %-9s  %s\n", "what a job did", "true", "told", "label",
			"");
	for (size_t i = 0; i < CLI_KNOWN_WORKS; i++) {
		const struct result *r = &list[i];
		char truth[TRK_HUMAN_SIZE], told[TRK_HUMAN_SIZE];
		bool known = r->told.quality != TRK_QUALITY_UNKNOWN;

		trk__buf_printf(b, "%-38s  %9s  %9s  %-9s  %s%s%s\n", r->work->text,
				amount(truth, r->work->total, r->truth),
				amount(told, r->work->total, known ? r->told.value : NAN),
				trk__quality_name(r->told.quality), state_words[r->state],
				r->why[0] ? ": " : "", r->why);
	}
}

static void print_json(struct trk_buf *b, const struct utsname *system, const struct result *list)
{
	struct trk_json j;

	trk__json_init(&j, b, 1);
	trk__json_open(&j, '{');
	trk__json_key_text(&j, "schema", "resource-tracker.selftest/1");
	trk__json_key_text(&j, "version", TRK_BUILD_VERSION);
	trk__json_key_text(&j, "system", system->sysname);
	trk__json_key_text(&j, "kernel", system->release);
	trk__json_key_text(&j, "machine", system->machine);
	trk__json_key(&j, "figures");
	trk__json_open(&j, '[');
	for (size_t i = 0; i < CLI_KNOWN_WORKS; i++) {
		const struct result *r = &list[i];
		bool known = r->told.quality != TRK_QUALITY_UNKNOWN;

		trk__json_open(&j, '{');
		trk__json_key_text(&j, "work", r->work->name);
		trk__json_key_text(&j, "total", trk__total_keys[r->work->total]);
		trk__json_key_double(&j, "true", r->truth);
		trk__json_key_double(&j, "told", known ? r->told.value : NAN);
		trk__json_key_text(&j, "quality", trk__quality_name(r->told.quality));
		trk__json_key_text(&j, "source", known ? r->told.source : NULL);
		trk__json_key_text(&j, "state", state_words[r->state]);
		trk__json_key_text(&j, "why", r->why[0] ? r->why : NULL);
		trk__json_close(&j, '}');
	}
	trk__json_close(&j, ']');
	trk__json_close(&j, '}');
	trk__buf_putc(b, '\n');
}

static bool run_all(struct result *list, const char *folder, struct trk_record *record)
{
	bool good = true;

	for (size_t i = 0; i < CLI_KNOWN_WORKS; i++) {
		list[i] = (struct result){.work = &cli_known_works[i]};
		track(&list[i], folder, record);
		good &= list[i].state != WRONG;
	}
	return good;
}

int cli_selftest(bool json)
{
	struct result *list = calloc(CLI_KNOWN_WORKS, sizeof(*list));
	struct trk_record *record = calloc(1, sizeof(*record));
	char folder[PATH_SIZE] = "";
	struct utsname system;
	struct trk_buf b;
	bool good;
	int r;

	if (!list || !record || uname(&system) < 0) {
		cli_complain("doctor: %s", trk__strerror(errno));
		free(record);
		free(list);
		return EXIT_ERROR;
	}
	r = cli_scratch_folder(folder, sizeof(folder), "/tmp");
	if (r < 0) {
		cli_complain("doctor: %s: %s. Try: TMPDIR=DIR", folder, trk__strerror(r));
		free(record);
		free(list);
		return EXIT_ERROR;
	}
	good = run_all(list, folder, record);
	free(record);
	trk__remove_tree(folder);
	trk__buf_init(&b, 1 << 16);
	(json ? print_json : print_text)(&b, &system, list);
	r = cli_write(1, &b, "stdout");
	trk__buf_release(&b);
	free(list);
	return r != EXIT_OK ? r : good ? EXIT_OK : EXIT_ERROR;
}
