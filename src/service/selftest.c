#include "service/selftest.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json_read.h"
#include "base/os.h"
#include "service/check.h"

enum { PATH_SIZE = 4096 };

/* The tolerance of every label: CPU time of a process after it read its own, pages of libraries,
 * blocks of the file system. */
static const struct {
	double share, amount;
} slack[] = {
	[TRK_TOTAL_CPU_S] = {0.03, 0.05},
	[TRK_TOTAL_PEAK_MEMORY_MIB] = {0.05, 6},
	[TRK_TOTAL_DISK_WRITE_BYTES] = {0.03, 1048576},
};
static const double ESTIMATE_SHARE = 0.25;

static int make_folder(char path[PATH_SIZE], const char *tmp, struct trk_error *reterr)
{
	int r = trk__scratch_folder(path, PATH_SIZE, tmp);

	return r < 0 ? trk__error_set(reterr, r, path, "%s: %s. Try: TMPDIR=DIR", path,
				      trk__strerror(r))
		     : 0;
}

int trk__selftest_work(const struct trk_known_work *work, const char *tmp, double *ret,
		       struct trk_error *reterr)
{
	char folder[PATH_SIZE];
	int r = make_folder(folder, tmp, reterr);

	if (r < 0)
		return r;
	*ret = work->total == TRK_TOTAL_DISK_WRITE_BYTES && trk__os_is_in_memory(folder)
		       ? NAN
		       : work->run(folder);
	trk__remove_tree(folder);
	return 0;
}

static enum trk_selftest_state judge(const struct trk_selftest_figure *r)
{
	double may = slack[r->work->total].share * r->truth + slack[r->work->total].amount;
	double more = r->measured.value - r->truth;

	switch (r->measured.quality) {
	case TRK_QUALITY_EXACT:
		return fabs(more) <= may ? TRK_SELFTEST_HOLDS : TRK_SELFTEST_WRONG;
	case TRK_QUALITY_AT_LEAST:
		return more <= may ? TRK_SELFTEST_HOLDS : TRK_SELFTEST_WRONG;
	case TRK_QUALITY_AT_MOST:
		return more >= -may ? TRK_SELFTEST_HOLDS : TRK_SELFTEST_WRONG;
	case TRK_QUALITY_ESTIMATED:
		return fabs(more) <= may + ESTIMATE_SHARE * r->truth ? TRK_SELFTEST_HOLDS
								     : TRK_SELFTEST_WRONG;
	case TRK_QUALITY_UNKNOWN:
		break;
	}
	return TRK_SELFTEST_UNTESTED;
}

/* The figure in the line that `doctor --work` prints, or NaN. */
static double figure_of(const char *line, size_t len, enum trk_total total)
{
	TRK_JSON_DOC_CLEANUP struct trk_json_doc doc = {.values = NULL};
	struct trk_error error;

	if (trk__json_read(line, len, NULL, "", &doc, &error) < 0)
		return NAN;
	return trk__json_get_double(&doc, trk__json_root(&doc), trk__total_keys[total]);
}

static void compare(struct trk_selftest_figure *r, const struct trk_record *record,
		    const char *text, size_t len)
{
	r->measured = record->outcome.total[r->work->total];
	r->truth = figure_of(text, len, r->work->total);
	if (isnan(r->truth)) {
		(void) snprintf(r->why, sizeof(r->why), "%s",
				r->work->total == TRK_TOTAL_DISK_WRITE_BYTES
					? "no temporary folder on a disk. Try: TMPDIR=DIR"
					: "the system refused a part of the work");
		return;
	}
	r->state = judge(r);
	if (r->state == TRK_SELFTEST_UNTESTED)
		(void) snprintf(r->why, sizeof(r->why), "%.150s", r->measured.reason);
}

static void track(struct trk_selftest_figure *r, const char *folder, struct trk_record *record)
{
	const char *const arguments[] = {"doctor", "--work", r->work->name, NULL};
	char text[1024];
	int pipe_fd[2], status, failed = trk__os_pipe(pipe_fd);
	ssize_t len;

	r->state = TRK_SELFTEST_UNTESTED;
	r->truth = NAN;
	if (failed < 0) {
		(void) snprintf(r->why, sizeof(r->why), "pipe: %s", trk__strerror(failed));
		r->state = TRK_SELFTEST_WRONG;
		return;
	}
	status = trk__own_run(folder, r->work->name, arguments, pipe_fd[1], record);
	trk__close(pipe_fd[1]);
	len = status == 0 ? read(pipe_fd[0], text, sizeof(text)) : 0;
	trk__close(pipe_fd[0]);
	if (status != 0) {
		(void) snprintf(r->why, sizeof(r->why), "the run ended with %d", status);
		r->state = TRK_SELFTEST_WRONG;
		return;
	}
	compare(r, record, text, len > 0 ? (size_t) len : 0);
	trk__record_release(record);
}

int trk__selftest(const char *tmp, struct trk_selftest_figure ret[TRK_KNOWN_WORKS_MAX],
		  struct trk_error *reterr)
{
	struct trk_record *record = calloc(1, sizeof(*record));
	char folder[PATH_SIZE];
	int n = 0, r;

	if (!record)
		return trk__error_set(reterr, -ENOMEM, "", "%s", trk__strerror(-ENOMEM));
	r = make_folder(folder, tmp, reterr);
	for (; r == 0 && trk__known_works[n].text; n++) {
		ret[n] = (struct trk_selftest_figure){.work = &trk__known_works[n]};
		track(&ret[n], folder, record);
	}
	if (r == 0)
		trk__remove_tree(folder);
	free(record);
	return r < 0 ? r : n;
}

const struct trk_known_work *trk__known_work_find(const char *name)
{
	for (const struct trk_known_work *w = trk__known_works; w->name; w++)
		if (!strcmp(name, w->name))
			return w;
	return NULL;
}
